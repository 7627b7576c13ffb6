"""The figure of learning, in the paper's extended layout: a column for each task, a row for each quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from markovize.experiments.paper import PaperValues
from markovize.experiments.record_parts import WINDOW
from markovize.experiments.records import Finished
from markovize.experiments.report import groups as by_group
from markovize.pictures import curves
from markovize.pictures.curves import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from markovize.episodes.traces import Floats

LEAST: Final = 1e-3  # seconds: the least that logarithmic axes show
DASHES: Final = (0, (4, 3))
_EDGE: Final = 1.3  # of the paper's marks, in points


@dataclass(frozen=True)
class _Quantity:
    """One row of the figure."""

    label: str
    column: Callable[[Finished], Sequence[float]]
    theirs: Callable[[PaperValues], tuple[float | None, float | None]]
    log: bool = False


_ROWS: Final = (
    _Quantity(
        f"return\n(mean of last {WINDOW})",
        lambda t: t[0].curve.mean_return,
        lambda p: (p.final_return, p.final_return_sd),
    ),
    _Quantity("states |U|", lambda t: t[0].curve.states, lambda p: (p.states, p.states_sd)),
    _Quantity(r"exemplars |T$_\mathrm{o}$|", lambda t: t[0].curve.exemplars, lambda p: (p.exemplars, p.exemplars_sd)),
    _Quantity(
        "cumulative\nsolve time, s", lambda t: t[1].curve, lambda p: (p.solve_seconds, p.solve_seconds_sd), log=True
    ),
)


def learning_figure(
    trials: Sequence[Finished],
    paper: Mapping[str, PaperValues] | None = None,
    *,
    kind: str = "png",
    theme: Theme = LIGHT,
) -> bytes:
    """Returns, |U|, |T_o| and solve time over episodes: mean and deviation over seeds, one line for each variant.

    The dashed line is the optimum; the paper's end values are diamonds at the right.
    """
    tasks, variants, groups = by_group.tasks_in(trials), by_group.variants_in(trials), by_group.group_trials(trials)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(len(_ROWS), len(tasks), squeeze=False, sharex="col")
        for row, quantity in enumerate(_ROWS):
            for column, task in enumerate(tasks):
                axes = panels[row, column]
                members = {v: groups[task, v] for v in variants if (task, v) in groups}
                _draw_panel(axes, quantity, members, variants, (paper or {}).get(task), theme)
                if row == 0:
                    axes.set_title(f"Task ({task.split()[0]}){task[len(task.split()[0]) :]}", fontweight="bold")
                if column == 0:
                    axes.set_ylabel(quantity.label)
                if row == len(_ROWS) - 1:
                    axes.set_xlabel("episode")
        share_log_scale(panels[-1])
        for axes in panels[-1, 1:]:
            axes.tick_params(labelleft=False)
        curves.set_margins(figure, left=0.95, right=0.15, top=0.35, bottom=0.88, between=(0.55, 0.22))
        for axes in panels[:, 0]:
            axes.yaxis.set_label_coords(-0.62 / (axes.get_position().width * figure.get_figwidth()), 0.5)
        legend = _legend(variants, trials, bool(paper), theme)
        figure.legend(handles=legend, loc="lower center", ncols=4, frameon=False)

    return curves.draw_figure((1.1 + 2.4 * max(2, len(tasks)), 8.0), draw, kind, theme)


def _draw_panel(
    axes: Axes,
    quantity: _Quantity,
    members: Mapping[str, list[Finished]],
    variants: Sequence[str],
    paper: PaperValues | None,
    theme: Theme,
) -> None:
    from matplotlib.ticker import MaxNLocator

    last = 1
    for variant, trials in members.items():
        points, values = by_group.stack_curves(trials, quantity.column)
        last = max(last, points[-1])
        number = variants.index(variant)
        # later lines are thinner, so that equal ones are all seen
        width = 1.7 + 1.5 * (len(variants) - 1 - number)
        curve = _range_on_log_scale(values) if quantity.log else by_group.mean_and_deviation(values)
        curves.draw_band(axes, points, curve, theme.line(number), width=width, alpha=0.22)
    optimum = {record.optimal_return for trials in members.values() for record, _ in trials} - {None}
    if quantity is _ROWS[0]:
        for value in sorted(v for v in optimum if v is not None):
            axes.axhline(value, color=theme.goal, linestyle=DASHES, linewidth=1.1, zorder=1.5)
    if paper is not None:
        _draw_paper(axes, quantity, paper, last, theme)
    axes.set_xlim(0, last * 1.06)
    curves.number_episodes(axes, last, theme)
    if quantity.log:
        axes.set_yscale("log")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=quantity is not _ROWS[0]))
        if quantity is not _ROWS[0]:
            axes.set_ylim(0, axes.get_ylim()[1] * 1.06)


def _range_on_log_scale(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Least, mean and greatest: mean - deviation may fall below zero, which a log scale cannot show."""
    low, mean, high = (
        np.where(c > 0, c, np.nan) for c in (values.min(axis=0), values.mean(axis=0), values.max(axis=0))
    )
    return np.where(np.isnan(low), mean, low), mean, high


def _draw_paper(axes: Axes, quantity: _Quantity, paper: PaperValues, last: int, theme: Theme) -> None:
    """The paper's end value at the right, or in words that there is none."""
    value, sd = quantity.theirs(paper)
    if not paper.solved and quantity.log:
        axes.text(
            0.5,
            0.95,
            f"paper: {paper.note}".replace(" in ", "\nin "),
            transform=axes.transAxes,
            ha="center",
            va="top",
            fontsize=8,
            color=theme.theirs,
            style="italic",
        )
    if value is None:
        return
    if sd:
        low = max(value - sd, value / 10) if quantity.log else value - sd
        axes.plot([last, last], [low, value + sd], color=theme.theirs, linewidth=1.2, zorder=4, clip_on=False)
    curves.draw_mark(axes, (last, value), theme, theme.theirs, edge=_EDGE)


def share_log_scale(panels: Iterable[Axes]) -> None:
    """Logarithmic axes from the least to the greatest of all, so that columns can be compared."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes = list(panels)
    # a panel without any number has limits around zero
    low = min((low for low, _ in (a.get_ylim() for a in axes) if low > 0), default=LEAST)
    high = max(a.get_ylim()[1] for a in axes)
    for one in axes:
        one.set_ylim(low / 1.5, max(high * 2, low * 20))
        one.yaxis.set_major_locator(LogLocator(numticks=6))
        one.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}" if y >= 1 else f"{y:g}")
        one.yaxis.set_minor_formatter(NullFormatter())
        one.tick_params(axis="y", which="minor", length=0)


def _legend(variants: Sequence[str], trials: Sequence[Finished], paper: bool, theme: Theme) -> list[Line2D]:
    from matplotlib.lines import Line2D

    seeds = len({record.seed for record, _ in trials})
    band = f"mean of {seeds} seeds ± sd (solve time: min–max)"
    names = [name or "ours" for name in variants]
    out = [
        Line2D([], [], color=theme.line(n), linewidth=2, label=name if len(names) > 1 else band)
        for n, name in enumerate(names)
    ]
    if any(record.optimal_return is not None for record, _ in trials):
        out.append(Line2D([], [], color=theme.goal, linestyle=DASHES, linewidth=1.1, label="optimum"))
    if paper:
        out.append(curves.mark_in_legend("paper, end value ± sd", theme))
    return out
