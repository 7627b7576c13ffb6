"""Noise or history? Where equal steps pay differently, histories tell: equal ones leave only chance to blame.

A step's history is all (s, a, s') of its episode up to the step. What paid differently after the same history, no
machine on these observations can explain. What paid differently only after other histories, one can; but histories that
come once cannot show noise, so it is said how many came more than once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from markovize.episodes.labelling import labelling_named
from markovize.episodes.traces import Floats, Ints, Longs, Traces
from markovize.episodes.values import Value, jsonable

Hashes: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Apart:
    """Labels that paid differently, and their steps, told apart.

    ``noise``: steps that paid another reward than the commonest of their history, and how many labels have such steps.
    ``history``: the same for steps whose history pays another reward than is common for their label; a label may have
    both. Of the ``steps`` in question, ``repeated`` have a history that came more than once: others show no noise.

    >>> print(Apart((1, 3), (4, 120), 900, 1_000))
    noise: 3 steps paid otherwise after the same history; history: 120 steps did after another one (of 1,000 \
steps, 900 have a history that came more than once)
    """

    noise: tuple[int, int]  # labels, steps
    history: tuple[int, int]
    repeated: int
    steps: int
    unusual: int = 0  # steps that paid another reward than the commonest of their label

    def __str__(self) -> str:
        noise, history = (f"{n:,} step{'' if n == 1 else 's'}" for n in (self.noise[1], self.history[1]))
        told = f"noise: {noise} paid otherwise after the same history; history: {history} did after another one"
        return f"{told} (of {self.steps:,} steps, {self.repeated:,} have a history that came more than once)"

    def to_json(self) -> dict[str, Any]:
        """As ``check --json`` and ``audit --json`` have it."""
        noise, history = ({"labels": labels, "steps": steps} for labels, steps in (self.noise, self.history))
        return {"noise": noise, "history": history, "repeated_histories": self.repeated}


def tell_apart(labels: Longs | Ints, histories: Hashes | Longs, rewards: Floats | Longs) -> Apart:
    """Of steps whose labels paid differently, how many did by noise, and how many by history.

    >>> label, history = np.zeros(5, np.int64), np.array([7, 7, 7, 8, 8])
    >>> found = tell_apart(label, history, np.array([0, 0, 1, 1, 1]))  # 1 is common, but not after 7
    >>> found.noise, found.history, found.repeated
    ((1, 1), (1, 2), 5)
    >>> tell_apart(label, history, np.array([0, 0, 0, 1, 1])).noise
    (0, 0)
    """
    if not len(labels):
        return Apart((0, 0), (0, 0), 0, 0)
    label = np.unique(labels, return_inverse=True)[1]
    levels, code = np.unique(rewards, return_inverse=True)
    paid = np.bincount(label * len(levels) + code, minlength=(label.max() + 1) * len(levels))
    usual = paid.reshape(-1, len(levels)).argmax(axis=1)
    order = np.lexsort((code, histories, label))
    label, code, history = label[order], code[order], histories[order]
    other_history = np.r_[True, (label[1:] != label[:-1]) | (history[1:] != history[:-1])]
    other = np.flatnonzero(other_history | np.r_[True, code[1:] != code[:-1]])
    count = np.diff(np.r_[other, len(order)])  # of each (label, history, reward)
    group = np.cumsum(other_history)[other] - 1
    first = np.flatnonzero(other_history[other])
    most, all_of = np.maximum.reduceat(count, first), np.add.reduceat(count, first)
    own = label[other][first]
    as_usual = np.zeros(len(first), np.bool_)
    as_usual[group[(code[other] == usual[label[other]]) & (count == most[group])]] = True
    return Apart(
        (len(np.unique(own[all_of > most])), int((all_of - most).sum())),
        (len(np.unique(own[~as_usual])), int(most[~as_usual].sum())),
        int(all_of[all_of > 1].sum()),
        len(order),
        int(len(order) - paid.reshape(-1, len(levels)).max(axis=1).sum()),
    )


def history_keys(traces: Traces) -> Hashes:
    """A number for each step that is equal for equal histories, in whatever part of a log they are.

    >>> keys = history_keys(Traces.of([([0, 1, 2], [7, 8], [0, 0]), ([0, 1, 2], [7, 8], [0, 1]), ([1, 2], [8], [0])]))
    >>> len(set(keys.tolist()))
    3
    """
    labels = labelling_named("transition").label_steps(traces)
    return _chain(traces.offsets, labels.ids, _hashes(labels.values))


def _hashes(values: Sequence[Value]) -> Hashes:
    texts = (json.dumps(jsonable(value)).encode() for value in values)
    return np.array([int.from_bytes(blake2b(text, digest_size=8).digest(), "big") for text in texts], np.uint64)


@njit(cache=True)
def _chain(offsets: Longs, labels: Ints, hashes: Hashes) -> Hashes:
    out = np.zeros(len(labels), np.uint64)
    for e in range(len(offsets) - 1):
        key = np.uint64(0)
        for n in range(offsets[e], offsets[e + 1]):
            key = (key ^ hashes[labels[n]]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
            key *= np.uint64(0xD6E8FEB86659FD93)
            key ^= key >> np.uint64(29)
            out[n] = key
    return out
