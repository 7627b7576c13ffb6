"""What a run knows of its environment without stepping it, and whether it is still the same when the run goes on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.runners import EnvRunner, RecentEpisode
from markovize.episodes.spaces import value_of
from markovize.errors import InputError
from markovize.gym import WorldEnv
from markovize.worlds import World

HARMLESS = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker")  # wrappers that change nothing but the step limit
NAMES = {
    "name": "name or arguments have",
    "observations": "observation space has",
    "actions": "action space has",
    "steps": "step limit has",
    "world": "world has",
}


@dataclass(frozen=True)
class Environment:
    """An environment, the world of this package behind it, if there is one, and how long an episode may be."""

    env: gym.Env[Any, Any]
    world: World | None
    steps: int

    @classmethod
    def of(cls, env: gym.Env[Any, Any], max_steps: int | None) -> Environment:
        """Looks at an environment; what is none is refused."""
        if not isinstance(env, gym.Env):
            many = isinstance(env, gym.vector.VectorEnv)
            what = "one environment, not a vector of them" if many else f"an environment, not {env!r}"
            raise InputError(f"ActiveLearner acts in {what}; use gymnasium.make")
        return cls(env, world_behind(env), step_limit(env, max_steps))

    def fingerprint(self) -> dict[str, Any]:
        """What tells environments apart without stepping them; a world of this package is known whole."""
        spec = self.env.spec
        name = None
        if spec is not None:
            made = f"{spec.id} {spec.kwargs!r} {[wrapper.name for wrapper in spec.additional_wrappers]}"
            name = re.sub(r" at 0x[0-9a-f]+", "", made)
        world = None if self.world is None else _digest(self.world)
        spaces = str(self.env.observation_space), str(self.env.action_space)
        return dict(zip(NAMES, (name, *spaces, self.steps, world), strict=True))

    def check_unchanged(self, before: dict[str, Any]) -> None:
        """Refuses to go on with a run that began in an environment with another fingerprint."""
        now = self.fingerprint()
        for name, words in NAMES.items():
            if now[name] != before.get(name):
                change = "" if name == "world" else f": it was {before.get(name)} and is {now[name]}"
                raise InputError(f"the environment's {words} changed since this run began{change}; start a new run")

    def check_behaviour(self, runner: EnvRunner, episodes: Iterable[RecentEpisode]) -> None:
        """Plays some episodes again, with their seeds and actions: all must go as it went."""
        for episode in episodes:
            self._check_episode(runner, runner.codec, episode)

    def _check_episode(self, runner: EnvRunner, codec: StepCodec, episode: RecentEpisode) -> None:
        before = value_of(self.env.reset(seed=int(episode.seed))[0], objects=runner.view.objects)
        steps = zip(episode.transitions.tolist(), episode.rewards.tolist(), strict=True)
        for n, (x, reward) in enumerate(steps):
            s, a, t = codec.values(x)
            if (shown := runner.view.start(before)) != s:
                raise _changed(n, f"showed {shown}, where it was {s}")
            observation, paid, terminated, truncated, _ = self.env.step(runner.raw_action(x))
            after = value_of(observation, objects=runner.view.objects)
            if (terminated or truncated) and n < len(episode.rewards) - 1:
                raise _changed(n, "ended it, where it went on")
            if float(paid) != reward:
                raise _changed(n, f"paid {float(paid):g}, where it was {reward:g}")
            if (led := runner.view.outcome((before, a, after))) != t:
                raise _changed(n, f"led to {led}, where it was {t}")
            before = after


def _changed(step: int, what: str) -> InputError:
    return InputError(
        f"the environment has changed since this run began: with the same seed and actions, step {step} of an episode "
        f"{what}; start a new run (an environment that ignores reset(seed=…) cannot be resumed)"
    )


def _digest(world: World) -> str:
    digest, tables = hashlib.sha256(), world.tables
    for array in (world.successor, tables.u, tables.reward, tables.terminated):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(repr((world.start, world.machine.initial, world.observations)).encode())
    return digest.hexdigest()


def world_behind(env: gym.Env[Any, Any]) -> World | None:
    """The world of this package behind an environment, if its tables say all and nothing changes that."""
    while isinstance(env, gym.Wrapper):
        if type(env).__name__ not in HARMLESS or not type(env).__module__.startswith("gymnasium."):
            return None
        env = env.env
    return env.world if isinstance(env, WorldEnv) and not env.world.is_random else None


def step_limit(env: gym.Env[Any, Any], asked: int | None, default: int = 1_000) -> int:
    """How long an episode may be: as asked, else as the environment's spec says, else a thousand steps."""
    if asked is not None:
        return asked
    limit = env.spec.max_episode_steps if env.spec is not None else None
    return default if limit is None else int(limit)
