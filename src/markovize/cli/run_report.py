"""What ``markovize run`` tells at its end."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markovize.cli.terminal import console, count, screenful
from markovize.runs.folder import RunFolder, read_run, read_timings

if TYPE_CHECKING:
    from markovize.agents.tabular import RunResult
    from markovize.integrations.sb3 import TrainingResult
    from markovize.learning.all_machines import AllMachines

RECENT: Final = 100  # episodes, where a run was stopped before its policy was tried


def numbers_of(folder: RunFolder) -> dict[str, Any]:
    """What ``--json`` printed, of a run that is over."""
    return read_run(folder.path)[1] | read_timings(folder.path)


def report(result: RunResult | TrainingResult, folder: Path | None, everything: bool = False) -> None:
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
    for line in screenful(describe(machine, rewards=machine.has_guards), "trigger", everything):
        out.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    for line in _about_others(result):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    by_drawing = getattr(result.settings, "actions", "likeliest") == "drawn"  # only trainings can
    earned = f"{'return by drawn actions' if by_drawing else 'greedy return'} {result.greedy_return:g}"
    if result.greedy_interval is not None and result.greedy_interval[0] < result.greedy_interval[1]:
        earned += " (95 %: {:.4g} to {:.4g})".format(*result.greedy_interval)
    if math.isnan(result.greedy_return):
        recent = result.returns[-RECENT:]
        mean = float(recent.mean()) if len(recent) else 0.0
        earned = f"mean return {mean:g} in the last {count(len(recent), 'episode')}"
    elif result.episodes_to_optimal is not None:
        earned += f", the optimum, since episode {result.episodes_to_optimal:,}"
    elif result.optimal_return is not None:
        earned += f"; the optimum is {result.optimal_return:g}"
    out.print(f"{earned} ({count(result.episodes, 'episode')}, {result.seconds:.2f} s)", highlight=False)
    if (noise := getattr(result, "noise", None)) is not None:
        out.print(str(noise), highlight=False, soft_wrap=True)
    if result.stopped:
        out.print(f"[yellow]stopped:[/] {result.stopped}", highlight=False)
    for note in result.notes:
        out.print(f"[yellow]note:[/] {escape(note)}", highlight=False, soft_wrap=True)
    if folder is not None and result.stopped:
        out.print(f"go on with: markovize run --resume {folder}", markup=False, highlight=False, soft_wrap=True)
    if folder is not None:
        out.print(f"written to {folder}", markup=False, highlight=False, soft_wrap=True)


def _about_others(result: RunResult | TrainingResult) -> list[str]:
    """Whether other machines are as small and explain the episodes as well, where that was asked."""
    found: AllMachines | None = getattr(result, "all", None)  # trainings do not ask
    if found is None:
        return []
    if found.unique:
        since = getattr(result, "episodes_to_unique", None)
        when = "" if since is None else f" (since episode {since:,})"
        return [f"unique, proven: no other machine of this size explains the episodes{when}"]
    return [f"All of this size: {found}", *(f"  {line}" for line in found.describe())]
