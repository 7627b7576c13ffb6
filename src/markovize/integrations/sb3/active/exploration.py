"""Episodes of random actions, for a first machine."""

from __future__ import annotations

from typing import Final

import numpy as np

from markovize.agents.tabular.stopping import Stop
from markovize.errors import InputError
from markovize.integrations.sb3.active.environments import AnyEnv

PERSISTENCE: Final = (0.0, 0.5, 0.9)
"""How likely an action is repeated, in one episode after the other: single random actions hardly get anywhere where
each moves a little, and only they do where each turns."""
MOST_STEPS: Final = 10_000


def explore(env: AnyEnv, rng: np.random.Generator, number: int, stop: Stop) -> None:
    """Plays one episode; ``number`` says the how-manyth."""
    env.reset(seed=int(rng.integers(2**31)))
    again, action = PERSISTENCE[number % len(PERSISTENCE)], None
    for _ in range(MOST_STEPS):
        stop.check()
        if action is None or rng.random() >= again:
            action = env.action_space.sample()
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return
    raise InputError(f"an episode did not end within {MOST_STEPS:,} steps; give max_steps, the longest one")
