"""The figure of an ablation: what each variant needs, seed by seed, for each task."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished
from markovize.experiments.report.groups import Group, group_trials, tasks_in, variants_in
from markovize.experiments.report.learning_figure import LEAST, share_log_scale
from markovize.pictures.curves import LIGHT, Theme, draw_figure, draw_mark, mark_in_legend, set_margins
from markovize.pictures.style import add_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

MARKS: Final = ("o", "s", "^", "D", "v")
_EDGE: Final = 1.3  # of the paper's marks, in points


def ablation_figure(
    trials: Sequence[Finished],
    paper: Mapping[str, PaperValues] | None = None,
    *,
    kind: str = "png",
    theme: Theme = LIGHT,
) -> bytes:
    """Episodes to the true machine and solve time, for each task and variant: a mark per seed, a bar at the median.

    Seeds that never found the true machine are hollow, at the top; the paper's mean solve times are diamonds.
    """
    tasks, variants, groups = tasks_in(trials), variants_in(trials), group_trials(trials)

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        found = {g: [r.episodes_to_machine for r, _ in members] for g, members in groups.items()}
        seconds = {g: [max(t.solve_seconds, LEAST) for _, t in members] for g, members in groups.items()}
        _draw_seeds(left, found, tasks, variants, theme)
        for task, values in (paper or {}).items():
            if task in tasks and values.solve_seconds is not None:
                draw_mark(right, (tasks.index(task), values.solve_seconds), theme, theme.theirs, edge=_EDGE)
        _draw_seeds(right, seconds, tasks, variants, theme)
        left.set_title("episodes to the true machine", fontweight="bold")
        right.set_title("solve time, s", fontweight="bold")
        set_margins(figure, left=0.75, right=0.15, top=0.4, bottom=0.95, between=(0.75, 0.0))
        figure.legend(handles=_legend(variants, bool(paper), theme), loc="lower center", ncols=5, frameon=False)

    return draw_figure((9.4, 3.9), draw, kind, theme)


def _draw_seeds(
    axes: Axes,
    values: Mapping[Group, Sequence[float | None]],
    tasks: Sequence[str],
    variants: Sequence[str],
    theme: Theme,
) -> None:
    """A mark per seed, by task; those without a value stand hollow above all others."""
    most = max((v for members in values.values() for v in members if v is not None), default=1.0)
    never = any(v is None for members in values.values() for v in members)
    top = most * 4
    for (task, variant), members in values.items():
        number = variants.index(variant)
        colour, mark = theme.line(number), MARKS[number % len(MARKS)]
        x = tasks.index(task) + (number - (len(variants) - 1) / 2) * 0.8 / max(2, len(variants))
        spread = np.linspace(-0.09, 0.09, len(members)) if len(members) > 1 else np.zeros(1)
        for place, value in zip(x + spread, members, strict=True):
            at, fill = (top, "none") if value is None else (max(value, LEAST), colour)
            axes.plot(
                [place], [at], mark, markersize=5, markerfacecolor=fill, markeredgecolor=colour, alpha=0.8, zorder=3
            )
        known = [v for v in members if v is not None]
        if known:
            median = statistics.median(known)
            axes.plot([x - 0.15, x + 0.15], [median, median], color=theme.ink, linewidth=2.2, zorder=4)
    axes.set_yscale("log")
    share_log_scale([axes])
    if never:
        _draw_never(axes, most, top, theme)
    axes.set_xticks(range(len(tasks)), [task.replace(" ", "\n", 1) for task in tasks])
    axes.set_xlim(-0.6, len(tasks) - 0.4)
    add_grid(axes, theme.faint)


def _draw_never(axes: Axes, most: float, top: float, theme: Theme) -> None:
    """A line below the seeds that never had a value."""
    axes.axhline(most * 2, color=theme.faint, linewidth=0.8)
    axes.set_ylim(axes.get_ylim()[0], top * 2)
    axes.annotate(
        "never",
        (0, top),
        (4, 0),
        axes.get_yaxis_transform(),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=theme.goal,
    )


def _legend(variants: Sequence[str], paper: bool, theme: Theme) -> list[Line2D]:
    from matplotlib.lines import Line2D

    out = [
        Line2D([], [], color=theme.line(n), marker=MARKS[n % len(MARKS)], linestyle="none", label=name or "ours")
        for n, name in enumerate(variants)
    ]
    out.append(Line2D([], [], color=theme.ink, linewidth=2.2, label="median over seeds"))
    return [*out, *([mark_in_legend("paper, mean", theme)] if paper else [])]
