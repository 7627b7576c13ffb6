"""popgym's RepeatFirst and a cart that only shows positions: the machine behind the reward, and what a policy earns.

Each task is played at random, the machine is learned with default settings and tried on other episodes; then an agent
that knows nothing begins anew, finds the machine while it acts, and its policy is compared with the optimum:

    python examples/popgym_machines.py                       # RepeatFirst Easy, Medium, Hard: seconds
    python examples/popgym_machines.py --tasks cart shuttle  # PPO, minutes
    python examples/popgym_machines.py --survey              # what `learn` answers to the other tasks
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final

import gymnasium as gym
import numpy as np

import markovize
from markovize import ActiveLearner, LearnResult, Settings, Traces, learn, replay
from markovize.episodes.features import Features
from markovize.features import named

HELD_OUT: Final = 10**6  # the first seed of episodes that nothing is learned from
SIDE: Final = 0.05  # metres; how far from the middle either side of the shuttle begins
TENTHS: Final = 10  # so that a network sees numbers near 1
FRAMES_PER_SECOND: Final = 50
SURVEYED: Final = (
    "PositionOnlyCartPole",
    "VelocityOnlyCartpole",
    "PositionOnlyPendulum",
    "Battleship",
    "MineSweeper",
    "Concentration",
    "MultiarmedBandit",
    "HigherLower",
    "RepeatPrevious",
    "Autoencode",
    "CountRecall",
)


@dataclass(frozen=True)
class Task:
    """An environment, how many random episodes to learn from, and how long to act."""

    name: str
    make: Callable[[], gym.Env[Any, Any]]
    random_episodes: int
    optimum: float
    episodes: int = 0  # of a tabular agent
    steps: int = 0  # of PPO
    features: Features | None = None
    caution: float = 0.0  # what the end of an episode costs PPO at first


def popgym_env(name: str) -> gym.Env[Any, Any]:
    """An environment of popgym."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other people's libraries
        import_module("popgym")  # registers the environments

        return gym.make(f"popgym-{name}-v0", disable_env_checker=True)


class Changes(gym.Wrapper[Any, Any, Any, Any]):
    """Positions, in tenths of a metre and of a radian, and how fast they change.

    With the speed, the next position can be foretold. What a reward remembers is another matter.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        self._last, info = self.env.reset(**options)
        return self._with_changes(self._last), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        seen, *rest = self.env.step(action)
        return self._with_changes(seen), *rest

    def _with_changes(self, seen: Any) -> Any:
        speed, self._last = (seen - self._last) * FRAMES_PER_SECOND, seen
        return np.concatenate([seen * TENTHS, speed]).astype(np.float32)


class Shuttle(gym.Wrapper[Any, Any, Any, Any]):
    """Pays 1, and ends the episode, for the right side after the left one; nothing shows whether it was there."""

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        self._was_left = False
        return self.env.reset(**options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        seen, _, terminated, truncated, info = self.env.step(action)
        self._was_left = self._was_left or seen[0] < -SIDE
        arrives = self._was_left and seen[0] >= SIDE
        return seen, float(arrives), terminated or arrives, truncated, info


CART: Final = "PositionOnlyCartPoleEasy"
POSITIONS: Final = named("x", "angle", "_", "_")
TASKS: Final = {
    "easy": Task("RepeatFirstEasy", lambda: popgym_env("RepeatFirstEasy"), 200, 1.0, episodes=100),
    "medium": Task("RepeatFirstMedium", lambda: popgym_env("RepeatFirstMedium"), 40, 1.0, episodes=100),
    "hard": Task("RepeatFirstHard", lambda: popgym_env("RepeatFirstHard"), 40, 1.0, episodes=100),
    "cart": Task(CART, lambda: Changes(popgym_env(CART)), 200, 1.0, steps=200_000, features=POSITIONS),
    "shuttle": Task(
        f"{CART}, left then right",
        lambda: Changes(Shuttle(popgym_env(CART))),
        1_000,
        1.0,
        steps=300_000,
        features=POSITIONS,
        caution=1.0,  # against throwing itself left and right in 17 steps, which fails in 7 of 100 episodes
    ),
}


def play_at_random(env: gym.Env[Any, Any], episodes: int, seed: int) -> Traces:
    """So many episodes of random actions."""
    env.action_space.seed(seed)
    played = []
    for number in range(episodes):
        seen, _ = env.reset(seed=seed + number)
        observations, actions, rewards, over, ended = [seen], [], [], False, False
        while not over:
            actions.append(env.action_space.sample())
            seen, reward, ended, cut, _ = env.step(actions[-1])
            observations.append(seen)
            rewards.append(float(reward))
            over = ended or cut
        played.append((observations, actions, rewards, ended))
    return Traces.of(played)


def learn_from(task: Task, seed: int) -> dict[str, Any]:
    """The machine of random episodes, and how many steps of others it does not explain."""
    env = task.make()
    traces = play_at_random(env, task.random_episodes, seed)
    others = play_at_random(env, task.random_episodes, HELD_OUT + seed)
    began = time.perf_counter()
    options: dict[str, Any] = {} if task.features is None else {"features": task.features}
    result = learn(traces, time_limit=120, **options)
    seconds = time.perf_counter() - began
    machine = result.unwrap()
    again = replay(machine, others, **options)
    return {
        "steps": traces.steps,
        **size_of(result),
        "learn_seconds": round(seconds, 2),
        "held_out": again.steps,
        "mismatches": again.mismatches,
        "machine": markovize.describe(machine, rewards=result.guards is not None),
    }


def size_of(result: LearnResult) -> dict[str, Any]:
    """Status, labels and size of a machine."""
    labels = f"{result.trigger_on}/{result.reward_on}"
    sizes = {"states": result.states, "triggers": result.triggers, "guards": result.guards}
    return {"status": result.status, "labels": labels, **sizes}


def act(task: Task, seed: int) -> dict[str, Any]:
    """What the policy of an agent earns that found its machine itself."""
    began = time.perf_counter()
    if task.episodes:
        run = ActiveLearner(task.make(), Settings.of(episodes=task.episodes, seed=seed)).run()
        found, earned, played = run.machine, run.greedy_return, int(run.lengths.sum())
    else:
        from markovize.integrations.sb3 import ActiveTraining, TrainingSettings

        settings = TrainingSettings(
            "ppo",
            task.steps,
            seed,
            explore=500,
            features=task.features,
            target=0.995 * task.optimum,
            evaluation_episodes=200,
            caution=task.caution,
        )
        trained = ActiveTraining(task.make, settings).run()
        found, earned, played = trained.machine, trained.greedy_return, trained.steps
    return {
        "acting_steps": played,
        "acting_states": found.states,
        "acting_triggers": len(found.triggers),
        "return": round(earned, 4),
        "optimum": task.optimum,
        "acting_seconds": round(time.perf_counter() - began, 1),
    }


def survey(names: Sequence[str], episodes: int, seconds: float) -> None:
    """What ``learn`` answers, with default settings, to random episodes of other tasks."""
    for name in names:
        traces = play_at_random(popgym_env(f"{name}Easy"), episodes, 0)
        result = learn(traces, time_limit=seconds)
        why = "" if result.contradiction is None else str(result.contradiction)
        print(json.dumps({"task": f"{name}Easy", "steps": traces.steps, **size_of(result), "why": why}), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line of JSON for each task and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=tuple(TASKS), default=["easy", "medium", "hard"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--episodes", type=int, help="of the tabular agents")
    parser.add_argument("--survey", action="store_true")
    given = parser.parse_args(arguments)
    if given.survey:
        survey(SURVEYED, 60, 20.0)
        return
    for name in given.tasks:
        for seed in range(given.seeds):
            task = TASKS[name]
            if given.episodes and task.episodes:
                task = replace(task, episodes=given.episodes)
            print(
                json.dumps({"task": task.name, "seed": seed, **learn_from(task, seed), **act(task, seed)}), flush=True
            )


if __name__ == "__main__":
    main()
