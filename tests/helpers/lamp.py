"""A user's module with an environment of their own, as text: tests write it where the command finds it."""

from __future__ import annotations

LAMP = """
import time
import gymnasium

class Lamp(gymnasium.Env):
    "A corridor: the right end pays if the left end was seen."
    observation_space = gymnasium.spaces.Discrete(6)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.lit = 2 + int(self.np_random.integers(2)), False
        return self.place, {}

    def step(self, action):
        time.sleep(2e-5)
        self.place = min(5, max(0, self.place + (1 if action else -1)))
        self.lit = self.lit or self.place == 0
        return self.place, float(self.lit and self.place == 5), self.place == 5, False, {}

if "Lamp-v0" not in gymnasium.registry:
    gymnasium.register("Lamp-v0", entry_point=Lamp, max_episode_steps=40)
"""
