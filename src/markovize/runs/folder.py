"""A run as a folder of plain files, which any program can read.

========================  =========================================================================
``config.json``           the environment, its arguments, all settings, the version
``metrics.csv``           a row for each block of episodes
``exemplars.jsonl``       the episodes that the solver was given
``machine.json, .svg``    the machine
``q.csv``                 what each action is worth, for each machine state and observation
``curve.png``             returns and machine sizes
``result.json``           the numbers; written last, so where it is the rest is, too
``timings.json``          seconds; all other files are the same whenever the run is repeated
========================  =========================================================================
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from markovize.drawing import draw
from markovize.errors import InputError
from markovize.formats import write_episodes, write_machine
from markovize.formats.files import atomic_write, one_line, read_text
from markovize.values import jsonable, strict_json

if TYPE_CHECKING:
    import numpy.typing as npt

    from markovize.active import RunResult

BLOCKS: Final = 200  # rows of metrics.csv, about
WINDOW: Final = 100  # episodes in a moving average
TIMINGS: Final = ("seconds", "solve_seconds")
_INK, _LINE, _GOAL, _STEPS = "#37474f", "#1565c0", "#9e9e9e", "#c62828"


def write_run(
    folder: str | os.PathLike[str],
    env_id: str,
    env_args: Mapping[str, Any],
    result: RunResult,
    *,
    imports: Sequence[str] = (),
) -> None:
    """Writes everything about a run into a new folder; one with files in it is refused.

    ``imports`` are modules that register the environment. The same run gives the same bytes, except in
    ``timings.json``.
    """
    from markovize import __version__

    folder = check_new(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # names may contain a zero byte
        raise InputError(f"cannot be made: {one_line(error)}", where=one_line(folder)) from None
    summary = result.to_json()
    config = {
        "env_id": env_id, "env_args": dict(env_args), "imports": list(imports),
        "settings": result.settings.to_json(), "markovize": __version__,
    }  # fmt: skip
    solves = [{"episode": solve.episode, "seconds": solve.seconds} for solve in result.solves]
    atomic_write(folder / "config.json", _json(config))
    atomic_write(folder / "metrics.csv", _metrics(result))
    write_episodes(folder / "exemplars.jsonl", result.kept)
    write_machine(folder / "machine.json", result.machine)
    draw(result.machine, folder / "machine.svg")
    atomic_write(folder / "q.csv", _q_table(result))
    atomic_write(folder / "curve.png", curve(result))
    atomic_write(folder / "timings.json", _json({name: summary[name] for name in TIMINGS} | {"solves": solves}))
    atomic_write(folder / "result.json", _json({name: v for name, v in summary.items() if name not in TIMINGS}))


def read_run(folder: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The configuration and the result of a run that was written.

    >>> read_run("no/such/run")
    Traceback (most recent call last):
    markovize.errors.InputError: no/such/run/config.json: no such file
    """
    config, result = (_object(Path(folder, name)) for name in ("config.json", "result.json"))
    return config, result


def check_new(folder: str | os.PathLike[str]) -> Path:
    """The folder, if a run can be written there: before a long run is better than after it.

    >>> check_new("/")
    Traceback (most recent call last):
    markovize.errors.InputError: /: already has files in it; nothing was overwritten, give a new folder
    """
    path = Path(folder)
    where = one_line(path)
    try:
        if path.is_dir() and any(path.iterdir()):
            raise InputError("already has files in it; nothing was overwritten, give a new folder", where=where)
        above = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
        if not above.is_dir():
            raise InputError(f"{one_line(above, 80)} is not a folder", where=where)
        if not os.access(above, os.W_OK | os.X_OK):
            raise InputError(f"no permission to write in {one_line(above, 80)}", where=where)
    except OSError as error:  # names that are too long, folders that cannot be looked into
        raise InputError(f"cannot be made: {one_line(error)}", where=where) from None
    return path


def moving_average(values: npt.ArrayLike, window: int = WINDOW) -> npt.NDArray[np.float64]:
    """The mean of each value and those before it, at most ``window`` of them.

    >>> moving_average([2, 4, 6, 8], 2).tolist()
    [2.0, 3.0, 5.0, 7.0]
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(values, np.float64))])
    ends = np.arange(1, len(sums))
    starts = np.maximum(0, ends - window)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts), np.float64)


def curve(result: RunResult) -> bytes:
    """A PNG picture: the moving average of the returns, and below it the number of machine states."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    episodes = len(result.returns)
    settings: dict[Any, Any] = {"font.size": 9, "text.color": _INK, "axes.labelcolor": _INK, "axes.edgecolor": _INK}
    settings |= {"xtick.color": _INK, "ytick.color": _INK, "axes.spines.top": False, "axes.spines.right": False}
    # the user's own settings must not change the bytes
    with matplotlib.style.context(["default", settings]):
        figure = Figure(figsize=(7, 4.2), facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        if result.optimal_return is not None:
            label = f"optimal: {result.optimal_return:g}"
            upper.axhline(result.optimal_return, color=_GOAL, linestyle="--", linewidth=1.2, label=label)
        label = f"mean of the last {WINDOW} episodes"
        upper.plot(np.arange(1, episodes + 1), moving_average(result.returns), color=_LINE, linewidth=1.4, label=label)
        upper.set_ylabel("return")
        upper.margins(x=0)
        upper.legend(frameon=False, loc="lower right")
        at, states = _state_steps(result, episodes)
        lower.step(at, states, where="post", color=_STEPS, linewidth=1.4)
        lower.set_ylim(0, max(states) + 1)
        lower.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
        lower.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        lower.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        lower.set_ylabel("states")
        lower.set_xlabel("episode")
        lower.set_xlim(1, max(2, episodes))
        for axes in (upper, lower):
            axes.grid(axis="y", color="#eceff1", linewidth=0.8)
            axes.set_axisbelow(True)
        figure.align_ylabels()
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=150, metadata={"Software": None})
    return out.getvalue()


def _state_steps(result: RunResult, episodes: int) -> tuple[list[int], list[int]]:
    at, states = [1], [1]
    for solve in result.solves:
        at.append(min(max(1, solve.episode), max(1, episodes)))
        states.append(solve.states)
    return [*at, max(1, episodes)], [*states, states[-1]]


def _metrics(result: RunResult) -> str:
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
    return _csv(("episode", "mean_return", "mean_length", "states", "triggers", "exemplars"), rows)


def _q_table(result: RunResult) -> str:
    rows = ((u, _cell(observation), _cell(action), f"{float(q):.9g}") for u, observation, action, q in result.q_rows())
    return _csv(("u", "observation", "action", "value"), rows)


def _cell(value: Any) -> str:
    return json.dumps(jsonable(value))


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def _object(path: Path) -> dict[str, Any]:
    data = strict_json(read_text(path), where=one_line(path))
    if not isinstance(data, dict):
        raise InputError("must be a JSON object", where=one_line(path))
    return data
