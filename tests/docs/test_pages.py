"""Every code block of the site, of the README and of CONTRIBUTING runs, and shows what it prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from unittest import SkipTest

import pytest
from block_changes import copy_package
from block_commands import ROOT, matches
from blocks import changes_package, parse

from markovize import Settings

DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(page for page in DOCS.rglob("*.md") if not re.search(r"/(_\w+|results/[^/]+)/", str(page))),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    ]
)
PICTURE = r"!\[[^]]*\]\(([^)]+)\)"
EXTRAS = {
    "markovize.agents.deep": "torch",
    "stable_baselines3": "stable_baselines3",
    "markovize.integrations.sb3": "stable_baselines3",
    'executor="ray"': "ray",
    "import pandas": "pandas",
    "import minigrid": "minigrid",
    "log.parquet": "pyarrow",
}


def name(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix()


def run(page: Path, long: bool) -> int:
    """Evaluates the blocks of a page; how many there were."""
    document = parse(page)
    document.namespace["long"] = long
    evaluated = 0
    for example in document.examples():
        try:
            example.evaluate()
            evaluated += 1
        except SkipTest:
            if long:
                raise
    return evaluated


def prepare(page: Path, folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.delenv("PYTEST_ADDOPTS", raising=False)  # pages show what pytest prints by itself
    for word, library in EXTRAS.items():
        if word in page.read_text():
            pytest.importorskip(library, reason=f"{library} is not installed")
    patch.chdir(folder)
    if changes_package(page.read_text()):
        copy_package(folder)
        patch.setenv("PYTHONPATH", str(folder / "src"))
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    patch.setenv("COLUMNS", "200")
    patch.syspath_prepend(folder)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(page, tmp_path, monkeypatch)
    run(page, long=False)
    for command in (["check"], ["format", "--check"]):  # what a page adds to the package is as the package is
        written = [file for file in tmp_path.glob("src/**/*.py") if not file.is_symlink()]
        if written:
            subprocess.run([sys.executable, "-m", "ruff", *command, "--no-cache", "-q", *written], check=True)


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if changes_package(page.read_text())], ids=name)
def test_what_a_page_adds_has_the_right_types(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(page, tmp_path, monkeypatch)
    run(page, long=False)
    written = [file.relative_to(tmp_path) for file in tmp_path.glob("src/**/*.py") if not file.is_symlink()]
    command: list[str | Path] = [sys.executable, "-m", "mypy", "--follow-imports=silent", *written]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if "skip: next if(not long" in page.read_text()], ids=name)
def test_page_with_what_takes_long(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(page, tmp_path, monkeypatch)
    run(page, long=True)


def test_a_false_output_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the tests: wrong values, wrong outputs, unknown options, targets and extras all fail."""
    monkeypatch.chdir(tmp_path)
    for block in (
        "```python\n>>> 1 + 1\n3\n```",
        "```python\nassert False\n```",
        "```console\n$ markovize --version\nmarkovize 99\n```",
        "```console\n$ markovize check missing.jsonl\n```",
        "```shell\nmarkovize learn episodes.jsonl --no-such-option\n```",
        "```shell\nmake coffee\n```",
        "```shell\npip install '.[coffee]'\n```",
        "```json\n{]\n```",
    ):
        page = tmp_path / "page.md"
        page.write_text(block + "\n")
        with pytest.raises((AssertionError, ValueError)):
            run(page, long=False)


def test_a_failure_may_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```console\n$ markovize check missing.jsonl\nmarkovize: missing.jsonl…\n$ echo $?\n2\n```\n")
    assert run(page, long=False) == 1


def test_seconds_may_differ_and_an_ellipsis_is_anything() -> None:
    assert matches(["a (0.31 s, b)", "…"], ["a (2 s, b)", "c", "d"])
    assert not matches(["a (0.31 s, b)"], ["a (2 s, c)"])
    assert not matches(["a"], ["a", "b"])


def test_the_page_of_settings_names_them_all() -> None:
    text = (DOCS / "reference" / "settings.md").read_text()
    assert [field for field in Settings.__dataclass_fields__ if f"`{field}`" not in text] == ["mode"]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 8 * 1024


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    """Sphinx checks those of the site only, and no pictures in the README."""
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), target


def test_paths_exist() -> None:
    """What stands in backticks and begins with a folder of the repository, or of the package, is there.

    Not so what `make docs` makes, and what has a NAME to be filled in.
    """
    package = ROOT / "src" / "markovize"
    tops = {folder.name for top in (ROOT, package) for folder in top.iterdir() if folder.is_dir()}
    named = {
        path
        for page in PAGES
        for path in re.findall(r"`([\w-]+/[\w./-]*)`", page.read_text())
        if path.split("/")[0] in tops and not path.startswith("docs/_build/") and "NAME" not in path
    }
    assert len(named) >= 50
    assert [path for path in sorted(named) if not (ROOT / path).exists() and not (package / path).exists()] == []


def test_results_have_a_command_and_a_stamp() -> None:
    commands = tomllib.loads((DOCS / "results" / "commands.toml").read_text())
    assert sorted(commands) == sorted(path.parent.name for path in DOCS.glob("results/*/stamp.json"))
    for result in commands:
        stamp = json.loads((DOCS / "results" / result / "stamp.json").read_text())
        assert {"command", "commit", "date", "machine"} <= set(stamp)


def test_every_picture_is_shown() -> None:
    shown = {(page.parent / target).resolve() for page in PAGES for target in re.findall(PICTURE, page.read_text())}
    kept = {path for ending in ("png", "svg") for path in DOCS.rglob(f"*.{ending}") if "_build" not in path.parts}
    assert kept <= shown
