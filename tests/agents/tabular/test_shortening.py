"""Episodes in conflict, played again without what does not matter."""

from __future__ import annotations

from itertools import count
from typing import Any

import gymnasium
import numpy as np
import pytest
from resumed_runs import same

from markovize import ActiveLearner, Emission, GridWorld, RewardMachine, Settings, Trigger
from markovize.agents.tabular import Snapshot, stopping
from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.compiled.detours import cell_at_end, shortest_way
from markovize.agents.tabular.runners import EnvRunner
from markovize.agents.tabular.shortening import SAMPLE, Ending, play_shorter, tell_apart
from markovize.agents.tabular.stopping import NEVER
from markovize.episodes.traces import Floats, Ints

EMPTY = ". . . . . . . . ."
ROWS = (EMPTY, ". k . . . . . . .", EMPTY, ". . . . @ . . . .", EMPTY, ". . . . . . . D .")
BORDER = "+-----------------+"
ROOM = "\n".join([BORDER, f"\n|{' ' * 17}|\n".join(f"|{row}|" for row in ROWS), BORDER])
MACHINE = RewardMachine("state", "state", 2, (Trigger(0, "k", 1),), (Emission(1, "D", 1, 1.0, terminal=True),))
KEY, DOOR, START = (1, 4), (7, 0), (4, 2)


class NoisyDoor(gymnasium.Wrapper[Any, Any, Any, Any]):
    """What is paid is noisy, what is not is not; equal seeds make it equal."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.rng = np.random.default_rng(seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, *rest = self.env.step(action)
        paid = float(reward) + (self.rng.uniform(-0.2, 0.2) if reward else 0.0)
        return observation, paid, *rest


def room() -> gymnasium.Env[Any, Any]:
    return NoisyDoor(gymnasium.wrappers.TimeLimit(GridWorld(ROOM, MACHINE), 200))


@pytest.fixture(scope="module")
def walker() -> ActiveLearner:
    """Someone who has been everywhere, and holds a machine of one state true."""
    learner = ActiveLearner(room(), Settings.of(episodes=1, tolerance=0.2))
    agent, rng, how = learner.agent, np.random.default_rng(1), learner.hyperparameters()
    for _ in range(60):
        assert isinstance(learner.runner, EnvRunner)
        learner.runner.repeat(agent, how, rng.integers(0, 5, 150).tolist(), NEVER)
    return learner


def cells(agent: Agent, way: Ints) -> list[Any]:
    return [tuple(agent.codec.observations.values[agent.codec.target[x]]) for x in way.tolist()]


def wandering(agent: Agent, *targets: tuple[int, int]) -> Ints:
    """From the start over these cells, one after the other, by the shortest ways."""
    numbers = agent.codec.observations
    points = [next(x for x in range(len(agent.codec)) if agent.codec.target[x] == numbers.id(cell)) for cell in targets]
    way = shortest_way(agent.reference, numbers.id(START), np.array(points, np.int32), 500)
    assert len(way)
    return way


def test_the_shortest_way_over_some_steps(walker: ActiveLearner) -> None:
    way = wandering(walker.agent, KEY, DOOR)
    assert len(way) == 5 + 10
    assert cells(walker.agent, way)[4] == KEY
    assert cells(walker.agent, way)[-1] == DOOR


def test_only_what_matters_is_left(walker: ActiveLearner) -> None:
    """A detour over four corners and the key: of all places only the key is needed for the door to pay."""
    agent, played = walker.agent, list[int]()
    way = wandering(agent, (0, 0), (8, 5), KEY, (0, 5), (8, 5), DOOR)

    def play(shorter: Ints, _times: int) -> Floats:
        played.append(len(shorter))
        return np.array([1.0 if KEY in cells(agent, shorter) else 0.0])

    best = play_shorter(agent, agent.arrays.machine.delta, Ending(way, 1.0, 0.0), play)
    assert len(best) == 5 + 10 < len(way)
    assert KEY in cells(agent, best)
    assert len(played) < 60
    assert cell_at_end(agent.reference, agent.arrays.machine.delta, best)[0] == 0


@pytest.mark.parametrize(("gap", "told"), [(1.0, [1, 1]), (0.15, [20, 20]), (0.0, [])])
def test_means_tell_levels_that_overlap(gap: float, told: list[int]) -> None:
    """Noise of ±0.2: one reward tells 1 from 0; 1.15 from 1 takes several, and 1 from 1 cannot be told."""
    rng, steps = np.random.default_rng(0), (np.zeros(3, np.int32), np.ones(3, np.int32))

    def play(way: Ints, times: int) -> Floats:
        return rng.uniform(-0.2, 0.2, times) + (1.0 + gap * float(way[0]))

    here, there = Ending(steps[0], 1.0, 1.0 + gap), Ending(steps[1], 1.0 + gap, 1.0)
    ends = tell_apart(here, there, 0.4, play)
    assert len(ends) == len(told)
    for end, repeats in zip(ends, told, strict=True):
        assert end.repeats == 1 if repeats == 1 else 1 < end.repeats <= 2 * repeats < SAMPLE
        assert end.is_like(np.array([end.paid])) and not end.is_like(np.array([end.otherwise]))


def test_a_run_finds_the_key_with_few_conflicts() -> None:
    result = ActiveLearner(room(), Settings.of(episodes=700, tolerance="auto", gamma=0.9)).run()
    assert [(t.source, t.on, t.target) for t in result.machine.triggers] == [(0, KEY, 1)]
    assert len(result.solves) < 10
    assert result.noise is not None
    assert 0.18 < result.noise.tolerance < 0.24


def test_a_run_that_goes_on_shortens_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, saved, asked = Settings.of(episodes=330, tolerance="auto", seed=3), list[bytes](), count()
    monkeypatch.setattr(stopping.Checkpoints, "due", lambda _: next(asked) % 5 == 4)
    whole = ActiveLearner(room(), settings, on_checkpoint=lambda run: saved.append(run.snapshot().to_bytes())).run()
    assert whole.solves
    again = ActiveLearner(room(), settings)
    again.restore(Snapshot.from_bytes(saved[len(saved) // 2]))
    same(again.run(), whole)
