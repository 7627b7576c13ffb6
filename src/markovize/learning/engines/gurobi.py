"""Gurobi as the back end of the integer program, for those who have a licence."""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import Any

import numpy as np

from markovize.errors import EngineError, UnsupportedError
from markovize.extras import install
from markovize.learning.engines.base import Verdict
from markovize.learning.engines.ilp import Model, Solution, whole
from markovize.learning.limits import Limits, Stop


def solve(model: Model, limits: Limits) -> Solution:
    """Minimises the model. Only Gurobi's statuses *optimal* and *infeasible* are proofs; the rest is unknown.

    ``work`` counts branch-and-bound nodes, and ``limits.work`` bounds them.
    """
    gp = _gurobipy()
    if limits.remaining() == 0:
        return Solution(Verdict.UNKNOWN)
    try:
        with gp.Env(empty=True) as env:
            env.setParam("OutputFlag", 0)  # before the start, or the licence is announced
            env.start()
            with gp.Model(env=env) as loaded:
                _load(gp, loaded, model)
                return _solve(gp, loaded, model, limits)
    except gp.GurobiError as error:
        raise _explain(gp, error, model) from None


def _gurobipy() -> Any:
    try:
        return importlib.import_module("gurobipy")
    except ImportError:
        raise UnsupportedError(f"Gurobi is not installed: {install('gurobi')}, or use HiGHS") from None


def _load(gp: Any, loaded: Any, model: Model) -> None:
    exact = {"Seed": 0, "MIPGap": 0.0, "MIPGapAbs": 0.0, "IntFeasTol": 1e-9, "FeasibilityTol": 1e-9}
    for name, value in exact.items():
        loaded.setParam(name, value)
    kinds = [gp.GRB.BINARY if flag else gp.GRB.CONTINUOUS for flag in model.integer.tolist()]
    columns = loaded.addVars(len(kinds), lb=0.0, ub=1.0, obj=model.objective.tolist(), vtype=kinds)
    at, coefficients = model.columns.tolist(), model.coefficients.tolist()
    bounds = zip(pairwise(model.starts.tolist()), model.lower.tolist(), model.upper.tolist(), strict=True)
    for (start, end), lower, upper in bounds:
        part = slice(start, end)
        terms = gp.LinExpr(coefficients[part], [columns[c] for c in at[part]])
        if lower == upper:
            loaded.addLConstr(terms, gp.GRB.EQUAL, upper)
        elif np.isneginf(lower):
            loaded.addLConstr(terms, gp.GRB.LESS_EQUAL, upper)
        else:
            raise EngineError(f"a row of the integer program has two bounds, {lower} and {upper}")


def _solve(gp: Any, loaded: Any, model: Model, limits: Limits) -> Solution:
    stopped: list[BaseException] = []

    def callback(running: Any, _where: int) -> None:
        try:
            limits.check()
        except BaseException as reason:  # Gurobi swallows what a callback raises, Ctrl-C included
            stopped.append(reason)
            running.terminate()

    if limits.work is not None:
        loaded.setParam("NodeLimit", limits.work)
    for dual_reductions in (1, 0):
        # Presolve may stop at "infeasible or unbounded"; without dual reductions it says which.
        loaded.setParam("DualReductions", dual_reductions)
        remaining = limits.remaining()
        if remaining is not None:
            loaded.setParam("TimeLimit", remaining)
        loaded.optimize(callback)
        if loaded.Status != gp.GRB.INF_OR_UNBD:
            break
    for reason in stopped:
        if not isinstance(reason, Stop):
            raise reason
    work = int(loaded.NodeCount)
    if loaded.Status == gp.GRB.INFEASIBLE:
        return Solution(Verdict.INFEASIBLE, work=work)
    values = whole(model, np.array(loaded.getAttr("X"), np.float64)) if loaded.SolCount else None
    if values is None:
        return Solution(Verdict.UNKNOWN, work=work)
    return Solution(Verdict.FEASIBLE, values, loaded.Status == gp.GRB.OPTIMAL, work)


def _explain(gp: Any, error: Any, model: Model) -> Exception:
    size = f"this program has {len(model.objective):,} variables and {len(model.lower):,} rows"
    if error.errno == gp.GRB.Error.SIZE_LIMIT_EXCEEDED:
        return UnsupportedError(f"{size}; Gurobi's free licence stops at 2,000 variables and 2,000 rows: use HiGHS")
    if error.errno == gp.GRB.Error.NO_LICENSE:
        return UnsupportedError(f"Gurobi found no valid licence ({error}); use HiGHS or another engine")
    return EngineError(f"Gurobi failed: {error}")
