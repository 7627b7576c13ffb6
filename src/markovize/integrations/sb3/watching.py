"""Episodes of a training, sub-environment by sub-environment, as Stable-Baselines3 shows their steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from markovize.episodes.open_episode import OpenEpisode
from markovize.episodes.spaces import check_space, value_of, values_of
from markovize.episodes.traces import Episode
from markovize.errors import UnsupportedError

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm


class EpisodeWatch:
    """Puts steps together to whole episodes; those whose beginning nobody saw, or with holes, are left out."""

    def __init__(self) -> None:
        self._open: list[OpenEpisode | None] = []
        self._seen_steps, self._seen = -1, None  # the training step and observations of the last call

    def start(self, model: BaseAlgorithm) -> None:
        """A training begins, or goes on."""
        env = model.get_env()
        assert env is not None
        self._spaces = env.observation_space, env.action_space
        check_space(self._spaces[0], "observation")
        check_space(self._spaces[1], "action")
        normalised = model.get_vec_normalize_env()
        if normalised is not None and normalised.norm_obs:
            raise UnsupportedError("conflicts are found in observations as they are: VecNormalize(norm_obs=False)")
        last: Any = model._last_obs
        firsts = values_of(self._spaces[0], last)
        if model.num_timesteps == 0:  # all environments were reset
            self._open = [OpenEpisode(first) for first in firsts]
        elif model.num_timesteps != self._seen_steps or last is not self._seen:
            self._open = [None] * len(firsts)  # amid episodes whose beginning nobody saw

    def end_episodes(self, model: BaseAlgorithm, step: int, seen: Mapping[str, Any]) -> Iterator[Episode]:
        """The episodes that end in this step of all sub-environments; ``seen`` are the training's local variables."""
        env, infos, dones = model.get_vec_normalize_env(), seen["infos"], seen["dones"]
        after = values_of(self._spaces[0], seen["new_obs"])
        moved = values_of(self._spaces[1], seen["actions"], "action")
        paid = seen["rewards"] if env is None else env.get_original_reward()
        if self._seen_steps >= 0 and step - self._seen_steps > len(self._open):
            self._open = [None] * len(self._open)  # called only now and then: episodes have holes
        self._seen_steps, self._seen = step, seen["new_obs"]
        for number, episode in enumerate(self._open):
            done = bool(dones[number])
            if done:
                self._open[number] = OpenEpisode(after[number])
            if episode is not None:
                target = value_of(infos[number]["terminal_observation"]) if done else after[number]
                episode.step(moved[number], shortest(paid[number]), target)
                if done:
                    cut = bool(infos[number].get("TimeLimit.truncated", False))
                    yield episode.close(terminated=not cut, truncated=cut)


def shortest(reward: Any) -> float:
    """The shortest number that is this reward: Stable-Baselines3 keeps them in single precision.

    >>> import numpy as np
    >>> float(np.float32(0.9)), shortest(np.float32(0.9))
    (0.8999999761581421, 0.9)
    """
    return float(str(reward))
