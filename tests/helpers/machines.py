"""Machines that several tests look at."""

from __future__ import annotations

from hypothesis import strategies as st

from markovize.episodes.values import Value
from markovize.machine.machine import Emission, RewardMachine, Trigger, sorted_emissions, sorted_triggers

QUIET = tuple(Emission(u, (99, n), u, 0.0) for u in range(4) for n in range(3))
CHAIN = RewardMachine(
    "state",
    "state",
    4,
    (Trigger(0, (1, 1), 1, ((1, 2), (2, 1))), Trigger(1, (10, 1), 2), Trigger(2, (10, 7), 3)),
    sorted_emissions(
        (*QUIET, Emission(0, (1, 1), 1, 0.0), Emission(1, (10, 1), 2, 0.25), Emission(3, (1, 7), 3, 1.0, True))
    ),
)
CYCLE = RewardMachine("function", "function", 2, (Trigger(0, "a", 1), Trigger(1, "b", 0)), (Emission(1, "b", 0, 1.0),))
LABEL_KINDS = ("state", "transition", "function")
LABELS: tuple[Value, ...] = (0, 1.5, True, "door", "7", "true", "a b", 'q"', "back\\slash", "", (1, 1), ("x", (2,)), ())


@st.composite
def machines(draw: st.DrawFn, rewards: tuple[float, ...] = (0.0, 1.0, -0.5)) -> RewardMachine:
    """Any machine whose triggers and rewards are on the same label and whose rewards can be reached."""
    states = draw(st.integers(1, 5))
    triggers: list[Trigger] = []
    emissions: list[Emission] = []
    for u in range(states):
        for label in draw(st.lists(st.sampled_from(LABELS), unique_by=repr, max_size=4)):
            target = draw(st.integers(0, states - 1))
            if target != u:
                triggers.append(Trigger(u, label, target))
            if target == u or draw(st.booleans()):
                emissions.append(Emission(u, label, target, draw(st.sampled_from(rewards)), draw(st.booleans())))
    kind = draw(st.sampled_from(LABEL_KINDS))
    initial = draw(st.integers(0, states - 1))
    return RewardMachine(kind, kind, states, sorted_triggers(triggers), sorted_emissions(emissions), initial)
