"""What one call of the learner of guards leaves for the next: steps to look at first, and what is proven.

A proof about some episodes holds for more of them: the optimum only grows. So where the new episodes begin with those
of the last call, nothing smaller than its machine has to be excluded again; one of that size is optimal.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from markovize.episodes.columns import Ints, Longs
from markovize.learning.guards.candidate import Size
from markovize.learning.guards.problem import GuardProblem


@dataclass(frozen=True)
class Proven:
    """Nothing smaller explains the first ``episodes`` episodes, which are known by their digest."""

    size: Size
    refutations: int
    episodes: int
    digest: str


@dataclass(frozen=True)
class Remembered:
    """The exemplars of the last call, as (episode, step), and the size of its machine, if that was proven."""

    exemplars: tuple[tuple[int, int], ...] = ()
    proven: Proven | None = None

    def recall(self, offsets: Longs) -> list[int]:
        """The exemplars, where these episodes have such steps. They are only steps to look at first."""
        places = [(e, int(offsets[e]) + n) for e, n in self.exemplars if e + 1 < len(offsets)]
        return [step for e, step in places if step < offsets[e + 1]]

    def proven_of(self, problem: GuardProblem) -> Proven | None:
        """What was proven, if it holds for these episodes, too."""
        old = self.proven
        if old is None or old.episodes >= len(problem.offsets) or digest(problem, old.episodes) != old.digest:
            return None
        return old


def digest(problem: GuardProblem, episodes: int) -> str:
    """Of the first episodes, all that decides which machines explain them.

    Values count by their order, or by being equal. Features that never change among these episodes do not count at
    all: a literal on one of them always holds or never does, so that a machine with it is no smaller than without.
    """
    end = int(problem.offsets[episodes])
    hashed = hashlib.blake2b(problem.offsets[: episodes + 1].tobytes(), digest_size=16)
    hashed.update(_ranks(problem.labels[:end]).tobytes())
    if problem.pays is None:
        hashed.update(_ranks(problem.outcomes[:end]).tobytes())
    else:  # numbers of outcomes depend on what came later
        ends = problem.pays.ends[problem.outcomes[:end]]
        hashed.update(repr(problem.pays.allowance).encode() + ends.tobytes() + problem.pays.rewards[:end].tobytes())
    for feature, codes in zip(problem.table.features, problem.codes, strict=True):
        ranks = _ranks(codes[:end])
        if ranks.any():
            hashed.update(repr((feature.name, feature.numeric)).encode())
            hashed.update(ranks.tobytes())
    return hashed.hexdigest()


def _ranks(codes: Ints) -> Ints:
    """How many different codes are smaller than each; codes are small, so that nothing has to be sorted."""
    before = np.cumsum(np.bincount(codes) > 0) - 1
    return before[codes].astype(np.int32)
