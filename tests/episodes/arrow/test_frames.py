"""Data frames as episodes: pandas, polars and Arrow tables, with the columns of CSV files."""

from __future__ import annotations

import re
from typing import Any

import pytest

import markovize
from markovize.episodes.arrow.batches import BatchReader, Tables
from markovize.episodes.arrow.frames import read_frame
from markovize.episodes.stream import join_chunks
from markovize.episodes.table_columns import TableColumns
from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError

pa: Any = pytest.importorskip("pyarrow")

COLUMNS: dict[str, list[Any]] = {
    "episode": ["a", "a", "b", "b", "b"],
    "state": ["hall", "office", "hall", "coffee", "hall"],
    "action": [0, 1, 0, 1, 1],
    "reward": [0.0, 0.0, 0.0, 0.25, 1.0],
    "next_state": ["office", "hall", "coffee", "hall", "office"],
    "terminated": [False, False, False, False, True],
}
EPISODES = [
    Episode(["hall", "office", "hall"], [0, 1], [0.0, 0.0], False, True),
    Episode(["hall", "coffee", "hall", "office"], [0, 1, 1], [0.0, 0.25, 1.0], True, False),
]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library(library: str) -> None:
    module = pytest.importorskip(library)
    frame = module.table(COLUMNS) if library == "pyarrow" else module.DataFrame(COLUMNS)
    assert list(Traces.of(frame)) == EPISODES
    assert markovize.check(frame) == markovize.check(EPISODES)
    assert markovize.learn(frame).machine == markovize.learn(EPISODES).machine


def test_categories_are_used_as_such() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS)
    for name in ("state", "next_state"):  # other numbers than those of first appearance, and one that no row has
        frame[name] = pandas.Categorical(frame[name], ["office", "yard", "hall", "coffee"])
    traces = Traces.of(frame)
    assert list(traces) == EPISODES
    assert traces.observation_values == Traces.of(EPISODES).observation_values == ["hall", "office", "coffee"]


def test_lists_and_families_of_columns() -> None:
    expected = [Episode([(0, 1), (0, 2), (5, 2)], [("up",), ("up",)], [0.0, 1.0], True, False)]
    rest = {"episode": [3, 3], "action_0": ["up", "up"], "reward": [0, 1], "terminated": [0, 1]}
    family = {"state_x": [0, 0], "state_y": [1, 2], "next_state_x": [0, 5], "next_state_y": [2.0, 2.0]}
    assert list(read_frame(pa.table({**rest, **family}))) == expected
    lists = {"state": [[0, 1], [0, 2]], "next_state": [[0, 2], [5, 2]]}
    assert list(read_frame(pa.table({**rest, **lists}))) == expected
    ragged = {"state": [[0], [0, 2]], "next_state": [[0, 2], [5, 2, 7]]}
    assert read_frame(pa.table({**rest, **ragged})).episode(0).observations == [(0,), (0, 2), (5, 2, 7)]


def test_columns_by_name_and_rounded_rewards() -> None:
    frame = pa.table({"id": [1], "x": [True], "a": [2], "r": [0.26], "x2": [1], "done": ["True"]})
    columns = TableColumns.parse("episode=id,state=x,action=a,reward=r,next_state=x2,terminated=done")
    traces = read_frame(frame, columns=columns, reward_decimals=1)
    assert list(traces) == [Episode([True, 1], [2], [0.3], True)]
    assert traces.observation_values == [True, 1]  # true is not 1


def test_without_next_states() -> None:
    frame = pa.table(
        {
            "episode": [0, 0, 0, 1, 1, 2],
            "state": [0, 1, 2, 0, 5, 7],
            "action": ["go", "go", None, "go", None, None],
            "reward": [0.0, 1.5, None, 1.0, None, None],
            "terminated": [False, True, None, False, False, None],
        }
    )
    assert list(Traces.of(frame)) == [
        Episode([0, 1, 2], ["go", "go"], [0.0, 1.5], True, False),
        Episode([0, 5], ["go"], [1.0], False, True),
        Episode([7], [], [], False, True),
    ]


REFUSED: list[tuple[dict[str, list[Any]], str]] = [
    ({"reward": [0, 0, 0, float("nan"), 1]}, 'row 3: column "reward": nan is not finite'),
    ({"reward": [0, None, 0, 0, 1]}, 'row 1: column "reward": null is not a number'),
    ({"reward": ["0"] * 5}, 'column "reward" must hold numbers, not string'),
    ({"state": ["hall", None, "hall", "coffee", "hall"]}, 'row 1: column "state": null is not a label'),
    ({"action": [0.0, 1.0, float("inf"), 0.0, 0.0]}, 'row 2: column "action": inf is not a finite number'),
    ({"terminated": [0, 0, 0, 2, 1]}, 'row 3: column "terminated": 2 is not true/false'),
    ({"terminated": [True, False, False, False, True]}, "row 0: episode a goes on after its end"),
    ({"next_state": ["hall"] * 5}, "row 1: the row before this one, of episode a, led to another state"),
    ({"episode": ["a", "a", "b", "b", "a"]}, "row 4: episode a appears again"),
    ({"episode": [1, 1, 2, 2, 1]}, "row 4: episode 1 appears again"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_is_refused_has_its_row(change: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"data frame: {message}")):
        Traces.of(pa.table({**COLUMNS, **change}))


def test_missing_columns_and_empty_frames() -> None:
    with pytest.raises(InputError, match='no column "reward"; found: episode, state'):
        Traces.of(pa.table({name: column for name, column in COLUMNS.items() if name != "reward"}))
    with pytest.raises(InputError, match="no episodes in this data frame"):
        Traces.of(pa.table({name: pa.array(column)[:0] for name, column in COLUMNS.items()}))
    with pytest.raises(InputError, match="ends with a step, and no column says where it led"):
        Traces.of(pa.table({name: column for name, column in COLUMNS.items() if name != "next_state"}))


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_batches_may_end_anywhere(rows: int) -> None:
    table = pa.table({**COLUMNS, "state": pa.array(COLUMNS["state"]).dictionary_encode()})
    # each batch with a dictionary of its own, as Parquet's row groups have
    batches = [
        pa.record_batch({n: c.combine_chunks() for n, c in zip(part.column_names, part.columns, strict=True)})
        for part in (table.slice(at, rows) for at in range(0, 5, rows))
    ]
    reader = BatchReader(table.column_names, "rows", Tables(), columns=None, decimals=None)
    traces = join_chunks(reader.chunks(batches))
    assert list(traces) == EPISODES
    assert traces.observation_values == ["hall", "office", "coffee"]
