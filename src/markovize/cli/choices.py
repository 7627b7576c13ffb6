"""What options of the command line may be, by name; here, since showing ``--help`` must load nothing else."""

from __future__ import annotations

from enum import StrEnum


class Objective(StrEnum):
    triggers = "triggers"
    states = "states"


class LabelChoice(StrEnum):
    auto = "auto"
    state = "state"
    transition = "transition"


class EngineChoice(StrEnum):
    auto = "auto"
    sat = "sat"
    ilp = "ilp"
    ilp_gurobi = "ilp-gurobi"
    exhaustive = "exhaustive"


class ExplainChoice(StrEnum):
    reward = "reward"
    both = "reward+termination"


class ModeChoice(StrEnum):
    directed = "directed"
    q_learning = "q-learning"
    paper = "paper"


class ExperimentChoice(StrEnum):
    exp1 = "exp1"
    exp2 = "exp2"
    exp3 = "exp3"
    ablation = "ablation"


class PresetChoice(StrEnum):
    paper = "paper"
    quick = "quick"
    smoke = "smoke"


class ExecutorChoice(StrEnum):
    local = "local"
    ray = "ray"
