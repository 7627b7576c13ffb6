"""Grid worlds of one's own."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from markovize import Emission, Feature, Guard, Literal, RewardMachine, Trigger
from markovize.episodes.values import Value
from markovize.errors import InputError, MachineError
from markovize.gym import GridWorld, OfficeWorld
from markovize.worlds import world
from markovize.worlds.office import MAP as OFFICE_MAP
from markovize.worlds.office import NAMES as OFFICE_NAMES

UP, RIGHT, DOWN, LEFT, STAY = range(5)
MAP = """
    +-------+-+
    |k . . k|#|
    |--     + +
    |@ . . . D|
    +---------+
"""
NAMES = {"k": "key", "D": "door"}


def vault(key: Value = "key", door: Value = "door", **options: Any) -> GridWorld:
    """Fetch a key, go out by the door."""
    machine = RewardMachine("state", "state", 2, (Trigger(0, key, 1),), (Emission(1, door, 1, 1.0, True),))
    return GridWorld(MAP, machine, names=NAMES, **options)


def rewards(env: GridWorld, *actions: int) -> list[float]:
    env.reset()
    return [env.step(action)[1] for action in actions]


@pytest.mark.parametrize("door", ["door", (4, 0), [4, 0]])
def test_a_name_stands_for_all_its_cells_and_a_cell_for_itself(door: Value) -> None:
    env = vault(door=door)
    by_the_far_key = [RIGHT, RIGHT, RIGHT, UP, DOWN, RIGHT]
    by_the_near_key = [RIGHT, UP, LEFT, RIGHT, DOWN, RIGHT, RIGHT, RIGHT]
    assert rewards(env, *by_the_far_key) == [0, 0, 0, 0, 0, 1]
    assert rewards(env, *by_the_near_key) == [0, 0, 0, 0, 0, 0, 0, 1]
    assert rewards(env, RIGHT, RIGHT, RIGHT, RIGHT) == [0, 0, 0, 0]
    assert [t.on for t in env.machine.triggers] == [(0, 1), (3, 1)]
    only_near = vault(key=(0, 1), door=door)
    assert rewards(only_near, *by_the_far_key) == [0] * 6
    assert rewards(only_near, *by_the_near_key)[-1] == 1


def test_the_machine_lists_all_that_can_happen() -> None:
    machine = vault().machine
    assert machine.reward(0, (4, 0), 0) == 0
    assert not machine.terminal(0, (4, 0), 0)
    assert machine.terminal(1, (4, 0), 1)
    assert machine.reward(0, (0, 1), 1) == 0
    assert machine.reward(0, (0, 1), 0) is None, "a key is always taken"
    assert len(machine.rewards) == 2 * 9, "nine cells, in either state; keys by the move they bring"


def test_the_office_made_by_hand_is_the_office() -> None:
    paid = (*[Emission(u, "plant", u, -1.0, True) for u in range(4)], Emission(3, "d", 3, 1.0, True))
    triggers = (Trigger(0, "a", 1), Trigger(1, "b", 2), Trigger(2, "c", 3))
    machine = RewardMachine("state", "state", 4, triggers, paid)
    env = GridWorld(OFFICE_MAP, machine, names=OFFICE_NAMES)
    assert env.machine == world("office", task="e").machine
    assert env.observation_space == OfficeWorld().observation_space


def test_transitions() -> None:
    triggers = (Trigger(0, ("key", "stay", "key"), 1),)
    paid = (Emission(1, ((3, 0), RIGHT, "door"), 1, 1.0, True),)
    env = GridWorld(MAP, RewardMachine("transition", "transition", 2, triggers, paid), names=NAMES)
    assert [t.on for t in env.machine.triggers] == [((0, 1), STAY, (0, 1)), ((3, 1), STAY, (3, 1))]
    assert rewards(env, RIGHT, RIGHT, RIGHT, UP, DOWN, RIGHT) == [0] * 6, "a key must be taken by staying"
    assert rewards(env, RIGHT, RIGHT, RIGHT, UP, STAY, DOWN, RIGHT) == [0] * 6 + [1]


def test_triggers_on_states_with_rewards_on_transitions() -> None:
    paid = (Emission(1, ("door", STAY, "door"), 1, 0.5),)
    env = GridWorld(MAP, RewardMachine("state", "transition", 2, (Trigger(0, "key", 1),), paid), names=NAMES)
    way = [RIGHT, RIGHT, RIGHT, UP, DOWN, RIGHT, STAY, RIGHT, STAY]
    assert rewards(env, *way) == [0] * 6 + [0.5, 0, 0.5]


def test_another_initial_state() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(1, "key", 0),), (Emission(0, "door", 0, 1.0, True),), 1)
    env = GridWorld(MAP, machine, names=NAMES)
    env.reset()
    assert env.machine_state == 1
    assert rewards(env, RIGHT, RIGHT, RIGHT, UP, DOWN, RIGHT)[-1] == 1


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (
            RewardMachine("state", "state", 2, (Trigger(0, "kitchen", 1), Trigger(0, (4, 1), 1))),
            r"machine's kitchen, \(4, 1\); labels are free cells \(x, y\) or landmarks \(door, key\)",
        ),
        (RewardMachine("state", "state", 1, (), (Emission(0, 7, 0, 1.0),)), "machine's 7; labels"),
        (RewardMachine("state", "state", 1, (), (Emission(0, (True, 0), 0, 1.0),)), r"machine's \(true, 0\)"),
        (
            RewardMachine("transition", "transition", 2, (Trigger(0, ("key", "fly", "key"), 1),)),
            r"\(key, fly, key\).*\(from, action, to\)",
        ),
        (RewardMachine("transition", "transition", 2, (Trigger(0, ("key", "up", "door"), 1),)), "as the map allows"),
        (RewardMachine("transition", "transition", 2, (Trigger(0, "key", 1),)), "machine's key"),
        (RewardMachine("function", "state", 2, (Trigger(0, "key", 1),)), 'by "state" or "source" or'),
        (
            RewardMachine("state", "state", 2, (Trigger(0, "key", 1),), (Emission(1, "door", 0, 1.0),)),
            r"reward of \(1, door, 0\) is never paid: there the machine goes to state 1",
        ),
    ],
)
def test_machines_that_do_not_fit_the_map_are_refused(machine: RewardMachine, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GridWorld(MAP, machine, names=NAMES)


def test_a_name_and_one_of_its_cells_must_not_disagree() -> None:
    agreeing = RewardMachine("state", "state", 2, (Trigger(0, "key", 1), Trigger(0, (0, 1), 1)))
    assert len(GridWorld(MAP, agreeing, names=NAMES).machine.triggers) == 2
    torn = RewardMachine("state", "state", 3, (Trigger(0, "key", 1), Trigger(0, (0, 1), 2)))
    with pytest.raises(MachineError, match=r"state 0 has two triggers on \(0, 1\)"):
        GridWorld(MAP, torn, names=NAMES)


def test_maps_and_json_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(InputError, match="one start"):
        GridWorld("+-+\n|.|\n+-+", RewardMachine("state", "state", 1))
    with pytest.raises(MachineError, match='"format" must be'):
        GridWorld(MAP, {"states": 2})
    with pytest.raises(InputError, match="render modes are ansi, rgb_array, not 'smell'"):
        vault(render_mode="smell")


class Vault(GridWorld):
    """A subclass of a few lines."""

    def __init__(self, prize: float = 1.0, **options: Any) -> None:
        paid = (Emission(1, "door", 1, prize, True),)
        super().__init__(MAP, RewardMachine("state", "state", 2, (Trigger(0, "key", 1),), paid), names=NAMES, **options)


def test_subclasses_can_be_registered_and_checked() -> None:
    gymnasium.register("test/Vault-v0", entry_point=Vault, max_episode_steps=7, kwargs={"prize": 3.0})
    try:
        env = gymnasium.make("test/Vault-v0")
        check_env(env.unwrapped)
        env.reset()
        steps = [env.step(action) for action in (RIGHT, RIGHT, RIGHT, UP, DOWN, RIGHT)]
        assert steps[-1][1:4] == (3.0, True, False)
        env.reset()
        assert [env.step(STAY)[3] for _ in range(7)] == [False] * 6 + [True]
    finally:
        del gymnasium.registry["test/Vault-v0"]


def test_guards_are_about_coordinates() -> None:
    machine = RewardMachine(
        "guards",
        "guards",
        2,
        (Trigger(0, Guard([Literal("0", "at_least", 2)]), 1),),
        (Emission(1, (True,), 1, 1.0, True),),
        features=(Feature("0", "numeric"), Feature("action", "categorical")),
        reward_guards=(Guard([Literal("0", "below", 1), Literal("action", "is", LEFT)]),),
    )
    env = GridWorld("+-----+\n|@ . .|\n+-----+", machine, render_mode="ansi", show_machine=True)
    assert rewards(env, RIGHT, LEFT, STAY) == [0, 0, 0]
    assert rewards(env, RIGHT, RIGHT, LEFT) == [0, 0, 0]
    assert "u = 1 of 0…1" in str(env.render())
    assert env.step(LEFT)[1:3] == (1.0, True)
