"""The environment that an agent trains in: recorded, followed by the machine, and seen as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, SupportsFloat, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from markovize.episodes.features import FeatureFunction
from markovize.episodes.open_episode import OpenEpisode
from markovize.episodes.spaces import value_of
from markovize.episodes.traces import Episode
from markovize.gym.wrappers import MarkovRewardWrapper
from markovize.integrations.sb3.active.encoding import Encoder, Vector
from markovize.integrations.sb3.active.near_misses import Looking
from markovize.machine.machine import RewardMachine

AnyEnv: TypeAlias = "gym.Env[Any, Any]"
Maker: TypeAlias = Callable[[], AnyEnv]
NOTHING: Final = np.zeros(0, np.float32)


class Tap(gym.Wrapper[Any, Any, Any, Any]):
    """Hands over each episode of the bare environment when it ends."""

    def __init__(self, env: AnyEnv, encoder: Encoder, take: Callable[[Episode], None]) -> None:
        super().__init__(env)
        self._encoder, self._take = encoder, take
        self._open: OpenEpisode | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._open = OpenEpisode(self._encoder.record(observation))
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        result = observation, reward, terminated, truncated, _ = self.env.step(action)
        if self._open is not None:
            self._open.step(value_of(action, "action"), float(reward), self._encoder.record(observation))
            if terminated or truncated:
                self._take(self._open.close(terminated=bool(terminated), truncated=bool(truncated)))
                self._open = None
        return result


class Seen(gym.Wrapper[Any, Any, Any, Any]):
    """A wrapped environment as a policy sees it: the bare observation as a vector, near misses, the machine's state."""

    def __init__(self, env: MarkovRewardWrapper, encoder: Encoder, looking: Looking | None) -> None:
        super().__init__(env)
        self._encoder, self._looking, self._states = encoder, looking, env.machine.states
        self._merged = isinstance(encoder.space, spaces.Dict)  # then the machine's state is one more part
        bits = 0 if looking is None else looking.near.width
        self.observation_space = spaces.Box(-np.inf, np.inf, (encoder.width + bits + self._states,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        bare = observation if self._merged else observation["observation"]
        if self._looking is not None:
            self._looking.begin(self._encoder.record(bare))
        return self._vector(bare, info["rm_state"]), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        bare = observation if self._merged else observation["observation"]
        if self._looking is not None:
            after = self._encoder.record(bare)
            self._looking.step(value_of(action, "action"), after, info["rm_state"])
        return self._vector(bare, info["rm_state"]), reward, terminated, truncated, info

    def _vector(self, bare: Any, state: int) -> Vector:
        bits = NOTHING if self._looking is None else self._looking.near.bits
        one_hot = np.zeros(self._states, np.float32)
        one_hot[state] = 1.0
        return np.concatenate([self._encoder(bare), bits, one_hot])


def product_env(
    env: AnyEnv,
    encoder: Encoder,
    machine: RewardMachine,
    features: FeatureFunction | None,
    *,
    crm: bool = False,
    near_misses: bool = False,
) -> AnyEnv:
    """The environment on S×U, as a policy sees it."""
    looking = Looking(machine, machine.trigger_labelling(features=features)) if near_misses else None
    wrapped = MarkovRewardWrapper(env, machine, mode="dict", crm=crm, features=features)
    return Seen(wrapped, encoder, looking)


class Playback(gym.Env[Any, Any]):
    """Gives back recorded episodes step by step, whatever the actions."""

    def __init__(self, env: AnyEnv) -> None:
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.episode = Episode([0], [], [])
        self._step = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._step = 0
        return self.episode.observations[0], {}

    def step(self, _action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = self.episode.rewards[self._step]
        self._step += 1
        last = self._step == self.episode.steps
        terminated = last and self.episode.terminated
        return self.episode.observations[self._step], reward, terminated, last and not terminated, {}
