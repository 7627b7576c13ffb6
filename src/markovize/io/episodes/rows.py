"""Steps as rows: rows of any source become episodes, and episodes become rows.

A format brings a header, rows of cells, and what its cells mean (:class:`CellKinds`): text in a CSV file, values of a
type in a data frame. Which column holds what, which rows make an episode and what is refused is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from markovize.episodes.table_columns import TableColumns, places_of
from markovize.episodes.traces import Bools, Floats, Ints, Longs, Traces, TracesBuilder
from markovize.episodes.values import Interner, Value, has_objects, key_of, show
from markovize.errors import InputError, UnsupportedError, one_line
from markovize.io.registry import ReadOptions

C = TypeVar("C")
_REMEMBERED: Final = 100_000


@dataclass(frozen=True)
class CellKinds:
    """How the cells of a format become values; each function raises :class:`InputError` for what it refuses.

    ``remember``: equal cells give equal values, so each is parsed once. That is what makes a million rows of text
    bearable; it is wrong where cells compare as Python does, ``True`` to ``1``. ``empty`` tells cells with nothing in
    them: an episode's last state stands in a row without action and reward, where the table has no next states.
    """

    value: Callable[[Any], Value]
    reward: Callable[[Any], float]
    flag: Callable[[Any], bool]
    remember: bool = False
    empty: Callable[[Any], bool] = lambda cell: cell is None or cell == ""


class Row(NamedTuple):
    """One step, or an episode's last state: then ``action``, ``reward`` and ``next_state`` are None.

    ``next_state`` and ``truncated`` are None, too, where the table has no such column.
    """

    episode: Value
    state: Value
    action: Value | None
    reward: float | None
    next_state: Value | None
    terminated: bool
    truncated: bool | None
    number: int


def read_rows(
    header: Sequence[str],
    rows: Iterable[tuple[int, Sequence[Any]]],
    kinds: CellKinds,
    options: ReadOptions,
    name: str,
) -> Traces:
    """Episodes from numbered rows of cells; errors say ``name:number``.

    >>> from markovize.episodes.values import canonical
    >>> header = ["episode", "state", "action", "reward", "next_state", "terminated"]
    >>> rows = [(1, [0, "hall", "go", 0.5, "yard", False]), (2, [0, "yard", "go", 1, "park", True])]
    >>> read_rows(header, rows, CellKinds(canonical, float, bool), ReadOptions(), "frame").episode(0).observations
    ['hall', 'yard', 'park']

    Where no column holds next states, they are the states of the rows that follow, and each episode ends with a row
    that holds nothing but its last state.

    >>> header = ["episode", "state", "action", "reward", "terminated"]
    >>> rows = [(1, [0, "hall", "go", 0.5, True]), (2, [0, "yard", None, None, None])]
    >>> read_rows(header, rows, CellKinds(canonical, float, bool), ReadOptions(), "frame").episode(0).observations
    ['hall', 'yard']
    """
    columns = (options.columns or TableColumns()).found_in(header)
    read = _RowReader(columns, places_of(columns, header, f"{name}:1"), kinds)
    builder = TracesBuilder(reward_decimals=options.reward_decimals)
    finished: set[Any] = set()
    current: list[Row] = []
    for number, cells in rows:
        where = f"{name}:{number}"
        if len(cells) != len(header):
            raise InputError(f"{len(cells)} cells for {len(header)} columns", where=where)
        row = read(cells, number, where)
        if current and _same(row.episode, current[-1].episode):
            _check_continues(current[-1], row, where)
        else:
            if current:
                _add(builder, current, name)
                finished.add(key_of(current[-1].episode))
            if key_of(row.episode) in finished:
                raise InputError(
                    f"episode {_brief(row.episode)} appears again; its rows must stand together", where=where
                )
            current = []
        current.append(row)
    if not current:
        raise InputError("no episodes in this file", where=name)
    _add(builder, current, name)
    return replace(
        builder.build(), observation_names=columns.names_of("state"), action_names=columns.names_of("action")
    )


def rows_of(traces: Traces, cell: Callable[[Value], C]) -> tuple[list[str], Iterator[list[C]]]:
    """A header, and one row of cells for each step; lists take several columns. Refuses what a table cannot say.

    >>> header, rows = rows_of(Traces.of([([(0, 1), (0, 2)], ["up"], [0.5], True)]), str)
    >>> header[:4], next(rows)
    (['episode', 'state_0', 'state_1', 'action'], ['0', '0', '1', 'up', '0.5', '0', '2', 'True', 'False'])
    """
    states, state_width = _cells(traces.observation_values, cell, "observations")
    actions, action_width = _cells(traces.action_values, cell, "actions")
    header = [
        "episode",
        *_names("state", state_width, traces.observation_names),
        *_names("action", action_width, traces.action_names),
        "reward",
        *_names("next_state", state_width, traces.observation_names),
        "terminated",
        "truncated",
    ]
    return header, _rows(traces, states, actions, cell)


@dataclass(frozen=True)
class CodedColumn:
    """A column of labels: a number for each row, and what the numbers mean."""

    codes: Ints
    values: list[Value]


def columns_of(traces: Traces) -> dict[str, CodedColumn | Floats | Longs | Bools]:
    """The same table as :func:`rows_of` makes, by columns.

    >>> columns = columns_of(Traces.of([([(0, 1), (0, 2)], ["up"], [0.5], True)]))
    >>> list(columns)[:4], columns["state_1"].values, columns["state_1"].codes.tolist()
    (['episode', 'state_0', 'state_1', 'action'], [1, 2], [0])
    """
    lengths = np.diff(traces.offsets)
    if not lengths.all():
        raise _without_steps(int(np.flatnonzero(lengths == 0)[0]))
    last = np.zeros(traces.steps, np.bool_)
    last[traces.offsets[1:] - 1] = True
    episode = np.repeat(np.arange(len(traces)), lengths)
    states, width = _cells(traces.observation_values, _itself, "observations")
    actions, action_width = _cells(traces.action_values, _itself, "actions")
    return {
        "episode": episode,
        **_coded(_names("state", width, traces.observation_names), states, traces.states_before()),
        **_coded(_names("action", action_width, traces.action_names), actions, traces.actions),
        "reward": traces.rewards,
        **_coded(_names("next_state", width, traces.observation_names), states, traces.states_after()),
        "terminated": last & traces.terminated[episode],
        "truncated": last & traces.truncated[episode],
    }


def _coded(names: list[str], cells: list[list[Value]], ids: Ints) -> dict[str, CodedColumn]:
    out = {}
    for place, name in enumerate(names):
        table = Interner()
        number = np.array([table.id(row[place]) for row in cells], np.int32)
        out[name] = CodedColumn(number[ids] if len(number) else ids, table.values)
    return out


def _itself(value: Value) -> Value:
    if isinstance(value, tuple):
        raise UnsupportedError(
            f"{one_line(show(value), 40)} is a list within a list; a table has no cell for it; use JSONL"
        )
    return value


def _without_steps(number: int) -> UnsupportedError:
    return UnsupportedError(f"episode {number} has no steps, and a table has one row a step; use JSONL")


def _rows(
    traces: Traces, states: list[list[C]], actions: list[list[C]], cell: Callable[[Value], C]
) -> Iterator[list[C]]:
    no, yes = cell(False), cell(True)
    for number in range(len(traces)):
        start, end = int(traces.offsets[number]), int(traces.offsets[number + 1])
        if start == end:
            raise _without_steps(number)
        ids = traces.observations[start + number : end + number + 1].tolist()
        moves, rewards = traces.actions[start:end].tolist(), traces.rewards[start:end].tolist()
        name, last = cell(number), end - start - 1
        ended, cut = bool(traces.terminated[number]), bool(traces.truncated[number])
        for step in range(end - start):
            flags = (yes if ended and step == last else no, yes if cut and step == last else no)
            yield [name, *states[ids[step]], *actions[moves[step]], cell(rewards[step]), *states[ids[step + 1]], *flags]


class _CellReader:
    """Reads the cells of one kind from a row: a single value, or a tuple of several columns' values."""

    def __init__(
        self, names: Sequence[str], places: dict[str, int], parse: Callable[[Any], Any], *, many: bool, remember: bool
    ) -> None:
        self._names, self._parse, self._many = [name for name in names if name], parse, many
        self._pick = itemgetter(*(places[name] for name in self._names))
        self.known: dict[Any, Any] | None = {} if remember else None

    def __call__(self, cells: Sequence[Any], where: str) -> Any:
        raw = self._pick(cells)
        if self.known is None:
            return self._value(raw, where)
        try:
            return self.known[raw]
        except KeyError:
            value = self._value(raw, where)
        if len(self.known) >= _REMEMBERED:
            self.known.clear()
        self.known[raw] = value
        return value

    def _value(self, raw: Any, where: str) -> Any:
        values = []
        for name, cell in zip(self._names, raw if len(self._names) > 1 else (raw,), strict=True):
            try:
                values.append(self._parse(cell))
            except InputError as error:
                raise InputError(f'column "{one_line(name, 40)}": {error}', where=where) from None
        return tuple(values) if self._many else values[0]


class _RowReader:
    """Reads whole rows: steps and, where the table has no next states, the last state of an episode."""

    def __init__(self, columns: TableColumns, places: dict[str, int], kinds: CellKinds) -> None:
        plan: list[tuple[Sequence[str], Callable[[Any], Any]]] = [
            ((columns.episode,), kinds.value),
            (columns.state, kinds.value),
            (columns.action, kinds.value),
            ((columns.reward,), kinds.reward),
            (columns.next_state, kinds.value),
            ((columns.terminated,), kinds.flag),
            ((columns.truncated,) if columns.truncated is not None else (), kinds.flag),
        ]
        self._fields = [
            _CellReader(names, places, parse, many=len(names) > 1, remember=kinds.remember) if names else None
            for names, parse in plan
        ]
        self._empty = kinds.empty
        self._outcome = [places[column] for column in (*columns.action, columns.reward) if column]
        self._flags = [places[name] if name else None for name in (columns.terminated, columns.truncated)]
        state, following = self._fields[1], self._fields[4]
        self._pairs = following is not None
        if following is not None and state is not None:
            following.known = state.known  # a next state and the state after it become one object, which compares fast

    def __call__(self, cells: Sequence[Any], number: int, where: str) -> Row:
        if not self._pairs and all(self._empty(cells[place]) for place in self._outcome):
            return self._last_state(cells, number, where)
        return Row._make([*[read and read(cells, where) for read in self._fields], number])

    def _last_state(self, cells: Sequence[Any], number: int, where: str) -> Row:
        """Flags may stand in this row or in that of the last step."""
        episode, state, *_, terminated, truncated = self._fields
        assert episode is not None
        assert state is not None
        flags = [
            None if read is None or place is None else not self._empty(cells[place]) and read(cells, where)
            for read, place in zip((terminated, truncated), self._flags, strict=True)
        ]
        return Row(episode(cells, where), state(cells, where), None, None, None, bool(flags[0]), flags[1], number)


def _check_continues(last: Row, row: Row, where: str) -> None:
    if last.action is None:
        raise InputError(f"episode {_brief(row.episode)} goes on after its last state, row {last.number}", where=where)
    if (last.terminated or last.truncated) and row.action is not None:
        raise InputError(f"episode {_brief(row.episode)} goes on after its end in row {last.number}", where=where)
    if last.next_state is not None and not _same(last.next_state, row.state):
        raise InputError(
            f"the state is {_brief(row.state)}, but row {last.number} led to {_brief(last.next_state)}", where=where
        )


def _add(builder: TracesBuilder, rows: list[Row], name: str) -> None:
    last = rows[-1]
    if last.action is not None and last.next_state is None:
        raise InputError(
            f"episode {_brief(last.episode)} ends with a step, and no column says where it led; add a row with the "
            "episode's last state and nothing as action and reward (or a next_state column)",
            where=f"{name}:{last.number}",
        )
    steps = rows if last.action is not None else rows[:-1]
    end = steps[-1:] + rows[-1:]  # where the last state has a row of its own, either may say how the episode ended
    terminated = any(row.terminated for row in end)
    truncated = not terminated if last.truncated is None else any(row.truncated for row in end)
    observations = [row.state for row in rows] + [row.next_state for row in rows[-1:] if row.next_state is not None]
    actions, rewards = [row.action for row in steps], [row.reward for row in steps]
    builder.add(observations, actions, rewards, terminated, truncated, where=f"{name}:{rows[0].number}")


def _cells(values: list[Value], cell: Callable[[Value], C], what: str) -> tuple[list[list[C]], int | None]:
    """Cells for each value, and how many columns: None for a scalar."""
    found = next((value for value in values if has_objects(value)), None)
    if found is not None:
        raise UnsupportedError(
            f"the {what} are objects, such as {one_line(show(found), 60)}; a table has no cell for them; use JSONL"
        )
    widths = {len(value) if isinstance(value, tuple) else None for value in values}
    if len(widths) > 1:
        shown = " and ".join(sorted("single values" if w is None else f"lists of {w}" for w in widths)[:2])
        raise UnsupportedError(f"the {what} mix {shown}; a table needs one shape; use JSONL")
    width = widths.pop() if widths else None
    if width == 0:
        raise UnsupportedError(f"the {what} are empty lists; a table has no column for them; use JSONL")
    return [[cell(v) for v in (value if isinstance(value, tuple) else (value,))] for value in values], width


def _names(kind: str, width: int | None, parts: Sequence[str]) -> list[str]:
    """A column for each part, by its name or its number."""
    return [kind] if width is None else [f"{kind}_{part}" for part in parts or range(width)]


def _same(one: Value, other: Value) -> bool:
    return one is other or key_of(one) == key_of(other)


def _brief(value: Value) -> str:
    return one_line(show(value), 40)
