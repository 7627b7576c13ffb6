"""A callback for trainings of Stable-Baselines3 that warns once if the reward is seen not to be Markov."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markovize.auditing.labels import label_of
from markovize.auditing.rewards import RewardScale
from markovize.auditing.sources import has_floats
from markovize.episodes.values import Value, show
from markovize.errors import InputError, one_line
from markovize.extras import Missing
from markovize.integrations.sb3.watching import shortest

if TYPE_CHECKING:
    from stable_baselines3.common.callbacks import BaseCallback
else:
    try:
        from stable_baselines3.common.callbacks import BaseCallback
    except ImportError:
        BaseCallback = Missing

MOST_STEPS = 200_000  # distinct (s, a, s'), some hundred bytes each


@dataclass(frozen=True)
class Contradiction:
    """The same (s, a, s'), paid differently at two steps of a training."""

    label: tuple[Value, Value, Value]
    rewards: tuple[float, float]
    steps: tuple[int, int]

    def __str__(self) -> str:
        one, two = self.rewards
        return (
            f"{one_line(show(self.label), 120)} paid {one:.6g} at training step {self.steps[0]:,} "
            f"and {two:.6g} at step {self.steps[1]:,}"
        )


class MarkovWarningCallback(BaseCallback):
    """Warns once in a training, as soon as two equal steps (s, a, s') paid differently: the reward is not Markov.

    It compares by equal observations, so it can say something only where these come back. Continuous observations are
    not watched: ``verbose=1`` prints that, and ``markovize audit`` tests such environments by restoring states.
    Random rewards contradict each other too; ``markovize audit`` tells which it is.

    Args:
        most_steps: so many different steps are remembered.
        verbose: 1 prints why nothing is watched, where that is so.

    ``contradiction`` is None, or what the warning was about.
    """

    def __init__(self, *, most_steps: int = MOST_STEPS, verbose: int = 0) -> None:
        super().__init__(verbose)
        if most_steps < 1:
            raise InputError(f"most_steps must be at least 1, not {most_steps}")
        self.most_steps = most_steps
        self.contradiction: Contradiction | None = None
        self.unwatched = ""  # why, if it is so
        self._scale = RewardScale()
        self._paid: dict[tuple[Value, Value, Value], tuple[float, int]] = {}
        self._before: list[Value] = []
        self._last_step = 0

    def _on_training_start(self) -> None:
        env = self.model.get_env()
        assert env is not None
        normalised = self.model.get_vec_normalize_env()
        if has_floats(env.observation_space):
            self.unwatched = "observations are continuous, so that steps do not come back: run `markovize audit`"
        elif normalised is not None and normalised.norm_obs:
            self.unwatched = "observations are normalised, so that equal ones differ: VecNormalize(norm_obs=False)"
        if self.unwatched and self.verbose:
            print(f"markovize: the reward is not watched: {self.unwatched}")
        self._before = self._labels(self.model._last_obs)
        self._last_step = self.num_timesteps

    def _on_step(self) -> bool:
        if self.contradiction is None and not self.unwatched:
            self._watch(self.locals)
        return True

    def _watch(self, seen: Mapping[str, Any]) -> None:
        after, normalised = self._labels(seen["new_obs"]), self.model.get_vec_normalize_env()
        paid = seen["rewards"] if normalised is None else normalised.get_original_reward()
        whole = self.num_timesteps - self._last_step <= len(after)  # not called now and then only
        for number, start in enumerate(self._before if whole else ()):
            done, info = bool(seen["dones"][number]), seen["infos"][number]
            end = label_of(info["terminal_observation"]) if done else after[number]
            self._compare((start, label_of(seen["actions"][number]), end), shortest(paid[number]))
        self._before, self._last_step = after, self.num_timesteps

    def _compare(self, label: tuple[Value, Value, Value], reward: float) -> None:
        self._scale.see(reward)
        known = self._paid.get(label)
        if known is None:
            if len(self._paid) < self.most_steps:
                self._paid[label] = reward, self.num_timesteps
        elif self.contradiction is None and not self._scale.same(known[0], reward):
            self.contradiction = Contradiction(label, (known[0], reward), (known[1], self.num_timesteps))
            self._paid.clear()
            warnings.warn(
                f"the reward is not Markov, or random: {self.contradiction}. An agent that sees only the observation "
                "cannot learn it. `markovize audit` says what it depends on",
                UserWarning,
                stacklevel=2,
            )

    def _labels(self, observations: Any) -> list[Value]:
        if isinstance(observations, Mapping):
            size = len(next(iter(observations.values())))
            return [label_of({name: part[n] for name, part in observations.items()}) for n in range(size)]
        return [label_of(observation) for observation in observations]
