"""The command line: ``markovize check | learn | replay | draw | convert | run | reproduce``.

Exit codes: 0 done (``learn``: optimal), 1 the answer is no, 2 bad usage or input, 3 stopped by a limit, 130
interrupted. Errors are one line on stderr.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from markovize.cli.choices import (
    EngineChoice,
    ExecutorChoice,
    ExperimentChoice,
    ExplainChoice,
    LabelChoice,
    ModeChoice,
    Objective,
    PresetChoice,
)
from markovize.cli.terminal import console, count, print_json

if TYPE_CHECKING:
    from markovize.agents.tabular import RunProgress
    from markovize.episodes.traces import Traces
    from markovize.io import TableColumns
    from markovize.learning.result import LearnResult

app = typer.Typer(
    name="markovize",
    help="When a reward depends on history: find out, and learn the smallest reward machine that explains it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

# typer brings its own copy of click or uses the installed one, as its version has it; this is the right one
_UsageError: Any = typer.BadParameter.__mro__[1]

DONE, NO, BAD, STOPPED, INTERRUPTED = 0, 1, 2, 3, 130


EpisodesArgument = Annotated[
    Path,
    typer.Argument(help="Episodes: .jsonl, .csv, .tsv, minari:NAME; - for JSONL from stdin", show_default=False),
]
MachineArgument = Annotated[Path, typer.Argument(help="A machine: .json, .txt or .dot", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
DecimalsOption = Annotated[
    int | None,
    typer.Option(min=0, max=15, help="Round rewards to this many decimals when reading.", show_default=False),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="KIND=COLUMN,…",
        help="Tables: which columns hold what, for example state=x+y,next_state=x2+y2,reward=r",
        show_default=False,
    ),
]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from markovize import __version__

        typer.echo(f"markovize {__version__}")
        raise typer.Exit


@app.command(epilog="Example: markovize check episodes.jsonl --exit-code")
def check(
    episodes: EpisodesArgument,
    machine: Annotated[Path | None, typer.Option(help="Look for conflicts that remain with this machine.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if there are conflicts.")] = False,
    reward_decimals: DecimalsOption = None,
    json_: JsonOption = False,
    columns: ColumnsOption = None,
) -> None:
    """Is the reward a function of (s, a, s')? If not, show steps that prove it."""
    import markovize

    traces = _read(episodes, columns, reward_decimals)
    report = markovize.check(traces, None if machine is None else markovize.read_machine(machine))
    if json_:
        print_json(report.to_json())
    else:
        out = console()
        what = "(s, a, s')" if machine is None else "(u, label, u') of the machine"
        out.print(f"{report.episodes:,} episodes, {report.steps:,} steps")
        if report.markov:
            out.print(f"[green]Markov:[/] every {what} always paid the same reward")
        else:
            out.print(f"[red]not Markov:[/] {report.conflicts:,} {what} with different rewards, for example")
            for witness in report.witnesses[:5]:
                out.print(f"  {witness}", markup=False, highlight=False)
    raise typer.Exit(NO if exit_code and not report.markov else DONE)


@app.command(epilog="Example: markovize learn episodes.jsonl -o machine.json --acyclic")
def learn(
    episodes: EpisodesArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the machine.", show_default=False)
    ] = None,
    objective: Annotated[Objective, typer.Option(help="What to minimise first.")] = Objective.triggers,
    trigger_on: Annotated[LabelChoice, typer.Option(help="What moves the machine.")] = LabelChoice.auto,
    reward_on: Annotated[LabelChoice, typer.Option(help="What selects the reward.")] = LabelChoice.auto,
    explain: Annotated[ExplainChoice, typer.Option(help="What must be explained.")] = ExplainChoice.reward,
    acyclic: Annotated[bool, typer.Option("--acyclic", help="Never return to a state once left.")] = False,
    engine: Annotated[EngineChoice, typer.Option(help="How to solve.")] = EngineChoice.auto,
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="Stop after this many seconds.", show_default=False)
    ] = None,
    reward_decimals: DecimalsOption = None,
    json_: JsonOption = False,
    columns: ColumnsOption = None,
) -> None:
    """Find the smallest reward machine that explains every reward, and prove that it is the smallest."""
    import markovize
    from markovize.cli.learn_display import progress_display

    if output is not None:
        _check_writable(output)
    traces = _read(episodes, columns, reward_decimals)
    with progress_display() as show:
        result = markovize.learn(
            traces,
            objective=objective.value,
            trigger_on=trigger_on.value,
            reward_on=reward_on.value,
            explain=explain.value,
            acyclic=acyclic,
            engine=engine.value,
            time_limit=time_limit,
            on_progress=show,
        )
    if result.machine is not None and output is not None:
        markovize.write_machine(output, result.machine, format="json")
    if json_:
        print_json(result.to_json())
    else:
        _report(result, output)
    if result.status == "unrealisable":
        typer.echo(f"markovize: {result.contradiction}", err=True)
        raise typer.Exit(NO)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(DONE if result.status == "optimal" else STOPPED)


@app.command(epilog="Example: markovize replay machine.json episodes.jsonl")
def replay(
    machine: MachineArgument,
    episodes: EpisodesArgument,
    reward_decimals: DecimalsOption = None,
    json_: JsonOption = False,
    columns: ColumnsOption = None,
) -> None:
    """Does the machine predict the rewards of these episodes? Exit with 1 if it does not."""
    import markovize

    known = markovize.read_machine(machine)
    report = markovize.replay(known, _read(episodes, columns, reward_decimals))
    if json_:
        print_json(report.to_json())
    else:
        out = console()
        colour = "red" if report.mismatches else "green"
        out.print(f"{report.steps:,} steps, {report.unseen:,} unseen, [{colour}]{report.mismatches:,} mismatches[/]")
        if report.first_mismatch is not None:
            episode, step, expected, observed = report.first_mismatch
            out.print(f"first: episode {episode} step {step}: the machine says {expected:g}, observed {observed:g}")
    raise typer.Exit(NO if report.mismatches else DONE)


@app.command(epilog="Example: markovize draw machine.json -o machine.svg")
def draw(
    machine: MachineArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A .svg, .png, .dot or .mmd file.", show_default=False)
    ],
    json_: JsonOption = False,
) -> None:
    """Draw a machine. No other program is needed for SVG and PNG."""
    import markovize

    markovize.draw(markovize.read_machine(machine), output)
    _written(output, json_)


@app.command(epilog="Example: markovize convert machine.json machine.txt")
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="What to read.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="What to write.", show_default=False)],
    from_: Annotated[str | None, typer.Option("--from", help="Format of IN, if its ending does not say.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Format of OUT, if its ending does not say.")] = None,
    columns: ColumnsOption = None,
    json_: JsonOption = False,
) -> None:
    """Convert machines (json, txt, dot, mmd) and episodes (jsonl, csv, tsv)."""
    import markovize

    markovize.convert(source, target, source_format=from_, target_format=to, columns=_table_columns(columns))
    _written(target, json_)


@app.command(epilog="Example: markovize run markovize/OfficeWorld-v0 --env-arg task=c --episodes 500 --out office")
def run(
    ctx: typer.Context,
    env_id: Annotated[
        str | None,
        typer.Argument(metavar="ENV_ID", help="A Gymnasium environment with finite spaces.", show_default=False),
    ] = None,
    env_arg: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="For gymnasium.make; JSON or text; repeatable.", show_default=False),
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="How many episodes.", show_default="10000")] = None,
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
        LabelChoice | None, typer.Option(help="What moves the machine.", show_default="the mode's")
    ] = None,
    reward_on: Annotated[
        LabelChoice | None, typer.Option(help="What selects the reward.", show_default="the mode's")
    ] = None,
    engine: Annotated[EngineChoice | None, typer.Option(help="How to solve.", show_default="auto")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Share of random actions.", show_default="the mode's")] = None,
    alpha: Annotated[float | None, typer.Option(help="Learning rate.", show_default="the mode's")] = None,
    gamma: Annotated[float | None, typer.Option(help="Discount.", show_default="the mode's")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Longest episode.", show_default="the environment's")] = None,
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
    json_: JsonOption = False,
) -> None:
    """Act in an environment: learn its reward machine and how to earn the most, both at once.

    With --out, a run that was stopped in any way goes on with: markovize run --resume DIR
    """
    from markovize.agents.tabular import Settings
    from markovize.cli import run as command
    from markovize.errors import UnrealisableError
    from markovize.gym.make import make
    from markovize.runs import RunFolder, check_new

    begin: Callable[[], RunFolder] | None
    if resume is not None:
        _alone(ctx, "resume", "tensorboard", "json_")
        old = RunFolder.open(resume)
        if old.finished:
            old.tidy()
            if json_:
                print_json(command.numbers_of(old))
            else:
                typer.echo(f"{resume}: this run is over, all of it is there")
            return
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
        }
        plain = {name: value.value if isinstance(value, StrEnum) else value for name, value in given.items()}
        known = {name: value for name, value in plain.items() if value is not None}
        others = command.named_values(set_ or [], "--set")
        if twice := [name for name in others if name in {*plain, "mode"}]:
            raise typer.BadParameter(f"--set {twice[0]}=… has an option of its own: --{twice[0].replace('_', '-')}")
        settings = Settings.of(mode.value, **known | others)
        env_args, modules = command.named_values(env_arg or [], "--env-arg"), import_ or []
        if out is not None:
            check_new(out)
        env = make(env_id, env_args, modules)
        begin = None if out is None else partial(RunFolder.new, out, env_id, env_args, settings, imports=modules)
    try:
        with _interruptible(), _scalars(tensorboard) as watch:
            result, folder = command.run(env, settings, begin, watch)
    except UnrealisableError as error:
        typer.echo(f"markovize: {error}", err=True)
        raise typer.Exit(NO) from None
    if json_:
        print_json(result.to_json())
    else:
        command.report(result, None if folder is None else folder.path)


@app.command(epilog="Example: markovize reproduce exp1 --preset quick --out exp1")
def reproduce(
    experiment: Annotated[
        ExperimentChoice, typer.Argument(metavar="EXPERIMENT", help="exp1, exp2, exp3 or ablation.", show_default=False)
    ],
    preset: Annotated[PresetChoice, typer.Option(help="How large; paper is as published.")] = PresetChoice.paper,
    task: Annotated[
        list[str] | None, typer.Option(help="Only this task, e.g. e; repeatable.", show_default="all")
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Trials of each task.", show_default="the preset's")] = None,
    episodes: Annotated[
        int | None, typer.Option(min=10, help="Reported episodes of a trial.", show_default="the preset's")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Trials at once.", show_default="one per core")] = None,
    executor: Annotated[ExecutorChoice, typer.Option(help="Where trials run.")] = ExecutorChoice.local,
    address: Annotated[
        str | None, typer.Option(help="Ray cluster to join.", show_default="a new one on this machine")
    ] = None,
    engine: Annotated[EngineChoice, typer.Option(help="How to solve.")] = EngineChoice.auto,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for results.", show_default="EXPERIMENT-PRESET")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on; finished trials are not run again.")] = False,
    json_: JsonOption = False,
) -> None:
    """Run one of the paper's experiments: results beside the paper's, figures, and a page with an episode player."""
    from markovize.cli import reproduce as summary
    from markovize.experiments import catalogue, run_experiment

    if address is not None and executor is not ExecutorChoice.ray:
        raise typer.BadParameter("--address is for --executor ray")
    folder = out or Path(f"{experiment.value}-{preset.value}")
    asked = catalogue.experiment(experiment.value, preset.value, seeds=seeds, episodes=episodes, engine=engine.value)
    if task:
        asked = asked.only(task)
    with _interruptible():
        finished = run_experiment(asked, folder, jobs=jobs, executor=executor.value, address=address, resume=resume)
    if json_:
        print_json(summary.to_json(asked, finished, folder))
    else:
        summary.report(asked, finished, folder)


def _scalars(folder: Path | None) -> AbstractContextManager[Callable[[RunProgress], None] | None]:
    """What writes TensorBoard scalars there, if that was asked for."""
    if folder is None:
        return nullcontext()
    from markovize.integrations.tensorboard import TensorBoardProgress

    return TensorBoardProgress(folder)


def _alone(ctx: typer.Context, *allowed: str) -> None:
    """Nothing but these options may be given."""
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name not in allowed and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"--{allowed[0]} goes alone: everything else is in the folder")


def main() -> None:
    """Runs the command line; every foreseen failure becomes one line on stderr and an exit code."""
    from markovize.errors import MarkovizeError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # arrows and odd labels must not fail where text is not UTF-8
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)
    except _UsageError as error:
        message = error.format_message()
        if not message:  # no arguments at all: the help was shown
            sys.exit(BAD)
        command = error.ctx.command_path if error.ctx is not None else "markovize"
        _fail(f"{message} (try: {command} --help)", BAD)
    except (MarkovizeError, OSError) as error:
        _fail(str(error), BAD)
    except MemoryError:
        _fail("not enough memory", BAD)
    if code == INTERRUPTED:
        _fail("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else DONE)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends the command with what the work has to say about going on."""
    try:
        yield
    except KeyboardInterrupt as error:
        _fail(str(error) or "interrupted", INTERRUPTED)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"markovize: {_one_line(message)}", err=True)
    sys.exit(code)


def _report(result: LearnResult, output: Path | None) -> None:
    from rich.markup import escape

    from markovize import describe

    if result.machine is None:
        if result.status == "unknown":
            console().print(f"[yellow]unknown:[/] nothing found within the limit; at least {_bounds(result)} needed")
        return
    out = console()
    colour = "green" if result.status == "optimal" else "yellow"
    out.print(
        f"[{colour}]{result.status}:[/] {count(result.states or 0, 'state')}, "
        f"{count(result.triggers or 0, 'trigger')} (labels {result.trigger_on}/{result.reward_on}, "
        f"{result.seconds:.2f} s, {count(result.exemplars, 'exemplar')})"
    )
    for line in describe(result.machine):
        out.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    if result.status == "optimal":
        out.print(f"Why minimal: {result.proof}", highlight=False, soft_wrap=True)
    else:
        out.print(f"Stopped early; proven so far: at least {_bounds(result)}", highlight=False)
    for conflict in result.termination_conflicts[:5]:
        out.print(f"[yellow]note:[/] {escape(str(conflict))}", highlight=False, soft_wrap=True)
    if output is not None:
        out.print(f"written to {output}", markup=False, highlight=False, soft_wrap=True)


def _bounds(result: LearnResult) -> str:
    return f"{count(result.bounds[0], 'state')}, {count(result.bounds[1], 'trigger')}"


def _read(path: Path, columns: str | None, reward_decimals: int | None) -> Traces:
    from markovize import read_episodes

    if str(path).startswith("minari:"):
        from markovize.io.episodes.minari import read_minari

        return read_minari(str(path), reward_decimals=reward_decimals)
    source = Path("/dev/stdin") if str(path) == "-" else path
    return read_episodes(source, columns=_table_columns(columns), reward_decimals=reward_decimals)


def _table_columns(columns: str | None) -> TableColumns | None:
    from markovize.io import TableColumns

    return None if columns is None else TableColumns.parse(columns)


def _check_writable(path: Path) -> None:
    """Fails before a long solve, not after it."""
    from markovize.errors import InputError

    if path.is_dir():
        raise InputError("is a folder, not a file", where=str(path))
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist", where=str(path))


def _written(path: Path, json_: bool) -> None:
    if json_:
        print_json({"written": str(path)})
    else:
        typer.echo(f"written to {path}")


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 400 else text[:397] + "..."
