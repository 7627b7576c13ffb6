"""``markovize run --agent dqn|ppo``: active training with agents of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from markovize.cli.options import named_values
from markovize.errors import InputError
from markovize.learning.interrupts import interruptible

if TYPE_CHECKING:
    from markovize.agents.tabular import RunProgress
    from markovize.integrations.sb3 import TrainingResult, TrainingSettings
    from markovize.integrations.sb3.active.folder import TrainingFolder
    from markovize.runs import RunFolder

TABULAR = ("episodes", "objective", "trigger_on", "engine", "epsilon", "alpha", "all", "reward", "significance")


class Plan(NamedTuple):
    """What is trained, and where it is kept."""

    env_id: str
    env_args: Mapping[str, Any]
    imports: Sequence[str]
    settings: TrainingSettings
    begin: Callable[[], TrainingFolder] | None


class TrainingSession(NamedTuple):
    """What came of a training, as of a run."""

    result: TrainingResult
    folder: TrainingFolder | None
    interrupted: bool = False


def plan_training(
    agent: str,
    env_id: str,
    env_args: Mapping[str, Any],
    imports: Sequence[str],
    given: Mapping[str, Any],
    others: Sequence[str],
    out: Path | None,
) -> Plan:
    """From options to settings; what is only for tabular runs is refused."""
    from markovize.integrations.sb3 import TrainingSettings
    from markovize.integrations.sb3.active.folder import TrainingFolder
    from markovize.runs import check_new

    for name in TABULAR:
        if given.get(name) is not None:
            instead = "; give --steps" if name == "episodes" else ""
            raise typer.BadParameter(f"--{name.replace('_', '-')} is for --agent tabular{instead}")
    known = {name: value for name, value in given.items() if value is not None}
    more = named_values(others, "--set")
    if unknown := [name for name in more if name not in {field.name for field in fields(TrainingSettings)}]:
        raise InputError(f"--set {unknown[0]}: --agent {agent} has no such setting")
    if twice := [name for name in more if name in {*given, "agent"}]:
        raise typer.BadParameter(f"--set {twice[0]}=… has an option of its own: --{twice[0].replace('_', '-')}")
    settings = TrainingSettings(**{"agent": agent} | known | more)
    if out is not None:
        check_new(out)
    begin = None if out is None else partial(TrainingFolder.new, out, env_id, env_args, settings, imports=imports)
    return Plan(env_id, env_args, imports, settings, begin)


def plan_of(folder: RunFolder) -> Plan:
    """What a folder says of the training that was begun in it."""
    from markovize.integrations.sb3.active.folder import TrainingFolder

    old, config = TrainingFolder(folder), folder.config
    return Plan(config["env_id"], config["env_args"], config["imports"], old.settings, lambda: old)


def train(plan: Plan, watch: Callable[[RunProgress], None] | None, time_limit: float | None) -> TrainingSession:
    """Trains with a live display; in a folder, from its last checkpoint to its last file."""
    from markovize.cli.environment_errors import guarding_environment
    from markovize.cli.run_display import run_display
    from markovize.gym.make import make
    from markovize.integrations.sb3 import ActiveTraining

    training: ActiveTraining | None = None
    folder: TrainingFolder | None = None
    try:
        with interruptible(), run_display() as show, guarding_environment():
            maker = partial(make, plan.env_id, plan.env_args, plan.imports)
            training = ActiveTraining(maker, plan.settings, on_progress=partial(_tell, (show, watch)))
            if plan.begin is not None:
                folder = plan.begin()
                training.on_checkpoint = folder.checkpoint
                folder.restore(training)
            result = training.run(time_limit)
            if folder is not None:
                folder.end(result)
        return TrainingSession(result, folder)
    except KeyboardInterrupt:
        if folder is not None:
            raise KeyboardInterrupt(f"interrupted; go on with: markovize run --resume {folder.path}") from None
        if training is None:
            raise
        return TrainingSession(training.so_far(stopped="interrupted"), None, interrupted=True)


def _tell(watching: Sequence[Callable[[RunProgress], None] | None], progress: RunProgress) -> None:
    for tell in watching:
        if tell is not None:
            tell(progress)
