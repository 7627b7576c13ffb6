"""``markovize learn``: the smallest reward machine that explains episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markovize.cli import certificates, files, options
from markovize.cli.all_option import AllMachinesOption, name_of_other, what_of_all, write_others
from markovize.cli.choices import (
    AUTO_AUDIT,
    AUTO_ENGINE,
    AuditChoice,
    EngineChoice,
    ExplainChoice,
    Objective,
    RewardChoice,
)
from markovize.cli.exits import BAD, DONE, INTERRUPTED, NO, STOPPED
from markovize.cli.groups import with_groups
from markovize.cli.logs import PLAIN, Log
from markovize.cli.replay import report_replay
from markovize.cli.terminal import console, count, print_json, screenful
from markovize.episodes.allowance import show_tolerance
from markovize.episodes.labelling import AUTO
from markovize.errors import UnsupportedError

if TYPE_CHECKING:
    from markovize.episodes.stream import SomeEpisodes
    from markovize.episodes.traces import Traces
    from markovize.learning.random_rewards.chance import Chance
    from markovize.learning.result import LearnResult, Noise
    from markovize.machine.replay import ReplayReport

MOST_COMPARED = 12  # allowances on the screen
FUNCTIONS = "MODULE:FUNCTION: what a function of (state, action, next_state) returns; looked up here first."
AUTO_RULE = "auto: the coarsest that do; where their machine has more than 8 states, those with the smallest."
GUARDS_RULE = "guards: conditions on features of the observations, found by the learner."
EXAMPLE = "markovize learn episodes.jsonl -o machine.json --acyclic"
EXAMPLE_OF_ALL = "markovize learn episodes.jsonl -o machine.json --all 10"


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
    cores: Annotated[
        int | None,
        typer.Option(min=1, help="Cores for long proofs; the machine is the same. [default: all]", show_default=False),
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
    front: Annotated[
        Path | None,
        typer.Option(help="With an allowance of auto: draw what was compared, as .png or .svg.", show_default=False),
    ] = None,
    reward: Annotated[
        RewardChoice, typer.Option(help="random: each (u, label, u') has a distribution; nothing is proven then.")
    ] = RewardChoice.exact,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="With --reward random: the probability of a machine that is larger than the truth.",
            show_default="0.01",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write evidence that `markovize verify` and others can check.", show_default=False
        ),
    ] = None,
    reward_decimals: options.DecimalsOption = None,
    all_: AllMachinesOption = None,
    json_: options.JsonOption = False,
    log: Log = PLAIN,
) -> None:
    """Find the smallest reward machine that explains every reward, and prove that it is the smallest."""
    import markovize
    from markovize.cli.learn_display import progress_display
    from markovize.learning.interrupts import interruptible
    from markovize.pictures.front import draw_front

    everything, most = what_of_all(all_)
    if output is not None:
        files.check_machine_output(output, episodes)
    if front is not None:
        _check_front(front, tolerance, outliers)
    if certificate is not None:
        certificates.check(certificate, holdout, exact=reward.value == "exact")
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
                reward=reward.value,
                alpha=alpha,
                all=most,
                features=features,
                numeric=options.split_names(numeric),
                categorical=options.split_names(categorical),
                before=AUTO if before is None else before,
                tolerance="auto" if tolerance == AUTO else float(tolerance),
                outliers="auto" if outliers == AUTO else options.whole_number(outliers, "--outliers"),
                cores=cores,
            )
        if result.machine is not None and output is not None:
            markovize.write_machine(output, result.machine, format="json")
            write_others(result, output)
        if front is not None and result.noise is not None and result.noise.front:
            front.write_bytes(draw_front(result.noise.front, result.noise.taken, kind=front.suffix[1:]))
        made, refusal = None, ""
        if certificate is not None and result.status == "optimal":
            try:
                made = certificates.write(result, certificate, lambda: log.read_whole(episodes, reward_decimals))
            except UnsupportedError as error:  # what was learned is told all the same
                refusal = str(error)
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
            why = refusal or f"not certified: the machine is not proven ({result.status})"
            typer.echo(f"markovize: {why}", err=True)
        code = NO if result.time is not None else {"optimal": DONE, "unrealisable": NO}.get(result.status, STOPPED)
        if result.chance is not None and not result.chance.stopped:
            code = DONE  # nothing was left open that could be proven
        if (result.all is not None and result.all.stopped) or (result.noise is not None and result.noise.stopped):
            code = STOPPED
        if refusal:
            code = BAD
        raise typer.Exit(INTERRUPTED if result.interrupted or interrupt.requested else code)


def _check_front(path: Path, *allowances: str) -> None:
    """Fails before a long search, not after it."""
    from markovize.errors import InputError
    from markovize.pictures.curves import KINDS

    files.check_writable(path)
    if path.suffix[1:] not in KINDS:
        raise InputError("is no name for this picture; it is a .png or .svg file", where=str(path))
    if AUTO not in allowances:
        raise typer.BadParameter("--front is for --tolerance auto or --outliers auto: nothing is compared otherwise")


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
    if result.chance is not None:
        _print_chance(result.chance)
    elif result.status == "optimal":
        out.print(f"Why minimal: {result.proof}", highlight=False, soft_wrap=True)
    else:
        out.print(f"Stopped early; proven so far: at least {_bounds(result)}", highlight=False)
    if result.all is not None:
        out.print(f"All of this size: {result.all}", highlight=False, soft_wrap=True)
        for line in result.all.describe():
            out.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    _print_noise(result, everything)
    _print_remarks(result)
    if result.doubt:
        out.print(f"[yellow]note:[/] {result.doubt}", highlight=False, soft_wrap=True)
    for conflict in result.termination_conflicts[:5]:
        out.print(f"[yellow]note:[/] {escape(str(conflict))}", highlight=False, soft_wrap=True)
    if output is not None:
        several = result.all is not None and len(result.all.machines) > 1
        others = f", the others to {name_of_other(output, 2).name} and so on" if several else ""
        out.print(f"written to {output}{others}", markup=False, highlight=False, soft_wrap=True)


def _print_remarks(result: LearnResult) -> None:
    from rich.markup import escape

    for remark in result.remarks:
        console().print(f"[yellow]note:[/] {escape(remark)}", highlight=False, soft_wrap=True)


def _print_chance(chance: Chance) -> None:
    """What speaks for a machine where rewards are random, and what does not."""
    out = console()
    told = "Rewards are random: no lower bound is claimed, and a larger machine is taken only if its likelihood ratio"
    told += f", corrected for all machines of its size, is at least 10^{chance.needed:g} to 1 (alpha {chance.alpha:g})"
    out.print(f"{told}; compared{' until the limit' if chance.stopped else ''}:", highlight=False, soft_wrap=True)
    taken = max((n for n, each in enumerate(chance.compared) if each.significant), default=-1)
    lines = [f"  {'→' if n == taken else ' '} {each}" for n, each in enumerate(chance.compared)]
    out.print("\n".join(lines or ["  nothing: no label paid different rewards"]), markup=False, highlight=False)


def _print_noise(result: LearnResult, everything: bool) -> None:
    """What was allowed for, which steps are outliers, and what else was compared."""
    noise, out = result.noise, console()
    if noise is None:
        return
    if noise.tolerance or noise.allowed:
        allowed = [f"a tolerance of {show_tolerance(noise.tolerance)}"] if noise.tolerance else []
        fewer = f" of {noise.allowed} allowed" if len(noise.outliers) < noise.allowed else ""
        allowed += [count(len(noise.outliers), "outlier") + fewer] if noise.allowed else []
        out.print(
            f"With {' and '.join(allowed)}:" if noise.outliers else f"With {' and '.join(allowed)}", highlight=False
        )
        lines = [f"  {line}" for line in screenful([str(each) for each in noise.outliers], "outlier", everything)]
        if lines:
            out.print("\n".join(lines), markup=False, highlight=False)
    if noise.front:
        out.print(f"Allowances that were compared; {_why_taken(noise)}:", highlight=False, soft_wrap=True)
        most = max(sorted(choice.bits for choice in noise.front)[:MOST_COMPARED])
        marked = [((c.tolerance, c.outliers) == noise.taken, c) for c in noise.front]
        lines = [
            f"{'→' if is_taken else ' '} {c}" for is_taken, c in marked if everything or is_taken or c.bits <= most
        ]
        if len(lines) < len(noise.front):
            lines.append(f"  and {count(len(noise.front) - len(lines), 'longer one')} (--all shows them)")
        out.print("\n".join(f"  {line}" for line in lines), markup=False, highlight=False, soft_wrap=True)


def _why_taken(noise: Noise) -> str:
    """By how much the description is the shortest; or how much less than needed an allowance would save."""
    from markovize.learning.noise import CLEAR

    margin, shortest = noise.margin, min(noise.front, key=lambda each: each.bits)
    if noise.stopped and noise.taken == (0.0, 0) and (shortest.tolerance, shortest.outliers) != noise.taken:
        return "it is not settled whether there is any noise, and rewards are taken as they are"
    if margin is not None and margin < 0:
        saved = f"here it saves {-margin:.0f}"
        return f"rewards are taken as they are unless an allowance saves more than {CLEAR:.0f} bits, and {saved}"
    bits = "" if margin is None else f" (by {margin:.0f} bit{'' if round(margin) == 1 else 's'})"
    return f"the shortest description is taken{bits}"


def _guards(result: LearnResult) -> str:
    if result.guards is None or result.literals is None:
        return ""
    return f", {count(result.guards, 'guard')}, {count(result.literals, 'literal')}"


def _bounds(result: LearnResult) -> str:
    if result.guard_bounds is not None:
        guards, literals = result.guard_bounds
        return count(guards, "guard") + (f", {count(literals, 'literal')}" if literals else "")
    return f"{count(result.bounds[0], 'state')}, {count(result.bounds[1], 'trigger')}"
