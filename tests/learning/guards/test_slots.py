"""Guards as clauses, exact where all values are cuts, and never too strict where few are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from guard_problems import holds
from pysat.solvers import Solver

from markovize.episodes.columns import Bools
from markovize.learning.guards.candidate import Bound, Box
from markovize.learning.guards.sides import Clauses
from markovize.learning.guards.slots import Slot

Row = tuple[int, ...]


def truth_of(solver: Solver, clauses: Clauses) -> Bools:
    truth = np.zeros(clauses.top + 1, np.bool_)
    model: list[int] = solver.get_model()
    truth[[variable for variable in model if variable > 0]] = True
    return truth


def every_box(codes: int) -> list[Box]:
    """Over one numeric and one categorical feature with so many values each."""
    lower = [(), *((Bound(0, "at_least", code),) for code in range(1, codes + 1))]
    upper = [(), *((Bound(0, "below", code),) for code in range(codes))]
    values = [(), *((Bound(1, "is", code),) for code in range(codes))]
    return [(*low, *high, *value) for low, high, value in product(lower, upper, values)]


@pytest.mark.parametrize("cuts", [[0, 1, 2], [2, 0]])
def test_a_guard_holds_where_all_sides_let_pass(cuts: list[int]) -> None:
    rows = [(0, 1), (2, 0), (2, 1)]
    with Solver(name="glucose4") as solver:
        clauses = Clauses(solver.add_clause)
        slot = Slot(clauses, [True, False], [cuts, []])
        variables = [slot.holds(number, row) for number, row in enumerate(rows)]
        assert slot.holds(0, rows[0]) == variables[0]
        meant = {tuple(holds(box, row) for row in rows) for box in every_box(3)}
        for held in product((False, True), repeat=len(rows)):
            signs = [own if value else -own for own, value in zip(variables, held, strict=True)]
            assert solver.solve(assumptions=signs) is (held in meant)
            if held in meant:
                box, blur = slot.read(truth_of(solver, clauses))
                assert tuple(holds(box, row) for row in rows) == held
                assert (blur.cuts, blur.rows) == ([], [])


def draw_rows(rng: np.random.Generator) -> list[Row]:
    return [(int(rng.integers(30)), int(rng.integers(30)), int(rng.integers(3))) for _ in range(25)]


@pytest.mark.parametrize("seed", range(30))
def test_with_few_cuts_no_box_is_excluded(seed: int) -> None:
    """Whatever was sharpened before: what is said holds for the steps of every box, with its own sides alone used."""
    rng = np.random.default_rng(seed)
    rows = draw_rows(rng)
    with Solver(name="glucose4") as solver:
        clauses = Clauses(solver.add_clause)
        slot = Slot(clauses, [True, True, False], [[7, 20], [], []])
        variables = [slot.holds(number, row) for number, row in enumerate(rows[:15])]
        for turn in range(12):
            if turn == 6:
                variables += [slot.holds(number, row) for number, row in enumerate(rows[15:], 15)]
            known = rows[: len(variables)]
            box = draw_box(rng)
            signs = [own if holds(box, row) else -own for own, row in zip(variables, known, strict=True)]
            unused = [
                -used
                for place, used in zip(slot.places, slot.used, strict=True)
                if place not in {(bound.feature, bound.side) for bound in box}
            ]
            assert solver.solve(assumptions=[*signs, *unused])
            wild = [int(rng.choice([own, -own])) for own in variables[::4]]
            if solver.solve(assumptions=wild):
                slot.sharpen(slot.read(truth_of(solver, clauses))[1])


def draw_box(rng: np.random.Generator) -> Box:
    sides = [(0, "at_least", 30), (0, "below", 30), (1, "at_least", 30), (1, "below", 30), (2, "is", 3)]
    drawn = (Bound(feature, side, int(rng.integers(many))) for feature, side, many in sides)  # type: ignore[arg-type]
    return tuple(bound for bound in drawn if rng.random() < 0.5)


def any_box(rows: list[Row], wanted: dict[int, bool]) -> bool:
    """Whether a guard holds exactly where it should: the smallest box around these steps does, if any does."""
    inside = [row for number, row in enumerate(rows) if wanted[number]]
    if not inside:
        return True
    ranges = [(min(row[feature] for row in inside), max(row[feature] for row in inside)) for feature in (0, 1)]
    kinds = {row[2] for row in inside}
    return not any(
        all(low <= row[feature] <= high for feature, (low, high) in enumerate(ranges))
        and (len(kinds) > 1 or row[2] in kinds)
        for number, row in enumerate(rows)
        if not wanted[number]
    )


@pytest.mark.parametrize("seed", range(30))
def test_sharpening_ends_with_the_box_of_the_model_or_a_proof(seed: int) -> None:
    """For any steps where a guard should hold or not: a box if there is one, found with few cuts, and else none."""
    rng = np.random.default_rng(seed)
    rows = list(dict.fromkeys(draw_rows(rng)))
    box = draw_box(rng)
    wanted = {number: holds(box, row) for number, row in enumerate(rows)}
    if seed % 2:  # one step changes sides
        wanted[3] = not wanted[3]
    exists = any_box(rows, wanted)
    with Solver(name="glucose4") as solver:
        clauses = Clauses(solver.add_clause)
        slot = Slot(clauses, [True, True, False], [[15], [], []])
        variables = [slot.holds(number, row) for number, row in enumerate(rows)]
        signs = [variables[number] if value else -variables[number] for number, value in wanted.items()]
        for _ in range(200):
            if not solver.solve(assumptions=signs):
                assert not exists
                return
            found, blur = slot.read(truth_of(solver, clauses))
            if not blur.cuts and not blur.rows:
                assert all(holds(found, rows[number]) is value for number, value in wanted.items())
                assert exists
                return
            assert slot.sharpen(blur)
        raise AssertionError("it never ends")
