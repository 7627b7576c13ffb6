"""The figures of a report, in the paper's extended layout: a column for each task, a row for each quantity.

Equal records give equal bytes: no dates, fixed names in SVG files, the user's own matplotlib settings left out.
"""

from __future__ import annotations

import io
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import WINDOW, Finished
from markovize.experiments.report.tables import Group, common_points, grouped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from markovize.episodes.traces import Floats

KINDS: Final = ("png", "svg")
DPI: Final = 170
LEAST: Final = 1e-3  # seconds: the least that logarithmic axes show


@dataclass(frozen=True)
class Theme:
    """Colours; lines and marks stay apart for the colour-blind (after Okabe and Ito)."""

    paper: str
    ink: str
    faint: str
    goal: str
    theirs: str
    lines: tuple[str, ...]


LIGHT: Final = Theme(
    "#ffffff", "#26323d", "#e6eaee", "#8a939c", "#5f6b76", ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#997700")
)
DARK: Final = Theme(
    "#161b22", "#d5dde5", "#2b333d", "#7f8a95", "#a9b4bf", ("#56b4e9", "#e69f00", "#2fc596", "#dd88c0", "#d8c840")
)
MARKS: Final = ("o", "s", "^", "D", "v")


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
    tasks = unique(record.task for record, _ in trials)
    variants = unique(record.variant for record, _ in trials)
    groups = grouped(trials)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(len(_ROWS), len(tasks), squeeze=False, sharex="col")
        for row, quantity in enumerate(_ROWS):
            for column, task in enumerate(tasks):
                axes = panels[row, column]
                members = {v: groups[task, v] for v in variants if (task, v) in groups}
                _panel(axes, quantity, members, variants, (paper or {}).get(task), theme)
                if row == 0:
                    axes.set_title(f"Task ({task.split()[0]}){task[len(task.split()[0]) :]}", fontweight="bold")
                if column == 0:
                    axes.set_ylabel(quantity.label)
                if row == len(_ROWS) - 1:
                    axes.set_xlabel("episode")
        _one_scale(panels[-1])
        for axes in panels[-1, 1:]:
            axes.tick_params(labelleft=False)
        edges(figure, left=0.95, right=0.15, top=0.35, bottom=0.88, between=(0.55, 0.22))
        for axes in panels[:, 0]:
            axes.yaxis.set_label_coords(-0.62 / (axes.get_position().width * figure.get_figwidth()), 0.5)
        legend = _legend(variants, trials, bool(paper), theme)
        figure.legend(handles=legend, loc="lower center", ncols=4, frameon=False)

    return picture((1.1 + 2.4 * max(2, len(tasks)), 8.0), draw, kind, theme)


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
    tasks = unique(record.task for record, _ in trials)
    variants = unique(record.variant for record, _ in trials)
    groups = grouped(trials)

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        found = {g: [r.episodes_to_machine for r, _ in members] for g, members in groups.items()}
        seconds: dict[Group, list[float | None]] = {
            g: [max(t.solve_seconds, LEAST) for _, t in members] for g, members in groups.items()
        }
        _strip(left, found, tasks, variants, theme)
        for task, values in (paper or {}).items():
            if task in tasks and values.solve_seconds is not None:
                _diamond(right, tasks.index(task), values.solve_seconds, theme)
        _strip(right, seconds, tasks, variants, theme)
        left.set_title("episodes to the true machine", fontweight="bold")
        right.set_title("solve time, s", fontweight="bold")
        edges(figure, left=0.75, right=0.15, top=0.4, bottom=0.95, between=(0.75, 0.0))
        figure.legend(handles=_variant_marks(variants, bool(paper), theme), loc="lower center", ncols=5, frameon=False)

    return picture((9.4, 3.9), draw, kind, theme)


# --- panels ---------------------------------------------------------------------------------------------------------


def _panel(
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
        points, values = _stacked(quantity, trials)
        last = max(last, points[-1])
        number = variants.index(variant)
        # later lines are thinner, so that equal ones are all seen
        width = 1.7 + 1.5 * (len(variants) - 1 - number)
        _line_with_band(axes, points, values, theme.lines[number % len(theme.lines)], width, quantity.log)
    optimum = {record.optimal_return for trials in members.values() for record, _ in trials} - {None}
    if quantity is _ROWS[0]:
        for value in sorted(v for v in optimum if v is not None):
            axes.axhline(value, color=theme.goal, linestyle=(0, (4, 3)), linewidth=1.1, zorder=1.5)
    if paper is not None:
        _paper_mark(axes, quantity, paper, last, theme)
    axes.set_xlim(0, last * 1.06)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=3, integer=True, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}k" if last >= 4000 and x else f"{x:g}")
    axes.grid(axis="y", color=theme.faint, linewidth=0.8)
    axes.set_axisbelow(True)
    if quantity.log:
        axes.set_yscale("log")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=quantity is not _ROWS[0]))
        if quantity is not _ROWS[0]:
            axes.set_ylim(0, axes.get_ylim()[1] * 1.06)


def _stacked(quantity: _Quantity, trials: Sequence[Finished]) -> tuple[list[int], Floats]:
    """The curves of all seeds at the points that they share: [seed, point]."""
    curves = [dict(zip(t[0].curve.episode, quantity.column(t), strict=True)) for t in trials]
    points = common_points(curves)
    return points, np.array([[curve[point] for point in points] for curve in curves], np.float64)


def _line_with_band(axes: Axes, points: list[int], values: Floats, colour: str, width: float, log: bool) -> None:
    """Mean ± deviation; on a log scale least to greatest, since mean - deviation may fall below zero."""
    mean = values.mean(axis=0)
    low, high = mean - values.std(axis=0), mean + values.std(axis=0)
    if log:
        low, mean, high = (np.where(c > 0, c, np.nan) for c in (values.min(axis=0), mean, values.max(axis=0)))
        low = np.where(np.isnan(low), mean, low)
    axes.fill_between(points, low, high, color=colour, alpha=0.22, linewidth=0, zorder=2)
    axes.plot(points, mean, color=colour, linewidth=width, zorder=3, solid_capstyle="round")


def _paper_mark(axes: Axes, quantity: _Quantity, paper: PaperValues, last: int, theme: Theme) -> None:
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
    _diamond(axes, last, value, theme)


def _diamond(axes: Axes, x: float, y: float, theme: Theme) -> None:
    """Where the paper is."""
    axes.plot(
        [x],
        [y],
        "D",
        markersize=5.5,
        markerfacecolor=theme.paper,
        markeredgecolor=theme.theirs,
        markeredgewidth=1.3,
        zorder=5,
        clip_on=False,
    )


def _one_scale(panels: Iterable[Axes]) -> None:
    """Logarithmic axes from the least to the greatest of all, so that columns can be compared."""
    axes = list(panels)
    # a panel without any number has limits around zero
    low = min((low for low, _ in (a.get_ylim() for a in axes) if low > 0), default=LEAST)
    high = max(a.get_ylim()[1] for a in axes)
    for one in axes:
        one.set_ylim(low / 1.5, max(high * 2, low * 20))
        _log_ticks(one)


def _log_ticks(axes: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(numticks=6))
    axes.yaxis.set_major_formatter(lambda y, _: _power(y))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="y", which="minor", length=0)


def _power(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _strip(
    axes: Axes,
    values: Mapping[Group, Sequence[float | None]],
    tasks: Sequence[str],
    variants: Sequence[str],
    theme: Theme,
) -> None:
    """A mark per seed, by task; those without a value stand hollow above all others."""
    found = [v for members in values.values() for v in members if v is not None]
    most = max(found, default=1.0)
    never = any(v is None for members in values.values() for v in members)
    top = most * 4
    for (task, variant), members in values.items():
        number = variants.index(variant)
        colour = theme.lines[number % len(theme.lines)]
        mark = MARKS[number % len(MARKS)]
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
    _one_scale([axes])
    if never:
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
    axes.set_xticks(range(len(tasks)), [task.replace(" ", "\n", 1) for task in tasks])
    axes.set_xlim(-0.6, len(tasks) - 0.4)
    axes.grid(axis="y", color=theme.faint, linewidth=0.8)
    axes.set_axisbelow(True)


# --- legends and files ----------------------------------------------------------------------------------------------


def _legend(variants: Sequence[str], trials: Sequence[Finished], paper: bool, theme: Theme) -> list[Any]:
    from matplotlib.lines import Line2D

    seeds = len({record.seed for record, _ in trials})
    band = f"mean of {seeds} seeds ± sd (solve time: min–max)"
    names = [name or "ours" for name in variants]
    out: list[Any] = [
        Line2D([], [], color=theme.lines[n % len(theme.lines)], linewidth=2, label=name if len(names) > 1 else band)
        for n, name in enumerate(names)
    ]
    if any(record.optimal_return is not None for record, _ in trials):
        out.append(Line2D([], [], color=theme.goal, linestyle=(0, (4, 3)), linewidth=1.1, label="optimum"))
    if paper:
        out.append(paper_handle("paper, end value ± sd", theme))
    return out


def paper_handle(label: str, theme: Theme, marker: str = "D") -> Any:
    """How a legend shows the paper's values."""
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        color=theme.theirs,
        marker=marker,
        linestyle="none",
        markersize=5.5,
        markerfacecolor=theme.paper,
        label=label,
    )


def _variant_marks(variants: Sequence[str], paper: bool, theme: Theme) -> list[Any]:
    from matplotlib.lines import Line2D

    out = [
        Line2D(
            [],
            [],
            color=theme.lines[n % len(theme.lines)],
            marker=MARKS[n % len(MARKS)],
            linestyle="none",
            label=name or "ours",
        )
        for n, name in enumerate(variants)
    ]
    out.append(Line2D([], [], color=theme.ink, linewidth=2.2, label="median over seeds"))
    return [*out, *([paper_handle("paper, mean", theme)] if paper else [])]


def edges(
    figure: Figure, *, left: float, right: float, top: float, bottom: float, between: tuple[float, float]
) -> None:
    """Margins and gaps in inches: matplotlib's own layouts take seconds for so many panels."""
    width, height = (float(side) for side in figure.get_size_inches())
    rows, columns = figure.axes[0].get_gridspec().get_geometry()  # type: ignore[union-attr]
    panel_width = (width - left - right - between[0] * (columns - 1)) / columns
    panel_height = (height - top - bottom - between[1] * (rows - 1)) / rows
    figure.subplots_adjust(
        left / width,
        bottom / height,
        1 - right / width,
        1 - top / height,
        between[0] / panel_width,
        between[1] / panel_height,
    )


def picture(size: tuple[float, float], draw: Callable[[Figure], None], kind: str, theme: Theme) -> bytes:
    """A figure of so many inches, drawn and written in one style."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        "font.size": 9.5,
        "font.family": ["DejaVu Sans"],
        "svg.hashsalt": "markovize",
        "svg.fonttype": "path",
        "axes.titlesize": 10.5,
        "axes.labelsize": 9.5,
        "legend.fontsize": 9.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.facecolor": theme.paper,
        "text.color": theme.ink,
        "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.goal,
        "axes.titlecolor": theme.ink,
        "xtick.color": theme.ink,
        "ytick.color": theme.ink,
    }
    with matplotlib.style.context(["default", settings]):
        figure = Figure(figsize=size, facecolor=theme.paper)
        FigureCanvasAgg(figure)
        draw(figure)
        out = io.BytesIO()
        metadata: dict[str, Any] = {"Date": None, "Creator": "markovize"} if kind == "svg" else {"Software": None}
        figure.savefig(out, format=kind, dpi=DPI, metadata=metadata)
    return out.getvalue()


def unique(values: Any) -> list[str]:
    """Each name once, in the order in which they first come."""
    return list(dict.fromkeys(values))
