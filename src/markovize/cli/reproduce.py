"""``markovize reproduce``: the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markovize.cli import files
from markovize.cli.choices import AUTO_ENGINE, EngineChoice, ExecutorChoice, ExperimentChoice, PresetChoice
from markovize.cli.exits import saying_how_to_go_on
from markovize.cli.options import AddressOption, JsonOption
from markovize.cli.terminal import print_json

*FIRST, LAST = (choice.value for choice in ExperimentChoice)
KNOWN = f"{', '.join(FIRST)} or {LAST}"
EXAMPLE = "markovize reproduce exp1 --preset quick --out exp1"


def reproduce(
    experiment: Annotated[ExperimentChoice, typer.Argument(metavar="EXPERIMENT", help=f"{KNOWN}.", show_default=False)],
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
    address: AddressOption = None,
    engine: Annotated[EngineChoice, typer.Option(help="How to solve.")] = AUTO_ENGINE,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for results.", show_default="EXPERIMENT-PRESET")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on; finished trials are not run again.")] = False,
    json_: JsonOption = False,
) -> None:
    """Run one of the paper's experiments: results beside the paper's, figures, and a page with an episode player."""
    from markovize.cli import reproduce_report
    from markovize.experiments import catalogue, run_experiment

    files.check_address(executor, address)
    folder = out or Path(f"{experiment.value}-{preset.value}")
    asked = catalogue.experiment(experiment.value, preset.value, seeds=seeds, episodes=episodes, engine=engine.value)
    if task:
        asked = asked.only(task)
    with saying_how_to_go_on():
        finished = run_experiment(asked, folder, jobs=jobs, executor=executor.value, address=address, resume=resume)
    if json_:
        print_json(reproduce_report.to_json(asked, finished, folder))
    else:
        reproduce_report.report(asked, finished, folder)
