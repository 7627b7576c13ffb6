"""For tests of environments: is the reward Markov?"""

from __future__ import annotations

from typing import Any

from markovize.auditing.audit import SECONDS, STEPS, check_reward
from markovize.auditing.report import RewardReport


def assert_reward_markov(
    env: Any, *, seed: int = 0, seconds: float = SECONDS, steps: int = STEPS, allow_noise: bool = False
) -> RewardReport:
    """Fails, with the witness, unless the reward is Markov; what cannot be tested fails as well.

    Takes what :func:`markovize.check_reward` takes, and gives its report. ``allow_noise`` is for rewards that are meant
    to be random.

    >>> import gymnasium
    >>> assert_reward_markov(gymnasium.make("FrozenLake-v1"), steps=2_000).signature
    ('next_state',)
    """
    report = check_reward(env, seed=seed, seconds=seconds, steps=steps)
    if report.markov or (allow_noise and report.verdict == "noise"):
        return report
    lines = [report.headline, *([] if report.witness is None else [f"witness: {report.witness}"]), report.advice]
    raise AssertionError("\n".join(lines))
