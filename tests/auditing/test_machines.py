"""The machine that an audit shows explains everything that was walked, also what it was not learned from."""

from __future__ import annotations

import numpy as np
import pytest

from markovize import Traces, check_reward, replay
from markovize.auditing import machines


def coffee_walks(number: int) -> list[tuple[list[str], list[int], list[float]]]:
    """Walks in a hall; the office pays from the coffee on, which only the later ones know."""
    rng = np.random.default_rng(0)
    out = []
    for walk in range(number):
        places = ["hall", "office", "coffee"] if walk > number // 2 else ["hall", "office"]
        seen = ["hall", *(places[i] for i in rng.integers(0, len(places), 12))]
        paid = [float(there == "office" and "coffee" in seen[:n]) for n, there in enumerate(seen[1:], 1)]
        out.append((seen, [0] * 12, paid))
    return out


def test_a_machine_of_the_first_episodes_is_tried_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "MOST_LEARNED", 100)
    traces = Traces.of(coffee_walks(80))
    report = check_reward(traces)
    assert (report.verdict, report.machine and report.machine.states) == ("history", 2)
    assert report.machine is not None
    assert replay(report.machine, traces).mismatches == 0
