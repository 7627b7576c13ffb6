"""``python -m markovize.cli.demo``: the four-state patrol of Officeworld, learned from packaged episodes.

Prints the conflicts, the triggers in plain words and what proves the machine minimal, checks that
proof as others would, and writes the machine with a picture.
Then it finds the same machine without any log, by acting, asks what the reward of that environment depends on, and
learns two more machines: in a plane, where no observation comes back, and from a log whose rewards are noisy.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gymnasium
from rich.console import Console

from markovize import (
    ActiveLearner,
    Product,
    Settings,
    check,
    check_reward,
    describe,
    draw,
    learn,
    read_episodes,
    replay,
    verify,
    write_machine,
)
from markovize.cli.demo_noise import learn_noisy
from markovize.cli.demo_plane import learn_plane
from markovize.cli.run_display import run_display
from markovize.episodes.samples import sample_path
from markovize.runs import write_run

EPISODES = 1_000


def main(folder: Path) -> None:
    """Runs the demo and writes into ``folder``."""
    say = Console(highlight=False, soft_wrap=True).print
    source = sample_path("office-e")
    traces = read_episodes(source)
    say(f"[bold]1. Logged episodes[/]: {len(traces)} walks through an office, {traces.steps:,} steps ({source.name})")
    report = check(traces)
    say(f"[bold]2. Is the reward Markov?[/] [red]No:[/] {report.conflicts} (s, a, s') paid different rewards")
    for witness in report.witnesses[:3]:
        say(f"   {witness}")
    result = learn(traces)
    machine = result.unwrap()
    say(
        f"[bold]3. The hidden triggers[/]: {machine.states} states, {len(machine.triggers)} triggers, "
        f"[green]{result.status}[/], {result.seconds:.2f} s"
    )
    for line in describe(machine):
        say(f"   {line}")
    if not any(trigger.alternatives for trigger in machine.triggers):
        say("   No other cell would serve as well: these episodes pin every trigger down")
    say(f"   Why minimal: {result.proof}")
    again = replay(machine, traces)
    say(f"[bold]4. Replayed[/]: {again.steps:,} steps, {again.mismatches} mismatches")
    folder.mkdir(parents=True, exist_ok=True)
    evidence = folder / "certificate"
    if not evidence.exists():
        result.certificate().save(evidence)
    checked = verify(evidence, source)
    answer = "[green]verified[/]" if checked.verified else f"[red]not verified:[/] {checked.reason}"
    say(
        f"   Why nothing smaller does, for others to check: {answer}, {checked.claims} claims, {checked.seconds:.2f} s "
        f"({evidence}; markovize verify)"
    )
    write_machine(folder / "machine.json", machine)
    for ending in ("svg", "png"):
        draw(folder / f"machine.{ending}", machine)
    product = Product.of(traces, machine)
    product.draw(folder / "product.png", product.value_iteration())
    names = ", ".join(str(folder / name) for name in ("machine.json", "machine.svg", "machine.png", "product.png"))
    say(f"[bold]5. Written[/]: {names}")
    act(folder / "run")
    audit()
    learn_plane(folder, say)
    learn_noisy(folder, say)


def act(folder: Path) -> None:
    """The same patrol without any log: an agent that finds the machine while it acts."""
    say = Console(highlight=False, soft_wrap=True).print
    say("[bold]6. Without a log[/]: an agent in the same office, acting, finding conflicts, learning the machine")
    env = gymnasium.make("markovize/OfficeWorld-v0", task="e")
    with run_display() as show:
        result = ActiveLearner(env, Settings.of("directed", episodes=EPISODES), on_progress=show).run()
    for solve in result.solves[:1] + result.solves[-1:]:
        say(f"   after {solve.episode} episodes: K = {solve.states}, z = {solve.triggers}, {solve.status}")
    for line in describe(result.machine):
        say(f"   {line}")
    say(
        f"   greedy return {result.greedy_return:g} of {result.optimal_return:g}, since episode "
        f"{result.episodes_to_optimal}; {len(result.solves)} machines tried in {result.solve_seconds:.1f} s"
    )
    if not folder.exists():
        write_run(folder, "markovize/OfficeWorld-v0", {"task": "e"}, result)
        say(f"   written to {folder}: machine, Q table, exemplars, learning curve")


def audit() -> None:
    """What the reward of the environment depends on, as ``markovize audit`` tells it of any."""
    say = Console(highlight=False, soft_wrap=True).print
    report = check_reward(gymnasium.make("markovize/OfficeWorld-v0", task="e"))
    say(f"[bold]7. Of any environment[/]: what does its reward depend on? {report.headline}")
    say("   Try your own: markovize audit ENV_ID, or markovize.check_reward(env)")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
