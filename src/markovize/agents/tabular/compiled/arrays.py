"""The arrays that compiled code works on, grouped by what they know, and how large each of them is.

Every array is declared once, here: what its entries are, along which sizes it extends, what fills it when it is new,
and, if its entries number something, what they number. :mod:`~markovize.agents.tabular.compiled.allocation` makes,
enlarges and checks arrays from these declarations alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol, TypeVar

import numpy as np

from markovize.episodes.traces import Bools, Floats, Ints, Longs

FAR = np.iinfo(np.int32).max  # longer than any episode
Fields_co = TypeVar("Fields_co", covariant=True)


class Sizes(NamedTuple):
    """How far the arrays extend. ``rows`` are those of :class:`Witnesses`, ``steps`` those of the longest episode."""

    machine_states: int
    states: int
    actions: int
    transitions: int
    trigger_labels: int
    reward_labels: int
    rows: int
    steps: int

    @property
    def nodes(self) -> int:
        """Of the graph S×U, for routes to a place, twice that for those over a step to another one, and one more."""
        return 3 * self.machine_states * self.states + 1


@dataclass(frozen=True)
class Table:
    """The declaration of an array: names of :class:`Sizes`, the value of new entries, and what the entries number."""

    axes: tuple[str, ...]
    fill: float = 0
    below: str | None = None


def over(*axes: str, fill: float = 0, below: str | None = None) -> Table:
    """An array that extends along these sizes."""
    return Table(axes, fill, below)


class One(Protocol[Fields_co]):
    """An array of one record, whose fields are attributes: numbers that compiled code changes."""

    def __getitem__(self, index: int, /) -> Fields_co: ...

    def __setitem__(self, index: int, value: tuple[float, ...], /) -> None: ...


# --- what is known -------------------------------------------------------------------------------------------------


class Transitions(NamedTuple):
    """The transitions (s, a, s') met so far, by number, and both labels of each."""

    source: Annotated[Ints, over("transitions", below="states")]
    action: Annotated[Ints, over("transitions", below="actions")]
    target: Annotated[Ints, over("transitions", below="states")]
    trigger: Annotated[Ints, over("transitions", below="trigger_labels")]
    label: Annotated[Ints, over("transitions", below="reward_labels")]


class Machine(NamedTuple):
    """The machine held true, as δ[u, trigger label], and the potential of each state (zero without shaping).

    What it says of a (u, trigger label) is confirmed once rewards have told that the next state is as it says. ``pays``
    is what an action is expected to pay where its reward was never seen, ``told`` whether rewards have told a move from
    one to another state.
    """

    delta: Annotated[Ints, over("machine_states", "trigger_labels", below="machine_states")]
    potential: Annotated[Floats, over("machine_states")]
    confirmed: Annotated[Bools, over("machine_states", "trigger_labels")]
    pays: Annotated[Floats, over("machine_states", "states", "actions")]
    told: Annotated[Bools, over("machine_states", "trigger_labels", "machine_states")]


class Rewards(NamedTuple):
    """What is remembered of rewards, for each (u, reward label, u').

    The reward (NaN: never seen; with a tolerance the mean of all), the lowest and the highest of them, how often such
    a step was made and how often it ended its episode (a clock or chance may end an episode anywhere), the row among
    the witnesses of the shortest episode that shows it, and that episode's length.
    """

    paid: Annotated[Floats, over("machine_states", "reward_labels", "machine_states", fill=np.nan)]
    low: Annotated[Floats, over("machine_states", "reward_labels", "machine_states")]
    high: Annotated[Floats, over("machine_states", "reward_labels", "machine_states")]
    made: Annotated[Longs, over("machine_states", "reward_labels", "machine_states")]
    ended: Annotated[Longs, over("machine_states", "reward_labels", "machine_states")]
    witness: Annotated[Ints, over("machine_states", "reward_labels", "machine_states", fill=-1, below="rows")]
    shortest: Annotated[Ints, over("machine_states", "reward_labels", "machine_states", fill=FAR)]


class Values(NamedTuple):
    """How often each place of S×U was entered, and what each action is worth there."""

    visits: Annotated[Longs, over("machine_states", "states")]
    q: Annotated[Floats, over("machine_states", "states", "actions")]


class ModelFlags:
    """What else is known of how the environment moves."""

    stochastic: bool  # whether some action was seen to lead to different states


class Model(NamedTuple):
    """How the environment moves: how often each transition was seen, and the outcomes of each (state, action) as a
    linked list of transitions, the latest first."""

    seen: Annotated[Longs, over("transitions")]
    first: Annotated[Ints, over("states", "actions", fill=-1, below="transitions")]
    next: Annotated[Ints, over("transitions", fill=-1, below="transitions")]
    flags: One[ModelFlags]


class FreeRows:
    """How many rows are free."""

    count: int


class Witnesses(NamedTuple):
    """Earlier episodes that show some reward sooner than any other, a row each.

    A row is free again when no entry of :class:`Rewards` refers to it. The first ``count`` entries of ``free`` are the
    free rows, the last of them the next to be used.
    """

    transitions: Annotated[Ints, over("rows", "steps", below="transitions")]
    rewards: Annotated[Floats, over("rows", "steps")]
    lengths: Annotated[Ints, over("rows", below="steps")]
    terminated: Annotated[Bools, over("rows")]
    kept: Annotated[Bools, over("rows")]  # whether the learner keeps this episode anyway
    references: Annotated[Ints, over("rows")]
    free: Annotated[Ints, over("rows", below="rows")]
    free_rows: One[FreeRows]


# --- the episode at hand -------------------------------------------------------------------------------------------


class EpisodeStatus:
    """Where the episode at hand is, and what it has brought."""

    running: bool
    state: int
    machine_state: int  # of the machine held true
    world_machine_state: int  # of the machine that pays, where the world is known by its tables
    length: int  # steps so far
    longest: int  # steps that it may have
    explored: int  # steps that it explores before it turns greedy
    earned: float
    terminated: bool
    conflict: int  # the first step whose reward contradicts an earlier one, or -1
    news: bool  # a transition or a reward never seen before
    moved: bool  # with a tolerance: a reward that moved what is remembered of its level


class Episode(NamedTuple):
    """The steps of the episode at hand: transitions, rewards, and the machine's states before and after each."""

    transitions: Annotated[Ints, over("steps", below="transitions")]
    rewards: Annotated[Floats, over("steps")]
    before: Annotated[Ints, over("steps", below="machine_states")]
    after: Annotated[Ints, over("steps", below="machine_states")]
    status: One[EpisodeStatus]


class RouteStatus:
    """How far one is on a route, and what searching for routes has cost."""

    position: int
    length: int
    expanded: int  # nodes, in all searches of this episode
    confirmed: bool  # a search of this episode found nothing to confirm: no other need try


class Route(NamedTuple):
    """The route to a target of exploration, by nodes u·S + s and actions, and room for the search that finds it."""

    nodes: Annotated[Ints, over("nodes")]
    actions: Annotated[Ints, over("nodes")]
    parent: Annotated[Ints, over("nodes")]
    by: Annotated[Ints, over("nodes")]
    queue: Annotated[Ints, over("nodes")]
    weight: Annotated[Floats, over("nodes")]
    status: One[RouteStatus]


# --- what it is given ----------------------------------------------------------------------------------------------


class Hyperparameters(NamedTuple):
    """How to act and update: ``directed`` plans and explores, else ε-greedy Q-learning. A ``horizon`` of 0: greedy."""

    directed: bool
    epsilon: float
    horizon: int
    alpha: float
    gamma: float
    crm: bool
    pause: bool  # whether to stop after each episode, since the learner keeps all of them
    confirm: bool = False  # whether exploration also confirms what the machine says
    endings: bool = False  # whether the machine has to explain which steps end an episode, too
    walk: int = 0  # steps of a route that is written already, for an episode that begins with it
    width: float = 0.0  # by which rewards of one level may differ: twice the tolerance


class GeneratorAddresses:
    """Where compiled code finds the random generator: the function that draws, and its state."""

    next_double: int
    state: int


class Control(NamedTuple):
    """What the learner tells its agent."""

    how: One[Hyperparameters]
    generator: One[GeneratorAddresses]


class AgentArrays(NamedTuple):
    """All that an agent knows and works with between two machines."""

    transitions: Transitions
    machine: Machine
    rewards: Rewards
    values: Values
    model: Model
    witnesses: Witnesses
    episode: Episode
    route: Route
    control: Control


class WorldTables(NamedTuple):
    """A world as tables, which the agent never looks into. The machine that pays is indexed [m, state, action]."""

    successor: Ints
    machine: Ints
    reward: Floats
    ends: Bools
    start: int
    initial: int
