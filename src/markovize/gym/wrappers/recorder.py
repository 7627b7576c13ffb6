"""Records one environment, episode after episode: each is handed to the file when it ends."""

from __future__ import annotations

import math
from typing import SupportsFloat

from markovize.episodes.open_episode import OpenEpisode
from markovize.episodes.values import Value
from markovize.errors import InputError, one_line
from markovize.gym.wrappers.episode_file import EpisodeFile


class Recorder:
    """One environment's current episode, on its way to the file.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recorder = Recorder(EpisodeFile(pathlib.Path(folder, "log.jsonl")))
    ...     recorder.begin(0)
    ...     recorder.step("go", 1.0, 1, terminated=False, truncated=False)
    ...     recorder.cut()
    ...     print(recorder.file.path.read_text(), end="")
    {"observations": [0, 1], "actions": ["go"], "rewards": [1.0], "terminated": false, "truncated": true}
    """

    __slots__ = ("ended", "episode", "file", "started")

    def __init__(self, file: EpisodeFile) -> None:
        self.file = file
        self.started = self.ended = False
        self.episode: OpenEpisode | None = None

    def begin(self, observation: Value, *, ended: bool = False) -> None:
        """A new episode starts, and may have ``ended`` already; one that was still open counts as truncated."""
        self.cut()
        self.episode = OpenEpisode(observation)
        self.started, self.ended = True, ended

    def step(
        self, action: Value, reward: SupportsFloat, observation: Value, *, terminated: bool, truncated: bool
    ) -> None:
        """One step of the environment; after the end of an episode and before the next one, it belongs to none."""
        if self.ended or self.episode is None:
            return
        self.episode.step(action, _finite(reward), observation)
        if terminated or truncated:
            self._write(terminated, truncated)
            self.ended = True

    def cut(self) -> None:
        """Ends the episode here: what there is of it is written as truncated."""
        self._write(False, True)
        self.ended = False

    def abandon(self) -> None:
        """After a step that cannot be recorded: keeps what came before it, and waits for the next reset."""
        self.started = False
        self.cut()

    def _write(self, terminated: bool, truncated: bool) -> None:
        episode, self.episode = self.episode, None  # before writing: what cannot be written is not tried again
        if episode is not None and episode.actions:
            self.file.append(episode.close(terminated=terminated, truncated=truncated))


def _finite(reward: SupportsFloat) -> float:
    try:
        value = float(reward)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"a reward must be a number, not {one_line(repr(reward), 40)}") from None
    if not math.isfinite(value):
        raise InputError(f"the reward of this step is {value}; rewards must be finite")
    return value
