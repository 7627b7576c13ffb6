"""An episode, compiled: its beginning, its choices, what each step teaches, its end.

These four are all there is to an agent's behaviour. :mod:`~markovize.agents.tabular.compiled.worlds` calls them on a
world's tables, :mod:`~markovize.agents.tabular.compiled.stepping` for an environment that only Python can step. Both
draw the same random numbers in the same order, two for each episode and two for each step, so that Q-learning ends with
the same numbers. (Planned values may differ in their last digit, since states are numbered in another order, and with
them which of two equally good ways is taken.)
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from numba import njit

from markovize.agents.tabular.compiled.confirmation import note_confirmed
from markovize.agents.tabular.compiled.exploration import count_transition, next_of_tour, tour_length
from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at, draw
from markovize.agents.tabular.compiled.separation import note_told
from markovize.agents.tabular.compiled.updates import (
    CONTRADICTS,
    MOVED,
    NEW,
    best_value,
    choose_greedily,
    file_episode,
    remember_level,
    remember_reward,
    update_counterfactuals,
    update_value,
)
from markovize.episodes.traces import Bools, Floats, Ints, Longs

NOTHING = 1e-12  # values this close to zero promise nothing


@njit(cache=True)
def begin_episode(agent: AgentRef, s: int) -> None:
    """An episode starts in this state; a draw decides how long it explores."""
    arrays = arrays_at(agent)
    status, route, how = arrays.episode.status[0], arrays.route.status[0], arrays.control.how[0]
    route.position, route.length, route.expanded, route.confirmed = 0, how.walk, 0, False
    status.running, status.state, status.machine_state = True, s, 0
    status.length, status.earned, status.terminated = 0, 0.0, False
    status.conflict, status.news, status.moved = -1, False, False
    status.explored, status.longest = 0, len(arrays.episode.rewards)
    chance = draw(agent)
    if how.directed:
        promising = abs(best_value(arrays.values.q, 0, s)) > NOTHING
        status.explored = tour_length(chance, promising, how.horizon)
        if how.walk > 0:
            status.explored = max(how.walk, how.horizon)
        if status.explored > 0:
            status.longest = min(status.longest, max(2 * how.horizon, how.walk))


@njit(cache=True)
def choose_action(agent: AgentRef) -> int:
    """The next action, by two draws."""
    arrays = arrays_at(agent)
    status, how, q = arrays.episode.status[0], arrays.control.how[0], arrays.values.q
    u, s, explored = status.machine_state, status.state, status.explored
    first, second = draw(agent), draw(agent)
    if not how.directed:
        return choose_greedily(q, u, s, how.epsilon, first, second)
    if status.length < explored or (explored > 0 and abs(best_value(q, u, s)) <= NOTHING):
        return next_of_tour(agent, u, s, first, second)
    return choose_greedily(q, u, s, 0.0, first, second)


@njit(cache=True)
def learn_from_step(agent: AgentRef, x: int, reward: float, end: bool) -> None:
    """Takes note of one step: a transition, what it paid, and whether it ended the episode."""
    arrays = arrays_at(agent)
    transitions, episode = arrays.transitions, arrays.episode
    status, how = episode.status[0], arrays.control.how[0]
    u, n = status.machine_state, status.length
    v = arrays.machine.delta[u, transitions.trigger[x]]
    if how.width == 0.0:
        known = remember_reward(arrays.rewards, u, transitions.label[x], v, reward, end, how.endings)
    else:
        known = remember_level(arrays.rewards, u, transitions.label[x], v, reward, end, how.endings, how.width)
    if known == CONTRADICTS and status.conflict < 0:
        status.conflict = n
    if known == MOVED:
        status.moved = True
    s, a, t = transitions.source[x], transitions.action[x], transitions.target[x]
    if how.directed:
        if count_transition(arrays.model, transitions, x) or known == NEW:
            status.news = True
        arrays.values.visits[v, t] += 1
    else:
        q, potential = arrays.values.q, arrays.machine.potential
        update_value(q, potential, u, s, a, v, t, reward, end, how.alpha, how.gamma)
        if how.crm:
            update_counterfactuals(agent, u, x, how.alpha, how.gamma)
    episode.transitions[n], episode.rewards[n] = x, reward
    episode.before[n], episode.after[n] = u, v
    status.state, status.machine_state = t, v
    status.length, status.terminated = n + 1, end
    status.earned += reward


@njit(cache=True)
def end_episode(agent: AgentRef) -> tuple[bool, bool, float, int]:
    """Files the episode, unless it is in conflict: (whether it is, whether it brought news, its return, its length)."""
    arrays = arrays_at(agent)
    status = arrays.episode.status[0]
    status.running = False
    conflict = status.conflict >= 0
    if not conflict:
        file_episode(agent, arrays.control.how[0].pause)
        if arrays.control.how[0].confirm:
            if arrays.control.how[0].width > 0.0:
                note_told(agent)
            else:
                note_confirmed(agent)
    return conflict, status.news or status.moved, status.earned, status.length


@njit(cache=True)
def replay_episodes(
    agent: AgentRef,
    offsets: Longs,
    transitions: Ints,
    rewards: Floats,
    terminated: Bools,
    values: bool,
) -> None:
    """What kept episodes say under the machine at hand: rewards, visits and, if wanted, Q, forwards then backwards.

    There must be a free row among the witnesses for each episode.
    """
    arrays = arrays_at(agent)
    known, episode = arrays.transitions, arrays.episode
    status, how = episode.status[0], arrays.control.how[0]
    q, potential = arrays.values.q, arrays.machine.potential
    for e in range(len(offsets) - 1):
        length, u = offsets[e + 1] - offsets[e], 0
        for n in range(length):
            x, reward = transitions[offsets[e] + n], rewards[offsets[e] + n]
            v = arrays.machine.delta[u, known.trigger[x]]
            end = terminated[e] and n == length - 1
            if how.width == 0.0:
                remember_reward(arrays.rewards, u, known.label[x], v, reward, end, False)
            else:
                remember_level(arrays.rewards, u, known.label[x], v, reward, end, False, how.width)
            arrays.values.visits[v, known.target[x]] += 1
            episode.transitions[n], episode.rewards[n] = x, reward
            episode.before[n], episode.after[n] = u, v
            u = v
        status.length, status.terminated = length, terminated[e]
        file_episode(agent, True)
        for i in range(2 * length if values else 0):
            n = i if i < length else 2 * length - 1 - i
            x, end = episode.transitions[n], terminated[e] and n == length - 1
            s, a, t = known.source[x], known.action[x], known.target[x]
            u, v, reward = episode.before[n], episode.after[n], episode.rewards[n]
            update_value(q, potential, u, s, a, v, t, reward, end, how.alpha, how.gamma)
