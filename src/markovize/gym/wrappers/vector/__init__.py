"""The wrappers for vector environments, under the same names, right in each of Gymnasium's autoreset modes.

``NEXT_STEP``: the step after an episode's end is a reset in disguise; it moves no machine and is in no episode.
``SAME_STEP``: the observation after an episode's end is the next episode's first; the last one is in ``final_obs``.
``DISABLED``: the program resets, all environments or those in ``options["reset_mask"]``.
"""

from __future__ import annotations

from markovize.gym.wrappers.vector.markov_reward import MarkovRewardWrapper
from markovize.gym.wrappers.vector.record_episodes import RecordEpisodes

__all__ = ["MarkovRewardWrapper", "RecordEpisodes"]
