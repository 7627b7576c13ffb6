"""Random rewards: is the machine found, and how often is one found where there is none?

    python benchmarks/random_rewards.py [--seeds 10] [--null 100] [--episodes 2000] [--only office] [--out FILE]

In the worlds of the first table a goal pays 1 with probability 0.8 or 0.2, by history, and everything else nothing. In
those of the second nothing depends on history: each place, or each (s, a, s'), has a probability of its own. The
interval is that of Clopper and Pearson, 95 %.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from scipy.stats import binomtest

from markovize import LearnResult, Traces, learn
from markovize.machine.machine import RewardMachine, Trigger
from markovize.machine.replay import run
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks
from report import Report

ALPHA: Final = 0.01
PLACES: Final = ("hall", "coffee", "office", "mail", "lift", "yard")
STATE: Final[dict[str, Any]] = {"trigger_on": "state", "reward_on": "state"}


@dataclass(frozen=True)
class Case:
    """Walks, the machine that decides, and where it pays: in one of these states, entering one of these places."""

    name: str
    walks: Callable[[int, np.random.Generator], Traces]
    machine: RewardMachine
    goals: tuple[Any, ...]
    lucky: tuple[int, ...]
    options: dict[str, Any]

    def episodes(self, many: int, seed: int) -> Traces:
        rng = np.random.default_rng(seed)
        traces = self.walks(many, rng)
        goal = _among(traces, self.goals)
        lucky = np.isin(run(self.machine, traces).before, self.lucky)
        chances = np.where(goal, np.where(lucky, 0.8, 0.2), 0.0)
        return replace(traces, rewards=(rng.random(traces.steps) < chances).astype(float))

    def is_found(self, result: LearnResult) -> tuple[bool, bool]:
        """Whether the triggers are those of the machine; and whether they are but for alternatives."""
        wanted = [(t.source, t.on, t.target) for t in self.machine.triggers]
        triggers = result.unwrap().triggers
        exactly = sorted((t.source, t.on, t.target) for t in triggers) == sorted(wanted)
        sizes = result.states == self.machine.states and len(triggers) == len(wanted)
        alike = sizes and all(
            any((t.source, on, t.target) in wanted for on in (t.on, *t.alternatives)) for t in triggers
        )
        return exactly, alike


def _among(traces: Traces, places: Sequence[Any]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Of each step, whether it enters one of these places."""
    return np.array([value in places for value in traces.observation_values])[traces.states_after()]


def rooms(many: int, rng: np.random.Generator, steps: int = 15) -> Traces:
    """From room to room, anywhere next."""
    walks = (["hall", *(PLACES[n] for n in rng.integers(len(PLACES), size=steps))] for _ in range(many))
    return Traces.of([(walk, [0] * steps, [0.0] * steps) for walk in walks])


def office(task: str, **options: Any) -> Callable[[int, np.random.Generator], Traces]:
    """Walks between the landmarks of Officeworld, which end where its tasks do."""
    return lambda many, rng: noisy_walks(world("office", task=task), many, rng, **options)


def grid(many: int, rng: np.random.Generator, side: int = 5, steps: int = 60) -> Traces:
    """Random walks on a square."""
    moves = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])
    episodes = []
    for _ in range(many):
        actions = rng.integers(4, size=steps)
        at, seen = np.array([2, 2]), [[2, 2]]
        for action in actions:
            at = np.clip(at + moves[action], 0, side - 1)
            seen.append(at.tolist())
        episodes.append((seen, actions.tolist(), [0.0] * steps))
    return Traces.of(episodes)


def machine(*triggers: tuple[int, Any, int]) -> RewardMachine:
    """A machine with these triggers, on states."""
    states = 1 + max(max(u, v) for u, _, v in triggers)
    return RewardMachine("state", "state", states, tuple(Trigger(*each) for each in triggers))


def office_case(task: str, name: str, options: dict[str, Any], **walking: Any) -> Case:
    """A task of Officeworld: its machine, and its goal."""
    own = world("office", task=task).machine
    paid = [e for e in own.rewards if e.reward == 1]
    goals, lucky = tuple({e.on for e in paid}), tuple({e.source for e in paid})
    return Case(name, office(task, **walking), own, goals, lucky, options)


DRINKS: Final = machine((0, "coffee", 1))
CASES: Final = (
    Case("rooms: coffee, then office", rooms, DRINKS, ("office",), (1,), STATE),
    Case("rooms, labels auto", rooms, DRINKS, ("office",), (1,), {}),
    Case("rooms: mail, coffee, office", rooms, machine((0, "mail", 1), (1, "coffee", 2)), ("office",), (2,), STATE),
    Case("rooms: each lift switches", rooms, machine((0, "lift", 1), (1, "lift", 0)), ("office",), (1,), STATE),
    Case("grid 5×5: (0, 0), then (4, 4)", grid, machine((0, (0, 0), 1)), ((4, 4),), (1,), STATE),
    Case("grid 5×5, labels auto", grid, machine((0, (0, 0), 1)), ((4, 4),), (1,), {}),
    Case(
        "grid 5×5: (0, 0), (0, 4), then (4, 4)", grid, machine((0, (0, 0), 1), (1, (0, 4), 2)), ((4, 4),), (2,), STATE
    ),
    office_case("c", "Office c: mail, then office", STATE),
    office_case("c", "Office c, labels auto", {}),
    office_case("b", "Office b: one of two coffees, then office", STATE),
)


def by_place(walks: Callable[[int, np.random.Generator], Traces]) -> Callable[[int, int], Traces]:
    """Each place pays 1 with a probability of its own."""

    def draw(many: int, seed: int) -> Traces:
        rng = np.random.default_rng(seed)
        traces = walks(many, rng)
        chances = rng.random(len(traces.observation_values))[traces.states_after()]
        return replace(traces, rewards=(rng.random(traces.steps) < chances).astype(float))

    return draw


def by_step(many: int, seed: int) -> Traces:
    """Each (s, a, s') of the grid pays 1 with a probability of its own."""
    rng = np.random.default_rng(seed)
    traces = grid(many, rng)
    table = rng.random((len(traces.observation_values), len(traces.action_values)))
    chances = table[traces.states_before(), traces.actions]
    return replace(traces, rewards=(rng.random(traces.steps) < chances).astype(float))


def until_paid(many: int, seed: int) -> Traces:
    """The office pays 1 in half of the cases, which ends the episode: luck decides where it goes."""
    rng = np.random.default_rng(seed)
    episodes = []
    for walk in rooms(many, rng):
        paid = [float(place == "office" and rng.random() < 0.5) for place in walk.observations[1:]]
        end = paid.index(1.0) + 1 if 1.0 in paid else len(paid)
        episodes.append((walk.observations[: end + 1], [0] * end, paid[:end], end < len(paid)))
    return Traces.of(episodes)


def normal(many: int, seed: int) -> Traces:
    """Each place pays about its own level, with normal noise of its own width."""
    rng = np.random.default_rng(seed)
    traces = rooms(many, rng)
    level, width = rng.normal(size=len(PLACES)), rng.uniform(0.1, 2, len(PLACES))
    at = traces.states_after()
    return replace(traces, rewards=rng.normal(level[at], width[at]))


NULL: Final[tuple[tuple[str, Callable[[int, int], Traces], dict[str, Any]], ...]] = (
    ("rooms, by place", by_place(rooms), STATE),
    ("rooms, by place, labels auto", by_place(rooms), {}),
    ("rooms, office pays 1 and ends", until_paid, STATE),
    ("rooms, normal rewards", normal, STATE),
    ("grid 5×5, by (s, a, s'), labels auto", by_step, {}),
    ("Office c, by place", by_place(office("c")), STATE),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--null", type=int, default=100)
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--null-episodes", type=int, default=2000)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    learn(rooms(5, np.random.default_rng(0)), reward="random")  # compiles
    report = Report(
        "Random rewards",
        f"{options.episodes:,} episodes each, {options.null_episodes:,} where there is no machine; alpha {ALPHA}.",
    )
    report.heads(
        "0.8 against 0.2", "steps", "found", "but for alternatives", "larger", "least evidence", "median, CPU s",
        over="Machines that are there",
    )  # fmt: skip
    for case in CASES:
        if options.only in case.name:
            report.row(case.name, *_find(case, options.seeds, options.episodes))
    report.heads("nothing depends on history", "steps", "false machines", "95 %", "median, CPU s", over="And none")
    for name, draw, asked in NULL:
        if options.only in name:
            report.row(name, *_count_false(draw, asked, options.null, options.null_episodes))
    report.save(options.out)


def _find(case: Case, seeds: int, episodes: int) -> list[object]:
    found = alike = larger = steps = 0
    seconds, evidence = list[float](), list[float]()
    for seed in range(seeds):
        traces = case.episodes(episodes, seed)
        start = time.process_time()
        result = learn(traces, reward="random", alpha=ALPHA, **case.options)
        seconds.append(time.process_time() - start)
        exactly, nearly = case.is_found(result)
        found, alike, steps = found + exactly, alike + nearly, traces.steps
        larger += (result.triggers or 0) > len(case.machine.triggers)
        assert result.chance is not None
        evidence.append(max((each.evidence for each in result.chance.compared if each.significant), default=0.0))
    most = f"{found} of {seeds}"
    return [f"{steps:,}", most, f"{alike} of {seeds}", larger, f"10^{min(evidence):.1f}", f"{median(seconds):.1f}"]


def _count_false(draw: Callable[[int, int], Traces], asked: dict[str, Any], sets: int, episodes: int) -> list[object]:
    false = steps = 0
    seconds = list[float]()
    for seed in range(sets):
        traces = draw(episodes, seed)
        start = time.process_time()
        false += learn(traces, reward="random", alpha=ALPHA, **asked).states != 1
        seconds.append(time.process_time() - start)
        steps = traces.steps
    low, high = binomtest(false, sets).proportion_ci(0.95, "exact")
    return [f"{steps:,}", f"{false} of {sets}", f"{low:.1%} to {high:.1%}", f"{median(seconds):.1f}"]


if __name__ == "__main__":
    main()
