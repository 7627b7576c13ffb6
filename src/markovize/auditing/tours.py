"""Tours: one place after the other is restored within an episode, so that each comes after many histories."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from markovize.auditing.places import Place, Stage
from markovize.auditing.scripts import Played, Reset, Script

TOURS: Final = 40
LEAST_TOURS: Final = 6
LENGTHS: Final = (1, 3, 8, 20, 50)  # places in a tour
ENOUGH: Final = 10  # mismatches
TWICE: Final = 12  # places that are visited twice in a row


@dataclass(frozen=True, eq=False)
class Mismatch:
    """A place that paid something else on a tour than soon after a reset."""

    place: Place
    before: tuple[Place, ...]
    reward: float
    direct: bool


@dataclass
class Scan:
    """What came of some tours."""

    comparable: int = 0
    tried: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)

    def add(self, other: Scan) -> None:
        """What came of more tours."""
        self.comparable += other.comparable
        self.tried += other.tried
        self.mismatches += other.mismatches


def tour(stage: Stage, places: Sequence[Place], *, seed: int | None = None, direct: bool = False) -> Script:
    """The script of an episode that visits these places."""
    out: Script = (Reset(stage.seed if seed is None else seed),)
    for place in places:
        out += place.direct_block if direct else place.block
    return out


def compared(place: Place, step: Played, *, direct: bool = False) -> bool:
    """Whether a step was the place's own: equal observations before and after."""
    return step.label == (place.direct if direct else place.seen).label


def scan(stage: Stage, places: Sequence[Place], until: float, *, direct: bool = False) -> Scan:
    """Visits all places in many orders; with ``direct``, without the real step before each."""
    inner = [place for place in places if not place.seen.ended]
    outer = [place for place in places if place.seen.ended]
    width = 1 if direct else 2
    limit = stage.env.spec.max_episode_steps if stage.env.spec is not None else None
    longest = max(1, ((limit or 10**6) - 2) // width - 1)
    out = Scan()
    twice = inner[: TWICE if longest > 1 else 0]  # rare rewards come first: there may be but one place that pays it
    for number in range(-len(twice), TOURS):
        enough = len(out.mismatches) >= ENOUGH or time.monotonic() > until
        if number >= LEAST_TOURS and enough:
            break
        length = min(LENGTHS[number % len(LENGTHS)], longest)
        order = (
            [twice[number]] * 2 if number < 0 else [inner[int(n)] for n in stage.rng.permutation(len(inner))[:length]]
        )
        if outer and number >= 0:
            order.append(outer[number % len(outer)])
        visit(stage, order, out, direct=direct)
    return out


def visit(stage: Stage, order: Sequence[Place], out: Scan, *, direct: bool = False) -> None:
    """One tour; what it shows goes into ``out``. The first place comes right after the reset: nothing to compare."""
    width = 1 if direct else 2
    steps = stage.play(tour(stage, order, direct=direct))
    for n, place in enumerate(order):
        at = width * (n + 1) - 1
        if at >= len(steps) or n == 0:
            continue
        out.tried += 1
        if not compared(place, steps[at], direct=direct):
            continue
        out.comparable += 1
        expected = (place.direct if direct else place.seen).reward
        if not stage.scale.same(steps[at].reward, expected):
            out.mismatches.append(Mismatch(place, tuple(order[:n]), steps[at].reward, direct))
