"""Compiles the inner loops and loads the default solver, once: so that no search is timed with it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import LabelledSteps, label_traces
from markovize.episodes.traces import Traces
from markovize.learning import judge_kernels, tree_kernels
from markovize.learning.assembly import assemble
from markovize.learning.judge import Judge
from markovize.learning.limits import Limits
from markovize.learning.mixtures import Mixtures
from markovize.learning.prefix_tree import build_tree
from markovize.learning.state_merging import merge_states
from markovize.learning.trimming import trim_rewards


@cache
def warm_up() -> None:
    """Every compiled loop runs on two short episodes. From the second call on it does nothing."""
    import pysat.solvers  # noqa: F401

    traces, steps = _two_episodes()
    tree, alike = build_tree(steps)
    tree_kernels.first_alike(alike, steps.outcomes, len(steps.outcome_values))
    tree_kernels.first_on_ways(steps.offsets, steps.starts, steps.outcomes > 0)
    judge = Judge(tree)
    judge.mixture({})
    Mixtures(judge).after({}, [])
    merge_states(judge, Limits())
    trigger = {(0, int(steps.triggers.ids[0])): 1}
    assert judge.explains(trigger)
    nodes, states = np.arange(len(tree), dtype=np.int32), np.zeros(len(tree), np.int32)
    judge_kernels.some_tree_states(nodes, tree.parent, tree.label, judge.table(trigger), states)
    assemble(traces, steps, judge.prune(trigger), {})


@cache
def warm_up_for_noise() -> None:
    """The loops that only allowances for noise need, too."""
    traces, steps = _two_episodes()
    allowance = Allowance(0.25, 1)
    noisy = Judge(build_tree(steps, allowance)[0])
    assert noisy.explains({})  # one of the two is an outlier
    strict = Judge(replace(noisy.tree, allowance=Allowance(0.25)))
    strict.violations({})
    assemble(traces, steps, {}, {}, allowance)
    trim_rewards(traces, "state", allowance.width, 1)


def _two_episodes() -> tuple[Traces, LabelledSteps]:
    traces = Traces.of([(["a", "b", "c"], [0, 0], [0, 0]), (["a", "a", "c"], [0, 0], [0, 1])])
    return traces, label_traces(traces, "state", "state")
