"""A small world, and rewards with the defects that real environments had."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIZE, GOAL, KEY = 5, 4, 0


class Step(NamedTuple):
    """What a reward may look at."""

    before: int
    action: int
    after: int


class Corridor(gym.Env[Any, Any]):
    """Cells 0 to 4, start in the middle; 0 goes left, 1 right. Pays 1 for entering cell 4; ends after 12 steps."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = spaces.Discrete(SIZE), spaces.Discrete(2)
        self.cell, self.clock = 2, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.cell, self.clock = 2, 0
        self.begin()
        return self.cell, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        before = self.cell
        self.cell = min(SIZE - 1, max(0, before + (1 if action else -1)))
        self.clock += 1
        return self.cell, self.pay(Step(before, int(action), self.cell)), False, self.clock >= 12, {}

    def begin(self) -> None:
        """What the reward does at a reset."""

    def pay(self, step: Step) -> float:
        return float(step.after == GOAL)


class LateByOneState(Corridor):
    """As in D4RL's maze2d (issue 194) and Gymnasium's Reacher (821): pays for the state that was left."""

    def pay(self, step: Step) -> float:
        return float(step.before == GOAL)


class LateByOneStep(Corridor):
    """Pays what the step before should have paid."""

    def begin(self) -> None:
        self.due = 0.0

    def pay(self, step: Step) -> float:
        paid, self.due = self.due, float(step.after == GOAL and step.action == 1 and step.before != GOAL)
        return paid


class TasksLeak(Corridor):
    """As in Gymnasium-Robotics (issue 166): a task once done is not restored by reset()."""

    def __init__(self) -> None:
        super().__init__()
        self.open_tasks = {GOAL, KEY}

    def pay(self, step: Step) -> float:
        done = step.after in self.open_tasks
        self.open_tasks.discard(step.after)
        return float(done)


class StepCount(Corridor):
    """As in MiniGrid (issue 149): a goal is worth less the later it is reached."""

    def pay(self, step: Step) -> float:
        return 1 - 0.9 * self.clock / 12 if step.after == GOAL else 0.0


class FirstUnlock(Corridor):
    """As in crafter: what is done for the first time in an episode pays a bonus."""

    def begin(self) -> None:
        self.done: set[int] = set()

    def pay(self, step: Step) -> float:
        new = step.after in (GOAL, KEY) and step.after not in self.done
        self.done.add(step.after)
        return float(new)


class KeyFirst(Corridor):
    """The goal pays only after the key."""

    def begin(self) -> None:
        self.key = False

    def pay(self, step: Step) -> float:
        self.key = self.key or step.after == KEY
        return float(step.after == GOAL and self.key)


class SeededNoise(Corridor):
    """A random reward, as reset(seed=…) has it."""

    def pay(self, step: Step) -> float:
        return float(step.after == GOAL and self.np_random.random() < 0.5)


class DrawnAtReset(Corridor):
    """The goal is worth something that is drawn at the reset and never shown."""

    def begin(self) -> None:
        self.worth = float(self.np_random.integers(2))

    def pay(self, step: Step) -> float:
        return self.worth * (step.after == GOAL)


class UnseededNoise(Corridor):
    """A random reward that no seed makes repeatable."""

    def begin(self) -> None:
        self.own = np.random.default_rng()

    def pay(self, _: Step) -> float:
        return float(self.own.random())


class Rounding(Corridor):
    """Markov, but for the last bits: the same sum, taken in another order."""

    def begin(self) -> None:
        self.parity = 0

    def pay(self, step: Step) -> float:
        self.parity ^= 1
        return (0.1 + 0.2) + 0.3 * step.after if self.parity else 0.1 + (0.2 + 0.3 * step.after)
