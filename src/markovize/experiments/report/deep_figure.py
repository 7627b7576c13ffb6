"""The figure of the paper's experiment 2: returns over episodes, a panel for each task, a line for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished
from markovize.experiments.report.figures import LIGHT, Theme, edges, paper_handle, picture, unique
from markovize.experiments.report.tables import common_points, grouped, paper_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def are_trainings(trials: Sequence[Finished]) -> bool:
    """Whether all of these are trainings of deep agents."""
    return all("model" in record.settings for record, _ in trials)


def returns_figure(
    trials: Sequence[Finished],
    paper: Mapping[str, PaperValues] | None = None,
    *,
    kind: str = "png",
    theme: Theme = LIGHT,
) -> bytes:
    """Mean and deviation over seeds; the paper's end values are diamonds in the colours of their lines.

    Circles are its values after as many episodes as ours, where that is before its end.
    """
    tasks = unique(record.task for record, _ in trials)
    models = unique(record.variant for record, _ in trials)
    groups = grouped(trials)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(tasks), squeeze=False, sharey=True)[0]
        for axes, task in zip(panels, tasks, strict=True):
            for model in (model for model in models if (task, model) in groups):
                colour = theme.lines[models.index(model) % len(theme.lines)]
                _line(axes, groups[task, model], paper_of(paper, (task, model)), colour, theme)
            _finish(axes, theme)
            axes.set_title(f"Task ({task})", fontweight="bold")
            axes.set_xlabel("episode")
        panels[0].set_ylabel("return\n(mean of last 1,000)")
        edges(figure, left=0.85, right=0.2, top=0.35, bottom=0.9, between=(0.25, 0.0))
        figure.legend(handles=_legend(models, trials, paper, theme), loc="lower center", ncols=8, frameon=False)

    return picture((1.3 + 2.4 * max(3, len(tasks)), 3.6), draw, kind, theme)


def _line(axes: Axes, trials: Sequence[Finished], paper: PaperValues | None, colour: str, theme: Theme) -> None:
    curves = [dict(zip(r.curve.episode, r.curve.mean_return, strict=True)) for r, _ in trials]
    points = common_points(curves)
    values = np.array([[curve[point] for point in points] for curve in curves])
    mean, sd = values.mean(axis=0), values.std(axis=0)
    axes.fill_between(points, mean - sd, mean + sd, color=colour, alpha=0.18, linewidth=0, zorder=2)
    axes.plot(points, mean, color=colour, linewidth=1.8, zorder=3, solid_capstyle="round")
    if paper is not None and paper.final_return is not None:
        marks = [(1.06, paper.final_return, "D", 5.0)]
        if points[-1] in paper.sooner:
            marks.append((1.0, paper.sooner[points[-1]][0], "o", 6.0))
        for where, value, shape, size in marks:
            axes.plot(
                [points[-1] * where],
                [value],
                shape,
                markersize=size,
                markerfacecolor=theme.paper,
                markeredgecolor=colour,
                markeredgewidth=1.5,
                zorder=5,
                clip_on=False,
            )


def _finish(axes: Axes, theme: Theme) -> None:
    from matplotlib.ticker import MaxNLocator

    last = max((float(np.max(line.get_xdata())) for line in axes.lines), default=1.0)
    axes.set_xlim(0, last)
    axes.set_ylim(-1.05, 1.05)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=3, integer=True, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}k" if last >= 4000 and x else f"{x:g}")
    axes.grid(axis="y", color=theme.faint, linewidth=0.8)
    axes.set_axisbelow(True)


def _legend(
    models: Sequence[str], trials: Sequence[Finished], paper: Mapping[str, PaperValues] | None, theme: Theme
) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    out: list[Any] = [
        Line2D([], [], color=theme.lines[n % len(theme.lines)], linewidth=2, label=name)
        for n, name in enumerate(models)
    ]
    seeds = len({record.seed for record, _ in trials})
    if seeds > 1:
        out.append(Patch(facecolor=theme.goal, alpha=0.4, label=f"± sd of {seeds} seeds"))
    if paper:
        lengths = {record.reported for record, _ in trials}
        for length in sorted(lengths & {length for said in paper.values() for length in said.sooner}):
            out.append(paper_handle(f"paper's after {length:,}", theme, "o"))
        ends = {said.episodes for said in paper.values() if said.episodes is not None}
        out.append(paper_handle(f"paper's after {max(ends):,}" if ends else "paper's end value", theme))
    return out
