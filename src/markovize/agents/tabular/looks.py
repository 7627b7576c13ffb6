"""When a run whose rewards are random looks for a machine, and how sure it must be each time.

Rewards that differ are no conflict there. So the episodes kept are weighed now and then, whenever there are twice as
many, and once more when exploration ends. Each look has a share of the significance, the k-th one part in k (k + 1):
however many there are, a machine where rewards are Markov is found with at most the probability asked for.
"""

from __future__ import annotations

from typing import Final

FIRST: Final = 100  # episodes kept, at the first look


def looks_until(kept: int) -> int:
    """How many looks there were when so many episodes had been kept, without the last one.

    >>> [looks_until(kept) for kept in (99, 100, 199, 200, 1_600)]
    [0, 1, 1, 2, 5]
    """
    return (kept // FIRST).bit_length()


def share_of(look: int) -> float:
    """What part of the significance the first, second, … look has; all of them together have all of it.

    >>> share_of(1), round(sum(map(share_of, range(1, 10_000))), 3)
    (0.5, 1.0)
    """
    return 1 / (look * (look + 1))
