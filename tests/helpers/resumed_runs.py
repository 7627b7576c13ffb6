"""Runs that are stopped and go on: all checkpoints of a run, and whether two runs ended alike."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from markovize.agents.tabular import ActiveLearner, RunResult, Settings, stopping


def same(one: RunResult, other: RunResult) -> None:
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name in ("seconds", "solve_seconds"):
            continue
        if field.name == "solves":
            a, b = ([dataclasses.replace(solve, seconds=0.0) for solve in solves] for solves in (a, b))
        if isinstance(a, np.ndarray):
            assert np.array_equal(a, b), field.name
        elif field.name == "kept":
            assert list(map(repr, a)) == list(map(repr, b))
        else:
            assert a == b, field.name


def checkpoints(make: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> tuple[RunResult, list[bytes]]:
    monkeypatch.setattr(stopping.Checkpoints, "due", lambda _: True)
    saved: list[bytes] = []
    whole = ActiveLearner(make(), settings, on_checkpoint=lambda run: saved.append(run.snapshot().to_bytes())).run()
    return whole, saved
