"""What options of the command line may be, by name; here, since showing ``--help`` must load nothing slow."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from markovize.episodes.labelling import AUTO, named_kinds
from markovize.experiments.catalogue import CATALOGUE

if TYPE_CHECKING:
    ExperimentChoice: TypeAlias = StrEnum
    LabelChoice: TypeAlias = StrEnum
else:  # a member for each experiment of the catalogue, and for each kind of labels that is chosen by its name
    ExperimentChoice = StrEnum("ExperimentChoice", [(name, name) for name in CATALOGUE])
    LabelChoice = StrEnum("LabelChoice", [(kind, kind) for kind in (AUTO, *named_kinds())])

AUTO_LABELS: Final[LabelChoice] = next(iter(LabelChoice))


class Objective(StrEnum):
    triggers = "triggers"
    states = "states"


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


class PresetChoice(StrEnum):
    paper = "paper"
    quick = "quick"
    smoke = "smoke"


class ExecutorChoice(StrEnum):
    local = "local"
    ray = "ray"
