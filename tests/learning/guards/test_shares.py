"""Literals that are shared out among guards: what is refuted, and what a refutation says of other shares."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from guard_oracle import draw_instance
from guard_problems import problem_of

from markovize.learning.guards.candidate import Bound, Candidate, Move
from markovize.learning.guards.formula import Formula, Split
from markovize.learning.guards.shares import MOST_SHARES, Shares, count_shares, group_sides, share_out
from markovize.learning.limits import Limits


def by_guard(guards: int, features: int) -> Shares:
    """One group for each guard."""
    return Shares(group_sides((True,) * features, guards, range(features)))


def test_every_way_to_share_out_is_asked_for_once() -> None:
    shares, asked = by_guard(3, 2), []
    while left := shares.left(4, near=(2, 1, 1)):
        asked.append(left[0])
        shares.refute(left[0])
    assert asked[0] == (2, 1, 1)
    assert sorted(asked) == sorted(share for share in product(range(5), repeat=3) if sum(share) == 4)
    assert shares.left(3, near=(0, 0, 0)) == []  # fewer are within these


def test_bounds_that_are_no_reason_refute_whatever_they_are() -> None:
    shares = by_guard(2, 2)
    shares.refute((None, 1))
    assert shares.left(4, near=(2, 2)) == [(2, 2), (1, 3), (0, 4)]
    shares.refute((None, None))
    assert shares.left(4, near=(2, 2)) == []


def test_no_group_gets_more_than_it_has_sides() -> None:
    shares = Shares(group_sides((True, False, True), 2, near=[0]))
    assert shares.sizes == (2, 3, 2, 3)
    meant = [share for share in product(range(3), range(4), range(3), range(4)) if sum(share) == 5]
    assert sorted(shares.left(5, near=(0, 0, 0, 0))) == meant
    assert count_shares(5, shares.sizes) == len(meant)
    machine = Candidate((Move(0, (Bound(0, "below", 4), Bound(2, "below", 3)), 1),), ((Bound(1, "is", 0),),))
    assert shares.share_of(machine) == (1, 1, 0, 1)


def test_many_guards_have_too_many_shares() -> None:
    assert len(by_guard(3, 6).left(12, near=(4, 4, 4))) == 91 <= MOST_SHARES
    near_and_far = share_out(5, (True,) * 6, 2, near=[0, 1])
    assert near_and_far is not None and near_and_far.sizes == (4, 8, 4, 8)
    guards_alone = share_out(12, (True,) * 6, 3, near=[0, 1])
    assert guards_alone is not None and guards_alone.sizes == (12, 12, 12)
    assert share_out(20, (True,) * 6, 8, near=[0, 1]) is None
    assert share_out(1, (True,), 1, near=[0]) is None  # nothing to share among


@pytest.mark.parametrize("seed", range(15))
def test_a_formula_keeps_to_the_bounds_of_each_guard(seed: int) -> None:
    """With all steps as exemplars. What a core says is refuted has no answer, and bounds in all agree with shares.

    There are so few values that all of them are told apart from the beginning.
    """
    problem = problem_of(draw_instance(np.random.default_rng(seed)))
    formula, limits = Formula(problem, Split(2, 1, 1), acyclic=False), Limits(None)
    for step in range(problem.steps):
        formula.add_exemplar(step)
    formula.group(group_sides(problem.numeric, 2, range(problem.n_features)))
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
