"""Episodes that share no label are learned apart, with the answer that learning them together would have."""

from __future__ import annotations

import numpy as np
import pytest

from markovize import Traces, learn, replay
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.parts import join_results, parts_of


def random_part(rng: np.random.Generator, name: str) -> list[tuple[list[str], list[str], list[float]]]:
    """Episodes over three cells of their own, paid in the last cell after the first one."""
    one, two, zero = (f"{name}{cell}" for cell in (1, 2, 0))
    episodes = [([one, two], ["go"], [0.0]), ([one, zero, two], ["go", "go"], [0.0, 1.0])]
    for _ in range(8):
        cells = rng.integers(0, 3, rng.integers(2, 6)).tolist()
        key = np.cumsum([0, *(cell == 0 for cell in cells[1:])])
        rewards = [float(cell == 2 and key[n + 1] % 3 == 1) for n, cell in enumerate(cells[1:])]
        episodes.append(([f"{name}{cell}" for cell in cells], ["go"] * (len(cells) - 1), rewards))
    return episodes


@pytest.mark.parametrize("seed", range(8))
def test_the_sum_of_the_parts_is_the_optimum_of_the_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    episodes = [episode for name in "abc" for episode in random_part(rng, name)]
    traces = Traces.of([episodes[n] for n in rng.permutation(len(episodes))])
    labels = "state", "state"
    whole = learn(traces, trigger_on=labels[0], reward_on=labels[1])
    parts = parts_of(label_traces(traces, *labels))
    assert len(parts) == 3
    assert sorted(int(n) for part in parts for n in part) == list(range(len(traces)))
    selected = [traces.select(part.tolist()) for part in parts]
    joined = join_results([learn(part, trigger_on=labels[0], reward_on=labels[1]) for part in selected])
    assert (joined.status, joined.states, joined.triggers) == ("optimal", whole.states, whole.triggers)
    assert replay(joined.unwrap(), traces).mismatches == 0


def test_parts_that_share_a_label_are_one() -> None:
    one = [(["a", "b"], ["go"], [0.0]), (["a", "c", "b"], ["go", "go"], [0.0, 1.0])]
    other = [(["x", "y"], ["go"], [0.0]), (["x", "c", "y"], ["go", "go"], [0.0, 1.0])]
    assert parts_of(label_traces(Traces.of([*one, *other]), "state", "state")) == []
