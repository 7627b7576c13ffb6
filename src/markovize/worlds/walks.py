"""Episodes by noisy walks between landmarks: cheap data in which the interesting things happen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

import numpy as np

from markovize.episodes.traces import Bools, Ints, Traces, by_first_use
from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.worlds.base import World

SHORTEST_CAP: Final = 4


def noisy_walks(
    world: World,
    episodes: int,
    rng: np.random.Generator,
    *,
    noise: float = 0.2,
    max_steps: int = 200,
    targets: Iterable[str] | None = None,
) -> Traces:
    """Episodes that walk by shortest paths from one random landmark to the next, now and then at random.

    ``targets`` names the landmarks to walk to (default: all but those that end every episode, such as
    plants, which the paths avoid). With probability ``noise`` a step is random. Who is already at the new
    target takes the world's last action once (stay, or sunbathe). An episode ends when the machine says so,
    or is truncated at a random cap of at most ``max_steps`` steps.

    >>> from markovize.worlds import world
    >>> traces = noisy_walks(world("office", task="e"), 100, np.random.default_rng(1))
    >>> len(traces), traces.observation_values[0], bool((traces.terminated ^ traces.truncated).all())
    (100, (2, 1), True)
    """
    from markovize.worlds.walk_kernel import walk  # compiled; a world alone does not need it

    if world.is_random:
        raise InputError(f"{world.name} is random, which walks are not; record episodes in its environment")
    if episodes < 0 or max_steps < 1 or not 0 <= noise <= 1:
        asked = f"{episodes}, {max_steps}, {noise}"
        raise InputError(f"episodes must be ≥ 0, max_steps ≥ 1 and noise between 0 and 1, not {asked}")
    endings = always_ends(world)
    names = (
        list(targets)
        if targets is not None
        else [name for name, cells in world.landmarks.items() if not endings[list(cells)].all()]
    )
    if unknown := [name for name in names if name not in world.landmarks]:
        raise InputError(f"{world.name} has the landmarks {', '.join(world.landmarks)}, not {unknown[0]!r}")
    if not names:
        raise InputError(f"{world.name} needs at least one landmark to walk to")
    distance = np.array([distances(world, world.landmarks[name], endings) for name in names], np.int32)
    tables = world.tables
    observations, actions, rewards, offsets, ended = walk(
        world.successor,
        tables.u,
        tables.reward,
        tables.terminated,
        world.start,
        world.machine.initial,
        distance,
        episodes,
        noise,
        min(SHORTEST_CAP, max_steps),
        max_steps,
        rng,
    )
    states, observation_values = by_first_use(observations, world.observations)
    moves, action_values = by_first_use(actions, world.actions)
    return Traces(observation_values, action_values, states, moves, rewards, offsets, ended, ~ended)


def always_ends(world: World) -> Bools:
    """For each state, whether every step into it ends the episode, whatever the machine's state.

    >>> from markovize.worlds import world
    >>> always_ends(world("beach")).tolist()
    [False, False, True]
    """
    labelling, ends = world.machine.reward_labels, dict[Value, bool]()
    for emission in world.machine.rewards:
        entered = (labelling.split(emission.on) or {}).get("next_state")
        if entered is not None:
            ends[entered] = ends.get(entered, True) and emission.terminal
    return np.array([ends.get(value, False) for value in world.observations], np.bool_)


def distances(world: World, goal: Iterable[int], avoid: Bools) -> Ints:
    """Steps from each state to the nearest goal, on ways free of states to avoid; -1 where there is none.

    >>> from markovize.worlds import world
    >>> distances(world("beach"), [2], np.zeros(3, np.bool_)).tolist()
    [2, 1, 0]
    """
    into: list[list[int]] = [[] for _ in world.observations]
    for state, row in enumerate(world.successor.tolist()):
        for after in row:
            into[after].append(state)
    out = np.full(len(into), -1, np.int32)
    waiting = deque(goal)
    out[list(waiting)] = 0
    while waiting:
        state = waiting.popleft()
        for before in into[state]:
            if out[before] < 0 and not avoid[before]:
                out[before] = out[state] + 1
                waiting.append(before)
    return out
