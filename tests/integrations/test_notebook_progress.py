"""Progress in a notebook: one output, written again and again; nothing where nobody watches."""

from __future__ import annotations

import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from markovize.agents.tabular import ActiveLearner, Settings
from markovize.agents.tabular.results import RunProgress
from markovize.auditing.audit import AuditProgress
from markovize.gym.make import make
from markovize.integrations import notebook
from markovize.learning.search import Progress


class Cell:
    """The output of a cell: what is displayed, and each time that it is written anew."""

    def __init__(self) -> None:
        self.displayed: list[str] = []
        self.updated: list[str] = []

    def display(self, shown: str, *, display_id: bool) -> SimpleNamespace:
        assert display_id
        self.displayed.append(shown)
        return SimpleNamespace(update=self.updated.append)


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    """A kernel, as far as it is asked."""
    cell = Cell()
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    display: Any = ModuleType("IPython.display")
    display.HTML, display.display = str, cell.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(notebook, "QUIET", 0.0)
    monkeypatch.setattr(notebook, "PAUSE", 0.0)
    return cell


def test_one_output_for_each_call(cell: Cell, capsys: pytest.CaptureFixture[str]) -> None:
    show = notebook.show_progress()
    show(Progress("searching", 3, 4, (3, 2), (4, 5), 12))
    show(AuditProgress("<walking>", 12_000, 3.2))
    show(RunProgress(6, 12, 0.5, 2, 1, 4, 0.1))
    assert len(cell.displayed) == 1
    assert cell.displayed[0].startswith("<code>searching K=3 z≤4 · proven K≥3 z≥2 · best K=4 z=5 · 12 exemplars · ")
    assert cell.updated[0] == "<code>&lt;walking&gt; · 12,000 steps · 3.2 s</code>"
    assert cell.updated[1].startswith(f"<code>{'█' * 12}{'░' * 12} episode 6 of 12 · return 0.5")
    assert capsys.readouterr() == ("", "")


def test_a_run_ends_with_a_full_bar(cell: Cell) -> None:
    env = make("markovize/OfficeWorld-v0", {"task": "b"}, ())
    ActiveLearner(env, Settings.of(episodes=300), on_progress=notebook.show_progress()).run()
    assert "episode 300 of 300" in [*cell.displayed, *cell.updated][-1]


def test_what_is_done_soon_needs_no_display(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "QUIET", 60.0)
    show = notebook.show_progress()
    show(RunProgress(12, 12, 0.5, 2, 1, 4, 0.1))
    assert cell.displayed == []


def test_nothing_where_nobody_watches(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "QUIET", 0.0)
    show = notebook.show_progress()
    time.sleep(0.3)
    show(AuditProgress("walking", 12_000, 3.2))
    assert capsys.readouterr() == ("", "")


def test_a_line_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "QUIET", 0.0)
    monkeypatch.setattr(notebook, "PAUSE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    notebook.show_progress()(AuditProgress("walking", 12_000, 3.2))
    assert capsys.readouterr() == ("", "\r\033[Kwalking · 12,000 steps · 3.2 s")
