"""The environment that an agent trains in: recorded, followed by the machine, and seen as one vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, SupportsFloat, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from markovize.episodes.features import FeatureFunction
from markovize.episodes.open_episode import OpenEpisode
from markovize.episodes.spaces import value_of
from markovize.episodes.traces import Episode
from markovize.errors import InputError, one_line
from markovize.gym.wrappers import MarkovRewardWrapper
from markovize.integrations.sb3.active.encoding import Encoder, Vector
from markovize.machine.machine import RewardMachine

AnyEnv: TypeAlias = "gym.Env[Any, Any]"
Maker: TypeAlias = Callable[[], AnyEnv]
MOST_ATTEMPTS: Final = 100  # episodes that end within the prologue


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


class Seen(gym.ObservationWrapper[Any, Any, Any]):
    """The observation of a wrapped environment as a vector: the bare one's, then the machine's state one-hot."""

    def __init__(self, env: AnyEnv, encoder: Encoder, states: int) -> None:
        super().__init__(env)
        self._encoder, self._states = encoder, states
        self._merged = isinstance(encoder.space, spaces.Dict)  # then the machine's state is one more part
        self.observation_space = spaces.Box(-np.inf, np.inf, (encoder.width + states,), np.float32)

    def observation(self, observation: Any) -> Vector:
        out = np.zeros(self._encoder.width + self._states, np.float32)
        out[: self._encoder.width] = self._encoder(observation if self._merged else observation["observation"])
        out[self._encoder.width + observation["rm_state"]] = 1.0
        return out


class Charged(gym.Wrapper[Any, Any, Any, Any]):
    """Charges something at the end of each episode, for an agent that shall first learn to keep it going.

    Of policies the same are best, since every episode ends once; but under a discount a later end costs less. Without
    that, an agent may settle for a rash way that is paid often. While there is a charge, an episode that was cut off
    counts as ended.
    """

    def __init__(self, env: AnyEnv, charge: Callable[[], float]) -> None:
        super().__init__(env)
        self._charge = charge

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        charge = self._charge()
        if charge and (terminated or truncated):
            return observation, float(reward) - charge, True, False, info
        return observation, reward, terminated, truncated, info


class Prologue(gym.Wrapper[Any, Any, Any, Any]):
    """Begins each episode with the same actions; what follows is up to the agent."""

    def __init__(self, env: AnyEnv, actions: Sequence[Any]) -> None:
        super().__init__(env)
        space = env.action_space
        self._actions = [np.asarray(a, space.dtype) if isinstance(a, (list, tuple)) else a for a in actions]
        if odd := [action for action in self._actions if not space.contains(action)]:
            raise InputError(f"prologue: {one_line(repr(odd[0]), 40)} is no action of {space}")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        for attempt in range(MOST_ATTEMPTS):
            observation, info = self.env.reset(seed=None if attempt else seed, options=options)
            for action in self._actions:
                observation, _, terminated, truncated, info = self.env.step(action)
                if terminated or truncated:
                    break
            else:
                return observation, info
        raise InputError(f"prologue: {MOST_ATTEMPTS} episodes in a row ended within it; give a shorter one")


def product_env(
    env: AnyEnv, encoder: Encoder, machine: RewardMachine, features: FeatureFunction | None, *, crm: bool
) -> AnyEnv:
    """The environment on S×U, as a policy sees it."""
    return Seen(MarkovRewardWrapper(env, machine, mode="dict", crm=crm, features=features), encoder, machine.states)


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
