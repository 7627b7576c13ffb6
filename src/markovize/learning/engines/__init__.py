"""The engines: ways to decide whether a machine of a given size explains the exemplars.

``auto`` is ``sat``, the default. ``ilp`` is the paper's integer program on HiGHS, ``ilp-gurobi`` the same on Gurobi.
``exhaustive`` tries every machine and is meant for tests.
"""

from __future__ import annotations

from typing import Final

from markovize.errors import InputError
from markovize.learning.engines.base import Answer, Delta, Engine, Session, Verdict

__all__ = ["ENGINES", "Answer", "Delta", "Engine", "Session", "Verdict", "engine_named"]

ENGINES: Final = ("auto", "sat", "ilp", "ilp-gurobi", "exhaustive")


def engine_named(name: str) -> Engine:
    """The engine with this name.

    >>> engine_named("auto").name
    'sat'
    """
    if name in ("auto", "sat"):
        from markovize.learning.engines.sat import SatEngine

        return SatEngine()
    if name in ("ilp", "ilp-gurobi"):
        from markovize.learning.engines.ilp import IlpEngine

        return IlpEngine("gurobi" if name == "ilp-gurobi" else "highs")
    if name == "exhaustive":
        from markovize.learning.engines.exhaustive import ExhaustiveEngine

        return ExhaustiveEngine()
    raise InputError(f"there is no engine {name!r}; choose one of {', '.join(ENGINES)}")
