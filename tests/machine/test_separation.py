"""The shortest walk that tells two machines apart, against trying every walk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from all_oracle import instance
from instances import walk

from markovize import Emission, InputError, RewardMachine, Traces, Trigger, learn, tell_apart
from markovize.episodes.labelling import Step, labelling_of
from markovize.machine.separation import Separation

LONGEST = 5


def every_walk(traces: Traces, length: int) -> Iterator[list[Step]]:
    """All sequences of so many known steps from where an episode began."""
    episodes = [episode for episode in traces if episode.steps]
    known = dict.fromkeys(
        step for e in episodes for step in zip(e.observations, e.actions, e.observations[1:], strict=False)
    )
    starts = dict.fromkeys(episode.observations[0] for episode in episodes)
    walks: list[list[Step]] = [[step] for start in starts for step in known if step[0] == start]
    for _ in range(length - 1):
        walks = [[*before, step] for before in walks for step in known if step[0] == before[-1][2]]
    yield from walks


def run(machine: RewardMachine, steps: list[Step]) -> tuple[float | None, bool]:
    """What the last step pays, and whether the walk gets that far."""
    u, reward, ended = machine.initial, None, False
    for step in steps:
        if ended:
            return None, False
        x, y = (labelling_of(kind).label(step) for kind in (machine.trigger_on, machine.reward_on))
        v = machine.step(u, x)
        reward, ended, u = machine.reward(u, y, v), machine.terminal(u, y, v), v
    return reward, True


def outcomes(pair: tuple[RewardMachine, RewardMachine], steps: list[Step]) -> tuple[float | None, float | None] | None:
    """What both pay at the end; None if one of them says that the walk ends before."""
    (one, gets_there), (other, gets_there_too) = run(pair[0], steps), run(pair[1], steps)
    return (one, other) if gets_there and gets_there_too else None


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_no_walk_is_shorter(start: int) -> None:
    for seed in range(start, start + 20):
        traces, (trigger_on, reward_on) = instance(seed)
        found = learn(traces, trigger_on=trigger_on, reward_on=reward_on, all=3, count_steps=True).all
        assert found is not None
        for machine, told in zip(found.machines[1:], found.separations, strict=True):
            check(found.machines[0], machine, traces, told)
            assert tell_apart(found.machines[0], machine, traces) == told


def check(first: RewardMachine, second: RewardMachine, traces: Traces, told: Separation | None) -> None:
    """Raises if a shorter walk does it, or this one does not."""
    pair = (first, second)
    if told is not None:
        assert outcomes(pair, list(told.steps)) == told.rewards
        assert not told.is_certain or told.rewards[0] != told.rewards[1]
    certain = LONGEST if told is None or not told.is_certain else len(told.steps) - 1
    for length in range(1, min(LONGEST, certain) + 1):
        for steps in every_walk(traces, length):
            paid = outcomes(pair, steps)
            if paid is None:
                continue
            assert None in paid or paid[0] == paid[1], f"{steps} is shorter"
            if told is None:
                assert None not in paid


def test_words_and_json() -> None:
    step = ("hall", "go", (1, 2))
    assert str(Separation((step,), (None, None))) == "from hall: go → (1, 2): neither has seen what that pays"
    assert str(Separation((step,), (None, 2.0))).endswith("the second pays 2, the first has not seen it")
    assert str(Separation((step,), (2.0, None))).endswith("the first pays 2, the second has not seen it")
    both = Separation((step,), (0.0, 0.0), (True, False))
    assert str(both).endswith("the first pays 0 and ends the episode, the second 0")
    assert both.to_json() == {
        "observations": ["hall", [1, 2]],
        "actions": ["go"],
        "pays": [0.0, 0.0],
        "ends": [True, False],
    }


def test_what_ended_is_not_walked_on() -> None:
    traces = Traces.of([walk(0, 1, pays=(1.0,), ends=True), walk(1, 2)])
    first = RewardMachine("state", "state", 2, (Trigger(0, 1, 1),), (Emission(0, 1, 1, 1.0, True),))
    second = RewardMachine("state", "state", 1, (), (Emission(0, 1, 0, 1.0, True), Emission(0, 2, 0, 0.0)))
    assert tell_apart(first, second, traces) == Separation(((1, 1, 2),), (None, 0.0))
    only = Traces.of([walk(0, 1, pays=(1.0,), ends=True)])
    assert tell_apart(first, second, only) is None


def test_ends_tell_only_where_they_are_to_be_explained() -> None:
    traces = Traces.of([walk(0, 1)])
    going_on, ending = (RewardMachine("state", "state", 1, (), (Emission(0, 1, 0, 0.0, end),)) for end in (False, True))
    assert tell_apart(going_on, ending, traces) is None
    told = tell_apart(going_on, ending, traces, explain="reward+termination")
    assert told is not None and told.ends == (False, True)


def test_labels_by_a_function() -> None:
    def far(_state: int, _action: int, target: int) -> bool:
        return target > 1

    traces = Traces.of([walk(0, 1, 3, pays=(1.0,)), walk(0, 2, 3)])
    machine = RewardMachine("function", "state", 2, (Trigger(0, True, 1),), (Emission(0, 3, 1, 1.0),))
    other = RewardMachine("function", "state", 1, (), (Emission(0, 3, 0, 0.0),))
    told = tell_apart(machine, other, traces, trigger_on=far)
    assert told is not None and told.rewards == (1.0, 0.0)
    assert [target for _, _, target in told.steps] == [1, 3]


def test_guards_are_refused() -> None:
    machine = RewardMachine("guards", "state", 1)
    with pytest.raises(InputError, match="guards"):
        tell_apart(machine, machine, Traces.of([walk(0, 1)]))
