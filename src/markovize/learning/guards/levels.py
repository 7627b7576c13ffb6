"""The questions of each level, a number of guards: all ways to spend them, and all numbers of states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from markovize.learning.guards.candidate import Candidate, Size
from markovize.learning.guards.formula import Formula, Split
from markovize.learning.guards.memory import Proven
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.guards.shares import Shares


@dataclass
class Question:
    """What is known of one split."""

    split: Split
    floor: int = 0  # proven: no machine of this split has fewer literals
    refuted: bool = False  # proven: there is none at all
    any_work: int = 0  # so far, on whether there is any at all
    machine: Candidate | None = None  # of this split, that explains everything
    formula: Formula | None = field(default=None, repr=False)
    shares: Shares | None = field(default=None, repr=False)  # once literals are shared out

    def close(self) -> None:
        """Frees the solver."""
        if self.formula is not None:
            self.formula.close()
            self.formula = None

    def is_closed(self, best: Size | None) -> bool:
        """Whether nothing better than the best machine is left here."""
        return self.refuted or (best is not None and self.floor > self.target(best))

    def target(self, best: Size) -> int:
        """The literals that a machine of this split may have to be better than the best of as many guards."""
        is_simpler = (self.split.states, self.split.triggers) < (best.states, best.triggers)
        return best.literals if is_simpler else best.literals - 1


class Levels:
    """All questions, made when they are looked for; ``proven`` is what is known from an earlier call."""

    def __init__(self, problem: GuardProblem, proven: Proven | None) -> None:
        self._problem, self._proven = problem, proven
        self._levels: dict[int, list[Question]] = {}

    def close(self) -> None:
        """Frees all solvers."""
        for questions in self._levels.values():
            for question in questions:
                question.close()

    def at(self, guards: int) -> list[Question]:
        """The questions of a level: few triggers first, since memory should be a last resort."""
        if guards not in self._levels:
            self._levels[guards] = [
                Question(split, self._floor(split), self._is_too_small(split)) for split in self._splits(guards)
            ]
        return self._levels[guards]

    def question(self, split: Split) -> Question:
        """The one of a split."""
        return next(question for question in self.at(split.guards) if question.split == split)

    def _floor(self, split: Split) -> int:
        """The literals that machines of this split are proven to need by an earlier call."""
        if self._proven is None or split.guards != self._proven.size.guards:
            return 0
        _, literals, states, triggers = self._proven.size
        return literals + ((split.states, split.triggers) < (states, triggers))

    def _splits(self, guards: int) -> Iterator[Split]:
        rewards = self._problem.finds_reward_guards
        for triggers in range(guards + 1) if rewards else [guards]:
            for states in range(min(triggers, 1) + 1, triggers + 2):
                yield Split(states, triggers, guards - triggers)

    def _is_too_small(self, split: Split) -> bool:
        """Whether there are fewer cells for a label than it has outcomes."""
        cells: int = (split.states + split.triggers) * 2**split.reward_guards
        return cells < self._most_outcomes

    @cached_property
    def _most_outcomes(self) -> int:
        """How many outcomes that need a cell each a label has at the most."""
        problem = self._problem
        if problem.pays is not None:
            return problem.pays.most_windows(problem.labels, problem.outcomes)
        pairs = np.unique(problem.labels.astype(np.int64) * problem.n_outcomes + problem.outcomes)
        return int(np.bincount(pairs // problem.n_outcomes, minlength=1).max())
