"""The front of allowances that were compared: how long each description is, and which one is the shortest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, Protocol

from markovize.errors import InputError
from markovize.pictures.curves import KINDS, LIGHT, Theme, draw_figure
from markovize.pictures.style import add_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

SIZE: Final = (6.4, 3.8)  # inches
WIDE: Final = 20.0  # times as much: from there on an axis counts in powers of ten
MOST_NAMED: Final = 12  # points whose machines are named; of more only the shortest


class Compared(Protocol):
    """An allowance and its machine, as results list them."""

    @property
    def tolerance(self) -> float: ...
    @property
    def outliers(self) -> int: ...
    @property
    def states(self) -> int: ...
    @property
    def triggers(self) -> int: ...
    @property
    def bits(self) -> float: ...


def draw_front(front: Sequence[Compared], taken: tuple[float, int], *, kind: str = "png") -> bytes:
    """Bits over the allowance, each point with its machine (states, triggers); the one that was taken is marked.

    Across are outliers, with a line for each tolerance; tolerances, where the outliers are the same throughout.

    >>> from markovize.learning.result import Choice
    >>> drawn = draw_front([Choice(0.0, 0, 9, 12, 310.0), Choice(0.0, 4, 3, 2, 140.5)], (0.0, 4), kind="svg")
    >>> drawn.startswith(b"<?xml")
    True
    """
    if kind not in KINDS:
        raise InputError(f"the picture of a front is a .png or .svg file, not .{kind}")
    if not front:
        raise InputError("there is no front to draw: nothing was compared; ask for an allowance of auto")
    return draw_figure(SIZE, lambda figure: _draw(figure, front, taken, LIGHT), kind, LIGHT)


def _draw(figure: Figure, front: Sequence[Compared], taken: tuple[float, int], theme: Theme) -> None:
    from matplotlib.ticker import LogLocator

    axes = figure.subplots()
    by_outliers = len({choice.outliers for choice in front}) > 1
    lines = [
        list(line) for _, line in groupby(sorted(front, key=lambda c: c.tolerance), lambda c: by_outliers * c.tolerance)
    ]
    for number, line in enumerate(lines):
        points = sorted((choice.outliers if by_outliers else choice.tolerance, choice.bits) for choice in line)
        several = by_outliers and len(lines) > 1
        name = f"tolerance {line[0].tolerance:.3g}" if several else None
        axes.plot(*zip(*points, strict=True), "o-", color=theme.line(number), markersize=4, linewidth=1.4, label=name)
    across = [float(choice.outliers if by_outliers else choice.tolerance) for choice in front]
    least = min((value for value in across if value > 0), default=1.0)
    if max(across) > WIDE * least:
        axes.set_xscale("symlog", linthresh=least)
    elif by_outliers:
        axes.locator_params("x", integer=True)
    bits = [choice.bits for choice in front]
    if max(bits) > WIDE * min(bits):
        axes.set_yscale("log", subs=[])
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.set_xlabel("outliers" if by_outliers else "tolerance")
    axes.set_ylabel("bits: machine, levels, noise")
    axes.margins(0.12, 0.16)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}")
    add_grid(axes, theme.faint)
    if by_outliers and len(lines) > 1:
        axes.legend(frameon=False, loc="best")
    figure.subplots_adjust(left=0.15, right=0.97, top=0.96, bottom=0.15)
    axes.autoscale_view()  # from here on, points are where they will be
    _name_machines(axes, front, taken, by_outliers, theme)


def _name_machines(
    axes: Axes, front: Sequence[Compared], taken: tuple[float, int], by_outliers: bool, theme: Theme
) -> None:
    """Writes the machine beside its point, the one that was taken first; what would cover another name is left out."""
    named: list[Bbox] = []
    for choice in sorted(front, key=lambda choice: ((choice.tolerance, choice.outliers) != taken, choice.bits)):
        at = choice.outliers if by_outliers else choice.tolerance, choice.bits
        is_taken = (choice.tolerance, choice.outliers) == taken
        if is_taken:
            axes.plot(*at, "o", markersize=11, markerfacecolor="none", markeredgecolor=theme.line(1), markeredgewidth=2)
        words = f"{choice.states}, {choice.triggers}" + (" taken" if is_taken else "")
        below = -15 if is_taken else 7
        name = axes.annotate(words, at, (0, below), textcoords="offset points", ha="center", fontsize=8)
        place = name.get_window_extent()
        if any(place.overlaps(other) for other in named) or len(named) == MOST_NAMED:
            name.remove()
        else:
            named.append(place)
