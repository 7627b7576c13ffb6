"""Harvest, of the literature on stochastic reward machines: plant, water, harvest, sell; the price depends on quality.

Facts from the public code of Corazza, Gavran and Neider (AAAI 2022). Nothing ends an episode; it is cut after 50 steps.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from markovize.machine.machine import Emission, RewardMachine, Trigger, sorted_emissions, sorted_triggers
from markovize.worlds.base import World
from markovize.worlds.families import Family

QUALITIES: Final = ("poor", "fair", "good")
ACTION_NAMES: Final = ("plant", "water", "harvest", "sell")
PLANT, WATER, HARVEST, SELL = range(4)
CHANGES: Final = 0.1  # in each step, with this probability, the quality is drawn anew
DRAWN: Final = (0.1, 0.8, 0.1)
PRICES: Final = (1.0, 1.5, 2.0)
PRICE_NOISE, MISTAKE, MISTAKE_NOISE = 0.4, -1.0, 0.2


def harvest() -> World:
    """Observations are the quality of the crop, which changes by chance. The machine moves by actions.

    From 0 planting leads to 1, watering to 2, harvesting to 3, 4 or 5 by the quality that is seen, selling back to 0
    for 1, 1.5 or 2, each ± 0.4. Any other action leads back to 0, for −1 ± 0.2.

    >>> world = harvest()
    >>> world.machine.states, world.step(2, 2, HARVEST), world.step(1, 5, SELL), world.step(0, 1, SELL).reward
    (6, Step(state=2, u=5, reward=0.0, terminated=False), Step(state=1, u=0, reward=2.0, terminated=False), -1.0)
    """
    states, actions = range(len(QUALITIES)), tuple(range(len(ACTION_NAMES)))
    triggers, rewards = [], []
    for u in range(3 + len(QUALITIES)):
        for label in ((s, a, t) for s in states for a in actions for t in states):
            v, pay, spread = _move(u, label[0], label[1])
            rewards.append(Emission(u, label, v, pay, spread=spread))
            if v != u:
                triggers.append(Trigger(u, label, v))
    machine = RewardMachine("transition", "transition", 6, sorted_triggers(triggers), sorted_emissions(rewards))
    successor = np.repeat(np.arange(3, dtype=np.int32)[:, None], len(actions), axis=1)
    drift = (1 - CHANGES) * np.eye(3) + CHANGES * np.array([DRAWN])
    places = {name: (number,) for number, name in enumerate(QUALITIES)}
    return World("harvest", successor, 0, tuple(states), actions, ACTION_NAMES, machine, places, grid=None, drift=drift)


def _move(u: int, quality: int, action: int) -> tuple[int, float, float]:
    """Where the machine goes, what it pays, and how noisy that is."""
    if (u, action) in ((0, PLANT), (1, WATER)):
        return u + 1, 0.0, 0.0
    if (u, action) == (2, HARVEST):
        return 3 + quality, 0.0, 0.0
    if u >= 3 and action == SELL:
        return 0, PRICES[u - 3], PRICE_NOISE
    return 0, MISTAKE, MISTAKE_NOISE


FAMILY: Final = Family("harvest", harvest)
