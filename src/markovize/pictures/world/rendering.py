"""Views as text or as arrays of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markovize.pictures.world.ansi import text
from markovize.pictures.world.scene import View

__all__ = ["picture", "text"]


def picture(view: View) -> NDArray[np.uint8]:
    """A picture (height, width, 3). Its size depends on the world, and on whether a machine is shown, only.

    The machine goes below wide worlds and to the right of narrow ones.

    >>> from markovize.worlds import world
    >>> office = world("office")
    >>> picture(View(office, office.start)).shape
    (448, 592, 3)
    """
    from markovize.pictures.world import (
        panel,
        places,  # Pillow is for those who look
    )
    from markovize.pictures.world.grid_picture import map_picture

    grid = view.world.grid
    width, height = places.size_of(view) if grid is None else map_picture(grid).size
    below = width >= 400
    whole = (width, height)
    if view.tracked is not None:
        whole = (width, height + panel.HEIGHT) if below else (width + panel.WIDTH, max(height, panel.HEIGHT + 16))
    canvas = places.draw_places(view, *whole) if grid is None else map_picture(grid).draw(view, *whole)
    if view.tracked is not None:
        edges = (8, height, width - 8, whole[1] - 8) if below else (width, 8, whole[0] - 8, whole[1] - 8)
        panel.draw_panel(canvas, view.tracked, *edges)
    out: Any = np.asarray(canvas.shrink()).copy()
    return out  # type: ignore[no-any-return]
