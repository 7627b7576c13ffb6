"""Machines grown along several ways at a time."""

from __future__ import annotations

import numpy as np
import pytest
from instances import two_coffees

from markovize import Traces
from markovize.episodes.allowance import Allowance
from markovize.learning import beam
from markovize.learning.beam import explain_in_beam, grow_in_beam, with_copy
from markovize.learning.engines.base import Delta
from markovize.learning.judge import Judge, is_acyclic, size
from markovize.learning.limits import Limits, Stop
from markovize.learning.mixtures import COPY, Mixtures
from markovize.learning.prefix_tree import cut_tree
from markovize.learning.problem import label_and_merge
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks


def judge_of(traces: Traces, outliers: int = 0) -> Judge:
    merged = label_and_merge(traces, ("state", "state"), "reward", Limits())
    return Judge(cut_tree(merged, Allowance(0.0, outliers)))


@pytest.fixture(scope="module")
def breakfast() -> Judge:
    return judge_of(noisy_walks(world("breakfast", task="b", rewards="cumulative"), 100, np.random.default_rng(1)))


@pytest.mark.parametrize("seed", range(20))
def test_a_copy_tells_no_less_than_before(breakfast: Judge, seed: int) -> None:
    """Its states are those of the machine, some of them twice."""
    rng, labels = np.random.default_rng(seed), breakfast.tree.alphabet
    delta: dict[tuple[int, int], int] = {}
    while len(delta) < 5:
        u, x, v = int(rng.integers(3)), int(rng.choice(labels)), int(rng.integers(3))
        if u != v:
            delta[u, x] = v
    loop = next((u, int(x)) for u in rng.permutation(3).tolist() for x in labels if (u, int(x)) not in delta)
    copied = with_copy(delta, loop)
    assert copied.items() >= delta.items() and loop in copied
    assert breakfast.mixture(copied) <= breakfast.mixture(delta) + 1e-9


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(20))
def test_many_changes_at_once_are_weighed_as_each_alone(breakfast: Judge, seed: int) -> None:
    rng, labels, mixtures = np.random.default_rng(seed), breakfast.tree.alphabet, Mixtures(breakfast)
    delta: dict[tuple[int, int], int] = {}
    for _ in range(seed % 6):
        u, v = rng.choice(4, 2, replace=False).tolist()
        delta[u, int(rng.choice(labels))] = v
    states = 1 + max((max(u, v) for (u, _), v in delta.items()), default=0)
    loops = [(u, x) for u in range(states) for x in labels if (u, x) not in delta]
    changes = [(loop, target) for loop in loops for target in (COPY, *range(states + 1)) if target != loop[0]]
    given = [changes[number] for number in rng.permutation(len(changes))[:60]]
    alone = [breakfast.mixture(with_copy(delta, at) if to == COPY else {**delta, at: to}) for at, to in given]
    assert mixtures.after(delta, given) == pytest.approx(alone, abs=1e-6)
    assert mixtures.after(delta, given) == mixtures.after(delta, given), "nothing is left of one change for the next"
    assert mixtures.after(delta, []) == []


def test_a_copy_of_a_machine_without_cycles_has_none() -> None:
    copied = with_copy({(0, 1): 1, (1, 2): 2, (0, 3): 2}, (0, 4))
    assert is_acyclic(copied)
    assert size(copied) == (6, 7)


def test_a_copy_of_a_loop_is_a_loop() -> None:
    """All that follows is copied once, the state itself included."""
    assert with_copy({(0, 1): 1, (1, 2): 0}, (1, 1)) == {(0, 1): 1, (1, 2): 0, (1, 1): 2, (2, 2): 3, (3, 1): 2}


def grow(judge: Judge, *, acyclic: bool, work: int = 30_000) -> list[Delta]:
    return list(
        grow_in_beam(judge, lambda delta: len(delta) + judge.mixture(delta), Limits(), acyclic=acyclic, work=work)
    )


@pytest.mark.parametrize("acyclic", [True, False])
def test_machines_explain_more_and_more(breakfast: Judge, acyclic: bool) -> None:
    found = grow(breakfast, acyclic=acyclic)
    assert any(breakfast.explains(delta) for delta in found)
    assert not acyclic or all(is_acyclic(delta) for delta in found)
    assert found == grow(breakfast, acyclic=acyclic)  # nothing depends on the clock


def test_it_ends_where_there_is_nothing_to_explain_or_no_work_left() -> None:
    judge = judge_of(two_coffees())
    assert len(grow(judge, acyclic=True)) >= 1
    assert grow(judge, acyclic=True, work=0) == []
    nothing = judge_of(Traces.of([(["hall", "door"], ["go"], [1])]))
    assert grow(nothing, acyclic=False) == []


@pytest.mark.parametrize("acyclic", [True, False])
def test_a_machine_that_explains_everything_or_none(breakfast: Judge, acyclic: bool) -> None:
    found = explain_in_beam(breakfast, Limits(), acyclic=acyclic)
    assert found is not None and breakfast.explains(found)
    assert not acyclic or is_acyclic(found)
    assert explain_in_beam(breakfast, Limits(), acyclic=acyclic, work=0) is None


def test_limits_hold(breakfast: Judge) -> None:
    with pytest.raises(Stop):
        list(grow_in_beam(breakfast, breakfast.mixture, Limits(0.0), acyclic=True))
    with pytest.raises(Stop):
        explain_in_beam(breakfast, Limits(0.0), acyclic=True)


def test_limits_hold_between_the_changes_of_one_machine(breakfast: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beam, "BLOCK", 0)  # one at a time
    with pytest.raises(Stop):
        explain_in_beam(breakfast, Limits(0.0), acyclic=False)
    looks = list[int]()
    alone = explain_in_beam(breakfast, Limits(pulse=lambda: looks.append(1)), acyclic=False)
    assert len(looks) > 100
    monkeypatch.undo()
    assert explain_in_beam(breakfast, Limits(), acyclic=False) == alone


def test_a_machine_with_too_many_cells_is_not_grown(breakfast: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    assert explain_in_beam(breakfast, Limits(), acyclic=False) is not None
    monkeypatch.setattr(beam, "MOST_CELLS", Mixtures(breakfast).cells({}) - 1)
    assert explain_in_beam(breakfast, Limits(), acyclic=False) is None
