"""Reward machines in the text format of the literature (Toro Icarte et al., *Reward Machines*, JAIR 2022).

::

    0                                            # initial state
    [2]                                          # terminal states
    (0,0,'!f',ConstantRewardFunction(0))
    (0,1,'f',ConstantRewardFunction(0))
    (1,2,'g&!n',ConstantRewardFunction(1))

There, a step makes any set of propositions true and a pair of states has one reward. Here, a step has exactly one
label. Exported labels become propositions of one letter; a legend in the comment of the first line says which label
is which, so that reading the file again gives the same machine. Files without a legend are read with the true
propositions as labels: replay them with :class:`~markovize.io.machines.propositions.Propositions`.
"""

from __future__ import annotations

import string
from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import Final

from markovize.episodes.values import Value, key_of, show
from markovize.errors import UnsupportedError, one_line
from markovize.io.files import atomic_write, read_text
from markovize.io.machines.steps import KnownStep, known_steps, number_text
from markovize.io.machines.text_legend import Legend, machine_of_legend
from markovize.io.machines.text_syntax import REWARD, Document, parse_document
from markovize.io.registry import AnyPath
from markovize.machine.machine import Emission, RewardMachine, Trigger, sorted_emissions, sorted_triggers

_LETTERS: Final = string.ascii_lowercase + string.ascii_uppercase
_MOST_SYMBOLS: Final = 10


def write_reward_machine_text(path: AnyPath, machine: RewardMachine) -> None:
    """Writes the file, or refuses with the reason."""
    atomic_write(path, reward_machine_text(machine))


def read_reward_machine_text(path: AnyPath) -> RewardMachine:
    """Reads a file of this package or of the literature."""
    return parse_reward_machine_text(read_text(path), one_line(path))


def reward_machine_text(machine: RewardMachine) -> str:
    """The machine in the text format.

    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, 5, 1),), (Emission(1, 7, 1, 1.0, True),))
    >>> _, *lines = reward_machine_text(machine).splitlines()  # the first holds the initial state and the legend
    >>> print(*lines, sep="\\n")
    [2]
    (0,0,'!a',ConstantRewardFunction(0))
    (0,1,'a',ConstantRewardFunction(0))
    (1,1,'!b',ConstantRewardFunction(0))
    (1,2,'b',ConstantRewardFunction(1))
    """
    steps = known_steps(machine, "the reward-machine text format")
    marked = [step for step in steps if step.target != step.source or step.terminal]
    letters = _letters(step.on for step in marked)
    ends = {
        reward: machine.states + n for n, reward in enumerate(dict.fromkeys(s.reward for s in marked if s.terminal))
    }
    rewards = _pair_rewards(steps)
    leaving: dict[int, list[KnownStep]] = {}
    for step in marked:
        leaving.setdefault(step.source, []).append(step)
    lines: list[str] = []
    for state in range(machine.states):
        here = leaving.get(state, [])
        own = sorted((letters[key_of(step.on)] for step in here), key=_LETTERS.index)
        groups: dict[int, list[str]] = {state: ["&".join("!" + letter for letter in own) or "True"]}
        for step in here:
            target = ends[step.reward] if step.terminal else step.target
            groups.setdefault(target, []).append(letters[key_of(step.on)])
            rewards.setdefault((state, target), step.reward if step.terminal else None)
        for target, parts in sorted(groups.items()):
            formula = "|".join(sorted(parts, key=_LETTERS.index) if target != state else parts)
            reward = rewards.get((state, target)) or 0.0
            lines.append(f"({state},{target},'{formula}',{REWARD}({number_text(reward)}))")
    legend = Legend.of(machine, steps, letters).text()
    return f"{machine.initial} # {legend}\n{list(ends.values())}\n" + "".join(line + "\n" for line in lines)


def parse_reward_machine_text(text: str, name: str = "") -> RewardMachine:
    """Reads the text format.

    >>> text = "0\\n[1]\\n(0,0,'!a',ConstantRewardFunction(0))\\n(0,1,'a',ConstantRewardFunction(1))"
    >>> machine = parse_reward_machine_text(text)
    >>> machine.trigger_on, machine.triggers
    ('function', (Trigger(source=0, on=('a',), target=1, alternatives=()),))
    """
    document = parse_document(text, name)
    return machine_of_legend(document) or _machine_of_formulas(document)


def _letters(labels: Iterable[Value]) -> dict[Hashable, str]:
    keys = dict.fromkeys(key_of(label) for label in labels)
    if len(keys) > len(_LETTERS):
        # longer names would be ambiguous: the literature looks symbols up as substrings of the true propositions
        raise UnsupportedError(f"{len(keys)} labels matter, and the text format has {len(_LETTERS)} letters for them")
    return dict(zip(keys, _LETTERS, strict=False))


def _pair_rewards(steps: list[KnownStep]) -> dict[tuple[int, int], float | None]:
    """The reward of each pair of states, which must be one."""
    first: dict[tuple[int, int], KnownStep] = {}
    for step in steps:
        if step.reward is None or step.terminal:
            continue
        other = first.setdefault((step.source, step.target), step)
        if other.reward != step.reward:
            raise UnsupportedError(
                f"the text format has one reward from state {step.source} to {step.target}, but "
                f"{one_line(show(other.on), 40)} pays {other.reward}, {one_line(show(step.on), 40)} pays {step.reward}"
            )
    return {pair: step.reward for pair, step in first.items()}


def _machine_of_formulas(document: Document) -> RewardMachine:
    symbols = sorted({symbol for edge in document.edges for symbol in edge.formula.symbols()})
    if len(symbols) > _MOST_SYMBOLS:
        reason = f"{len(symbols)} propositions make {2 ** len(symbols)} labels"
        raise UnsupportedError(f"{document.name}: {reason}; at most {_MOST_SYMBOLS} are supported")
    mentioned = {document.initial, *document.terminal, *(s for e in document.edges for s in (e.source, e.target))}
    number = {state: n for n, state in enumerate(sorted(mentioned))}
    triggers: list[Trigger] = []
    rewards: list[Emission] = []
    for state in sorted(mentioned - document.terminal):
        u = number[state]
        for true in (set(c) for size in range(len(symbols) + 1) for c in combinations(symbols, size)):
            edge = document.edge(state, frozenset(true))
            label = tuple(sorted(true))
            if edge is None:
                # where no formula holds, the literature's machines fall off: no reward, and the episode is over
                rewards.append(Emission(u, label, u, 0.0, True))
                continue
            target = number[edge.target]
            if target != u:
                triggers.append(Trigger(u, label, target))
            rewards.append(Emission(u, label, target, edge.reward, edge.target in document.terminal))
    return RewardMachine(
        "function",
        "function",
        len(number),
        sorted_triggers(triggers),
        sorted_emissions(rewards),
        number[document.initial],
    )
