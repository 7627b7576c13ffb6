"""Where a learned machine and the true one agree: states matched by running both, triggers compared by label."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markovize.episodes.values import Value, key_of
from markovize.machine.machine import Emission, RewardMachine, Trigger


@dataclass(frozen=True)
class Contradiction:
    """A reward that the learned machine promises and the true one does not pay."""

    emission: Emission
    true_reward: float


@dataclass(frozen=True)
class Match:
    """What two machines have in common; triggers are given by their number in their own machine.

    ``states`` are (learned, true) pairs, ``same`` (learned, true) pairs of triggers, ``extra`` learned triggers that
    the true machine does not have, ``missing`` true ones that were not learned.
    """

    states: tuple[tuple[int, int], ...]
    same: tuple[tuple[int, int], ...]
    extra: tuple[int, ...]
    missing: tuple[int, ...]
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not (self.extra or self.missing or self.contradictions)


def match(learned: RewardMachine, true: RewardMachine, walks: Iterable[Sequence[Value]] = ()) -> Match:
    """Matches states from the start along equal triggers, then those that occur together on the walks.

    A learned trigger is the true one if it leads between matched states on the true label, or if the true label is
    among its alternatives: then the data could not tell the two apart. ``walks`` are trigger labels of episodes.

    >>> from markovize.machine.machine import Trigger
    >>> true = RewardMachine("state", "state", 3, (Trigger(0, "a", 1), Trigger(1, "b", 2)))
    >>> learned = RewardMachine("state", "state", 3, (Trigger(0, "x", 2, ("a",)), Trigger(2, "c", 1)))
    >>> found = match(learned, true, [["a", "x", "b", "c"]])
    >>> found.states, found.same, found.extra, found.missing
    (((0, 0), (1, 2), (2, 1)), ((0, 0),), (1,), (1,))
    """
    search = _Search(learned, true)
    if learned.trigger_on == true.trigger_on:
        search.follow(learned.initial, true.initial)
        if learned.features == true.features:  # else one machine's labels mean nothing to the other
            search.meet(walks)
    same = tuple(sorted(search.same.items()))
    return Match(
        tuple(sorted(search.states.items())),
        same,
        tuple(n for n in range(len(learned.triggers)) if n not in search.same),
        tuple(n for n in range(len(true.triggers)) if n not in search.same.values()),
        tuple(_contradictions(learned, true, search.states)),
    )


class _Search:
    """The states and triggers matched so far, one to one."""

    def __init__(self, learned: RewardMachine, true: RewardMachine) -> None:
        self.learned, self.true = learned, true
        self.states: dict[int, int] = {}
        self.same: dict[int, int] = {}

    def follow(self, u: int, v: int) -> None:
        """Matches a pair of states, and all that equal triggers lead to from there."""
        self.states[u] = v
        waiting = deque([(u, v)])
        while waiting:
            u, v = waiting.popleft()
            for number, trigger in enumerate(self.true.triggers):
                if trigger.source != v or number in self.same.values():
                    continue
                found = self._learned_as(u, trigger)
                if found is None:
                    continue
                target = self.learned.triggers[found].target
                if target not in self.states:
                    self.states[target] = trigger.target
                    waiting.append((target, trigger.target))
                self.same[found] = number

    def meet(self, walks: Iterable[Sequence[Value]]) -> None:
        """Matches states that are left over, if both machines are in them at the same time."""
        together: Counter[tuple[int, int]] = Counter()
        for walk in walks:
            u, v = self.learned.initial, self.true.initial
            for label in walk:
                u, v = self.learned.step(u, label), self.true.step(v, label)
                together[u, v] += 1
        for (u, v), _ in sorted(together.items(), key=lambda item: (-item[1], item[0])):
            if u not in self.states and v not in self.states.values():
                self.follow(u, v)

    def _learned_as(self, u: int, true: Trigger) -> int | None:
        """The learned trigger from this state that is the true one: by its label, or by an alternative."""
        wanted = key_of(true.on)
        fitting = [
            number
            for number, trigger in enumerate(self.learned.triggers)
            if trigger.source == u and number not in self.same and self._may_match(trigger.target, true.target)
        ]
        for number in fitting:
            if key_of(self.learned.triggers[number].on) == wanted:
                return number
        for number in fitting:
            if any(key_of(label) == wanted for label in self.learned.triggers[number].alternatives):
                return number
        return None

    def _may_match(self, u: int, v: int) -> bool:
        return self.states[u] == v if u in self.states else v not in self.states.values()


def _contradictions(learned: RewardMachine, true: RewardMachine, states: dict[int, int]) -> Iterable[Contradiction]:
    if learned.reward_on != true.reward_on or learned.reward_guards != true.reward_guards:
        return
    for emission in learned.rewards:
        if emission.source in states and emission.target in states:
            paid = true.reward(states[emission.source], emission.on, states[emission.target])
            if paid is not None and paid != emission.reward:
                yield Contradiction(emission, paid)
