"""What a learner remembers is true of the episodes before it, or is not believed. Each of these once went wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from instances import coffee, patrol, two_coffees, walk

from markovize import Learner, LearnResult, Traces, learn
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.labelling import Labels
from markovize.learning.identity import identify
from markovize.learning.search import Progress
from markovize.worlds import noisy_walks, world

MARKOV = Traces.of([walk(1, 2, 1), walk(1, 0, 1)])


def shape(result: LearnResult) -> tuple[str, int | None, int | None]:
    return result.status, result.states, result.triggers


def part(traces: Traces, episodes: int) -> Traces:
    return traces.select(range(episodes))


def flipped(traces: Traces) -> Traces:
    """The same episodes, the first with another ending."""
    first, *others = [episode.to_json() for episode in traces]
    return Traces.of([{**first, "terminated": not first["terminated"]}, *others])


def test_episodes_without_a_conflict_between_two_with() -> None:
    """IndexError: the second call exchanged the episodes but kept the exemplars and floors of the first."""
    learner = Learner()
    assert shape(learner.learn(patrol(3))) == ("optimal", 2, 2)
    assert shape(learner.learn(MARKOV)) == ("optimal", 1, 0)
    assert shape(learner.learn([*MARKOV, *coffee()])) == ("optimal", 2, 1)


def test_other_endings_are_other_episodes_where_endings_are_explained() -> None:
    """EngineError: the solver had been told that the first episode goes on."""
    goes_on = Traces.of([walk(2, 0, 0, pays=(1.0, 0.0)), walk(2, 0, pays=(1.0,))])
    options: dict[str, Any] = {"trigger_on": "state", "reward_on": "state", "explain": "reward+termination"}
    learner = Learner(**options)
    for traces in (goes_on, flipped(goes_on), [*flipped(goes_on), walk(1, 2, 0, 2, pays=(1.0, 0.0, 1.0))]):
        assert shape(learner.learn(traces)) == shape(learn(traces, **options))


def test_since_is_ignored_where_the_episodes_are_others() -> None:
    """Said optimal with three triggers where two do: the floors of other episodes were believed."""
    other = Traces.of([walk(1, 0, 0, 2, 2, pays=(0.0, 1.0, 0.0, 1.0)), walk(1, 0, 2, 0, pays=(0.0, 1.0, 1.0))])
    few = Traces.of(
        [
            walk(2, 1, 2, 1, 0, pays=(0.0, 0.0, 1.0, 0.0)),
            walk(1, 1, pays=(0.0,)),
            walk(1, 2, 1, 1, pays=(1.0, 0.0, 1.0)),
            walk(1, 1, 0, 0, pays=(0.0, 1.0, 1.0)),
        ]
    )
    options: dict[str, Any] = {"trigger_on": "state", "reward_on": "state"}
    since = learn(other, **options)
    assert shape(learn(few, since=since, **options)) == shape(learn(few, **options)) == ("optimal", 2, 2)


def test_since_is_where_the_search_begins() -> None:
    earlier = learn(two_coffees())
    again = learn([*two_coffees(), walk(2, 2)], since=earlier)
    assert shape(again) == shape(earlier) == ("optimal", 2, 2)
    assert "infeasibility proof" in earlier.proof
    assert "infeasibility proof" not in again.proof


@pytest.mark.parametrize("other", [{"acyclic": True}, {"objective": "states"}, {"reward_on": "transition"}])
def test_since_is_ignored_where_the_options_are_others(other: dict[str, Any]) -> None:
    earlier = learn(patrol(3), **other)
    assert shape(learn(patrol(3), since=earlier)) == shape(learn(patrol(3)))


def test_since_a_result_by_another_function_of_the_steps_is_ignored() -> None:
    fine = learn(two_coffees(), trigger_on=lambda s, a, t: [s, a, t], reward_on="state")
    coarse: Callable[[Any, Any, Any], Any] = lambda _s, _a, t: t % 4 == 0  # noqa: E731
    assert shape(learn(two_coffees(), trigger_on=coarse, reward_on="state", since=fine)) == ("optimal", 2, 1)


def test_fewer_episodes_may_need_less() -> None:
    learner = Learner()
    assert shape(learner.learn(two_coffees())) == ("optimal", 2, 2)
    assert shape(learner.learn(part(two_coffees(), 3))) == ("optimal", 2, 1)
    assert shape(learner.learn(two_coffees())) == ("optimal", 2, 2)


class Cancelled(Exception):  # noqa: N818 - not an error
    pass


@pytest.mark.parametrize("reason", [Cancelled, KeyboardInterrupt])
@pytest.mark.parametrize("objective", ["triggers", "states"])
def test_a_cancelled_call_leaves_what_is_known_as_it_was(reason: type[BaseException], objective: Any) -> None:
    """Said (2, 2) where the truth is (2, 1), or crashed: the solvers had exemplars of episodes that were gone."""
    whole = noisy_walks(world("breakfast", task="c"), 40, np.random.default_rng(0))
    few, other = part(whole, 30), Traces.of([*part(whole, 30), *patrol(4)])
    expected = shape(learn(whole, objective=objective, acyclic=True))
    for at in range(1, 12, 2):
        learner = Learner(objective=objective, acyclic=True)
        known = learner.learn(few).bounds
        assert known > (2, 1)
        before = learner._memory.facts
        pulses = 0

        def cancel(_progress: Progress, at: int = at) -> None:
            nonlocal pulses
            pulses += 1
            if pulses == at:
                raise reason

        with pytest.raises(reason):
            learner.learn(other, on_progress=cancel)
        assert learner._memory.facts is before
        assert learner.learn(few).bounds == known
        assert shape(learner.learn(whole)) == expected


def test_an_interrupted_call_completes_its_memory(ctrl_c: Callable[[], None]) -> None:
    whole = noisy_walks(world("breakfast", task="c"), 40, np.random.default_rng(0))
    learner, pressed = Learner(acyclic=True), False

    def press(progress: Progress) -> None:
        nonlocal pressed
        if progress.phase == "searching" and not pressed:
            pressed = True
            ctrl_c()

    result = learner.learn(part(whole, 39), on_progress=press)
    assert result.interrupted
    assert learner._memory.facts.identity == result.identity
    assert shape(learner.learn(whole)) == shape(learn(whole, acyclic=True))


def test_what_was_learned_from_is_known_quickly() -> None:
    """Bytes are hashed, not Python values: a million steps in a tenth of a second, on a slow machine."""
    steps = 1_000_000
    zeros = np.zeros(steps, np.int32)
    labels = Labels("state", zeros, [0])
    many = LabelledSteps(np.arange(0, steps + 1, 50), labels, labels, zeros, [(0.0, None)])
    start = time.process_time()
    found = identify(many, "options", [1, 100, len(many.offsets) - 1])
    assert time.process_time() - start < 0.5
    assert sorted(found) == [1, 100, steps // 50]
