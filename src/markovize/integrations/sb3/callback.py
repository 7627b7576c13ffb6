"""A callback for trainings of Stable-Baselines3 that finds the machine behind the reward on the way."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError
from markovize.extras import Missing
from markovize.integrations.sb3.search import Allowance, Archive, MachineSearch
from markovize.integrations.sb3.watching import EpisodeWatch
from markovize.learning.learner import Auto
from markovize.learning.result import LearnResult
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    from stable_baselines3.common.callbacks import BaseCallback
else:
    try:
        from stable_baselines3.common.callbacks import BaseCallback
    except ImportError:
        BaseCallback = Missing

MOST_EPISODES = 20_000  # bounds the memory of a training that goes on for long; chosen, not measured
EFFORT, SECONDS = 5_000, 10.0


class ConflictCallback(BaseCallback):
    """Watches a training on a bare environment: finds conflicts, learns the machine, says when to switch it in.

    Every finished episode of every sub-environment is recorded. Two steps (s, a, s') that paid differently are a
    conflict: then the smallest machine is learned that explains all episodes recorded so far, and from there on
    conflicts are steps that the machine does not explain. ``machine`` is None as long as none was needed.

    Args:
        quiet_episodes: so many episodes in a row that the machine explained make it ``ready``.
        switch_when: another rule for that, a function of this callback; asked after every episode.
        stop_training: ends ``learn`` when the machine becomes ready, so that the program can wrap and go on.
        trigger_on, reward_on: as for :func:`markovize.learn`; so are further options, ``objective``, ``acyclic`` ….
        effort: the most that one question to the solver may take; None for a proof of the optimum, at any price.
        time_limit: seconds for searching. They are used up by all searches together, and given back by the training,
            one for every four that it takes, up to this limit; a search waits until half of them are there. So all
            searches take at most the limit and a fifth of the time. After one in vain, the next also waits until there
            are twice the episodes.
        most_episodes: so many are recorded; the later ones are only looked at.
        on_machine: called with this callback after each new machine.
        verbose: 1 prints new machines and when to switch.

    The logger (and so TensorBoard) gets ``markovize/conflicts``, ``states``, ``triggers``, ``quiet_episodes`` and
    ``ready``.
    """

    def __init__(
        self,
        *,
        quiet_episodes: int = 200,
        switch_when: Callable[[ConflictCallback], bool] | None = None,
        stop_training: bool = False,
        trigger_on: Auto = "auto",
        reward_on: Auto = "auto",
        effort: int | None = EFFORT,
        time_limit: float | None = SECONDS,
        most_episodes: int = MOST_EPISODES,
        on_machine: Callable[[ConflictCallback], None] | None = None,
        verbose: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(verbose)
        if quiet_episodes < 1 or most_episodes < 2:
            raise InputError("quiet_episodes must be at least 1, and most_episodes at least 2")
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"the time limit must be positive, not {time_limit}")
        self.quiet_needed, self.switch_when, self.stop_training = quiet_episodes, switch_when, stop_training
        self.on_machine = on_machine
        self.episodes = 0  # finished and looked at
        self.conflicts = 0  # episodes with one
        self.quiet_episodes = 0  # since the last of them
        self.ready_at: int | None = None  # the training step since which the machine is ready
        self._watch, self._archive = EpisodeWatch(), Archive(most_episodes)
        allowance = None if time_limit is None else Allowance(time_limit)
        self._search = MachineSearch(self._archive, trigger_on, reward_on, effort, allowance, options)

    @property
    def machine(self) -> RewardMachine | None:
        """The smallest machine that explains all recorded episodes; None as long as none was needed."""
        return self._search.machine

    @property
    def result(self) -> LearnResult | None:
        """What the last search said."""
        return self._search.result

    @property
    def ready(self) -> bool:
        """Whether the machine should be switched in."""
        return self.ready_at is not None

    @property
    def traces(self) -> Traces:
        """All recorded episodes; for files, :func:`markovize.check`, or :func:`fill_replay`."""
        return Traces.of(self._archive.episodes)

    def _on_training_start(self) -> None:
        self._watch.start(self.model)
        if self._search.allowance is not None:
            self._search.allowance.begin(monotonic())

    def _on_step(self) -> bool:
        ended = [self._look_at(e) for e in self._watch.end_episodes(self.model, self.num_timesteps, self.locals)]
        return not (self.stop_training and any(ended))

    def _look_at(self, episode: Episode) -> bool:
        """Records an episode and learns from it if it has a conflict; whether the machine has become ready by it."""
        self.episodes += 1
        self.quiet_episodes += 1
        if self._archive.add(episode):
            self.conflicts += 1
            self.quiet_episodes, self.ready_at = 0, None
        if self._search.due(self.episodes):
            self._search.run(self.episodes, self._say)
            self._tell_of_machine()
        became_ready = self._becomes_ready()
        self._log()
        return became_ready

    def _tell_of_machine(self) -> None:
        if self.machine is None:
            return
        states, triggers = self.machine.states, len(self.machine.triggers)
        self._say(f"a conflict in episode {self.episodes}: now {states} states, {triggers} triggers")
        if self.on_machine is not None:
            self.on_machine(self)

    def _becomes_ready(self) -> bool:
        machine = self.machine
        if machine is None or machine.states == 1 or self.ready or self._archive.unexplained:
            return False
        quiet = self.quiet_episodes >= self.quiet_needed if self.switch_when is None else self.switch_when(self)
        if not quiet:
            return False
        self.ready_at = self.num_timesteps
        self._say(
            f"{self.quiet_episodes} episodes without a conflict: switch the machine in "
            f"({machine.states} states, {len(machine.triggers)} triggers)"
        )
        return True

    def _log(self) -> None:
        machine = self.machine
        self.logger.record("markovize/conflicts", self.conflicts)
        self.logger.record("markovize/states", 1 if machine is None else machine.states)
        self.logger.record("markovize/triggers", 0 if machine is None else len(machine.triggers))
        self.logger.record("markovize/quiet_episodes", self.quiet_episodes)
        self.logger.record("markovize/ready", int(self.ready))

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"markovize: step {self.num_timesteps:,}: {text}")
