"""One step of an environment that only Python can step."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from numba import njit

from markovize.agents.tabular.compiled.episodes import begin_episode, choose_action, learn_from_step
from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at

OVER = -1  # instead of an action: the episode is over


@njit(cache=True)
def begin(agent: AgentRef, s: int) -> int:
    """An episode starts in this state: its first action."""
    begin_episode(agent, s)
    return choose_action(agent)


@njit(cache=True)
def advance(agent: AgentRef, x: int, reward: float, terminated: bool, truncated: bool) -> int:
    """Learns from one step, a transition by number; the next action, or :data:`OVER`."""
    learn_from_step(agent, x, reward, terminated)
    status = arrays_at(agent).episode.status[0]
    if terminated or truncated or status.length >= status.longest:
        return OVER
    return choose_action(agent)
