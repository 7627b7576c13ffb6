"""Worlds whose events are never the same observation twice: objects at random places, positions in a plane.

All episodes are walked at once, in arrays, so that millions of steps take seconds. Features have names; what moves the
machine is nowhere said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markovize import Traces
from markovize.episodes.record import Record
from markovize.episodes.values import Interner

Array = npt.NDArray[Any]
MOVES = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
WORDS = ("nothing", "coffee", "mail", "office", "plant")


@dataclass
class Walks:
    """Steps of many episodes side by side: ``columns[name][step, episode]``, and how long each episode is."""

    columns: dict[str, Array]
    actions: Array
    rewards: Array
    lengths: Array

    def traces(self) -> Traces:
        """One episode after the other; an observation is an object with these names.

        The first observation of an episode is repeated: guards are over what a step leads to.
        """
        keep = (np.arange(len(self.rewards))[:, None] < self.lengths[None, :]).T
        rows = np.concatenate([np.zeros(1, int), np.arange(len(self.rewards))])
        seen = np.hstack([np.ones((len(self.lengths), 1), bool), keep])
        cells = zip(*(column[rows].T[seen].tolist() for column in self.columns.values()), strict=True)
        known = Interner(objects=True)
        ids = [known.id(Record(dict(zip(self.columns, row, strict=True)))) for row in cells]
        never = np.zeros(len(self.lengths), bool)
        return Traces(
            known.values,
            [0, 1, 2, 3],
            np.array(ids, np.int32),
            self.actions.T[keep].astype(np.int32),
            self.rewards.T[keep],
            np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64),
            never,
            ~never,
        )


def random_objects(episodes: int, order: tuple[str, ...], seed: int, *, size: int = 7, most: int = 100) -> Walks:
    """Things lie elsewhere in each episode. The office pays 1 after ``order``, a plant costs 1; both end it."""
    rng = np.random.default_rng(seed)
    cells = np.argsort(rng.random((episodes, size * size)), axis=1)[:, :5]
    here = np.zeros((episodes, size * size), int)
    for kind in range(1, 5):
        here[np.arange(episodes), cells[:, kind - 1]] = kind
    at = np.stack([cells[:, 4] % size, cells[:, 4] // size], axis=1)
    actions = rng.integers(4, size=(most, episodes))
    places, found, rewards = (
        np.zeros((most, episodes, 2), int),
        np.zeros((most, episodes), int),
        np.zeros((most, episodes)),
    )
    stage, length = np.zeros(episodes, int), np.full(episodes, most)
    wanted = np.array([WORDS.index(name) for name in order] + [-1])
    for t in range(most):
        at = np.clip(at + MOVES[actions[t]], 0, size - 1)
        seen = here[np.arange(episodes), at[:, 1] * size + at[:, 0]]
        stage = stage + (seen == wanted[stage])
        rewards[t] = np.where((seen == 3) & (stage == len(order)), 1.0, np.where(seen == 4, -1.0, 0.0))
        length = np.where((rewards[t] != 0) & (length == most), np.minimum(length, t + 1), length)
        places[t], found[t] = at, seen
    noise = rng.integers(5, size=(most, episodes))
    columns = {"x": places[..., 0], "y": places[..., 1], "here": np.array(WORDS)[found], "noise": noise}
    return Walks(columns, actions, rewards, length)


def plane(episodes: int, seed: int, *, irrelevant: int = 0, most: int = 100) -> Walks:
    """A point drifts in [0, 10]²: one box must be visited before the other pays. Irrelevant features are noise."""
    rng = np.random.default_rng(seed)
    coffee, office = (1.0, 3.0, 6.0, 9.0), (7.0, 9.0, 1.0, 3.0)
    at = rng.uniform(0, 10, (episodes, 2))
    actions = rng.integers(4, size=(most, episodes))
    places, rewards = np.zeros((most, episodes, 2)), np.zeros((most, episodes))
    got, length = np.zeros(episodes, bool), np.full(episodes, most)
    for t in range(most):
        at = np.clip(at + MOVES[actions[t]] + rng.normal(0, 0.3, (episodes, 2)), 0, 10)
        got |= _inside(at, coffee)
        rewards[t] = got & _inside(at, office)
        length = np.where((rewards[t] != 0) & (length == most), np.minimum(length, t + 1), length)
        places[t] = at
    columns = {"x": places[..., 0], "y": places[..., 1]}
    columns |= {f"noise{n}": rng.uniform(0, 1, (most, episodes)) for n in range(irrelevant)}
    return Walks(columns, actions, rewards, length)


def _inside(at: Array, box: tuple[float, float, float, float]) -> Array:
    left, right, bottom, top = box
    return (left <= at[:, 0]) & (at[:, 0] < right) & (bottom <= at[:, 1]) & (at[:, 1] < top)
