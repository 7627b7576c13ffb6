"""The part of the demo without labels: a point in a plane, and the regions that move the machine behind its reward."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from markovize import Traces, describe, draw, learn, write_machine

WALKS: Final = 150
STEPS: Final = 60
STRIDE: Final = 1.2


def walk_in_plane(rng: np.random.Generator) -> tuple[list[dict[str, float]], list[str], list[float], bool]:
    """A random walk; coffee is in one corner of the square, and the office in another pays whoever has some.

    >>> seen, actions, rewards, ended = walk_in_plane(np.random.default_rng(0))
    >>> sorted(seen[0]), set(actions), set(rewards) <= {0.0, 1.0}
    (['x', 'y'], {'walk'}, True)
    """
    at, has_coffee = rng.uniform(0, 10, 2), False
    seen: list[dict[str, float]] = [{"x": float(at[0]), "y": float(at[1])}]
    rewards: list[float] = []
    while len(rewards) < STEPS and not any(rewards[-1:]):
        at = np.clip(at + rng.normal(0, STRIDE, 2), 0, 10)
        x, y = at.tolist()
        has_coffee = has_coffee or (x < 3 and y >= 7)
        seen.append({"x": x, "y": y})
        rewards.append(float(has_coffee and x >= 7 and y < 3))
    return seen, ["walk"] * len(rewards), rewards, bool(rewards[-1])


def learn_plane(folder: Path, say: Callable[[str], None]) -> None:
    """Learns the machine of such walks, says its guards and draws it."""
    rng = np.random.default_rng(0)
    traces = Traces.of([walk_in_plane(rng) for _ in range(WALKS)])
    say(
        f"[bold]8. Without labels[/]: {len(traces)} walks in a plane, {traces.steps:,} positions, no two alike; "
        "which regions matter?"
    )
    result = learn(traces, trigger_on="guards")
    machine = result.unwrap()
    for line in describe(machine, rewards=True):
        say(f"   {line}")
    say(f"   [green]{result.status}[/]: {result.guards} guards, {result.literals} literals, {result.seconds:.2f} s")
    say("   The truth: coffee where x < 3 and y ≥ 7, the office where x ≥ 7 and y < 3")
    write_machine(folder / "plane.json", machine)
    draw(folder / "plane.png", machine)
    say(f"   written: {folder / 'plane.json'}, {folder / 'plane.png'}")
