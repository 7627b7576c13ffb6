"""What an experiment in the catalogue says: how it is made, and its sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markovize.agents.tabular import Settings
from markovize.experiments.spec import Experiment


class Preset(NamedTuple):
    """How large: seeds, reported episodes, how long to wait for a first conflict; which tasks, and the first seed."""

    seeds: int
    episodes: int
    max_wait: int = 0
    tasks: str = "bcde"
    first: int = 0


@dataclass(frozen=True)
class Wanted:
    """What is asked of an experiment: which tasks and seeds, how many reported episodes, which engine."""

    name: str
    tasks: str
    seeds: Sequence[int]
    episodes: int
    max_wait: int
    engine: str

    def settings(self, **changes: Any) -> Settings:
        """The paper's settings in this size."""
        size: dict[str, Any] = {"episodes": self.episodes, "max_wait": self.max_wait, "engine": self.engine}
        return Settings.of("paper", **size | changes)


class Entry(NamedTuple):
    """What makes the experiment, and its sizes by name: paper, quick and smoke."""

    make: Callable[[Wanted], Experiment]
    presets: Mapping[str, Preset]
