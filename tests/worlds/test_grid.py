"""Maps drawn as text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.errors import InputError
from markovize.worlds.grid import OFFSETS, GridMap
from markovize.worlds.random_worlds import random_grid_world

CORRIDOR = """
    +---+-+
    |@ .|a|
    |   + +
    |# . b|
    +-----+
"""


def test_y_grows_upwards_and_cells_are_numbered_from_the_bottom_left() -> None:
    grid = GridMap.parse(CORRIDOR)
    assert (grid.width, grid.height) == (3, 2)
    assert grid.cells == ((1, 0), (2, 0), (0, 1), (1, 1), (2, 1))
    assert grid.cells[grid.start] == (0, 1)
    assert grid.at("a") == ((2, 1),)


def test_walls_solid_cells_and_the_rim_stop_a_move() -> None:
    grid = GridMap.parse(CORRIDOR)
    number = {cell: index for index, cell in enumerate(grid.cells)}

    def after(cell: tuple[int, int], action: int) -> tuple[int, int]:
        return grid.cells[grid.moves[number[cell], action]]

    assert after((1, 1), 1) == (1, 1), "a wall"
    assert after((0, 1), 2) == (0, 1), "a solid cell"
    assert after((2, 1), 0) == (2, 1), "the rim"
    assert after((2, 0), 0) == (2, 1), "an opening"
    assert after((1, 1), 4) == (1, 1), "staying"


def test_landmarks_may_be_renamed_and_the_start_is_one_only_if_named() -> None:
    assert set(GridMap.parse(CORRIDOR).landmarks) == {"a", "b"}
    assert set(GridMap.parse(CORRIDOR, {"@": "home", "a": "alley"}).landmarks) == {"home", "alley", "b"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("+-+\n|.|\n+-+", "one start '@', not 0"),
        ("+---+\n|@ @|\n+---+", "one start '@', not 2"),
        ("+-+\n|@|", "2n\\+1 lines"),
        ("", "2n\\+1 lines"),
        ("+---+\n|@  |\n+---+", "cell \\(1, 0\\) is drawn as ' '"),
    ],
)
def test_bad_drawings_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GridMap.parse(text)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 8), st.integers(3, 8))
def test_every_move_stays_or_goes_one_cell_its_way_and_can_be_undone(seed: int, width: int, height: int) -> None:
    grid = random_grid_world(np.random.default_rng(seed), width=width, height=height).grid
    assert grid is not None
    for index, (x, y) in enumerate(grid.cells):
        for action, (dx, dy) in enumerate(OFFSETS):
            after = int(grid.moves[index, action])
            assert after == index or grid.cells[after] == (x + dx, y + dy)
            if after != index:
                assert grid.moves[after, (action + 2) % 4] == index
