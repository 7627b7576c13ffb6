"""Curves over episodes, with bands for their spread: what all figures of results share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from markovize.pictures.style import add_grid, coloured_axes, encode, fixed_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from markovize.episodes.traces import Floats

KINDS: Final = ("png", "svg")
DPI: Final = 170
_FONT, _TITLE = 9.5, 10.5
_THOUSANDS: Final = 4_000  # from so many episodes on an axis counts in thousands


@dataclass(frozen=True)
class Theme:
    """Colours; lines and marks stay apart for the colour-blind (after Okabe and Ito)."""

    paper: str
    ink: str
    faint: str
    goal: str
    theirs: str
    lines: tuple[str, ...]

    def line(self, number: int) -> str:
        """The colour of a line; they repeat."""
        return self.lines[number % len(self.lines)]


LIGHT: Final = Theme(
    "#ffffff", "#26323d", "#e6eaee", "#8a939c", "#5f6b76", ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#997700")
)
DARK: Final = Theme(
    "#161b22", "#d5dde5", "#2b333d", "#7f8a95", "#a9b4bf", ("#56b4e9", "#e69f00", "#2fc596", "#dd88c0", "#d8c840")
)


def draw_figure(size: tuple[float, float], draw: Callable[[Figure], None], kind: str, theme: Theme) -> bytes:
    """A figure of so many inches, drawn and written in one style."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    settings = {
        "font.size": _FONT,
        "axes.titlesize": _TITLE,
        "axes.labelsize": _FONT,
        "legend.fontsize": _FONT,
        "axes.facecolor": theme.paper,
        **coloured_axes(theme.ink, theme.goal),
    }
    with fixed_style(settings):
        figure = Figure(figsize=size, facecolor=theme.paper)
        FigureCanvasAgg(figure)
        draw(figure)
        return encode(figure, kind, DPI)


def draw_band(
    axes: Axes,
    points: Sequence[int],
    curve: tuple[Floats, Floats, Floats],
    colour: str,
    *,
    width: float = 1.8,
    alpha: float = 0.18,
) -> None:
    """A line, and the band that it runs in: ``curve`` is (low, middle, high)."""
    low, middle, high = curve
    axes.fill_between(points, low, high, color=colour, alpha=alpha, linewidth=0, zorder=2)
    axes.plot(points, middle, color=colour, linewidth=width, zorder=3, solid_capstyle="round")


def number_episodes(axes: Axes, last: float, theme: Theme) -> None:
    """Few and round numbers below, a faint line at each number at the side."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=3, integer=True, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}k" if last >= _THOUSANDS and x else f"{x:g}")
    add_grid(axes, theme.faint)


def draw_mark(
    axes: Axes, at: tuple[float, float], theme: Theme, colour: str, *, marker: str = "D", size: float = 5.5, edge: float
) -> None:
    """A hollow mark at one point, also beyond the axes: for values from elsewhere."""
    axes.plot(
        [at[0]],
        [at[1]],
        marker,
        markersize=size,
        markerfacecolor=theme.paper,
        markeredgecolor=colour,
        markeredgewidth=edge,
        zorder=5,
        clip_on=False,
    )


def mark_in_legend(label: str, theme: Theme, marker: str = "D") -> Line2D:
    """How a legend shows such marks."""
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


def set_margins(
    figure: Figure, *, left: float, right: float, top: float, bottom: float, between: tuple[float, float]
) -> None:
    """Margins and gaps in inches: matplotlib's own layouts take seconds for so many panels."""
    width, height = (float(side) for side in figure.get_size_inches())
    grid = figure.axes[0].get_gridspec()
    assert grid is not None  # the figure has panels
    rows, columns = grid.get_geometry()
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
