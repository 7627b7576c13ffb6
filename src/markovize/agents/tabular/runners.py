"""Who plays episodes: compiled on a world's tables, or step by step in any Gymnasium environment."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import isfinite
from typing import Any, Final, NamedTuple, Protocol

import gymnasium as gym
import numpy as np

from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.compiled import worlds
from markovize.agents.tabular.compiled.arrays import Hyperparameters, WorldTables
from markovize.agents.tabular.compiled.episodes import end_episode
from markovize.agents.tabular.compiled.stepping import advance, begin
from markovize.agents.tabular.compiled.worlds import CONFLICT, DONE, FULL, TIRED
from markovize.agents.tabular.settings import Settings
from markovize.agents.tabular.stopping import NEVER, Stop
from markovize.agents.tabular.view import View
from markovize.episodes.rewards import reward_number
from markovize.episodes.spaces import check_space, value_of
from markovize.episodes.traces import Floats, Ints
from markovize.episodes.values import Value
from markovize.gym.space_index import all_elements
from markovize.worlds import World

STATES, TRANSITIONS = 64, 256  # first room for what an unknown environment may show
RECENT = 10  # episodes that an environment's runner remembers
WORK: Final = 2_000_000  # steps or nodes of a compiled call: at most some tenths of a second


class Played(NamedTuple):
    """What came of some episodes: how many were played, why it stopped, what each earned and how long it was."""

    why: int
    returns: Floats
    lengths: Ints


class EpisodeRunner(Protocol):
    """Plays episodes and teaches the agent, which may grow on the way."""

    codec: StepCodec
    room: tuple[int, int]
    actions: list[Any]  # as the environment takes them

    def play(self, agent: Agent, how: Hyperparameters, episodes: int, stop: Stop = NEVER) -> Played:
        """So many episodes, or fewer: it stops after one that conflicts or brings news, or if witnesses need room."""
        ...


class WorldRunner:
    """Plays a world of this package, all compiled."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.tables = tables_of(world)
        self.codec = StepCodec.of(world)
        self.room = (len(world.observations), len(self.codec))
        self.actions = list(range(len(world.actions)))
        self._rng = rng

    def play(self, agent: Agent, how: Hyperparameters, episodes: int, stop: Stop = NEVER) -> Played:
        """As in :class:`EpisodeRunner`; all there is to see is known, so nothing grows."""
        returns, lengths = np.zeros(episodes), np.zeros(episodes, np.int32)
        agent.instruct(how, self._rng)
        done, why = 0, TIRED
        while why == TIRED:
            stop.check()
            more, why = worlds.play(agent.reference, self.tables, episodes - done, WORK, returns[done:], lengths[done:])
            done += more
        return Played(why, returns[:done], lengths[:done])


class RecentEpisode(NamedTuple):
    """An episode that can be played again: the seed of its reset, its transitions, its rewards."""

    seed: int
    transitions: Ints
    rewards: Floats


class EnvRunner:
    """Plays any environment with discrete actions, step by step; ``view`` says what observations are to the agent."""

    def __init__(self, env: gym.Env[Any, Any], rng: np.random.Generator, view: View | None = None) -> None:
        check_space(env.action_space, "action")
        self._env, self._rng = env, rng
        self.view = view or View.of(env.observation_space, Settings.of())
        self.actions = all_elements(env.action_space)
        self.codec = self.view.codec([value_of(action, "action") for action in self.actions])
        self.room = (STATES, TRANSITIONS)
        self.recent: deque[RecentEpisode] = deque(maxlen=RECENT)
        self._ids: dict[Any, int] = {}
        self._before: Value = 0  # the last two observations, where they are needed to label a step
        self._now: Value = 0

    def play(self, agent: Agent, how: Hyperparameters, episodes: int, stop: Stop = NEVER) -> Played:
        """As in :class:`EpisodeRunner`."""
        agent.instruct(how, self._rng)
        returns, lengths = np.zeros(episodes), np.zeros(episodes, np.int32)
        for episode in range(episodes):
            if agent.arrays.witnesses.free_rows[0].count == 0:
                return Played(FULL, returns[:episode], lengths[:episode])
            self._play_one(agent, stop)
            conflict, news, returns[episode], lengths[episode] = end_episode(agent.reference)
            if conflict or how.pause or news:
                done = episode + 1
                return Played(CONFLICT if conflict else DONE, returns[:done], lengths[:done])
        return Played(DONE, returns, lengths)

    def repeat(self, agent: Agent, how: Hyperparameters, script: Sequence[int], stop: Stop) -> tuple[Floats, Ints]:
        """One more episode with these actions, by number; it ends with the last of them. What it earned, its length."""
        agent.instruct(how, self._rng)
        if agent.arrays.witnesses.free_rows[0].count == 0:
            agent.add_rows()
        self._play_one(agent, stop, script)
        _, _, earned, length = end_episode(agent.reference)
        return np.array([earned]), np.array([length], np.int32)

    def _play_one(self, agent: Agent, stop: Stop, script: Sequence[int] | None = None) -> None:
        """One episode. Each step goes: environment, number of the transition, compiled code, next action.

        With a script, actions are those of it, as long as there are any.
        """
        actions, codec, step = self.actions, self.codec, self._env.step
        identify, number = (self._state_id, self._number) if codec.labelled else (self._id, codec.transition)
        seed = int(self._rng.random() * 2**31)
        observation, _ = self._env.reset(seed=seed)
        s = identify(observation)
        agent.fit()
        reference = agent.reference
        n, action = 0, begin(reference, s)
        while action >= 0:
            stop.check()
            if script is not None:
                if n == len(script):
                    break
                action = script[n]
            observation, reward, terminated, truncated, _ = step(actions[action])
            paid = reward if type(reward) is float and isfinite(reward) else reward_number(reward, n)
            t, known = identify(observation), len(codec)
            x = number(s, action, t)
            if x == known:
                agent.fit(known)
                reference = agent.reference
            action = advance(reference, x, paid, bool(terminated), bool(truncated))
            s, n = t, n + 1
        episode = agent.arrays.episode
        self.recent.append(RecentEpisode(seed, episode.transitions[:n].copy(), episode.rewards[:n].copy()))

    def _state_id(self, observation: Any) -> int:
        self._before, self._now = self._now, self._value(observation)
        return self.codec.observations.id(self.view.state(self._now))

    def _number(self, s: int, a: int, t: int) -> int:
        return self.codec.transition(s, a, t, self.view.labels((self._before, self.codec.actions[a], self._now)))

    def _value(self, observation: Any) -> Value:
        return value_of(observation, objects=self.view.objects)

    def raw_action(self, transition: int) -> Any:
        """What to step the environment with, to take a transition's action."""
        return self.actions[self.codec.action[transition]]

    def _id(self, observation: Any) -> int:
        key = _key(observation)
        try:
            found = self._ids.get(key)
        except TypeError:  # unhashable, such as lists, or arrays in a tuple
            return self.codec.observations.id(self._value(observation))
        if found is None:
            found = self._ids[key] = self.codec.observations.id(self._value(observation))
        return found


def _key(observation: Any) -> Any:
    """Equal for equal observations, and quickly found."""
    if isinstance(observation, np.ndarray):
        return observation.tobytes()
    if isinstance(observation, dict):
        return tuple([(name, _key(part)) for name, part in observation.items()])
    return observation


def tables_of(world: World) -> WorldTables:
    """A world as compiled code wants it."""
    tables = world.tables
    return WorldTables(
        world.successor, tables.u, tables.reward, tables.terminated, int(world.start), int(world.machine.initial)
    )
