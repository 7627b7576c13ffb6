"""Machines with guards for tests: one on categorical features, one on numbers, random ones, and a plain replay."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markovize import Emission, Feature, Guard, Literal, RewardMachine, Traces, Trigger

VALUES: Final = (True, 1, "a", "b")


def here(place: str) -> Guard:
    return Guard([Literal("here", "is", place)])


def box(x: tuple[float, float], y: tuple[float, float]) -> Guard:
    return Guard([*between("x", *x), *between("y", *y)])


def between(name: str, low: float, high: float) -> list[Literal]:
    return [
        Literal(name, "at_least", low, (low - 0.02, low + 0.03)),
        Literal(name, "below", high, (high - 0.03, high + 0.01)),
    ]


COFFEE: Final = RewardMachine(
    "guards",
    "guards",
    2,
    (Trigger(0, here("coffee"), 1),),
    (
        Emission(0, (False, False), 0, 0.0),
        Emission(0, (True, False), 0, 0.0),
        Emission(0, (False, False), 1, 0.0),
        Emission(1, (False, False), 1, 0.0),
        Emission(1, (True, False), 1, 1.0, True),
        Emission(0, (False, True), 0, -1.0, True),
        Emission(1, (False, True), 1, -1.0, True),
    ),
    features=(Feature("here", "categorical"), Feature("x", "numeric")),
    reward_guards=(here("office"), here("plant")),
)
BOXES: Final = RewardMachine(
    "guards",
    "guards",
    2,
    (Trigger(0, box((1.0043, 3.0021), (7.0, 9.0)), 1),),
    (
        Emission(0, (False,), 0, 0.0),
        Emission(0, (True,), 0, 0.0),
        Emission(0, (False,), 1, 0.0),
        Emission(1, (False,), 1, 0.0),
        Emission(1, (True,), 1, 1.0, True),
    ),
    features=(Feature("x", "numeric"), Feature("y", "numeric")),
    reward_guards=(box((7.0, 9.0), (1.0, 3.0)),),
)


def seen(place: str, x: float = 0.5) -> dict[str, Any]:
    return {"here": place, "x": x}


OFFICE_WALKS: Final = Traces.of(
    [
        ([seen("hall"), seen("coffee"), seen("hall", 0.7), seen("office")], [0, 1, 0], [0, 0, 1], True),
        ([seen("hall"), seen("hall"), seen("office"), seen("plant")], [0, 1, 0], [0, 0, -1], True),
    ]
)


def random_guard(rng: random.Random) -> Guard:
    literals = []
    if rng.random() < 0.6:
        low = rng.choice((0.0, 0.25, 0.5))
        literals += [Literal("x", "at_least", low)] if rng.random() < 0.7 else []
        literals += [Literal("x", "below", low + 0.5)] if rng.random() < 0.7 else []
    for name in ("colour", "before.colour", "action"):
        if rng.random() < 0.4:
            literals.append(Literal(name, "is", rng.choice(VALUES)))
    return Guard(literals)


def random_machine(rng: random.Random) -> RewardMachine:
    """Guards of all kinds, also empty ones and several that hold at once."""
    states = rng.randint(1, 4)
    triggers: dict[tuple[int, Guard], Trigger] = {}
    for _ in range(rng.randint(0, 6) if states > 1 else 0):
        source, target = rng.sample(range(states), 2)
        guard = random_guard(rng)
        triggers.setdefault((source, guard), Trigger(source, guard, target))
    guards = tuple(random_guard(rng) for _ in range(rng.randint(0, 3)))
    rewards: dict[Any, Emission] = {}
    for _ in range(rng.randint(0, 12)):
        u, v = rng.randrange(states), rng.randrange(states)
        valuation = tuple(rng.random() < 0.5 for _ in guards)
        rewards[u, valuation, v] = Emission(u, valuation, v, rng.choice((0.0, -0.5, 1.0)), rng.random() < 0.3)
    kinds = (("x", "numeric"), ("colour", "categorical"), ("before.colour", "categorical"), ("action", "categorical"))
    features = tuple(Feature(name, kind) for name, kind in kinds)  # type: ignore[arg-type]
    return RewardMachine(
        "guards",
        "guards",
        states,
        tuple(triggers.values()),
        tuple(rewards.values()),
        rng.randrange(states),
        features,
        guards,
    )


def random_walks(rng: random.Random, episodes: int = 4, steps: int = 8) -> Traces:
    walks = []
    for _ in range(episodes):
        many = rng.randint(0, steps)
        observations = [
            {"x": rng.choice((0, 0.25, 0.4, 0.5, 0.9)), "colour": rng.choice(VALUES)} for _ in range(many + 1)
        ]
        actions = [rng.choice(VALUES) for _ in range(many)]
        walks.append((observations, actions, [rng.choice((0.0, 1.0)) for _ in range(many)], rng.random() < 0.5))
    return Traces.of(walks)


def features_of(step: Sequence[Any]) -> dict[str, Any]:
    """The features of a step (s, a, s') of these walks, by hand."""
    before, action, after = step
    return {"x": after["x"], "colour": after["colour"], "before.colour": before["colour"], "action": action}


def plain_step(machine: RewardMachine, state: int, features: Mapping[str, Any]) -> tuple[int, tuple[bool, ...]]:
    """The state after a step, and which reward guards hold: the semantics as the contract has it, and no more."""
    after = state
    for trigger in machine.triggers:
        if trigger.source == state and all(plain_literal(literal, features) for literal in trigger.on):  # type: ignore[union-attr]
            after = trigger.target
            break
    return after, tuple(all(plain_literal(literal, features) for literal in guard) for guard in machine.reward_guards)


def plain_literal(literal: Any, features: Mapping[str, Any]) -> bool:
    value = features[literal.feature]
    if literal.relation == "at_least":
        return bool(value >= literal.value)
    if literal.relation == "below":
        return bool(value < literal.value)
    return bool(value == literal.value and isinstance(value, bool) == isinstance(literal.value, bool))
