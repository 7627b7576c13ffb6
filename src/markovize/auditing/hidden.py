"""What the observation hides of the state, and whether the reward depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from markovize.auditing.places import Place, Stage
from markovize.auditing.snapshots import Floats, Snapshot

PLACES: Final = 6  # at which each number of the state is changed, to see whether it shows
MOST_NUMBERS: Final = 100
CLOSE: Final = 1e-6  # relative; a shift changes the rounding of all that is computed from it
NAMED: Final = 6


def describe_hidden(stage: Stage, places: Sequence[Place]) -> str:
    """A sentence, or nothing where all is shown, or where observations are not one array of numbers."""
    from gymnasium import spaces

    if not isinstance(stage.env.observation_space, spaces.Box) or len(places[0].now.vector) > MOST_NUMBERS:
        return ""
    hidden, felt = find_hidden(stage, places)
    if not hidden:
        return ""
    names = ", ".join(hidden[:NAMED]) + (f" and {len(hidden) - NAMED} more" if len(hidden) > NAMED else "")
    if felt:
        return f"The observation hides {names} of the state; the reward depends on {', '.join(felt[:NAMED])}."
    return (
        f"The observation hides {names} of the state: shifting it changes no reward, "
        "so the reward can depend on it by its change in a step only."
    )


def find_hidden(stage: Stage, places: Sequence[Place]) -> tuple[list[str], list[str]]:
    """The numbers of the state that observations never show, and those of them that change rewards."""
    names = places[0].now.names
    shown, felt = set[str](), set[str]()
    alike = [place for place in places if place.now.names == names]  # a memory may be nothing at first, a number later
    for place in alike[:PLACES]:
        plain = _look(stage, place.now, place.last)
        for n, name in enumerate(names):
            vector = place.now.vector.copy()
            vector[n] += 1 / 8 + abs(vector[n]) / 8
            moved = _look(stage, place.now.moved(vector), place.last)
            if plain is None or moved is None or not _close(plain[0], moved[0]):
                shown.add(name)
            elif abs(plain[1] - moved[1]) > CLOSE * stage.scale.largest:
                felt.add(name)
    hidden = [name for name in names if name not in shown]
    return hidden, [name for name in hidden if name in felt]


def _look(stage: Stage, state: Snapshot, action: Any) -> tuple[Floats, float] | None:
    """The observation and the reward after one step from a state; None for states that the simulator does not take."""
    try:
        stage.env.reset(seed=stage.seed)
        state.put(stage.env)
        stage.env.unwrapped.np_random = np.random.default_rng(0)
        observation, reward, _, _, _ = stage.env.step(action)
    except Exception:  # other people's simulators raise anything
        return None
    stage.steps += 1
    return np.ravel(np.asarray(observation, np.float64)), float(reward)


def _close(one: Floats, two: Floats) -> bool:
    return one.shape == two.shape and bool(np.allclose(one, two, rtol=CLOSE, atol=CLOSE))
