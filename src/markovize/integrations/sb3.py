"""Stable-Baselines3: find the machine while it trains, and make the most of it once it is known.

- :class:`ConflictCallback` watches a training on a bare environment, learns the machine behind the reward, and says
  when it should be switched in, by :class:`markovize.MarkovRewardWrapper`.
- :class:`CounterfactualReplayBuffer` lets DQN learn from each step in every machine state.
- :func:`fill_replay` gives DQN the episodes that were recorded on the way.

Wrap each environment by itself, then put them into a ``DummyVecEnv`` or ``SubprocVecEnv`` as usual. The wrappers of
:mod:`markovize.gym.wrappers.vector` are for Gymnasium's vector environments, which Stable-Baselines3 does not take.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from markovize.conflicts.check import check
from markovize.episodes.labelling import LabelFunction
from markovize.episodes.open_episode import OpenEpisode
from markovize.episodes.spaces import check_space, value_of, values_of
from markovize.episodes.traces import Episode, Traces
from markovize.episodes.values import key_of
from markovize.errors import InputError, UnsupportedError
from markovize.extras import Missing
from markovize.gym.wrappers.follower import BoundMachine
from markovize.integrations.sb3_replay import CounterfactualReplayBuffer, fill_replay
from markovize.learning.learner import Auto, Learner
from markovize.learning.result import LearnResult
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import run

if TYPE_CHECKING:
    from stable_baselines3.common.callbacks import BaseCallback
else:
    try:
        from stable_baselines3.common.callbacks import BaseCallback
    except ImportError:
        BaseCallback = Missing

__all__ = ["ConflictCallback", "CounterfactualReplayBuffer", "fill_replay"]

MOST_EPISODES = 20_000
EFFORT, SECONDS = 5_000, 10.0
REGAINED = 0.25  # seconds for searching that each second of training gives back
GONE = -1  # the number of an episode that was not recorded


class ConflictCallback(BaseCallback):
    """Watches a training on a bare environment: finds conflicts, learns the machine, says when to switch it in.

    Every finished episode of every sub-environment is recorded. Two steps (s, a, s') that paid differently are a
    conflict: then the smallest machine is learned that explains all episodes recorded so far, and from there on
    conflicts are steps that the machine does not explain. ``machine`` is None as long as none was needed.

    Args:
        quiet_episodes: so many episodes in a row that the machine explained make it ``ready``.
        switch_when: another rule for that, a function of this callback; asked after every episode.
        stop_training: ends ``learn`` once the machine is ready, so that the program can wrap and go on.
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
        self.effort, self.time_limit = effort, time_limit
        self.most_episodes, self.on_machine = most_episodes, on_machine
        self.machine: RewardMachine | None = None
        self.result: LearnResult | None = None
        self.episodes = 0  # finished and looked at
        self.conflicts = 0  # episodes with one
        self.quiet_episodes = 0  # since the last of them
        self.ready_at: int | None = None  # the training step since which the machine is ready
        self._learner = Learner(trigger_on=trigger_on, reward_on=reward_on, **options)
        self._functions = {
            "trigger_on": trigger_on if callable(trigger_on) else None,
            "reward_on": reward_on if callable(reward_on) else None,
        }
        self._recorded: list[Episode] = []
        self._kept: list[int] = []  # of the recorded ones: those that the machine was learned from, in this order
        self._paid = _Paid(None, {})
        self._open: list[OpenEpisode | None] = []
        self._seen_steps, self._seen = -1, None  # the training step and observations of the last call
        self._unexplained: set[int] = set()  # of the recorded ones: some that the machine does not explain
        self._wait = 0  # so many episodes before the next search
        self._allowance: _Allowance | None = None

    @property
    def ready(self) -> bool:
        """Whether the machine should be switched in."""
        return self.ready_at is not None

    @property
    def traces(self) -> Traces:
        """All recorded episodes; for files, :func:`markovize.check`, or :func:`fill_replay`."""
        return Traces.of(self._recorded)

    # --- what Stable-Baselines3 calls ------------------------------------------------------------------------------

    def _on_training_start(self) -> None:
        env = self.training_env
        self._spaces = env.observation_space, env.action_space
        check_space(self._spaces[0], "observation")
        check_space(self._spaces[1], "action")
        normalised = self.model.get_vec_normalize_env()
        if normalised is not None and normalised.norm_obs:
            raise UnsupportedError("conflicts are found in observations as they are: VecNormalize(norm_obs=False)")
        last = self.model._last_obs
        firsts = values_of(self._spaces[0], last)
        if self.model.num_timesteps == 0:  # all environments were reset
            self._open = [OpenEpisode(first) for first in firsts]
        elif self.model.num_timesteps != self._seen_steps or last is not self._seen:
            self._open = [None] * len(firsts)  # amid episodes whose beginning nobody saw
        if self._allowance is None and self.time_limit is not None:
            self._allowance = _Allowance(self.time_limit, monotonic())

    def _on_step(self) -> bool:
        env, infos, dones = self.model.get_vec_normalize_env(), self.locals["infos"], self.locals["dones"]
        after = values_of(self._spaces[0], self.locals["new_obs"])
        moved = values_of(self._spaces[1], self.locals["actions"], "action")
        paid = self.locals["rewards"] if env is None else env.get_original_reward()
        go_on = True
        if self._seen_steps >= 0 and self.num_timesteps - self._seen_steps > len(self._open):
            self._open = [None] * len(self._open)  # called only now and then: episodes have holes
        for number, episode in enumerate(self._open):
            done = bool(dones[number])
            if episode is not None:
                target = value_of(infos[number]["terminal_observation"]) if done else after[number]
                episode.step(moved[number], _shortest(paid[number]), target)
                if done:
                    cut = bool(infos[number].get("TimeLimit.truncated", False))
                    go_on = self._look_at(episode.close(terminated=not cut, truncated=cut)) and go_on
            if done:
                self._open[number] = OpenEpisode(after[number])
        self._seen_steps, self._seen = self.num_timesteps, self.locals["new_obs"]
        return go_on

    # --- conflicts -------------------------------------------------------------------------------------------------

    def _look_at(self, episode: Episode) -> bool:
        """Records an episode and learns from it if it has a conflict; False if the training should end."""
        self.episodes += 1
        self.quiet_episodes += 1
        number = len(self._recorded)
        holder = self._paid.conflict(episode, number if number < self.most_episodes else GONE)
        if holder is not None or number < self.most_episodes:  # what teaches something is recorded at any rate
            self._recorded.append(episode)
        if holder is not None:
            self.conflicts += 1
            self.quiet_episodes, self.ready_at = 0, None
            self._unexplained |= {holder, number} - {GONE}
        if self._unexplained and self._may_search():
            self._learn()
            if self._allowance is not None:
                self._allowance.searched(monotonic())
        return self._tell()

    def _may_search(self) -> bool:
        if self.result is not None and self.result.status == "unrealisable":
            return False
        return self.episodes >= self._wait and (self._allowance is None or self._allowance.enough(monotonic()))

    def _learn(self) -> None:
        """A machine for the kept episodes; those that it does not explain join them, until it explains all.

        Each time twice as many may join, so that there are few searches however many episodes the machine fails on.
        """
        everything, joining = self.traces, 1
        deadline = None if self._allowance is None else monotonic() + self._allowance.seconds
        while self._unexplained:
            self._kept += sorted(self._unexplained - set(self._kept))
            found = self._search(everything.select(self._kept), deadline)
            if found is None:
                self._wait = 2 * self.episodes
                why = None if self.result is None else self.result.contradiction
                self._say(f"no machine: {why or 'none was found in time'}")
                break
            self.machine = found
            witnesses = check(everything, found, **self._functions).witnesses[:joining]
            self._unexplained = {number for witness in witnesses for number in witness.episodes}
            joining *= 2
        if self.machine is not None:
            self._paid = _Paid.of(self.machine, self._functions, everything)
            states, triggers = self.machine.states, len(self.machine.triggers)
            self._say(f"a conflict in episode {self.episodes}: now {states} states, {triggers} triggers")
            if self.on_machine is not None:
                self.on_machine(self)

    def _search(self, kept: Traces, deadline: float | None) -> RewardMachine | None:
        """The machine behind these episodes, if it is found in time."""
        left = None if deadline is None else deadline - monotonic()
        if left is not None and left <= 0:
            return None
        self.result = self._learner.learn(kept, effort=self.effort, time_limit=left)
        if self.result.interrupted:
            raise KeyboardInterrupt  # the search ends politely on Ctrl-C, but it was the training that was meant
        return self.result.machine

    def _tell(self) -> bool:
        machine = self.machine
        if machine is not None and machine.states > 1 and self.ready_at is None and not self._unexplained:
            asked = self.switch_when
            if self.quiet_episodes >= self.quiet_needed if asked is None else asked(self):
                self.ready_at = self.num_timesteps
                self._say(
                    f"{self.quiet_episodes} episodes without a conflict: switch the machine in "
                    f"({machine.states} states, {len(machine.triggers)} triggers)"
                )
        self.logger.record("markovize/conflicts", self.conflicts)
        self.logger.record("markovize/states", 1 if machine is None else machine.states)
        self.logger.record("markovize/triggers", 0 if machine is None else len(machine.triggers))
        self.logger.record("markovize/quiet_episodes", self.quiet_episodes)
        self.logger.record("markovize/ready", int(self.ready))
        return not (self.ready and self.stop_training)

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"markovize: step {self.num_timesteps:,}: {text}")


class _Paid:
    """What each step paid, by (s, a, s') or, given a machine, by (u, label, u'), and in which episode."""

    def __init__(self, machine: RewardMachine | None, functions: dict[str, LabelFunction | None]) -> None:
        on, reward_on = functions.get("trigger_on"), functions.get("reward_on")
        self._bound = None if machine is None else BoundMachine(machine, trigger_on=on, reward_on=reward_on)
        self._known: dict[Hashable, tuple[float, int]] = {}

    @classmethod
    def of(cls, machine: RewardMachine, functions: dict[str, LabelFunction | None], traces: Traces) -> _Paid:
        """What each step of these episodes paid, given a machine."""
        paid, way = cls(machine, functions), run(machine, traces, **functions)
        for key, step in zip(*np.unique(way.keys(machine.states), return_index=True), strict=True):
            u, label, v = way.unpack(int(key), machine.states)
            known = float(traces.rewards[step]), traces.locate(int(step))[0]
            paid._known[u, key_of(way.reward_labels.values[label]), v] = known
        return paid

    def conflict(self, episode: Episode, number: int) -> int | None:
        """The number of an episode in which a step of this one paid something else; else remembers this one's."""
        found = None
        for key, reward in zip(self._keys(episode), episode.rewards, strict=True):
            known, holder = self._known.setdefault(key, (reward, number))
            if known != reward and found is None:
                found = holder
        return found

    def _keys(self, episode: Episode) -> Iterator[Hashable]:
        seen, bound = episode.observations, self._bound
        u = 0 if bound is None else bound.machine.initial
        for s, a, t in zip(seen, episode.actions, seen[1:], strict=False):
            if bound is None:
                yield key_of((s, a, t))
                continue
            before, u = u, bound.move(u, (s, a, t)).target
            yield before, key_of(bound.labels((s, a, t))[1]), u


class _Allowance:
    """Seconds for searching: used up by searches, given back by the training, never more than the limit.

    >>> allowance = _Allowance(10.0, now=0.0)
    >>> allowance.enough(now=4.0), allowance.seconds
    (True, 10.0)
    >>> allowance.searched(now=12.0)
    >>> allowance.enough(now=16.0), allowance.seconds, allowance.enough(now=24.0), allowance.seconds
    (False, 3.0, True, 5.0)
    """

    def __init__(self, limit: float, now: float) -> None:
        self.limit = self.seconds = limit
        self._since = now

    def enough(self, now: float) -> bool:
        """Whether a search may begin; until now the training went on."""
        self.seconds = min(self.limit, self.seconds + REGAINED * (now - self._since))
        self._since = now
        return self.seconds >= self.limit / 2

    def searched(self, now: float) -> None:
        """A search went on until now."""
        self.seconds -= now - self._since
        self._since = now


def _shortest(reward: Any) -> float:
    """The shortest number that is this reward: Stable-Baselines3 keeps them in single precision.

    >>> import numpy as np
    >>> float(np.float32(0.9)), _shortest(np.float32(0.9))
    (0.8999999761581421, 0.9)
    """
    return float(str(reward))
