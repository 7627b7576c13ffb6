"""The wrapper that records the episodes of vector environments to a file."""

from __future__ import annotations

import os
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from markovize.episodes.spaces import check_discrete, values_of
from markovize.episodes.traces import Bools, Floats
from markovize.errors import InputError
from markovize.gym.aliases import AnyVectorEnv, AnyVectorWrapper, Info, Observation, Seeds
from markovize.gym.wrappers.episode_file import AS_THEY_ARE, EpisodeFile
from markovize.gym.wrappers.recorder import Recorder
from markovize.gym.wrappers.vector.autoreset import autoreset_mode, last_values, reset_some


class RecordEpisodes(AnyVectorWrapper):
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
        self._recorders: list[Recorder] = []  # some versions of Gymnasium close what could not be made
        if not continuous:
            check_discrete(env, AS_THEY_ARE)
        self._same_step = autoreset_mode(env) is AutoresetMode.SAME_STEP
        self._file = EpisodeFile(path, append=append)
        self._recorders = [Recorder(self._file) for _ in range(env.num_envs)]

    @property
    def episodes_written(self) -> int:
        """How many episodes this wrapper has written."""
        return self._file.episodes

    def reset(self, *, seed: Seeds = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Resets the environments; episodes that were still open are written as truncated."""
        observations, infos, mask = reset_some(self.env, seed, options)
        values = values_of(self.env.single_observation_space, observations)
        for number in np.flatnonzero(mask).tolist():
            self._recorders[number].begin(values[number])
        return observations, infos

    def step(self, actions: Any) -> tuple[Observation, Floats, Bools, Bools, Info]:
        """Steps the environments; writes the episodes that end."""
        if not all([recorder.started for recorder in self._recorders]):
            raise gym.error.ResetNeeded("call reset before the first step, and after an error")
        moved = values_of(self.env.single_action_space, actions, "action")
        result = observations, rewards, terminations, truncations, infos = self.env.step(actions)
        try:
            values = values_of(self.env.single_observation_space, observations)
            ended = np.logical_or(terminations, truncations)
            lasts = last_values(values, ended, infos) if self._same_step else values
            for i, recorder in enumerate(self._recorders):
                flags = bool(terminations[i]), bool(truncations[i])
                if recorder.ended:  # this step was a reset
                    recorder.begin(values[i], ended=any(flags))
                    continue
                recorder.step(moved[i], rewards[i], lasts[i], terminated=flags[0], truncated=flags[1])
                if self._same_step and ended[i]:
                    recorder.begin(values[i])
        except InputError:
            for recorder in self._recorders:
                recorder.abandon()
            raise
        return result

    def close(self, **kwargs: Any) -> None:
        """Writes the open episodes as truncated, and closes the environments."""
        for recorder in self._recorders:
            recorder.cut()
        super().close(**kwargs)
