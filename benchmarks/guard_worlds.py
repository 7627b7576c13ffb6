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
THINGS = ("coffee", "mail", "office", "plant")
MORE_THINGS = (*THINGS, "key", "cup", "rock", "dog")
Region = tuple[float, float, float, float]  # left, right, bottom, top
REGIONS: tuple[Region, ...] = ((1.0, 3.0, 6.0, 9.0), (7.0, 9.0, 1.0, 3.0))


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


def random_objects(
    episodes: int,
    order: tuple[str, ...],
    seed: int,
    *,
    size: int = 7,
    most: int = 100,
    things: tuple[str, ...] = THINGS,
    bad: tuple[str, ...] = ("plant",),
    noises: int = 1,
    again: bool = False,
) -> Walks:
    """Things lie elsewhere in each episode. The office pays 1 after ``order``, what is bad costs 1; both end it.

    With ``again`` neither does, and after the office all begins anew.
    """
    rng, kinds = np.random.default_rng(seed), len(things)
    cells = np.argsort(rng.random((episodes, size * size)), axis=1)[:, : kinds + 1]
    here = np.zeros((episodes, size * size), int)
    for kind in range(kinds):
        here[np.arange(episodes), cells[:, kind]] = kind + 1
    at = np.stack([cells[:, kinds] % size, cells[:, kinds] // size], axis=1)
    actions = rng.integers(4, size=(most, episodes))
    places, found, rewards = (
        np.zeros((most, episodes, 2), int),
        np.zeros((most, episodes), int),
        np.zeros((most, episodes)),
    )
    stage, length = np.zeros(episodes, int), np.full(episodes, most)
    words = ("nothing", *things)
    wanted = np.array([words.index(name) for name in order] + [-1])
    for t in range(most):
        at = np.clip(at + MOVES[actions[t]], 0, size - 1)
        seen = here[np.arange(episodes), at[:, 1] * size + at[:, 0]]
        stage = stage + (seen == wanted[stage])
        paid = (seen == words.index("office")) & (stage == len(order))
        rewards[t] = np.where(paid, 1.0, np.where(np.isin(seen, [words.index(name) for name in bad]), -1.0, 0.0))
        stage = np.where(paid & again, 0, stage)
        length = _first_end(length, t, (rewards[t] != 0) & (not again), most)
        places[t], found[t] = at, seen
    noise = {f"noise{n or ''}": rng.integers(5, size=(most, episodes)) for n in range(noises)}
    columns = {"x": places[..., 0], "y": places[..., 1], "here": np.array(words)[found], **noise}
    return Walks(columns, actions, rewards, length)


def plane(
    episodes: int,
    seed: int,
    *,
    irrelevant: int = 0,
    most: int = 100,
    regions: tuple[Region, ...] = REGIONS,
    bad: Region | None = None,
    drifts: bool = False,
    again: bool = False,
) -> Walks:
    """A point drifts in [0, 10]²: all regions but the last must be visited, in this order, before the last one pays.

    Irrelevant features are noise, or positions of their own that drift. A bad region costs 1. Pay ends an episode; with
    ``again`` all begins anew.
    """
    rng = np.random.default_rng(seed)
    at = rng.uniform(0, 10, (episodes, 2))
    actions = rng.integers(4, size=(most, episodes))
    places, rewards = np.zeros((most, episodes, 2)), np.zeros((most, episodes))
    stage, length = np.zeros(episodes, int), np.full(episodes, most)
    for t in range(most):
        at = np.clip(at + MOVES[actions[t]] + rng.normal(0, 0.3, (episodes, 2)), 0, 10)
        for number, region in enumerate(regions[:-1]):
            stage = np.where((stage == number) & _inside(at, region), number + 1, stage)
        paid = (stage == len(regions) - 1) & _inside(at, regions[-1])
        rewards[t] = paid if bad is None else np.where(_inside(at, bad), -1.0, paid)
        stage = np.where(paid & again, 0, stage)
        length = _first_end(length, t, (rewards[t] != 0) & (not again), most)
        places[t] = at
    columns = {"x": places[..., 0], "y": places[..., 1]}
    for n in range(irrelevant):
        noise = rng.uniform(0, 1, (most, episodes))
        columns[f"noise{n}"] = np.cumsum(noise - 0.5, axis=0) if drifts else noise
    return Walks(columns, actions, rewards, length)


def _first_end(length: Array, t: int, ends: Array, most: int) -> Array:
    """The lengths of episodes, of which some end with step t, unless they did before."""
    ended: Array = np.where(ends & (length == most), np.minimum(length, t + 1), length)
    return ended


def _inside(at: Array, box: Region) -> Array:
    left, right, bottom, top = box
    return (left <= at[:, 0]) & (at[:, 0] < right) & (bottom <= at[:, 1]) & (at[:, 1] < top)
