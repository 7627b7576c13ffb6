"""Formats are chosen by the ending of the name, or said."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from machines import CHAIN, CYCLE

from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError, UnsupportedError
from markovize.io import TableColumns, convert, read_episodes, read_machine, write_episodes, write_machine

TRACES = Traces.of([Episode([(0, 0), (0, 1)], ["up"], [1.25], True)])


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.csv", "a.TSV", "a.tab"])
def test_episodes_by_ending(tmp_path: Path, name: str) -> None:
    write_episodes(tmp_path / name, TRACES)
    assert list(read_episodes(tmp_path / name)) == list(TRACES)


def test_a_pipe_is_read_once_and_as_jsonl(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    line = json.dumps({"observations": [0, 1], "actions": [0], "rewards": [1]})
    writer = threading.Thread(target=pipe.write_text, args=(line + "\n",))
    writer.start()
    assert read_episodes(pipe).steps == 1
    writer.join()


def test_a_machine_is_known_by_its_first_sign(tmp_path: Path) -> None:
    path = tmp_path / "machine"
    write_machine(path, CHAIN, format="json")
    assert read_machine(path) == CHAIN


def test_tables_with_names_of_their_own_convert(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("run,x,y,a,r,x2,y2,done\n1,0,0,go,0.5,0,1,true\n")
    columns = TableColumns.parse("episode=run,state=x+y,action=a,reward=r,next_state=x2+y2,terminated=done")
    convert(tmp_path / "log.csv", tmp_path / "log.jsonl", columns=columns)
    assert read_episodes(tmp_path / "log.jsonl").episode(0).observations == [(0, 0), (0, 1)]


def test_unknown_endings(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    with pytest.raises(InputError, match=r'the ending ".log" is unknown; known: .jsonl, .csv, .tsv'):
        write_episodes(path, TRACES)
    write_episodes(path, TRACES, format="JSONL")
    path.write_bytes(b"\xef\xbb\xbf" + b" " * 5000 + path.read_bytes())
    assert len(read_episodes(tmp_path / "a.log", reward_decimals=1)) == 1
    path.write_text("episode,state")
    with pytest.raises(InputError, match=r"a.log: the ending"):
        read_episodes(path)
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="the name has no ending"):
        read_episodes(tmp_path / "empty")
    with pytest.raises(InputError, match='unknown format "xml"; known: jsonl, csv, tsv'):
        read_episodes(path, format="xml")


def test_columns_are_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,state,action,reward,next_state,terminated\n1,0,go,0,1,true\n")
    assert read_episodes(path, columns=TableColumns(episode="id")).steps == 1


@pytest.mark.parametrize("name", ["m.json", "m.txt", "m.dot", "m.gv"])
def test_machines_by_ending(tmp_path: Path, name: str) -> None:
    write_machine(tmp_path / name, CYCLE)
    assert read_machine(tmp_path / name) == CYCLE


def test_mermaid_is_only_written(tmp_path: Path) -> None:
    write_machine(tmp_path / "m.mmd", CHAIN)
    assert (tmp_path / "m.mmd").read_text().startswith("stateDiagram-v2")
    with pytest.raises(UnsupportedError, match="mmd is only written"):
        read_machine(tmp_path / "m.mmd")
    with pytest.raises(InputError, match=r"known: \.json, \.txt, \.dot, \.mmd, \.py, \.smt2"):
        write_machine(tmp_path / "m.svg", CHAIN)


def test_convert(tmp_path: Path) -> None:
    write_episodes(tmp_path / "a.jsonl", TRACES)
    convert(tmp_path / "a.jsonl", tmp_path / "b.csv")
    convert(tmp_path / "b.csv", tmp_path / "c", target_format="jsonl")
    assert (tmp_path / "c").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    write_machine(tmp_path / "m.json", CYCLE)
    convert(tmp_path / "m.json", tmp_path / "m.dot")
    convert(tmp_path / "m.dot", tmp_path / "n", source_format="dot", target_format="json")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m.json").read_bytes()
    with pytest.raises(UnsupportedError, match="csv holds episodes and dot holds a machine"):
        convert(tmp_path / "b.csv", tmp_path / "m.dot")
