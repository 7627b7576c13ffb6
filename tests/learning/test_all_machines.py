"""All machines of the smallest size: which they are, that there are no others, and when the list ends early."""

from __future__ import annotations

import signal
from unittest import mock

import pytest
from all_oracle import difference, moves_of
from instances import coffee, patrol, two_coffees, walk

from markovize import InputError, Learner, LearnResult, Traces, learn
from markovize.learning import enumeration
from markovize.learning.engines import Delta
from markovize.learning.enumeration import canonical_form
from markovize.learning.merging import merge
from markovize.machine.replay import replay

CHUNK = 15


@pytest.mark.parametrize("start", range(0, 60, CHUNK))
def test_exactly_those_that_trying_every_machine_finds(start: int) -> None:
    for seed in range(start, start + CHUNK):
        assert difference(seed) is None, f"seed {seed}"


@pytest.mark.long
def test_exactly_those_on_hundreds() -> None:
    for seed in range(1_000, 1_500):
        assert difference(seed) is None, f"seed {seed}"


def listed(traces: Traces, most: int = 10, **options: object) -> LearnResult:
    return learn(traces, all=most, trigger_on="state", reward_on="state", **options)  # type: ignore[arg-type]


def test_one_that_is_the_only_one() -> None:
    found = listed(two_coffees()).all
    assert found is not None and found.unique
    assert str(found) == "1 minimal machine, proven to be the only one"
    assert (found.at_least, found.separations, found.describe()) == (1, (), [])


def test_without_conflicts_there_is_one() -> None:
    result = listed(Traces.of([walk(0, 1)]))
    assert result.all is not None and result.all.unique
    assert result.all.machines == (result.machine,)


def test_a_list_may_be_cut() -> None:
    many = Traces.of([walk(*range(9), pays=(1.0,)), walk(0, 8)])
    whole = listed(many, 7).all
    assert whole is not None and whole.complete and len(whole.machines) == 7
    cut = listed(many, 6).all
    assert cut is not None and (cut.complete, cut.unique, cut.stopped) == (False, False, False)
    assert (len(cut.machines), cut.at_least) == (6, 7)
    assert str(cut) == "at least 7 minimal machines (6 listed, as many as were asked for)"
    assert not any(replay(machine, many).mismatches for machine in cut.machines)


def test_nobody_asked() -> None:
    result = learn(coffee())
    assert result.all is None
    assert "all" not in result.to_json()


def test_as_json() -> None:
    result = listed(Traces.of([walk(0, 1, 2, 3, pays=(1.0,)), walk(0, 3), walk(0, 2, 1)]))
    assert result.all is not None
    told = result.to_json()["all"]
    assert (told["complete"], told["unique"], told["at_least"], told["stopped"]) == (True, False, 2, False)
    assert [machine["triggers"] for machine in told["machines"]] == [
        [{"from": 0, "on": 1, "to": 1}],
        [{"from": 0, "on": 2, "to": 1}],
    ]
    assert told["machines"][1]["told_apart_by"]["pays"] in ([0.0, 1.0], [1.0, 0.0])


def test_more_episodes_only_drop_machines() -> None:
    """A learner that is asked again need not find again what it knows, and finds what a fresh one does."""
    learner, seen = Learner(trigger_on="state", reward_on="state"), [walk(*range(6), pays=(1.0,)), walk(0, 5)]
    sizes = []
    for more in ([], [walk(0, 2, 3, 5)], [walk(0, 1, 5)], [walk(0, 4, 5, pays=(1.0,))]):
        seen += more
        warm, cold = learner.learn(Traces.of(seen), all=10).all, listed(Traces.of(seen)).all
        assert warm is not None and cold is not None
        assert warm.complete and cold.complete
        assert set(map(moves_of, warm.machines)) == set(map(moves_of, cold.machines))
        sizes.append(len(warm.machines))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 4 and sizes[-1] == 1


def test_merged_episodes_have_the_same_machines() -> None:
    """Where equal beginnings of episodes are merged, walks begin where episodes began."""
    traces = Traces.of([walk(0, 1, 2, 3, pays=(1.0,)), walk(0, 3), walk(0, 1, 2, 1), walk(0, 1, 0)])
    merged, whole = listed(merge([traces])).all, listed(traces).all
    assert merged is not None and whole is not None and whole.separations[0] is not None
    assert (merged.complete, merged.separations) == (whole.complete, whole.separations)
    assert merged.machines == whole.machines
    assert whole.separations[0].steps[0][0] == 0


def test_numbers_of_states_do_not_count() -> None:
    one: Delta = {(0, 3): 1, (0, 4): 2, (1, 4): 2}
    assert canonical_form(one) == canonical_form({(0, 3): 2, (0, 4): 1, (2, 4): 1})
    assert canonical_form(one) != canonical_form({(0, 3): 1, (0, 4): 2, (2, 4): 1})


@pytest.mark.parametrize(
    "options",
    [{"tolerance": 0.1}, {"outliers": "auto"}, {"outliers": 2}, {"trigger_on": "guards"}],
)
def test_allowances_and_guards_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="without guards and allowances"):
        learn(coffee(), all=3, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"engine": "ilp"}, {"audit": "exhaustive"}])
def test_other_engines_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="by the engine sat"):
        learn(coffee(), all=3, **options)  # type: ignore[arg-type]


def test_no_machines_at_all_are_no_list() -> None:
    with pytest.raises(InputError, match="at least 1 machine"):
        learn(coffee(), all=0)


def test_a_size_that_is_not_proven_has_no_list() -> None:
    result = learn(patrol(40), time_limit=0.001, acyclic=True, all=3)
    assert result.status != "optimal"
    assert result.all is None


def test_ctrl_c_ends_the_list() -> None:
    real = enumeration.Enumeration._next

    def press(self: enumeration.Enumeration, *given: object) -> bool:
        signal.raise_signal(signal.SIGINT)
        return real(self, *given)  # type: ignore[arg-type]

    with mock.patch.object(enumeration.Enumeration, "_next", press):
        result = listed(Traces.of([walk(*range(9), pays=(1.0,)), walk(0, 8)]))
    assert result.interrupted and result.status == "optimal"
    assert result.all is not None and result.all.stopped and not result.all.complete
    assert result.all.machines[0] == result.machine
    assert "stopped early" in str(result.all)
