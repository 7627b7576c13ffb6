"""How literals may be shared out among the guards of a split: one large question becomes several small ones.

That a machine has at most L literals says little about each of its guards, and less about features that say nothing. So
the sides of each guard are two groups: those on features that the best machine so far uses, and all others. For every
way to share L literals out among the groups, it is asked with bounds for each of them. A refutation says which of the
bounds were the reason; all shares within these are refuted at once, so few of them are ever asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from markovize.learning.guards.candidate import Candidate, Side

Share: TypeAlias = tuple[int, ...]
"""For each group of sides, how many literals it has at most."""
Place: TypeAlias = tuple[int, int, Side]
"""A side of a guard: which guard, which feature, which side."""

MOST_SHARES: Final = 2_000  # to look through; where there are more, literals are counted together


@dataclass
class Shares:
    """Which shares of literals are refuted for one split.

    >>> shares = Shares(group_sides((True, True), guards=2, near=[0, 1]))
    >>> shares.sizes
    (4, 4)
    >>> shares.left(3, near=(2, 2))
    [(1, 2), (2, 1), (0, 3), (3, 0)]
    >>> shares.refute((1, None))  # at most one literal in the first group, whatever the second one has
    >>> shares.left(3, near=(2, 2))
    [(2, 1), (3, 0)]
    """

    groups: list[list[Place]]
    _refuted: list[tuple[int | None, ...]] = field(default_factory=list)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The most literals of each group."""
        return tuple(map(len, self.groups))

    def share_of(self, candidate: Candidate) -> Share:
        """How many literals of each group it has."""
        used = {(guard, bound.feature, bound.side) for guard, box in enumerate(candidate.boxes) for bound in box}
        return tuple(len(used.intersection(group)) for group in self.groups)

    def refute(self, bounds: tuple[int | None, ...]) -> None:
        """There is no machine within these bounds."""
        self._refuted.append(bounds)

    def left(self, literals: int, near: Sequence[int]) -> list[Share]:
        """The shares of so many literals that are not refuted, those first that are nearest to this one."""
        every = (share for share in _share_out(literals, self.sizes) if not self.is_refuted(share))
        return sorted(every, key=lambda share: sum(abs(a - b) for a, b in zip(share, near, strict=True)))

    def is_refuted(self, share: Share) -> bool:
        """Whether there is no machine with this share."""
        return any(
            all(bound is None or own <= bound for own, bound in zip(share, bounds, strict=True))
            for bounds in self._refuted
        )


def group_sides(numeric: Sequence[bool], guards: int, near: Collection[int]) -> list[list[Place]]:
    """The sides of each guard on these features, and those on all others.

    >>> group_sides((True, False), guards=1, near=[1])
    [[(0, 1, 'is')], [(0, 0, 'at_least'), (0, 0, 'below')]]
    """
    groups = []
    for guard in range(guards):
        sides: list[Place] = []
        for feature, has_order in enumerate(numeric):
            here: tuple[Side, ...] = ("at_least", "below") if has_order else ("is",)
            sides += [(guard, feature, side) for side in here]
        groups.append([place for place in sides if place[1] in near])
        groups.append([place for place in sides if place[1] not in near])
    return [group for group in groups if group]


def share_out(literals: int, numeric: Sequence[bool], guards: int, near: Collection[int]) -> Shares | None:
    """By guard, and by features near and far; by guard alone where that is too much; None if it still is."""
    for features in near, range(len(numeric)):
        groups = group_sides(numeric, guards, features)
        if len(groups) > 1 and count_shares(literals, [len(group) for group in groups]) <= MOST_SHARES:
            return Shares(groups)
    return None


def count_shares(literals: int, sizes: Sequence[int]) -> int:
    """How many ways there are to share so many literals out among groups of these sizes.

    >>> count_shares(3, (4, 4)), count_shares(3, (1, 2))
    (4, 1)
    """
    ways = [1] + [0] * literals
    for size in sizes:
        ways = [sum(ways[max(0, n - size) : n + 1]) for n in range(literals + 1)]
    return ways[-1]


def _share_out(literals: int, sizes: Sequence[int]) -> Iterator[Share]:
    if len(sizes) == 1:
        if literals <= sizes[0]:
            yield (literals,)
        return
    for own in range(min(literals, sizes[0]) + 1):
        for rest in _share_out(literals - own, sizes[1:]):
            yield (own, *rest)
