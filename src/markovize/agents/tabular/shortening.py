"""Shorter episodes that end alike: the fewer steps a history has, the fewer of them can be what matters.

An episode that is in conflict may be a thousand steps long, and any of them could be the trigger. Where actions lead
where they always did, the agent can find out: it plays the episode again without some of its steps, by the shortest way
through the others, and sees whether its last step pays the same. Halves go first, then smaller pieces; the idea is that
of delta debugging (Zeller & Hildebrandt 2002). Where one reward does not tell which of two levels it has, the mean of
several does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Final, NamedTuple

import numpy as np

from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.compiled.detours import cell_at_end, shortest_way
from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.episodes.traces import Floats, Ints
from markovize.machine import kernels

CLEARLY: Final = 1.5  # times the width by which rewards of one level may differ: then one reward tells its level
SAMPLE: Final = 64  # rewards of each of two episodes, where one is not enough
DIFFERENT: Final = 3.0  # standard errors between two means that are not the same
RELIABLY: Final = 2.5  # standard errors from a mean to the middle between two of them
MOST_REPEATS: Final = 64

Play = Callable[[Ints, int], Floats | None]
"""Plays an episode so many times: what its last step paid each time, or None if it went another way."""


class Ending(NamedTuple):
    """An episode up to a step that pays one reward, where another one was paid, too; how often it takes to tell."""

    transitions: Ints
    paid: float
    otherwise: float
    repeats: int = 1

    def is_like(self, rewards: Floats) -> bool:
        """Whether rewards are rather the one than the other.

        >>> Ending(np.zeros(3, np.int32), 1.1, 1.0).is_like(np.array([0.9, 1.3, 1.2]))
        True
        """
        mean = float(rewards.mean())
        return abs(mean - self.paid) < abs(mean - self.otherwise)


def tell_apart(here: Ending, there: Ending, width: float, play: Play) -> list[Ending]:
    """The two ends of a conflict with all that it takes to tell them apart; none if they pay the same on average."""
    if abs(here.paid - there.paid) > CLEARLY * width:
        return [here, there]
    one, other = play(here.transitions, SAMPLE), play(there.transitions, SAMPLE)
    if one is None or other is None:
        return []
    spread = math.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)
    means, gap = (float(one.mean()), float(other.mean())), abs(float(one.mean() - other.mean()))
    if gap <= DIFFERENT * spread * math.sqrt(2 / SAMPLE):
        return []
    repeats = max(1, math.ceil((2 * RELIABLY * spread / gap) ** 2))
    if repeats > MOST_REPEATS:
        return []
    return [
        here._replace(paid=means[0], otherwise=means[1], repeats=repeats),
        there._replace(paid=means[1], otherwise=means[0], repeats=repeats),
    ]


def evidence_for(agent: Agent, kept: KeptEpisodes, move: tuple[int, int], width: float) -> Ending | None:
    """The shortest kept episode with a step that would clearly be paid wrongly if this trigger were none."""
    rewards, delta = agent.arrays.rewards, without(agent, move)
    offsets, transitions, paid, _ = kept.columns()
    triggers, labels = agent.arrays.transitions.trigger[transitions], agent.arrays.transitions.label[transitions]
    before, after = kernels.episode_states(offsets, triggers, delta, 0)[:2]
    usual = rewards.paid[before, labels, after]
    wrong = np.flatnonzero(np.abs(paid - usual) > CLEARLY * width)
    if not len(wrong):
        return None
    first = offsets[np.searchsorted(offsets, wrong, side="right") - 1]
    best = int((wrong - first).argmin())
    at = int(wrong[best])
    return Ending(transitions[int(first[best]) : at + 1], float(paid[at]), float(usual[at]))


def without(agent: Agent, move: tuple[int, int]) -> Ints:
    """The moves of the machine held true, but for one (u, trigger label)."""
    delta = agent.arrays.machine.delta.copy()
    delta[move] = move[0]
    return delta


def play_shorter(agent: Agent, delta: Ints, end: Ending, play: Play) -> Ints:
    """Plays ever shorter episodes that may end like this one, until none is left to try; the shortest that did."""
    ways, answer, best = shorten(agent, delta, end.transitions), None, end.transitions
    while True:
        try:
            way = ways.send(answer)
        except StopIteration:
            return best
        rewards = play(way, end.repeats)
        answer = rewards is not None and end.is_like(rewards)
        best = way if answer else best


def shorten(agent: Agent, delta: Ints, transitions: Ints) -> Generator[Ints, bool | None, None]:
    """Proposes ever shorter episodes, and is told of each whether it ended like the one at hand.

    Each ends in the same (u, reward label, u') of a machine with these moves.
    """
    best, before, start = transitions, len(transitions) + 1, int(agent.arrays.transitions.source[transitions[0]])
    cell = cell_at_end(agent.reference, delta, transitions)
    while len(best) < before:
        before, points, piece = len(best), best[:-1], len(best) - 1
        while piece:
            end = len(points)
            while end > 0:  # from the end: of steps that go beyond what matters, the farther ones go first
                left = np.concatenate([points[: max(0, end - piece)], points[end:]])
                end = max(0, end - piece)
                way = shortest_way(agent.reference, start, np.append(left, best[-1]), len(best) - 1)
                if len(way) and cell_at_end(agent.reference, delta, way) == cell and (yield way):
                    points, best = left, way
            piece //= 2
