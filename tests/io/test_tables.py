"""Tables: one step a row, columns recognised, and contradictions named by row and column."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from markovize.episodes.table_columns import TableColumns
from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError, UnsupportedError
from markovize.io import read_episodes, write_episodes
from markovize.io.episodes import cells
from markovize.io.episodes.table import read_table, write_csv
from markovize.io.registry import ReadOptions

HEAD = "episode,state,action,reward,next_state,terminated\n"


def written(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_reads_scalars_and_ends(tmp_path: Path) -> None:
    rows = "a,0,go,0,1,0\na,1,go,1.5,2,1\n\nb,0,go,-1e-3,1,False\n"
    traces = read_table(written(tmp_path, HEAD + rows))
    assert list(traces) == [
        Episode([0, 1, 2], ["go", "go"], [0.0, 1.5], True, False),
        Episode([0, 1], ["go"], [-0.001], False, True),
    ]


def test_recognises_families_and_delimiters(tmp_path: Path) -> None:
    text = "episode,state_x,state_y,action_a,reward,next_state_x,next_state_y,terminated,truncated\n"
    text += "0,1,2,up,0,1,3,false,false\n"
    expected = Episode([(1, 2), (1, 3)], [("up",)], [0.0])
    assert read_table(written(tmp_path, text)).episode(0) == expected
    assert read_table(written(tmp_path, text.replace(",", ";"))).episode(0) == expected
    assert read_table(written(tmp_path, text.replace(",", "\t"), "log.tsv")).episode(0) == expected
    assert read_table(written(tmp_path, text.replace(",", "|")), delimiter="|").episode(0) == expected


def test_columns_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "id,x,y,move,r,x2,y2,done,cut\n1,0,0,N,0.26,0,true,1,0\n")
    columns = TableColumns.parse(
        "episode=id, state=x+y, action=move, reward=r, next_state=x2+y2, terminated=done,truncated=cut"
    )
    assert columns == TableColumns("id", ("x", "y"), ("move",), "r", ("x2", "y2"), "done", "cut")
    expected = Episode([(0, 0), (0, True)], ["N"], [0.3], True)
    assert read_table(path, ReadOptions(columns, 1)).episode(0) == expected
    for wrong in ("reward", "colour=x", "reward="):
        with pytest.raises(InputError, match="is not KIND=COLUMN"):
            TableColumns.parse(wrong)


RUBBISH = {
    "": "log.csv: no episodes",
    HEAD: "log.csv: no episodes",
    HEAD.replace(
        "reward", "payout"
    ): ':1: no column "reward"; found: episode, state, action, payout, next_state, terminated',
    HEAD.replace("reward", "state"): ':1: column "state" appears twice',
    HEAD.replace(",state,", ",state_x,state_y,"): "state columns, but",
    HEAD + "0,0,go,0,1\n": ":2: 5 cells for 6 columns",
    HEAD + "0,0,go,x,1,0\n": ':2: column "reward": "x" is not a number',
    HEAD + "0,0,go,true,1,0\n": ':2: column "reward": "True" is not a number',
    HEAD + "0,0,go,nan,1,0\n": ':2: column "reward": nan is not a finite number',
    HEAD + "0,0,go,1e999,1,0\n": ':2: column "reward": 1e999 is too large',
    HEAD + f"0,0,go,{'9' * 400},1,0\n": ':2: column "reward": the reward is too large',
    HEAD + f"0,{'9' * 4400},go,0,1,0\n": ':2: column "state": a number of 4400 characters',
    HEAD + "0,-inf,go,0,1,0\n": ':2: column "state": -inf is not a finite number',
    HEAD + "0,,go,0,1,0\n": ':2: column "state": the cell is empty',
    HEAD + "0,0,go,0,1,yes\n": ':2: column "terminated": "yes" is not true/false or 1/0',
    HEAD + "0,0,go,0,1,1\n0,1,go,0,2,0\n": ":3: episode 0 goes on after its end in row 2",
    HEAD + "0,0,go,0,1,0\n0,2,go,0,3,0\n": ":3: the state is 2, but row 2 led to 1",
    HEAD + "0,0,go,0,1,0\n0,true,go,0,3,0\n": ":3: the state is true, but row 2 led to 1",
    HEAD + "0,0,go,0,1,0\n1,0,go,0,1,0\n0,1,go,0,2,0\n": ":4: episode 0 appears again",
    HEAD + '0,"a': ":2: not a table: unexpected end of data",
    HEAD + "0," + "a" * 200_000: ":2: not a table: field larger than field limit",
}


@pytest.mark.parametrize("text", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_is_named_shortly(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(written(tmp_path, text))
    message = str(caught.value)
    assert RUBBISH[text] in message
    assert "\n" not in message
    assert len(message) < len(str(tmp_path)) + 190


def test_binary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=":2: not UTF-8 text"):
        read_table(written(tmp_path, HEAD.encode() + b"\xff" * 9))
    with pytest.raises(InputError, match=":1: not UTF-8 text"):
        read_table(written(tmp_path, b"\xff" * 9))


@pytest.mark.parametrize("name", ["log.csv", "log.tsv"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    traces = Traces.of(
        [
            Episode([(1, "a,b"), (0.5, "ü")], [True], [0.1], True),
            Episode([(1, "a,b"), (1, 'say "hi"'), (10**20, "c")], [1, "up"], [-2.0, 1e-9], False, True),
            Episode([(0, "z"), (0, "z")], [1], [0.0]),
        ]
    )
    write_episodes(tmp_path / name, traces)
    assert list(read_episodes(tmp_path / name)) == list(traces)


def test_lists_of_one_and_many_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markovize.io.episodes.rows._REMEMBERED", 5)
    traces = Traces.of([Episode([(n,) for n in range(50)], [(1,)] * 49, [float(n) for n in range(49)])])
    write_csv(tmp_path / "a.csv", traces)
    assert list(read_table(tmp_path / "a.csv")) == list(traces)


REFUSED: dict[str, tuple[list[object], list[object], list[float]]] = {
    "the observations mix lists of 2 and single values": ([(1, 2), 3], [0], [0.0]),
    "the observations are objects, such as {x: 1.5}; a table has no cell for them; use JSONL": (
        [{"x": 1.5}, {"x": 2.5}],
        [0],
        [0.0],
    ),
    "a list within a list": ([((1, 2),), ((1, 3),)], [0], [0.0]),
    "are empty lists": ([(), ()], [0], [0.0]),
    'the string "7" would be read back': (["7", "8"], [0], [0.0]),
    'the string " a" would be read back': ([" a", "b"], [0], [0.0]),
    'the string "" would be read back': (["", "b"], [0], [0.0]),
    'the string "nan" would be read back': ([0, 1], ["nan"], [0.0]),
    "episode 0 has no steps": ([0], [], []),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_a_table_cannot_say_is_refused(tmp_path: Path, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        write_csv(tmp_path / "a.csv", Traces.of([REFUSED[reason]]))
    assert list(tmp_path.iterdir()) == []


def test_cells() -> None:
    assert [cells.parse_cell(text) for text in ("007", "-0", ".5", "1.0", "1_000", "１")] == [
        7,
        0,
        0.5,
        1,
        "1_000",
        "１",
    ]
    assert cells.cell_of(1e300) == "1e+300"


SHORT_HEAD = "episode,state,action,reward,terminated\n"


def test_without_next_states_the_next_row_tells(tmp_path: Path) -> None:
    rows = "a,0,go,0,0\na,1,go,1.5,1\na,2,,,\nb,0,go,1,0\nb,5, , ,0\nc,7,,,\n"
    assert list(read_table(written(tmp_path, SHORT_HEAD + rows))) == [
        Episode([0, 1, 2], ["go", "go"], [0.0, 1.5], True, False),
        Episode([0, 5], ["go"], [1.0], False, True),
        Episode([7], [], [], False, True),
    ]


def test_the_row_of_the_last_state_may_say_how_it_ended(tmp_path: Path) -> None:
    text = "episode,state_x,state_y,action,reward,terminated,truncated\n0,1,2,up,0,0,0\n0,1,3,,,1,0\n1,1,2,up,0,,1\n"
    with pytest.raises(InputError, match=r'log\.csv:4: column "terminated"'):
        read_table(written(tmp_path, text))
    traces = read_table(written(tmp_path, text.replace("0,,1", "0,0,1") + "1,1,1,,,,\n"))
    assert traces.terminated.tolist() == [True, False]
    assert traces.truncated.tolist() == [False, True]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,0,go,0,0\na,1,go,1.5,1\n", ":3: episode a ends with a step, and no column says where it led; add a row"),
        ("a,0,go,0,0\nb,1,go,1.5,1\nb,2,,,\n", ":2: episode a ends with a step"),
        ("a,0,go,0,0\na,1,,,\na,2,go,1,0\n", ":4: episode a goes on after its last state, row 3"),
        ("a,0,go,0,1\na,1,go,1,0\na,2,,,\n", ":3: episode a goes on after its end in row 2"),
        ("a,0,go,0,0\na,1,go,,\n", ':3: column "reward": the cell is empty'),
        ("a,0,go,0,0\na,,,,\n", ':3: column "state": the cell is empty'),
    ],
)
def test_without_next_states_what_is_missing_is_named(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"log.csv{message}")):
        read_table(written(tmp_path, SHORT_HEAD + rows))
