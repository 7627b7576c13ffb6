"""Histories to plant into other people's environments: rewards that remember, each in its own way.

    env = Planted(gymnasium.make("CliffWalking-v1"), EveryNth(at=24, n=3))

A memory looks at (before, action, after) of each step, as the environment shows them, and at nothing else. It forgets
everything at a reset.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import gymnasium

Event: TypeAlias = Callable[[Any, Any, Any], bool]  # of (before, action, after)


class Memory(ABC):
    """A reward that remembers; ``states`` is the size of the smallest machine, if it is a small one."""

    states: int | None = None

    @abstractmethod
    def begin(self, observation: Any) -> None:
        """A new episode."""

    @abstractmethod
    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        """What the step earns, in place of the environment's own reward."""


class Planted(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that pays what a memory says."""

    def __init__(self, env: gymnasium.Env[Any, Any], memory: Memory) -> None:
        super().__init__(env)
        self.memory = memory

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self.memory.begin(observation)
        self._before = observation
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        after, native, terminated, truncated, info = self.env.step(action)
        reward = self.memory.pay(self._before, action, after, float(native))
        self._before = after
        return after, reward, terminated, truncated, info


@dataclass
class Then(Memory):
    """Two stages: B pays, each time, once A has happened."""

    a: Event
    b: Event
    bonus: float = 1.0
    states: int | None = 2

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.ready = False

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        paid = native + self.bonus * (self.ready and self.b(before, action, after))
        self.ready = self.ready or self.a(before, action, after)
        return paid


@dataclass
class InOrder(Memory):
    """The order of two places: B pays if A came before any other B; else never."""

    a: Event
    b: Event
    bonus: float = 1.0
    states: int | None = 3

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.first = ""

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        paid = native + self.bonus * (self.first == "a" and self.b(before, action, after))
        if not self.first:
            self.first = "a" if self.a(before, action, after) else "b" if self.b(before, action, after) else ""
        return paid


@dataclass
class Counted(Memory, ABC):
    """A reward that counts events up to n."""

    event: Event
    n: int
    bonus: float = 1.0

    def __post_init__(self) -> None:
        self.states = self.n

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.count = 0


class EveryNth(Counted):
    """Every n-th event pays; with n = 2, parity."""

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        if not self.event(before, action, after):
            return native
        self.count += 1
        return native + self.bonus * (self.count % self.n == 0)


@dataclass
class FirstVisits(Memory):
    """A bonus for each of these events, the first time it happens; with one of them, a bonus once an episode."""

    events: tuple[Event, ...]
    bonus: float = 1.0

    def __post_init__(self) -> None:
        self.states = 2 ** len(self.events)

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.done: set[int] = set()

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        new = {n for n, event in enumerate(self.events) if event(before, action, after)} - self.done
        self.done |= new
        return native + self.bonus * len(new)


@dataclass
class ByStart(Memory):
    """Memory of the start: an event pays only in episodes that began in a certain way."""

    start: Callable[[Any], bool]
    event: Event
    bonus: float = 1.0
    states: int | None = 2

    def begin(self, observation: Any) -> None:
        self.lucky = self.start(observation)

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        return native + self.bonus * (self.lucky and self.event(before, action, after))


@dataclass
class Late(Memory):
    """What a step earned is paid some steps later."""

    steps: int
    states: int | None = None
    due: list[float] = field(default_factory=list)

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.due = [0.0] * self.steps

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:  # noqa: ARG002 - only when
        self.due.append(native)
        return self.due.pop(0)


class InARow(Counted):
    """So many events in a row pay."""

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        self.count = self.count + 1 if self.event(before, action, after) else 0
        return native + self.bonus * (self.count >= self.n)


@dataclass
class Alone(Memory):
    """A memory in place of the environment's own reward, which is set to 0."""

    memory: Memory

    def __post_init__(self) -> None:
        self.states = self.memory.states

    def begin(self, observation: Any) -> None:
        self.memory.begin(observation)

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:  # noqa: ARG002 - that is the point
        return self.memory.pay(before, action, after, 0.0)
