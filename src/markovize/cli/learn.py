"""``markovize learn``: the smallest reward machine that explains episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markovize.cli import certificates, files, options
from markovize.cli.choices import (
    AUTO_AUDIT,
    AUTO_ENGINE,
    AuditChoice,
    EngineChoice,
    ExplainChoice,
    Objective,
)
from markovize.cli.exits import DONE, INTERRUPTED, NO, STOPPED
from markovize.cli.groups import with_groups
from markovize.cli.logs import PLAIN, Log
from markovize.cli.replay import report_replay
from markovize.cli.terminal import console, count, print_json, screenful
from markovize.episodes.labelling import AUTO

if TYPE_CHECKING:
    from markovize.episodes.stream import SomeEpisodes
    from markovize.episodes.traces import Traces
    from markovize.learning.result import LearnResult
    from markovize.machine.replay import ReplayReport

FUNCTIONS = "MODULE:FUNCTION: what a function of (state, action, next_state) returns; looked up here first."
AUTO_RULE = "auto: the coarsest that do; where their machine has more than 8 states, those with the smallest."
GUARDS_RULE = "guards: conditions on features of the observations, found by the learner."
EXAMPLE = "markovize learn episodes.jsonl -o machine.json --acyclic"


@with_groups
def learn(
    episodes: options.EpisodesArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the machine.", show_default=False)
    ] = None,
    objective: Annotated[Objective, typer.Option(help="What to minimise first.")] = Objective.triggers,
    trigger_on: Annotated[
        str, options.label_option(f"What moves the machine. {AUTO_RULE} {GUARDS_RULE} {FUNCTIONS}", guards=True)
    ] = AUTO,
    reward_on: Annotated[
        str, options.label_option("What selects the reward. auto, functions: as above.", guards=True)
    ] = AUTO,
    explain: Annotated[ExplainChoice, typer.Option(help="What must be explained.")] = ExplainChoice.reward,
    acyclic: Annotated[bool, typer.Option("--acyclic", help="Never return to a state once left.")] = False,
    engine: Annotated[EngineChoice, typer.Option(help="How to solve.")] = AUTO_ENGINE,
    audit: Annotated[
        AuditChoice, typer.Option(help="Another engine that must confirm every proof; auto: for engines not ours.")
    ] = AUTO_AUDIT,
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="Stop after this many seconds.", show_default=False)
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            help="Learn without this share of the episodes, drawn at random, and replay the machine on them.",
            metavar="SHARE",
            show_default=False,
        ),
    ] = None,
    count_steps: Annotated[
        bool, typer.Option("--count-steps", help="Learn a machine also where the reward is one of time.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Which episodes --holdout draws.")] = 0,
    features: Annotated[str | None, options.features_option("A function that adds features for guards.")] = None,
    numeric: Annotated[str | None, options.names_option("Features whose guards are thresholds.")] = None,
    categorical: Annotated[str | None, options.names_option("Features whose guards are single values.")] = None,
    before: Annotated[
        bool | None,
        typer.Option(
            "--before/--no-before",
            help="Guards over the state before the step, too.",
            show_default="where the others do not do",
        ),
    ] = None,
    tolerance: Annotated[
        str,
        options.allowance_option(
            "How far a reward may be from the level of its (u, label, u'). auto: what is shortest to describe.", "E"
        ),
    ] = "0",
    outliers: Annotated[
        str, options.allowance_option("How many steps may pay something else. auto: likewise.", "N")
    ] = "0",
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write evidence that `markovize verify` and others can check.", show_default=False
        ),
    ] = None,
    reward_decimals: options.DecimalsOption = None,
    everything: options.AllOption = False,
    json_: options.JsonOption = False,
    log: Log = PLAIN,
) -> None:
    """Find the smallest reward machine that explains every reward, and prove that it is the smallest."""
    import markovize
    from markovize.cli.learn_display import progress_display
    from markovize.learning.interrupts import interruptible

    if output is not None:
        files.check_machine_output(output, episodes)
    if certificate is not None:
        certificates.check(certificate, holdout)
    traces = log.read(episodes, reward_decimals)
    held_out: Traces | SomeEpisodes | None = None
    if holdout is not None:
        traces, held_out = traces.split(holdout, seed)
    with interruptible() as interrupt:
        with progress_display() as show:
            result = markovize.learn(
                traces,
                objective=objective.value,
                trigger_on=trigger_on,
                reward_on=reward_on,
                explain=explain.value,
                acyclic=acyclic,
                engine=engine.value,
                audit=audit.value,
                time_limit=time_limit,
                on_progress=show,
                count_steps=count_steps,
                features=features,
                numeric=options.split_names(numeric),
                categorical=options.split_names(categorical),
                before=AUTO if before is None else before,
                tolerance="auto" if tolerance == AUTO else float(tolerance),
                outliers="auto" if outliers == AUTO else options.whole_number(outliers, "--outliers"),
            )
        if result.machine is not None and output is not None:
            markovize.write_machine(output, result.machine, format="json")
        made = None
        if certificate is not None and result.status == "optimal":
            made = certificates.write(result, certificate, lambda: log.read_whole(episodes, reward_decimals))
        tried = None
        if held_out is not None and result.machine is not None:
            own = options.functions_for(result.machine, trigger_on, reward_on)
            allowed = 0.0 if result.noise is None else result.noise.tolerance
            tried = markovize.replay(result.machine, held_out, features=features, tolerance=allowed, **own)
        if json_:
            more = {} if held_out is None else {"holdout": _holdout(held_out, tried)}
            print_json(result.to_json() | more | ({} if made is None else {"certificate": made}))
        else:
            _report(result, output, everything)
            if made is not None:
                console().print(f"certificate with {count(made['claims'], 'claim')} in {certificate}", soft_wrap=True)
            if tried is not None and held_out is not None:
                report_replay(console(), tried, f" of {count(len(held_out), 'episode')} held out")
        if result.status == "unrealisable":
            typer.echo(f"markovize: {result.contradiction}", err=True)
        if result.time is not None:
            typer.echo(f"markovize: {result.time}. {result.time.advice}; --count-steps learns all the same", err=True)
        if certificate is not None and made is None:
            typer.echo(f"markovize: not certified: the machine is not proven ({result.status})", err=True)
        code = NO if result.time is not None else {"optimal": DONE, "unrealisable": NO}.get(result.status, STOPPED)
        raise typer.Exit(INTERRUPTED if result.interrupted or interrupt.requested else code)


def _holdout(held_out: Traces | SomeEpisodes, tried: ReplayReport | None) -> dict[str, Any]:
    return {"episodes": len(held_out), **({} if tried is None else tried.to_json())}


def _report(result: LearnResult, output: Path | None, everything: bool) -> None:
    from rich.markup import escape

    from markovize import describe
    from markovize.machine.describe import describe_gaps

    out = console()
    if result.machine is None:
        if result.status == "unknown" and result.time is None:
            out.print(f"[yellow]unknown:[/] nothing found within the limit; at least {_bounds(result)} needed")
            _print_remarks(result)
        return
    colour = "green" if result.status == "optimal" else "yellow"
    out.print(
        f"[{colour}]{result.status}:[/] {count(result.states or 0, 'state')}, "
        f"{count(result.triggers or 0, 'trigger')}{_guards(result)} (labels {result.trigger_on}/{result.reward_on}, "
        f"{result.seconds:.2f} s, {count(result.exemplars, 'exemplar')})",
        soft_wrap=result.guards is not None,  # with guards it is longer than a line
    )
    if result.compared:
        out.print(f"Labels {result.why_these_labels()}", highlight=False, soft_wrap=True)
    with_guards = result.machine.has_guards
    lines = [f"  {line}" for line in screenful(describe(result.machine, rewards=with_guards), "trigger", everything)]
    for number, support in enumerate(result.support[: len(lines)]):
        if not lines[number].startswith("  …"):
            lines[number] += f"; {support}"
    if lines:  # all at once: there may be thousands
        out.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    gaps = describe_gaps(result.machine)
    if gaps:
        out.print("Gaps that the data leave: " + "; ".join(gaps), markup=False, highlight=False, soft_wrap=True)
    if result.status == "optimal":
        out.print(f"Why minimal: {result.proof}", highlight=False, soft_wrap=True)
    else:
        out.print(f"Stopped early; proven so far: at least {_bounds(result)}", highlight=False)
    _print_noise(result, everything)
    _print_remarks(result)
    if result.doubt:
        out.print(f"[yellow]note:[/] {result.doubt}", highlight=False, soft_wrap=True)
    for conflict in result.termination_conflicts[:5]:
        out.print(f"[yellow]note:[/] {escape(str(conflict))}", highlight=False, soft_wrap=True)
    if output is not None:
        out.print(f"written to {output}", markup=False, highlight=False, soft_wrap=True)


def _print_remarks(result: LearnResult) -> None:
    from rich.markup import escape

    for remark in result.remarks:
        console().print(f"[yellow]note:[/] {escape(remark)}", highlight=False, soft_wrap=True)


def _print_noise(result: LearnResult, everything: bool) -> None:
    """What was allowed for, which steps are outliers, and what else was compared."""
    noise, out = result.noise, console()
    if noise is None:
        return
    if noise.tolerance or noise.allowed:
        allowed = [f"a tolerance of {noise.tolerance:g}"] if noise.tolerance else []
        allowed += [count(len(noise.outliers), "outlier")] if noise.allowed else []
        out.print(
            f"With {' and '.join(allowed)}:" if noise.outliers else f"With {' and '.join(allowed)}", highlight=False
        )
        lines = [f"  {line}" for line in screenful([str(each) for each in noise.outliers], "outlier", everything)]
        if lines:
            out.print("\n".join(lines), markup=False, highlight=False)
    if noise.front:
        clear = "" if noise.margin is None else f" (by {noise.margin:.0f} bits)"
        out.print(f"Allowances that were compared; the shortest description is taken{clear}:", highlight=False)
        taken = noise.tolerance, len(noise.outliers)
        lines = [f"{'→' if (c.tolerance, c.outliers) == taken else ' '} {c}" for c in noise.front]
        out.print("\n".join(f"  {line}" for line in lines), markup=False, highlight=False)


def _guards(result: LearnResult) -> str:
    if result.guards is None or result.literals is None:
        return ""
    return f", {count(result.guards, 'guard')}, {count(result.literals, 'literal')}"


def _bounds(result: LearnResult) -> str:
    if result.guard_bounds is not None:
        guards, literals = result.guard_bounds
        return count(guards, "guard") + (f", {count(literals, 'literal')}" if literals else "")
    return f"{count(result.bounds[0], 'state')}, {count(result.bounds[1], 'trigger')}"
