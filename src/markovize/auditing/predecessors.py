"""Other ways into the same state: which state leads, by another action, to where this one led?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from markovize.auditing.labels import label_of
from markovize.auditing.places import Place, Stage
from markovize.auditing.restorers import Restorer
from markovize.auditing.scripts import Act, Reseed, Reset, Restore, Script
from markovize.auditing.snapshots import Floats, Snapshot

MOST_NUMBERS: Final = 12  # in a state; more are not solved for
CLOSE: Final = 1e-9  # relative: two states that count as one
EVALUATIONS: Final = 200
ACTIONS: Final = 4  # tried for each place


@dataclass(frozen=True)
class OtherWay:
    """A state from which another action leads to the same state."""

    start: Snapshot
    action: Any


def other_ways(stage: Stage, restorer: Restorer, start: Snapshot, action: Any) -> Iterator[OtherWay]:
    """Solves F(x, b) = F(start, action) for x, with other actions b; F is a step of the simulator."""
    from scipy.optimize import root

    size = len(start.vector)
    if not 0 < size <= MOST_NUMBERS:
        return
    goal = _step(stage, restorer, start, action)
    if goal is None:
        return
    known = label_of(action)
    others = [b for b in stage.palette if label_of(b) != known]
    order = stage.rng.permutation(len(others))[:ACTIONS]

    for b in (others[int(n)] for n in order):

        def miss(x: Floats, b: Any = b) -> Floats:
            there = _step(stage, restorer, start.moved(x), b)
            if there is None or len(there) != size:
                raise _NoWayError
            return there - goal

        try:
            found = root(miss, start.vector, method="hybr", options={"xtol": 1e-13, "maxfev": EVALUATIONS})
            x = np.asarray(found.x, np.float64)
            if not (np.isfinite(x).all() and np.abs(miss(x)).max() <= CLOSE * (1 + np.abs(goal).max())):
                continue
        except Exception:  # no way from here, or a state that the simulator does not take
            continue
        yield OtherWay(start.moved(x), b)


class _NoWayError(Exception):
    """The episode is over before the state is reached."""


def _step(stage: Stage, restorer: Restorer, start: Snapshot, action: Any) -> Floats | None:
    steps = stage.play((Reset(stage.seed), Restore(start), Reseed(0), Act(action)))
    return restorer.save(stage.env).vector if steps else None


def step_script(stage: Stage, start: Snapshot, actions: Sequence[Any]) -> Script:
    """Takes these actions from a restored state, with equal random numbers each time."""
    script: Script = (*stage.prefix, Restore(start))
    for action in actions:
        script += (Reseed(0), Act(action))
    return script


def differ(stage: Stage, one: float, two: float) -> bool:
    """Whether two rewards differ by more than states that are equal up to rounding can explain."""
    return abs(one - two) > max(100 * stage.scale.tolerance, 1e-5 * stage.scale.largest)


def find_lag(stage: Stage, restorer: Restorer, places: Sequence[Place]) -> tuple[Place, Script, Script] | None:
    """A place that pays something else when its state was entered from another one: the step before matters."""
    for place in places:
        for way in other_ways(stage, restorer, place.early, place.first):
            one = step_script(stage, place.early, [place.first, place.last])
            two = step_script(stage, way.start, [way.action, place.last])
            first, second = stage.play(one), stage.play(two)
            if len(first) == len(second) == 2 and differ(stage, first[-1].reward, second[-1].reward):
                return place, one, two
    return None
