"""The wrappers for vector environments, under the same names, right in each of Gymnasium's autoreset modes.

``NEXT_STEP``: the step after an episode's end is a reset in disguise; it moves no machine and is in no episode.
``SAME_STEP``: the observation after an episode's end is the next episode's first; the last one is in ``final_obs``.
``DISABLED``: the program resets, all environments or those in ``options["reset_mask"]``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from markovize.episodes.labelling import LabelFunction
from markovize.episodes.spaces import check_discrete, value_of, values_of
from markovize.episodes.traces import Bools
from markovize.episodes.values import Value
from markovize.errors import InputError, UnsupportedError
from markovize.gym.wrappers.counterfactual import CounterfactualTable
from markovize.gym.wrappers.episode_file import EpisodeFile, OpenEpisode
from markovize.gym.wrappers.following import AnyMachine, Follower, Rules, Unseen, check_fits, machine_of
from markovize.gym.wrappers.markov_reward import experienced
from markovize.gym.wrappers.observing import Mode, Observer
from markovize.gym.wrappers.shaping import Potential

__all__ = ["MarkovRewardWrapper", "RecordEpisodes"]

if TYPE_CHECKING:
    AnyVectorEnv = VectorEnv[Any, Any, Any]
    Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:  # Gymnasium 1.1 has no parameters for these
    AnyVectorEnv, Wrapper = VectorEnv, VectorWrapper


class MarkovRewardWrapper(Wrapper):
    """Adds the states of a reward machine to the observations of a vector environment.

    Arguments and ``info`` are those of :class:`markovize.gym.wrappers.MarkovRewardWrapper`, in arrays. In mode
    ``SAME_STEP``, ``final_obs`` and ``final_info`` hold the machine's state at the end of the episode.

    >>> from markovize import RewardMachine, Trigger
    >>> envs = gym.make_vec("FrozenLake-v1", num_envs=2, is_slippery=False)
    >>> envs = MarkovRewardWrapper(envs, RewardMachine("state", "state", 2, (Trigger(0, 4, 1),)), mode="flat")
    >>> envs.reset(seed=0)[0], envs.step(np.array([1, 2]))[0]
    (array([0, 0]), array([9, 2]))
    """

    def __init__(
        self,
        env: AnyVectorEnv,
        machine: AnyMachine,
        *,
        mode: Mode = "dict",
        unseen: Unseen = "stay",
        shaping: float | None = None,
        crm: bool = False,
        trigger_on: LabelFunction | None = None,
        reward_on: LabelFunction | None = None,
    ) -> None:
        super().__init__(env)
        self.machine = machine_of(machine)
        rules = Rules(self.machine, unseen=unseen, trigger_on=trigger_on, reward_on=reward_on)
        check_fits(self.machine, env)
        self.potential = None if shaping is None else Potential.of(self.machine, shaping)
        self._same_step = _autoreset_mode(env) is AutoresetMode.SAME_STEP
        self._observer = Observer(env.single_observation_space, self.machine, mode)
        self._table = CounterfactualTable(rules) if crm else None
        self._followers = [Follower(rules) for _ in range(env.num_envs)]
        self.single_observation_space = self._observer.space
        self.observation_space = self._observer.batched(env.observation_space, env.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Resets the environments and their machines, or only those in ``options["reset_mask"]``."""
        observations, infos, mask = _reset(self.env, seed, options)
        values = values_of(self.env.single_observation_space, observations)
        for number in np.flatnonzero(mask).tolist():
            self._followers[number].begin(values[number])
        infos = self._told(infos, mask)
        return self._observer.batch(observations, values, self._followers), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
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
        lasts = _last_values(values, ended, infos) if self._same_step else values
        real = np.array([not f.ended for f in followers])
        bonus = np.zeros(len(followers))
        experiences = np.full(len(followers), None, object)
        for i, follower in enumerate(followers):
            if not real[i]:  # this step was a reset
                follower.begin(values[i])
            else:
                step = follower.observation, moved[i], lasts[i]
                follower.step(moved[i], lasts[i])
                final = bool(terminations[i])
                if self.potential is not None:
                    bonus[i] = self.potential.bonus(follower.before, follower.state, terminated=final)
                if self._table is not None:
                    experiences[i] = experienced(self._table, step, follower, float(rewards[i]), final, self.potential)
            follower.started, follower.ended = True, bool(ended[i])
        extras = {}
        if self.potential is not None:
            extras["rm_unshaped_reward"] = np.array(rewards, np.float64)
            rewards = rewards + bonus
        if self._table is not None:
            extras["rm_experiences"] = experiences
        infos = self._finished(infos, ended, extras, values) if self._same_step and ended.any() else infos
        infos = self._told(infos, np.ones(len(followers), np.bool_))
        mask = real & ~ended if self._same_step else real  # what was the last step's is in final_info then
        for name, column in extras.items():
            infos[name], infos[f"_{name}"] = column, mask.copy()
        return self._observer.batch(observations, values, followers), rewards, terminations, truncations, infos

    def _finished(
        self, infos: dict[str, Any], ended: Bools, extras: dict[str, Any], values: list[Value]
    ) -> dict[str, Any]:
        """Mode SAME_STEP: tells of the machines at the end of their episodes, then begins the next ones."""
        last = self._told(infos.get("final_info", {}), ended)
        for name, column in extras.items():
            last[name], last[f"_{name}"] = column.copy(), ended.copy()
        observations = np.full(len(ended), None, object)
        for i in np.flatnonzero(ended).tolist():
            observations[i] = self._observer.single(infos["final_obs"][i], self._followers[i])
            self._followers[i].begin(values[i])
        masks = {"_final_info": ended.copy(), "_final_obs": ended.copy()}
        return {**infos, "final_info": last, "final_obs": observations, **masks}

    def _told(self, infos: dict[str, Any], mask: Bools) -> dict[str, Any]:
        """The infos with those of the machines."""
        out = dict(infos)
        rows = [f.info() for f in self._followers]
        for name in rows[0]:
            out[name] = np.array([row[name] for row in rows], np.int64)
            out[f"_{name}"] = mask.copy()
        return out


class RecordEpisodes(Wrapper):
    """Writes every episode of each environment to one JSONL file, as soon as it ends; changes nothing else.

    Arguments are those of :class:`markovize.gym.wrappers.RecordEpisodes`.

    >>> import tempfile
    >>> from markovize import read_episodes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     envs = gym.make_vec("FrozenLake-v1", num_envs=2, is_slippery=False)
    ...     envs = RecordEpisodes(envs, f"{folder}/log.jsonl")
    ...     _ = envs.reset(seed=0)
    ...     for _ in range(3):
    ...         _ = envs.step(np.array([1, 2]))
    ...     envs.close()
    ...     [episode.observations for episode in read_episodes(f"{folder}/log.jsonl")]
    [[0, 4, 8, 12], [0, 1, 2, 3]]
    """

    def __init__(
        self, env: AnyVectorEnv, path: str | os.PathLike[str], *, append: bool = False, continuous: bool = False
    ) -> None:
        super().__init__(env)
        self._episodes: list[OpenEpisode] = []  # some versions of Gymnasium close what could not be made
        if not continuous:
            check_discrete(env)
        self._same_step = _autoreset_mode(env) is AutoresetMode.SAME_STEP
        self._file = EpisodeFile(path, append=append)
        self._episodes = [OpenEpisode(self._file) for _ in range(env.num_envs)]

    @property
    def episodes_written(self) -> int:
        """How many episodes this wrapper has written."""
        return self._file.episodes

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Resets the environments; episodes that were still open are written as truncated."""
        observations, infos, mask = _reset(self.env, seed, options)
        values = values_of(self.env.single_observation_space, observations)
        for number in np.flatnonzero(mask).tolist():
            self._episodes[number].begin(values[number])
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Steps the environments; writes the episodes that end."""
        if not all([episode.started for episode in self._episodes]):
            raise gym.error.ResetNeeded("call reset before the first step, and after an error")
        moved = values_of(self.env.single_action_space, actions, "action")
        result = observations, rewards, terminations, truncations, infos = self.env.step(actions)
        try:
            values = values_of(self.env.single_observation_space, observations)
            ended = np.logical_or(terminations, truncations)
            lasts = _last_values(values, ended, infos) if self._same_step else values
            for i, episode in enumerate(self._episodes):
                flags = bool(terminations[i]), bool(truncations[i])
                if episode.ended:  # this step was a reset
                    episode.begin(values[i], ended=any(flags))
                    continue
                episode.step(moved[i], rewards[i], lasts[i], terminated=flags[0], truncated=flags[1])
                if self._same_step and ended[i]:
                    episode.begin(values[i])
        except InputError:
            for episode in self._episodes:
                episode.abandon()
            raise
        return result

    def close(self, **kwargs: Any) -> None:
        """Writes the open episodes as truncated, and closes the environments."""
        for episode in self._episodes:
            episode.cut()
        super().close(**kwargs)


def _autoreset_mode(env: AnyVectorEnv) -> AutoresetMode:
    mode = env.metadata.get("autoreset_mode")
    if mode is None:
        raise UnsupportedError(
            "this vector environment does not say when it resets; set its metadata['autoreset_mode'] to a "
            "gymnasium.vector.AutoresetMode"
        )
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise UnsupportedError(f"{mode!r} is not one of Gymnasium's autoreset modes") from None


def _reset(env: AnyVectorEnv, seed: Any, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any], Bools]:
    """Resets; also tells which environments were reset."""
    mask: Bools = np.ones(env.num_envs, np.bool_)
    if options is not None:
        chosen = options.get("reset_mask")
        if isinstance(chosen, np.ndarray) and chosen.shape == mask.shape:  # the environment itself refuses others
            mask = chosen.astype(np.bool_)
        options = dict(options)  # environments take the mask out, but wrappers around this one want it too
    observations, infos = env.reset(seed=seed, options=options)
    return observations, _checked(infos), mask


def _last_values(values: list[Value], ended: Bools, infos: Any) -> list[Value]:
    """Mode SAME_STEP: the observations that the steps led to, before any reset."""
    if not ended.any():
        return values
    lasts = _checked(infos).get("final_obs")
    if lasts is None:
        raise InputError("an episode ended in mode SAME_STEP, but info has no final_obs")
    return [value_of(lasts[i]) if ended[i] else value for i, value in enumerate(values)]


def _checked(infos: Any) -> dict[str, Any]:
    if not isinstance(infos, dict):
        raise UnsupportedError("infos must be a dict of arrays; put DictInfoToList around this wrapper, not within")
    return infos
