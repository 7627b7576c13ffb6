"""Each family of clauses about guards, against all assignments that its meaning allows."""

from __future__ import annotations

from itertools import product

import pytest
from guard_problems import holds
from pysat.solvers import Solver

from markovize.learning.guards.candidate import Bound
from markovize.learning.guards.sides import Choice, Clauses, Slot, Threshold


def models(solver: Solver, variables: list[int]) -> list[tuple[bool, ...]]:
    """All assignments of these variables that some model has."""
    found = []
    for values in product((False, True), repeat=len(variables)):
        signs = [variable if value else -variable for variable, value in zip(variables, values, strict=True)]
        if solver.solve(assumptions=signs):
            found.append(values)
    return found


def in_model(solver: Solver) -> set[int]:
    model: list[int] = solver.get_model()
    return {variable for variable in model if variable > 0}


@pytest.mark.parametrize("order", [[0, 3, 5], [5, 3, 0], [3, 0, 5], [3, 5, 0]])
@pytest.mark.parametrize("side", ["at_least", "below"])
def test_a_threshold_lets_pass_what_is_above_or_below(side: str, order: list[int]) -> None:
    with Solver(name="glucose4") as solver:
        clauses = Clauses(solver.add_clause)
        bound = Threshold(clauses, 2, side)  # type: ignore[arg-type]
        for code in order:
            bound.passes(code)
        codes = sorted(order)
        passes = [bound.passes(code) for code in codes]
        meant = set()
        for cut in range(len(codes) + 1):
            values = tuple((n >= cut) == (side == "at_least") for n in range(len(codes)))
            meant |= {(*values, True)} | ({(*values, False)} if all(values) else set())
        assert set(models(solver, [*passes, bound.used])) == meant
        for model in meant:
            pairs = zip([*passes, bound.used], model, strict=True)
            assert solver.solve(assumptions=[variable if value else -variable for variable, value in pairs])
            true = in_model(solver)
            read = bound.read(true.__contains__)
            box = () if read is None else (read._replace(feature=0),)
            assert [holds(box, (code,)) for code in codes] == list(model[:-1])


@pytest.mark.parametrize("many", [1, 2, 4])
def test_a_choice_lets_one_value_pass_or_all(many: int) -> None:
    with Solver(name="glucose4") as solver:
        clauses = Clauses(solver.add_clause)
        choice = Choice(clauses, 0)
        passes = [choice.passes(code) for code in range(many)]
        found = models(solver, [*passes, choice.used])
        assert [tuple(values) for *values, used in found if not used] == [(True,) * many]
        with_literal = {tuple(values) for *values, used in found if used}
        assert with_literal == {tuple(n == chosen for n in range(many)) for chosen in range(-1, many)}


def test_a_guard_holds_where_all_sides_let_pass() -> None:
    rows = [(0, 1), (2, 0), (2, 1)]
    with Solver(name="glucose4") as solver:
        slot = Slot(Clauses(solver.add_clause), [True, False])
        variables = [slot.holds(number, row) for number, row in enumerate(rows)]
        assert slot.holds(0, rows[0]) == variables[0]
        every = [(), *(((0, side, code),) for side in ("at_least", "below") for code in (1, 2, 3))]
        values = [(), *(((1, "is", code),) for code in (0, 1, 2))]
        meant = set()
        for first, second, third in product(every, every, values):
            box = tuple(Bound(*bound) for bound in (*first, *second, *third))  # type: ignore[arg-type]
            meant.add(tuple(holds(box, row) for row in rows))
        assert set(models(solver, variables)) == meant
        for held in meant:
            assert solver.solve(assumptions=[v if value else -v for v, value in zip(variables, held, strict=True)])
            box = slot.read(in_model(solver).__contains__)
            assert tuple(holds(box, row) for row in rows) == held
            assert len(box) <= sum(variable in in_model(solver) for variable in slot.used)
