"""Worlds as text for a terminal: box-drawing walls, letters for landmarks, and colours by ANSI codes."""

from __future__ import annotations

from typing import Final
from unicodedata import east_asian_width

from markovize.pictures.world.borders import Border, Borders
from markovize.pictures.world.scene import Tracked, View, signs
from markovize.worlds import GridMap

# the index says which arms a corner has: 1 up, 2 right, 4 down, 8 left
CORNERS: Final = " ╹╺┗╻┃┏┣╸┛━┻┓┫┳╋"
SOLID: Final = "▒"
_RESET: Final = "\x1b[0m"
_AGENT, _FLOOR, _SOLID, _TRAIL = "1;97;48;5;202", "38;5;250", "38;5;248", "38;5;208"
_LANDMARKS: Final = (25, 97, 29, 130, 31, 125, 64, 60)
_LONGEST: Final = 8
"""The last so many triggers are shown; a patrol fires without end."""


def text(view: View) -> str:
    """The world, the names of its signs, and the machine's state if it is to be shown."""
    grid = view.world.grid
    lines = _row_of_places(view) if grid is None else _map(view, grid)
    if view.tracked is not None:
        lines.append(_tell_state(view.tracked))
    return "\n".join(lines)


def _map(view: View, grid: GridMap) -> list[str]:
    borders = Borders(grid)
    cells = _cells(view, grid)
    lines = []
    for y in range(grid.height, -1, -1):
        lines.append("".join(_corner(borders, x, y) + _level(borders, x, y) for x in range(grid.width + 1)))
        if y:
            row = [_upright(borders, x, y - 1) + cells.get((x, y - 1), "") for x in range(grid.width + 1)]
            lines.append("".join(row))
    return [line.rstrip() for line in lines] + _legend(view)


def _cells(view: View, grid: GridMap) -> dict[tuple[int, int], str]:
    """Three characters for every cell."""
    cells = {(x, y): _colour(SOLID * 3, _SOLID) for x in range(grid.width) for y in range(grid.height)}
    cells |= dict.fromkeys(grid.cells, _colour(" · ", _FLOOR))
    cells |= {grid.cells[state]: _colour(" • ", _TRAIL) for state in view.trail}
    sign = signs(grid.landmarks)
    for number, name in enumerate(grid.landmarks):
        colour = f"1;38;5;{_LANDMARKS[number % len(_LANDMARKS)]}"
        cells |= dict.fromkeys(grid.at(name), _colour(_centre(sign[name]), colour))
    here = next((sign[name] for name, states in grid.landmarks.items() if view.state in states), "")
    agent = f"({_centre(here).strip()})" if here else " ● "
    return cells | {grid.cells[view.state]: _colour(agent, _AGENT)}


def _legend(view: View) -> list[str]:
    said = {name: view.captions.get(name, name) for name in view.world.landmarks}
    sign = signs(view.world.landmarks)
    words = [f"{sign[name]} {meaning}" for name, meaning in said.items() if sign[name] != meaning]
    return ["   ".join(words)] if words else []


def _corner(borders: Borders, x: int, y: int) -> str:
    """The sign where four cells meet, at the lower left of (x, y)."""
    arms = (borders.vertical(x, y), borders.horizontal(x, y), borders.vertical(x, y - 1), borders.horizontal(x - 1, y))
    if all(arm is Border.INSIDE for arm in arms):
        return _colour(SOLID, _SOLID)
    return CORNERS[sum(1 << number for number, arm in enumerate(arms) if arm is Border.WALL)]


def _level(borders: Borders, x: int, y: int) -> str:
    """Three characters on the line below (x, y)."""
    if x == borders.width:
        return ""
    signs_of = {Border.WALL: "━━━", Border.OPEN: "   ", Border.INSIDE: _colour(SOLID * 3, _SOLID)}
    return signs_of[borders.horizontal(x, y)]


def _upright(borders: Borders, x: int, y: int) -> str:
    signs_of = {Border.WALL: "┃", Border.OPEN: " ", Border.INSIDE: _colour(SOLID, _SOLID)}
    return signs_of[borders.vertical(x, y)]


def _row_of_places(view: View) -> list[str]:
    """Boxes side by side, for worlds without a map; between neighbours, the actions that lead from one to the next."""
    world = view.world
    names = {state: name for name, states in world.landmarks.items() for state in states}
    top, middle, bottom = [], [], []
    for state in range(len(world.observations)):
        name = names.get(state, str(world.observations[state]))
        agent = state == view.state
        inner = f" ● {name} " if agent else f"   {name} "
        top.append("┏" + "━" * len(inner) + "┓")
        middle.append("┃" + _colour(inner, _AGENT if agent else "1") + "┃")
        bottom.append("┗" + "━" * len(inner) + "┛")
        if state + 1 < len(world.observations):
            there = actions_between(view, state, state + 1)
            back = actions_between(view, state + 1, state)
            wide = max(len(there), len(back), 1) + 4
            top.append((f" {there} →" if there else "").center(wide))
            middle.append(" " * wide)
            bottom.append((f"← {back} " if back else "").center(wide))
    return ["".join(line) for line in (top, middle, bottom)]


def actions_between(view: View, before: int, after: int) -> str:
    """The names of the actions that lead from one state to another."""
    leads = view.world.successor[before].tolist()
    return " ".join(name for name, to in zip(view.world.action_names, leads, strict=True) if to == after)


def _tell_state(machine: Tracked) -> str:
    fired = machine.fired_in_words
    shown = ("… " if len(fired) > _LONGEST else "") + ", ".join(fired[-_LONGEST:])
    return f"{machine.title}: {machine.where}   fired: {shown or 'nothing yet'}"


def _centre(sign: str) -> str:
    return f" {sign}" if east_asian_width(sign) in "WF" else f" {sign} "  # wide letters fill two columns


def _colour(words: str, code: str) -> str:
    return f"\x1b[{code}m{words}{_RESET}"
