"""``markovize run``: learn by acting in an environment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from markovize.cli.all_option import RunAllOption, what_of_all
from markovize.cli.choices import AgentChoice, EngineChoice, ModeChoice, Objective, RewardChoice
from markovize.cli.completion import complete_environment
from markovize.cli.exits import DONE, INTERRUPTED, NO, STOPPED, saying_how_to_go_on
from markovize.cli.options import (
    JsonOption,
    allowance_option,
    features_option,
    label_option,
    named_values,
    whole_number,
)
from markovize.cli.terminal import print_json
from markovize.episodes.labelling import AUTO

if TYPE_CHECKING:
    from markovize.agents.tabular import RunProgress
    from markovize.cli.run_training import Plan

EXAMPLE = "markovize run markovize/OfficeWorld-v0 --env-arg task=c --episodes 500 --out office"


def run(
    ctx: typer.Context,
    env_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ENV_ID",
            help="A Gymnasium environment; with finite spaces for the tabular agent.",
            show_default=False,
            autocompletion=complete_environment,
        ),
    ] = None,
    env_arg: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="For gymnasium.make; JSON or text; repeatable.", show_default=False),
    ] = None,
    agent: Annotated[
        AgentChoice, typer.Option(help="Tables, or a network of Stable-Baselines3 where there are none (extra sb3).")
    ] = AgentChoice.tabular,
    episodes: Annotated[int | None, typer.Option(help="How many episodes.", show_default="10000")] = None,
    steps: Annotated[
        int | None, typer.Option(help="dqn, ppo: how many steps of training.", show_default="200000")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Equal seeds give equal runs.", show_default="0")] = None,
    mode: Annotated[ModeChoice, typer.Option(help="How to explore; gives all other defaults.")] = ModeChoice.directed,
    objective: Annotated[
        Objective | None, typer.Option(help="What to minimise first.", show_default="the mode's")
    ] = None,
    acyclic: Annotated[
        bool | None,
        typer.Option("--acyclic/--no-acyclic", help="Never return to a state once left.", show_default="the mode's"),
    ] = None,
    trigger_on: Annotated[
        str | None,
        label_option("What moves the machine; a function is looked up here first.", show_default="the mode's"),
    ] = None,
    reward_on: Annotated[
        str | None, label_option("What selects the reward, likewise.", show_default="the mode's")
    ] = None,
    features: Annotated[str | None, features_option("dqn, ppo: what guards may look at.")] = None,
    engine: Annotated[EngineChoice | None, typer.Option(help="How to solve.", show_default="auto")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Share of random actions.", show_default="the mode's")] = None,
    alpha: Annotated[float | None, typer.Option(help="Learning rate.", show_default="the mode's")] = None,
    gamma: Annotated[float | None, typer.Option(help="Discount.", show_default="the mode's")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Longest episode.", show_default="the environment's")] = None,
    tolerance: Annotated[
        str | None,
        allowance_option(
            "How far a reward may be from its level. auto: as far as rewards differ after equal histories; "
            "with dqn and ppo, as learn chooses it.",
            "E",
            show_default="0",
        ),
    ] = None,
    outliers: Annotated[
        str | None,
        allowance_option(
            "How many steps may pay something else. auto: those that differ from most with equal histories; "
            "with dqn and ppo, as learn chooses them.",
            "N",
            show_default="0",
        ),
    ] = None,
    reward: Annotated[
        RewardChoice | None,
        typer.Option(
            help="random: each (u, label, u') has a distribution, and a machine is taken if it is significant; "
            "for --mode q-learning, which is the default then.",
            show_default="exact",
        ),
    ] = None,
    significance: Annotated[
        float | None,
        typer.Option(
            help="With random rewards: the probability of a machine where rewards are Markov, at most.",
            show_default="0.01",
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="Stop after this many seconds (exit code 3).", show_default=False)
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting, such as crm=true, max_wait=50000; repeatable.",
            show_default=False,
        ),
    ] = None,
    import_: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="Imported first, to register ENV_ID.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder for everything learned.", show_default=False)
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Go on with the run in this folder; alone.", show_default=False),
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write TensorBoard scalars there.", show_default=False)
    ] = None,
    all_: RunAllOption = None,
    json_: JsonOption = False,
) -> None:
    """Act in an environment: learn its reward machine and how to earn the most, both at once.

    Where observations are continuous or hardly ever repeat, --agent dqn or ppo finds a machine with guards.

    With --out, a run that was stopped in any way goes on with: markovize run --resume DIR
    """
    from markovize.agents.tabular import Settings
    from markovize.cli import run_report, run_training
    from markovize.cli.run_session import run_session
    from markovize.errors import UnrealisableError
    from markovize.gym.make import make
    from markovize.runs import RunFolder, check_new

    everything, most = what_of_all(all_)
    begin: Callable[[], RunFolder] | None
    if resume is not None:
        _alone(ctx, "resume", "tensorboard", "json_", "time_limit")
        old = RunFolder.open(resume)
        if old.finished:
            old.tidy()
            if json_:
                print_json(run_report.numbers_of(old))
            else:
                typer.echo(f"{resume}: this run is over, all of it is there")
            return
        if "agent" in old.config["settings"]:
            _train(run_training.plan_of(old), tensorboard, time_limit, json_, everything)
        settings, begin = old.settings, lambda: old
        env = make(old.config["env_id"], old.config["env_args"], old.config["imports"])
    else:
        if env_id is None:
            raise typer.BadParameter("Missing argument 'ENV_ID'.")
        given = {
            "episodes": episodes,
            "seed": seed,
            "objective": objective,
            "acyclic": acyclic,
            "trigger_on": trigger_on,
            "reward_on": reward_on,
            "engine": engine,
            "epsilon": epsilon,
            "alpha": alpha,
            "gamma": gamma,
            "max_steps": max_steps,
            "all": most,
            "tolerance": tolerance if tolerance in (None, AUTO) else float(tolerance),
            "outliers": outliers if outliers in (None, AUTO) else whole_number(outliers, "--outliers"),
            "reward": reward,
            "significance": significance,
        }
        plain = {name: value.value if isinstance(value, StrEnum) else value for name, value in given.items()}
        known = {name: value for name, value in plain.items() if value is not None}
        env_args, modules = named_values(env_arg or [], "--env-arg"), import_ or []
        if agent is not AgentChoice.tabular:
            if mode is not ModeChoice.directed:
                raise typer.BadParameter("--mode is for --agent tabular")
            chosen = plain | {"steps": steps, "features": features}
            plan = run_training.plan_training(agent.name, env_id, env_args, modules, chosen, set_ or [], out)
            _train(plan, tensorboard, time_limit, json_, everything)
        if steps is not None or features is not None:
            raise typer.BadParameter(f"--{'features' if steps is None else 'steps'} is for --agent dqn and ppo")
        if significance is not None and reward is not RewardChoice.random:
            raise typer.BadParameter("--significance is for --reward random")
        if reward is RewardChoice.random and not _is_given(ctx, "mode"):
            mode = ModeChoice.q_learning
        others = named_values(set_ or [], "--set")
        if twice := [name for name in others if name in {*plain, "mode"}]:
            raise typer.BadParameter(f"--set {twice[0]}=… has an option of its own: --{twice[0].replace('_', '-')}")
        settings = Settings.of(mode.value, **known | others)
        if out is not None:
            check_new(out)
        env = make(env_id, env_args, modules)
        begin = None if out is None else partial(RunFolder.new, out, env_id, env_args, settings, imports=modules)
    try:
        with saying_how_to_go_on(), _scalars(tensorboard) as watch:
            result, folder, interrupted = run_session(env, settings, begin, watch, time_limit)
    except UnrealisableError as error:
        typer.echo(f"markovize: {error}", err=True)
        raise typer.Exit(NO) from None
    if json_:
        print_json(result.to_json())
    else:
        run_report.report(result, None if folder is None else folder.path, everything)
    raise typer.Exit(INTERRUPTED if interrupted else STOPPED if result.stopped else DONE)


def _train(plan: Plan, tensorboard: Path | None, time_limit: float | None, as_json: bool, everything: bool) -> NoReturn:
    """Trains a network, tells what came of it, and ends the command."""
    from markovize.cli import run_report, run_training

    with saying_how_to_go_on(), _scalars(tensorboard) as watch:
        result, folder, interrupted = run_training.train(plan, watch, time_limit)
    if as_json:
        print_json(result.to_json())
    else:
        run_report.report(result, None if folder is None else folder.path, everything)
    raise typer.Exit(INTERRUPTED if interrupted else STOPPED if result.stopped else DONE)


def _scalars(folder: Path | None) -> AbstractContextManager[Callable[[RunProgress], None] | None]:
    """What writes TensorBoard scalars there, if that was asked for."""
    if folder is None:
        return nullcontext()
    from markovize.integrations.tensorboard import TensorBoardProgress

    return TensorBoardProgress(folder)


def _is_given(ctx: typer.Context, name: str) -> bool:
    """Whether an option was given, even if with its default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _alone(ctx: typer.Context, *allowed: str) -> None:
    """Nothing but these options may be given."""
    for parameter in ctx.command.params:
        if parameter.name not in allowed and _is_given(ctx, parameter.name or ""):
            raise typer.BadParameter(f"--{allowed[0]} goes alone: everything else is in the folder")
