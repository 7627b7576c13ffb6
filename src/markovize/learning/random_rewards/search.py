"""Machines by likelihood: grown trigger by trigger, a few side by side, and improved by moving one trigger at a time.

Nothing is proven here. What a search finds is believed only as far as the evidence for it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from markovize.episodes.distinct import distinct_keys
from markovize.episodes.traces import Floats, Ints, Longs
from markovize.learning.engines.base import Delta
from markovize.learning.judge import is_acyclic, size
from markovize.learning.limits import Limits
from markovize.learning.random_rewards.kernels import try_triggers
from markovize.learning.random_rewards.sample import Sample, count_states, machine_cost
from markovize.machine.delta import tabulate

MOST_TRIGGERS: Final = 12
LEAST_BEAM, MOST_BEAM = 4, 32  # machines of one size that are grown on
BEAM_STEPS: Final = 1_000_000  # steps times machines in a beam
IMPROVED: Final = 3  # of them, whose triggers are moved
PATIENCE: Final = 3  # sizes that may be no better than a smaller one: a trigger may pay only together with another
REJECTED: Final = 3  # labels after which no others are looked at
BATCH: Final = 256  # machines tried between two looks at the clock


class Search:
    """The best machines of each size, by their evidence against a reward that is Markov."""

    def __init__(self, sample: Sample, *, acyclic: bool, limits: Limits) -> None:
        self._sample, self._acyclic, self._limits = sample, acyclic, limits
        self._markov = sample.likelihoods({})
        self._beam = min(MOST_BEAM, max(LEAST_BEAM, BEAM_STEPS // max(1, len(sample.places))))

    def sizes(self) -> Iterator[Delta]:
        """The best machine found with one trigger, with two, and so on, until more of them are no better."""
        beam: list[Delta] = [{}]
        best, stale = 0.0, 0
        while stale < PATIENCE and len(beam[0]) < MOST_TRIGGERS:
            grown = {frozenset(delta.items()): (score, delta) for each in beam for score, delta in self._grow(each)}
            found = sorted(grown.values(), key=lambda each: -each[0])[: self._beam]
            if not found:
                return
            found[:IMPROVED] = [self._improve(*each) for each in found[:IMPROVED]]
            found.sort(key=lambda each: -each[0])
            beam = [delta for _, delta in found]
            yield beam[0]
            stale = 0 if found[0][0] > best else stale + 1
            best = max(best, found[0][0])

    def _improve(self, score: float, delta: Delta) -> tuple[float, Delta]:
        """The machine after giving one trigger at a time the best place, as long as that helps."""
        moved = True
        while moved:
            moved = False
            for key in list(delta):
                rest = {k: v for k, v in delta.items() if k != key}
                found = next(iter(self._grow(rest, count_states(delta))), (score, delta))
                if found[0] > score + 1e-9:
                    (score, delta), moved = found, True
                    break
        return score, delta

    def labels_like(self, delta: Delta, key: tuple[int, int], rejects: Callable[[Delta], bool]) -> list[int]:
        """The labels that could replace that of a trigger without being rejected, the best first.

        They are looked at by their evidence; after some that are rejected the others are not.
        """
        rest = {k: v for k, v in delta.items() if k != key}
        known = self._sample.count(rest, count_states(delta))
        own = [(u, x, delta[key]) for u, x in self._met(known[1]) if u == key[0] and (u, x) not in delta]
        tried = np.array(own, np.int32).reshape(-1, 3)
        scores = self._score(rest, count_states(delta), known, tried)
        out, rejected = list[int](), 0
        for number in np.argsort(-scores, kind="stable").tolist():
            self._limits.check()
            u, x, v = tried[number].tolist()
            if rejects({**rest, (u, x): v}):
                rejected += 1
                if rejected == REJECTED:
                    break
            else:
                out.append(x)
        return out

    def _grow(self, delta: Delta, states: int | None = None) -> list[tuple[float, Delta]]:
        """Machines with one trigger more, at most so many states, and most evidence: the best first."""
        states = count_states(delta) + 1 if states is None else states
        known = self._sample.count(delta, states)
        pairs = [(u, v) for u in range(states) for v in range(states) if u != v]
        if self._acyclic:
            pairs = [(u, v) for u, v in pairs if is_acyclic({**delta, (u, -1): v})]
        met = [(u, x) for u, x in self._met(known[1]) if (u, x) not in delta]
        tried = np.array([(u, x, v) for u, x in met for source, v in pairs if source == u], np.int32).reshape(-1, 3)
        scores = self._score(delta, states, known, tried)
        for u, v in pairs:  # a state more makes more machines
            grown = {**delta, (u, -1): v}
            cost = machine_cost(count_states(grown), len(grown), self._sample.n_triggers)
            scores[(tried[:, 0] == u) & (tried[:, 2] == v)] -= cost if size(grown)[0] == count_states(grown) else np.inf
        out = list[tuple[float, Delta]]()
        for number in np.argsort(-scores, kind="stable")[: self._beam].tolist():
            u, x, v = tried[number].tolist()
            if scores[number] > -np.inf:
                out.append((float(scores[number]), {**delta, (u, x): v}))
        return out

    def _met(self, before: Ints) -> list[tuple[int, int]]:
        """The states and labels that some step has."""
        found = distinct_keys(before.astype(np.int64) * self._sample.n_triggers + self._sample.triggers).values
        return [divmod(key, self._sample.n_triggers) for key in found.tolist()]

    def _score(self, delta: Delta, states: int, known: tuple[Longs, Ints, Longs], tried: Ints) -> Floats:
        """What each of these triggers is worth, beside those of the machine."""
        sample, scores = self._sample, np.empty(len(tried))
        table, events = tabulate(states, max(1, sample.n_triggers), delta), sample.events(delta)
        for start in range(0, len(tried), BATCH):
            self._limits.check()
            scores[start : start + BATCH] = try_triggers(
                sample.triggers,
                sample.places,
                sample.episodes,
                table,
                sample.blocks,
                known,
                sample.having,
                events,
                tried[start : start + BATCH],
                self._markov,
            )
        return scores
