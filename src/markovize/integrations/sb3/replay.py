"""Replay buffers of Stable-Baselines3: counterfactual experiences, and episodes recorded before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from markovize.episodes.spaces import AnySpace, check_space
from markovize.episodes.traces import Episode, Episodes, Traces, as_traces
from markovize.errors import InputError, UnsupportedError
from markovize.extras import Missing
from markovize.gym.wrappers import Experience, MarkovRewardWrapper
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    from stable_baselines3.common.buffers import ReplayBuffer
    from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
else:
    try:
        from stable_baselines3.common.buffers import ReplayBuffer
    except ImportError:
        ReplayBuffer = Missing


class CounterfactualReplayBuffer(ReplayBuffer):
    """A replay buffer that holds each step once for every machine state in which the machine knows the reward.

    For DQN on a :class:`markovize.MarkovRewardWrapper` with ``crm=True`` in mode ``flat`` or ``one-hot``::

        DQN("MlpPolicy", env, replay_buffer_class=CounterfactualReplayBuffer,
            replay_buffer_kwargs={"machine": machine})

    ``buffer_size`` counts experiences, of which there are up to as many for each step as the machine has states.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: AnySpace,
        action_space: AnySpace,
        device: Any = "auto",
        n_envs: int = 1,  # noqa: ARG002 - as its base has it
        optimize_memory_usage: bool = False,
        handle_timeout_termination: bool = True,
        *,
        machine: RewardMachine,
    ) -> None:
        if optimize_memory_usage:
            raise UnsupportedError("counterfactual experiences do not follow each other: no optimize_memory_usage")
        flat = isinstance(observation_space, spaces.Discrete)
        if not flat and not (isinstance(observation_space, spaces.Box) and len(observation_space.shape) == 1):
            raise UnsupportedError("counterfactual experiences need a MarkovRewardWrapper in mode 'flat' or 'one-hot'")
        # one row for each experience, whichever environment it is from: environments bring different numbers of them
        super().__init__(buffer_size, observation_space, action_space, device, 1, False, handle_timeout_termination)
        self.states, self._flat = machine.states, flat

    def add(
        self,
        obs: Any,
        next_obs: Any,
        action: Any,
        reward: Any,  # noqa: ARG002 - as its base has it
        done: Any,  # noqa: ARG002
        infos: list[dict[str, Any]],
    ) -> None:
        """One step of each environment, in every machine state; ``reward`` and ``done`` are in the infos already."""
        for number, info in enumerate(infos):
            experiences: list[Experience] | None = info.get("rm_experiences")
            if experiences is None:
                raise InputError("info has no rm_experiences: wrap the environment with crm=True")
            self._check(obs[number], experiences)
            for experience in experiences:
                rewards, ends = np.array([experience.reward]), np.array([experience.terminal])
                before = self._within(obs[number], experience.rm_state)
                after = self._within(next_obs[number], experience.next_rm_state)
                super().add(before, after, action[number], rewards, ends, [{}])

    def _check(self, observation: Any, experiences: list[Experience]) -> None:
        """Whether the observation ends with the machine's state, one-hot, and the machine is the wrapper's."""
        known = max((max(e.rm_state, e.next_rm_state) for e in experiences), default=0)
        if known >= self.states:
            raise InputError(f"the buffer's machine has {self.states} states, the wrapper's has more")
        if not self._flat and sorted(observation[-self.states :]) != [0.0] * (self.states - 1) + [1.0]:
            raise UnsupportedError("counterfactual experiences need a MarkovRewardWrapper in mode 'flat' or 'one-hot'")

    def _within(self, observation: Any, state: int) -> Any:
        """The same observation in this machine state."""
        if self._flat:
            return observation // self.states * self.states + state
        features = observation.copy()
        features[-self.states :] = 0.0
        features[len(features) - self.states + state] = 1.0
        return features


def fill_replay(model: OffPolicyAlgorithm, episodes: Episodes, env: gym.Env[Any, Any]) -> int:
    """Adds episodes of the bare environment to a model's replay buffer; returns how many steps.

    ``env`` is an environment like those that the model trains on, only looked at: if it has a
    :class:`markovize.MarkovRewardWrapper`, the episodes are seen through one like it. Wrappers around that one are
    passed over, so they must not change observations or rewards.
    """
    buffer: Any = model.replay_buffer
    replayed = _replay_of(env)
    if buffer is None:
        raise InputError(f"{type(model).__name__} has no replay buffer")
    if replayed.observation_space != model.observation_space:
        seen = f"the model sees {model.observation_space}, {replayed.observation_space} is what the episodes give"
        raise InputError(f"{seen}: env must be wrapped as the model's is")
    rows = list(_rows(replayed, as_traces(episodes)))
    width = buffer.n_envs
    if width > 1 and type(buffer) is not ReplayBuffer:
        raise UnsupportedError(f"{type(buffer).__name__} can be filled for a single environment only")
    for start in range(0, len(rows), width):
        group = [rows[(start + i) % len(rows)] for i in range(width)]
        before, after, action, reward, done, info = zip(*group, strict=True)
        columns = [np.stack([np.asarray(x) for x in column]) for column in (before, after, action, reward, done)]
        buffer.add(*columns, list(info))
    return len(rows)


class _Playback(gym.Env[Any, Any]):
    """Gives back an episode step by step, whatever the actions."""

    def __init__(self, observation_space: AnySpace, action_space: AnySpace) -> None:
        self.observation_space, self.action_space = observation_space, action_space
        self.episode = Episode([0], [], [])
        self._step = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._step = 0
        return self._observation(), {}

    def step(self, _action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = self.episode.rewards[self._step]
        self._step += 1
        last = self._step == self.episode.steps
        terminated = last and self.episode.terminated
        return self._observation(), reward, terminated, last and not terminated, {}

    def _observation(self) -> Any:
        value = self.episode.observations[self._step]
        return np.array(value, self.observation_space.dtype) if isinstance(value, tuple) else value


def _replay_of(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """A playback seen as this environment is."""
    inner = env
    while isinstance(inner, gym.Wrapper) and not isinstance(inner, MarkovRewardWrapper):
        inner = inner.env
    if isinstance(inner, MarkovRewardWrapper):
        return MarkovRewardWrapper(_playback(inner.env), **inner._saved_kwargs)
    return _playback(env)


def _playback(env: gym.Env[Any, Any]) -> _Playback:
    check_space(env.observation_space, "observation")
    return _Playback(env.observation_space, env.action_space)


def _rows(env: gym.Env[Any, Any], traces: Traces) -> Iterator[tuple[Any, Any, Any, float, bool, dict[str, Any]]]:
    """(observation, next observation, action, reward, done, info) of every step, as Stable-Baselines3 has them."""
    playback = env.unwrapped
    assert isinstance(playback, _Playback)
    for episode in traces:
        playback.episode = episode
        before, _ = env.reset()
        for action in episode.actions:
            after, reward, terminated, truncated, info = env.step(action)
            cut = truncated and not terminated
            yield (
                before,
                after,
                np.atleast_1d(action),
                float(reward),
                terminated or truncated,
                {**info, "TimeLimit.truncated": cut},
            )
            before = after
