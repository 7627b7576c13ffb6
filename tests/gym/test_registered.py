"""The registered environments keep Gymnasium's rules, and step as their worlds do."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

import markovize
from markovize.errors import InputError
from markovize.gym import WorldEnv
from markovize.gym.registration import register_envs
from markovize.worlds import World, random_grid_world, world

UP, RIGHT, DOWN, LEFT, STAY = range(5)
OFFICE, BREAKFAST, BEACH, GRID = (f"markovize/{n}World-v0" for n in ("Office", "Breakfast", "Beach", "Grid"))
CORRIDOR = {
    "map": "+-----+\n|@ . a|\n+-----+",
    "machine": markovize.RewardMachine(
        "state", "state", 1, (), (markovize.Emission(0, "a", 0, 1.0, terminal=True),)
    ).to_json(),
}
EVERY: list[tuple[str, dict[str, Any]]] = [
    *[(OFFICE, {"task": task}) for task in ("b", "c", "d", "e", "loop")],
    *[(BREAKFAST, {"task": t, "rewards": r}) for t in "bc" for r in ("full", "cumulative")],
    (BEACH, {}),
    (BEACH, {"levels": 4}),
    (GRID, CORRIDOR),
]


def make(name: str, **options: Any) -> WorldEnv:
    env = gymnasium.make(name, **options).unwrapped
    assert isinstance(env, WorldEnv)
    return env


def returns(env: gymnasium.Env[Any, Any], *actions: int) -> tuple[float, bool, bool]:
    """The sum of rewards, and how the last step ended."""
    env.reset(seed=0)
    total, terminated, truncated = 0.0, False, False
    for action in actions:
        assert not terminated
        assert not truncated
        _, reward, terminated, truncated, info = env.step(action)
        assert info == {}, "no information about the machine"
        total += float(reward)
    return total, terminated, truncated


@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
@pytest.mark.parametrize(("name", "options"), EVERY)
def test_gymnasium_has_nothing_to_say(name: str, options: dict[str, Any], render_mode: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name, render_mode=render_mode, **options).unwrapped)


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_the_checkers_around_it_are_silent_too(name: str, options: dict[str, Any]) -> None:
    """Gymnasium's passive checker and time limit, all along some episodes."""
    env = gymnasium.make(name, render_mode="ansi", show_machine=True, **options)
    env.action_space.seed(3)
    for _ in range(3):
        env.reset()
        while not any(env.step(env.action_space.sample())[2:4]):
            pass
        assert env.render()
    env.close()


def _stepped_like(env: WorldEnv, place: World, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        observation, info = env.reset()
        state, u, ended = place.start, place.machine.initial, False
        assert (np.asarray(observation).tolist(), info) == (np.asarray(place.observations[state]).tolist(), {})
        for action in rng.integers(5, size=200):
            if ended:
                break
            state, u, reward, ended = place.step(state, u, int(action))
            seen, paid, terminated, truncated, info = env.step(action)
            assert np.asarray(seen).tolist() == np.asarray(place.observations[state]).tolist()
            assert seen in env.observation_space
            assert (paid, terminated, truncated, info, env.machine_state) == (reward, ended, False, {}, u)
            assert (type(paid), type(terminated)) == (float, bool)


@pytest.mark.parametrize(("name", "options"), [pair for pair in EVERY if pair[0] != GRID])
def test_every_step_is_the_world_s(name: str, options: dict[str, Any]) -> None:
    kind = name.removeprefix("markovize/").removesuffix("World-v0").lower()
    env = make(name, **options)
    place = world(kind, **options)
    assert env.machine == place.machine
    _stepped_like(env, place, 5)


@pytest.mark.parametrize("seed", range(5))
def test_any_world_can_be_stepped(seed: int) -> None:
    place = random_grid_world(np.random.default_rng(seed), width=5, height=4)
    _stepped_like(WorldEnv(place), place, seed)


def test_spaces() -> None:
    for name, shape in ((OFFICE, [12, 9]), (BREAKFAST, [4, 6])):
        env = make(name)
        assert env.observation_space == spaces.MultiDiscrete(shape)
        assert env.reset()[0].dtype == np.int64
        assert env.action_space == spaces.Discrete(5)
    assert make(BEACH).observation_space == spaces.Discrete(3)


def test_defaults() -> None:
    assert make(OFFICE).world.name == "office-e"
    assert make(BREAKFAST).world.name == "breakfast-b-full"
    assert make(BEACH).machine.states == 11


def test_observations_are_the_callers_own() -> None:
    env = make(OFFICE)
    first, _ = env.reset()
    first[:] = 0
    again, _ = env.reset()
    assert again.tolist() == [2, 1]
    stayed, *_ = env.step(STAY)
    assert stayed is not again


def test_the_patrol_of_the_office_pays_one() -> None:
    to_b = [LEFT, UP, UP, LEFT, UP, UP, RIGHT, UP, UP]
    to_c = [RIGHT, RIGHT, UP, RIGHT, RIGHT, DOWN, RIGHT, UP, RIGHT, RIGHT, DOWN, RIGHT, RIGHT]
    to_d = [DOWN, DOWN, RIGHT, DOWN, DOWN, LEFT, DOWN, DOWN]
    assert returns(make(OFFICE, task="e"), *to_b, *to_c, *to_d) == (1.0, True, False)
    assert returns(make(OFFICE, task="loop"), *to_b, *to_c, *to_d) == (1.0, False, False)
    assert returns(make(OFFICE, task="e"), *to_b, *to_c, *to_d[:-1]) == (0.0, False, False)
    assert returns(make(OFFICE, task="e"), RIGHT, RIGHT) == (-1.0, True, False), "a plant"


@pytest.mark.parametrize(("rewards", "expected"), [("full", 2.2), ("cumulative", 1.1)])
def test_the_best_breakfast(rewards: str, expected: float) -> None:
    way = [RIGHT, UP, UP, UP, UP, STAY, DOWN, DOWN, RIGHT, LEFT, UP, UP, RIGHT, LEFT, DOWN, DOWN, DOWN, DOWN, LEFT]
    total, terminated, _ = returns(make(BREAKFAST, task="c", rewards=rewards), *way)
    assert total == pytest.approx(expected)
    assert terminated


@pytest.mark.parametrize(
    ("name", "way", "cells"),
    [
        (OFFICE, [RIGHT, UP, UP, UP], [(3, 1), (3, 2), (3, 2), (3, 2)]),  # a door, and the wall y 2|3 has none at x 3
        (OFFICE, [UP, RIGHT, UP], [(2, 2), (2, 2), (2, 2)]),  # 2|3 is closed at y 2
        (OFFICE, [LEFT, UP, UP], [(1, 1), (1, 2), (1, 3)]),  # a door up at x 1
        (
            BREAKFAST,
            [LEFT, DOWN, RIGHT, UP, UP, UP, RIGHT, DOWN],
            [(0, 0), (0, 0), (1, 0), (1, 1), (1, 2), (1, 3), (2, 3), (2, 3)],
        ),  # the wall above e
        (
            BREAKFAST,
            [RIGHT, RIGHT, RIGHT, UP, LEFT, UP, UP, UP],
            [(1, 0), (2, 0), (3, 0), (3, 0), (2, 0), (2, 1), (2, 2), (2, 2)],
        ),  # solid (3, 1), and the wall from below
    ],
)
def test_walls_and_doors(name: str, way: list[int], cells: list[tuple[int, int]]) -> None:
    env = make(name)
    env.reset()
    assert [tuple(env.step(action)[0].tolist()) for action in way] == cells


def test_the_cut_is_a_truncation_at_200_steps() -> None:
    for name in (OFFICE, BREAKFAST, BEACH):
        env = gymnasium.make(name)
        assert returns(env, *[UP] * 199) == (0.0, False, False)
        assert returns(env, *[UP] * 200) == (0.0, False, True)


def test_seeds_seed_the_generator() -> None:
    env = make(OFFICE)
    draws = []
    for seed in (1, 1, 2):
        env.reset(seed=seed)
        draws.append(env.np_random.random())
    assert draws[0] == draws[1] != draws[2]


def test_steps_out_of_turn_are_refused() -> None:
    env = make(OFFICE)
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(UP)
    env.reset()
    env.step(RIGHT)
    assert env.step(RIGHT)[2], "a plant ends the episode"
    with pytest.raises(ResetNeeded, match="ended"):
        env.step(UP)
    env.reset()
    env.step(UP)
    with pytest.raises(ResetNeeded):
        gymnasium.make(BEACH).step(0)


@pytest.mark.parametrize("action", [5, -1, 1.0, "up", None, [1], np.array([1])])
def test_actions_that_do_not_exist_are_refused(action: Any) -> None:
    env = make(OFFICE)
    env.reset()
    with pytest.raises(InvalidAction, match="actions are 0…4, not "):
        env.step(action)
    assert env.step(UP)[0].tolist() == [2, 2], "nothing happened"


@pytest.mark.parametrize("action", [np.int64(0), np.array(0), np.uint8(0)])
def test_actions_as_numpy_has_them(action: Any) -> None:
    env = make(OFFICE)
    env.reset()
    assert env.step(action)[0].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (OFFICE, {"task": "z"}, "office tasks are b, c, d, e, loop, not 'z'"),
        (BREAKFAST, {"rewards": "none"}, "full or cumulative, not 'none'"),
        (BEACH, {"levels": 0}, "1 to 10, not 0"),
    ],
)
def test_unknown_options_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gymnasium.make(name, **options)


def test_worlds_that_fit_no_space_are_refused() -> None:
    beach = world("beach")
    named = World("odd", beach.successor, 0, ("x", "y", "z"), beach.actions, beach.action_names, beach.machine)
    with pytest.raises(InputError, match="observations of odd must be 0…2"):
        WorldEnv(named)
    acting = World("odd", beach.successor, 0, (0, 1, 2), tuple("^v<>o"), beach.action_names, beach.machine)
    with pytest.raises(InputError, match="actions of odd must be 0…4"):
        WorldEnv(acting)


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_specs_survive_json(name: str, options: dict[str, Any]) -> None:
    env = gymnasium.make(name, **options)
    assert env.spec is not None
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.spec == env.spec
    assert again.unwrapped.machine == env.unwrapped.machine  # type: ignore[attr-defined]
    assert returns(again, STAY)[1:] == (False, False)


@pytest.mark.parametrize(("name", "options"), [EVERY[3], EVERY[8], EVERY[9], EVERY[11]])
def test_vectors(name: str, options: dict[str, Any]) -> None:
    envs = gymnasium.make_vec(name, num_envs=3, vectorization_mode="sync", **options)
    observations, _ = envs.reset(seed=4)
    assert len(observations) == 3
    assert observations in envs.observation_space
    moved, rewards, *_ = envs.step(np.array([STAY, 3 if name == BEACH else RIGHT, STAY]))
    assert np.array_equal(moved[0], observations[0])
    assert not np.array_equal(moved[1], observations[1])
    assert rewards.shape == (3,)
    envs.close()


def test_registering_twice_is_silent() -> None:
    before = dict(gymnasium.registry)
    register_envs()
    assert gymnasium.registry == before
    assert {OFFICE, BREAKFAST, BEACH, GRID} <= set(before)


def test_registering_loads_no_environment_and_nothing_heavy() -> None:
    heavy = (
        "numba",
        "matplotlib",
        "pysat",
        "highspy",
        "PIL",
        "markovize.worlds.base",
        "markovize.machine",
        "markovize.gym.world_env",
    )
    code = (
        f"import sys, markovize; print([m for m in {heavy} if m in sys.modules]); import gymnasium;"
        "env = gymnasium.make('markovize/OfficeWorld-v0'); env.reset(); env.step(1);"
        "print([m for m in ('matplotlib', 'pysat', 'highspy', 'PIL') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]
    assert done.stderr == ""


def test_names_of_the_package() -> None:
    from markovize import gym as envs

    assert set(envs.__all__) <= set(dir(envs))
    assert all(issubclass(getattr(envs, name), WorldEnv) for name in envs.__all__)
    assert all(">>>" in (getattr(envs, name).__doc__ or "") for name in envs.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Atlantis'"):
        envs.Atlantis  # noqa: B018
