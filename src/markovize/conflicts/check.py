"""The Markov test: is the reward a function of (s, a, s'), or, given a machine, of (u, reward label, u')?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from markovize.conflicts.clock import Clock, find_clock
from markovize.conflicts.labels import conflicting_labels
from markovize.episodes.brief import BriefRepr
from markovize.episodes.labelling import LabelOn, labelling_named
from markovize.episodes.traces import Episodes, Ints, Longs, Traces, as_traces
from markovize.episodes.values import Value, jsonable, show
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import run

LEAST_COMPARABLE: Final = 0.5
"""Of all steps, from which share on "Markov" is an answer. Of 1,300 samples of worlds whose reward depends on history,
95 % of those with a smaller share showed no conflict, and 32 % of the others: below it, the test hardly sees."""


@dataclass(frozen=True)
class Witness(BriefRepr):
    """Two steps that carry one label but different rewards.

    ``rewards`` starts with the rewards of the two steps, in their order; further rewards of the same label follow.

    >>> print(Witness((0, "go", 1), (0.0, 1.0), episodes=(0, 3), steps=(2, 5)))
    (0, go, 1) pays 0 or 1: episode 0 step 2, episode 3 step 5
    """

    label: Value
    rewards: tuple[float, ...]
    episodes: tuple[int, int]
    steps: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        return {
            "label": jsonable(self.label),
            "rewards": list(self.rewards),
            "episodes": list(self.episodes),
            "steps": list(self.steps),
        }

    def __str__(self) -> str:
        (i, j), (m, n) = self.episodes, self.steps
        rewards = " or ".join(f"{r:g}" for r in self.rewards)
        return f"{show(self.label)} pays {rewards}: episode {i} step {m}, episode {j} step {n}"


@dataclass(frozen=True)
class CheckReport(BriefRepr):
    """Whether the reward is Markov, and witnesses if it is not, the shortest first.

    ``conflicts`` counts labels that were seen with two or more rewards; there is one witness for each. ``comparable``
    counts steps whose (s, a, s') occurs more than once. ``testable`` says whether the episodes can show anything: with
    a conflict among their (s, a, s') or, without one, with at least half of their steps comparable. ``time`` says so
    where the reward is one of the step number.

    >>> check(Traces.of([([0, 1], ["go"], [0])])).to_json()
    {'markov': True, 'steps': 1, 'episodes': 1, 'conflicts': 0, 'witnesses': [], 'comparable': 0, 'testable': False}
    """

    steps: int
    episodes: int
    conflicts: int
    witnesses: tuple[Witness, ...]
    comparable: int = 0
    testable: bool = False
    time: Clock | None = None

    @property
    def markov(self) -> bool:
        return self.conflicts == 0

    def to_json(self) -> dict[str, Any]:
        return {
            "markov": self.markov,
            "steps": self.steps,
            "episodes": self.episodes,
            "conflicts": self.conflicts,
            "witnesses": [witness.to_json() for witness in self.witnesses],
            "comparable": self.comparable,
            "testable": self.testable,
            **({} if self.time is None else {"time": self.time.to_json()}),
        }


def check(
    episodes: Episodes,
    machine: RewardMachine | None = None,
    *,
    trigger_on: LabelOn | None = None,
    reward_on: LabelOn | None = None,
) -> CheckReport:
    """Looks for conflicts. With a machine, a step's label is (u, reward label, u') instead of (s, a, s').

    >>> report = check(Traces.of([([0, 1], ["go"], [0]), ([0, 1], ["go"], [1])]))
    >>> report.markov, str(report.witnesses[0])
    (False, '(0, go, 1) pays 0 or 1: episode 0 step 0, episode 1 step 0')
    """
    traces = as_traces(episodes)
    steps = labelling_named("transition").label_steps(traces)
    ids, values = steps.ids, steps.values
    if machine is not None:
        way = run(machine, traces, trigger_on=trigger_on, reward_on=reward_on)
        keys, codes = np.unique(way.keys(machine.states), return_inverse=True)
        ids = codes.astype(np.int32)
        values = []
        for key in keys:
            u, label, v = way.unpack(int(key), machine.states)
            values.append((u, way.reward_labels.values[label], v))
    witnesses = _witnesses(traces, ids, values)
    comparable = int((np.bincount(steps.ids, minlength=1)[steps.ids] > 1).sum())
    testable = traces.steps > 0 and comparable >= LEAST_COMPARABLE * traces.steps
    if not testable:
        codes = np.unique(traces.rewards, return_inverse=True)[1]
        testable = bool(conflicting_labels(steps.ids, codes.astype(np.int32), max(1, len(steps.values))).any())
    clock = find_clock(traces) if witnesses and machine is None else None
    return CheckReport(traces.steps, len(traces), len(witnesses), tuple(witnesses), comparable, testable, clock)


def _witnesses(traces: Traces, labels: Ints, values: list[Value]) -> list[Witness]:
    rewards, inverse = np.unique(traces.rewards, return_inverse=True)
    codes: Ints = inverse.astype(np.int32)
    suspects = np.flatnonzero(conflicting_labels(labels, codes, max(1, len(values)))[labels])
    depth: Longs = np.arange(traces.steps) - np.repeat(traces.offsets[:-1], np.diff(traces.offsets))
    order = suspects[np.lexsort((suspects, depth[suspects], codes[suspects], labels[suspects]))]
    pairs = np.stack([labels[order], codes[order]], axis=1)
    firsts = order[np.r_[True, (pairs[1:] != pairs[:-1]).any(axis=1)]] if len(order) else order
    by_label: dict[int, list[int]] = {}
    for step in firsts.tolist():  # the shallowest step of each (label, reward)
        by_label.setdefault(int(labels[step]), []).append(step)
    out: list[tuple[int, Witness]] = []
    for label, steps in by_label.items():
        first, second, *others = sorted(steps, key=lambda n: (int(depth[n]), n))
        (i, m), (j, n) = traces.locate(first), traces.locate(second)
        paid = tuple(float(rewards[codes[step]]) for step in (first, second, *others))
        out.append((m + n, Witness(values[label], paid, (i, j), (m, n))))
    out.sort(key=lambda item: (item[0], item[1].episodes, item[1].steps))
    return [witness for _, witness in out]
