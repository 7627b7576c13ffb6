"""The arrays that the compiled loops work on, grouped by what they know."""

from __future__ import annotations

from typing import NamedTuple

from markovize.episodes.traces import Bools, Floats, Ints, Longs


class WorldTables(NamedTuple):
    """An environment as tables: the simulator's secret. The machine that pays is indexed [m, state, action]."""

    successor: Ints
    machine: Ints
    reward: Floats
    ends: Bools
    start: int
    initial: int


class Beliefs(NamedTuple):
    """What the learner holds true: its machine, what it remembers of rewards, and the values of actions.

    A *transition* is a numbered (s, a, s'); ``trigger`` and ``label`` give its trigger label and the label under which
    its reward is remembered. ``reward``, ``ends``, ``holder`` and ``shortest`` are indexed [u, label, u']: the reward
    (NaN if never seen), whether such a step ended an episode, the place of the shortest episode that shows it and that
    episode's length. ``visits`` and ``q`` are indexed [u, state] and [u, state, action].
    """

    source: Ints
    action: Ints
    target: Ints
    trigger: Ints
    label: Ints
    delta: Ints
    potential: Floats
    reward: Floats
    ends: Bools
    holder: Ints
    shortest: Ints
    visits: Longs
    q: Floats


class Model(NamedTuple):
    """Which transitions were seen, how often, and a list of them for each (state, action): ``first``, then ``next``."""

    seen: Longs
    first: Ints
    next: Ints
    wavers: Bools  # one value: whether any action was seen to lead to different states


class Pool(NamedTuple):
    """Earlier episodes that somebody may need: a row each, with as many references as labels it is the shortest for."""

    transitions: Ints
    rewards: Floats
    lengths: Ints
    terminated: Bools
    kept: Bools  # whether the learner keeps this episode anyway
    references: Ints
    free: Ints
    free_rows: Ints  # one number: how many entries of ``free`` are valid


class Record(NamedTuple):
    """The episode at hand: transitions, rewards and the machine's states, then its length and how it ended."""

    transitions: Ints
    rewards: Floats
    before: Ints
    after: Ints
    outcome: Ints  # length, terminated (0 or 1), the first step in conflict or -1, what it brought that was new


class Way(NamedTuple):
    """The way to a tour's target, and room for finding it: nodes are u·S + s."""

    actions: Ints
    nodes: Ints
    parent: Ints
    by: Ints
    queue: Ints
    weight: Floats
    place: Ints  # position on the way, its length


class Mind(NamedTuple):
    """All that a learner knows and works with between two machines."""

    beliefs: Beliefs
    model: Model
    way: Way
    pool: Pool
    record: Record


class Rules(NamedTuple):
    """How to act and update. ``directed`` plans and tours, else ε-greedy Q-learning; a ``horizon`` of 0 is greedy."""

    directed: bool
    epsilon: float
    horizon: int
    alpha: float
    gamma: float
    crm: bool
    kept: bool  # whether every episode is kept, so that the learner wants to see each
    endings: bool = False  # whether the machine has to explain them, too
