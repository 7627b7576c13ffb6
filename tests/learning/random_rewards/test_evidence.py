"""The evidence for a machine: counted as defined, and never more than chance allows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import comb, exp, log

import numpy as np
import pytest

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.learning.limits import Limits
from markovize.learning.random_rewards.categories import categorise
from markovize.learning.random_rewards.kernels import chances, weigh
from markovize.learning.random_rewards.sample import Sample, count_states
from markovize.learning.random_rewards.search import Search

pytestmark = pytest.mark.kernels


def sample_of(traces: Traces, fine: str = "state", most: int | None = None) -> Sample:
    steps = label_traces(traces, "state", "state")
    categories = categorise(traces.rewards, steps.rewards.ids, len(steps.rewards.values))
    return Sample.of(steps, categories, label_traces(traces, fine, fine).rewards, most)


def walks(seed: int, places: int = 5, many: int = 40, steps: int = 9) -> Traces:
    rng = np.random.default_rng(seed)
    episodes = [rng.integers(places, size=steps + 1).tolist() for _ in range(many)]
    return Traces.of([(seen, [0] * steps, rng.integers(2, size=steps).tolist()) for seen in episodes])


@pytest.mark.parametrize("seed", range(20))
def test_a_trigger_more_is_weighed_as_the_whole_machine_is(seed: int) -> None:
    """What differs is counted for speed; it must come to the same as counting everything."""
    rng, sample = np.random.default_rng(seed), sample_of(walks(seed))
    states = int(rng.integers(2, 5))
    delta = {(int(u), int(rng.integers(5))): int(v) for u, v in rng.integers(states, size=(4, 2)) if u != v}
    tried = [(u, x, v) for u, x, v in product(range(states), range(5), range(states)) if u != v and (u, x) not in delta]
    search = Search(sample, acyclic=False, limits=Limits())
    found = search._score(delta, states, sample.count(delta, states), np.array(tried, np.int32))
    for (u, x, v), score in zip(tried, found.tolist(), strict=True):
        whole = weigh(sample.chances({**delta, (u, x): v}) - sample.likelihoods({}))
        assert score == pytest.approx(whole)


def test_each_reward_is_foretold_by_those_before() -> None:
    counts, foretold = np.zeros(3), 0.0
    for code in (0, 1, 1, 2, 1):
        foretold += log((counts[code] + 0.5) / (counts.sum() + 1.5))
        counts[code] += 1
    assert chances(counts.astype(np.int64), np.array([0, 3]), 1)[0] == pytest.approx(foretold)


def test_the_best_labels_are_weighed() -> None:
    rng = np.random.default_rng(0)
    for many in (1, 2, 5):
        gains = rng.normal(0, 4, many)
        weights = 1 - 0.5**many
        best = max(
            sum(gains[list(some)]) - log(2**k * comb(many, k) * weights)
            for k in range(1, many + 1)
            for some in combinations(range(many), k)
        )
        assert weigh(gains) == pytest.approx(best) or (gains < 0).any()


@pytest.mark.parametrize("chance", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("fine", ["state", "transition"])
def test_chance_gives_no_more_evidence_than_it_may(chance: float, fine: str) -> None:
    """Over all rewards that a Markov reward can pay: the mean of the best machine's evidence is at most 1.

    So it is 1/α or more with a probability of at most α. Two places pay, eight times in all, and all machines with one
    trigger are tried.
    """
    ways = [["a", "b", "goal", "c", "goal"], ["b", "goal", "other", "goal"], ["a", "c", "goal", "other", "b", "goal"]]
    traces = Traces.of([(seen, [0] * (len(seen) - 1), [0.0] * (len(seen) - 1)) for seen in ways])
    names = [traces.observation_values[n] for n in traces.states_after()]
    paying = np.flatnonzero([name in ("goal", "other") for name in names])
    mean = 0.0
    for paid in product([0.0, 1.0], repeat=len(paying)):
        rewards = np.zeros(traces.steps)
        rewards[paying] = paid
        sample = sample_of(replace(traces, rewards=rewards), fine)
        if not len(sample.places):
            continue
        markov = sample.likelihoods({})
        best = max(sample.evidence({(0, x): 1}, [markov]) for x in range(sample.n_triggers))
        mean += exp(best) * chance ** sum(paid) * (1 - chance) ** (len(paid) - sum(paid))
    assert 0 < mean <= 1


def test_a_smaller_machine_may_use_finer_labels() -> None:
    traces = walks(3)
    coarse, fine = (sample_of(traces, on).likelihoods({}) for on in ("state", "transition"))
    assert (fine >= coarse - 1e-9).all() and (fine > coarse).any()


def test_a_search_may_look_at_some_episodes() -> None:
    traces = walks(4, many=100)
    whole, some = sample_of(traces), sample_of(traces, most=300)
    assert len(whole.places) > 2 * len(some.places) > 0
    assert count_states({}) == 1 and len(some.blocks) == len(whole.blocks)
