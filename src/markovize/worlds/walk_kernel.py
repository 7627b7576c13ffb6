"""The compiled inner loop of :mod:`markovize.worlds.walks`; its plain Python twin is in the tests."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.episodes.traces import Bools, Floats, Ints, Longs


@njit(cache=True)
def walk(
    successor: Ints,
    machine: Ints,
    reward: Floats,
    terminated: Bools,
    start: int,
    initial: int,
    distance: Ints,
    episodes: int,
    noise: float,
    shortest: int,
    longest: int,
    rng: np.random.Generator,
) -> tuple[Ints, Ints, Floats, Longs, Bools]:
    """Observations, actions, rewards, offsets and endings of noisy walks between targets.

    ``distance[target, state]`` counts steps to the target, -1 where it cannot be reached. The other tables
    are those of the world and its machine, the latter indexed [u, state, action].
    """
    n_actions = successor.shape[1]
    room = max(1024, longest + 1)
    observations = np.empty(room, np.int32)
    actions = np.empty(room, np.int32)
    rewards = np.empty(room, np.float64)
    offsets = np.zeros(episodes + 1, np.int64)
    ended = np.zeros(episodes, np.bool_)
    at = 0
    for e in range(episodes):
        while at + e + longest + 1 > room:  # one observation more than steps in each episode so far
            room *= 2
            observations = np.concatenate((observations, np.empty(room - len(observations), np.int32)))
            actions = np.concatenate((actions, np.empty(room - len(actions), np.int32)))
            rewards = np.concatenate((rewards, np.empty(room - len(rewards), np.float64)))
        draw = rng.random()
        cap = shortest + int((longest + 1 - shortest) * draw * draw * draw)  # cubed: mostly short, some long
        s, u = start, initial
        target = int(rng.random() * len(distance))
        observations[at + e] = s
        for _ in range(cap):
            best, options = n_actions - 1, 0  # stay, if there or if there is no way
            if rng.random() < noise:
                best = int(rng.random() * n_actions)
            elif distance[target, s] > 0:
                for a in range(n_actions):  # a random one of the shortest ways
                    if distance[target, successor[s, a]] == distance[target, s] - 1:
                        options += 1
                        if options == 1 or rng.random() * options < 1.0:
                            best = a
            staying = distance[target, s] <= 0
            after = successor[s, best]
            actions[at] = best
            rewards[at] = reward[u, s, best]
            ended[e] = terminated[u, s, best]
            u = machine[u, s, best]
            s = after
            at += 1
            observations[at + e] = s
            if ended[e]:
                break
            if staying or distance[target, s] == 0:
                target = int(rng.random() * len(distance))
        offsets[e + 1] = at
    return observations[: at + episodes], actions[:at], rewards[:at], offsets, ended
