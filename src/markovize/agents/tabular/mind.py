"""Making and growing the arrays of a learner's mind."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from markovize.agents.tabular.steps import StepBook
from markovize.agents.tabular.tables import Beliefs, Mind, Model, Pool, Record, Way
from markovize.episodes.traces import Floats, Ints
from markovize.machine.machine import RewardMachine

ROWS = 256  # of a new pool
FAR = np.iinfo(np.int32).max


def new_mind(
    book: StepBook,
    machine: RewardMachine,
    model: Model,
    *,
    per_transition: bool,
    steps: int,
    rows: int,
    potential: Floats,
) -> Mind:
    """A mind that holds this machine true and remembers nothing but how the environment moves."""
    states, actions = model.first.shape
    k, room = machine.states, len(model.seen)
    labels = _label_room(book, per_transition, states, room)
    shape = (k, labels, k)
    beliefs = Beliefs(
        _zeros(room),
        _zeros(room),
        _zeros(room),
        _zeros(room),
        _zeros(room),
        book.delta(machine, max(room, states)),
        potential,
        np.full(shape, np.nan),
        np.zeros(shape, np.bool_),
        np.full(shape, -1, np.int32),
        np.full(shape, FAR, np.int32),
        np.zeros((k, states), np.int64),
        np.zeros((k, states, actions)),
    )
    mind = Mind(beliefs, model, new_way(k * states), _pool(max(rows, ROWS), steps), new_record(steps))
    describe_transitions(mind, book, per_transition)
    return mind


def describe_transitions(mind: Mind, book: StepBook, per_transition: bool, first: int = 0) -> None:
    """Tells the mind of the book's transitions from ``first`` on."""
    beliefs, last = mind.beliefs, len(book)
    label = range(last) if per_transition else book.reward
    columns = (beliefs.source, beliefs.action, beliefs.target, beliefs.trigger, beliefs.label)
    for column, values in zip(columns, (book.source, book.action, book.target, book.trigger, label), strict=True):
        column[first:last] = values[first:last]


def grown(mind: Mind, book: StepBook, machine: RewardMachine, *, per_transition: bool) -> Mind:
    """The same mind with room for at least what the book has now."""
    beliefs, model, _, pool, record = mind
    states, actions = model.first.shape
    more_states, room = _room(states, len(book.observations)), _room(len(model.seen), len(book))
    labels = _label_room(book, per_transition, more_states, room)
    model = Model(
        _padded(model.seen, (room,), 0),
        _padded(model.first, (more_states, actions), -1),
        _padded(model.next, (room,), -1),
        model.wavers,
    )
    k = machine.states
    shape = (k, labels, k)
    beliefs = Beliefs(
        _padded(beliefs.source, (room,), 0),
        _padded(beliefs.action, (room,), 0),
        _padded(beliefs.target, (room,), 0),
        _padded(beliefs.trigger, (room,), 0),
        _padded(beliefs.label, (room,), 0),
        book.delta(machine, max(room, more_states)),
        beliefs.potential,
        _padded(beliefs.reward, shape, np.nan),
        _padded(beliefs.ends, shape, False),
        _padded(beliefs.holder, shape, -1),
        _padded(beliefs.shortest, shape, FAR),
        _padded(beliefs.visits, (k, more_states), 0),
        _padded(beliefs.q, (k, more_states, actions), 0.0),
    )
    return Mind(beliefs, model, new_way(k * more_states), pool, record)


def with_more_rows(mind: Mind) -> Mind:
    """The same mind with a pool twice as large."""
    old = mind.pool
    rows = len(old.lengths)
    pool = _pool(2 * rows, old.rewards.shape[1])
    for name in ("transitions", "rewards", "lengths", "terminated", "kept", "references"):
        getattr(pool, name)[:rows] = getattr(old, name)
    free = int(old.free_rows[0])
    pool.free[: free + rows] = np.concatenate([old.free[:free], np.arange(2 * rows - 1, rows - 1, -1, dtype=np.int32)])
    pool.free_rows[0] = free + rows
    return mind._replace(pool=pool)


def new_model(states: int, actions: int, transitions: int) -> Model:
    """Nothing seen yet."""
    return Model(
        np.zeros(transitions, np.int64),
        np.full((states, actions), -1, np.int32),
        np.full(transitions, -1, np.int32),
        np.zeros(1, np.bool_),
    )


def new_record(steps: int) -> Record:
    """Room for an episode of so many steps."""
    return Record(_zeros(steps), np.zeros(steps), _zeros(steps), _zeros(steps), _zeros(4))


def new_way(nodes: int) -> Way:
    """Room for the ways through so many nodes."""
    n = nodes + 1
    return Way(_zeros(n), _zeros(n), _zeros(n), _zeros(n), _zeros(n), np.zeros(n), _zeros(2))


def _pool(rows: int, steps: int) -> Pool:
    return Pool(
        np.zeros((rows, steps), np.int32),
        np.zeros((rows, steps)),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.bool_),
        np.zeros(rows, np.bool_),
        np.zeros(rows, np.int32),
        np.arange(rows - 1, -1, -1, dtype=np.int32),
        np.array([rows], np.int32),
    )


def _zeros(size: int) -> Ints:
    return np.zeros(size, np.int32)


def _label_room(book: StepBook, per_transition: bool, states: int, transitions: int) -> int:
    """Rewards are remembered by state, or by labels of which there are at most as many as transitions."""
    return states if book.reward_labels_are_observations and not per_transition else transitions


def _room(now: int, needed: int) -> int:
    while now < needed:
        now *= 2
    return now


def _padded(old: npt.NDArray[Any], shape: tuple[int, ...], fill: Any) -> npt.NDArray[Any]:
    new = np.full(shape, fill, old.dtype)
    new[tuple(slice(n) for n in old.shape)] = old
    return new
