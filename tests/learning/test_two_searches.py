"""Where the step number may explain all, a short search goes first: both share one limit and one Ctrl-C."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from markovize import Learner, Traces, learn
from markovize.conflicts.timetable import Timetable
from markovize.learning import entry as module

WALKS = Traces.of([(["hall", "coffee", "office"], [0, 0], [0, 1]), (["hall", "hall", "office"], [0, 0], [0, 0])])


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """The time limit of each search; the step number is suspected, and the first search takes a second by the clock."""
    seen: list[float | None] = []
    clock, whole = [0.0], Learner.learn

    def watched(self: Learner, episodes: Any, **given: Any) -> Any:
        seen.append(given["time_limit"])
        clock[0] += 1
        return whole(self, episodes, **{**given, "time_limit": None})

    monkeypatch.setattr(module, "find_timetable", lambda _: Timetable(40, 22))
    monkeypatch.setattr(Learner, "learn", watched)
    monkeypatch.setattr("markovize.learning.entry.time.monotonic", lambda: clock[0])
    return seen


def test_the_second_search_has_what_is_left(limits: list[float | None]) -> None:
    assert learn(WALKS, time_limit=5).states == 2
    assert limits == [5, 4]


def test_ctrl_c_in_the_first_search_ends_both(limits: list[float | None], monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Learner.learn
    monkeypatch.setattr(Learner, "learn", lambda *a, **k: replace(watched(*a, **k), interrupted=True))
    assert learn(WALKS).interrupted and len(limits) == 1
