"""What the wrappers for vector environments share: when environments reset, and what they end with."""

from __future__ import annotations

import numpy as np
from gymnasium.vector import AutoresetMode

from markovize.episodes.record import Record
from markovize.episodes.spaces import value_of
from markovize.episodes.traces import Bools
from markovize.episodes.values import Value
from markovize.errors import InputError, UnsupportedError
from markovize.gym.aliases import AnyVectorEnv, Info, Observation, Seeds


def autoreset_mode(env: AnyVectorEnv) -> AutoresetMode:
    """When a vector environment resets, which it must say."""
    mode = env.metadata.get("autoreset_mode")
    if mode is None:
        raise UnsupportedError(
            "this vector environment does not say when it resets; set its metadata['autoreset_mode'] to a "
            "gymnasium.vector.AutoresetMode"
        )
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise UnsupportedError(f"{mode!r} is not one of Gymnasium's autoreset modes") from None


def reset_some(env: AnyVectorEnv, seed: Seeds, options: Info | None) -> tuple[Observation, Info, Bools]:
    """Resets; also tells which environments were reset."""
    mask: Bools = np.ones(env.num_envs, np.bool_)
    if options is not None:
        chosen = options.get("reset_mask")
        if isinstance(chosen, np.ndarray) and chosen.shape == mask.shape:  # the environment itself refuses others
            mask = chosen.astype(np.bool_)
        options = dict(options)  # environments take the mask out, but wrappers around this one want it too
    observations, infos = env.reset(seed=seed, options=options)
    return observations, checked_infos(infos), mask


def last_values(values: list[Value], ended: Bools, infos: Info) -> list[Value]:
    """Mode SAME_STEP: the observations that the steps led to, before any reset."""
    if not ended.any():
        return values
    lasts = checked_infos(infos).get("final_obs")
    if lasts is None:
        raise InputError("an episode ended in mode SAME_STEP, but info has no final_obs")
    return [
        value_of(lasts[i], objects=isinstance(value, Record)) if ended[i] else value for i, value in enumerate(values)
    ]


def checked_infos(infos: object) -> Info:
    """The infos, if they are a dict of arrays."""
    if not isinstance(infos, dict):
        raise UnsupportedError("infos must be a dict of arrays; put DictInfoToList around this wrapper, not within")
    return infos
