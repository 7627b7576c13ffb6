"""Worlds without a map as pictures: their places side by side, and the actions that lead from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from markovize.pictures.world.ansi import actions_between
from markovize.pictures.world.canvas import CHIPS, INK, LABEL, PAPER, TRAIL, Canvas, Point
from markovize.pictures.world.grid_picture import agent
from markovize.pictures.world.icons import chip
from markovize.pictures.world.scene import View

TILE: Final = 168
GAP: Final = 64
MARGIN: Final = 14
NAME: Final = 26

SKY, SEA, SAND, GRASS, WOOD = "#cfe8fb", "#5aa9d6", "#f2dca6", "#a9cf8f", "#a9744f"


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
            SCENES[name](canvas, left, top)
        else:
            canvas.box(left, top, left + TILE, top + TILE, "#f7f9fc", round=9)
            chip(canvas, (left + TILE / 2, top + TILE * 0.4), 56, name[:1], CHIPS[state % len(CHIPS)])
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


def _beach(canvas: Canvas, left: float, top: float) -> None:
    right, bottom = left + TILE, top + TILE
    canvas.box(left, top, right, bottom, SAND, round=9)
    canvas.box(left, top, right, top + 70, SKY, round=9)
    canvas.box(left, top + 52, right, top + 88, SEA)
    for x in range(4):
        canvas.oval((left + 21 + 42 * x, top + 89), 21, 7, SAND)
    canvas.disc((right - 34, top + 30), 16, "#ffc53d")
    canvas.line([(left + 46, top + 70), (left + 54, top + 142)], WOOD, 4)  # a parasol
    canvas.shape([(left + 12, top + 82), (left + 42, top + 52), (left + 82, top + 74)], "#d6455d")
    canvas.shape([(left + 34, top + 79), (left + 42, top + 52), (left + 58, top + 77)], PAPER)


def _shack(canvas: Canvas, left: float, top: float) -> None:
    right, bottom = left + TILE, top + TILE
    canvas.box(left, top, right, bottom, SAND, round=9)
    canvas.box(left, top, right, top + 96, SKY, round=9)
    canvas.box(left, top + 84, right, top + 98, SAND)
    canvas.box(left + 42, top + 56, right - 42, top + 116, "#c98d5b")
    for x in range(1, 6):
        canvas.box(left + 42 + 14 * x - 0.7, top + 56, left + 42 + 14 * x + 0.7, top + 116, WOOD)
    canvas.shape([(left + 28, top + 62), (left + TILE / 2, top + 22), (right - 28, top + 62)], "#7c4f32")
    canvas.box(left + 72, top + 80, right - 72, top + 116, "#54371f")


def _exit(canvas: Canvas, left: float, top: float) -> None:
    right, bottom = left + TILE, top + TILE
    canvas.box(left, top, right, bottom, GRASS, round=9)
    canvas.box(left, top, right, top + 80, SKY, round=9)
    canvas.box(left, top + 68, right, top + 84, GRASS)
    x = left + TILE / 2
    canvas.shape([(x - 44, bottom), (x - 7, top + 78), (x + 7, top + 78), (x + 44, bottom)], "#8793a1")
    for y, wide in ((92, 1.6), (112, 2.4)):
        canvas.box(x - wide / 2, top + y, x + wide / 2, top + y + 10, PAPER)
    canvas.box(left + 31, top + 46, left + 35, top + 106, WOOD)
    canvas.shape(
        [
            (left + 16, top + 40),
            (left + 56, top + 40),
            (left + 68, top + 52),
            (left + 56, top + 64),
            (left + 16, top + 64),
        ],
        "#2f8f6b",
    )
    canvas.text((left + 38, top + 52), "exit", 13, PAPER, bold=True)


SCENES: Final[dict[str, Callable[[Canvas, float, float], None]]] = {"beach": _beach, "shack": _shack, "exit": _exit}
