"""The paper's worlds: what is where, what pays, and what an optimal agent earns."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest

import markovize.gym
from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.worlds import FAMILIES, Family, World, env_name, family, world

EVERY: list[tuple[str, dict[str, Any]]] = [
    *[("office", {"task": task}) for task in ("b", "c", "d", "e", "loop")],
    *[("breakfast", {"task": t, "rewards": r}) for t in "bc" for r in ("full", "cumulative")],
    ("beach", {}),
    ("beach", {"levels": 4}),
]
UP, RIGHT, DOWN, LEFT, STAY = range(5)


def optimal_return(world: World) -> float:
    """Undiscounted, by value iteration over all (u, state), as many sweeps as an episode may have steps."""
    tables, value = world.tables, np.zeros((world.machine.states, len(world.observations)))
    for _ in range(200):
        after = np.where(tables.terminated, 0.0, value[tables.u, world.successor[None]])
        value = (tables.reward + after).max(axis=2)
    return float(value[0, world.start])


def walk(world: World, *actions: int) -> tuple[list[Value], list[float], bool]:
    state, u, ended = world.start, 0, False
    places, rewards = [], []
    for action in actions:
        assert not ended
        state, u, reward, ended = world.step(state, u, action)
        places.append(world.observations[state])
        rewards.append(reward)
    return places, rewards, ended


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        *[("office", {"task": task}, 1.0) for task in "bcde"],
        ("breakfast", {"task": "b", "rewards": "full"}, 3.2),
        ("breakfast", {"task": "b", "rewards": "cumulative"}, 1.6),
        ("breakfast", {"task": "c", "rewards": "full"}, 2.2),
        ("breakfast", {"task": "c", "rewards": "cumulative"}, 1.1),
        ("beach", {}, 5.5),
    ],
)
def test_the_optimal_return(name: str, options: dict[str, Any], expected: float) -> None:
    assert optimal_return(world(name, **options)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "options", "states", "triggers", "acyclic"),
    [
        ("office", {"task": "b"}, 2, 2, True),
        ("office", {"task": "c"}, 2, 1, True),
        ("office", {"task": "d"}, 4, 6, True),
        ("office", {"task": "e"}, 4, 3, True),
        ("office", {"task": "loop"}, 4, 4, False),
        ("breakfast", {"task": "b"}, 5, 4, True),
        ("breakfast", {"task": "c"}, 7, 6, True),
        ("beach", {}, 11, 10, True),
    ],
)
def test_the_machines_have_the_paper_s_sizes(
    name: str, options: dict[str, Any], states: int, triggers: int, acyclic: bool
) -> None:
    machine = world(name, **options).machine
    assert (machine.states, len(machine.triggers), machine.acyclic) == (states, triggers, acyclic)


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_the_machine_lists_exactly_what_can_be_reached(name: str, options: dict[str, Any]) -> None:
    place = world(name, **options)
    machine, seen = place.machine, set()
    todo, known = [(place.start, 0)], {(place.start, 0)}
    while todo:
        state, u = todo.pop()
        for action in range(len(place.actions)):
            after, v, reward, ended = place.step(state, u, action)
            s, a, t = place.observations[state], place.actions[action], place.observations[after]
            label = t if machine.reward_on == "state" else (s, a, t)
            assert machine.reward(u, label, v) == reward
            seen.add((u, label, v))
            if not ended and (after, v) not in known:
                known.add((after, v))
                todo.append((after, v))
    assert seen == {(e.source, e.on, e.target) for e in machine.rewards}
    assert len(seen) == len(machine.rewards)


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_the_tables_say_what_steps_say(name: str, options: dict[str, Any]) -> None:
    place = world(name, **options)
    for u, state, action in np.ndindex(place.tables.u.shape):
        step = place.step(state, u, action)
        at = (u, state, action)
        table = int(place.tables.u[at]), float(place.tables.reward[at]), bool(place.tables.terminated[at])
        assert table == (step.u, step.reward, step.terminated)


def test_the_office_is_as_described() -> None:
    office = world("office", task="b")
    grid = office.grid
    assert grid is not None
    assert (grid.width, grid.height, len(grid.cells)) == (12, 9, 108)
    assert office.observations[office.start] == (2, 1)
    assert {name: set(grid.at(name)) for name in grid.landmarks} == {
        "a": {(1, 1)},
        "b": {(1, 7)},
        "c": {(10, 7)},
        "d": {(10, 1)},
        "mail": {(7, 4)},
        "office": {(4, 4)},
        "coffee": {(8, 2), (3, 6)},
        "plant": {(4, 1), (7, 1), (4, 7), (7, 7), (1, 4), (10, 4)},
    }
    number = {cell: index for index, cell in enumerate(grid.cells)}
    for (x, y), index in number.items():
        right = x < 11 and (x not in (2, 5, 8) or y in (1, 7))
        door_up = (y == 5 and x in (1, 4, 7, 10)) or (y == 2 and x in (1, 10))
        up = y < 8 and (y not in (2, 5) or door_up)
        assert (grid.moves[index, RIGHT] != index) == right, (x, y)
        assert (grid.moves[index, UP] != index) == up, (x, y)


@pytest.mark.parametrize("task", ["b", "c", "d", "e", "loop"])
def test_plants_cost_one_and_end_every_task_in_every_machine_state(task: str) -> None:
    office = world("office", task=task)
    assert office.grid is not None
    for plant in office.grid.at("plant"):
        for u in range(office.machine.states):
            assert office.machine.reward(u, plant, u) == -1
            assert office.machine.terminal(u, plant, u)


def test_the_loop_pays_once_per_round_and_goes_on() -> None:
    machine = world("office", task="loop").machine
    assert machine.step(3, (10, 1)) == 0
    assert machine.reward(3, (10, 1), 0) == 1
    assert not machine.terminal(3, (10, 1), 0)
    assert {e.reward for e in machine.rewards if e.terminal} == {-1.0}


def test_the_kitchen_is_as_described() -> None:
    grid = world("breakfast").grid
    assert grid is not None
    solid = {(3, 1), (3, 2), (3, 3), (3, 4), (3, 5), (2, 5), (1, 5), (0, 5), (0, 4), (0, 3)}
    assert (grid.width, grid.height) == (4, 6)
    assert set(grid.cells) == {(x, y) for x in range(4) for y in range(6)} - solid
    assert {name: grid.at(name) for name in "lewc"} == {
        "l": ((0, 0),),
        "e": ((2, 2),),
        "w": ((2, 4),),
        "c": ((1, 4),),
    }
    number = {cell: index for index, cell in enumerate(grid.cells)}
    assert grid.moves[number[2, 2], UP] == number[2, 2]
    assert grid.moves[number[2, 3], DOWN] == number[2, 3]


def test_breakfast_task_c_with_two_dishes_standing_still_to_cook_again() -> None:
    way = [RIGHT, *[UP] * 4, STAY, STAY, DOWN, DOWN, RIGHT, LEFT, UP, UP, RIGHT, LEFT, *[DOWN] * 4, LEFT]
    places, rewards, ended = walk(world("breakfast", task="c"), *way)
    assert places[4:7] == [(1, 4)] * 3
    assert [r for r in rewards if r] == [-0.1, -0.3, 2.0, -0.5, 1.1], "a third cooking changes nothing"
    assert ended
    _, quiet, ended = walk(world("breakfast", task="c", rewards="cumulative"), *way)
    assert [r for r in quiet if r] == [1.1]
    assert ended


def test_breakfast_task_b_with_one_dish() -> None:
    way = [RIGHT, *[UP] * 4, DOWN, DOWN, RIGHT, LEFT, DOWN, DOWN, LEFT]
    _, rewards, ended = walk(world("breakfast", task="b"), *way)
    assert [r for r in rewards if r] == [-0.1, 1.0, 0.9]
    assert ended


@pytest.mark.parametrize("task", ["b", "c"])
def test_the_last_pay_is_the_sum_of_all_rewards(task: str) -> None:
    machine = world("breakfast", task=task).machine
    total = {0: 0.0}
    for trigger in machine.triggers:  # sources are numbered before their targets
        reward = machine.reward(trigger.source, trigger.on, trigger.target)
        assert reward is not None
        total[trigger.target] = total[trigger.source] + reward
    for emission in machine.rewards:
        if emission.terminal:
            assert emission.reward == pytest.approx(total[emission.source], abs=1e-12)


def test_sunbathing_pays_a_tenth_less_each_time() -> None:
    beach = world("beach")
    _, rewards, ended = walk(beach, *[4] * 12, 0, 1, 2)
    assert rewards[:12] == [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0]
    assert not any(rewards[12:]), "waiting on the beach is not sunbathing"
    assert not ended


def test_the_beach_is_left_by_the_shack() -> None:
    places, rewards, ended = walk(world("beach"), 3, 4, 2, 4, 3, 1)
    assert places == [1, 1, 0, 0, 1, 2]
    assert rewards == [0, 0, 0, 1.0, 0, 0]
    assert ended


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("atlantis", {}, "worlds are office, breakfast, beach, harvest, mining, not 'atlantis'"),
        ("office", {"task": "z"}, "office tasks are b, c, d, e, loop, not 'z'"),
        ("office", {"rewards": "full"}, "office has the options task, not 'rewards'"),
        ("breakfast", {"task": "d"}, "breakfast tasks are b, c, not 'd'"),
        ("breakfast", {"rewards": "none"}, "full or cumulative, not 'none'"),
        ("beach", {"levels": 0}, "1 to 10, not 0"),
    ],
)
def test_what_does_not_exist_is_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        world(name, **options)


def test_every_family_is_an_environment_of_gymnasium() -> None:
    for name in FAMILIES:
        made = gymnasium.make(f"markovize/{env_name(name)}-v0").unwrapped
        assert isinstance(made, markovize.gym.WorldEnv)
        assert made.captions == family(name).captions
        assert made.world.name == family(name).make().name


def test_a_family_without_a_class_of_its_own_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def shop(task: str = "b", rewards: str = "full") -> World:
        return world("breakfast", task=task, rewards=rewards)

    module = ModuleType("markovize.worlds.coffee_shop")
    module.FAMILY = Family("coffee_shop", shop, captions={"c": "coffee"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("markovize.worlds.FAMILIES", [*FAMILIES, "coffee_shop"])
    monkeypatch.setattr("markovize.gym.FAMILIES", [*FAMILIES, "coffee_shop"])
    made = markovize.gym.CoffeeShopWorld("c", rewards="cumulative", render_mode="ansi")
    monkeypatch.delattr(markovize.gym, "CoffeeShopWorld")
    assert (type(made).__name__, made.world.name) == ("CoffeeShopWorld", "breakfast-c-cumulative")
    made.reset(seed=0)
    assert "c coffee" in made.render()
    with pytest.raises(InputError, match="coffee_shop has the options task, rewards, not 'size'"):
        world("coffee_shop", size=3)
