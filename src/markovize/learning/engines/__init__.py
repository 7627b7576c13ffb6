"""The engines: ways to decide whether a machine of a given size explains the exemplars.

``auto`` is ``sat``, the default. ``ilp`` is the paper's integer program on HiGHS, ``ilp-gurobi`` the same on Gurobi.
``exhaustive`` tries every machine and is meant for tests. :mod:`~markovize.learning.engines.base` says what an engine
is, :mod:`~markovize.learning.engines.registry` knows them by name.
"""

from __future__ import annotations

from markovize.learning.engines.base import Answer, BlockingSession, Delta, Engine, Rules, Session, Verdict
from markovize.learning.engines.registry import engine_names, find_auditor, find_engine

__all__ = [
    "Answer",
    "BlockingSession",
    "Delta",
    "Engine",
    "Rules",
    "Session",
    "Verdict",
    "engine_names",
    "find_auditor",
    "find_engine",
]
