"""The wrapper that records an environment's episodes to a file."""

from __future__ import annotations

import os
from typing import SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from markovize.episodes.spaces import check_discrete, value_of
from markovize.errors import InputError
from markovize.gym.aliases import Info, Observation, SingleEnv, SingleWrapper
from markovize.gym.wrappers.autoreset import Resets
from markovize.gym.wrappers.episode_file import AS_THEY_ARE, EpisodeFile
from markovize.gym.wrappers.recorder import Recorder


class RecordEpisodes(SingleWrapper, RecordConstructorArgs):
    """Writes every episode to a JSONL file as soon as it ends, one line each; changes nothing else.

    An episode that is still open at ``reset`` or ``close`` is written as truncated. If the program is killed, at most
    the open episode is lost. One without steps is not written.

    Args:
        path: the file. One that holds something already is refused, unless ``append``.
        append: adds to what the file holds; a line that a killed program has torn is cut off first.
        continuous: records observations and actions that are not discrete, too, and observations that are objects
            (``Dict`` spaces); for learning guards over their features, or with functions that turn them into labels.

    >>> import tempfile
    >>> from markovize import read_episodes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     env = RecordEpisodes(gym.make("FrozenLake-v1", is_slippery=False), f"{folder}/log.jsonl")
    ...     _ = env.reset(seed=0)
    ...     for action in (1, 1, 2, 2, 1, 2):
    ...         _ = env.step(action)
    ...     read_episodes(f"{folder}/log.jsonl").episode(0).observations
    [0, 4, 8, 9, 10, 14, 15]
    """

    def __init__(
        self, env: SingleEnv, path: str | os.PathLike[str], *, append: bool = False, continuous: bool = False
    ) -> None:
        RecordConstructorArgs.__init__(self, path=os.fspath(path), append=append, continuous=continuous)
        gym.Wrapper.__init__(self, env)
        if not continuous:
            check_discrete(env, AS_THEY_ARE)
        self._continuous = continuous
        self._file = EpisodeFile(path, append=append)
        self._recorder = Recorder(self._file)
        self._resets = Resets(env)

    @property
    def episodes_written(self) -> int:
        """How many episodes this wrapper has written."""
        return self._file.episodes

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Resets the environment; an episode that was still open is written as truncated."""
        self._recorder.cut()
        observation, info = self.env.reset(seed=seed, options=options)
        self._recorder.begin(value_of(observation, objects=self._continuous))
        return observation, info

    def step(self, action: object) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        """Steps the environment; at the end of an episode, writes it."""
        if not self._recorder.started:
            raise gym.error.ResetNeeded("call reset before the first step, and after an error")
        moved = value_of(action, "action")  # before the environment can change it
        phantom = self._resets.next(ended=self._recorder.ended)
        result = observation, reward, terminated, truncated, _ = self.env.step(action)
        try:
            after, flags = value_of(observation, objects=self._continuous), (bool(terminated), bool(truncated))
            if phantom:
                self._recorder.begin(after, ended=any(flags))
            else:
                self._recorder.step(moved, reward, after, terminated=flags[0], truncated=flags[1])
        except InputError:
            self._recorder.abandon()
            raise
        return result

    def close(self) -> None:
        """Writes the open episode as truncated, and closes the environment."""
        self._recorder.cut()
        super().close()
