"""Episodes played again: do they pay the same after other episodes, and with other random numbers?"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from markovize.auditing.logbook import Logbook, LoggedEpisode
from markovize.auditing.report import Trajectory, Witness
from markovize.auditing.rewards import RewardScale
from markovize.auditing.scripts import Act, Played, Reseed, Reset, Script, episode_script, play
from markovize.auditing.sources import EnvSource
from markovize.auditing.walks import SEEDS

FORKS: Final = 8  # other random numbers for one step
LONGEST_CONTEXT: Final = 64  # earlier episodes that are played again to show a leak


@dataclass(frozen=True)
class Finding:
    """That a reward is not determined by its episode's history, and by what it is not."""

    verdict: Literal["previous-episodes", "noise"]
    witness: Witness
    seeded: bool = True  # whether equal seeds give equal rewards


def first_difference(first: Sequence[Played], second: Sequence[Played], scale: RewardScale) -> int | None:
    """The first step that paid differently, as long as everything observed was the same; None if there is none."""
    for number, (one, two) in enumerate(zip(first, second, strict=False)):
        if one.label != two.label:
            return None
        if not scale.same(one.reward, two.reward):
            return number
    return None


class Replays:
    """Plays logged episodes again."""

    def __init__(self, source: EnvSource, logbook: Logbook, patience: float = math.inf) -> None:
        """``patience``: seconds for each of the questions; what is asked first is answered anyway."""
        self.source, self.logbook, self.scale = source, logbook, logbook.scale
        self.patience = patience

    def play_fresh(self, script: Script) -> list[Played]:
        with self.source.fresh() as env:
            return play(env, script)

    def find_leak(self, suspects: Sequence[int]) -> Finding | None:
        """An episode that pays something else after earlier episodes; or without a reason at all."""
        end = time.monotonic() + self.patience
        for asked, number in enumerate(suspects):
            if asked and time.monotonic() > end:
                break
            episode = self.logbook.episodes[number]
            script = script_of(episode)
            alone = self.play_fresh(script)
            for later in self._later(episode, script):
                if first_difference(alone, later, self.scale) is None:
                    continue
                again = self.play_fresh(script)
                if first_difference(alone, again, self.scale) is not None or self.source.make is None:
                    return self._unseeded(script, alone, again, later)
                return self._leak(number, script, alone)
        return None

    def _later(self, episode: LoggedEpisode, script: Script) -> Iterator[list[Played]]:
        """The same episode as it went after others: amid the walks, and after itself."""
        yield played(episode)
        yield self.play_fresh((*script, *script))

    def _leak(self, number: int, script: Script, alone: list[Played]) -> Finding | None:
        """The shortest earlier episodes that change what this one pays."""
        before = [script_of(self.logbook.episodes[n]) for n in range(max(0, number - LONGEST_CONTEXT), number)]
        singles = [script, *sorted(before, key=len)]
        sizes = [size for size in (2, 4, 8, 16, 32, 64) if size <= len(before)]
        sums = [sum(before[len(before) - size :], ()) for size in sizes]
        for context in [*singles, *sums]:
            later = self.play_fresh((*context, *script))
            at = first_difference(alone, later, self.scale)
            if at is not None:
                earlier = sum(isinstance(command, Reset) for command in context)
                seed = _seed(script)
                cut = script[: at + 2]
                where = f"seed {seed}, after {earlier} earlier episode{'s' if earlier > 1 else ''}"
                return Finding(
                    "previous-episodes",
                    Witness(
                        Trajectory(tuple(alone[: at + 1]), cut, f"seed {seed}, the first episode"),
                        Trajectory(tuple(later[: at + 1]), (*context, *cut), where),
                        "same reset seed, same actions, same observations",
                        "other earlier episodes",
                    ),
                )
        return None

    def _unseeded(self, script: Script, *runs: list[Played]) -> Finding:
        first = runs[0]
        for run in runs[1:]:
            step = first_difference(first, run, self.scale)
            if step is not None:
                where = f"seed {_seed(script)}"
                cut = script[: step + 2]
                one = Trajectory(tuple(first[: step + 1]), cut, where)
                two = Trajectory(tuple(run[: step + 1]), cut, f"{where} once more")
                alike = "same reset seed, same actions, same observations"
                return Finding("noise", Witness(one, two, alike, "nothing else"), seeded=False)
        raise AssertionError("called only where two runs differ")

    def find_noise(self, places: Sequence[tuple[int, int]]) -> Finding | None:
        """A step, as (episode, step in it), that pays something else with other random numbers at equal history."""
        end = time.monotonic() + self.patience
        for asked, (number, step) in enumerate(places):
            if asked and time.monotonic() > end:
                break
            finding = self._fork(number, step) or self._other_seeds(number, step)
            if finding is not None:
                return finding
        return None

    def _fork(self, number: int, step: int) -> Finding | None:
        """The same episode up to this step, which is then taken with other random numbers."""
        episode = self.logbook.episodes[number]
        before = script_of(episode)[: step + 1]
        last = Act(episode.actions[step])
        runs: list[Script] = [(*before, Reseed(seed), last) for seed in range(FORKS)]
        where = [f"seed {episode.seed}, random numbers {seed} at the last step" for seed in range(FORKS)]
        return self._compare(runs, where, step)

    def _other_seeds(self, number: int, step: int) -> Finding | None:
        """The same actions after resets with other seeds, with the same random numbers after the reset."""
        episode = self.logbook.episodes[number]
        assert episode.seed is not None
        acts = [Act(action) for action in episode.actions[: step + 1]]
        seeds = [episode.seed, *(n for n in range(episode.seed + 1, episode.seed + 2 * SEEDS))]
        runs: list[Script] = [(Reset(seed), Reseed(0), *acts) for seed in seeds]
        return self._compare(runs, [f"reset seed {seed}" for seed in seeds], step)

    def _compare(self, scripts: Sequence[Script], where: Sequence[str], step: int) -> Finding | None:
        runs: list[list[Played]] = []
        with self.source.fresh() as env:
            for script in scripts:
                runs.append(play(env, script))
        for n, run in enumerate(runs):
            for m in range(n):
                at = first_difference(runs[m], run, self.scale)
                if at is None or at > step:
                    continue
                one, two = (self._cut(scripts[k], runs[k], at, where[k]) for k in (m, n))
                alike = "same observations and actions from the reset on"
                return Finding("noise", Witness(one, two, alike, "other random numbers"))
        return None

    def _cut(self, script: Script, steps: list[Played], at: int, where: str) -> Trajectory:
        """The script up to the step in question."""
        acts = 0
        for size, command in enumerate(script):
            acts += isinstance(command, Act)
            if acts == at + 1:
                return Trajectory(tuple(steps[: at + 1]), script[: size + 1], where)
        raise AssertionError("a script has as many actions as steps were played")


def script_of(episode: LoggedEpisode) -> Script:
    """How to play a logged episode again."""
    assert episode.seed is not None
    return episode_script(episode.seed, episode.actions)


def played(episode: LoggedEpisode) -> list[Played]:
    """The steps of a logged episode."""
    data = episode.episode
    last = len(data.actions) - 1
    return [
        Played(s, a, r, t, n == last and (data.terminated or data.truncated))
        for n, (s, a, r, t) in enumerate(
            zip(data.observations, data.actions, data.rewards, data.observations[1:], strict=False)
        )
    ]


def trajectory_of(episode: LoggedEpisode, step: int, number: int) -> Trajectory:
    """An episode up to a step, as one side of a witness."""
    steps = tuple(played(episode)[: step + 1])
    if episode.seed is None:
        return Trajectory(steps, None, f"episode {number} step {step}")
    return Trajectory(steps, script_of(episode)[: step + 2], f"seed {episode.seed}, step {step}")


def _seed(script: Script) -> int:
    first = script[0]
    assert isinstance(first, Reset)
    return first.seed
