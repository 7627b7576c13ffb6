"""Under one pair of labels: machines are searched for, and the largest whose evidence is significant is taken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Final

from markovize.episodes.labelled_steps import LabelledSteps, label_traces
from markovize.episodes.labelling import labelling_of
from markovize.episodes.traces import Traces
from markovize.learning.alternatives import Labels
from markovize.learning.engines.base import Delta
from markovize.learning.limits import Limits, Stop
from markovize.learning.problem import LabelPair
from markovize.learning.random_rewards.categories import Categories, categorise
from markovize.learning.random_rewards.chance import Chance, Weighed
from markovize.learning.random_rewards.sample import Sample, count_states
from markovize.learning.random_rewards.search import Search

SEARCHED: Final = 200_000  # steps that a search looks at; what it finds is tested on all


@dataclass(frozen=True)
class Question:
    """What machines may be, how many pairs of labels are tried, and against which labels of steps they must stand."""

    chance: Chance
    acyclic: bool
    pairs: int
    finest: str | None  # where labels are left open, a smaller machine may use finer ones in its defence


@dataclass(frozen=True)
class Attempt:
    """What came of one pair of labels; ``evidence``: in nats, against a reward that is Markov."""

    steps: LabelledSteps
    categories: Categories
    sample: Sample
    delta: Delta
    evidence: float
    chance: Chance


def attempt(traces: Traces, labels: LabelPair, question: Question, limits: Limits) -> Attempt:
    """The machine that is taken under these labels; none but one state where nothing is significant."""
    steps = label_traces(traces, *labels)
    categories = categorise(traces.rewards, steps.rewards.ids, len(steps.rewards.values))
    fine = steps.rewards if question.finest is None else labelling_of(question.finest).label_steps(traces)
    sample = Sample.of(steps, categories, fine)
    found, stopped = list[Delta](), False
    if len(sample.places):
        search = Search(Sample.of(steps, categories, fine, SEARCHED), acyclic=question.acyclic, limits=limits)
        try:
            for delta in search.sizes():
                found.append(delta)
        except Stop:
            stopped = True
    delta, compared = _choose(sample, found, question)
    chance = Chance(question.chance.alpha, tuple(compared), stopped)
    evidence = sample.evidence(delta, [sample.likelihoods({})]) if delta else 0.0
    return Attempt(steps, categories, sample, delta, evidence, chance)


def find_alike(found: Attempt, question: Question, limits: Limits) -> Labels:
    """For each trigger the labels that would serve as well: the machine with one of them cannot be rejected."""
    search = Search(found.sample, acyclic=question.acyclic, limits=limits)
    needed = question.chance.nats

    def rejects(other: Delta) -> bool:
        return found.sample.evidence(found.delta, [found.sample.likelihoods(other)]) >= needed

    try:
        return {key: search.labels_like(found.delta, key, rejects) for key in found.delta}
    except Stop:
        return {}


def _choose(sample: Sample, found: Iterable[Delta], question: Question) -> tuple[Delta, list[Weighed]]:
    """The largest machine that is significantly better than smaller ones: all found, and itself less a trigger."""
    taken: Delta = {}
    compared: list[Weighed] = []
    smaller = [sample.likelihoods({})] if len(sample.places) else []
    for delta in found:
        less = [{k: v for k, v in delta.items() if k != key} for key in delta] if len(delta) > 1 else []
        rivals = [*smaller, *(sample.likelihoods(each) for each in less)]
        nats = sample.evidence(delta, rivals) - log(question.pairs)
        significant = nats >= question.chance.nats
        compared.append(Weighed(count_states(delta), len(delta), nats / log(10), significant))
        taken = delta if significant else taken
        smaller.append(sample.likelihoods(delta))
    return taken, compared
