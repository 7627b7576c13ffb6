"""How noisy rewards are, by what differs where nothing else does: steps after equal histories.

A reward that differs although every state and every action before it were the same is noise, whatever the machine. So
a run that was asked to find the tolerance itself (``auto``) takes it from episodes that begin alike, and plays those
that are in conflict again to have some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.episodes.traces import Floats, Longs

REPEATS: Final = 10  # of each of two episodes in conflict
VOTES: Final = 4  # the same, where only outliers are to be told
ALWAYS: Final = 8  # conflicts that are looked at in this way; later ones when their number has doubled
SAME: Final = 3  # repetitions that paid exactly the same, after which no more are made
ROUND: Final = 16  # rewards after one history, after each of which is looked whether more are needed
SOME: Final = 4  # rewards after one history that say how noisy a level is, roughly
ENOUGH: Final = 8  # rewards after one history that say how far others may be
SLACK: Final = 1.05  # times what was seen, at least: the next reward may be a little farther
FAR: Final = 7  # times as far from the middle as half of the others: an outlier,
LEAP: Final = 1.5  # if it is so many times as far as all that is nearer;
LONG_LEAP: Final = 3  # or so many times, however far the others are
TAILS: Final = 2  # times the standard deviation: what reaches farther is not uniform,
REACH: Final = 4  # and then others may be as many times as far,
MANY: Final = 30  # if there are as many rewards
TOO_WIDE: Final = 1.25  # times the tolerance that is enough: a reason to take another one
TOO_NARROW: Final = 0.95  # of what is expected: the next reward is likely to be outside, and a trigger made of it


class Spread(NamedTuple):
    """Half the widest range of rewards after equal histories, and how wide it would be with many more of them."""

    seen: float
    expected: float


def worth_repeating(conflict: int) -> bool:
    """Whether the episodes of the first, second, … conflict are played again.

    >>> [number for number in range(1, 40) if worth_repeating(number)]
    [1, 2, 3, 4, 5, 6, 7, 8, 16, 32]
    """
    return conflict <= ALWAYS or conflict & (conflict - 1) == 0


def spread_of_repeats(kept: KeptEpisodes, names: Longs | None = None, *, outliers: bool = False) -> Spread:
    """What equal histories say (steps of equal ``names``, if given, are equal); zero where none differ.

    The range of n uniform rewards is (n - 1) / (n + 1) of the whole, on average. Where there may be ``outliers``, only
    histories with enough rewards to tell them count, and without those; noise with tails is expected to reach farther:
    what it does once in a while would be an outlier otherwise, and votes would not know of it.

    >>> kept = KeptEpisodes()
    >>> for reward in (1.0, 1.2, 0.9, 1.1, 1.0, 0.8, 0.9, 1.1, 1.0):
    ...     kept.add(np.array([0, 1], np.int32), np.array([0.0, reward]), True)
    >>> kept.add(np.array([2, 1], np.int32), np.array([0.0, 7.0]), True)
    >>> [round(number, 3) for number in spread_of_repeats(kept)]
    [0.2, 0.25]
    """
    seen = expected = 0.0
    for alike in equal_histories(kept, names):
        if outliers:
            alike = without_far(alike)
            if not len(alike.groups):
                continue
        counts = np.bincount(alike.groups)
        low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
        np.minimum.at(low, alike.groups, alike.rewards)
        np.maximum.at(high, alike.groups, alike.rewards)
        half = (high - low) / 2
        seen = max(seen, float(half.max()))
        many = counts >= ENOUGH
        expected = max(expected, float((half * many * (counts + 1) / np.maximum(counts - 1, 1)).max()))
        if outliers:
            expected = max(expected, _expect_tails(alike, half))
    return Spread(seen, max(expected, SLACK * seen))


def _expect_tails(alike: Alike, half: Floats) -> float:
    """How far rewards may be where those of a group, of half such ranges, have tails; zero where none has."""
    counts = np.bincount(alike.groups)
    mean = np.bincount(alike.groups, alike.rewards) / counts
    deviation = np.sqrt(np.bincount(alike.groups, (alike.rewards - mean[alike.groups]) ** 2) / counts)
    return float((REACH * deviation * ((half > TAILS * deviation) & (counts >= MANY))).max())


def is_examined(kept: KeptEpisodes, rewards: Sequence[float], names: Longs | None = None, *, least: int = SOME) -> bool:
    """Whether each of these rewards is one of a level whose noise was looked at, by rewards after equal histories.

    At least so many rewards; as many as were looked at do where all of them were the same.

    Levels may be noisy, each in its own way: what is known of one says little of another.

    >>> kept = KeptEpisodes()
    >>> for reward in (1.0, 1.2, 0.9, 1.1, 1.0):
    ...     kept.add(np.array([0, 1], np.int32), np.array([0.0, reward]), True)
    >>> is_examined(kept, [0.0, 0.85]), is_examined(kept, [0.0, 1.5])
    (True, False)
    """
    wanted, found = np.array(rewards), np.zeros(len(rewards), np.bool_)
    for alike in equal_histories(kept, names):
        counts = np.bincount(alike.groups)
        low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
        np.minimum.at(low, alike.groups, alike.rewards)
        np.maximum.at(high, alike.groups, alike.rewards)
        more = (high - low) / np.maximum(counts - 1, 1)  # on each side, by which the next one may be farther
        enough = counts >= np.where(high > low, least, SOME)
        inside = (low - more <= wanted[:, None]) & (wanted[:, None] <= high + more) & enough
        found |= inside.any(axis=1)
    return bool(found.all())


class Alike(NamedTuple):
    """The n-th steps of some episodes: those with equal states and actions up to there are in one group."""

    n: int
    episodes: Longs
    groups: Longs
    rewards: Floats


def equal_histories(kept: KeptEpisodes, names: Longs | None = None) -> Iterator[Alike]:
    """Step by step, all episodes that another one begins like; transitions of equal ``names`` are alike."""
    offsets, transitions, rewards, _ = kept.columns()
    if names is not None:
        transitions = names[transitions].astype(np.int32)
    lengths, known = np.diff(offsets), int(transitions.max(initial=0)) + 1
    alive, history = np.flatnonzero(lengths), np.zeros(len(kept), np.int64)
    n = 0
    while len(alive) > 1:
        at = offsets[alive] + n
        keys = history[alive] * known + transitions[at]
        _, groups, counts = np.unique(keys, return_inverse=True, return_counts=True)
        yield Alike(n, alive, groups, rewards[at])
        history[alive] = groups
        n += 1
        alive = alive[(counts[groups] > 1) & (lengths[alive] > n)]


def without_far(alike: Alike) -> Alike:
    """Only groups that are large enough to tell outliers, and without these.

    From the half of a group that is nearest to its middle outwards: what is far beyond that half and a leap beyond all
    that is nearer is one, or what is a long leap beyond.

    >>> rewards = np.array([1.0, 1.1, 0.9, 1.05, 7.0, 0.97, 1.02, 0.95, 1.0, 1.0, 3.0])
    >>> without_far(Alike(0, np.arange(11), np.array([0] * 10 + [1]), rewards)).rewards.tolist()
    [1.0, 1.1, 0.9, 1.05, 0.97, 1.02, 0.95, 1.0, 1.0]
    """
    near = np.zeros(len(alike.groups), np.bool_)
    for group in np.flatnonzero(np.bincount(alike.groups) >= REPEATS).tolist():
        here = np.flatnonzero(alike.groups == group)
        off = np.abs(alike.rewards[here] - np.median(alike.rewards[here]))
        ascending = np.sort(off)[len(here) // 2 :]
        enough = np.minimum(LONG_LEAP * ascending[:-1], np.maximum(LEAP * ascending[:-1], FAR * ascending[0]))
        leaps = np.flatnonzero(ascending[1:] > enough)
        near[here[off <= ascending[leaps[0] if len(leaps) else -1]]] = True
    _, groups = np.unique(alike.groups[near], return_inverse=True)
    return Alike(alike.n, alike.episodes[near], groups, alike.rewards[near])


def fitting_tolerance(present: float, spread: Spread) -> float:
    """The present tolerance, unless what was seen does not fit it, more is expected, or it is far too large.

    >>> fitting_tolerance(0.2, Spread(0.19, 0.21)), fitting_tolerance(0.2, Spread(0.19, 0.22))
    (0.2, 0.22)
    """
    fits = max(spread.seen, TOO_NARROW * spread.expected) <= present <= TOO_WIDE * spread.expected
    return present if fits else spread.expected
