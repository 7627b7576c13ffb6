"""Large data: the first episodes are looked at first, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from guard_oracle import draw_instance

from markovize import learn
from markovize.learning.guards import judge


@pytest.mark.parametrize("seed", range(40))
def test_the_same_answer_whatever_is_looked_at_first(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = draw_instance(np.random.default_rng(seed)).traces()
    whole = learn(traces, trigger_on="guards", count_steps=True)
    monkeypatch.setattr(judge, "FRONT_STEPS", 3)
    front = learn(traces, trigger_on="guards", count_steps=True)
    assert (front.status, front.guards, front.literals, front.states) == (
        "optimal",
        whole.guards,
        whole.literals,
        whole.states,
    )
