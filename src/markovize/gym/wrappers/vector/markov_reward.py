"""The wrapper that makes the rewards of vector environments Markov again."""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from markovize.episodes.spaces import values_of
from markovize.episodes.traces import Bools, Floats
from markovize.episodes.values import Value
from markovize.gym.aliases import AnyVectorEnv, AnyVectorWrapper, Info, Observation, Seeds
from markovize.gym.wrappers.counterfactual import experiences_of_step
from markovize.gym.wrappers.follower import Follower
from markovize.gym.wrappers.machine_argument import AnyMachine, load_machine
from markovize.gym.wrappers.options import WrapperOptions, prepare
from markovize.gym.wrappers.vector.autoreset import autoreset_mode, last_values, reset_some


class MarkovRewardWrapper(AnyVectorWrapper):
    """Adds the states of a reward machine to the observations of a vector environment.

    Arguments and ``info`` are those of :class:`markovize.gym.wrappers.MarkovRewardWrapper`, in arrays. In mode
    ``SAME_STEP``, ``final_obs`` and ``final_info`` hold the machine's state at the end of the episode.

    >>> from markovize import RewardMachine, Trigger
    >>> envs = gym.make_vec("FrozenLake-v1", num_envs=2, is_slippery=False)
    >>> envs = MarkovRewardWrapper(envs, RewardMachine("state", "state", 2, (Trigger(0, 4, 1),)), mode="flat")
    >>> envs.reset(seed=0)[0], envs.step(np.array([1, 2]))[0]
    (array([0, 0]), array([9, 2]))
    """

    def __init__(self, env: AnyVectorEnv, machine: AnyMachine, **options: Unpack[WrapperOptions]) -> None:
        super().__init__(env)
        self.machine = load_machine(machine)
        parts = prepare(env, env.single_observation_space, self.machine, **options)
        self.potential, self._observer, self._table = parts.potential, parts.observer, parts.table
        self._same_step = autoreset_mode(env) is AutoresetMode.SAME_STEP
        self._followers = [Follower(parts.bound) for _ in range(env.num_envs)]
        self.single_observation_space = self._observer.space
        self.observation_space = self._observer.batch_space(env.observation_space, env.num_envs)

    def reset(self, *, seed: Seeds = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Resets the environments and their machines, or only those in ``options["reset_mask"]``."""
        observations, infos, mask = reset_some(self.env, seed, options)
        values = values_of(self.env.single_observation_space, observations)
        for number in np.flatnonzero(mask).tolist():
            self._followers[number].begin(values[number])
        infos = self._add_machine_infos(infos, mask)
        return self._observer.batch(observations, values, self._followers), infos

    def step(self, actions: Any) -> tuple[Observation, Floats, Bools, Bools, Info]:
        """Steps the environments, then their machines."""
        followers = self._followers
        if not all([f.started for f in followers]):
            raise gym.error.ResetNeeded("call reset before the first step, and after an error")
        moved = values_of(self.env.single_action_space, actions, "action")
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        for follower in followers:
            follower.started = False  # unless all that follows works out, until the next reset
        ended = np.logical_or(terminations, truncations)
        values = values_of(self.env.single_observation_space, observations)
        lasts = last_values(values, ended, infos) if self._same_step else values
        real = np.array([not f.ended for f in followers])
        bonus = np.zeros(len(followers))
        experiences = np.full(len(followers), None, object)
        for i, follower in enumerate(followers):
            if not real[i]:  # this step was a reset
                follower.begin(values[i])
            else:
                step = follower.observation, moved[i], lasts[i]
                follower.step(moved[i], lasts[i])
                paid, final = float(rewards[i]), bool(terminations[i])
                if self.potential is not None:
                    bonus[i] = self.potential.bonus(follower.before, follower.state, terminated=final)
                if self._table is not None:
                    experiences[i] = experiences_of_step(self._table, follower, step, paid, final, self.potential)
            follower.started, follower.ended = True, bool(ended[i])
        extras = {}
        if self.potential is not None:
            extras["rm_unshaped_reward"] = np.array(rewards, np.float64)
            rewards = rewards + bonus
        if self._table is not None:
            extras["rm_experiences"] = experiences
        infos = self._finished(infos, ended, extras, values) if self._same_step and ended.any() else infos
        infos = self._add_machine_infos(infos, np.ones(len(followers), np.bool_))
        mask = real & ~ended if self._same_step else real  # what was the last step's is in final_info then
        for name, column in extras.items():
            infos[name], infos[f"_{name}"] = column, mask.copy()
        return self._observer.batch(observations, values, followers), rewards, terminations, truncations, infos

    def _finished(self, infos: Info, ended: Bools, extras: Info, values: list[Value]) -> Info:
        """Mode SAME_STEP: tells of the machines at the end of their episodes, then begins the next ones."""
        last = self._add_machine_infos(infos.get("final_info", {}), ended)
        for name, column in extras.items():
            last[name], last[f"_{name}"] = column.copy(), ended.copy()
        observations = np.full(len(ended), None, object)
        for i in np.flatnonzero(ended).tolist():
            observations[i] = self._observer.single(infos["final_obs"][i], self._followers[i])
            self._followers[i].begin(values[i])
        masks = {"_final_info": ended.copy(), "_final_obs": ended.copy()}
        return {**infos, "final_info": last, "final_obs": observations, **masks}

    def _add_machine_infos(self, infos: Info, mask: Bools) -> Info:
        """The infos with those of the machines."""
        out = dict(infos)
        rows = [f.info() for f in self._followers]
        for name in rows[0]:
            out[name] = np.array([row[name] for row in rows], np.int64)
            out[f"_{name}"] = mask.copy()
        return out
