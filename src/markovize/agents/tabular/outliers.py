"""Rewards of kept episodes that are outliers, put right: by votes of equal histories, or by the machine held true."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.agents.tabular.repeats import equal_histories
from markovize.episodes.traces import Bools, Floats, Ints, Longs
from markovize.learning.result import Outlier
from markovize.learning.windows import outside_of_windows
from markovize.machine import kernels

LEAST_VOTES: Final = 3  # of equal histories, of which most must agree


class Settled(NamedTuple):
    """Episodes whose outliers pay what they should, and which those were."""

    kept: KeptEpisodes
    outliers: tuple[Outlier, ...]


def settle_by_votes(kept: KeptEpisodes, width: float, *, decide: bool = False) -> Settled:
    """Steps that differ from what most steps with their history were paid are outliers: nothing else differs there.

    Where too few agree, nothing is said, unless it is to ``decide``: a width that was found may be a little too narrow.

    >>> kept = KeptEpisodes()
    >>> for reward in (1.0, 1.0, 0.0, 1.0):
    ...     kept.add(np.array([0, 1], np.int32), np.array([0.0, reward]), True)
    >>> settled = settle_by_votes(kept, width=0.0)
    >>> settled.kept.rewards[2].tolist(), [str(outlier) for outlier in settled.outliers]
    ([0.0, 1.0], ['episode 2 step 1 paid 0 instead of 1'])
    """
    rewards, found = [column.copy() for column in kept.rewards], list[Outlier]()
    for alike in equal_histories(kept):
        outside, middle = _outside(alike.groups, alike.rewards, width)
        counts, inside = np.bincount(alike.groups), np.bincount(alike.groups, ~outside)
        clear = decide | ((counts >= LEAST_VOTES) & (2 * inside > counts))
        for at in np.flatnonzero(outside & clear[alike.groups]).tolist():
            episode, right = int(alike.episodes[at]), float(middle[alike.groups[at]])
            found.append(Outlier(episode, alike.n, float(alike.rewards[at]), right))
            rewards[episode][alike.n] = right
    return Settled(_with_rewards(kept, rewards), tuple(sorted(found, key=lambda each: (each.episode, each.step))))


def settle_by_machine(kept: KeptEpisodes, codec: StepCodec, delta: Ints, width: float) -> Settled:
    """Steps outside of the fullest window of their (u, reward label, u') are outliers; ``delta`` is the machine."""
    offsets, transitions, rewards, _ = kept.columns()
    triggers, labels = (np.array(own.ids, np.int32)[transitions] for own in (codec.triggers, codec.rewards))
    before, after = kernels.episode_states(offsets, triggers, delta, 0)
    cells = (before.astype(np.int64) * (int(labels.max(initial=0)) + 1) + labels) * len(delta) + after
    _, compact = np.unique(cells, return_inverse=True)
    outside, middle = _outside(compact, rewards, width)
    found = []
    for at in np.flatnonzero(outside).tolist():
        episode = int(np.searchsorted(offsets, at, side="right")) - 1
        right = float(middle[compact[at]])
        found.append(Outlier(episode, at - int(offsets[episode]), float(rewards[at]), right))
    rewards[outside] = middle[compact[outside]]
    return Settled(_with_rewards(kept, np.split(rewards, offsets[1:-1])), tuple(found))


def _outside(groups: Longs, rewards: Floats, width: float) -> tuple[Bools, Floats]:
    """For each reward, whether it is outside of the fullest window of its group; and the middle of each window."""
    no, once = np.zeros(len(groups), np.int32), np.ones(len(groups), np.int64)
    outside = outside_of_windows(groups, no, rewards, once, width)[0]
    low, high = np.full(int(groups.max()) + 1, np.inf), np.full(int(groups.max()) + 1, -np.inf)
    np.minimum.at(low, groups[~outside], rewards[~outside])
    np.maximum.at(high, groups[~outside], rewards[~outside])
    return outside, low + (high - low) / 2


def _with_rewards(kept: KeptEpisodes, rewards: list[Floats]) -> KeptEpisodes:
    settled = KeptEpisodes()
    for transitions, paid, terminated in zip(kept.transitions, rewards, kept.terminated, strict=True):
        settled.add(transitions, paid, terminated)
    return settled
