"""Literals that are shared out among guards: what is refuted, and what a refutation says of other shares."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from guard_oracle import draw_instance
from guard_problems import problem_of

from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.formula import Formula, Split
from markovize.learning.guards.shares import MOST_SHARES, Shares, few_shares
from markovize.learning.limits import Limits


def test_every_way_to_share_out_is_asked_for_once() -> None:
    shares, asked = Shares(3), []
    while left := shares.left(4, near=(2, 1, 1)):
        asked.append(left[0])
        shares.refute(left[0])
    assert asked[0] == (2, 1, 1)
    assert sorted(asked) == sorted(share for share in product(range(5), repeat=3) if sum(share) == 4)
    assert shares.left(3, near=(0, 0, 0)) == []  # fewer are within these


def test_bounds_that_are_no_reason_refute_whatever_they_are() -> None:
    shares = Shares(2)
    shares.refute((None, 1))
    assert shares.left(4, near=(2, 2)) == [(2, 2), (1, 3), (0, 4)]
    shares.refute((None, None))
    assert shares.left(4, near=(2, 2)) == []


def test_many_guards_have_too_many_shares() -> None:
    assert few_shares(12, 3) and not few_shares(20, 8)
    assert len(Shares(3).left(12, near=(4, 4, 4))) == 91 <= MOST_SHARES


@pytest.mark.parametrize("seed", range(15))
def test_a_formula_keeps_to_the_bounds_of_each_guard(seed: int) -> None:
    """With all steps as exemplars. What a core says is refuted has no answer, and bounds in all agree with shares."""
    problem = problem_of(draw_instance(np.random.default_rng(seed)))
    formula, limits = Formula(problem, Split(2, 1, 1), acyclic=False), Limits(None)
    for step in range(problem.steps):
        formula.add_exemplar(step)
    sides = sum(2 if numeric else 1 for numeric in problem.numeric)
    answers = {}
    for share in product(range(sides + 1), repeat=2):
        found = formula.solve(share, 10**9, limits)
        answers[share] = found is not False
        if isinstance(found, Candidate):
            assert all(len(box) <= most for box, most in zip(found.boxes, share, strict=True))
        else:
            core = formula.core
            assert all(bound in (None, own) for bound, own in zip(core, share, strict=True))
            wide = tuple(2 * sides if bound is None else bound for bound in core)
            assert formula.solve(wide, 10**9, limits) is False
    for literals in range(2 * sides):
        some = any(yes for share, yes in answers.items() if sum(share) == min(literals, 2 * sides))
        assert some is (formula.solve(literals, 10**9, limits) is not False)
    formula.close()
