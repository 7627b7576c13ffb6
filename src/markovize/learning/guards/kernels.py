"""The compiled loops of the judge of guards; plain Python twins are in the tests, and no formula uses them."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from typing import NamedTuple

from numba import njit

from markovize.episodes.columns import Bools, Ints, Longs


class Steps(NamedTuple):
    """What is given."""

    offsets: Longs
    labels: Ints
    n_labels: int
    outcomes: Ints
    episode_of: Ints


class Way(NamedTuple):
    """A machine and its way through the steps. ``holds`` has a row for each trigger, then for each reward guard."""

    source: Ints
    target: Ints
    states: int
    holds: Bools
    before: Ints
    after: Ints


@njit(cache=True)
def run_episode(steps: Steps, way: Way, episode: int) -> int:
    """The states before and after each step; the first step where two triggers disagree, or -1.

    Where several hold, the first in order fires.
    """
    torn, u = -1, 0
    for n in range(steps.offsets[episode], steps.offsets[episode + 1]):
        way.before[n] = u
        v, fired = u, False
        for g in range(len(way.source)):
            if way.source[g] == u and way.holds[g, n]:
                if not fired:
                    fired, v = True, way.target[g]
                elif way.target[g] != v and torn < 0:
                    torn = n
        u = v
        way.after[n] = u
    return torn


@njit(cache=True)
def cell_of(steps: Steps, way: Way, n: int) -> int:
    """(u, u', label, valuation of the reward guards) of a step as one number."""
    cell: int = (way.before[n] * way.states + way.after[n]) * steps.n_labels + steps.labels[n]
    for g in range(len(way.source), len(way.holds)):
        cell = 2 * cell + (1 if way.holds[g, n] else 0)
    return cell


@njit(cache=True)
def run_cells(steps: Steps, way: Way, cells: Longs) -> int:
    """All episodes: the cell of each step, and the first torn step or -1."""
    torn = -1
    for e in range(len(steps.offsets) - 1):
        here = run_episode(steps, way, e)
        if torn < 0:
            torn = here
        for n in range(steps.offsets[e], steps.offsets[e + 1]):
            cells[n] = cell_of(steps, way, n)
    return torn


@njit(cache=True)
def run_all(steps: Steps, way: Way, cells: Longs, counts: Longs) -> int:
    """All episodes: the cell of each step, how often each cell has each outcome, and the first torn step or -1."""
    torn: int = run_cells(steps, way, cells)
    for n in range(len(cells)):
        counts[cells[n], steps.outcomes[n]] += 1
    return torn


@njit(cache=True)
def run_episodes_again(steps: Steps, way: Way, cells: Longs, row: int, flips: Longs) -> bool:
    """These steps, in ascending order, change sides of a guard; whether no two triggers disagree."""
    good, last = _run_flipped(steps, way, row, flips), -1
    for n in flips:
        if steps.episode_of[n] != last:
            last = steps.episode_of[n]
            for other in range(steps.offsets[last], steps.offsets[last + 1]):
                cells[other] = cell_of(steps, way, other)
    return good


@njit(cache=True)
def _run_flipped(steps: Steps, way: Way, row: int, flips: Longs) -> bool:
    """The episodes of these steps are run again, with the steps on the other side of the guard."""
    for n in flips:
        way.holds[row, n] = not way.holds[row, n]
    good, last = True, -1
    for n in flips:
        if steps.episode_of[n] != last:
            last = steps.episode_of[n]
            good &= run_episode(steps, way, last) < 0
    return good


@njit(cache=True)
def _count(steps: Steps, way: Way, counts: Longs, episode: int, by: int) -> None:
    for n in range(steps.offsets[episode], steps.offsets[episode + 1]):
        counts[cell_of(steps, way, n), steps.outcomes[n]] += by


@njit(cache=True)
def _is_mixed(steps: Steps, way: Way, counts: Longs, episode: int) -> bool:
    """Whether a cell of this episode has several outcomes."""
    for n in range(steps.offsets[episode], steps.offsets[episode + 1]):
        several = 0
        for count in counts[cell_of(steps, way, n)]:
            several += count > 0
        if several > 1:
            return True
    return False


@njit(cache=True)
def _flip(steps: Steps, way: Way, counts: Longs, row: int, flips: Longs) -> bool:
    """These steps change sides of a bound of one guard; whether everything is still explained.

    Only the episodes of these steps are run again. Steps are in ascending order.
    """
    last = -1
    for n in flips:
        if steps.episode_of[n] != last:
            last = steps.episode_of[n]
            _count(steps, way, counts, last, -1)
    good, last = _run_flipped(steps, way, row, flips), -1
    for n in flips:
        if steps.episode_of[n] != last:
            last = steps.episode_of[n]
            _count(steps, way, counts, last, 1)
    last = -1
    for n in flips:
        if steps.episode_of[n] != last:
            last = steps.episode_of[n]
            good = good and not _is_mixed(steps, way, counts, last)
    return good


@njit(cache=True)
def shift_bound(steps: Steps, way: Way, counts: Longs, row: int, flips: Longs, groups: Longs) -> int:
    """How many groups of steps may change sides of a bound, one after the other, before something is not explained.

    Group i has the steps ``flips[groups[i]:groups[i + 1]]``: those with one value of the feature for which the other
    bounds of the guard hold. Everything is left as it was in the beginning.
    """
    tried, harmless = 0, 0
    for i in range(len(groups) - 1):
        tried = i + 1
        if not _flip(steps, way, counts, row, flips[groups[i] : groups[i + 1]]):
            break
        harmless = tried
    for i in range(tried - 1, -1, -1):
        _flip(steps, way, counts, row, flips[groups[i] : groups[i + 1]])
    return harmless
