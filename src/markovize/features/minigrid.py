"""What an agent in MiniGrid sees, in words; nothing of MiniGrid itself is imported.

``view`` is for the usual observations, dicts with an ``image`` of the cells in front of the agent; ``world`` for those
of ``minigrid.wrappers.FullyObsWrapper``, whose image is the whole grid. :func:`encode` makes either a vector for
policies. Numbers of types, colours and states are those of ``minigrid.core.constants``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from markovize.episodes.features.function import ObservationFeatures
from markovize.errors import InputError, one_line

TYPES: Final = ("unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava", "agent")
COLOURS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
STATES: Final = ("open", "closed", "locked")
DIRECTIONS: Final = ("right", "down", "left", "up")
THINGS: Final = ("door", "key", "ball", "box", "goal", "lava")
"""What is worth telling whether it is visible; walls and floors always are."""
_AHEAD: Final = ((1, 0), (0, 1), (-1, 0), (0, -1))
_NOTHING: Final = ("none", "none", "none")


def describe_view(observation: Any) -> dict[str, Any]:
    """The features of one observation of the agent's view.

    ``direction``; ``carrying`` with its colour, from the agent's own cell; ``front`` with colour and state, ``on_left``
    and ``on_right``; for each kind of thing, whether one is visible (``sees.key``) and in which colour
    (``sees.red.key``).

    >>> cells = [[(1, 0, 0)] * 7 for _ in range(7)]
    >>> cells[3][5] = (4, 4, 2)  # before the agent, which stands in the middle of the last row
    >>> cells[3][6], cells[0][0] = (5, 4, 0), (6, 1, 0)
    >>> seen = describe_view({"image": cells, "direction": 3, "mission": "open the door"})
    >>> seen["direction"], seen["carrying"], seen["carrying_colour"], seen["front"], seen["front_state"]
    ('up', 'key', 'yellow', 'door', 'locked')
    >>> seen["sees.ball"], seen["sees.green.ball"], seen["sees.key"], seen["on_left"]
    (True, True, False, 'empty')
    """
    image, direction = _parts(observation)
    middle, last = len(image) // 2, len(image[0]) - 1
    carrying, colour, _ = _words(image[middle][last])
    carried = carrying in THINGS  # an empty cell is empty hands, or what the agent stands on
    others = (cell for x, column in enumerate(image) for y, cell in enumerate(column) if (x, y) != (middle, last))
    return {
        "direction": DIRECTIONS[direction],
        "carrying": carrying if carried else "nothing",
        "carrying_colour": colour if carried else "none",
        **_named("front", _at(image, middle, last - 1)),
        "on_left": _at(image, middle - 1, last)[0],
        "on_right": _at(image, middle + 1, last)[0],
        **_visible(others),
    }


def describe_world(observation: Any) -> dict[str, Any]:
    """The features of one observation of the whole grid: as :func:`describe_view`, but ``x`` and ``y``.

    What is carried is not in such observations.

    >>> cells = [[(1, 0, 0)] * 5 for _ in range(5)]
    >>> cells[2][3], cells[3][3] = (10, 0, 0), (8, 1, 0)
    >>> seen = describe_world({"image": cells, "direction": 0})
    >>> seen["x"], seen["y"], seen["front"], seen["front_colour"], seen["sees.goal"]
    (2, 3, 'goal', 'green', True)
    """
    image, direction = _parts(observation)
    agent = TYPES.index("agent")
    found = [(x, y) for x, column in enumerate(image) for y, cell in enumerate(column) if cell[0] == agent]
    if len(found) != 1:
        raise InputError("the image shows no agent: wrap the environment in minigrid.wrappers.FullyObsWrapper")
    x, y = found[0]
    beside = [
        _at(image, x + _AHEAD[side % 4][0], y + _AHEAD[side % 4][1]) for side in range(direction - 1, direction + 2)
    ]
    return {
        "x": x,
        "y": y,
        "direction": DIRECTIONS[direction],
        **_named("front", beside[1]),
        "on_left": beside[0][0],
        "on_right": beside[2][0],
        **_visible(cell for column in image for cell in column),
    }


view: Final = ObservationFeatures(describe_view)
world: Final = ObservationFeatures(describe_world)


def encode(observation: Any) -> npt.NDArray[np.float32]:
    """An observation as a vector for policies: direction, then type, colour and state of each cell, all one-hot.

    >>> encode({"image": np.zeros((7, 7, 3), np.uint8), "direction": 2}).shape
    (984,)
    """
    image, direction = np.asarray(observation["image"], np.intp), int(observation["direction"])
    cells = image.reshape(-1, 3)
    out = np.zeros((len(cells), len(TYPES) + len(COLOURS) + len(STATES)), np.float32)
    rows = np.arange(len(cells))
    out[rows, np.minimum(cells[:, 0], len(TYPES) - 1)] = 1.0
    out[rows, len(TYPES) + np.minimum(cells[:, 1], len(COLOURS) - 1)] = 1.0
    # the state of an agent's cell is its direction, which is told anyway
    out[rows, len(TYPES) + len(COLOURS) + np.minimum(cells[:, 2], len(STATES) - 1)] = 1.0
    return np.concatenate([np.eye(4, dtype=np.float32)[direction], out.ravel()])


def _parts(observation: Any) -> tuple[Sequence[Sequence[Sequence[int]]], int]:
    try:
        image, direction = observation["image"], int(observation["direction"])
    except (KeyError, TypeError, IndexError):
        raise InputError(
            f"not an observation of MiniGrid, with image and direction: {one_line(observation, 80)}"
        ) from None
    return (image.tolist() if hasattr(image, "tolist") else image), direction


def _words(cell: Sequence[int]) -> tuple[str, str, str]:
    kind, colour, state = cell
    name = TYPES[kind]
    return name, COLOURS[colour] if name in THINGS else "none", STATES[state] if name == "door" else "none"


def _at(image: Sequence[Sequence[Sequence[int]]], x: int, y: int) -> tuple[str, str, str]:
    if 0 <= x < len(image) and 0 <= y < len(image[0]):
        return _words(image[x][y])
    return _NOTHING


def _named(name: str, words: tuple[str, str, str]) -> dict[str, str]:
    return {name: words[0], f"{name}_colour": words[1], f"{name}_state": words[2]}


def _visible(cells: Iterator[Sequence[int]]) -> Mapping[str, bool]:
    seen = {(cell[0], cell[1]) for cell in cells}
    out = {}
    for thing in THINGS:
        kind = TYPES.index(thing)
        colours = [(kind, colour) in seen for colour in range(len(COLOURS))]
        out[f"sees.{thing}"] = any(colours)
        out |= {f"sees.{name}.{thing}": found for name, found in zip(COLOURS, colours, strict=True)}
    return out
