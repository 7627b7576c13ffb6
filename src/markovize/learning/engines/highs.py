"""HiGHS as the back end of the integer program."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from markovize.errors import EngineError
from markovize.learning.engines.base import Verdict
from markovize.learning.engines.ilp import Model, Solution, whole
from markovize.learning.limits import Limits, Stop


def solve(model: Model, limits: Limits) -> Solution:
    """Minimises the model. Only HiGHS' statuses *optimal* and *infeasible* are proofs; the rest is unknown.

    ``work`` counts branch-and-bound nodes, and ``limits.work`` bounds them.
    """
    highspy: Any = importlib.import_module("highspy")  # it takes a moment, and other engines do without
    remaining = limits.remaining()
    if remaining == 0:
        return Solution(Verdict.UNKNOWN)
    highs = highspy.Highs()
    # Without presolve: with it HiGHS 1.14 called a feasible program of 80 columns infeasible, and gave up on another
    # (tests/regressions/highs-*). Both are right without.
    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "presolve": "off",
        "random_seed": 0,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
    }
    if remaining is not None:
        options["time_limit"] = remaining
    if limits.work is not None:
        options["mip_max_nodes"] = limits.work
    for name, value in options.items():
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise EngineError(f"HiGHS refused its option {name} = {value}")
    if highs.passModel(_load(highspy, model)) != highspy.HighsStatus.kOk:
        raise EngineError("HiGHS refused the integer program")
    try:
        _run(highs, limits)
    except Stop:
        return Solution(Verdict.UNKNOWN)
    return _read(highspy, highs, model)


def _load(highspy: Any, model: Model) -> Any:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(model.objective), len(model.lower)
    lp.col_cost_ = model.objective
    lp.col_lower_, lp.col_upper_ = np.zeros(lp.num_col_), np.ones(lp.num_col_)
    lp.row_lower_, lp.row_upper_ = model.lower, model.upper
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[flag] for flag in model.integer.tolist()]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = model.starts, model.columns
    lp.a_matrix_.value_ = model.coefficients
    return lp


def _run(highs: Any, limits: Limits) -> None:
    """Solves in a thread of HiGHS' own, so that this one can move the progress display and hear Ctrl-C."""
    highs.HandleUserInterrupt = True
    highs.startSolve()
    try:
        while not highs.wait(0.1)[0]:
            limits.check()
    except BaseException:
        # Presolve does not look at the interrupt, for many seconds on large programs, but it does at the clock.
        highs.setOptionValue("time_limit", 0.0)
        highs.cancelSolve()
        highs.wait()
        raise


def _read(highspy: Any, highs: Any, model: Model) -> Solution:
    status, info = highs.getModelStatus(), highs.getInfo()
    work = max(0, int(info.mip_node_count))
    if status == highspy.HighsModelStatus.kInfeasible:
        return Solution(Verdict.INFEASIBLE, work=work)
    values = None
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values = whole(model, np.array(highs.getSolution().col_value, np.float64))
    if values is None:
        return Solution(Verdict.UNKNOWN, work=work)
    return Solution(Verdict.FEASIBLE, values, status == highspy.HighsModelStatus.kOptimal, work)
