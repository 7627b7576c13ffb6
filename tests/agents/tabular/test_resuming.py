"""A run that is stopped at any checkpoint and goes on elsewhere ends as one that never stopped."""

from __future__ import annotations

import json
import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from resumed_runs import checkpoints, same

import markovize
from markovize.agents.tabular import ActiveLearner, Settings, Snapshot
from markovize.gym import WorldEnv
from markovize.worlds import world


class CoffeeFirst(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Pays for the goal of FrozenLake only if some other place was visited first."""

    def __init__(self, env: gymnasium.Env[Any, Any], place: int = 4, price: float = 1.0) -> None:
        super().__init__(env)
        self.place, self.price = place, price

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.seen = False
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.seen = self.seen or observation == self.place
        return observation, self.price * float(reward) * self.seen, terminated, truncated, info


def lake(**changes: Any) -> gymnasium.Env[Any, Any]:
    return CoffeeFirst(gymnasium.make("FrozenLake-v1", is_slippery=True, max_episode_steps=60), **changes)


def solid_lake() -> gymnasium.Env[Any, Any]:
    """The same by name, but its ice holds."""
    env, other = lake(), gymnasium.make("FrozenLake-v1", is_slippery=False)
    env.unwrapped.P = other.unwrapped.P  # type: ignore[attr-defined]
    return env


def office(task: str = "d") -> gymnasium.Env[Any, Any]:
    return gymnasium.make("markovize/OfficeWorld-v0", task=task)


def office_c() -> gymnasium.Env[Any, Any]:
    return office("c")


def breakfast() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("markovize/BreakfastWorld-v0", task="c", rewards="full")


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (office, Settings.of(episodes=120, seed=3, acyclic=True)),
        (breakfast, Settings.of("paper", episodes=800, seed=1)),
        (breakfast, Settings.of("q-learning", episodes=600, seed=2, crm=True, shaping=True)),
        (lake, Settings.of(episodes=300, seed=5)),
        (office_c, Settings.of(episodes=100, seed=3, all=10)),
        (lake, Settings.of(episodes=200, seed=5, all=3)),
        (lake, Settings.of("q-learning", episodes=300, seed=5, reward_on="transition")),
    ],
)
def test_from_any_checkpoint(make: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, saved = checkpoints(make, settings, monkeypatch)
    assert whole.solves
    assert len(saved) > 4
    for data in [saved[0], *saved[1 :: max(1, len(saved) // 3)], saved[-1]]:
        again = ActiveLearner(make(), settings)
        again.restore(Snapshot.from_bytes(data))
        same(whole, again.run())


def test_checkpoints_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.of(episodes=60, seed=4, acyclic=True)
    whole, _ = checkpoints(office, settings, monkeypatch)
    same(whole, ActiveLearner(office(), settings).run())


@pytest.mark.parametrize(
    ("make", "other", "said"),
    [
        (office, lambda: office("e"), "name or arguments have changed since this run began: .*'task': 'd'"),
        (office, lambda: WorldEnv(world("office", task="e")), "the environment's name or arguments have changed"),
        (
            lambda: WorldEnv(world("office", task="d")),
            lambda: WorldEnv(world("office", task="e")),
            "the environment's world has changed since this run began; start a new run",
        ),
        (office, breakfast, "name or arguments have changed since this run began: it was markovize/OfficeWorld-v0"),
        (office, lambda: gymnasium.make("markovize/OfficeWorld-v0", task="d", max_episode_steps=50), "step limit"),
        (lake, lambda: lake(place=1), "the environment has changed since this run began: with the same seed and act"),
        (lake, lambda: lake(price=2.0), "the environment has changed since this run began: with the same seed and act"),
        (lake, solid_lake, "led to"),
    ],
)
def test_a_changed_environment_is_refused(make: Any, other: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.of(episodes=80, acyclic=True, max_steps=200 if make is not office else None)
    _, saved = checkpoints(make, settings, monkeypatch)
    with pytest.raises(markovize.InputError, match=said):
        ActiveLearner(other(), settings).restore(Snapshot.from_bytes(saved[-1]))


def test_other_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _, saved = checkpoints(office, Settings.of(episodes=20), monkeypatch)
    with pytest.raises(markovize.InputError, match=r"the run was made with other settings \(seed, gamma\)"):
        ActiveLearner(office(), Settings.of(episodes=20, seed=9, gamma=0.5)).restore(Snapshot.from_bytes(saved[-1]))


def test_a_solver_that_does_not_repeat_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.of(episodes=60)
    whole, saved = checkpoints(breakfast, settings, monkeypatch)
    assert whole.machine.states > 1
    snapshot = Snapshot.from_bytes(saved[-1])
    snapshot.facts["machine"] = markovize.RewardMachine("state", "state", whole.machine.states).to_json()
    with pytest.raises(markovize.InputError, match="the solver does not repeat what it found"):
        ActiveLearner(breakfast(), settings).restore(snapshot)


def test_broken_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    _, saved = checkpoints(office, Settings.of(episodes=20), monkeypatch)
    for data in (b"", saved[0][:-100], saved[0][:1000], b"x" * 50):
        with pytest.raises(markovize.InputError, match="not a checkpoint of a run"):
            Snapshot.from_bytes(data)
    facts, arrays = Snapshot.from_bytes(saved[0])
    with pytest.raises(markovize.InputError, match="another version of markovize"):
        Snapshot.from_bytes(Snapshot(facts | {"format": 99}, arrays).to_bytes())


def damaged(snapshot: Snapshot, chance: random.Random) -> Snapshot:
    """The same with one fact, one column or one entry changed or gone."""
    facts, arrays = json.loads(json.dumps(snapshot.facts)), dict(snapshot.arrays)
    odd: list[Any] = [None, -1, 10**9, "x", [], {}, 1.5, True, [1, 2], {"a": 1}]
    columns: list[Any] = [np.zeros(3), np.zeros((2, 2), np.int32), np.zeros(0, np.int64), np.array("text"), np.array(7)]
    kind, name = chance.randrange(5), chance.choice([name for name in facts if name != "format"])
    if kind == 0:
        facts[name] = chance.choice(odd)
    elif kind == 1:
        del facts[name]
    elif kind == 2:
        name = chance.choice([name for name in facts if isinstance(facts[name], dict) and facts[name]])
        facts[name][chance.choice(list(facts[name]))] = chance.choice(odd)
    elif kind == 3:
        arrays[chance.choice(list(arrays))] = chance.choice(columns)
    else:
        name = chance.choice([name for name in arrays if arrays[name].size and arrays[name].dtype.kind in "if"])
        arrays[name] = arrays[name].copy()
        arrays[name].flat[chance.randrange(arrays[name].size)] = chance.choice([-5, 10**8, 3])
    return Snapshot(facts, arrays)


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(1000, 3000), marks=pytest.mark.long)])
def test_damaged_snapshots_are_refused_in_one_line_or_go_on(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.of(episodes=15, seed=5)
    _, saved = checkpoints(lake, settings, monkeypatch)
    refused = 0
    for seed in seeds:
        run = ActiveLearner(lake(), settings)
        data = damaged(Snapshot.from_bytes(saved[9]), random.Random(seed)).to_bytes()
        try:
            run.restore(Snapshot.from_bytes(data))
        except markovize.InputError as error:
            refused += 1
            assert "\n" not in str(error)
            assert len(str(error)) < 400
        else:
            try:
                run.run()
            except markovize.UnrealisableError as error:  # a reward that was kept is another one now
                assert "\n" not in str(error)
    assert refused > len(seeds) / 2


@pytest.mark.parametrize("total", [10**9, 14, None])
def test_a_checkpoint_that_would_never_end_is_refused(total: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.of(episodes=15, seed=5)
    _, saved = checkpoints(lake, settings, monkeypatch)
    snapshot = Snapshot.from_bytes(saved[-1])
    snapshot.facts["schedule"]["total"] = total
    with pytest.raises(markovize.InputError, match=f"not a checkpoint .* end after {total} episodes"):
        ActiveLearner(lake(), settings).restore(snapshot)
