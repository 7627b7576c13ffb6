"""Places to come back to: a state, an action that is taken for real, and the step that is compared."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from markovize.auditing.logbook import NAMES, Logbook, LoggedEpisode
from markovize.auditing.restorers import Restorer
from markovize.auditing.rewards import RewardScale
from markovize.auditing.scripts import Act, Played, Reseed, Reset, Restore, Script, episode_script, play
from markovize.auditing.snapshots import Floats, Snapshot

if TYPE_CHECKING:
    import gymnasium

MOST_TRIED: Final = 1_500
MOST_PLACES: Final = 120
WALKED: Final = 1_200  # steps on which states are collected
RARE: Final = 0.05  # of all steps: what fewer of them paid is come back to
RARE_PLACES: Final = 6  # for each rare reward
LONGEST_WALK: Final = 100
STAY: Final = 0.85  # the chance that a stubborn walk takes the same action again


class Stage:
    """The environment in which states are restored, and how many steps were taken in it."""

    def __init__(self, env: gymnasium.Env[Any, Any], palette: Sequence[Any], scale: RewardScale, seed: int) -> None:
        self.env, self.palette, self.scale, self.seed = env, palette, scale, seed
        self.rng = np.random.default_rng(seed)
        self.steps = 0
        self.prefix: Script = (Reset(seed),)  # comes before all that is compared

    def play(self, script: Script, *, see: bool = True) -> list[Played]:
        """``see``: whether the rewards count for what is large; not in states that only a solver thinks of."""
        steps = play(self.env, script)
        self.steps += len(steps)
        for step in steps if see else ():
            self.scale.see(step.reward)
        return steps

    def any_action(self) -> Any:
        return self.palette[int(self.rng.integers(len(self.palette)))]


@dataclass(frozen=True, eq=False)
class Place:
    """One step before the one that is compared is taken for real, so that what a reward caches of it is honest."""

    early: Snapshot
    first: Any
    now: Snapshot  # the state to which ``first`` leads
    last: Any
    seen: Played  # what ``last`` did, soon after a reset
    direct: Played  # and what it did when ``now`` was restored

    @property
    def block(self) -> Script:
        """Restores, and takes both actions: two steps."""
        return (Restore(self.early), Reseed(0), Act(self.first), Reseed(0), Act(self.last))

    @property
    def direct_block(self) -> Script:
        """Restores, and takes the last action only: one step."""
        return (Restore(self.now), Reseed(0), Act(self.last))


def gather(stage: Stage, restorer: Restorer, logbook: Logbook, most: int, until: float) -> list[Place]:
    """Places as unlike each other as can be found, of each reward some; ``most`` are tried."""
    states = list(_walked(stage, restorer, until))
    found = list(_rare_places(stage, restorer, logbook, until))
    for number, state in enumerate(_candidates(stage, states)):
        if number >= min(most, MOST_TRIED) or (time.monotonic() > until and len(found) >= 2):
            break
        first, last = stage.any_action(), stage.any_action()
        place = try_place(stage, restorer, state, first, last) or _step_back(stage, restorer, state, last)
        if place is not None:
            found.append(place)
    return balanced(found, [place.seen.reward for place in found], stage, MOST_PLACES)


def rare_steps(logbook: Logbook) -> Iterator[tuple[LoggedEpisode, int]]:
    """Steps of earlier walks that paid something rare: the episode, and the number of the step in it."""
    codes = logbook.columns().codes
    levels, counts = np.unique(codes, return_counts=True)
    few = counts < RARE * len(codes)
    if few.sum() > len(levels) / 2:  # every reward is another: none is rare
        return
    for level in levels[few][np.argsort(counts[few], kind="stable")][:4].tolist():
        yield from _located(logbook, np.flatnonzero(codes == level)[:RARE_PLACES])


def extreme_steps(logbook: Logbook) -> Iterator[tuple[LoggedEpisode, int]]:
    """The same for the largest and the smallest rewards: for those of which every one is another."""
    order = np.argsort(logbook.columns().rewards, kind="stable")
    yield from _located(logbook, [*order[: -RARE_PLACES - 1 : -1], *order[:RARE_PLACES]])


def _located(logbook: Logbook, steps: Iterable[int]) -> Iterator[tuple[LoggedEpisode, int]]:
    """Steps by their episode and their number in it; those that begin one have nothing before them."""
    rows = logbook.columns().rows
    for step in steps:
        episode, number = logbook.episodes[rows[step, NAMES["episode"]]], int(rows[step, NAMES["time"]])
        if number >= 1 and episode.seed is not None:
            yield episode, number


def _rare_places(stage: Stage, restorer: Restorer, logbook: Logbook, until: float) -> Iterator[Place]:
    """Steps that paid something rare: these episodes again, up to the step before it."""
    for episode, number in rare_steps(logbook):
        if time.monotonic() > until:
            return
        assert episode.seed is not None
        stage.play(episode_script(episode.seed, episode.actions[: number - 1]))
        before, last = episode.actions[number - 1 : number + 1]
        place = try_place(stage, restorer, restorer.save(stage.env), before, last)
        if place is not None:
            yield place


def try_place(stage: Stage, restorer: Restorer, state: Snapshot, first: Any, last: Any) -> Place | None:
    """The place, unless the episode is over before its last step."""
    start: Script = (Reset(stage.seed), Restore(state), Reseed(0), Act(first))
    try:
        before = stage.play(start)
        if not before or before[-1].ended:
            return None
        now = restorer.save(stage.env)
        seen = stage.play((*start, Reseed(0), Act(last)))
        direct = stage.play((Reset(stage.seed), Restore(now), Reseed(0), Act(last)))
    except Exception:  # a made-up state that the simulator does not take
        return None
    return Place(state, first, now, last, seen[-1], direct[-1])


def _step_back(stage: Stage, restorer: Restorer, state: Snapshot, action: Any) -> Place | None:
    """Where a state is so near an end that nothing can come before it: from about one step earlier."""
    if not state.free:
        return None
    try:
        stage.play((Reset(stage.seed), Restore(state), Reseed(0), Act(action)))
        ahead = restorer.save(stage.env).vector
    except Exception:  # a made-up state that the simulator does not take
        return None
    if ahead.shape != state.vector.shape:
        return None
    return try_place(stage, restorer, state.moved(2 * state.vector - ahead), action, action)


def _walked(stage: Stage, restorer: Restorer, until: float) -> Iterator[Snapshot]:
    """States of ordinary episodes: at random, stubborn, and with one action throughout, which gets farthest."""
    env, taken, episode = stage.env, 0, 0
    while taken < WALKED and (time.monotonic() < until or episode < 2):
        env.reset(seed=stage.seed + episode)
        stay, action = (0.0, STAY, 1.0, 1.0)[episode % 4], stage.any_action()
        if stay == 1.0:
            action = stage.palette[episode // 2 % len(stage.palette)]
        for _ in range(LONGEST_WALK):
            yield restorer.save(env)
            if stage.rng.random() >= stay:
                action = stage.any_action()
            _, reward, terminated, truncated, _ = env.step(action)
            stage.scale.see(reward)
            taken += 1
            if terminated or truncated:
                break
        episode += 1
    stage.steps += taken


def _candidates(stage: Stage, states: Sequence[Snapshot]) -> Iterator[Snapshot]:
    """States that were visited, and, where a state is a few numbers, others between them."""
    bounds = _bounds(stage, states)
    while True:
        yield states[int(stage.rng.integers(len(states)))]
        if bounds is not None:
            low, high = bounds
            for _ in range(2):
                yield states[0].moved(stage.rng.uniform(low, high))


def _bounds(stage: Stage, states: Sequence[Snapshot]) -> tuple[Floats, Floats] | None:
    """Between which numbers states may be made up; None where numbers depend on each other, as in MuJoCo."""
    from gymnasium import spaces

    if not states[0].free:
        return None
    seen = np.array([state.vector for state in states if len(state.vector) == len(states[0].vector)])
    low, high = seen.min(axis=0), seen.max(axis=0)
    low, high = low - (high - low), high + (high - low)
    space = stage.env.unwrapped.observation_space
    if isinstance(space, spaces.Box) and space.shape == low.shape:
        for bound, side in ((space.low, low), (space.high, high)):
            known = np.isfinite(bound) & (np.abs(bound) < 1e6)
            side[known] = bound[known]
    return low, high


def balanced(places: Sequence[Place], rewards: Sequence[float], stage: Stage, most: int) -> list[Place]:
    """Some of the places, those with rare rewards, and ends of episodes, before others."""
    groups: dict[tuple[int, bool], list[Place]] = {}
    codes = stage.scale.codes(np.array(rewards, np.float64))
    for n in stage.rng.permutation(len(places)).tolist():
        groups.setdefault((int(codes[n]), places[n].seen.ended), []).append(places[n])
    chosen: list[Place] = []
    queues = sorted(groups.values(), key=len)
    if len(queues) > most:  # every reward is another: any will do
        queues = [queues[int(n)] for n in stage.rng.permutation(len(queues))]
    while len(chosen) < most and any(queues):
        for queue in queues:
            if queue and len(chosen) < most:
                chosen.append(queue.pop())
    return chosen
