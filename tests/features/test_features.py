"""Ready feature functions: on MiniGrid's own environments, on stacked and on named vectors."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from markovize import Feature, InputError, Traces
from markovize.episodes.features import extract_features, tabulate_features
from markovize.episodes.features.step import step_values
from markovize.episodes.spaces import value_of
from markovize.features import ObservationFeatures, last_frame, minigrid, named

pytest.importorskip("minigrid")

FORWARD, PICKUP, TURN = 2, 3, 1


def make(env_id: str, **options: Any) -> gymnasium.Env[Any, Any]:
    import minigrid as _registers  # noqa: F401

    return gymnasium.make(env_id, **options)


def test_numbers_are_those_of_minigrid() -> None:
    from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX

    assert {name: number for number, name in enumerate(minigrid.TYPES)} == OBJECT_TO_IDX
    assert {name: number for number, name in enumerate(minigrid.COLOURS)} == COLOR_TO_IDX
    assert {name: number for number, name in enumerate(minigrid.STATES)} == STATE_TO_IDX


def test_what_is_in_front_and_what_is_carried() -> None:
    """Compared with the world itself, along a walk that picks things up."""
    env = make("MiniGrid-DoorKey-6x6-v0")
    world: Any = env.unwrapped
    rng = np.random.default_rng(0)
    carried = set()
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        for _ in range(60):
            seen = minigrid.describe_view(observation)
            ahead = world.grid.get(*world.front_pos)
            assert seen["front"] == ("empty" if ahead is None else ahead.type)
            assert seen["direction"] == minigrid.DIRECTIONS[world.agent_dir]
            holds = "nothing" if world.carrying is None else world.carrying.type
            assert seen["carrying"] == holds
            carried.add(holds)
            if ahead is not None and ahead.type == "door":
                assert seen["front_colour"] == ahead.color
                assert seen["front_state"] == ("open" if ahead.is_open else "locked" if ahead.is_locked else "closed")
            cells = [cell for x, column in enumerate(observation["image"]) for y, cell in enumerate(column)]
            assert seen["sees.goal"] == any(cell[0] == minigrid.TYPES.index("goal") for cell in cells)
            observation, *_ = env.step(int(rng.choice([0, 1, 2, 2, 3, 5])))
    assert carried == {"nothing", "key"}


def test_positions_where_the_whole_grid_is_seen() -> None:
    from minigrid.wrappers import FullyObsWrapper

    env = FullyObsWrapper(make("MiniGrid-Empty-5x5-v0").unwrapped)  # type: ignore[no-untyped-call]
    world: Any = env.unwrapped
    observation, _ = env.reset(seed=0)
    for action in (FORWARD, TURN, FORWARD, FORWARD, TURN, FORWARD):
        seen = minigrid.describe_world(observation)
        assert (seen["x"], seen["y"]) == tuple(world.agent_pos)
        ahead = world.grid.get(*world.front_pos)
        assert seen["front"] == ("empty" if ahead is None else ahead.type)
        observation, *_ = env.step(action)


def test_a_view_without_an_agent_is_no_world() -> None:
    with pytest.raises(InputError, match="FullyObsWrapper"):
        minigrid.describe_world(make("MiniGrid-Empty-5x5-v0").reset(seed=0)[0])
    with pytest.raises(InputError, match="not an observation of MiniGrid"):
        minigrid.describe_view((1, 2))


def test_recorded_observations_say_the_same() -> None:
    observation, _ = make("MiniGrid-MemoryS7-v0").reset(seed=3)
    recorded = value_of(observation, objects=True)
    assert minigrid.describe_view(recorded) == minigrid.describe_view(observation)
    assert minigrid.encode(recorded).tolist() == minigrid.encode(observation).tolist()


def test_pixels_are_no_features() -> None:
    env = make("MiniGrid-MemoryS7-v0")
    seen = [value_of(env.reset(seed=0)[0], objects=True)]
    actions = [1, 1, 2, 0, 2, 2, 1]
    seen += [value_of(env.step(action)[0], objects=True) for action in actions]
    traces = Traces.of([(seen, actions, [0.0] * len(actions))])
    table = extract_features(traces, function=minigrid.view)
    assert {"direction", "front", "action"} <= {*table.places} and not any("image" in name for name in table.places)
    assert not any(name.startswith("before.") for name in table.places)
    assert "before.front" in extract_features(traces, function=minigrid.view, before=True).places
    wanted = [Feature(name, "categorical") for name in ("front", "before.front", "action", "before.direction")]
    rows = tabulate_features(traces, wanted, minigrid.view)
    for step, action in enumerate(actions):
        assert step_values(wanted, (seen[step], action, seen[step + 1]), minigrid.view) == rows.row(step)


def test_stacks_of_gymnasium() -> None:
    env = gymnasium.wrappers.FrameStackObservation(gymnasium.make("CartPole-v1"), 3)
    env.reset(seed=0)
    stack, *_ = env.step(1)
    features = last_frame("x", "v", "angle", "spin")
    assert list(features.function(stack).values()) == stack[-1].tolist()
    assert last_frame(stacked=3).function(stack.ravel())["1"] == stack[-1][1]


@pytest.mark.parametrize("names", [(), ("x", "x"), ("_", "_"), ("x", "")])
def test_names_must_differ(names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="different names"):
        named(*names)


def test_stacks_that_are_none() -> None:
    with pytest.raises(InputError, match="cannot be 2 stacked vectors"):
        last_frame(stacked=2).function((1, 2, 3))
    with pytest.raises(InputError, match="no vector"):
        named("x").function(3)
    with pytest.raises(InputError, match="at least 1"):
        last_frame(stacked=0)


def test_failures_name_the_function() -> None:
    traces = Traces.of([([(0, 1), (1, 1)], ["go"], [0])])
    with pytest.raises(InputError, match="failed with IndexError"):
        extract_features(traces, function=ObservationFeatures(lambda seen: {"far": seen[7]}))
