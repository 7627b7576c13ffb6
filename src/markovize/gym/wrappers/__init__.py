"""Wrappers for Gymnasium environments: one that makes rewards Markov again, one that records episodes.

Their counterparts for vector environments have the same names in :mod:`markovize.gym.wrappers.vector`.
"""

from __future__ import annotations

from markovize.gym.wrappers.counterfactual import CounterfactualTable, Experience, Experiences, counterfactual
from markovize.gym.wrappers.markov_reward import MarkovRewardWrapper
from markovize.gym.wrappers.observer import Observer
from markovize.gym.wrappers.record_episodes import RecordEpisodes
from markovize.gym.wrappers.shaping import Potential

__all__ = [
    "CounterfactualTable",
    "Experience",
    "Experiences",
    "MarkovRewardWrapper",
    "Observer",
    "Potential",
    "RecordEpisodes",
    "counterfactual",
]
