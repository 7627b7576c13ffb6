"""Makes a candidate that explains the data smaller and more readable, by replay alone: no solver is asked."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from markovize.learning.guards.candidate import Bound, Candidate
from markovize.learning.guards.judge import AnyJudge
from markovize.learning.limits import Limits, Stop


def drop_literals(candidate: Candidate, judge: AnyJudge[Any], limits: Limits) -> Candidate:
    """Without the literals that it can do without, tried one after the other, and without guards of no effect.

    Where time is up, with those that were not tried: it explains the data all the same.
    """
    candidate = judge.prune(candidate)
    with contextlib.suppress(Stop):
        for row in range(len(candidate.boxes)):
            for bound in candidate.boxes[row]:
                limits.check()
                boxes = list(candidate.boxes)
                boxes[row] = tuple(other for other in boxes[row] if other != bound)
                smaller = candidate.with_boxes(boxes)
                if judge.explains(smaller):
                    candidate = smaller
    return judge.prune(candidate)


def turn_rewards(candidate: Candidate, judge: AnyJudge[Any]) -> Candidate:
    """Reward guards of one threshold hold on the side with fewer steps: what is rare is what is paid, as a rule.

    The other side tells as much, with as many literals; only which valuation is called what changes.
    """
    rewards = []
    for box in candidate.reward_boxes:
        if len(box) == 1 and box[0].side != "is" and 2 * np.count_nonzero(judge.holds(box)) > judge.problem.steps:
            box = (box[0]._replace(side="below" if box[0].side == "at_least" else "at_least"),)
        rewards.append(box)
    return Candidate(candidate.moves, tuple(rewards))


@dataclass(frozen=True)
class Room:
    """Which codes a bound may have, with all other bounds as they are: each of them explains the data."""

    low: int
    high: int


def centre_bounds(candidate: Candidate, judge: AnyJudge[Any], limits: Limits) -> Candidate:
    """Each threshold in the middle of the room that the data leave it; not where its value has no order."""
    for row in range(len(candidate.boxes)):
        for place, bound in enumerate(candidate.boxes[row]):
            if bound.side == "is":
                continue
            limits.check()
            low, high = judge.room(candidate, row, bound)
            boxes = list(candidate.boxes)
            changed = bound._replace(code=_middle(judge, bound, low, high))
            boxes[row] = (*boxes[row][:place], changed, *boxes[row][place + 1 :])
            candidate = candidate.with_boxes(boxes)
    return candidate


def find_rooms(candidate: Candidate, judge: AnyJudge[Any], limits: Limits) -> dict[tuple[int, Bound], Room]:
    """The room of each threshold, by guard and bound."""
    rooms: dict[tuple[int, Bound], Room] = {}
    for row, box in enumerate(candidate.boxes):
        for bound in box:
            if bound.side != "is":
                limits.check()
                rooms[row, bound] = Room(*judge.room(candidate, row, bound))
    return rooms


def _middle(judge: AnyJudge[Any], bound: Bound, low: int, high: int) -> int:
    """The code whose threshold is next to the middle of the values, which may lie far from the middle of the codes."""
    values = judge.problem.ranked[bound.feature]
    if low == 0 or high == len(values):
        return bound.code
    middle = values[low - 1] + (values[high] - values[low - 1]) / 2
    return int(min(max(values.searchsorted(middle), low), high))
