"""How literals may be shared out among the guards of a split: one large question becomes several small ones.

That a machine has at most L literals says little about each of its guards. So for every way to share L literals out,
it is asked with bounds for each guard. A refutation says which of the bounds were the reason; all shares within these
are refuted at once, so few of them are ever asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Final, TypeAlias

Share: TypeAlias = tuple[int, ...]
"""For each guard, how many literals it has at most."""

MOST_SHARES: Final = 2_000  # to look through; where there are more, literals are counted together


@dataclass
class Shares:
    """Which shares of literals are refuted for one split.

    >>> shares = Shares(guards=2)
    >>> shares.left(3, near=(2, 2))
    [(1, 2), (2, 1), (0, 3), (3, 0)]
    >>> shares.refute((1, None))  # at most one literal in the first guard, whatever the second one has
    >>> shares.left(3, near=(2, 2))
    [(2, 1), (3, 0)]
    """

    guards: int
    _refuted: list[tuple[int | None, ...]] = field(default_factory=list)

    def refute(self, bounds: tuple[int | None, ...]) -> None:
        """There is no machine within these bounds."""
        self._refuted.append(bounds)

    def left(self, literals: int, near: Sequence[int]) -> list[Share]:
        """The shares of so many literals that are not refuted, those first that are nearest to this one."""
        every = (share for share in _share_out(literals, self.guards) if not self.is_refuted(share))
        return sorted(every, key=lambda share: sum(abs(a - b) for a, b in zip(share, near, strict=True)))

    def is_refuted(self, share: Share) -> bool:
        """Whether there is no machine with this share."""
        return any(
            all(bound is None or own <= bound for own, bound in zip(share, bounds, strict=True))
            for bounds in self._refuted
        )


def few_shares(literals: int, guards: int) -> bool:
    """Whether there are few enough to look through."""
    return comb(literals + guards - 1, guards - 1) <= MOST_SHARES


def _share_out(literals: int, guards: int) -> Iterator[Share]:
    if guards == 1:
        yield (literals,)
        return
    for own in range(literals + 1):
        for rest in _share_out(literals - own, guards - 1):
            yield (own, *rest)
