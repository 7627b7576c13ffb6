"""Episodes on a world's tables: all of a step is compiled."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.agents.tabular.compiled.arrays import WorldTables
from markovize.agents.tabular.compiled.episodes import begin_episode, choose_action, end_episode, learn_from_step
from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at, draw
from markovize.agents.tabular.compiled.updates import (
    CONTRADICTS,
    choose_greedily,
    remember_reward,
    update_counterfactuals,
    update_value,
)
from markovize.episodes.traces import Floats, Ints

DONE, CONFLICT, FULL, TIRED = 0, 1, 2, 3  # why playing stopped: TIRED is out of work, perhaps within an episode


@njit(cache=True)
def play(
    agent: AgentRef, world: WorldTables, episodes: int, work: int, returns: Floats, lengths: Ints
) -> tuple[int, int]:
    """Episodes until one conflicts, brings news, no witness's row is free, or all are done: (how many, why it stopped).

    After about ``work`` steps, or nodes of searches for routes, it stops as well, be it within an episode. The next
    call goes on there.
    """
    arrays = arrays_at(agent)
    status, how = arrays.episode.status[0], arrays.control.how[0]
    for episode in range(episodes):
        if work <= 0:
            return episode, TIRED
        if not status.running:
            if arrays.witnesses.free_rows[0].count == 0:
                return episode, FULL
            draw(agent)  # the seed of the environment's reset, which tables do not need
            begin_episode(agent, world.start)
            status.world_machine_state = world.initial
        plainly = not how.directed and how.width == 0.0
        work = q_learning_steps(agent, world, work) if plainly else any_steps(agent, world, work)
        if status.running:
            return episode, TIRED
        conflict, news, returns[episode], lengths[episode] = end_episode(agent)
        if conflict:
            return episode + 1, CONFLICT
        if how.pause or news:
            return episode + 1, DONE
    return episodes, DONE


@njit(cache=True)
def any_steps(agent: AgentRef, world: WorldTables, work: int) -> int:
    """Steps of an episode, until its end or out of work; the work that is left."""
    arrays = arrays_at(agent)
    status, route = arrays.episode.status[0], arrays.route.status[0]
    while status.running and work > 0:
        before = route.expanded
        a = choose_action(agent)
        s, m = status.state, status.world_machine_state
        reward, end = world.reward[m, s, a], world.ends[m, s, a]
        status.world_machine_state = world.machine[m, s, a]
        learn_from_step(agent, s * world.successor.shape[1] + a, reward, end)
        status.running = not end and status.length < status.longest
        work -= 1 + route.expanded - before
    return work


@njit(cache=True)
def q_learning_steps(agent: AgentRef, world: WorldTables, work: int) -> int:
    """The same for exact Q-learning, where nothing but the step itself takes time: all of it in registers.

    It does what :func:`choose_action` and :func:`learn_from_step` do; the tests compare both.
    """
    arrays = arrays_at(agent)
    transitions, rewards, episode = arrays.transitions, arrays.rewards, arrays.episode
    status, q, potential, delta = episode.status[0], arrays.values.q, arrays.machine.potential, arrays.machine.delta
    how = arrays.control.how[0]
    epsilon, alpha, gamma, crm, endings = how.epsilon, how.alpha, how.gamma, how.crm, how.endings
    n_actions = world.successor.shape[1]
    s, u, m, n = status.state, status.machine_state, status.world_machine_state, status.length
    earned, conflict, end = status.earned, status.conflict, False
    last = min(status.longest, n + work)
    work -= last - n
    while n < last and not end:
        first, second = draw(agent), draw(agent)
        a = choose_greedily(q, u, s, epsilon, first, second)
        reward, end, t = world.reward[m, s, a], world.ends[m, s, a], world.successor[s, a]
        m = world.machine[m, s, a]
        x = s * n_actions + a
        v = delta[u, transitions.trigger[x]]
        if remember_reward(rewards, u, transitions.label[x], v, reward, end, endings) == CONTRADICTS and conflict < 0:
            conflict = n
        update_value(q, potential, u, s, a, v, t, reward, end, alpha, gamma)
        if crm:
            update_counterfactuals(agent, u, x, alpha, gamma)
        episode.transitions[n], episode.rewards[n] = x, reward
        episode.before[n], episode.after[n] = u, v
        earned += reward
        s, u, n = t, v, n + 1
    status.state, status.machine_state, status.world_machine_state, status.length = s, u, m, n
    status.earned, status.conflict, status.terminated = earned, conflict, end
    status.running = not end and n < status.longest
    return work


@njit(cache=True)
def greedy_return(world: WorldTables, q: Floats, delta: Ints, trigger: Ints, longest: int) -> float:
    """What the greedy policy earns, the first of equal actions taken, undiscounted and within the step limit."""
    n_actions = world.successor.shape[1]
    s, m, u, total = world.start, world.initial, 0, 0.0
    for _ in range(longest):
        a = np.argmax(q[u, s])
        total += world.reward[m, s, a]
        if world.ends[m, s, a]:
            break
        t, m = world.successor[s, a], world.machine[m, s, a]
        u = delta[u, trigger[s * n_actions + a]]
        s = t
    return total
