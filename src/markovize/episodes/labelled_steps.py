"""Episodes as engines see them: for each step a trigger label, a reward label and an outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from operator import itemgetter
from typing import Literal, TypeAlias

import numpy as np

from markovize.episodes.distinct import distinct_rewards
from markovize.episodes.labelling import Labelling, LabelOn, Labels, labelling_of
from markovize.episodes.traces import Floats, Ints, Longs, Traces
from markovize.episodes.values import has_objects
from markovize.errors import InputError

Explain: TypeAlias = Literal["reward", "reward+termination"]


@dataclass(frozen=True)
class LabelledSteps:
    """The labels and outcomes of all steps.

    An *outcome* is what must be explained: the reward, or the pair (reward, terminal). Where equal beginnings of
    episodes are merged, ``starts`` has the step after which each episode goes on, and ``weights`` how many each is.
    """

    offsets: Longs
    triggers: Labels
    rewards: Labels
    outcomes: Ints
    outcome_values: list[tuple[float, bool | None]]
    starts: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    weights: Ints | None = None

    def __post_init__(self) -> None:
        if not len(self.starts):
            object.__setattr__(self, "starts", np.full(len(self.offsets) - 1, -1, np.int32))

    @cached_property
    def levels(self) -> Floats:
        """What each outcome pays."""
        return np.fromiter(map(itemgetter(0), self.outcome_values), np.float64, len(self.outcome_values))

    @cached_property
    def ends(self) -> Ints:
        """Of each outcome, whether it ends episodes; where that is not to be explained, none does."""
        values = self.outcome_values
        if not values or values[0][1] is None:
            return np.zeros(len(values), np.int32)
        return np.array([bool(end) for _, end in values], np.int32)


def label_traces(traces: Traces, trigger_on: LabelOn, reward_on: LabelOn, explain: Explain = "reward") -> LabelledSteps:
    """Labels every step of the traces.

    >>> label_traces(Traces.of([([0, 1], ["go"], [2.5])]), "state", "state").outcome_values
    [(2.5, None)]
    """
    codes, outcomes = code_outcomes(traces, explain)
    trigger, reward = labelling_of(trigger_on), labelling_of(reward_on)
    check_no_objects(traces, trigger, "trigger_on")
    check_no_objects(traces, reward, "reward_on")
    trigger_labels = trigger.label_steps(traces)
    reward_labels = trigger_labels if reward == trigger else reward.label_steps(traces)
    return LabelledSteps(
        traces.offsets, trigger_labels, reward_labels, codes, outcomes, traces.starts(), traces.weights()
    )


def check_no_objects(traces: Traces, labelling: Labelling, option: str) -> None:
    """Refuses labels that are observations, or parts of them, where observations are objects."""
    if labelling.parts and any(map(has_objects, traces.observation_values[:1])):
        raise InputError(
            f"the observations are objects, which are no {labelling.kind!r} labels; give a function of "
            f"(state, action, next_state) as {option}= (--{option.replace('_', '-')} module:function), or "
            "learn guards over their features, with trigger_on='guards' (--trigger-on guards) alone"
        )


def code_outcomes(traces: Traces, explain: Explain) -> tuple[Ints, list[tuple[float, bool | None]]]:
    """The outcome of every step as a number, by first appearance, and what the numbers mean.

    >>> codes, outcomes = code_outcomes(Traces.of([([0, 1, 2], ["go", "go"], [2.5, 0])]), "reward")
    >>> codes.tolist(), outcomes
    ([0, 1], [(2.5, None), (0.0, None)])
    """
    if explain not in ("reward", "reward+termination"):
        raise InputError(f"explain is 'reward' or 'reward+termination', not {explain!r}")
    _, first, ids = distinct_rewards(traces.rewards)
    is_new = np.zeros(len(ids), np.bool_)
    is_new[first] = True
    number = np.cumsum(is_new, dtype=np.int32) - 1  # by first appearance: more episodes renumber nothing
    values, codes = traces.rewards[is_new], number[first][ids].astype(np.int32)
    if explain == "reward":
        return codes, list(zip(values.tolist(), repeat(None)))
    both = (codes * 2 + traces.ends()).astype(np.int32)
    return both, [(v, end) for v in values.tolist() for end in (False, True)]
