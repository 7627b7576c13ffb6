"""What options of the command line may be, by name; here, since showing ``--help`` must load nothing slow."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from markovize.experiments.catalogue import CATALOGUE
from markovize.learning.engines.registry import NONE, engine_names

if TYPE_CHECKING:
    ExperimentChoice: TypeAlias = StrEnum
    EngineChoice: TypeAlias = StrEnum
    AuditChoice: TypeAlias = StrEnum
else:  # a member for each name in a registry
    ExperimentChoice = StrEnum("ExperimentChoice", [(name, name) for name in CATALOGUE])
    EngineChoice = StrEnum("EngineChoice", [(name, name) for name in engine_names()])
    AuditChoice = StrEnum("AuditChoice", [(name, name) for name in (*engine_names(), NONE)])

AUTO_ENGINE: Final[EngineChoice] = next(iter(EngineChoice))
AUTO_AUDIT: Final[AuditChoice] = next(iter(AuditChoice))


class Objective(StrEnum):
    triggers = "triggers"
    states = "states"


class ExplainChoice(StrEnum):
    reward = "reward"
    both = "reward+termination"


class RewardChoice(StrEnum):
    exact = "exact"
    random = "random"


class ModeChoice(StrEnum):
    directed = "directed"
    q_learning = "q-learning"
    paper = "paper"


class AgentChoice(StrEnum):
    tabular = "tabular"
    dqn = "dqn"
    ppo = "ppo"


class PresetChoice(StrEnum):
    paper = "paper"
    quick = "quick"
    smoke = "smoke"


class ExecutorChoice(StrEnum):
    local = "local"
    ray = "ray"
