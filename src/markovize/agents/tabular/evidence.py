"""What a run keeps of the episode at hand: itself, the one that it is in conflict with, and how to play both again."""

from __future__ import annotations

from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.episodes.traces import Ints


def keep_episode(agent: Agent, kept: KeptEpisodes) -> None:
    """Keeps the episode that the agent has just played."""
    episode, status = agent.arrays.episode, agent.arrays.episode.status[0]
    steps = slice(status.length)
    kept.add(episode.transitions[steps], episode.rewards[steps], bool(status.terminated))


def keep_witness(agent: Agent, kept: KeptEpisodes, *, again: bool) -> None:
    """Keeps the earlier episode that the one at hand is in conflict with; one that is kept already only ``again``."""
    witnesses, row = agent.arrays.witnesses, witness_row(agent)
    if row >= 0 and (again or not witnesses.kept[row]):
        steps = slice(int(witnesses.lengths[row]))
        shown = witnesses.transitions[row, steps], witnesses.rewards[row, steps]
        kept.add(*shown, bool(witnesses.terminated[row]))


def both_of_conflict(agent: Agent, kept: KeptEpisodes, *, whole: bool) -> list[Ints]:
    """The transitions of the episode in conflict, which was kept last, and of its witness, if there is one.

    Of the episode only those up to the conflict, unless ``whole``.
    """
    witnesses, row = agent.arrays.witnesses, witness_row(agent)
    conflict = int(agent.arrays.episode.status[0].conflict)
    shown = [kept.transitions[-1][: None if whole else conflict + 1]]
    return [*shown, witnesses.transitions[row, : int(witnesses.lengths[row])].copy()] if row >= 0 else shown


def witness_row(agent: Agent) -> int:
    """Where the witness of the conflict at hand is; -1 if there is none."""
    arrays = agent.arrays
    episode = arrays.episode
    n = episode.status[0].conflict
    label = arrays.transitions.label[episode.transitions[n]]
    return int(arrays.rewards.witness[episode.before[n], label, episode.after[n]])


def rewards_in_conflict(agent: Agent) -> tuple[float, ...]:
    """What the step in conflict paid, and what such steps paid before: with a tolerance, the least and the most."""
    episode, rewards = agent.arrays.episode, agent.arrays.rewards
    n = int(episode.status[0].conflict)
    cell = episode.before[n], agent.arrays.transitions.label[episode.transitions[n]], episode.after[n]
    low, high = float(rewards.low[cell]), float(rewards.high[cell])
    return float(episode.rewards[n]), *((low, high) if high > low else (float(rewards.paid[cell]),))
