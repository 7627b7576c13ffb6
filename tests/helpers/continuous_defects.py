"""A small world whose observations never come back, and rewards with the defects that real environments had."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium import spaces

GOAL, KEY, LONGEST = 0.6, -0.6, 60


class Step(NamedTuple):
    """What a reward may look at: where the puck was, what was done, where it is."""

    before: float
    action: int
    after: float


class Track(gym.Env[Any, Any]):
    """A puck on a line, between -1 and 1; 0 pushes it left, 2 right. Pays 1 for being beyond 0.6."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1, 1, (2,), np.float64)
        self.action_space = spaces.Discrete(3)
        self.position, self.velocity, self.ticks = 0.0, 0.0, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.position, self.velocity, self.ticks = float(self.np_random.uniform(-0.3, 0.3)), 0.0, 0
        self.begin()
        return self.look(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        before = self.position
        push = 0.05 * (int(action) - 1) - 0.01 * float(np.sin(3 * before))
        self.position = before + self.velocity + push / 2
        self.velocity = 0.9 * self.velocity + push
        self.ticks += 1
        if abs(self.position) > 1:
            self.hit()
        paid = self.pay(Step(before, int(action), self.position))
        return self.look(), paid, False, self.ticks >= LONGEST, {}

    def hit(self) -> None:
        """At a wall the puck stops: the one place that comes back."""
        self.position, self.velocity = float(np.sign(self.position)), 0.0

    def look(self) -> Any:
        return np.array([self.position, self.velocity])

    def begin(self) -> None:
        """What the reward does at a reset."""

    def pay(self, step: Step) -> float:
        return float(step.after > GOAL)


class Effort(Track):
    """Markov: where it is, and what the push costs."""

    def pay(self, step: Step) -> float:
        return step.after - 0.1 * (step.action - 1) ** 2


class Progress(Track):
    """Markov: the gain of a potential, which the environment remembers from the step before (as LunarLander does)."""

    def begin(self) -> None:
        self.shaping = -abs(self.position - GOAL)

    def pay(self, step: Step) -> float:
        old, self.shaping = self.shaping, -abs(step.after - GOAL)
        return self.shaping - old


class LateByOneState(Track):
    """As in D4RL's maze2d (issue 194) and Gymnasium's Reacher (821): pays for the state that was left."""

    def pay(self, step: Step) -> float:
        return float(step.before > GOAL)


class LateByOneStep(Track):
    """Pays what the step before should have paid."""

    def begin(self) -> None:
        self.due = 0.0

    def pay(self, step: Step) -> float:
        paid, self.due = self.due, step.after - 0.1 * (step.action - 1) ** 2
        return paid


class TasksLeak(Track):
    """As in Gymnasium-Robotics (issue 166): a task once done is not restored by reset()."""

    def __init__(self) -> None:
        super().__init__()
        self.open_tasks = {"goal", "key"}

    def pay(self, step: Step) -> float:
        done = {"goal"} if step.after > GOAL else {"key"} if step.after < KEY else set()
        new = done & self.open_tasks
        self.open_tasks -= done
        return float(len(new))


class StepCount(Track):
    """As in MiniGrid (issue 149): the goal is worth less the later it is reached."""

    def pay(self, step: Step) -> float:
        return 1 - 0.9 * self.ticks / LONGEST if step.after > GOAL else 0.0


class FirstUnlock(Track):
    """As in crafter: what is done for the first time in an episode pays a bonus."""

    def begin(self) -> None:
        self.done: set[str] = set()

    def pay(self, step: Step) -> float:
        event = "goal" if step.after > GOAL else "key" if step.after < KEY else ""
        new = bool(event) and event not in self.done
        self.done.add(event)
        return float(new)


class KeyFirst(Track):
    """The goal pays only after the key."""

    def begin(self) -> None:
        self.key = False

    def pay(self, step: Step) -> float:
        self.key = self.key or step.after < KEY
        return float(step.after > GOAL and self.key)


class SeededNoise(Track):
    """A random reward, as reset(seed=…) has it."""

    def pay(self, step: Step) -> float:
        return float(step.after > 0 and self.np_random.random() < 0.5)


class DrawnAtReset(Track):
    """Being right is worth something that is drawn at the reset and never shown."""

    def begin(self) -> None:
        self.worth = float(self.np_random.integers(2))

    def pay(self, step: Step) -> float:
        return self.worth * (step.after > 0)


class FarFromStart(Track):
    """Pays for the distance from where the episode began."""

    def begin(self) -> None:
        self.start = self.position

    def pay(self, step: Step) -> float:
        return abs(step.after - self.start)


class Hurry(Track):
    """Each step costs more than the one before it."""

    def pay(self, _: Step) -> float:
        return -0.1 * self.ticks


class UnseededNoise(Track):
    """A random reward that no seed makes repeatable."""

    def begin(self) -> None:
        self.own = np.random.default_rng()

    def pay(self, _: Step) -> float:
        return float(self.own.random())


class Windy(Track):
    """Markov, with a random push in each step: pays for the state that is entered."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.velocity += float(self.np_random.normal(0, 0.01))
        return super().step(action)


class Locked(Track):
    """Cannot be taken apart: its position is in something that nobody can copy."""

    class Vault:
        def __init__(self) -> None:
            self.position = 0.0

        def __deepcopy__(self, memo: object) -> Any:
            raise TypeError("a handle of the simulator")

    def __init__(self) -> None:
        self.vault = self.Vault()
        super().__init__()

    def hit(self) -> None:
        """It bounces: nothing comes back."""
        self.position, self.velocity = 2 * float(np.sign(self.position)) - self.position, -self.velocity

    @property
    def position(self) -> float:
        return self.vault.position

    @position.setter
    def position(self, value: float) -> None:
        self.vault.position = value


class PaidOnce(gym.Wrapper[Any, Any, Any, Any]):
    """MountainCar that pays once for the goal, if it was left of -0.9 before."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.been = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.been = False
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = super().step(action)
        self.been = self.been or observation[0] < -0.9
        return observation, float(terminated and self.been), terminated, truncated, info


class Memory(gym.Wrapper[Any, Any, Any, Any]):
    """Adds to a reward what only a memory knows: the clock, the first high last number, or the action before."""

    def __init__(self, env: gym.Env[Any, Any], rule: str) -> None:
        super().__init__(env)
        self.rule = rule

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.ticks, self.high, self.before = 0, False, None
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        high = bool(observation[-1] > 0.3)
        before = action if self.before is None else self.before
        extra = {
            "clock": -0.01 * self.ticks,
            "first": float(high and not self.high),
            "action before": -float(np.sum(np.square(np.subtract(action, before)))),
        }[self.rule]
        self.ticks, self.high, self.before = self.ticks + 1, self.high or high, action
        return observation, float(reward) + extra, terminated, truncated, info
