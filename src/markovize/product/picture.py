"""Pictures of a product: for grids a map per machine state, otherwise a graph with a column per state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from markovize.episodes.values import Value
from markovize.errors import UnsupportedError
from markovize.io.files import atomic_write
from markovize.pictures.curves import KINDS
from markovize.pictures.style import encode, fixed_style
from markovize.product.picture_columns import draw_columns
from markovize.product.picture_maps import draw_maps

if TYPE_CHECKING:
    from markovize.product.product import Product, Solution

_DPI: Final = 140
_FARTHEST: Final = 200  # cells from one end to the other; pairs of numbers farther apart are no map


def draw_product(product: Product, path: Path, solution: Solution) -> None:
    """Writes the picture; the same product always gives the same bytes."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise UnsupportedError(f"a product is drawn as .svg or .png, not {path.name!r}")
    with fixed_style():
        figure = (draw_maps if is_grid(product.observations) else draw_columns)(product, solution)
        atomic_write(path, encode(figure, kind, _DPI))


def is_grid(observations: tuple[Value, ...]) -> bool:
    """Whether all observations are pairs of whole numbers, not too far apart to be cells.

    >>> is_grid(((0, 1), (2, 3))), is_grid((0, 1)), is_grid(((0, 0), (10**6, 0)))
    (True, False, False)
    """
    if not all(isinstance(o, tuple) and len(o) == 2 and all(type(n) is int for n in o) for o in observations):
        return False
    return bool(np.ptp(np.array(observations, np.float64), axis=0).max() < _FARTHEST)
