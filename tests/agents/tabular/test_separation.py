"""A move of the machine is told from others by what pays differently later on, through further triggers."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from markovize import ActiveLearner, Emission, GridWorld, RewardMachine, Settings, Trigger
from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.compiled.arrays import Hyperparameters
from markovize.agents.tabular.compiled.episodes import replay_episodes
from markovize.agents.tabular.compiled.separation import find_telling_route, note_told, open_states
from markovize.agents.tabular.kept_episodes import KeptEpisodes

HOW = Hyperparameters(True, 0.1, 20, 0.1, 0.9, crm=False, pause=True, confirm=True, width=0.4)
HALL, TOOL, GOLD, DOOR, ATTIC = range(5)
THREE = RewardMachine("state", "state", 3, (Trigger(0, "tool", 1), Trigger(1, "gold", 2)))


def visitor(*walks: tuple[list[int], float]) -> Agent:
    """Someone in five rooms, all next to each other, who has walked like this; only the door pays, at the end."""
    rooms = ["hall", "tool", "gold", "door", "attic"]
    codec, kept = StepCodec(rooms, [f"to the {room}" for room in rooms]), KeptEpisodes()
    for walk, paid in walks:
        steps = [codec.transition(s, t, t) for s, t in zip([HALL, *walk], walk, strict=False)]
        kept.add(np.array(steps, np.int32), np.array([0.0] * (len(walk) - 1) + [paid]), False)
    agent = Agent.new(codec, THREE, (8, 64), steps=30, episodes=len(walks))
    agent.instruct(HOW, np.random.default_rng(0))
    replay_episodes(agent.reference, *kept.columns(), False)
    for x in range(len(codec)):
        agent.arrays.model.seen[x] = 1
        agent.arrays.model.first[codec.source[x], codec.action[x]] = x
    return agent


def told(agent: Agent, u: int, room: int) -> set[int]:
    return set(np.flatnonzero(agent.arrays.machine.told[u, room]).tolist())


PAID = ([TOOL, GOLD, DOOR], 1.0)
WITHOUT_GOLD = ([TOOL, DOOR], 0.0)


@pytest.mark.kernels
def test_a_door_tells_gold_and_only_gold_tells_tools() -> None:
    agent = visitor(PAID, WITHOUT_GOLD, ([ATTIC, DOOR], 0.0))
    note_told(agent.reference)
    assert told(agent, 0, ATTIC) == {2}, "the attic has no gold; it may have had tools"
    agent = visitor(PAID, WITHOUT_GOLD, ([ATTIC, GOLD, DOOR], 0.0))
    note_told(agent.reference)
    assert told(agent, 0, ATTIC) == {1, 2}
    assert told(agent, 0, GOLD) == {2}, "who has tools by now is not told from who has none"


@pytest.mark.kernels
def test_what_is_open_while_one_walks() -> None:
    agent = visitor(PAID, WITHOUT_GOLD, ([DOOR], 0.0), ([ATTIC], 0.0))
    assert open_states(agent.reference).tolist() == [False, True, True]
    agent = visitor(PAID, WITHOUT_GOLD, ([DOOR], 0.0), ([ATTIC, DOOR], 0.0))
    assert open_states(agent.reference).tolist() == [False, True, True], "the door itself may be gold"


@pytest.mark.kernels
def test_routes_go_on_until_it_is_told() -> None:
    agent = visitor(PAID, WITHOUT_GOLD, ([GOLD, DOOR], 0.0), ([ATTIC, GOLD], 0.0))
    agent.arrays.machine.told[:, [HALL, TOOL, GOLD, DOOR]] = True
    agent.arrays.machine.told[0, ATTIC, 2] = True
    agent.arrays.episode.status[0].length = 0
    assert find_telling_route(agent.reference, HALL)
    route = agent.arrays.route
    length = int(route.status[0].length)
    assert route.actions[:length].tolist() == [ATTIC, GOLD, DOOR]
    assert route.nodes[:length].tolist() == [HALL, ATTIC, GOLD]
    agent.arrays.machine.told[0, ATTIC, 1] = True
    agent.arrays.machine.told[1:, ATTIC] = True
    assert not find_telling_route(agent.reference, HALL)


MAP = """
    +-----------------+
    |k . . . @ . . . k|
    |                 |
    |. . g . . . . . .|
    |                 |
    |k . . . D . . . k|
    +-----------------+"""
TASK = RewardMachine(
    "state", "state", 3, (Trigger(0, "k", 1), Trigger(1, "g", 2)), (Emission(2, "D", 2, 1.0, terminal=True),)
)


class Noisy(gymnasium.Wrapper[Any, Any, Any, Any]):
    """What is paid is noisy; equal seeds make it equal."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.rng = np.random.default_rng(seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + (self.rng.uniform(-0.2, 0.2) if reward else 0.0), *rest


def test_all_keys_are_found_though_one_is_enough() -> None:
    """A key is told only by gold and the door after it: who knows one key has no reason to go there without it."""
    env = Noisy(gymnasium.wrappers.TimeLimit(GridWorld(MAP, TASK), 100))
    learner = ActiveLearner(env, Settings.of(episodes=1_500, max_steps=100, tolerance=0.2, effort=300, seed=1))
    result = learner.run()
    corners = {(0, 0), (8, 0), (0, 2), (8, 2)}
    assert {trigger.on for trigger in result.machine.triggers if trigger.source == 0} == corners
    assert (result.machine.states, len(result.machine.triggers)) == (3, 5)
