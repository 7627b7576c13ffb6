"""What both kinds of pictures of a product share: merged steps, colours of values and of machine states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import matplotlib as mpl
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize

from markovize.episodes.values import Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from markovize.product.product import Product, Solution

INK: Final = "#1f2933"
FAINT: Final = "#b8c0c8"
MAP: Final = "YlGnBu"
HUES: Final = ("#d1495b", "#e98a15", "#6a4c93", "#2a7f62", "#0077b6", "#8d5524")
DARK: Final = 0.55  # of the way up the scale of values; from here on words on it are white


class Edge(NamedTuple):
    """All actions from one product state to another with one reward; ``greedy`` if the policy takes one of them."""

    source: int
    target: int
    reward: float
    ends: bool
    actions: tuple[Value, ...]
    greedy: bool


def merge_steps(product: Product, solution: Solution) -> list[Edge]:
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


def value_scale(solution: Solution) -> Normalize:
    """From the least value, or 0, to the greatest."""
    values = solution.values[solution.policy >= 0]
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    return Normalize(low, high if high > low else low + 1)


def hue(u: int) -> str:
    """The colour of a machine state."""
    return HUES[u % len(HUES)]


def title(product: Product, u: int) -> str:
    """What a machine state is called."""
    return f"u = {u} (start)" if u == product.machine.initial else f"u = {u}"


def add_colour_bar(figure: Figure, norm: Normalize, axes: list[Axes], gamma: float) -> None:
    """The scale of values, beside the panels."""
    bar = figure.colorbar(ScalarMappable(norm, MAP), ax=axes, fraction=0.02, pad=0.02, aspect=30)
    bar.set_label(f"value (γ = {gamma:g})", color=INK, fontsize=9)
    bar.ax.tick_params(labelsize=8, colors=INK)
    bar.outline.set_edgecolor(FAINT)


def palette() -> Colormap:
    """The colours of values."""
    return mpl.colormaps[MAP]
