"""Episodes that are played once more, to learn more from a conflict: how noisy it is, and which of its steps matter."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from markovize.agents.tabular.compiled.detours import cell_at_end
from markovize.agents.tabular.evidence import both_of_conflict, keep_episode, rewards_in_conflict, witness_row
from markovize.agents.tabular.repeats import REPEATS, SAME, VOTES
from markovize.agents.tabular.runners import EnvRunner
from markovize.agents.tabular.shortening import SAMPLE, Ending, evidence_for, play_shorter, tell_apart, without
from markovize.agents.tabular.stopping import Stop
from markovize.episodes.labelling import AUTO
from markovize.episodes.traces import Floats, Ints
from markovize.episodes.values import key_of
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    from markovize.agents.tabular.learner import ActiveLearner


class Trials:
    """What a run plays again. All of it counts among the run's episodes, and is kept."""

    def __init__(self, run: ActiveLearner) -> None:
        self.run = run

    def repeat_conflict(self, stop: Stop) -> None:
        """Plays both episodes of a conflict again and again: what differs after equal histories is noise.

        On a world's tables nothing is noisy.
        """
        if not isinstance(self.run.runner, EnvRunner) or self.run.schedule.greedy:
            return
        search = self.run.search
        whole = self.run.settings.outliers == AUTO  # then any step of the episode may be another outlier
        rewards = rewards_in_conflict(self.run.agent)
        times = REPEATS if search.looks_for_tolerance(rewards) and not search.knows_levels(rewards) else VOTES
        for transitions in both_of_conflict(self.run.agent, search.kept, whole=whole):
            script = [self.run.runner.codec.action[x] for x in transitions.tolist()]
            for number in range(times):
                if self.run.schedule.over:
                    return
                if number == SAME and not whole and search.kept.are_same(SAME):
                    break
                self.run.note_played(*self.run.runner.repeat(self.run.agent, self.run.hyperparameters(), script, stop))
                keep_episode(self.run.agent, search.kept)

    def ends_in_conflict(self) -> list[Ending]:
        """The episode at hand up to its conflict, and the earlier one up to the step that pays something else."""
        arrays, row = self.run.agent.arrays, witness_row(self.run.agent)
        if row < 0 or not self._may_shorten():  # most runs are exact: nothing more is asked of them
            return []
        episode, delta, n = arrays.episode, arrays.machine.delta, int(arrays.episode.status[0].conflict)
        here, paid = episode.transitions[: n + 1].copy(), float(episode.rewards[n])
        cell = cell_at_end(self.run.agent.reference, delta, here)
        earlier, rewards = arrays.witnesses.transitions[row], arrays.witnesses.rewards[row]
        for m in range(int(arrays.witnesses.lengths[row])):
            if cell_at_end(self.run.agent.reference, delta, earlier[: m + 1]) == cell:
                return [Ending(here, paid, float(rewards[m])), Ending(earlier[: m + 1].copy(), float(rewards[m]), paid)]
        return []

    def _may_shorten(self) -> bool:
        """Whether rewards are noisy, and it is known how to play an episode without detours."""
        cfg, moves = self.run.settings, self.run.agent.arrays.model.flags[0]
        if cfg.tolerance == 0 or cfg.outliers != 0 or self.run.schedule.greedy:
            return False
        return cfg.mode == "directed" and isinstance(self.run.runner, EnvRunner) and not moves.stochastic

    def shorten_conflict(self, ends: list[Ending], stop: Stop) -> None:
        """Plays both episodes of a conflict without what does not matter: short histories tell more."""
        if not ends:
            return
        (here, there), play = ends, partial(self._play_way, stop)
        for end in tell_apart(here, there, 2 * self.run.search.expected_tolerance(), play):
            best = play_shorter(self.run.agent, self.run.agent.arrays.machine.delta, end, play)
            if not self.run.search.knows_levels((end.paid, end.otherwise)):
                self._play_way(stop, best, SAMPLE, whole=True)

    def doubt_triggers(self, before: RewardMachine, stop: Stop) -> None:
        """Looks for shorter evidence for each trigger on a label that was none: its label may be the wrong one."""
        if not self._may_shorten():
            return
        known = {key_of(trigger.on) for trigger in before.triggers}
        play, width = partial(self._play_way, stop), self.run.search.allowance.width
        for trigger in self.run.agent.machine.triggers:
            if key_of(trigger.on) in known or self.run.search.pending:
                continue
            move = trigger.source, self.run.runner.codec.triggers.numbers.id(trigger.on)
            end = evidence_for(self.run.agent, self.run.search.kept, move, width)
            if end is not None:
                play_shorter(self.run.agent, without(self.run.agent, move), end, play)

    def _play_way(self, stop: Stop, way: Ints, times: int, *, whole: bool = False) -> Floats | None:
        """What the last step of this way pays, so many times; None where it went another way, or the run is over.

        Episodes with the least and the largest reward are kept, or all, where their number tells how noisy it is: these
        are fewer where nothing is.
        """
        assert isinstance(self.run.runner, EnvRunner)
        script = [self.run.runner.codec.action[x] for x in way.tolist()]
        episode, paid = self.run.agent.arrays.episode, list[float]()
        extremes: dict[int, tuple[Ints, Floats, bool]] = {}
        while len(paid) < times and not self.run.schedule.over:
            self.run.note_played(*self.run.runner.repeat(self.run.agent, self.run.hyperparameters(), script, stop))
            episode = self.run.agent.arrays.episode
            status, steps = episode.status[0], slice(int(episode.status[0].length))
            self.run.search.pending = self.run.search.pending or bool(status.conflict >= 0)
            if not np.array_equal(episode.transitions[steps], way):
                keep_episode(self.run.agent, self.run.search.kept)
                return None
            paid.append(float(episode.rewards[steps][-1]))
            if whole:
                keep_episode(self.run.agent, self.run.search.kept)
                if self.run.search.has_enough(paid):
                    return None
                continue
            shown = episode.transitions[steps].copy(), episode.rewards[steps].copy(), bool(status.terminated)
            extremes = {at: extremes.get(at, shown) for at in {int(np.argmin(paid)), int(np.argmax(paid))}}
        for at in sorted(extremes):
            self.run.search.kept.add(*extremes[at])
        return np.array(paid) if paid and len(paid) == times else None
