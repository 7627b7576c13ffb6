"""A learner for each part of the kept episodes: what has not changed is not searched again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.episodes.traces import Ints
from markovize.learning.learner import Learner
from markovize.learning.parts import join_results
from markovize.learning.result import LearnResult
from markovize.machine.machine import RewardMachine

Solve: TypeAlias = Callable[[Learner, KeptEpisodes, np.random.Generator], LearnResult]
Prove: TypeAlias = Callable[[Learner, KeptEpisodes, RewardMachine], LearnResult]


@dataclass
class _Part:
    """The learner of a part, the episodes that it has seen last, and what came of them."""

    learner: Learner
    numbers: bytes = b""
    result: LearnResult | None = None


class PartLearner:
    """A :class:`Learner` for each part of the episodes; where there is only one part, one for them all."""

    def __init__(self, new_learner: Callable[[], Learner]) -> None:
        self._new_learner = new_learner
        self._whole = new_learner()
        self._parts: dict[int, _Part] = {}  # by the first episode of each

    def learn(self, kept: KeptEpisodes, parts: Sequence[Ints], solve: Solve, rng: np.random.Generator) -> LearnResult:
        """The machine of all episodes, by ``solve`` on each part that has changed."""
        if len(parts) < 2:
            return solve(self._whole, kept, rng)
        results: list[LearnResult] = []
        for numbers, draws in zip(parts, rng.spawn(len(parts)), strict=True):
            part = self._parts.setdefault(int(numbers[0]), _Part(self._new_learner()))
            if part.result is None or part.numbers != numbers.tobytes():
                found = solve(part.learner, kept.only(numbers.tolist()), draws)
                if found.machine is None or found.interrupted:
                    return replace(found, machine=None)
                part.result, part.numbers = found, numbers.tobytes()
            results.append(part.result)
        return join_results(results)

    def prove(self, kept: KeptEpisodes, parts: Sequence[Ints], machine: RewardMachine, prove: Prove) -> LearnResult:
        """The same by ``prove``, on each part whose machine is not proven; this is the machine of them all."""
        if len(parts) < 2:
            return prove(self._whole, kept, machine)
        results: list[LearnResult] = []
        for numbers in parts:
            part = self._parts.setdefault(int(numbers[0]), _Part(self._new_learner()))
            found = part.result
            if found is None or found.status != "optimal" or part.numbers != numbers.tobytes():
                own = machine if found is None else found.unwrap()
                found = prove(part.learner, kept.only(numbers.tolist()), own)
                if found.machine is None or found.status != "optimal":
                    return replace(found, machine=None)
            results.append(found)
        return join_results(results)
