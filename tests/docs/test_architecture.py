"""The page about the architecture names what is there, in the order that the import rules have."""

from __future__ import annotations

import re
import tomllib

from block_commands import ROOT

PAGE = (ROOT / "docs" / "contributing" / "architecture.md").read_text()
PACKAGE = ROOT / "src" / "markovize"


def test_the_folders_are_those_of_the_import_rules() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [name for line in contracts[0]["layers"] for name in line.split(" | ") if name != "__main__"]
    table = PAGE.split("## The folders")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == layers


def test_every_module_that_is_named_exists() -> None:
    named = re.findall(r"`([\w/]+/|[\w/]+/\w+\.py|[\w/]+\.py)`", PAGE)
    assert len(named) >= 10
    assert [name for name in named if not (PACKAGE / name).exists() and not (ROOT / name).exists()] == []
