"""Trails: the states of an episode that paid something rare, restored one after the other, up to the step that paid.

Tours meet places in any order. What is paid only after a certain place, itself rare, may never come up on them; on the
way of an episode that was paid, it does.
"""

from __future__ import annotations

import time
from typing import Final

from markovize.auditing.logbook import Logbook, LoggedEpisode
from markovize.auditing.places import Place, Stage, extreme_steps, rare_steps, try_place
from markovize.auditing.restorers import Restorer
from markovize.auditing.tours import ENOUGH, Scan, visit

LONGEST: Final = 100  # places on a trail: the last ones


def follow_trails(stage: Stage, restorer: Restorer, logbook: Logbook, until: float) -> Scan:
    """What came of the trails to the rare rewards of earlier walks; where none is rare, to the largest and smallest."""
    out = Scan()
    for episode, number in list(rare_steps(logbook)) or extreme_steps(logbook):
        if time.monotonic() > until or len(out.mismatches) >= ENOUGH:
            break
        visit(stage, _trail(stage, restorer, episode, number), out)
    return out


def _trail(stage: Stage, restorer: Restorer, episode: LoggedEpisode, number: int) -> list[Place]:
    """A place for every two steps of the episode, the last two of them those that led to the reward."""
    stage.env.reset(seed=episode.seed)
    states = []
    for action in episode.actions[:number]:
        states.append(restorer.save(stage.env))
        _, _, terminated, truncated, _ = stage.env.step(action)
        if terminated or truncated:  # not the episode that it was
            return []
    stage.steps += number
    starts = range((number + 1) % 2, number, 2)[-LONGEST:]
    places = (try_place(stage, restorer, states[n], *episode.actions[n : n + 2]) for n in starts)
    return [place for place in places if place is not None and not place.seen.ended]
