"""Batches of rows, in which episodes may begin and end anywhere, become chunks of whole episodes.

A chunk is :class:`~markovize.Traces` whose labels have the same numbers in all chunks: in order of first appearance, as
if everything had been read at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from markovize.episodes.arrow.cells import Coded, flag_column, reward_column
from markovize.episodes.stream import renumbered
from markovize.episodes.table_columns import TableColumns, places_of
from markovize.episodes.traces import Bools, Ints, Longs, Traces
from markovize.episodes.values import Interner, key_of, show
from markovize.errors import InputError, one_line
from markovize.extras import load

_NO_LAST_STATE: Final = (
    "episode {} ends with a step, and no column says where it led; add a row with the episode's last state and nothing "
    "as action and reward (or a next_state column)"
)


class Tables:
    """The numbers of observations and actions, shared by all chunks."""

    def __init__(self) -> None:
        self.observations, self.actions = Interner(), Interner()


class BatchReader:
    """Reads the batches of one source (a frame, a file); its episodes' names must be its own."""

    def __init__(
        self, header: list[str], name: str, tables: Tables, *, columns: TableColumns | None, decimals: int | None
    ) -> None:
        self._columns = (columns or TableColumns()).found_in(header)
        places_of(self._columns, header, name)
        self._name, self._tables, self._decimals = name, tables, decimals
        self._names = _Names()
        self._row = 0  # of the source, where the rows in hand begin

    @property
    def needed(self) -> list[str]:
        """The columns that are read."""
        c = self._columns
        names = [c.episode, *c.state, *c.action, c.reward, *c.next_state, c.terminated, c.truncated]
        return [name for name in dict.fromkeys(names) if name]

    def chunks(self, batches: Iterable[Any]) -> Iterator[Traces]:
        """Whole episodes, as many as the batches so far have."""
        pa: Any = load("pyarrow", "reading data frames and Parquet", "data")
        rest: Any = None
        for batch in batches:
            table = pa.Table.from_batches([batch]).select(self.needed)
            if rest is not None:
                table = pa.concat_tables([rest, table])
            table = table.unify_dictionaries().combine_chunks()
            if not table.num_rows:
                continue
            starts = self._starts(table)
            last = int(starts[-1])
            if last:
                yield self._chunk(table.slice(0, last), starts[:-1])
                self._row += last
            rest = table.slice(last)
        if rest is not None:
            rest = rest.combine_chunks()
            yield self._chunk(rest, np.zeros(1, np.int64))

    def _starts(self, table: Any) -> Longs:
        """The first row of each episode."""
        codes = Coded.of(_array(table, self._columns.episode)).codes
        return np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])

    def _place(self, row: int | None) -> str:
        return self._name if row is None else f"{self._name}: row {self._row + row}"

    def _chunk(self, table: Any, starts: Longs) -> Traces:
        rows = _Rows.of(table, self._columns, self._decimals, self._place)
        ends = np.r_[starts[1:], len(rows.step)] - 1  # the last row of each episode
        self._check_names(rows, starts)
        self._check_rows(rows, ends)
        offsets = np.r_[0, np.cumsum(rows.step)[ends]]
        if rows.following is None:
            sequence = rows.state.codes
        else:
            sequence = np.empty(len(rows.step) + len(starts), np.int32)
            sequence[np.arange(len(rows.step)) + np.repeat(np.arange(len(starts)), ends - starts + 1)] = (
                rows.state.codes
            )
            sequence[ends + 1 + np.arange(len(starts))] = rows.following[ends]
        # only the last row can say so, or the last two where the last state has a row of its own
        terminated = np.logical_or.reduceat(rows.terminated, starts)
        truncated = ~terminated if rows.truncated is None else np.logical_or.reduceat(rows.truncated, starts)
        return Traces(
            self._tables.observations.values,
            self._tables.actions.values,
            renumbered(sequence, rows.state.values, self._tables.observations),
            renumbered(rows.action.codes[rows.step], rows.action.values, self._tables.actions),
            rows.reward[rows.step],
            offsets.astype(np.int64),
            terminated,
            truncated,
            observation_names=self._columns.names_of("state"),
            action_names=self._columns.names_of("action"),
        )

    def _check_rows(self, rows: _Rows, ends: Longs) -> None:
        """Each row goes on where the one before it ended, and only the last one ends the episode."""
        inner = np.ones(len(rows.step), np.bool_)
        inner[ends] = False  # rows that another one of the same episode follows
        if rows.following is None:
            self._refuse(inner & ~rows.step, rows, "episode {} goes on after its last state")
            open_ends = np.zeros(len(rows.step), np.bool_)
            open_ends[ends] = rows.step[ends]
            self._refuse(open_ends, rows, _NO_LAST_STATE)
            inner[:-1] &= rows.step[1:]  # the row of the last state may follow the end
        else:
            moved = np.zeros(len(rows.step), np.bool_)
            moved[1:] = inner[:-1] & (rows.following[:-1] != rows.state.codes[1:])
            self._refuse(moved, rows, "the row before this one, of episode {}, led to another state than this one's")
        over = rows.terminated if rows.truncated is None else rows.terminated | rows.truncated
        self._refuse(inner & over, rows, "episode {} goes on after its end")

    def _refuse(self, bad: Bools, rows: _Rows, message: str) -> None:
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            name = rows.episode.values[rows.episode.codes[row]]
            raise InputError(message.format(one_line(show(name), 40)), where=self._place(row))

    def _check_names(self, rows: _Rows, starts: Longs) -> None:
        """The rows of an episode stand together."""
        names = [rows.episode.values[code] for code in rows.episode.codes[starts].tolist()]
        again = self._names.first_known(names)
        if again is not None:
            bad = np.zeros(len(rows.step), np.bool_)
            bad[starts[again]] = True
            self._refuse(bad, rows, "episode {} appears again; its rows must stand together")


class _Names:
    """The names of the episodes so far; numbers that count upwards are kept in eight bytes each."""

    def __init__(self) -> None:
        self._upwards: list[Longs] = []
        self._others: set[Any] | None = None

    def first_known(self, names: list[Any]) -> int | None:
        """The place of the first name that was there before; from now on all of them are known."""
        if self._others is None:
            numbers = np.array(names) if all(type(name) is int and abs(name) < 2**62 for name in names) else None
            before = self._upwards[-1][-1:] if self._upwards else np.zeros(0, np.int64)
            if numbers is not None and (np.diff(np.r_[before, numbers]) > 0).all():
                self._upwards.append(numbers)
                return None
            self._others = {number for part in self._upwards for number in part.tolist()}
            self._upwards.clear()
        for place, name in enumerate(names):
            key = key_of(name)
            if key in self._others:
                return place
            self._others.add(key)
        return None


@dataclass(frozen=True)
class _Rows:
    """The columns of a chunk; all values are labels."""

    episode: Coded
    state: Coded
    action: Coded
    reward: Any
    following: Ints | None  # next states, in the numbers of the states; None where the table has none
    terminated: Bools
    truncated: Bools | None
    step: Bools  # false for a row that holds nothing but an episode's last state

    @classmethod
    def of(cls, table: Any, columns: TableColumns, decimals: int | None, place: Any) -> _Rows:
        everywhere = np.ones(table.num_rows, np.bool_)
        action = _coded(table, columns.action)
        step = everywhere
        if not columns.next_state:
            paid = ~_array(table, columns.reward).is_null().to_numpy(zero_copy_only=False)
            step = paid | (action.codes >= 0)
        episode, state, following = _coded(table, (columns.episode,)), _coded(table, columns.state), None
        episode.check(everywhere, columns.episode, place)
        state.check(everywhere, columns.state[0], place)
        action.check(step, columns.action[0], place)
        if columns.next_state:
            after = _coded(table, columns.next_state)
            after.check(everywhere, columns.next_state[0], place)
            state, following = _with_one_numbering(state, after)
        reward = reward_column(_array(table, columns.reward), step, columns.reward, decimals, place)
        flags = [
            flag_column(_array(table, name), step, name, place) if name else None
            for name in (columns.terminated, columns.truncated)
        ]
        assert flags[0] is not None
        return cls(episode, state, action, reward, following, flags[0], flags[1], step)


def _coded(table: Any, names: tuple[str, ...]) -> Coded:
    """One column, or several as lists; the empty name keeps a family of one a list."""
    columns = [Coded.of(_array(table, name)) for name in names if name]
    return Coded.joined(columns) if len(names) > 1 else columns[0]


def _array(table: Any, name: str) -> Any:
    """A column in one piece."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _with_one_numbering(state: Coded, after: Coded) -> tuple[Coded, Ints]:
    """The states, and the next states in their numbers."""
    table = Interner()
    numbers = [
        np.array([-1 if value is None else table.id(value) for value in coded.values] + [-1], np.int32)
        for coded in (state, after)
    ]
    return Coded(numbers[0][state.codes], list(table.values), {}), numbers[1][after.codes]
