"""The tables of formats: how files are recognised, and that a new format is there for every verb at once."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError, UnsupportedError
from markovize.io import EPISODES, MACHINES, convert, read_episodes, write_episodes
from markovize.io.registry import AnyPath, Format, ReadOptions, Registry
from markovize.pictures.formats import DRAWINGS

TRACES = Traces.of([Episode([(0, 0), (0, 1)], ["up"], [1.25], True)])


def read_lisp(path: AnyPath, options: ReadOptions) -> Traces:
    assert options.reward_decimals is None
    fields = json.loads(Path(path).read_text().removeprefix("(").removesuffix(")"))
    return Traces.of([fields])


def write_lisp(path: AnyPath, traces: Traces) -> None:
    Path(path).write_text(f"({json.dumps(traces.episode(0).to_json())})")


@pytest.fixture
def lisp(monkeypatch: pytest.MonkeyPatch) -> Format[Traces]:
    """A format of a user's own, for one test."""
    monkeypatch.setattr(EPISODES, "_formats", list(EPISODES))
    format = Format("lisp", ("lisp", "el"), "in parentheses", read_lisp, write_lisp, first_sign=b"(")
    EPISODES.add(format)
    return format


@pytest.mark.usefixtures("lisp")
def test_a_new_format_is_there_for_every_verb(tmp_path: Path) -> None:
    write_episodes(tmp_path / "a.lisp", TRACES)
    convert(tmp_path / "a.lisp", tmp_path / "b.jsonl")
    convert(tmp_path / "b.jsonl", tmp_path / "c", target_format="el")
    assert list(read_episodes(tmp_path / "c")) == list(TRACES)  # by its first sign
    with pytest.raises(InputError, match=r"known: \.jsonl, \.csv, \.tsv, \.parquet, minari:NAME, \.lisp"):
        write_episodes(tmp_path / "a.xml", TRACES)


def test_names_and_endings_are_given_once(lisp: Format[Traces]) -> None:
    for twice in (lisp, replace(lisp, name="new"), Format("new", ("csv",), ""), Format("ndjson", ("new",), "")):
        with pytest.raises(InputError, match="there is a format called"):
            EPISODES.add(twice)


def test_the_prefix_comes_before_the_ending(tmp_path: Path) -> None:
    found = EPISODES.recognise("minari:log.csv")
    assert found is not None
    assert found.name == "minari"
    assert EPISODES.recognise(tmp_path) is None
    (tmp_path / "metadata.json").touch()
    found = EPISODES.recognise(tmp_path)
    assert found is not None
    assert found.name == "minari"


@pytest.mark.parametrize("path", [".csv", "csv", "a.csv.bak", "", "a\0b", "x" * 5000])
def test_what_tells_no_format(path: str) -> None:
    assert EPISODES.recognise(path) is None


def test_one_way_formats(tmp_path: Path) -> None:
    one_way: Registry[Traces] = Registry(
        "episodes", [Format("in", ("in",), "", read_lisp), Format("out", ("out",), "")]
    )
    with pytest.raises(UnsupportedError, match="out is only written, not read; use in"):
        one_way.reader(one_way.choose("a.out"))
    with pytest.raises(UnsupportedError, match="in is only read, not written; use "):
        one_way.writer(one_way.choose(tmp_path / "a.in"))


@pytest.mark.parametrize("registry", [EPISODES, MACHINES, DRAWINGS])
def test_every_function_that_a_table_names_is_there(registry: Registry[object]) -> None:
    for format in registry:
        assert format.description
        assert format.read is None or callable(registry.reader(format))
        assert format.write is None or callable(registry.writer(format))


def test_the_tables_load_no_format() -> None:
    code = (
        "import sys, markovize.io, markovize.pictures.formats\n"
        "names = ('minari', 'markovize.io.machines', 'markovize.io.episodes.jsonl')\n"
        "print([module for module in sys.modules if module.startswith(names)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
