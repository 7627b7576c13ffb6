"""Wrappers for Gymnasium environments: one that makes rewards Markov again, one that records episodes.

Their counterparts for vector environments have the same names in :mod:`markovize.wrappers.vector`.
"""

from __future__ import annotations

from markovize.wrappers.counterfactual import CounterfactualTable, Experience, Experiences, counterfactual
from markovize.wrappers.markov_reward import MarkovRewardWrapper
from markovize.wrappers.observing import Observer
from markovize.wrappers.record_episodes import RecordEpisodes
from markovize.wrappers.shaping import Potential

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
