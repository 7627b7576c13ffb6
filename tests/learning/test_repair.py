"""The last machine, repaired: what changes, what does not, and when it is given up."""

from __future__ import annotations

import pytest

from markovize.episodes.allowance import Allowance
from markovize.episodes.traces import Traces
from markovize.learning import repair as repairing
from markovize.learning.engines import Delta
from markovize.learning.judge import Judge, size
from markovize.learning.limits import Limits
from markovize.learning.problem import Problem, pose
from markovize.learning.repair import moves_of, repair
from markovize.machine.machine import RewardMachine, Trigger

PAID = ("hkd", "habkd", "hkabd", "hjkbd", "hbad", "hjd", "had", "hd")  # a door that pays after the key, and only then


def problem_of(walks: tuple[str, ...], paying: str = "k") -> Problem:
    """Walks through rooms; the last step pays about 1 if the walk has passed a paying room, else about 0."""
    episodes = []
    for number, walk in enumerate(walks):
        noise = 0.05 * (-1) ** number
        paid = [*[0.0] * (len(walk) - 2), float(any(room in walk for room in paying)) + noise]
        episodes.append((list(walk), ["go"] * (len(walk) - 1), paid))
    return pose(Traces.of(episodes), ("state", "state"), "reward", Limits(), Allowance(0.1))


def moves(problem: Problem, *triggers: tuple[int, str, int]) -> Delta:
    machine = RewardMachine("state", "state", 3, tuple(Trigger(*trigger) for trigger in triggers))
    return moves_of(machine, problem.steps.triggers.values)


def test_a_trigger_on_the_wrong_label_is_moved() -> None:
    problem = problem_of(PAID)
    judge = Judge(problem.tree)
    wrong = moves(problem, (0, "b", 1))
    assert not judge.explains(wrong)
    assert repair(wrong, judge, Limits(), acyclic=False) == moves(problem, (0, "k", 1))


def test_a_second_label_joins_the_first() -> None:
    """Another room turns out to serve as well: one more trigger, no more states."""
    problem = problem_of((*PAID, "hzd", "hzbd", "hazjd"), paying="kz")
    found = repair(moves(problem, (0, "k", 1)), Judge(problem.tree), Limits(), acyclic=True)
    assert found == moves(problem, (0, "k", 1), (0, "z", 1))


def test_what_explains_all_stays() -> None:
    problem = problem_of(PAID)
    right = moves(problem, (0, "k", 1))
    assert repair(right, Judge(problem.tree), Limits(work=0), acyclic=False) == right


def test_what_is_found_explains_all_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes are compared on the shallowest part; pairs in conflict elsewhere join it."""
    monkeypatch.setattr(repairing, "NODES", 3)
    problem = problem_of(PAID)
    judge = Judge(problem.tree)
    found = repair({}, judge, Limits(), acyclic=False)
    assert found is not None
    assert judge.explains(found)
    assert size(found) == (2, 1)


def test_it_gives_up_when_its_work_is_spent() -> None:
    problem = problem_of(PAID)
    assert repair(moves(problem, (0, "b", 1)), Judge(problem.tree), Limits(work=0), acyclic=False) is None


def test_labels_that_are_gone_are_left_out() -> None:
    problem = problem_of(PAID)
    assert moves(problem, (0, "nowhere", 1)) == {}


def test_a_trigger_is_moved_to_where_it_was_made_for() -> None:
    """Both walks of the pair in conflict tell only that the attic is no key; where the key is, others tell."""
    problem = problem_of(("hzd", "had", "hbbkad", "hbkabd", "hbd", "hbbd"), paying="kz")
    judge, right = Judge(problem.tree), moves(problem, (0, "z", 1), (0, "k", 1))
    wrong = moves(problem, (0, "z", 1), (0, "a", 1))
    (pair,) = judge.violations(wrong, most=1)
    met = {int(judge.tree.label[node]) for mark in pair for node in judge.tree.path(int(judge.tree.mark_node[mark]))}
    assert problem.steps.triggers.values.index("k") not in met
    assert right in list(repairing._changes(wrong, judge, pair))
    assert repair(wrong, judge, Limits(), acyclic=False) == right
