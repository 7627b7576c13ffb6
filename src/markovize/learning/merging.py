"""Merges the episodes of a log, chunk by chunk or shard by shard: what stays is each history once, and how often."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from markovize.episodes.merged import MergedTraces
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.traces import Episodes, Ints, Longs, Traces, as_traces
from markovize.episodes.values import Interner, Value
from markovize.learning import merge_kernels

Array = TypeVar("Array", Ints, Longs)


def as_mergeable(episodes: Episodes | EpisodeStream) -> Traces:
    """Episodes to learn from: those of a stream merged, all others as they are."""
    if not isinstance(episodes, EpisodeStream):
        return as_traces(episodes)
    first, *others = islice(parts := episodes.map(merge_stream), 2)
    if not others and first.offsets.flags.writeable:  # what comes from another process may not be
        return first
    return merge(chain([first], others, parts))


def merge_stream(stream: EpisodeStream) -> MergedTraces:
    """All episodes of a stream."""
    return merge(stream.chunks())


def merge(parts: Iterable[Traces]) -> MergedTraces:
    """The episodes of all parts, one after the other. Parts may be merged themselves.

    >>> walk, longer = ([0, 1, 2], ["go", "go"], [0, 1]), ([0, 1, 2, 3], ["go", "go", "go"], [0, 1, 0])
    >>> log = merge([Traces.of([walk, walk]), merge([Traces.of([walk, longer])])])
    >>> log.steps, log.recorded, log.weights().tolist()
    (3, (4, 9), [4, 4, 1])
    """
    merger = Merger()
    for part in parts:
        merger.add(part)
    return merger.merged()


class Merger:
    """The tree of histories so far; its nodes are numbered in the order in which the log has them first."""

    def __init__(self) -> None:
        self._observations, self._actions = _Numbers(), _Numbers()
        self._rewards: dict[float, int] = {}
        self._moves, self._transitions, self._kinds = _Pairs(), _Pairs(), _Pairs()
        self._tree = _Pairs()
        self._counts = np.zeros(0, np.int32)
        self._branches: list[tuple[Longs, Ints, Longs, Ints]] = []
        self._episodes = 0

    def add(self, part: Traces) -> None:
        """More episodes, after those so far."""
        kinds = self._kinds_of(part)
        self._tree.prepare(len(kinds), int(kinds.max(initial=0)))
        self._counts = _grown(self._counts, len(self._tree) + len(kinds))
        weights = part.weights()
        first, after, branch, skipped = self._tree.extend(
            _writable(part.offsets),
            _writable(part.starts()),
            kinds,
            np.ones(len(kinds), np.int32) if weights is None else _writable(weights),
            self._counts,
        )
        numbers, depths = branch.astype(np.int64), skipped
        if isinstance(part, MergedTraces):
            numbers, depths = part.numbers[branch], skipped + part.depths_before[branch]
        self._branches.append((first, after, numbers + self._episodes, depths))
        self._episodes += part.recorded[0]

    def merged(self) -> MergedTraces:
        """All of them. The merger is of no use any more: its tables are given up for the memory's sake."""
        kinds, counts = self._tree.rights[: len(self._tree)].copy(), self._counts[: len(self._tree)].copy()
        del self._tree, self._counts
        no, none = np.zeros(0, np.int64), np.zeros(0, np.int32)
        columns = [(no, none, no, none), *self._branches]
        first, after, numbers, depths = (np.concatenate(column) for column in zip(*columns, strict=True))
        transitions, outcomes = self._kinds.lefts[kinds], self._kinds.rights[kinds]
        moves = self._transitions.lefts[transitions]
        observations = np.empty(len(kinds) + len(first), np.int32)
        of_branch = np.zeros(len(observations), np.bool_)
        of_branch[first + np.arange(len(first))] = True  # a branch begins with the state that its first step leaves
        observations[of_branch] = self._moves.lefts[moves[first]]
        observations[~of_branch] = self._transitions.rights[transitions]
        offsets = np.r_[first, len(kinds)].astype(np.int64)
        terminated = outcomes[offsets[1:] - 1] % 2 == 1  # who ends an episode ends a branch
        return MergedTraces(
            self._observations.values,
            self._actions.values,
            observations,
            self._moves.rights[moves],
            np.array(list(self._rewards), np.float64)[outcomes // 2],
            offsets,
            terminated,
            np.zeros(len(first), np.bool_),
            after,
            counts,
            numbers,
            depths,
            self._episodes,
        )

    def _kinds_of(self, part: Traces) -> Ints:
        """A number for each step, equal for equal states, actions, rewards and ends."""
        states, actions = self._observations.of(part.observation_values), self._actions.of(part.action_values)
        moves = self._moves.ids(states[part.states_before()], actions[part.actions])
        transitions = self._transitions.ids(moves, states[part.states_after()])
        levels, codes = np.unique(part.rewards, return_inverse=True)
        known = [self._rewards.setdefault(level, len(self._rewards)) for level in levels.tolist()]
        return self._kinds.ids(transitions, np.array(known, np.int32)[codes] * 2 + part.ends())


class _Numbers:
    """The numbers that values have in the whole log; the chunks of a stream share a list of them, which only grows."""

    def __init__(self) -> None:
        self._table = Interner()
        self._last: list[Value] = []
        self._numbers = np.zeros(0, np.int32)

    @property
    def values(self) -> list[Value]:
        return self._table.values

    def of(self, values: list[Value]) -> Ints:
        """The number of each of these values."""
        if values is not self._last:
            self._last, self._numbers = values, np.zeros(0, np.int32)
        new = [self._table.id(value) for value in values[len(self._numbers) :]]
        self._numbers = np.concatenate([self._numbers, np.array(new, np.int32)])
        return self._numbers


class _Pairs:
    """Pairs of numbers, numbered by their first appearance."""

    def __init__(self) -> None:
        self.lefts, self.rights = np.zeros(0, np.int32), np.zeros(0, np.int32)
        self._count, self._width = 0, 0
        self._keys, self._ids = np.zeros(0, np.int64), np.zeros(0, np.int32)

    def __len__(self) -> int:
        return self._count

    def prepare(self, more: int, right: int) -> None:
        """Makes room for so many new pairs, and for right numbers up to this one."""
        entries = self._count + more
        self.lefts, self.rights = _grown(self.lefts, entries), _grown(self.rights, entries)
        if 2 * entries > len(self._keys) or right >= self._width:
            if right >= self._width:
                self._width = 2 * right + 1
            self._keys, self._ids = self._keys[:0], self._ids[:0]  # before the larger ones are made
            self._keys, self._ids = merge_kernels.fill_table(self.lefts, self.rights, self._count, self._width, entries)

    def ids(self, left: Ints, right: Ints) -> Ints:
        """The number of each pair."""
        self.prepare(len(left), int(right.max(initial=0)))
        out, self._count = merge_kernels.number_pairs(
            left, right, self._width, self._keys, self._ids, self.lefts, self.rights, self._count
        )
        return out

    def extend(
        self, offsets: Longs, starts: Ints, kinds: Ints, weights: Ints, counts: Ints
    ) -> tuple[Longs, Ints, Ints, Ints]:
        """As a tree of histories: see :func:`merge_kernels.merge_branches`; there must be room."""
        first, after, episode, skipped, self._count = merge_kernels.merge_branches(
            offsets,
            starts,
            kinds,
            weights,
            self._width,
            self._keys,
            self._ids,
            self.lefts,
            self.rights,
            counts,
            self._count,
        )
        return first, after, episode, skipped


def _grown(array: Ints, entries: int) -> Ints:
    """The array, or a longer one that begins with it and has room for these."""
    if entries <= len(array):
        return array
    larger = np.zeros(max(entries, len(array) * 3 // 2), np.int32)
    larger[: len(array)] = array
    return larger


def _writable(array: Array) -> Array:
    """A copy of what another process has sent: loops would be compiled anew for arrays that may not be written to."""
    return np.require(array, requirements="W")
