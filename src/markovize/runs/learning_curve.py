"""The picture of a run: what it earned, and how its machine grew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from markovize.pictures.style import LABEL, add_grid, coloured_axes, encode, fixed_style

if TYPE_CHECKING:
    import numpy.typing as npt

    from markovize.agents.tabular.results import Solve
    from markovize.machine.machine import RewardMachine

WINDOW: Final = 100  # episodes in a moving average
_LINE, _GOAL, _STEPS, _FAINT = "#1565c0", "#9e9e9e", "#c62828", "#eceff1"
_DPI: Final = 150


class Told(Protocol):
    """What every kind of run tells at its end."""

    @property
    def machine(self) -> RewardMachine: ...
    @property
    def returns(self) -> npt.NDArray[np.float64]: ...
    @property
    def lengths(self) -> npt.NDArray[np.int32]: ...
    @property
    def solves(self) -> tuple[Solve, ...]: ...
    @property
    def optimal_return(self) -> float | None: ...
    def to_json(self) -> dict[str, Any]: ...


def moving_average(values: npt.ArrayLike, window: int = WINDOW) -> npt.NDArray[np.float64]:
    """The mean of each value and those before it, at most ``window`` of them.

    >>> moving_average([2, 4, 6, 8], 2).tolist()
    [2.0, 3.0, 5.0, 7.0]
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(values, np.float64))])
    ends = np.arange(1, len(sums))
    starts = np.maximum(0, ends - window)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts), np.float64)


def curve(result: Told) -> bytes:
    """A PNG picture: the moving average of the returns, and below it the number of machine states."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    episodes = len(result.returns)
    with fixed_style({"font.size": 9, **coloured_axes(LABEL, LABEL)}):
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
            add_grid(axes, _FAINT)
        figure.align_ylabels()
        return encode(figure, "png", _DPI)


def _state_steps(result: Told, episodes: int) -> tuple[list[int], list[int]]:
    at, states = [1], [1]
    for solve in result.solves:
        at.append(min(max(1, solve.episode), max(1, episodes)))
        states.append(solve.states)
    return [*at, max(1, episodes)], [*states, states[-1]]
