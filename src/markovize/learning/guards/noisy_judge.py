"""The judge where noise is allowed for: each cell's rewards fit one window, but for so many outliers in all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from markovize.episodes.columns import Bools, Longs
from markovize.learning.guards import kernels
from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.judge import MOST_PAIRS, AnyJudge, Judge, Trial
from markovize.learning.guards.pays import Pays
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.windows import Inside, fill_windows, look_inside, sort_into_groups


@dataclass(frozen=True, eq=False)
class WindowedTrial(Trial):
    """With what is outside of the fullest window of its cell."""

    outside: Bools = field(repr=False)  # of each step
    outliers: int
    allowed: int

    @property
    def fits(self) -> bool:
        return self.outliers <= self.allowed


class NoisyJudge(AnyJudge[WindowedTrial]):
    """Where rewards are explained within an allowance."""

    def __init__(self, problem: GuardProblem, *, large: bool | None = None) -> None:
        super().__init__(problem, large=large)
        self._order = np.argsort(problem.outcomes, kind="stable")
        self._levels, self._ends = self.pays.levels[problem.outcomes], self.pays.ends[problem.outcomes]
        self._ones = np.ones(problem.steps, np.int64)

    @property
    def pays(self) -> Pays:
        assert self.problem.pays is not None
        return self.problem.pays

    def try_out(self, candidate: Candidate) -> WindowedTrial:
        way, cells = self._begin(candidate), np.zeros(self.problem.steps, np.int64)
        torn = int(kernels.run_cells(self._steps, way, cells))
        outside, outliers = self._leave_outside(cells, self.n_cells(candidate))
        return WindowedTrial(way, cells, torn, outside, outliers, self.pays.allowance.outliers)

    def _leave_outside(self, cells: Longs, n_cells: int) -> tuple[Bools, int]:
        """For each step, whether it is outside of the fullest window of its cell; how many are."""
        order = sort_into_groups(self._order, cells, n_cells)
        outside = np.ones(len(order), np.bool_)
        steps = fill_windows(
            cells[order], self._ends[order], self._levels[order], self._ones, self.pays.allowance.width, outside
        )
        back = np.empty(len(order), np.bool_)
        back[order] = outside
        return back, int(steps)

    def look(self, candidate: Candidate) -> Inside:
        """Outliers, and what pays alike."""
        trial = self.try_out(candidate)
        inside = ~trial.outside
        kept = trial.cells[inside], self.problem.labels[inside], self.pays.rewards[inside], self._ones[inside]
        return Inside(trial.outliers, look_inside(*kept, self.pays.allowance.width))

    def violations(self, trial: WindowedTrial, known: set[int], most: int) -> list[int]:
        """Of every cell with steps outside of its window: those above and below, and what they clash with inside."""
        problem, out = self.problem, [trial.torn] if trial.torn >= 0 else []
        if trial.fits:
            return out
        cells, counts = np.unique(trial.cells[trial.outside], return_counts=True)
        for cell in cells[np.argsort(counts, kind="stable")][:MOST_PAIRS].tolist():
            here = np.flatnonzero(trial.cells == cell)
            here = here[np.argsort(problem.depth[here], kind="stable")]
            for steps in self._sides(here, trial.outside[here]):
                out += self._fresh(steps, known, most)
        if known.issuperset(out):  # others of these cells tell more
            rest = np.flatnonzero(np.isin(trial.cells, cells))
            rest = rest[np.argsort(problem.depth[rest], kind="stable")]
            out += [step for step in rest.tolist() if step not in known][:most]
        return out

    def _sides(self, here: Longs, outside: Bools) -> list[Longs]:
        """Of the steps of one cell: above the window and below it, and inside of it what no level fits with these."""
        outcomes, fits_from = self.problem.outcomes[here], self.pays.fits_from
        inside = outcomes[~outside]
        above, below = outside & (outcomes > inside.max()), outside & (outcomes < inside.min())
        sides = [here[above], here[below]]
        if above.any():
            sides.append(here[~outside & (outcomes < fits_from[outcomes[above].max()])])
        if below.any():
            sides.append(here[~outside & (fits_from[outcomes] > outcomes[below].min())])
        return sides

    def _shift(self, candidate: Candidate, row: int, flips: Longs, groups: Longs) -> int:
        trial, n_cells = self.try_out(candidate), self.n_cells(candidate)
        for group in range(len(groups) - 1):
            some = flips[groups[group] : groups[group + 1]]
            good = kernels.run_episodes_again(self._steps, trial.way, trial.cells, row, some)
            if not good or self._leave_outside(trial.cells, n_cells)[1] > trial.allowed:
                return group
        return len(groups) - 1


def judge_of(problem: GuardProblem) -> AnyJudge[Any]:
    """The judge for a problem: the one for exact rewards, too, where a tolerance only makes fewer outcomes."""
    pays = problem.pays
    if pays is None or (pays.is_partition and not pays.allowance.outliers):
        return Judge(problem)
    return NoisyJudge(problem)
