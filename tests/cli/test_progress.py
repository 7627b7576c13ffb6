"""The live display: a sentence for people who watch a terminal, nothing for anybody else."""

from __future__ import annotations

import io
import time
from dataclasses import replace

import pytest
import rich.console

from markovize.cli.learn_display import progress_display
from markovize.learning.search import Progress

SEARCHING = Progress("searching", 3, 4, (3, 2), (4, 5), 12)


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (SEARCHING, "searching K=3 z≤4 · proven K≥3 z≥2 · best K=4 z=5 · 12 exemplars · 1.2 s"),
        (Progress("searching", 3, None, (3, 2), None, 2), "searching K=3 · proven K≥3 z≥2 · 2 exemplars · 1.2 s"),
        (Progress("first machine", 1, None, (2, 1), None, 2), "first machine · 2 exemplars · 1.2 s"),
    ],
)
def test_sentence(now: Progress, text: str) -> None:
    assert now.sentence(1.234) == text


def test_silent_where_nobody_watches_but_for_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_display() as show:
        show(SEARCHING)
        assert capsys.readouterr() == ("", "")
        for _ in range(2):
            show(replace(SEARCHING, hint="noise [5 %]"))
    assert capsys.readouterr() == ("", "note: noise [5 %] (the search goes on)\n")


class Terminal(rich.console.Console):
    """A terminal that remembers what was written to it."""

    written = io.StringIO()

    def __init__(self, **_: object) -> None:
        super().__init__(file=self.written, force_terminal=True, width=120)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    Terminal.written = io.StringIO()
    monkeypatch.setattr(rich.console, "Console", Terminal)
    return Terminal.written


def test_shows_long_solves_and_not_too_often(screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with progress_display() as show:
        assert show is not None
        for now, exemplars in ((100.4, 1), (100.6, 2), (100.65, 3), (101.0, 4)):  # noqa: B007 - read by the clock
            show(Progress("searching", 3, 4, (3, 2), None, exemplars))
    text = screen.getvalue()
    assert [f" {n} exemplars" in text for n in (1, 2, 3, 4)] == [False, True, False, True]


def test_short_solves_show_nothing(screen: io.StringIO) -> None:
    with progress_display() as show:
        assert show is not None
        show(SEARCHING)
    assert "searching" not in screen.getvalue()
