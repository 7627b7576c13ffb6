"""Gymnasium's types where no more is known: what observations and infos hold is each environment's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium as gym
from gymnasium.vector import VectorEnv, VectorWrapper

Observation: TypeAlias = Any
Info: TypeAlias = dict[str, Any]
Seeds: TypeAlias = Any  # an integer, or a list of one for each environment, which VectorEnv does not say
SingleEnv: TypeAlias = gym.Env[Any, Any]
SingleWrapper: TypeAlias = gym.Wrapper[Any, Any, Any, Any]

if TYPE_CHECKING:
    AnyVectorEnv: TypeAlias = VectorEnv[Any, Any, Any]
    AnyVectorWrapper: TypeAlias = VectorWrapper[Any, Any, Any, Any, Any]
else:  # Gymnasium 1.1 has no parameters for these
    AnyVectorEnv, AnyVectorWrapper = VectorEnv, VectorWrapper
