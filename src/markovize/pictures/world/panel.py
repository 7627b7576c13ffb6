"""The strip beside a picture that shows a machine's state and what moved it."""

from __future__ import annotations

from typing import Final

from markovize.pictures.style import FILL, INK, LABEL
from markovize.pictures.world.canvas import AGENT, PAPER, Canvas, text_width
from markovize.pictures.world.scene import Tracked

HEIGHT: Final = 92
WIDTH: Final = 232
PAD: Final = 14
_RADIUS: Final = 11
_STEP: Final = 28
_SIZE: Final = 11.5
_LINE: Final = 17


def draw_panel(canvas: Canvas, machine: Tracked, left: float, top: float, right: float, bottom: float) -> None:
    """A title, the states as discs (the current one filled) and the last triggers that fit."""
    canvas.box(left, top, right, bottom, "#f3f6fa", round=8)
    x, y = left + PAD, top + PAD
    canvas.text((x, y), machine.title, _SIZE, LABEL, anchor="lm", bold=True)
    said = x + text_width(machine.title, _SIZE, bold=True) + 12
    canvas.text((said, y), machine.where, _SIZE, LABEL, anchor="lm")
    y += 24
    columns = int((right - left - 2 * PAD + _STEP - 2 * _RADIUS) // _STEP)
    lines_for_states = -(-machine.states // columns)
    room = int((bottom - y - PAD - _LINE) // _STEP)
    if lines_for_states <= max(1, room):  # more states than that are told in words only
        for state in range(machine.states):
            column, row = state % columns, state // columns
            _state(canvas, machine, state, (x + _RADIUS + column * _STEP, y + row * _STEP))
        y += lines_for_states * _STEP - 4
    lines = max(1, int((bottom - y - 2) // _LINE))
    for line in _wrap(machine.fired_in_words, right - left - 2 * PAD, lines):
        canvas.text((x, y), line, _SIZE, LABEL, anchor="lm")
        y += _LINE


def _state(canvas: Canvas, machine: Tracked, state: int, centre: tuple[float, float]) -> None:
    if state == machine.u:
        canvas.disc(centre, _RADIUS + 1, AGENT)
    else:
        seen = state in machine.visited
        canvas.disc(centre, _RADIUS, FILL if seen else PAPER, INK if seen else "#a9b6c6", 1.2)
    colour = PAPER if state == machine.u else (INK if state in machine.visited else "#8a99ab")
    canvas.text(centre, str(state), 11 if state < 100 else 8, colour, bold=True)


def _wrap(fired: tuple[str, ...], width: float, most: int) -> list[str]:
    """Lines of triggers; where there are too many the oldest are left out.

    >>> _wrap(("a (1, 1)", "b (1, 7)", "c (10, 7)"), 120, 2)
    ['fired: a (1, 1),', 'b (1, 7), c (10, 7)']
    >>> _wrap(("a (1, 1)", "b (1, 7)", "c (10, 7)"), 120, 1)
    ['fired: … c (10, 7)']
    """
    if not fired:
        return ["fired: nothing yet"]
    for first in range(len(fired)):
        lines = ["fired: …" if first else "fired:"]
        for number, name in enumerate(fired[first:], first):
            word = name if number == len(fired) - 1 else f"{name},"
            if text_width(f"{lines[-1]} {word}", _SIZE) <= width:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        if len(lines) <= most:
            return lines
    return [f"fired: … {fired[-1]}"]
