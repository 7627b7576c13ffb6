"""What of a step determines its reward: s', (s, a), or all of it?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from markovize.auditing.logbook import TRANSITION
from markovize.auditing.places import Place, Stage
from markovize.auditing.predecessors import differ, other_ways, step_script
from markovize.auditing.restorers import Restorer
from markovize.auditing.scripts import Act, Reseed, Restore, Script
from markovize.auditing.snapshots import Floats

FORKS: Final = 4
LOOKED_AT: Final = 24  # places
BORDERS, HALVINGS = 16, 14  # a border is found to within 1/16,000 of the way between two places
LEAST_WAYS: Final = 6  # other ways into states, before s' is said to be enough


@dataclass(frozen=True)
class Base:
    """The parts of a step that are enough, and whether the state that is left is enough by itself."""

    parts: tuple[str, ...]
    late: bool = False


def find_base(stage: Stage, restorer: Restorer, places: Sequence[Place], until: float, *, caches: bool) -> Base:
    """The smallest that is enough, as far as states can be entered in two ways; ``caches``: the reward looks back."""
    rewards = [place.direct.reward for place in places]
    if all(stage.scale.same(reward, rewards[0]) for reward in rewards):
        return Base(())
    some = places[:LOOKED_AT]
    if not caches and _next_state_is_enough(stage, restorer, [*_borders(stage, places), *some], until):
        return Base(("next_state",))
    if _chance_matters(stage, some):
        return Base(TRANSITION)
    return Base(("state", "action"), late=not caches and not _action_matters(stage, some))


def find_base_after(stage: Stage, restorer: Restorer, places: Sequence[Place], until: float, before: Script) -> Base:
    """The same after a history, for rewards that pay only then."""
    stage.prefix = before
    again = [(place, stage.play((*before, *place.direct_block))) for place in places]
    return find_base(stage, restorer, [replace(place, direct=steps[-1]) for place, steps in again], until, caches=False)


def _borders(stage: Stage, places: Sequence[Place]) -> Iterator[Place]:
    """Places between which the reward jumps, so close that hardly anything but the cause of the jump can differ."""
    if not places[0].now.free:
        return
    for _ in range(BORDERS):
        one, two = (places[int(n)] for n in stage.rng.integers(len(places), size=2))
        ends = [place.now.vector for place in (one, two)]
        if stage.scale.same(one.direct.reward, two.direct.reward) or len(ends[0]) != len(ends[1]):
            continue
        sides = [_placed(stage, one, end) for end in ends]
        if sides[0] is None or sides[1] is None or stage.scale.same(sides[0].direct.reward, sides[1].direct.reward):
            continue
        for _ in range(HALVINGS):
            middle = (ends[0] + ends[1]) / 2
            place = _placed(stage, one, middle)
            if place is None:
                break
            side = 0 if stage.scale.same(place.direct.reward, sides[0].direct.reward) else 1
            ends[side], sides[side] = middle, place
        yield from (side for side in sides if side is not None)


def _placed(stage: Stage, place: Place, vector: Floats) -> Place | None:
    """The place with other numbers in its state."""
    now = place.now.moved(vector)
    try:
        steps = stage.play(step_script(stage, now, [place.last]))
    except Exception:  # a state that the simulator does not take
        return None
    return replace(place, now=now, direct=steps[-1]) if steps else None


def _next_state_is_enough(stage: Stage, restorer: Restorer, places: Sequence[Place], until: float) -> bool:
    ways = 0
    for place in places:
        for way in other_ways(stage, restorer, place.now, place.last):
            step = stage.play(step_script(stage, way.start, [way.action]), see=False)[-1]
            if differ(stage, step.reward, place.direct.reward):
                return False
            ways += 1
        if time.monotonic() > until:
            break
    return ways >= LEAST_WAYS


def _chance_matters(stage: Stage, places: Sequence[Place]) -> bool:
    """Whether the same (s, a) leads to several s', which pay differently."""
    for place in places:
        for fork in range(1, FORKS):
            step = stage.play((*stage.prefix, Restore(place.now), Reseed(fork), Act(place.last)))[-1]
            if step.after != place.direct.after and not stage.scale.same(step.reward, place.direct.reward):
                return True
    return False


def _action_matters(stage: Stage, places: Sequence[Place]) -> bool:
    """Whether other actions, or where they lead, ever change what is paid."""
    for place in places:
        for action in stage.palette[:FORKS]:
            step = stage.play(step_script(stage, place.now, [action]))[-1]
            if not stage.scale.same(step.reward, place.direct.reward):
                return True
    return False
