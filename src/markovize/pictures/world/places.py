"""Worlds without a map as pictures: their places side by side, and the actions that lead from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from markovize.pictures.style import INK, LABEL
from markovize.pictures.world.ansi import actions_between
from markovize.pictures.world.canvas import CHIPS, TRAIL, Canvas, Point
from markovize.pictures.world.grid_picture import agent
from markovize.pictures.world.icons import draw_chip, draw_shapes
from markovize.pictures.world.scene import View
from markovize.worlds import FAMILIES, family
from markovize.worlds.shapes import SCENE, Shape

TILE: Final = SCENE
GAP: Final = 64
MARGIN: Final = 14
NAME: Final = 26

SCENES: Final[Mapping[str, Sequence[Shape]]] = {
    name: scene for known in FAMILIES for name, scene in family(known).scenes.items()
}


def size_of(view: View) -> tuple[int, int]:
    """Width and height of the picture."""
    count = len(view.world.observations)
    return count * TILE + (count - 1) * GAP + 2 * MARGIN, TILE + NAME + 2 * MARGIN


def draw_places(view: View, width: int, height: int) -> Canvas:
    """All places, and the agent in its place."""
    canvas = Canvas(width, height)
    names = {state: name for name, states in view.world.landmarks.items() for state in states}
    for state in range(len(view.world.observations)):
        left, top = MARGIN + state * (TILE + GAP), MARGIN
        name = names.get(state, str(view.world.observations[state]))
        canvas.box(left - 3, top - 3, left + TILE + 3, top + TILE + 3, INK, round=12)
        if name in SCENES:
            draw_shapes(canvas, SCENES[name], (left, top), 1)
        else:
            canvas.box(left, top, left + TILE, top + TILE, "#f7f9fc", round=9)
            draw_chip(canvas, (left + TILE / 2, top + TILE * 0.4), 56, name[:1], CHIPS[state % len(CHIPS)])
        canvas.text((left + TILE / 2, top + TILE + NAME * 0.62), name, 14, LABEL, bold=state == view.state)
        if state in view.trail and state != view.state:
            canvas.disc((left + TILE / 2, top + TILE * 0.8), 6, TRAIL)
        if state == view.state:
            agent(canvas, (left + TILE / 2, top + TILE * 0.8), 16)
        if state + 1 < len(view.world.observations):
            there, back = actions_between(view, state, state + 1), actions_between(view, state + 1, state)
            near, far = (left + TILE + 12, top + TILE / 2), (left + TILE + GAP - 12, top + TILE / 2)
            _arrow(canvas, near, far, there, -16)
            _arrow(canvas, far, near, back, 16)
    return canvas


def _arrow(canvas: Canvas, tail: Point, head: Point, words: str, shift: float) -> None:
    if not words:
        return
    way = 1 if head[0] > tail[0] else -1
    y = tail[1] + shift
    canvas.line([(tail[0], y), (head[0] - way * 8, y)], INK, 2.5)
    canvas.shape([(head[0], y), (head[0] - way * 10, y - 6), (head[0] - way * 10, y + 6)], INK)
    canvas.text(((tail[0] + head[0]) / 2, y + (-14 if shift < 0 else 14)), words, 14, LABEL, bold=True)
