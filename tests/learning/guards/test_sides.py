"""Each family of clauses about guards, against all assignments that its meaning allows."""

from __future__ import annotations

from itertools import product

import pytest
from guard_problems import holds
from pysat.solvers import Solver

from markovize.learning.guards.sides import Choice, Clauses, Threshold


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


@pytest.mark.parametrize("side", ["at_least", "below"])
def test_between_two_cuts_a_value_is_only_known_roughly(side: str) -> None:
    """What follows from a literal of a span, and what it follows from, is so for every threshold."""
    with Solver(name="glucose4") as solver:
        bound = Threshold(Clauses(solver.add_clause), 0, side)  # type: ignore[arg-type]
        cuts = [2, 5]
        passes = [bound.passes(code) for code in cuts]
        assert [bound.span(code) for code in cuts] == [(own, own) for own in passes]
        for threshold in range(9):
            held = [(code >= threshold) == (side == "at_least") for code in range(8)]
            for used in {True, not all(held)}:  # a literal that lets everything pass may be said or not
                values = {bound.used: used, **{own: held[code] for own, code in zip(passes, cuts, strict=True)}}
                assert solver.solve(assumptions=[own if value else -own for own, value in values.items()])
                true = in_model(solver) | {0}
                for code in range(8):
                    enough, needed = bound.span(code)
                    assert held[code] or (enough not in true and (enough > 0 or -enough in true))
                    assert needed in true or not held[code]
                low, high = bound.room(true.__contains__)
                in_room = [code for code in cuts if low < code < high]
                assert not in_room and (used or low == high)
