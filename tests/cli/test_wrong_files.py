"""Files that are not what a command takes them for: nothing is lost, and the message says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import markovize
from markovize import RewardMachine, Traces, Trigger
from markovize.cli.app import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    traces = Traces.of([(["a", "b", "c"], [0, 0], [0, 1]), (["a", "a", "c"], [0, 0], [0, 0])])
    markovize.write_episodes(tmp_path / "log.jsonl", traces)
    (tmp_path / "log.png").write_bytes(b"a picture")
    machine = RewardMachine("state", "state", 2, (Trigger(0, "b", 1),))
    markovize.write_machine(tmp_path / "machine.json", machine)
    return tmp_path


def refuse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *args: object) -> str:
    """What the command says when it ends with exit code 2."""
    monkeypatch.setattr("sys.argv", ["markovize", *map(str, args)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.strip()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("log.jsonl", "is what this command reads; choose another name to write to"),
        ("other.csv", "is a name for episodes; a machine is a .json file"),
        ("log.png", "is a name for a picture; write the machine to a .json file and draw it with `markovize draw`"),
    ],
)
def test_learn_writes_over_nothing_else(
    name: str, why: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    said = refuse(monkeypatch, capsys, "learn", folder / "log.jsonl", "-o", folder / name)
    assert said == f"markovize: {folder / name}: {why}"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_convert_does_not_write_over_what_it_reads(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "same.csv").symlink_to(folder / "log.jsonl")
    said = refuse(monkeypatch, capsys, "convert", folder / "log.jsonl", folder / "same.csv")
    assert said.endswith("is what this command reads; choose another name to write to")


def test_episodes_and_machines_in_each_others_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log, machine = folder / "log.jsonl", folder / "machine.json"
    wrong: list[tuple[Path, str, list[object]]] = [
        (log, "episodes, not a machine", ["replay", log, machine]),
        (log, "episodes, not a machine", ["draw", log, "-o", folder / "m.svg"]),
        (machine, "a machine, not episodes", ["check", machine]),
        (machine, "a machine, not episodes", ["learn", machine]),
        (machine, "a machine, not episodes", ["replay", machine, machine]),
    ]
    for file, held, args in wrong:
        assert refuse(monkeypatch, capsys, *args) == f"markovize: {file}: holds {held}"
