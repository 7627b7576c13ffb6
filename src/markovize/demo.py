"""``python -m markovize.demo``: the four-state patrol of Officeworld, learned from packaged episodes.

Prints the conflicts, the triggers in plain words and what proves the machine minimal, and writes it with a picture.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from markovize import Product, check, describe, draw, learn, read_episodes, replay, write_machine
from markovize.samples import sample_path


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
    write_machine(folder / "machine.json", machine)
    for ending in ("svg", "png"):
        draw(machine, folder / f"machine.{ending}")
    product = Product.of(traces, machine)
    product.draw(folder / "product.png", product.value_iteration())
    names = ", ".join(str(folder / name) for name in ("machine.json", "machine.svg", "machine.png", "product.png"))
    say(f"[bold]5. Written[/]: {names}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
