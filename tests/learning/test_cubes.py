"""Questions that are cut into cubes: the same answers, whatever the number of cores."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias
from unittest import mock

import numpy as np
import pytest
from agreement import EVERY, instance
from instances import Kinds
from noise_oracle import TooMuchError, draw_noisy, smallest_noisy

from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.errors import InputError
from markovize.learning import search
from markovize.learning.cubes import ask_in_cubes, count_cores
from markovize.learning.engines import find_engine
from markovize.learning.engines.base import Answer, BlockingSession, CubedSession, Rules, Verdict
from markovize.learning.engines.exhaustive import exhaustive_optimum
from markovize.learning.engines.sat import SatSession
from markovize.learning.entry import learn
from markovize.learning.floors import Objective, Size
from markovize.learning.learner import Learner
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import cut_tree
from markovize.learning.problem import label_and_merge
from markovize.learning.result import LearnResult

OBJECTIVES: tuple[Objective, ...] = ("triggers", "states")
Machine: TypeAlias = tuple[tuple[tuple[int, int], int], ...]


@pytest.fixture
def cut_at_once() -> Iterator[None]:
    """Every question with a count that could be cut is."""
    with mock.patch.multiple(search, CUT=0, GLANCE=0, LEAST_CUT=0):
        yield


@contextmanager
def noting_cubes() -> Iterator[list[int]]:
    """Inside, questions are cut at once; the cores of each such batch of questions."""
    noted = list[int]()

    def ask(*given: Any, cores: int, failures_count: bool) -> Size | None:
        noted.append(cores)
        return ask_in_cubes(*given, cores=cores, failures_count=failures_count)

    with mock.patch.multiple(search, CUT=0, GLANCE=0, ask_in_cubes=ask):
        yield noted


def facts(result: LearnResult) -> object:
    """All that a result says, but for the time that it took."""
    machine = None if result.machine is None else json.dumps(result.machine.to_json())
    return result.status, result.bounds, machine, result.exemplars, result.proof


def hard_walks(seed: int, walks: int, places: int = 10) -> Traces:
    """Random walks; four of their places, met in their order, make the last one pay."""
    rng = np.random.default_rng(seed)
    episodes = []
    for _ in range(walks):
        seen, met, paid = rng.integers(0, places, 25).tolist(), 0, []
        for place in seen[1:]:
            met += met < 4 and place == met
            paid.append(int(met == 4 and place == places - 1))
        episodes.append((seen, [0] * (len(seen) - 1), paid))
    return Traces.of(episodes)


@pytest.mark.usefixtures("cut_at_once")
@pytest.mark.parametrize("start", range(0, 120, 20))
def test_cubes_find_what_the_exhaustive_search_finds(start: int) -> None:
    for seed in range(start, start + 20):
        traces, (trigger_on, reward_on) = instance(50_000 + seed)
        for objective, acyclic in product(OBJECTIVES, (False, True)):
            asked: dict[str, Any] = {
                "objective": objective,
                "acyclic": acyclic,
                "trigger_on": trigger_on,
                "reward_on": reward_on,
            }
            found = [learn(traces, **asked, cores=cores) for cores in (1, 3)]
            truth = exhaustive_optimum(label_traces(traces, trigger_on, reward_on), objective, acyclic)
            assert (found[0].status, found[0].states, found[0].triggers) == ("optimal", *truth), (seed, objective)
            assert facts(found[0]) == facts(found[1]), (seed, objective, acyclic)


@pytest.mark.usefixtures("cut_at_once")
def test_cubes_find_what_the_oracle_of_noise_finds() -> None:
    rng, compared = np.random.default_rng(7), 0
    while compared < 40:
        given = draw_noisy(rng)
        try:
            truth = smallest_noisy(given, "triggers", acyclic=False)
        except TooMuchError:
            continue
        allowed: dict[str, Any] = {"tolerance": given.tolerance, "outliers": given.outliers}
        found = learn(given.traces, trigger_on=given.kinds[0], reward_on=given.kinds[1], cores=2, **allowed)
        if truth is None:
            assert found.status == "unrealisable"
        else:
            assert (found.status, found.states, found.triggers) == ("optimal", *truth[:2])
        compared += 1


def list_machines(session: BlockingSession) -> set[Machine]:
    """All machines with three states and two triggers that explain the exemplars of a session."""
    out = set[Machine]()
    while (answer := session.decide(3, 2, Limits())).verdict is Verdict.FEASIBLE:
        assert answer.delta is not None
        out.add(tuple(sorted(answer.delta.items())))
        session.block(answer.delta)
    return out


@pytest.mark.parametrize("acyclic", [False, True])
@pytest.mark.parametrize("kinds", EVERY)
def test_every_machine_is_in_one_cube(kinds: Kinds, acyclic: bool) -> None:
    tree = cut_tree(label_and_merge(hard_walks(3, 50, places=4), kinds, "reward", Limits()), Allowance())
    whole = find_engine("sat").open(Rules(acyclic=acyclic))
    whole.extend(tree, tree.mark_node[:2])
    assert isinstance(whole, CubedSession) and isinstance(whole, BlockingSession)
    cubes = list[set[Machine]]()
    while (cube := whole.cube(len(cubes))) is not None:
        assert isinstance(cube, BlockingSession)
        cubes.append(list_machines(cube))
    everything = list_machines(whole)
    assert len(everything) > len(cubes) > 1
    assert set[Machine]().union(*cubes) == everything
    assert sum(map(len, cubes)) == len(everything)


def test_long_questions_are_cut_and_the_number_of_cores_changes_nothing() -> None:
    walks = hard_walks(0, 120)
    with noting_cubes() as asked:
        found = [learn(walks, trigger_on="state", reward_on="state", cores=cores) for cores in (1, 2, 5)]
    assert set(asked) == {1, 2, 5}
    assert found[0].status == "optimal"
    assert facts(found[0]) == facts(found[1]) == facts(found[2])


@pytest.mark.parametrize("cores", [1, 3])
def test_ctrl_c_ends_cubes_with_the_best_machine(cores: int) -> None:
    walks, threads, pressed = hard_walks(1, 120), threading.active_count(), False

    def press(_progress: search.Progress) -> None:
        nonlocal pressed
        if asked and not pressed:
            pressed = True
            signal.raise_signal(signal.SIGINT)

    with noting_cubes() as asked:
        stopped = learn(walks, trigger_on="state", reward_on="state", cores=cores, on_progress=press)
    assert asked == [cores], "the next are not asked any more"
    assert stopped.interrupted and stopped.status == "feasible"
    assert threading.active_count() == threads, "no solver goes on"


@pytest.mark.parametrize("cores", [1, 3])
def test_the_effort_of_a_question_is_that_of_its_cubes(cores: int) -> None:
    """The first question that takes more ends a proof that gives up: no other is asked after it."""
    walks, decide = hard_walks(2, 120), SatSession.decide
    first = learn(walks, trigger_on="state", reward_on="state").unwrap()
    taken = list[int]()

    def stall(self: SatSession, states: int, triggers: int | None, limits: Limits) -> Answer:
        answer = decide(self, states, triggers, replace(limits, work=None))
        if states < 4 or triggers is None:
            return answer
        assert limits.work is not None
        taken.append(limits.work)
        return Answer(Verdict.UNKNOWN, work=limits.work)

    with (
        mock.patch.object(search, "CUT", 0),
        mock.patch.object(search, "LEAST_CUT", 0),
        mock.patch.object(SatSession, "decide", stall),
    ):
        learner = Learner(trigger_on="state", reward_on="state", cores=cores)
        found = learner.learn(walks, effort=400_000, prove=first)
    assert found.status == "feasible" and found.machine is not None
    assert found.bounds[0] <= 4 and taken
    assert max(taken) <= 200_000
    if cores == 1:
        assert sum(taken) <= 400_000


def test_no_core_is_too_few() -> None:
    for cores in (0, -1, 1.5, "2"):
        with pytest.raises(InputError, match="at least 1"):
            learn(hard_walks(0, 2), cores=cores)  # type: ignore[arg-type]


def test_who_limits_threads_limits_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    every = count_cores()
    assert every >= 1
    for asked, cores in (("1", 1), ("1000", every), ("0", every), ("2,3", every)):
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert count_cores() == cores
