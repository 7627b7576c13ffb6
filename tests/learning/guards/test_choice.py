"""When ``auto`` takes guards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from markovize import Traces, learn
from markovize.learning.guards.choice import MANY_STEPS, MOST_REWARDS, why_guards


def continuous(steps: int, rewards: int = 2, decimals: int | None = None, width: int = 2) -> Traces:
    rng = np.random.default_rng(0)
    seen = rng.random((steps + 1, width))
    if decimals is not None:
        seen = np.round(seen, decimals)
    return Traces.of([(seen.tolist(), [0] * steps, [float(n % rewards) for n in range(steps)])])


@pytest.mark.parametrize(
    ("traces", "takes"),
    [
        (continuous(2 * MANY_STEPS), True),
        (continuous(MANY_STEPS - 1), False),  # an example, not a log
        (continuous(2 * MANY_STEPS, rewards=1), False),  # nothing to be explained
        (continuous(2 * MANY_STEPS, rewards=MOST_REWARDS + 1), False),  # a function of numbers
        (continuous(2 * MANY_STEPS, decimals=0), False),  # a few cells
        (continuous(2 * MANY_STEPS, width=1001), False),  # an image
    ],
    ids=["continuous", "short", "constant", "numbers", "rounded", "image"],
)
def test_where_observations_hardly_ever_repeat(traces: Traces, takes: bool) -> None:
    assert bool(why_guards(traces)) == takes


def test_objects_always_and_nothing_never() -> None:
    assert why_guards(Traces.of([([{"x": 0}, {"x": 1}], ["go"], [0])]))
    assert not why_guards(Traces.of([([{}, {}], ["go"], [0])]))
    assert not why_guards(Traces.of([]))


def test_what_guards_cannot_obey_keeps_labels() -> None:
    traces = continuous(2 * MANY_STEPS)
    for option in ({"objective": "states"}, {"engine": "sat"}, {"trigger_on": "state"}, {"reward_on": "state"}):
        assert learn(traces, time_limit=5, **option).trigger_on != "guards"  # type: ignore[arg-type]


def armed_and_paid(episodes: int = 60) -> Traces:
    """Two numbers a step: once the first exceeds 1, the second pays 1 where it exceeds a half; rewards are shaken."""
    rng, found = np.random.default_rng(0), []
    for _ in range(episodes):
        seen = rng.normal(size=(9, 2))
        armed = np.logical_or.accumulate(seen[1:, 0] > 1)
        paid = (armed & (seen[1:, 1] > 0.5)) + rng.uniform(-0.05, 0.05, 8)
        found.append((seen.tolist(), [0] * 8, paid.tolist()))
    return Traces.of(found)


@pytest.mark.parametrize("tolerance", [0.06, "auto"])
def test_rewards_with_errors_have_few_levels(tolerance: Any) -> None:
    """Exact labels never come back, so that one state explains all; guards find the two thresholds."""
    result = learn(armed_and_paid(), tolerance=tolerance)
    assert (result.status, result.trigger_on, result.states, result.triggers) == ("optimal", "guards", 2, 1)


@pytest.mark.parametrize("allowance", [{"outliers": 3}, {"outliers": "auto"}, {"tolerance": 1e-9}])
def test_labels_that_hardly_repeat_are_said_also_where_noise_is_allowed_for(allowance: Any) -> None:
    rng = np.random.default_rng(0)
    numbers = Traces.of([(rng.random((201, 2)).tolist(), [0] * 200, rng.random(200).tolist())])
    assert not why_guards(numbers, "auto")  # rewards are no levels with errors
    assert "(--trigger-on guards)" in learn(numbers, **allowance).doubt
