"""A product on a grid: one map per machine state, cells coloured by value, greedy arrows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from markovize.product import picture_parts as parts
from markovize.product.picture_parts import INK, Edge

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from markovize.product.product import Product, Solution

MOST_PANELS_IN_A_ROW: Final = 4


def draw_maps(product: Product, solution: Solution) -> Figure:
    """One map per machine state: cells coloured by value, greedy arrows, and where entering does something."""
    cells = np.array(product.observations)
    low, high = cells.min(axis=0), cells.max(axis=0)
    width, height = (high - low + 1).tolist()
    K, norm = product.machine.states, parts.value_scale(solution)
    across = panels_across(K, width / height)
    down = -(-K // across)
    unit = min(0.42, 12 / (across * (width + 1)))
    size = across * (width + 1.2) * unit + 1.2, down * (height + 1.8) * unit + 0.9
    figure = Figure((max(9.0, size[0]), size[1]), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel().tolist()
    steps = parts.merge_steps(product, solution)
    for u, axes in enumerate(panels):
        axes.set_axis_off()
        if u >= K:
            continue
        axes.set(aspect="equal", xlim=(low[0] - 0.6, high[0] + 0.6), ylim=(low[1] - 0.6, high[1] + 0.6))
        axes.set_title(parts.title(product, u), color=parts.hue(u), fontsize=11, fontweight="bold")
        _map(axes, product, solution, u, [edge for edge in steps if edge.source % K == u], norm)
    parts.add_colour_bar(figure, norm, panels, solution.gamma)
    figure.supxlabel(
        "arrow: greedy step   dot: stay   →n: entering moves the machine to u = n   ±r: reward on entering\n"
        "thick frame: the episode ends   grey: not seen in this u",
        fontsize=8,
        color=INK,
    )
    return figure


def panels_across(panels: int, aspect: float) -> int:
    """How many panels of this aspect (width/height) to put in a row: few gaps, and a page rather than a ribbon.

    >>> panels_across(4, 12 / 9), panels_across(7, 4 / 5), panels_across(3, 1.0)
    (2, 4, 3)
    """

    def cost(across: int) -> float:
        down = -(-panels // across)
        return abs(math.log(across * aspect / down / 1.6)) + 0.5 * (across * down - panels) / across

    return min(range(1, min(panels, MOST_PANELS_IN_A_ROW) + 1), key=cost)


def _map(axes: Axes, product: Product, solution: Solution, u: int, steps: list[Edge], norm: Normalize) -> None:
    K, colours = product.machine.states, parts.palette()
    cells = cast("tuple[tuple[int, int], ...]", product.observations)
    notes: dict[int, set[str]] = {}
    frames: dict[int, tuple[str, bool]] = {}
    for edge in steps:
        cell, v = divmod(edge.target, K)
        if v != u or edge.reward or edge.ends:
            note = notes.setdefault(cell, set())
            note |= {f"→{v}"} if v != u else set()
            note |= {f"{edge.reward:+g}"} if edge.reward else set()
            frames[cell] = (parts.hue(v) if v != u else INK, edge.ends)
    for cell, (x, y) in enumerate(cells):
        state = cell * K + u
        fill: str | tuple[float, ...] = "white" if cell in notes else "#e9edf0"
        if solution.policy[state] >= 0:
            fill = colours(norm(solution.values[state]))
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="white", linewidth=0.8))
    for cell, (colour, ends) in frames.items():
        x, y = cells[cell]
        stood = solution.policy[cell * K + u] >= 0  # then an arrow needs room below the note
        low, size = (0.0, 0.43) if stood else (-0.43, 0.86)
        axes.add_patch(
            Rectangle(
                (x - 0.43, y + low), 0.86, size, facecolor="white", edgecolor=colour, linewidth=2.6 if ends else 1.3
            )
        )
        text = (" " if stood else "\n").join(sorted(notes[cell], reverse=True))
        axes.text(
            x,
            y + low + size / 2,
            text,
            ha="center",
            va="center",
            fontsize=5.5 if stood else 7,
            color=colour,
            fontweight="bold",
            zorder=5,
        )
    for edge in steps:
        if edge.greedy:
            cell = edge.source // K
            light = norm(solution.values[edge.source]) > parts.DARK
            _arrow(axes, cells[cell], cells[edge.target // K], "white" if light else INK, cell in frames)


def _arrow(axes: Axes, place: tuple[int, int], after: tuple[int, int], colour: str, low: bool) -> None:
    x, y = place[0], place[1] - (0.25 if low else 0.0)
    dx, dy = after[0] - place[0], after[1] - place[1]
    if not dx and not dy:
        axes.plot([x], [y], "o", color=colour, markersize=2.5)
        return
    scale = (0.17 if low else 0.3) / math.hypot(dx, dy)
    axes.add_patch(
        FancyArrowPatch(
            (x - scale * dx, y - scale * dy),
            (x + scale * dx, y + scale * dy),
            arrowstyle="->",
            mutation_scale=6,
            color=colour,
            lw=0.9,
            shrinkA=0,
            shrinkB=0,
        )
    )
