"""The figure of the paper's experiment 2: returns over episodes, a panel for each task, a line for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished
from markovize.experiments.report import groups as by_group
from markovize.pictures import curves
from markovize.pictures.curves import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def returns_figure(
    trials: Sequence[Finished],
    paper: Mapping[str, PaperValues] | None = None,
    *,
    kind: str = "png",
    theme: Theme = LIGHT,
) -> bytes:
    """Mean and deviation over seeds; the paper's end values are diamonds in the colours of their lines.

    Circles are its values at the length of our trainings, where ours are shorter.
    """
    tasks, models, groups = by_group.tasks_in(trials), by_group.variants_in(trials), by_group.group_trials(trials)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(tasks), squeeze=False, sharey=True)[0]
        for axes, task in zip(panels, tasks, strict=True):
            for model in (model for model in models if (task, model) in groups):
                colour = theme.line(models.index(model))
                _draw_model(axes, groups[task, model], by_group.paper_of(paper, (task, model)), colour, theme)
            last = max((float(np.max(line.get_xdata())) for line in axes.lines), default=1.0)
            axes.set_xlim(0, last)
            axes.set_ylim(-1.05, 1.05)
            curves.number_episodes(axes, last, theme)
            axes.set_title(f"Task ({task})", fontweight="bold")
            axes.set_xlabel("episode")
        panels[0].set_ylabel("return\n(mean of last 1,000)")
        curves.set_margins(figure, left=0.85, right=0.2, top=0.35, bottom=0.9, between=(0.25, 0.0))
        figure.legend(handles=_legend(models, trials, paper, theme), loc="lower center", ncols=8, frameon=False)

    return curves.draw_figure((1.3 + 2.4 * max(3, len(tasks)), 3.6), draw, kind, theme)


def _draw_model(axes: Axes, trials: Sequence[Finished], paper: PaperValues | None, colour: str, theme: Theme) -> None:
    points, values = by_group.stack_curves(trials, lambda trial: trial[0].curve.mean_return)
    curves.draw_band(axes, points, by_group.mean_and_deviation(values), colour)
    if paper is not None and paper.final_return is not None:
        curves.draw_mark(axes, (points[-1] * 1.06, paper.final_return), theme, colour, size=5.0, edge=1.5)
        if points[-1] in paper.sooner:
            soon = paper.sooner[points[-1]][0]
            curves.draw_mark(axes, (points[-1], soon), theme, colour, marker="o", size=6.0, edge=1.5)


def _legend(
    models: Sequence[str], trials: Sequence[Finished], paper: Mapping[str, PaperValues] | None, theme: Theme
) -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    out: list[Artist] = [Line2D([], [], color=theme.line(n), linewidth=2, label=name) for n, name in enumerate(models)]
    seeds = len({record.seed for record, _ in trials})
    if seeds > 1:
        out.append(Patch(facecolor=theme.goal, alpha=0.4, label=f"± sd of {seeds} seeds"))
    if paper:
        lengths = {record.reported for record, _ in trials}
        for length in sorted(lengths & {length for said in paper.values() for length in said.sooner}):
            out.append(curves.mark_in_legend(f"paper's after {length:,}", theme, "o"))
        ends = {said.episodes for said in paper.values() if said.episodes is not None}
        out.append(curves.mark_in_legend(f"paper's after {max(ends):,}" if ends else "paper's end value", theme))
    return out
