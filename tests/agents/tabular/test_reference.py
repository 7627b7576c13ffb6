"""The way from Python into compiled code: the arrays of an agent, found by their addresses."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit

from markovize.agents.tabular.compiled.allocation import declared, enlarge, from_arrays, groups, new_arrays, to_arrays
from markovize.agents.tabular.compiled.arrays import AgentArrays, Hyperparameters, Sizes, Values, Witnesses
from markovize.agents.tabular.compiled.reference import (
    AgentRef,
    arrays_at,
    arrays_at_plain,
    call_plain,
    draw,
    refer_to,
    set_generator,
)
from markovize.errors import InputError

SIZES = Sizes(machine_states=2, states=3, actions=4, transitions=5, trigger_labels=6, reward_labels=7, rows=8, steps=9)


def every_array(arrays: AgentArrays) -> list[npt.NDArray[Any]]:
    return [array for group in arrays for array in cast(Any, group)]


def numbered() -> AgentArrays:
    """Arrays in which every entry is another number."""
    arrays = new_arrays(SIZES)
    at = 0
    for array in every_array(arrays):
        if array.dtype.names is None and array.dtype != np.bool_:
            array[...] = np.arange(at, at + array.size).reshape(array.shape)
            at += array.size
    return arrays


@njit()  # not cached: the compiler's part is to be seen at work
def look(agent: AgentRef) -> tuple[float, int, int, int, float]:
    arrays = arrays_at(agent)
    arrays.values.q[1, 2, 3] += 0.5
    arrays.episode.status[0].conflict = 17
    shape = arrays.rewards.paid.shape
    size = shape[0] * 100 + shape[1] * 10 + shape[2]
    return arrays.values.q[1, 2, 3], arrays.witnesses.transitions[7, 8], arrays.route.queue[6], size, draw(agent)


@pytest.mark.kernels
def test_compiled_code_sees_the_very_arrays() -> None:
    arrays, rng = numbered(), np.random.default_rng(3)
    set_generator(arrays, rng)
    q, transition, node = arrays.values.q[1, 2, 3], arrays.witnesses.transitions[7, 8], arrays.route.queue[6]
    assert look(refer_to(arrays)) == (q + 0.5, transition, node, 272, np.random.default_rng(3).random())
    assert arrays.values.q[1, 2, 3] == q + 0.5
    assert arrays.episode.status[0].conflict == 17
    assert rng.random() == np.random.default_rng(3).random(2)[1], "the draw was the generator's own"


def test_the_plain_twins_do_the_same() -> None:
    arrays, rng = numbered(), np.random.default_rng(3)
    set_generator(arrays, rng)
    there = arrays_at_plain(refer_to(arrays))
    for array, other in zip(every_array(arrays), every_array(there), strict=True):
        assert np.array_equal(array, other)
        assert np.shares_memory(array, other)
    there.control.how[0] = Hyperparameters(True, 0.1, 32, 0.2, 0.9, False, True)
    assert (arrays.control.how[0].horizon, arrays.control.how[0].gamma) == (32, 0.9)
    generator = arrays.control.generator[0]
    assert call_plain(generator.next_double, generator.state) == np.random.default_rng(3).random()


def test_only_whole_arrays_can_be_referred_to() -> None:
    arrays = new_arrays(SIZES)
    wrongs: list[Any] = [np.zeros((2, 3, 8))[:, :, ::2], np.zeros((2, 3, 4), np.float32)]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=r"Values\.q float64 must be contiguous and writeable"):
            refer_to(arrays._replace(values=arrays.values._replace(q=wrong)))


def test_every_declared_array_is_made_as_declared() -> None:
    arrays = new_arrays(SIZES)
    assert [type(group) for group in arrays] == list(groups())
    assert arrays.rewards.paid.shape == (2, 7, 2)
    assert np.isnan(arrays.rewards.paid).all()
    assert (arrays.model.first == -1).all()
    assert arrays.route.nodes.shape == (3 * 2 * 3 + 1,)
    assert arrays.witnesses.free[: arrays.witnesses.free_rows[0].count].tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_enlarging_keeps_what_is_known_and_fills_the_rest() -> None:
    old = numbered()
    new = AgentArrays._make(enlarge(group, SIZES._replace(states=5, transitions=9)) for group in old)
    assert np.array_equal(new.values.q[:, :3], old.values.q)
    assert (new.values.q[:, 3:] == 0).all()
    assert (new.model.first[3:] == -1).all()
    assert np.array_equal(new.model.next[:5], old.model.next)
    assert new.witnesses is not old.witnesses
    assert new.witnesses.rewards is old.witnesses.rewards, "what fits already is not copied"


@pytest.mark.parametrize(
    ("name", "array", "said"),
    [
        ("Values.q", None, "is missing"),
        ("Values.q", np.zeros((2, 3, 3)), r"is float64 of shape \(2, 3, 3\), not float64 of shape \(2, 3, 4\)"),
        ("Values.q", np.zeros((2, 3, 4), np.float32), "is float32 of shape"),
        ("Witnesses.transitions", np.full((8, 9), 5, np.int32), "has entries that are not between 0 and 4"),
        ("Witnesses.transitions", np.full((8, 9), -1, np.int32), "has entries that are not between 0 and 4"),
        ("Witnesses.lengths", np.full(8, 10, np.int32), "has entries that are not between 0 and 9"),
    ],
)
def test_arrays_of_a_damaged_file_are_refused(name: str, array: npt.NDArray[Any] | None, said: str) -> None:
    new = new_arrays(SIZES)
    arrays = to_arrays((new.values, new.witnesses))
    kind = Values if name.startswith("Values") else Witnesses
    assert len(from_arrays(kind, arrays, SIZES)) == len(declared(kind))
    changed = {other: value for other, value in arrays.items() if other != name}
    with pytest.raises(InputError, match=rf"not a checkpoint of a run: {name} {said}"):
        from_arrays(kind, changed if array is None else changed | {name: array}, SIZES)
