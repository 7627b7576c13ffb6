"""Recording a result: its command runs, what it shows is kept, and the stamp says where it comes from."""

from __future__ import annotations

import json
import sys
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest
from block_commands import ROOT

COMMANDS = """
[printed]
command = "markovize --version"

[written]
command = "markovize convert src/markovize/data/beach.jsonl {folder}/deep/table.md --to csv"
keep = ["deep/table.md"]
"""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with results in a folder of its own."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = util.spec_from_file_location("record", ROOT / "docs" / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    (tmp_path / "commands.toml").write_text(COMMANDS)
    return module


def test_what_a_command_prints_is_kept(record: ModuleType, tmp_path: Path) -> None:
    record.record("printed")
    assert (tmp_path / "printed" / "output.md").read_text().startswith("```text\nmarkovize ")
    stamp = json.loads((tmp_path / "printed" / "stamp.json").read_text())
    assert stamp["command"] == "markovize --version"
    assert set(stamp) == {"command", "commit", "date", "machine"}
    assert "cores" in stamp["machine"]


def test_what_a_command_writes_is_kept_and_nothing_is_if_it_fails(
    record: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(record.subprocess.CalledProcessError):
        record.record("written")  # its folder is missing
    assert "does not exist" in capfd.readouterr().err
    assert not (tmp_path / "written").exists()
    commands = (tmp_path / "commands.toml").read_text()
    (tmp_path / "commands.toml").write_text(commands.replace("deep/table.md", "table.md"))
    record.record("written")
    assert sorted(path.name for path in (tmp_path / "written").iterdir()) == ["stamp.json", "table.md"]
    assert (tmp_path / "written" / "table.md").read_text().startswith("episode,state,")


def test_tables_and_their_headings_fit_a_page(record: ModuleType) -> None:
    assert (
        record.as_page("\n## Acyclic\n\n| a |\n|---|\n<!-- b -->\n| 1 |\nplot: x.png\n")
        == "### Acyclic\n\n| a |\n|---|\n| 1 |\n"
    )
