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
class OnSecond(Counted):
    """Only the second of these events in an episode pays."""

    n: int = 3

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        happened = self.event(before, action, after)
        self.count += happened
        return native + self.bonus * (happened and self.count == 2)


@dataclass
class Places(Memory):
    """Pays the number of different observations so far."""

    def begin(self, observation: Any) -> None:
        self.seen = {str(observation)}

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:  # noqa: ARG002 - only where
        self.seen.add(str(after))
        return float(len(self.seen))


@dataclass
class IfEven(Memory):
    """The goal pays if a switch was toggled an even number of times."""

    toggle: Event
    goal: Event
    states: int | None = 2

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.odd = False

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:  # noqa: ARG002 - its own reward
        self.odd ^= self.toggle(before, action, after)
        return float(self.goal(before, action, after) and not self.odd)


@dataclass
class FirstTriple(Memory):
    """A bonus once an episode, for the first action that is taken three times in a row."""

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.last, self.count, self.done = None, 0, False

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:  # noqa: ARG002 - only what is done
        self.count = self.count + 1 if action == self.last else 1
        self.last = action
        new = self.count == 3 and not self.done
        self.done = self.done or new
        return native + new


@dataclass
class AsTwoBefore(Memory):
    """A penalty for the action of two steps before."""

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.actions: list[int] = []

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:  # noqa: ARG002 - only what is done
        self.actions.append(int(action))
        return native - 0.5 * (self.actions[-3:-2] == [int(action)])


@dataclass
class Fading(Memory):
    """An event pays less each time."""

    event: Event

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.count = 0

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:
        happened = self.event(before, action, after)
        self.count += happened
        return native + (1 / self.count if happened else 0.0)


@dataclass
class Record(Memory):
    """Pays by how much the best coordinate so far is beaten."""

    number: int

    def begin(self, observation: Any) -> None:
        self.best = float(observation[self.number])

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:  # noqa: ARG002 - its own reward
        here = float(after[self.number])
        gain, self.best = max(0.0, here - self.best), max(self.best, here)
        return gain


@dataclass
class AtPrimes(Memory):
    """No memory but a clock that follows no line: an event pays at steps whose number is prime."""

    event: Event

    def begin(self, observation: Any) -> None:  # noqa: ARG002 - any start
        self.step = 0

    def pay(self, before: Any, action: Any, after: Any, native: float) -> float:  # noqa: ARG002 - its own reward
        self.step += 1
        prime = self.step > 1 and all(self.step % n for n in range(2, int(self.step**0.5) + 1))
        return float(prime and self.event(before, action, after))


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
