"""What ``markovize run`` does: make an environment, run or go on, and tell what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markovize.cli.terminal import console, count
from markovize.errors import InputError, UnrealisableError
from markovize.runs.folder import TIMINGS, RunFolder, read_run

if TYPE_CHECKING:
    import gymnasium

    from markovize.agents.tabular import RunProgress, RunResult, Settings


def run(
    env: gymnasium.Env[Any, Any],
    settings: Settings,
    begin: Callable[[], RunFolder] | None = None,
    watch: Callable[[RunProgress], None] | None = None,
) -> tuple[RunResult, RunFolder | None]:
    """Runs with a live display; in a folder, from its last checkpoint to its last file.

    ``begin`` gives the folder once the environment is known to be fit; ``watch`` is told what the display is told.
    """
    from markovize.agents.tabular import ActiveLearner
    from markovize.cli.run_display import run_display

    folder: RunFolder | None = None
    try:
        with run_display() as show:
            watching = [tell for tell in (show, watch) if tell is not None]
            learner = ActiveLearner(env, settings, on_progress=partial(_tell_all, watching) if watching else None)
            if begin is not None:
                folder = begin()
                learner.on_checkpoint = folder.checkpoint
                folder.restore(learner)
            result = learner.run()
        if folder is not None:
            folder.finish(result)
        return result, folder
    except UnrealisableError:
        if folder is not None:  # the episodes that the error names are for the user to look at
            folder.show(learner.so_far())
        raise
    except KeyboardInterrupt:
        if folder is None:
            raise
        raise KeyboardInterrupt(f"interrupted; go on with: markovize run --resume {folder.path}") from None
    finally:
        env.close()


def _tell_all(watching: Sequence[Callable[[RunProgress], None]], progress: RunProgress) -> None:
    for tell in watching:
        tell(progress)


def numbers_of(folder: RunFolder) -> dict[str, Any]:
    """What ``--json`` printed, of a run that is over."""
    timings = json.loads((folder.path / "timings.json").read_text())
    return read_run(folder.path)[1] | {name: timings[name] for name in TIMINGS}


def named_values(pairs: Sequence[str], option: str) -> dict[str, Any]:
    """Names and values; what is not JSON is text.

    >>> named_values(["task=c", "levels=3", "sizes=[1, 2]", "x=NaN"], "--env-arg")
    {'task': 'c', 'levels': 3, 'sizes': [1, 2], 'x': 'NaN'}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (equals and name.isidentifier()):
            raise InputError(f"{option} must look like name=value, not {pair!r}")
        if name in values:
            raise InputError(f"{option} {name} is given twice")
        try:
            values[name] = json.loads(text)
            json.dumps(values[name], allow_nan=False)
        except (ValueError, RecursionError):
            values[name] = text
    return values


def report(result: RunResult, folder: Path | None) -> None:
    """The machine in words, what the policy earns, and where all of it is."""
    from rich.markup import escape

    from markovize.machine.describe import describe

    out, machine = console(), result.machine
    colour = "green" if result.status == "optimal" else "yellow"
    out.print(
        f"[{colour}]{result.status}:[/] {count(machine.states, 'state')}, {count(len(machine.triggers), 'trigger')} "
        f"(labels {machine.trigger_on}/{machine.reward_on}, {count(result.exemplars, 'exemplar')}, "
        f"solved in {result.solve_seconds:.2f} s)",
        soft_wrap=True,
    )
    for line in describe(machine):
        out.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    earned = f"greedy return {result.greedy_return:g}"
    if result.episodes_to_optimal is not None:
        earned += f", the optimum, since episode {result.episodes_to_optimal:,}"
    elif result.optimal_return is not None:
        earned += f"; the optimum is {result.optimal_return:g}"
    out.print(f"{earned} ({count(result.episodes, 'episode')}, {result.seconds:.2f} s)", highlight=False)
    for note in result.notes:
        out.print(f"[yellow]note:[/] {escape(note)}", highlight=False, soft_wrap=True)
    if folder is not None:
        out.print(f"written to {folder}", markup=False, highlight=False, soft_wrap=True)
