"""Episodes as tests of chance see them: the steps whose label paid different rewards, and what leads to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log

import numpy as np

from markovize.episodes.distinct import distinct_keys
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.labelling import Labels
from markovize.episodes.traces import Bools, Floats, Ints, Longs
from markovize.learning.engines.base import Delta
from markovize.learning.random_rewards.categories import Categories
from markovize.learning.random_rewards.kernels import chances, count_slots, weigh
from markovize.machine.delta import tabulate


@dataclass(frozen=True)
class Sample:
    """Episodes cut after their last step that can tell anything; those without one are left out.

    ``places`` says where a step's reward is counted, -1 where its label always paid the same. ``fine`` are the labels
    of steps that a smaller machine may use in its defence. Blocks are those of these labels, the *mixed* ones.
    """

    offsets: Longs
    triggers: Ints
    places: Ints
    fine: Ints
    blocks: Longs
    n_triggers: int

    @classmethod
    def of(cls, steps: LabelledSteps, categories: Categories, fine: Labels, most: int | None = None) -> Sample:
        """All episodes, or as many of them, spread evenly, as have about so many steps."""
        mixed = categories.many > 1
        number = np.cumsum(mixed) - 1
        blocks = np.r_[0, np.cumsum(categories.many[mixed])]
        label = steps.rewards.ids
        tells = mixed[label]
        places = np.where(tells, blocks[number[label]] + categories.codes, -1).astype(np.int32)
        lengths = _lengths(steps.offsets, tells)
        chosen = np.flatnonzero(lengths)
        if most is not None and lengths.sum() > most:
            chosen = chosen[np.linspace(0, len(chosen) - 1, max(1, len(chosen) * most // lengths.sum())).astype(int)]
        offsets = np.r_[0, np.cumsum(lengths[chosen])]
        first = np.repeat(steps.offsets[chosen] - offsets[:-1], lengths[chosen])
        at = first + np.arange(offsets[-1])
        return cls(
            offsets,
            steps.triggers.ids[at],
            places[at],
            fine.ids[at],
            blocks,
            len(steps.triggers.values),
        )

    @cached_property
    def episodes(self) -> Ints:
        """The episode of each step."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def having(self) -> tuple[Longs, Longs]:
        """For each trigger label, from where on its steps are listed, and all these lists."""
        order = np.argsort(self.triggers, kind="stable")
        return np.searchsorted(self.triggers[order], np.arange(self.n_triggers + 1)), order

    def events(self, delta: Delta) -> tuple[Longs, Longs]:
        """For each episode, from where on the steps at which a machine may move or a reward counts are listed."""
        moves = np.zeros(max(1, self.n_triggers), np.bool_)
        moves[[x for _, x in delta]] = True
        listed = np.flatnonzero(moves[self.triggers] | (self.places >= 0))
        return np.searchsorted(listed, self.offsets), listed

    def count(self, delta: Delta, states: int) -> tuple[Longs, Ints, Longs]:
        """As :func:`count_slots`."""
        table = tabulate(states, max(1, self.n_triggers), delta)
        return count_slots(self.offsets, self.triggers, self.places, table, int(self.blocks[-1]))

    def chances(self, delta: Delta) -> Floats:
        """For each mixed label, the log-probability of its rewards under a machine of which only triggers are known."""
        states = count_states(delta)
        return chances(self.count(delta, states)[0], self.blocks, states * states)

    def likelihoods(self, delta: Delta) -> Floats:
        """For each mixed label, the log of the greatest likelihood under a machine, its cells split by ``fine``."""
        states, width = count_states(delta), int(self.blocks[-1])
        slots = self.count(delta, states)[2]
        told = slots >= 0
        fine = self.fine[told].astype(np.int64) * states * states + slots[told] // width
        cells = np.unique(fine, return_inverse=True)[1]
        keys, first, of_step = distinct_keys(cells * width + self.places[told])
        count = np.bincount(of_step, minlength=len(keys)).astype(np.float64)
        total = np.bincount(cells).astype(np.float64)[keys // width] if len(keys) else count
        label = np.searchsorted(self.blocks, self.places[told][first], side="right") - 1
        logs = count * np.log(count / total)
        return np.bincount(label, logs, len(self.blocks) - 1).astype(np.float64)

    def evidence(self, delta: Delta, rivals: Iterable[Floats]) -> float:
        """The log of a likelihood ratio, corrected for all machines of this size and all sets of labels that may tell.

        The numerator is a probability of the data that was fixed before they were seen, the denominator the greatest
        likelihood under another machine: of all ``rivals`` the hardest. If one of them is the truth, the ratio is 1/α
        or more with a probability of at most α, however few the data (Markov's inequality; *universal inference*),
        and whatever the machine was chosen by. Steps of labels that do not tell are left out of both sides.
        """
        own = self.chances(delta)
        least = min(weigh(own - rival) for rival in rivals)
        return least - machine_cost(count_states(delta), len(delta), self.n_triggers)


def _lengths(offsets: Longs, tells: Bools) -> Longs:
    """How long each episode is up to its last step that tells anything; 0 without one."""
    steps = np.flatnonzero(tells)
    before = np.searchsorted(steps, offsets)
    some = before[1:] > before[:-1]
    out = np.zeros(len(offsets) - 1, np.int64)
    out[some] = steps[before[1:][some] - 1] + 1 - offsets[:-1][some]
    return out


def count_states(delta: Delta) -> int:
    """States from 0 to the last that is named.

    >>> count_states({}), count_states({(0, 7): 2})
    (1, 3)
    """
    return 1 + max((max(u, v) for (u, _), v in delta.items()), default=0)


def machine_cost(states: int, triggers: int, labels: int) -> float:
    """The log of the number of machines of this size, up to the names of states, and of the sizes before it.

    >>> machine_cost(1, 0, 100), round(machine_cost(2, 1, 100), 2), round(machine_cost(3, 2, 100), 2)
    (0.0, 5.99, 13.48)
    """
    if not triggers:
        return 0.0
    choices = states * labels
    machines = lgamma(choices + 1) - lgamma(triggers + 1) - lgamma(choices - triggers + 1)
    machines += triggers * log(states - 1) - lgamma(states)
    return machines + triggers * log(2) + log(triggers)
