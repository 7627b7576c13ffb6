"""Steps that are resets in disguise: what Gymnasium's ``Autoreset`` makes of the step after an episode's end."""

from __future__ import annotations

import gymnasium as gym
from gymnasium.wrappers import Autoreset

from markovize.gym.aliases import SingleEnv


class Resets:
    """Tells whether an environment's next step will be a reset.

    ``Autoreset`` within is asked itself, since a wrapper around it may end episodes that it knows nothing of. Without
    one, a step after an end can only work because the environment has started anew by other means.

    >>> lake = gym.make("FrozenLake-v1", is_slippery=False, max_episode_steps=1)
    >>> Resets(lake).next(ended=True), Resets(Autoreset(lake)).next(ended=True)
    (True, False)
    """

    def __init__(self, env: SingleEnv) -> None:
        while isinstance(env, gym.Wrapper) and not isinstance(env, Autoreset):
            env = env.env
        self._autoreset = env if isinstance(env, Autoreset) else None

    def next(self, *, ended: bool) -> bool:
        """Whether the next step is a reset; ``ended`` tells whether the last step ended an episode."""
        return ended if self._autoreset is None else bool(self._autoreset.autoreset)
