"""The part of the demo with noise: a log that no machine explains as it is, and the allowance that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from markovize import Traces, describe, learn
from markovize.episodes.allowance import show_tolerance
from markovize.pictures.front import draw_front
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

WALKS: Final = 250
WRONG: Final = 5
SHAKEN: Final = 0.1
SHOWN: Final = 2  # of the outliers


def spoil_rewards(clean: Traces, rng: np.random.Generator) -> tuple[Traces, set[int]]:
    """The episodes with some rewards lost or made up, and all of them measured with an error; which steps are wrong.

    >>> clean = Traces.of([(["x"] * 9, [0] * 8, [0] * 8)])
    >>> noisy, wrong = spoil_rewards(clean, np.random.default_rng(0))
    >>> len(wrong), bool(np.ptp(noisy.rewards) > 0.9)
    (5, True)
    """
    rewards = clean.rewards.copy()
    wrong = rng.choice(clean.steps, WRONG, replace=False)
    rewards[wrong] = 1 - rewards[wrong]
    return replace(clean, rewards=rewards + rng.uniform(-SHAKEN, SHAKEN, clean.steps)), set(wrong.tolist())


def learn_noisy(folder: Path, say: Callable[[str], None]) -> None:
    """Learns the machine of such episodes, names what is wrong in them, and draws what was compared."""
    rng = np.random.default_rng(4)
    clean = noisy_walks(world("office", task="c"), WALKS, rng)
    noisy, wrong = spoil_rewards(clean, rng)
    say(
        f"[bold]9. With noise[/]: {noisy.steps:,} steps, each reward measured with an error of up to {SHAKEN:g}, and "
        f"{WRONG} of them wrong; how much of it is noise?"
    )
    result = learn(noisy, trigger_on="state", reward_on="state", tolerance="auto", outliers="auto")
    noise = result.noise
    assert noise is not None
    for line in describe(result.unwrap()):
        say(f"   {line}")
    say("   The truth: the mail at (7, 4) is to be fetched first")
    say(
        f"   [green]{result.status}[/] with a tolerance of {show_tolerance(noise.tolerance)} and "
        f"{len(noise.outliers)} outliers, chosen among {len(noise.front)} allowances; {result.seconds:.1f} s"
    )
    found = {int(noisy.offsets[each.episode]) + each.step for each in noise.outliers}
    for outlier in noise.outliers[:SHOWN]:
        say(f"   {outlier}")
    say(f"   … {len(found & wrong)} of the {WRONG} wrong rewards are found, {len(found - wrong)} others are blamed")
    (folder / "front.png").write_bytes(draw_front(noise.front, noise.taken))
    say(f"   written: {folder / 'front.png'}, all that was compared")
