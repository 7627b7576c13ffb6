"""What the allowances for noise were used for: the machine is replayed, and what is outside of its levels is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.labelling import LabelFunctions
from markovize.episodes.traces import Traces
from markovize.learning.result import LearnResult, Noise, Outlier
from markovize.machine.replay import promised_rewards, run, with_rounding
from markovize.machine.support import count_support


def with_noise(result: LearnResult, traces: Traces, allowance: Allowance, labels: LabelFunctions) -> LearnResult:
    """The result, with its outliers by episode and step, and with what supports its triggers, these aside."""
    noise = Noise(allowance.tolerance, allowance.outliers)
    if result.machine is None:
        return replace(result, noise=noise)
    levels = promised_rewards(result.machine, run(result.machine, traces, **labels))
    wrong = np.flatnonzero(np.abs(traces.rewards - levels) > with_rounding(allowance.tolerance, levels))
    found = []
    for step in wrong.tolist():
        episode, at = traces.locate(step)
        found.append(Outlier(episode, at, float(traces.rewards[step]), float(levels[step])))
    noise = replace(noise, outliers=tuple(found))
    if result.interrupted:
        return replace(result, noise=noise)
    support = count_support(result.machine, replace(traces, rewards=levels), **labels)
    return replace(result, noise=noise, support=support)
