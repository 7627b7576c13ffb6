"""The act–update–detect loop, compiled. :func:`play` runs it on a world's tables, and
:mod:`markovize.agents.tabular.players` steps any Gymnasium environment with the same pieces, through
:mod:`markovize.agents.tabular.handles`.
Both draw the same random numbers in the same order, two for each episode and two for each step, so that Q-learning
ends with the same numbers. (Planned values may differ in their last digit, since states are numbered in another
order, and with them which of two equally good ways is taken.)
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.agents.tabular.kernels import best, choose, counterfactual, hold, remember, update
from markovize.agents.tabular.tables import Beliefs, Mind, Model, Pool, Record, Rules, Way, WorldTables
from markovize.agents.tabular.tours import notice, plan, tour, tour_length
from markovize.episodes.traces import Bools, Floats, Ints, Longs

DONE, CONFLICT, FULL = 0, 1, 2
NOTHING = 1e-12  # values this close to zero promise nothing
TOLERANCE = 1e-6


@njit(cache=True)
def begin(beliefs: Beliefs, way: Way, record: Record, rules: Rules, s: int, draw: float) -> tuple[int, int]:
    """An episode starts: how many steps it explores, and how many it may have."""
    longest = len(record.rewards)
    way.place[:] = 0
    record.outcome[:] = 0
    record.outcome[2] = -1
    if not rules.directed:
        return 0, longest
    explored = tour_length(draw, abs(best(beliefs.q, 0, s)) > NOTHING, rules.horizon)
    return explored, min(longest, 2 * rules.horizon) if explored > 0 else longest


@njit(cache=True, inline="always")
def act(
    beliefs: Beliefs,
    model: Model,
    way: Way,
    rules: Rules,
    n: int,
    explored: int,
    u: int,
    s: int,
    first: float,
    second: float,
) -> int:
    """The n-th action of an episode, given two uniform draws."""
    if not rules.directed:
        return choose(beliefs.q, u, s, rules.epsilon, first, second)
    if n < explored or (explored > 0 and abs(best(beliefs.q, u, s)) <= NOTHING):
        return tour(beliefs, model, way, u, s, first, second)
    return choose(beliefs.q, u, s, 0.0, first, second)


@njit(cache=True, inline="always")
def absorb(
    beliefs: Beliefs, model: Model, record: Record, rules: Rules, n: int, u: int, x: int, reward: float, end: bool
) -> int:
    """Learns from one step, a transition x that was paid so much; the machine's next state."""
    v = beliefs.delta[u, beliefs.trigger[x]]
    known = remember(beliefs.reward, beliefs.ends, u, beliefs.label[x], v, reward, end, rules.endings)
    if known == 2 and record.outcome[2] < 0:
        record.outcome[2] = n
    if rules.directed:
        if notice(model, beliefs, x) or known == 1:
            record.outcome[3] = 1
        beliefs.visits[v, beliefs.target[x]] += 1
    else:
        s, a, t = beliefs.source[x], beliefs.action[x], beliefs.target[x]
        update(beliefs.q, beliefs.potential, u, s, a, v, t, reward, end, rules.alpha, rules.gamma)
        if rules.crm:
            counterfactual(beliefs, u, x, rules.alpha, rules.gamma)
    record.transitions[n], record.rewards[n] = x, reward
    record.before[n], record.after[n] = u, v
    record.outcome[0], record.outcome[1] = n + 1, end
    return int(v)


@njit(cache=True)
def conclude(mind: Mind, rules: Rules) -> int:
    """An episode is over: :data:`CONFLICT`, or :data:`DONE` once it is filed and planned on."""
    if mind.record.outcome[2] >= 0:
        return CONFLICT
    hold(mind.beliefs, mind.pool, mind.record, rules.kept)
    if rules.directed and mind.record.outcome[3]:
        plan(mind.beliefs, mind.model, rules.gamma, TOLERANCE)
    return DONE


@njit(cache=True)
def play(
    world: WorldTables,
    mind: Mind,
    rules: Rules,
    rng: np.random.Generator,
    episodes: int,
    returns: Floats,
    lengths: Ints,
) -> tuple[int, int]:
    """Episodes until one conflicts, brings news, the pool is full, or all are done: (how many, why it stopped)."""
    for episode in range(episodes):
        if mind.pool.free_rows[0] == 0:
            return episode, FULL
        rng.random()  # the seed of the environment's reset, which tables do not need
        draw = rng.random()
        if rules.directed:
            explored, longest = begin(mind.beliefs, mind.way, mind.record, rules, world.start, draw)
            returns[episode] = directed_episode(world, mind, rules, rng, explored, longest)
        else:
            returns[episode] = q_episode(world, mind.beliefs, mind.record, rules, rng)
        lengths[episode] = mind.record.outcome[0]
        if conclude(mind, rules) == CONFLICT:
            return episode + 1, CONFLICT
        if rules.kept or mind.record.outcome[3]:
            return episode + 1, DONE
    return episodes, DONE


@njit(cache=True)
def directed_episode(
    world: WorldTables, mind: Mind, rules: Rules, rng: np.random.Generator, explored: int, longest: int
) -> float:
    """One episode of planning and touring; its return."""
    beliefs, model, way, _, record = mind
    s, m, u, total = world.start, world.initial, 0, 0.0
    for n in range(longest):
        first, second = rng.random(), rng.random()
        a = act(beliefs, model, way, rules, n, explored, u, s, first, second)
        reward, end, t = world.reward[m, s, a], world.ends[m, s, a], world.successor[s, a]
        m = world.machine[m, s, a]
        u = absorb(beliefs, model, record, rules, n, u, s * world.successor.shape[1] + a, reward, end)
        total += reward
        s = t
        if end:
            break
    return total


@njit(cache=True)
def q_episode(world: WorldTables, beliefs: Beliefs, record: Record, rules: Rules, rng: np.random.Generator) -> float:
    """One episode of Q-learning; its return. The same as :func:`act` and :func:`absorb`, but nothing else."""
    q, potential, rewards, ends = beliefs.q, beliefs.potential, beliefs.reward, beliefs.ends
    successor, n_actions = world.successor, world.successor.shape[1]
    s, m, u, n, total, conflict, end = world.start, world.initial, 0, 0, 0.0, -1, False
    while n < len(record.rewards) and not end:
        first, second = rng.random(), rng.random()
        a = choose(q, u, s, rules.epsilon, first, second)
        reward, end, t = world.reward[m, s, a], world.ends[m, s, a], successor[s, a]
        m = world.machine[m, s, a]
        x = s * n_actions + a
        v = beliefs.delta[u, beliefs.trigger[x]]
        if remember(rewards, ends, u, beliefs.label[x], v, reward, end, rules.endings) == 2 and conflict < 0:
            conflict = n
        update(q, potential, u, s, a, v, t, reward, end, rules.alpha, rules.gamma)
        if rules.crm:
            counterfactual(beliefs, u, x, rules.alpha, rules.gamma)
        record.transitions[n], record.rewards[n] = x, reward
        record.before[n], record.after[n] = u, v
        total += reward
        s, u, n = t, v, n + 1
    record.outcome[0], record.outcome[1], record.outcome[2], record.outcome[3] = n, end, conflict, 0
    return total


@njit(cache=True)
def greedy_return(world: WorldTables, beliefs: Beliefs, longest: int) -> float:
    """What the greedy policy earns, the first of equal actions taken, undiscounted and within the step limit."""
    n_actions = world.successor.shape[1]
    s, m, u, total = world.start, world.initial, 0, 0.0
    for _ in range(longest):
        a = np.argmax(beliefs.q[u, s])
        total += world.reward[m, s, a]
        if world.ends[m, s, a]:
            break
        t, m = world.successor[s, a], world.machine[m, s, a]
        u = beliefs.delta[u, beliefs.trigger[s * n_actions + a]]
        s = t
    return total


@njit(cache=True)
def replay(
    beliefs: Beliefs,
    pool: Pool,
    record: Record,
    offsets: Longs,
    transitions: Ints,
    rewards: Floats,
    terminated: Bools,
    alpha: float,
    gamma: float,
    values: bool,
) -> None:
    """What kept episodes say under the machine at hand: memory, visits and, if wanted, Q, forwards then backwards.

    The pool must have a free row for each episode.
    """
    for e in range(len(offsets) - 1):
        length, u = offsets[e + 1] - offsets[e], 0
        for n in range(length):
            x, reward = transitions[offsets[e] + n], rewards[offsets[e] + n]
            v = beliefs.delta[u, beliefs.trigger[x]]
            end = terminated[e] and n == length - 1
            remember(beliefs.reward, beliefs.ends, u, beliefs.label[x], v, reward, end, False)
            beliefs.visits[v, beliefs.target[x]] += 1
            record.transitions[n], record.rewards[n] = x, reward
            record.before[n], record.after[n] = u, v
            u = v
        record.outcome[0], record.outcome[1] = length, terminated[e]
        hold(beliefs, pool, record, True)
        for i in range(2 * length if values else 0):
            n = i if i < length else 2 * length - 1 - i
            x, end = record.transitions[n], terminated[e] and n == length - 1
            s, a, t = beliefs.source[x], beliefs.action[x], beliefs.target[x]
            u, v, reward = record.before[n], record.after[n], record.rewards[n]
            update(beliefs.q, beliefs.potential, u, s, a, v, t, reward, end, alpha, gamma)
