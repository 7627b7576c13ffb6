"""Episodes of which what they have in common stands only once: memory grows with distinct histories, not with steps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from markovize.episodes.traces import Ints, Longs, Traces


@dataclass(frozen=True, eq=False)
class MergedTraces(Traces):
    """A tree of histories: each of its episodes is a *branch*, which begins where no earlier episode went the same way.

    Two steps are one here if everything up to them was the same: states, actions, rewards, and whether the step ended
    its episode. They stand in the order in which the log first has them. So whatever numbers labels, outcomes or
    histories by their first appearance, and counts steps by their weights, finds here what it finds in the whole log.
    """

    branch_starts: Ints = field(repr=False)
    step_weights: Ints = field(repr=False)
    numbers: Longs = field(repr=False)  # of the recorded episode that each branch belongs to
    depths_before: Ints = field(repr=False)  # how many steps of that episode come before each branch
    recorded_episodes: int

    @property
    def recorded(self) -> tuple[int, int]:
        return self.recorded_episodes, int(self.step_weights.sum(dtype=np.int64))

    def starts(self) -> Ints:
        return self.branch_starts

    def weights(self) -> Ints | None:
        return self.step_weights

    def depths(self) -> Longs:
        return super().depths() + np.repeat(self.depths_before, np.diff(self.offsets))

    def locate(self, step: int) -> tuple[int, int]:
        branch, depth = super().locate(step)
        return int(self.numbers[branch]), int(self.depths_before[branch]) + depth
