"""Runs a machine over episodes: which state it is in at each step, and whether its rewards are the observed ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.features import Features, FeatureTable
from markovize.episodes.labelling import LabelFunctions, Labelling, LabelOn, Labels
from markovize.episodes.labelling.guards import FeatureLabelling, ValuationLabelling
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.tally import Tally, usual_reward
from markovize.episodes.traces import Bools, Episodes, Floats, Ints, Longs, Traces, as_traces
from markovize.episodes.values import Value, key_of
from markovize.machine import kernels
from markovize.machine.fit import Fit, compare
from markovize.machine.guarded_run import run_guards
from markovize.machine.machine import RewardMachine


class MachineFunctions(LabelFunctions, total=False):
    """What a machine's own labels and features come from."""

    features: Features | None


@dataclass(frozen=True)
class Run:
    """A machine's way through episodes: the state before and after every step, and the steps' reward labels."""

    before: Ints
    after: Ints
    reward_labels: Labels

    def keys(self, states: int) -> Longs:
        """(u, reward label, u') of each step, packed into one integer."""
        labels = max(1, len(self.reward_labels.values))
        return (self.before.astype(np.int64) * labels + self.reward_labels.ids) * states + self.after

    def unpack(self, key: int, states: int) -> tuple[int, int, int]:
        """(u, reward label's number, u') of a packed key."""
        labels = max(1, len(self.reward_labels.values))
        return key // states // labels, key // states % labels, key % states

    def cells(self, states: int) -> tuple[Ints, list[tuple[int, Value, int]]]:
        """(u, reward label, u') of each step, numbered, and what the numbers mean."""
        keys, codes = np.unique(self.keys(states), return_inverse=True)
        values: list[tuple[int, Value, int]] = []
        for key in keys.tolist():
            u, label, v = self.unpack(key, states)
            values.append((u, self.reward_labels.values[label], v))
        return codes.astype(np.int32), values


@dataclass(frozen=True)
class ReplayReport:
    """What replaying a machine showed.

    ``unseen`` counts steps whose (u, reward label, u') is not among the machine's rewards, ``mismatches`` steps whose
    reward differs from the machine's. ``unseen_paid`` counts those of the unseen steps that were *paid*: their reward
    is another than the commonest one of their reward label in these episodes. ``first_mismatch`` is (episode, step, the
    machine's reward, the observed one). Where the machine's rewards have distributions, a single reward is no mismatch:
    all steps of cells that do not follow theirs are, and ``fit`` says which these are.

    >>> ReplayReport(steps=10, unseen=2, mismatches=0, unseen_paid=1).to_json()
    {'steps': 10, 'unseen': 2, 'mismatches': 0, 'unseen_paid': 1}
    """

    steps: int
    unseen: int
    mismatches: int
    first_mismatch: tuple[int, int, float, float] | None = None
    unseen_paid: int = 0
    fit: Fit | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "unseen": self.unseen,
            "mismatches": self.mismatches,
            "unseen_paid": self.unseen_paid,
            **({} if self.fit is None else {"fit": self.fit.to_json()}),
        }


def run(
    machine: RewardMachine,
    traces: Traces,
    *,
    trigger_on: LabelOn | None = None,
    reward_on: LabelOn | None = None,
    features: Features | None = None,
) -> Run:
    """The machine's states along the episodes. Machines on a user's labels need the functions they were learned with.

    ``features`` is the function that features of a machine with guards come from, if they do.

    >>> from markovize.machine.machine import Trigger
    >>> traces = Traces.of([([0, 1, 0], ["a", "b"], [0, 1])])
    >>> run(RewardMachine("state", "state", 2, (Trigger(0, 1, 1),)), traces).after.tolist()
    [1, 1]
    """
    known = label_for(machine, traces, trigger_on=trigger_on, reward_on=reward_on, features=features)
    return run_on_labels(machine, traces.offsets, *known)


def label_for(
    machine: RewardMachine,
    traces: Traces,
    *,
    trigger_on: LabelOn | None = None,
    reward_on: LabelOn | None = None,
    features: Features | None = None,
) -> tuple[Labels | FeatureTable, Labels]:
    """What a machine reads of the episodes: labels for its triggers, or features for its guards; labels for rewards."""
    triggers, rewards = machine.trigger_labelling(trigger_on, features), machine.reward_labelling(reward_on, features)
    if not isinstance(triggers, FeatureLabelling):
        labels = triggers.label_steps(traces)
        return labels, labels if rewards == triggers else rewards.label_steps(traces)
    table = triggers.table(traces)
    return table, _reward_labels(rewards, traces, table)


def _reward_labels(rewards: Labelling, traces: Traces, table: FeatureTable) -> Labels:
    if isinstance(rewards, ValuationLabelling):
        return rewards.label_table(table, traces.steps)
    return rewards.label_steps(traces)


def run_on_labels(
    machine: RewardMachine,
    offsets: Longs,
    triggers: Labels | FeatureTable,
    rewards: Labels,
    starts: Ints | None = None,
) -> Run:
    """The same for steps that have their labels, or their features, already."""
    if isinstance(triggers, FeatureTable):
        return Run(*run_guards(machine, offsets, triggers, starts)[:2], rewards)
    delta = machine.delta.table(triggers.values)
    before, after = kernels.episode_states(offsets, triggers.ids, delta, machine.initial, starts)
    return Run(before, after, rewards)


def replay(
    machine: RewardMachine,
    episodes: Episodes | EpisodeStream,
    *,
    trigger_on: LabelOn | None = None,
    reward_on: LabelOn | None = None,
    features: Features | None = None,
    tolerance: float = 0.0,
) -> ReplayReport:
    """Compares the machine's rewards with the observed ones, step by step; they may differ by the ``tolerance``.

    Where a machine's rewards are random, distributions are compared instead, cell by cell: see ``fit`` of the report.

    >>> from markovize.machine.machine import Emission
    >>> traces = Traces.of([([0, 1, 0], ["a", "b"], [0, 1])])
    >>> replay(RewardMachine("state", "state", 1, (), (Emission(0, 1, 0, 0.5),)), traces).to_json()
    {'steps': 2, 'unseen': 1, 'mismatches': 1, 'unseen_paid': 0}
    """
    allowed = Allowance(tolerance).tolerance
    look = partial(
        _look, machine=machine, trigger_on=trigger_on, reward_on=reward_on, features=features, tolerance=allowed
    )
    if isinstance(episodes, EpisodeStream):
        parts = episodes.map(lambda stream: look(stream.chunks()))
    else:
        parts = iter([look([as_traces(episodes)])])
    whole = next(parts)
    for part in parts:
        whole.absorb(part)
    # paid: another reward than the label's commonest in all the episodes
    usual = (whole.unseen_steps.count(label, usual_reward(paid)) for label, paid in whole.all_steps.items())
    unseen_paid = whole.unseen - sum(usual) if whole.unseen else 0
    report = ReplayReport(whole.steps, whole.unseen, whole.mismatches, whole.first, unseen_paid)
    return _with_fit(report, machine, whole.random_steps)


def _with_fit(report: ReplayReport, machine: RewardMachine, paid: Tally) -> ReplayReport:
    """The report, with the test of fit where the machine's rewards are random."""
    if not machine.is_random:
        return report
    cells = {key_of((e.source, e.on, e.target)): e for e in machine.rewards}
    fit = compare((cells[key_of(cell)], rewards) for cell, rewards in paid.items())
    first = report.first_mismatch
    for misfit in fit.misfits:
        if first is None or misfit.first < first[:2]:
            first = (*misfit.first, misfit.expected, misfit.observed)
    wrong = report.mismatches + sum(misfit.steps for misfit in fit.misfits)
    return replace(report, mismatches=wrong, first_mismatch=first, fit=fit)


@dataclass
class _Part:
    """What a part of a log says."""

    steps: int = 0
    episodes: int = 0
    unseen: int = 0
    mismatches: int = 0
    first: tuple[int, int, float, float] | None = None
    all_steps: Tally = field(default_factory=Tally)
    unseen_steps: Tally = field(default_factory=Tally)
    random_steps: Tally = field(default_factory=Tally)  # by cell, where it has a distribution

    def absorb(self, later: _Part) -> None:
        """Adds what the next part of the log says."""
        if self.first is None and later.first is not None:
            episode, step, expected, observed = later.first
            self.first = (self.episodes + episode, step, expected, observed)
        self.all_steps.absorb(later.all_steps, episodes_before=self.episodes)
        self.unseen_steps.absorb(later.unseen_steps, episodes_before=self.episodes)
        self.random_steps.absorb(later.random_steps, episodes_before=self.episodes)
        self.steps, self.episodes = self.steps + later.steps, self.episodes + later.episodes
        self.unseen, self.mismatches = self.unseen + later.unseen, self.mismatches + later.mismatches


def _look(
    chunks: Iterable[Traces],
    machine: RewardMachine,
    trigger_on: LabelOn | None,
    reward_on: LabelOn | None,
    features: Features | None,
    tolerance: float,
) -> _Part:
    part = _Part()
    for traces in chunks:
        way = run(machine, traces, trigger_on=trigger_on, reward_on=reward_on, features=features)
        promised = promised_rewards(machine, way)
        unknown: Bools = np.isnan(promised)
        far = are_apart(promised, traces.rewards, tolerance)
        if machine.is_random:
            ids, cells = way.cells(machine.states)
            chance = np.array([machine.distribution(*cell) != () for cell in cells] or [False])[ids]
            part.random_steps.add(ids, [*cells], traces, episodes_before=part.episodes, only=chance)
            far &= ~chance
        wrong = np.flatnonzero(~unknown & far)
        if len(wrong) and part.first is None:
            at = int(wrong[0])
            episode, step = traces.locate(at)
            part.first = (part.episodes + episode, step, float(promised[at]), float(traces.rewards[at]))
        labels, before = way.reward_labels, part.episodes
        part.all_steps.add(labels.ids, labels.values, traces, episodes_before=before)
        part.unseen_steps.add(labels.ids, labels.values, traces, episodes_before=before, only=unknown)
        part.steps, part.episodes = part.steps + traces.steps, before + len(traces)
        part.unseen, part.mismatches = part.unseen + int(unknown.sum()), part.mismatches + len(wrong)
    return part


def promised_rewards(machine: RewardMachine, way: Run) -> Floats:
    """The machine's reward for each step, NaN where it knows none."""
    ids, cells = way.cells(machine.states)
    expected = np.full(len(cells), np.nan)
    for number, cell in enumerate(cells):
        reward = machine.reward(*cell)
        if reward is not None:
            expected[number] = reward
    return expected[ids] if len(cells) else np.zeros(0)


def promised_ends(machine: RewardMachine, way: Run) -> Bools:
    """Whether the machine's step ends an episode, for each step."""
    ids, cells = way.cells(machine.states)
    return np.array([machine.terminal(*cell) for cell in cells] or [False])[ids]


def are_apart(levels: Floats, rewards: Floats, tolerance: float) -> Bools:
    """Which rewards are not those of their levels; within a tolerance, as :func:`with_rounding` has it."""
    far: Bools = np.abs(levels - rewards) > with_rounding(tolerance, levels) if tolerance else levels != rewards
    return far


def with_rounding(tolerance: float, levels: Floats) -> Floats:
    """How far rewards may be from these levels: the middle of two rewards is rounded, which is no one's fault."""
    return tolerance + 4 * np.finfo(np.float64).eps * (np.abs(levels) + tolerance)
