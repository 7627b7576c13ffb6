"""Pictures of a product: for grids a map per machine state, otherwise a graph with a column per state."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from markovize.episodes.values import Value, show
from markovize.errors import UnsupportedError
from markovize.io.files import atomic_open

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from markovize.product.product import Product, Solution

INK: Final = "#1f2933"
FAINT: Final = "#b8c0c8"
MAP: Final = "YlGnBu"
HUES: Final = ("#d1495b", "#e98a15", "#6a4c93", "#2a7f62", "#0077b6", "#8d5524")
MOST_PANELS_IN_A_ROW: Final = 4
SETTINGS: Final[dict[Any, Any]] = {"svg.hashsalt": "markovize", "font.family": "DejaVu Sans", "svg.fonttype": "path"}


class Edge(NamedTuple):
    """All actions from one product state to another with one reward; ``greedy`` if the policy takes one of them."""

    source: int
    target: int
    reward: float
    ends: bool
    actions: tuple[Value, ...]
    greedy: bool


def draw_product(product: Product, path: Path, solution: Solution) -> None:
    """Writes the picture; the same product always gives the same bytes."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise UnsupportedError(f"a product is drawn as .svg or .png, not {path.name!r}")
    with mpl.rc_context(SETTINGS):
        figure = (_maps if is_grid(product.observations) else _columns)(product, solution)
        metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
        with atomic_open(path) as file:
            figure.savefig(file, format=kind, dpi=140, metadata=metadata)


def is_grid(observations: tuple[Value, ...]) -> bool:
    """Whether all observations are pairs of whole numbers, not too far apart to be cells.

    >>> is_grid(((0, 1), (2, 3))), is_grid((0, 1)), is_grid(((0, 0), (10**6, 0)))
    (True, False, False)
    """
    if not all(isinstance(o, tuple) and len(o) == 2 and all(type(n) is int for n in o) for o in observations):
        return False
    return bool(np.ptp(np.array(observations, np.float64), axis=0).max() < 200)


def edges(product: Product, solution: Solution) -> list[Edge]:
    """The steps seen, those with equal ends and rewards merged."""
    merged: dict[tuple[int, int, float, bool], tuple[list[Value], bool]] = {}
    rows = zip(product.row_state.tolist(), product.row_action.tolist(), strict=True)
    for row, (state, action) in enumerate(rows):
        for at in range(int(product.first[row]), int(product.first[row + 1])):
            if not product.counts[at]:
                continue
            ends = bool(product.ending[at] > 0.5)
            key = (state, int(product.target[at]), float(product.rewards[at]), ends)
            actions, greedy = merged.get(key, ([], False))
            merged[key] = ([*actions, product.actions[action]], greedy or solution.policy[state] == action)
    return [Edge(*key, tuple(actions), greedy) for key, (actions, greedy) in sorted(merged.items())]


def _norm(solution: Solution) -> Normalize:
    values = solution.values[solution.policy >= 0]
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    return Normalize(low, high if high > low else low + 1)


def _hue(u: int) -> str:
    return HUES[u % len(HUES)]


def _title(product: Product, u: int) -> str:
    return f"u = {u} (start)" if u == product.machine.initial else f"u = {u}"


def _colour_bar(figure: Figure, norm: Normalize, axes: list[Axes], gamma: float) -> None:
    bar = figure.colorbar(ScalarMappable(norm, MAP), ax=axes, fraction=0.02, pad=0.02, aspect=30)
    bar.set_label(f"value (γ = {gamma:g})", color=INK, fontsize=9)
    bar.ax.tick_params(labelsize=8, colors=INK)
    bar.outline.set_edgecolor(FAINT)


def _maps(product: Product, solution: Solution) -> Figure:
    """One map per machine state: cells coloured by value, greedy arrows, and where entering does something."""
    cells = np.array(product.observations)
    low, high = cells.min(axis=0), cells.max(axis=0)
    width, height = (high - low + 1).tolist()
    K, norm = product.machine.states, _norm(solution)
    across = panels_across(K, width / height)
    down = -(-K // across)
    unit = min(0.42, 12 / (across * (width + 1)))
    size = across * (width + 1.2) * unit + 1.2, down * (height + 1.8) * unit + 0.9
    figure = Figure((max(9.0, size[0]), size[1]), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel().tolist()
    steps = edges(product, solution)
    for u, axes in enumerate(panels):
        axes.set_axis_off()
        if u >= K:
            continue
        axes.set(aspect="equal", xlim=(low[0] - 0.6, high[0] + 0.6), ylim=(low[1] - 0.6, high[1] + 0.6))
        axes.set_title(_title(product, u), color=_hue(u), fontsize=11, fontweight="bold")
        _map(axes, product, solution, u, [edge for edge in steps if edge.source % K == u], norm)
    _colour_bar(figure, norm, panels, solution.gamma)
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
    K, palette = product.machine.states, mpl.colormaps[MAP]
    cells = cast("tuple[tuple[int, int], ...]", product.observations)
    notes: dict[int, set[str]] = {}
    frames: dict[int, tuple[str, bool]] = {}
    for edge in steps:
        cell, v = divmod(edge.target, K)
        if v != u or edge.reward or edge.ends:
            note = notes.setdefault(cell, set())
            note |= {f"→{v}"} if v != u else set()
            note |= {f"{edge.reward:+g}"} if edge.reward else set()
            frames[cell] = (_hue(v) if v != u else INK, edge.ends)
    for cell, (x, y) in enumerate(cells):
        state = cell * K + u
        fill: Any = "white" if cell in notes else "#e9edf0"
        if solution.policy[state] >= 0:
            fill = palette(norm(solution.values[state]))
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
            light = norm(solution.values[edge.source]) > 0.55
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


def _columns(product: Product, solution: Solution) -> Figure:
    """A graph: machine states from left to right, observations from top to bottom, greedy steps dark."""
    K, norm, palette = product.machine.states, _norm(solution), mpl.colormaps[MAP]
    rows = len(product.observations)
    figure = Figure((max(6.0, min(40.0, 2.0 * K + 1.6)), min(40.0, 1.4 * rows + 1.2)), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set(xlim=(-0.65, K - 0.5), ylim=(-(rows - 1) - 0.4, 0.85))
    for u in range(K):
        axes.text(u, 0.75, _title(product, u), color=_hue(u), fontsize=11, fontweight="bold", ha="center")
    for state in np.flatnonzero(product.visited).tolist():
        x, y, shade = state % K, -(state // K), float(norm(solution.values[state]))
        known = solution.policy[state] >= 0
        axes.plot(
            [x],
            [y],
            "o",
            markersize=26,
            markerfacecolor=palette(shade) if known else "white",
            markeredgecolor=_hue(x),
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
            color="white" if known and shade > 0.55 else INK,
        )
    for edge in sorted(edges(product, solution), key=lambda e: e.greedy):
        _edge(axes, edge, K)
    _colour_bar(figure, norm, [axes], solution.gamma)
    figure.supxlabel(
        "edge: actions, and the reward if not 0   dark: greedy step   ■: the episode ends", fontsize=8, color=INK
    )
    return figure


def _edge(axes: Axes, edge: Edge, K: int) -> None:
    x, y, p, q = edge.source % K, -(edge.source // K), edge.target % K, -(edge.target // K)
    colour, weight, order = (INK, 1.8, 2) if edge.greedy else (FAINT, 1.0, 1)
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
