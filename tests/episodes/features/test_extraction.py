"""From episodes to features: names, kinds, columns, and what is refused."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import pytest
from guarded_machines import features_of, random_machine, random_walks

from markovize import Feature, Guard, InputError, Literal, Traces
from markovize.episodes.features import extract_features, kinds_of_action, kinds_of_space, tabulate_features
from markovize.episodes.features.step import step_values
from markovize.episodes.features.table import FeatureTable


def walk(*observations: Any, actions: Any = None) -> Traces:
    steps = len(observations) - 1
    return Traces.of([(list(observations), actions or list(range(steps)), [0.0] * steps)])


def kinds(table: FeatureTable) -> dict[str, str]:
    return {feature.name: feature.kind for feature in table.features}


def rows(table: FeatureTable) -> list[tuple[Any, ...]]:
    return [table.row(step) for step in range(table.steps)]


def test_names_and_kinds() -> None:
    assert kinds(extract_features(walk(0, 1, 2))) == {"state": "categorical", "action": "categorical"}
    assert kinds(extract_features(walk(0, 1.5, 2))) == {"state": "numeric", "action": "categorical"}
    assert kinds(extract_features(walk("a", "b", "c"), numeric=["action"])) == {
        "state": "categorical",
        "action": "numeric",
    }
    nested = [{"at": [n, n + 0.5], "door": {"open": n > 1}, "name": f"r{n}"} for n in range(4)]
    table = extract_features(walk(*nested, actions=[(0, 1.5), (1, 2.5), (2, 3)]), categorical=["at.1"])
    assert kinds(table) == {
        "at.0": "categorical",
        "at.1": "categorical",
        "door.open": "categorical",
        "name": "categorical",
        "action.0": "categorical",
        "action.1": "numeric",
    }
    assert rows(table)[1] == (2, 2.5, True, "r2", 1, 2.5)


def test_true_is_not_one() -> None:
    table = extract_features(walk(0, True, 1, False, 0))
    assert table.values[0] == (False, True, 0, 1)
    assert table.columns[0].tolist() == [1, 3, 0, 2]
    assert table.holds(Guard([Literal("state", "is", True)])).tolist() == [True, False, False, False]
    assert kinds(table)["state"] == "categorical"


def test_numbers_and_texts_together_are_categorical() -> None:
    assert kinds(extract_features(walk(0.5, "none", 1.5)))["state"] == "categorical"
    with pytest.raises(InputError, match="the feature state is not numeric: 'none' is no number"):
        extract_features(walk(0.5, "none", 1.5), numeric=["state"])


def test_constant_features_are_left_out() -> None:
    table = extract_features(walk([5, 1, 0], [0, 1, 2.5], [0, 1, 3.5], actions=["go", "go"]))
    assert (kinds(table), table.constant) == ({"2": "numeric"}, ("0", "1", "action"))
    nothing = extract_features(walk(0, 1, 1, actions=["go", "go"]))
    assert (nothing.features, nothing.constant, nothing.steps) == ((), ("state", "action"), 0)


def test_features_of_the_state_before() -> None:
    table = extract_features(walk([0, "a"], [1, "b"], [2, "b"], actions=["go", "go"]), before=True)
    assert list(kinds(table)) == ["0", "before.0", "before.1"]
    assert rows(table) == [(1, 0, "a"), (2, 1, "b")]


def test_a_function_adds_and_replaces() -> None:
    calls = []

    def gain(state: int, action: str, after: int) -> dict[str, Any]:
        calls.append((state, action, after))
        return {"gain": after - state, "state": f"s{after}", "more": {"even": after % 2 == 0}}

    twice = Traces.of([([0, 3, 4], ["go", "go"], [0, 0]), ([0, 3, 4], ["go", "go"], [0, 0])])
    table = extract_features(twice, function=gain, numeric=["gain"])
    assert kinds(table) == {"state": "categorical", "gain": "numeric", "more.even": "categorical"}
    assert rows(table) == [("s3", 3, False), ("s4", 1, True)] * 2
    assert len(calls) == 2, "once for each distinct step"


def test_a_function_serves_where_observations_have_no_features() -> None:
    images = [np.full((40, 40), n).tolist() for n in range(3)]
    with pytest.raises(InputError, match="consist of 1,600 numbers each; give features="):
        extract_features(walk(*images))
    table = extract_features(walk(*images), function=lambda *step: {"first": step[2][0][0]})
    assert kinds(table) == {"action": "categorical", "first": "categorical"}


@pytest.mark.parametrize(
    ("observations", "reason"),
    [
        (([1, 2], [1, 2, 3], [1, 2]), "different lengths: (1, 2) and (1, 2, 3)"),
        (({"l": [{"a": 1}]}, {"l": [{"b": 1}]}), "different keys at l.0: {a: 1} and {b: 1}"),
        (({"c": {"a": 1}}, {"c": {"a": 1, "b": 2}}), "different keys at c"),
        (({"a": {"c": 1}}, {"a": {"d": 1}}), "different keys at a"),
        ((1, [1]), "some are scalars, such as 1, and others lists, such as (1)"),
        (({"c": [1]}, {"c": {"a": 1}}), "some are lists, such as (1), and others objects"),
        (({"action": 1}, {"action": 2}), "two parts of a step are called action"),
        (({"a": {"b": 1}, "a.b": 2}, {"a": {"b": 2}, "a.b": 3}), "two parts of a step are called a.b"),
        (({"": 1}, {"": 2}), "a part of the observations has no name; features need names"),
    ],
)
def test_features_that_differ_are_refused(observations: Any, reason: str) -> None:
    with pytest.raises(InputError) as error:
        extract_features(walk(*observations))
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda *_: 3, "must return a mapping of names to values, not 3"),
        (lambda *_: {"x": float("nan")}, "cannot be used: nan is not a finite number"),
        (lambda *_: {"x": None}, "null is not a label"),
        (lambda *step: {f"x{step[2]}": 1}, "the features that the function returned have different keys"),
        (lambda *step: {"x": 1 // (step[2] - 1)}, "failed with ZeroDivisionError"),
        (lambda *_: {3: 1}, "the names of an object are strings, not 3"),
    ],
)
def test_functions_that_fail_are_refused(function: Any, reason: str) -> None:
    with pytest.raises(InputError) as error:
        extract_features(walk(0, 1, 2), function=function)
    assert reason in str(error.value)


def test_names_must_be_known() -> None:
    for options in ({"numeric": ["y"]}, {"categorical": ["y"]}):
        with pytest.raises(InputError, match="there is no feature y; the features are action, state"):
            extract_features(walk(0, 1, 2), **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="state cannot be numeric and categorical at once"):
        extract_features(walk(0, 1, 2), numeric=["state"], categorical=["state"])
    with pytest.raises(InputError, match="there are no steps"):
        extract_features(Traces.of([([0], [], [])]))
    with pytest.raises(InputError, match="too large"):
        extract_features(walk(0, 10**400, 2), numeric=["state"])


def test_a_machine_gets_exactly_its_features() -> None:
    wanted = (Feature("before.x", "numeric"), Feature("x", "categorical"))
    table = tabulate_features(walk({"x": 1, "y": 1}, {"x": 1, "y": 2}), wanted)
    assert (table.features, rows(table)) == (wanted, [(1, 1)])
    with pytest.raises(
        InputError, match="z is not among those of the episodes: action, x; if a function made it, give"
    ):
        tabulate_features(walk({"x": 1}, {"x": 1}), [Feature("z", "numeric")])
    with pytest.raises(InputError, match="features= does not return it"):
        tabulate_features(walk({"x": 1}, {"x": 1}), [Feature("z", "numeric")], lambda *_: {"q": 1})
    with pytest.raises(InputError, match="x is not numeric: 'a' is no number"):
        tabulate_features(walk({"x": "a"}, {"x": "a"}), [Feature("x", "numeric")])
    nothing = tabulate_features(Traces.of([]), wanted)
    assert (nothing.features, nothing.steps) == (wanted, 0)


def test_columns_and_single_steps_agree() -> None:
    rng = random.Random(3)
    for _ in range(30):
        traces, machine = random_walks(rng), random_machine(rng)
        table, step = tabulate_features(traces, machine.features), 0
        ids, first = table.distinct()
        for episode in traces:
            for s, a, t in zip(episode.observations, episode.actions, episode.observations[1:], strict=False):
                values = features_of((s, a, t))
                assert repr(table.row(step)) == repr(step_values(machine.features, (s, a, t)))
                assert repr(table.row(step)) == repr(tuple(values[feature.name] for feature in machine.features))
                assert repr(table.row(int(first[ids[step]]))) == repr(table.row(step))
                for guard in machine.reward_guards:
                    assert bool(table.holds(guard)[step]) == guard.holds(values)
                step += 1


def test_half_a_million_steps_take_seconds() -> None:
    rng = np.random.default_rng(0)
    places, steps = 5_000, 500_000
    observations = [(float(x), float(y), f"room {n % 7}") for n, (x, y) in enumerate(rng.random((places, 2)))]
    ids = rng.integers(0, places, steps + 1).astype(np.int32)
    nothing = np.zeros(1, np.bool_)
    traces = Traces(
        [*observations], [0, 1], ids, ids[:-1] % 2, np.zeros(steps), np.array([0, steps], np.int64), nothing, nothing
    )
    start = time.perf_counter()
    table = extract_features(traces, before=True)
    assert time.perf_counter() - start < 3
    assert table.row(steps - 1) == (*observations[ids[-1]], *observations[ids[-2]], int(ids[-2] % 2))


def test_kinds_of_spaces() -> None:
    from gymnasium import spaces

    space = spaces.Dict(
        image=spaces.Box(0, 255, (2, 1), np.uint8),
        at=spaces.Box(-1.0, 1.0, (2,)),
        pair=spaces.Tuple((spaces.Discrete(3), spaces.MultiDiscrete([2, 3]))),
        word=spaces.Text(4),
        any=spaces.Sequence(spaces.Discrete(2)),
    )
    found = kinds_of_space(space)
    assert {name for name, kind in found.items() if kind == "numeric"} == {"at.0", "at.1"}
    assert list(found) == ["at.0", "at.1", "image.0.0", "image.1.0", "pair.0", "pair.1.0", "pair.1.1", "word"]
    assert kinds_of_space(spaces.Box(0.0, 1.0, ())) == {"state": "numeric"}
    assert kinds_of_action(spaces.Box(0.0, 1.0, (1,))) == {"action.0": "numeric"}
    sample = {**space.sample(), "word": "a"}
    del sample["any"]
    names = set(kinds_of_space(spaces.Dict({k: v for k, v in space.spaces.items() if k != "any"})))
    table = extract_features(walk(sample, sample, sample, actions=[0, 1]))
    assert {*table.constant} == names
