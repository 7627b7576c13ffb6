"""A product without a map: a graph with machine states from left to right, observations from top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from markovize.episodes.values import show
from markovize.product import picture_parts as parts
from markovize.product.picture_parts import INK, Edge

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from markovize.product.product import Product, Solution


def draw_columns(product: Product, solution: Solution) -> Figure:
    """A graph: machine states from left to right, observations from top to bottom, greedy steps dark."""
    K, norm, colours = product.machine.states, parts.value_scale(solution), parts.palette()
    rows = len(product.observations)
    figure = Figure((max(6.0, min(40.0, 2.0 * K + 1.6)), min(40.0, 1.4 * rows + 1.2)), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set(xlim=(-0.65, K - 0.5), ylim=(-(rows - 1) - 0.4, 0.85))
    for u in range(K):
        axes.text(u, 0.75, parts.title(product, u), color=parts.hue(u), fontsize=11, fontweight="bold", ha="center")
    for state in np.flatnonzero(product.visited).tolist():
        x, y, shade = state % K, -(state // K), float(norm(solution.values[state]))
        known = solution.policy[state] >= 0
        axes.plot(
            [x],
            [y],
            "o",
            markersize=26,
            markerfacecolor=colours(shade) if known else "white",
            markeredgecolor=parts.hue(x),
            markeredgewidth=1.6,
            zorder=3,
        )
        axes.text(
            x,
            y,
            show(product.observations[state // K]),
            ha="center",
            va="center",
            fontsize=8,
            zorder=4,
            color="white" if known and shade > parts.DARK else INK,
        )
    for edge in sorted(parts.merge_steps(product, solution), key=lambda e: e.greedy):
        _edge(axes, edge, K)
    parts.add_colour_bar(figure, norm, [axes], solution.gamma)
    figure.supxlabel(
        "edge: actions, and the reward if not 0   dark: greedy step   ■: the episode ends", fontsize=8, color=INK
    )
    return figure


def _edge(axes: Axes, edge: Edge, K: int) -> None:
    x, y, p, q = edge.source % K, -(edge.source // K), edge.target % K, -(edge.target // K)
    colour, weight, order = (INK, 1.8, 2) if edge.greedy else (parts.FAINT, 1.0, 1)
    text = " ".join(show(action) for action in edge.actions)
    text += (f": {edge.reward:+g}" if edge.reward else "") + (" ■" if edge.ends else "")
    start, end, bend, gap = (float(x), float(y)), (float(p), float(q)), -0.22, 15.0
    label = ((x + p) / 2 - (q - y) * 0.18, (y + q) / 2 + (p - x) * 0.2)
    side: Literal["left", "center", "right"] = "center"
    if edge.source == edge.target and y == 0:  # a loop above the top row, to the left of the others
        start, end, bend, gap, label = (x - 0.08, y + 0.13), (x + 0.08, y + 0.13), -1.8, 2.0, (x, y + 0.43)
    elif edge.source == edge.target:
        start, end, bend, gap, label = (x - 0.1, y - 0.1), (x - 0.1, y + 0.1), -1.6, 2.0, (x - 0.25, y)
        side = "right"
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=9,
            color=colour,
            lw=weight,
            shrinkA=gap,
            shrinkB=gap,
            connectionstyle=f"arc3,rad={bend}",
            zorder=order,
        )
    )
    shade = INK if edge.greedy else "#6b7680"
    axes.text(*label, text, ha=side, va="center", fontsize=7, color=shade, zorder=5)
