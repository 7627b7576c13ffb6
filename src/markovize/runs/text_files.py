"""The text of a run's plain files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from markovize.episodes.values import jsonable
from markovize.io.files import csv_text

if TYPE_CHECKING:
    from markovize.agents.tabular import RunResult
    from markovize.runs.learning_curve import Told

BLOCKS: Final = 200  # rows of metrics.csv, about


def format_metrics(result: Told) -> str:
    """A row for each block of episodes: means, and the machine at its end."""
    episodes = len(result.returns)
    block = max(1, episodes // BLOCKS)
    solved = [solve.episode for solve in result.solves]
    rows = []
    for start in range(0, episodes, block):
        end = min(start + block, episodes)
        last = int(np.searchsorted(solved, end, side="right"))
        solve = result.solves[last - 1] if last else None
        sizes = (1, 0, 0) if solve is None else (solve.states, solve.triggers, solve.exemplars)
        means = (f"{float(np.mean(values[start:end])):.9g}" for values in (result.returns, result.lengths))
        rows.append((end, *means, *sizes))
    return csv_text(("episode", "mean_return", "mean_length", "states", "triggers", "exemplars"), rows)


def format_q_table(result: RunResult) -> str:
    """A row for each machine state, observation and action."""
    rows = ((u, _cell(observation), _cell(action), f"{float(q):.9g}") for u, observation, action, q in result.q_rows())
    return csv_text(("u", "observation", "action", "value"), rows)


def _cell(value: Any) -> str:
    return json.dumps(jsonable(value))


def format_json(data: Mapping[str, Any]) -> str:
    """JSON as people read it."""
    return json.dumps(data, indent=2, allow_nan=False) + "\n"
