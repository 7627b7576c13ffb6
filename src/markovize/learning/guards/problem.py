"""Episodes as the search for guards sees them: the features of each step as small integers, its outcome, its label.

Only the order of observed values matters for a threshold. So a numeric feature is known by the rank of its value, and a
bound on it is a rank too: the optimum over such bounds is the optimum over all thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from markovize.conflicts.labels import conflicting_labels
from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.columns import Bools, Floats, Ints, Longs
from markovize.episodes.features import FeatureTable
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.learning import tree_kernels
from markovize.learning.guards.pays import Pays, weigh


@dataclass(frozen=True, eq=False)
class GuardProblem:
    """What must be explained, and by which features.

    ``labels`` are the reward labels, where these are given; all 0 where reward guards are to be found. ``pays`` says
    which outcomes fit where noise is allowed for; otherwise only equal ones do.
    """

    table: FeatureTable
    offsets: Longs = field(repr=False)
    codes: tuple[Ints, ...] = field(repr=False)  # of each feature: for every step, the value's rank or code
    ranked: tuple[Floats, ...] = field(repr=False)  # of each numeric feature: its values, ascending
    labels: Ints = field(repr=False)
    n_labels: int
    outcomes: Ints = field(repr=False)
    n_outcomes: int
    finds_reward_guards: bool
    pays: Pays | None = None

    @property
    def steps(self) -> int:
        return len(self.outcomes)

    @property
    def n_features(self) -> int:
        return len(self.codes)

    @cached_property
    def numeric(self) -> tuple[bool, ...]:
        return tuple(feature.numeric for feature in self.table.features)

    @cached_property
    def episode_of(self) -> Ints:
        """The episode of every step."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def depth(self) -> Ints:
        """How many steps of its episode came before each step."""
        return (np.arange(self.steps) - self.offsets[self.episode_of]).astype(np.int32)

    @cached_property
    def row_of(self) -> Ints:
        """For every step the first one with equal features."""
        rows = np.zeros(self.steps, np.int64)
        for column in self.codes:
            rows = tree_kernels.first_alike(rows, column, int(column.max(initial=0)) + 1)
        return rows.astype(np.int32)

    @cached_property
    def matters(self) -> Bools:
        """For every step, whether its label was seen with several outcomes: no others can conflict."""
        fits_from = None if self.pays is None else self.pays.fits_from
        return conflicting_labels(self.labels, self.outcomes, self.n_labels, fits_from)[self.labels]

    @cached_property
    def kinds(self) -> Ints:
        """For every step a rough outcome: with an allowance, what one level fits counts as one, neighbours at least."""
        return self.outcomes if self.pays is None else self.pays.kind_of[self.outcomes]

    @cached_property
    def copies(self) -> Ints:
        """For every step, how many there are with equal features so far, an equal label and an equal outcome."""
        seen_as = tree_kernels.first_alike(self.first_alike(), self.outcomes, self.n_outcomes)
        return np.bincount(seen_as, minlength=self.steps)[seen_as].astype(np.int32)

    def select(self, places: Sequence[int]) -> GuardProblem:
        """The same with only some of the features."""
        table = self.table.select([self.table.features[place].name for place in places])
        codes = tuple(self.codes[place] for place in places)
        return replace(self, table=table, codes=codes, ranked=tuple(self.ranked[place] for place in places))

    def beginning(self, steps: int) -> GuardProblem:
        """Only the first episodes, about so many steps; features, labels and outcomes keep their numbers."""
        episodes = max(1, int(np.searchsorted(self.offsets, steps)))
        end = int(self.offsets[episodes])
        return replace(
            self,
            offsets=self.offsets[: episodes + 1],
            codes=tuple(column[:end] for column in self.codes),
            labels=self.labels[:end],
            outcomes=self.outcomes[:end],
        )

    def with_outliers(self, outliers: int) -> GuardProblem:
        """The same with another number of outliers; only where there is an allowance."""
        assert self.pays is not None
        return replace(self, pays=self.pays.with_outliers(outliers))

    def row(self, step: int) -> tuple[int, ...]:
        """The codes of all features at one step."""
        return tuple(int(column[step]) for column in self.codes)

    @property
    def is_realisable(self) -> bool:
        """Whether any machine over these features explains the outcomes."""
        if self.pays is not None:
            return self.pays.needed_outliers(self.first_alike(), self.outcomes) <= self.pays.allowance.outliers
        return not np.any(self.outcomes != self.outcomes[self.first_alike()])

    def first_alike(self) -> Longs:
        """For each step, the first one with equal features so far and an equal label; no machine tells them apart."""
        rows, n_rows = self.row_of, int(self.row_of.max(initial=0)) + 1
        starts = np.full(len(self.offsets) - 1, -1, np.int32)
        node_of = tree_kernels.merge_prefixes(self.offsets, starts, rows, n_rows)[-1]
        return tree_kernels.first_alike(node_of, self.labels, self.n_labels)


def pose_guards(
    steps: LabelledSteps, table: FeatureTable, *, finds_reward_guards: bool, allowance: Allowance = EXACT
) -> GuardProblem:
    """The problem of these steps; their trigger labels are not looked at, the features stand for them."""
    codes: list[Ints] = []
    ranked: list[Floats] = []
    for feature, column in zip(table.features, table.columns, strict=True):
        if feature.numeric:
            values, ranks = np.unique(column, return_inverse=True)
            codes.append(ranks.astype(np.int32))
            ranked.append(values.astype(np.float64))
        else:
            codes.append(column.astype(np.int32))
            ranked.append(np.zeros(0))
    labels = np.zeros(len(steps.outcomes), np.int32) if finds_reward_guards else steps.rewards.ids
    n_labels = 1 if finds_reward_guards else max(1, len(steps.rewards.values))
    pays: Pays | None = None
    if allowance.exact:
        outcomes = np.unique(steps.outcomes, return_inverse=True)[1].astype(np.int32)
    else:
        outcomes, pays = weigh(steps, allowance)
    return GuardProblem(
        table,
        steps.offsets,
        tuple(codes),
        tuple(ranked),
        labels,
        n_labels,
        outcomes,
        int(outcomes.max(initial=0)) + 1,
        finds_reward_guards,
        pays,
    )
