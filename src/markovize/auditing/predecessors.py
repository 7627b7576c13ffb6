"""Other ways into the same state: which state leads, by another action, to where this one led?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from markovize.auditing.labels import label_of
from markovize.auditing.places import Place, Stage
from markovize.auditing.restorers import Restorer
from markovize.auditing.scripts import Act, Reseed, Reset, Restore, Script
from markovize.auditing.snapshots import Floats, Snapshot

MOST_NUMBERS: Final = 60  # in a state; more are not solved for
CLOSE: Final = 1e-9  # relative: two states that count as one
EVALUATIONS: Final = 10  # for each number, in a search
NEAR: Final = 0.1  # of the way from one continuous action to another: near enough for a solution to be near
FEW: Final = 6  # numbers, for which any action will do
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

    for far in (others[int(n)] for n in order):
        b = _near(action, far) if size > FEW else far

        def miss(x: Floats, b: Any = b) -> Floats:
            there = _step(stage, restorer, start.moved(x), b)
            if there is None or len(there) != size:
                raise _NoWayError
            return there - goal

        try:
            found = root(miss, start.vector, method="hybr", options={"xtol": 1e-13, "maxfev": 100 + EVALUATIONS * size})
            x = np.asarray(found.x, np.float64)
            if not (np.isfinite(x).all() and np.abs(miss(x)).max() <= CLOSE * (1 + np.abs(goal).max())):
                continue
        except Exception:  # no way from here, or a state that the simulator does not take
            continue
        yield OtherWay(start.moved(x), b)


def _near(action: Any, far: Any) -> Any:
    """An action between two, where there is such a thing."""
    if isinstance(action, np.ndarray) and action.dtype.kind == "f":
        return (action + NEAR * (np.asarray(far) - action)).astype(action.dtype)
    return far


class _NoWayError(Exception):
    """The episode is over before the state is reached."""


def _step(stage: Stage, restorer: Restorer, start: Snapshot, action: Any) -> Floats | None:
    steps = stage.play((Reset(stage.seed), Restore(start), Reseed(0), Act(action)), see=False)
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


def find_lag(
    stage: Stage, restorer: Restorer, places: Sequence[Place], until: float
) -> tuple[int, tuple[Script, Script] | None]:
    """How many other ways were tried, and two into the same state after which the same step pays differently."""
    ways = 0
    for place in places:
        for way in other_ways(stage, restorer, place.early, place.first):
            one = step_script(stage, place.early, [place.first, place.last])
            two = step_script(stage, way.start, [way.action, place.last])
            ways += 1
            first, second = stage.play(one), stage.play(two, see=False)
            if len(first) == len(second) == 2 and differ(stage, first[-1].reward, second[-1].reward):
                return ways, (one, two)
        if time.monotonic() > until:
            break
    return ways, None
