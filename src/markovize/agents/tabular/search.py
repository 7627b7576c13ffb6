"""The machines of a run: each learned from all episodes kept so far, under the labels that explain them best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.agents.tabular.results import Solve
from markovize.agents.tabular.settings import Settings
from markovize.conflicts.check import check
from markovize.episodes.labelling import LabelOn, auto_order
from markovize.episodes.traces import Traces
from markovize.errors import InputError, UnrealisableError
from markovize.learning.learner import Auto, Learner
from markovize.learning.result import LearnResult
from markovize.machine.machine import RewardMachine

MANY_TRIGGERS = 12  # from here on finer labels are considered, if they are free
SOME_TRIGGERS = 3  # from here on if the reward is a function of the transition alone


class MachineSearch:
    """Keeps the episodes that a machine must explain, and learns one from them whenever one more is in conflict."""

    def __init__(self, settings: Settings, codec: StepCodec) -> None:
        self.settings, self.codec = settings, codec
        codec.relabel(_coarsest(settings.trigger_on), _coarsest(settings.reward_on))
        self.kept = KeptEpisodes()
        self.solves: list[Solve] = []
        self.pending = False  # whether an episode in conflict waits for a machine that explains it
        self.status, self.exemplars = "no conflict", 0
        self._learner = self._new_learner(settings.trigger_on, settings.reward_on)
        self._many_triggers = MANY_TRIGGERS

    @property
    def seconds(self) -> float:
        """Spent on solving."""
        return sum(solve.seconds for solve in self.solves)

    def traces(self) -> Traces:
        """The episodes kept so far."""
        return self.kept.traces(self.codec)

    def learn(self) -> LearnResult:
        """A machine that explains all episodes kept; where Ctrl-C has ended the search, the best so far."""
        result = self._solve(self.traces(), len(self.solves) + 1)
        if result.contradiction is not None:
            raise UnrealisableError(result.contradiction)
        return result

    def learn_without_conflict(self) -> RewardMachine:
        """The machine of a run that never met a conflict: one state, and the rewards of the episodes kept."""
        return self._learner.learn(self.traces(), effort=self.settings.effort).unwrap()

    def adopt(self, result: LearnResult, episode: int) -> bool:
        """The run goes on with this machine; whether steps are labelled in another way from now on."""
        machine = result.unwrap()
        self.pending, self.status = False, result.status
        self.exemplars = len(self.kept) if self.settings.mode == "paper" else result.exemplars
        size = machine.states, len(machine.triggers), self.exemplars, len(self.kept)
        labels = result.trigger_on, result.reward_on
        self.solves.append(Solve(episode, *size, result.seconds, result.status, *labels))
        cfg, codec = self.settings, self.codec
        wanted = _resolved(cfg.trigger_on, result.trigger_on), _resolved(cfg.reward_on, result.reward_on)
        if wanted == codec.labelled_by:
            return False
        codec.relabel(*wanted)
        return True

    def repeat(self, machine: RewardMachine) -> Iterator[int]:
        """Brings the learner to where it was after all solves, which must have led to this machine.

        Yields the number of each solve before it is done.
        """
        result = None
        for number, solve in enumerate(self.solves, 1):
            yield number
            result = self._solve(self.kept.first(solve.kept).traces(self.codec), number)
            if result.interrupted:
                raise KeyboardInterrupt
        if result is not None and result.machine != machine:
            raise InputError("the solver does not repeat what it found in this run (another version?); start a new run")

    def _solve(self, traces: Traces, number: int) -> LearnResult:
        """The machine of the first, second, … solve; draws of its own, so that it can be repeated."""
        rng = np.random.default_rng((self.settings.seed, number))
        result = self._learner.learn(traces, effort=self.settings.effort, rng=rng)
        return result if result.interrupted else self._under_other_labels(traces, result, rng)

    def _under_other_labels(self, traces: Traces, result: LearnResult, rng: np.random.Generator) -> LearnResult:
        """Under other labels, where these do with far fewer triggers: a large machine is a sign of wrong labels.

        Finer ones come first. From few episodes they may look better than they are: so the way back is open.
        """
        cfg, labels = self.settings, (result.trigger_on, result.reward_on)
        triggers = result.triggers or 0
        if triggers < SOME_TRIGGERS or "auto" not in (cfg.trigger_on, cfg.reward_on):
            return result
        if triggers < self._many_triggers and not check(traces).markov:
            return result
        order = auto_order()
        if labels not in order:
            return result
        here = order.index(labels)
        for trigger_on, reward_on in (*order[here + 1 :], *order[:here]):
            if cfg.trigger_on in ("auto", trigger_on) and cfg.reward_on in ("auto", reward_on):
                learner = self._new_learner(trigger_on, reward_on)
                other = learner.learn(traces, effort=cfg.effort, rng=rng)
                if other.interrupted:
                    return replace(result, interrupted=True)
                if other.machine is not None and 2 * len(other.machine.triggers) <= (result.triggers or 0):
                    self._learner = learner
                    return other
        self._many_triggers = max(self._many_triggers, 2 * triggers)
        return result

    def _new_learner(self, trigger_on: Auto, reward_on: Auto) -> Learner:
        cfg = self.settings
        return Learner(
            objective=cfg.objective,
            trigger_on=trigger_on,
            reward_on=reward_on,
            explain=cfg.explain,
            acyclic=cfg.acyclic,
            engine=cfg.engine,
        )


def _coarsest(on: Auto) -> LabelOn:
    return "state" if on == "auto" else on


def _resolved(asked: Auto, found: str) -> LabelOn:
    return asked if callable(asked) else found
