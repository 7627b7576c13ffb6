"""Engines by name, and the audit: what one engine calls infeasible, another must confirm."""

from __future__ import annotations

import subprocess
import sys

import pytest
from instances import coffee, two_coffees

from markovize import EngineError, Episode, InputError, learn
from markovize.episodes.traces import Ints
from markovize.learning.engines import Answer, Rules, Session, Verdict, engine_names, find_auditor, find_engine
from markovize.learning.engines.registry import ENGINES
from markovize.learning.engines.sat import SatEngine
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import PrefixTree


class Counting:
    """An engine of somebody else's: the default one, with a count of its questions and a lie on request."""

    name = "counting"

    def __init__(self, *, lies: bool = False) -> None:
        self.asked, self.lies = 0, lies

    def open(self, rules: Rules) -> Session:
        return _CountingSession(self, SatEngine().open(rules))


class _CountingSession:
    def __init__(self, engine: Counting, honest: Session) -> None:
        self._engine, self._honest = engine, honest

    def extend(self, tree: PrefixTree, nodes: Ints) -> None:
        self._honest.extend(tree, nodes)

    def decide(self, states: int, triggers: int | None, limits: Limits) -> Answer:
        self._engine.asked += 1
        return Answer(Verdict.INFEASIBLE) if self._engine.lies else self._honest.decide(states, triggers, limits)


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_is_known_by_its_own_name(name: str) -> None:
    assert find_engine(name).name == name


def test_an_engine_stands_for_itself() -> None:
    engine = Counting()
    assert find_engine(engine) is engine


def test_unknown_names_are_refused_with_those_that_exist() -> None:
    with pytest.raises(InputError, match="there is no engine 'guess'; choose one of auto, sat, ilp, ilp-gurobi, exha"):
        find_engine("guess")
    with pytest.raises(InputError, match="there is no engine 'guess'"):
        learn(coffee(), audit="guess")


def test_showing_the_names_loads_nothing_slow() -> None:
    code = (
        "import sys, markovize.learning.engines.registry as r; r.engine_names();"
        "print([m for m in ('numba', 'pysat', 'highspy', 'gurobipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_auto_audits_only_engines_that_are_not_ours() -> None:
    for name in engine_names():
        assert find_auditor("auto", find_engine(name)) is None
    assert find_auditor("auto", SatEngine("cadical153")) is None
    auditor = find_auditor("auto", Counting())
    assert auditor is not None
    assert auditor.name == "sat"
    assert find_auditor("none", Counting()) is None


def test_a_namesake_is_not_believed() -> None:
    class Namesake(Counting):
        name = "sat"

    assert find_auditor("auto", Namesake()) is not None


@pytest.mark.parametrize("audit", ["sat", "ilp", "exhaustive"])
def test_our_own_engine_audited(audit: str) -> None:
    plain, audited = learn(two_coffees(), objective="states"), learn(two_coffees(), objective="states", audit=audit)
    assert (audited.status, audited.machine) == ("optimal", plain.machine)
    if "infeasibility proof" in plain.proof:
        assert audited.proof == f"{plain.proof}; {audit} confirmed each of them"


def test_the_auditor_is_asked_about_every_infeasibility() -> None:
    auditor = Counting()
    result = learn(two_coffees(), audit=auditor, acyclic=True, objective="states")
    assert result.status == "optimal"
    assert (auditor.asked > 0) == ("infeasibility proof" in result.proof)


def test_a_lie_is_found_by_the_audit() -> None:
    with pytest.raises(EngineError, match="infeasible"):
        learn(two_coffees(), engine=Counting(lies=True))


def test_a_smaller_machine_of_the_auditor_refutes_nothing() -> None:
    """Three states were excluded on other exemplars than those of the question about four."""
    cells = [
        ([2, 2, 1, 2], [1, 0, 1]),
        ([1, 1, 0, 0], [0, 0, 0]),
        ([1, 2, 0, 2, 1], [1, 0, 1, 0]),
        ([1, 1, 0, 0, 0], [0, 0, 0, 0]),
        ([2, 1, 1, 1, 2], [0, 1, 0, 1]),
        ([1, 0, 1, 2, 0], [0, 1, 0, 0]),
    ]
    episodes = [Episode(seen, [0] * len(paid), list(map(float, paid))) for seen, paid in cells]
    result = learn(episodes, audit="exhaustive", acyclic=True)
    assert (result.status, result.states, result.triggers) == ("optimal", 4, 4)
