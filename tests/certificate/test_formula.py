"""The checker's formula says what it should: brute force over all machines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import TypeAlias

import numpy as np
import pytest
from pysat.solvers import Solver

from markovize.certificate.formula import Formula, Tree
from markovize.certificate.reading import Step

Machine: TypeAlias = dict[tuple[int, int], int]
"""δ(u, label), self-loops included."""


def all_machines(states: int, labels: int) -> Iterator[Machine]:
    keys = list(product(range(states), range(labels)))
    for targets in product(range(states), repeat=len(keys)):
        yield dict(zip(keys, targets, strict=True))


def is_reachable(machine: Machine, states: int) -> bool:
    met, more = {0}, {0}
    while more:
        more = {v for (u, _), v in machine.items() if u in met} - met
        met |= more
    return len(met) == states


def is_acyclic(machine: Machine, states: int) -> bool:
    return any(all(order[u] <= order[v] for (u, _), v in machine.items()) for order in permutations(range(states)))


def triggers_of(machine: Machine) -> int:
    return sum(u != v for (u, _), v in machine.items())


def explains(machine: Machine, episodes: list[list[Step]], ends: bool) -> bool:
    paid: dict[tuple[int, int, int], tuple[float, bool]] = {}
    for steps in episodes:
        u = 0
        for step in steps:
            v = machine[u, step.trigger]
            outcome = step.reward, ends and step.ends
            if paid.setdefault((u, step.reward_label, v), outcome) != outcome:
                return False
            u = v
    return True


def random_episodes(rng: np.random.Generator, labels: int, own_rewards: bool) -> list[list[Step]]:
    """Paid by a machine of up to three states or, now and then, at random."""
    delta, pay = rng.integers(0, 3, (3, labels)), rng.integers(0, 2, (3, 3, 3))
    out = []
    for _ in range(int(rng.integers(2, 6))):
        u, steps = 0, []
        for t in range(length := int(rng.integers(1, 7))):
            x = int(rng.integers(0, labels))
            y = int(rng.integers(0, 2)) if own_rewards else x
            v = int(delta[u, x])
            reward = float(pay[u, y, v]) if rng.random() < 0.97 else 2.0
            steps.append(Step(x, y, reward, t == length - 1 and bool(rng.integers(0, 2))))
            u = v
        out.append(steps)
    return out


def is_satisfiable(formula: Formula, assumptions: list[int]) -> bool:
    with Solver(name="glucose4", bootstrap_with=formula.clauses) as solver:
        return bool(solver.solve(assumptions=assumptions))


def numbered(formula: Formula, machine: Machine, names: tuple[int, ...]) -> list[int] | None:
    """δ as literals where its states have these numbers; None if the formula has no variable for it."""
    literals = [formula.moves[x][names[u]][names[v]] for (u, x), v in machine.items()]
    return literals if all(literals) else None


@pytest.mark.parametrize("acyclic", [False, True])
@pytest.mark.parametrize(("states", "labels"), [(2, 2), (2, 3), (3, 2), (4, 2)])
def test_every_machine_has_a_numbering_that_fits(states: int, labels: int, acyclic: bool) -> None:
    """The argument for the symmetry breaking: of every machine one numbering is left, with any bound that it keeps."""
    tree = Tree([[Step(x, x, 0.0, False)] for x in range(labels)], False, lambda: None)
    formulas: dict[int | None, Formula] = {}
    machines = [m for m in all_machines(states, labels) if is_reachable(m, states)]
    machines = machines[:: 1 + len(machines) // 1000]
    if acyclic:
        machines = [machine for machine in machines if is_acyclic(machine, states)]
    assert len(machines) >= 3
    for machine in machines[:: 1 + len(machines) // 100]:
        for most in (None, triggers_of(machine)):
            if most not in formulas:
                formulas[most] = Formula(tree, tree.alphabet(), states, most, acyclic)
            ways = [numbered(formulas[most], machine, (0, *names)) for names in permutations(range(1, states))]
            assert any(is_satisfiable(formulas[most], way) for way in ways if way), machine


@pytest.mark.parametrize("acyclic", [False, True])
def test_satisfiable_exactly_where_there_is_a_machine(acyclic: bool) -> None:
    """On random episodes, for every size: a contradiction is never a mistake, and never missed."""
    rng, answers = np.random.default_rng(3), []
    machines = {
        k: [m for m in all_machines(k, 2) if is_reachable(m, k) and (not acyclic or is_acyclic(m, k))]
        for k in (1, 2, 3)
    }
    for number in range(40):
        ends = bool(number % 2)
        episodes = random_episodes(rng, 2, own_rewards=number % 3 == 0)
        alphabet = Tree(episodes, ends, lambda: None).alphabet()
        few = episodes[: 1 + number % len(episodes)]  # a claim may use only some exemplars, but the labels of all
        tree = Tree(few, ends, lambda: None)
        for k, every in machines.items():
            sizes = [triggers_of(m) for m in every if explains(m, few, ends)]
            for z in [None, *range(k - 1, 2 * k)]:
                there_is = any(z is None or size <= z for size in sizes)
                if len(alphabet) == 2:  # the machines above know both labels
                    formula = Formula(tree, alphabet, k, z, acyclic)
                    assert is_satisfiable(formula, []) == there_is, (number, k, z)
                    answers.append(there_is)
    assert 50 < sum(answers) < len(answers) - 50


def test_histories_that_are_apart_are_so_in_every_machine() -> None:
    rng, found = np.random.default_rng(4), 0
    machines = list(all_machines(3, 2))[::5]
    for _ in range(30):
        episodes = random_episodes(rng, 2, own_rewards=False)
        tree = Tree(episodes, False, lambda: None)
        found += len(tree.apart)
        for machine in machines:
            if explains(machine, episodes, False):
                at = [0]
                for v in range(1, len(tree.parent)):
                    at.append(machine[at[tree.parent[v]], tree.label[v]])
                assert all(at[a] != at[b] for a, b in tree.apart)
    assert found > 50
