"""When ``auto`` means guards: where exact labels have nothing to say."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from markovize.episodes.features.paths import MOST_FEATURES, count_scalars
from markovize.episodes.labelling import labelling_named
from markovize.episodes.traces import Floats, Traces
from markovize.episodes.values import has_objects
from markovize.learning.reward_clusters import lie_apart
from markovize.learning.windows import count_windows

MANY_STEPS: Final = 100  # from here on steps should repeat; fewer are an example
MOST_REWARDS: Final = 32  # different ones; where there are more, rewards are a function of numbers, not of guards


def why_guards(traces: Traces, tolerance: float | Literal["auto"] = 0.0) -> str:
    """In one line, why guards over features are taken for these episodes; empty where exact labels do.

    Within the ``tolerance`` of one level, rewards are one.

    >>> why_guards(Traces.of([([0, 1, 2], ["go", "go"], [0, 1])]))
    ''
    >>> why_guards(Traces.of([([{"x": 0}, {"x": 1}], ["go"], [0])]))
    'observations are objects: triggers are guards over their features'
    """
    first = traces.observation_values[:1]
    if not first or not 0 < count_scalars(first[0]) <= MOST_FEATURES:
        return ""
    if has_objects(first[0]):
        return "observations are objects: triggers are guards over their features"
    if traces.steps < MANY_STEPS or len(traces.observation_values) < traces.steps // 2:
        return ""  # as most episodes of exact labels do, at once
    if not _has_few_levels(traces.rewards, tolerance):
        return ""
    if 2 * len(labelling_named("transition").label_steps(traces).values) <= traces.steps:
        return ""
    return "observations hardly ever repeat: triggers are guards over their features"


def _has_few_levels(rewards: Floats, tolerance: float | Literal["auto"]) -> bool:
    values = np.unique(rewards)
    if tolerance == "auto":
        return 1 < len(values) <= MOST_REWARDS or lie_apart(rewards)
    return 1 < (count_windows(values, 2 * tolerance) if tolerance else len(values)) <= MOST_REWARDS
