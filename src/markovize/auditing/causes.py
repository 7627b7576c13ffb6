"""Why a place paid something else on a tour: time, history, earlier episodes, or chance."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from markovize.auditing.places import Place, Stage
from markovize.auditing.report import Trajectory, Witness
from markovize.auditing.scripts import Act, Played, Reseed, Reset, Restore, Script, play
from markovize.auditing.sources import EnvSource
from markovize.auditing.starts import follows_start
from markovize.auditing.tours import Mismatch, compared, tour

Cause: TypeAlias = Literal["time", "history", "previous-episodes", "noise"]

PADS: Final = 8  # other histories of equal length, of each kind, before time is blamed
SEEDS: Final = 8
FORKS: Final = 6
SHORTENINGS: Final = 40
ALIKE: Final = "same state, same observations and actions in the last two steps"


@dataclass(frozen=True)
class Explained:
    """A cause, and two trajectories that show it."""

    cause: Cause
    witness: Witness
    seeded: bool = True


class Inquiry:
    """Looks for the cause of mismatches; what a witness shows was seen in environments without a past."""

    def __init__(self, source: EnvSource, stage: Stage, places: Sequence[Place], until: float) -> None:
        self.source, self.stage, self.until = source, stage, until
        self.inner = [place for place in places if not place.seen.ended]

    def explain(self, mismatches: Sequence[Mismatch]) -> Explained | None:
        """The cause of the first mismatch that can be shown again; history goes before time."""
        best: Explained | None = None
        for mismatch in _spread(mismatches)[:6]:
            found = self._explain(mismatch)
            if found is not None and found.cause != "time":
                return found
            best = best or found
            if time.monotonic() > self.until:
                break
        return best

    def find_noise(self, places: Sequence[Place]) -> Explained | None:
        """A place that pays something else with other random numbers, or after a reset with another seed."""
        for place in places:
            start: Script = (Reset(self.stage.seed), Restore(place.early), Reseed(0), Act(place.first))
            for fork in range(FORKS):
                script: Script = (*start, Reseed(fork), Act(place.last))
                if self._pays_otherwise(place, script):
                    one, two = ((*start, Reseed(n), Act(place.last)) for n in (0, fork))
                    return self._noise(one, two, (0, fork), "random numbers", "other random numbers")
            if time.monotonic() > self.until:
                break
        return None

    def find_drawn(self, places: Sequence[Place]) -> Explained | None:
        """A place that pays something else after a reset with another seed: by chance, or because of the start."""
        for place in places:
            for seed in range(self.stage.seed + 1, self.stage.seed + SEEDS):
                script = tour(self.stage, [place], seed=seed)
                if self._pays_otherwise(place, script):
                    one = tour(self.stage, [place])
                    found = self._noise(one, script, (self.stage.seed, seed), "reset seed", "another reset seed")
                    if found is not None and follows_start(self.stage, place):
                        return replace(found, cause="history", witness=replace(found.witness, differs="another start"))
                    return found
            if time.monotonic() > self.until:
                break
        return None

    def _pays_otherwise(self, place: Place, script: Script) -> bool:
        steps = self.stage.play(script)
        return compared(place, steps[-1]) and not self.stage.scale.same(steps[-1].reward, place.seen.reward)

    def _noise(self, one: Script, two: Script, which: tuple[int, int], what: str, differs: str) -> Explained | None:
        first, second = self._fresh(one), self._fresh(two)
        if self.stage.scale.same(first[-1].reward, second[-1].reward):
            return None
        sides = [
            Trajectory(tuple(steps), script, f"{what} {n}")
            for steps, script, n in zip((first, second), (one, two), which, strict=True)
        ]
        return Explained("noise", Witness(sides[0], sides[1], ALIKE, differs))

    def _fresh(self, script: Script) -> list[Played]:
        with self.source.fresh() as env:
            steps = play(env, script)
        self.stage.steps += len(steps)
        return steps

    def _reward(
        self, places: Sequence[Place], place: Place, *, seed: int | None = None, fresh: bool = False
    ) -> float | None:
        """What the place pays after these places; None if it is not comparable."""
        script = tour(self.stage, [*places, place], seed=seed)
        steps = self._fresh(script) if fresh else self.stage.play(script)
        at = 2 * len(places) + 1
        return steps[at].reward if len(steps) > at and compared(place, steps[at]) else None

    def _same(self, one: float | None, two: float | None) -> bool:
        return one is None or two is None or self.stage.scale.same(one, two)

    def _explain(self, mismatch: Mismatch) -> Explained | None:
        place, before = mismatch.place, mismatch.before
        alone = self._reward((), place, fresh=True)
        after, again = (self._reward(before, place, fresh=True) for _ in range(2))
        if not self._same(after, again):
            script = tour(self.stage, [*before, place])
            runs = self._fresh(script), self._fresh(script)
            where = f"seed {self.stage.seed}"
            sides = [
                Trajectory(tuple(run), script, text)
                for run, text in zip(runs, (where, f"{where} once more"), strict=True)
            ]
            return Explained("noise", Witness(sides[0], sides[1], ALIKE, "nothing else"), seeded=False)
        if self._same(alone, after):
            return self._explain_leak(mismatch)
        for seed in range(self.stage.seed + 1, self.stage.seed + SEEDS):
            if not self._same(after, self._reward(before, place, seed=seed)):
                if follows_start(self.stage, place, before):
                    break
                scripts = [tour(self.stage, [*before, place], seed=n) for n in (self.stage.seed, seed)]
                which = self.stage.seed, seed
                return self._noise(scripts[0], scripts[1], which, "reset seed", "another reset seed")
        other = self._find_equally_long(mismatch, after)
        if other is not None:
            return self._explain_history(place, before, other)
        return self._explain_time(place, before)

    def _find_equally_long(self, mismatch: Mismatch, after: float | None) -> Sequence[Place] | None:
        """Another history of the same length after which the place pays something else."""
        for filler in self._fillers(len(mismatch.before)):
            if not self._same(after, self._reward(filler, mismatch.place)):
                return filler
        return None

    def _fillers(self, length: int) -> Iterator[Sequence[Place]]:
        pick = self.stage.rng.integers
        for n in range(2 * PADS):
            if n % 2 == 0:  # the same place again and again: a poor history
                yield [self.inner[int(pick(len(self.inner)))]] * length
            else:
                yield [self.inner[int(k)] for k in pick(len(self.inner), size=length)]

    def _explain_history(self, place: Place, before: Sequence[Place], other: Sequence[Place]) -> Explained:
        """After as short a history as possible, and after another of the same length."""
        for shorter in self._shortenings(before, place):
            poorer = [other[0]] * len(shorter)
            if not self._same(self._reward(shorter, place), self._reward(poorer, place)):
                return self._witness("history", place, poorer, shorter, "another history")
        return self._witness("history", place, other, before, "another history")

    def _explain_time(self, place: Place, before: Sequence[Place]) -> Explained:
        alone = self._reward((), place)
        filler = next((p for p in (*before, *self.inner)), place)
        for length in range(1, len(before) + 1):
            pad = [filler] * length
            if not self._same(alone, self._reward(pad, place)):
                return self._witness("time", place, [], pad, f"step 1 and step {2 * length + 1}")
        return self._witness("time", place, [], before, f"step 1 and step {2 * len(before) + 1}")

    def _shortenings(self, before: Sequence[Place], place: Place) -> Iterator[Sequence[Place]]:
        if len(before) > 1:
            yield from ([one] for one in [place, *before][:SHORTENINGS])
            size = 2
            while size < len(before):
                yield before[-size:]
                size *= 2

    def _witness(
        self, cause: Cause, place: Place, one: Sequence[Place], two: Sequence[Place], differs: str
    ) -> Explained:
        scripts = [tour(self.stage, [*before, place]) for before in (one, two)]
        sides = [
            Trajectory(tuple(self._fresh(script)), script, f"step {2 * len(before) + 1}, {_visits(before)}")
            for script, before in zip(scripts, (one, two), strict=True)
        ]
        return Explained(cause, Witness(sides[0], sides[1], ALIKE, differs))

    def _explain_leak(self, mismatch: Mismatch) -> Explained | None:
        """An earlier episode after which the place pays something else right after the reset."""
        alone = tour(self.stage, [mismatch.place])
        expected = self._fresh(alone)
        contexts = [alone, tour(self.stage, [*mismatch.before, mismatch.place]), tour(self.stage, self.inner[:50])]
        for number, context in enumerate(contexts):
            script = (*context, *alone)
            later = self._fresh(script)
            if not compared(mismatch.place, later[-1]) or self._same(expected[-1].reward, later[-1].reward):
                continue
            if number:
                script, later = self._shorten_leak(mismatch, alone, expected) or (script, later)
            where = f"seed {self.stage.seed}, "
            first = Trajectory(tuple(expected), alone, f"{where}the first episode")
            second = Trajectory(tuple(later), script, f"{where}after 1 earlier episode")
            return Explained("previous-episodes", Witness(first, second, ALIKE, "other earlier episodes"))
        return None

    def _shorten_leak(
        self, mismatch: Mismatch, alone: Script, expected: list[Played]
    ) -> tuple[Script, list[Played]] | None:
        for place in (*mismatch.before, *self.inner)[:SHORTENINGS]:
            script = (*tour(self.stage, [place]), *alone)
            later = self._fresh(script)
            if compared(mismatch.place, later[-1]) and not self._same(expected[-1].reward, later[-1].reward):
                return script, later
        return None


def _spread(mismatches: Sequence[Mismatch]) -> list[Mismatch]:
    """Mismatches after few places first, each place once before any place twice."""
    seen: dict[int, int] = {}
    order: list[tuple[int, int, int]] = []
    for n, mismatch in enumerate(sorted(mismatches, key=lambda m: len(m.before))):
        times = seen[id(mismatch.place)] = seen.get(id(mismatch.place), -1) + 1
        order.append((times, len(mismatch.before), n))
    ranked = sorted(mismatches, key=lambda m: len(m.before))
    return [ranked[n] for _, _, n in sorted(order)]


def _visits(places: Sequence[Place]) -> str:
    several = "s" if len(places) > 1 else ""
    return "right after the reset" if not places else f"after {len(places)} restored state{several}"
