"""What a picture of an environment shows, before it is known how: places, the agent, its way, a machine's state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from markovize.episodes.labelling import TEXT_LENGTH, Labelling, LabelOn, labelling_of
from markovize.episodes.values import Value, show
from markovize.errors import one_line
from markovize.machine.machine import RewardMachine
from markovize.worlds import FAMILIES, World, family

SIGNS: Final[Mapping[str, str]] = {name: icon.sign for known in FAMILIES for name, icon in family(known).icons.items()}


@dataclass(frozen=True)
class Tracked:
    """A machine along an episode: where it is, where it was, and what moved it."""

    title: str
    states: int
    u: int
    visited: frozenset[int]
    fired: tuple[str, ...]

    @property
    def where(self) -> str:
        """The state among all states, in words."""
        return f"u = {self.u} of 0…{self.states - 1}" if self.states > 1 else "u = 0, the only state"

    @property
    def fired_in_words(self) -> tuple[str, ...]:
        """What fired, with repetitions counted.

        >>> Tracked("machine", 9, 4, frozenset(), ("c", "c", "c", "e")).fired_in_words
        ('c ×3', 'e')
        """
        runs = [(name, len(list(same))) for name, same in groupby(self.fired)]
        return tuple(f"{name} ×{count}" if count > 1 else name for name, count in runs)


@dataclass(frozen=True)
class View:
    """One picture's content; ``trail`` are the states entered, oldest first."""

    world: World
    state: int
    trail: tuple[int, ...] = ()
    tracked: Tracked | None = None
    captions: Mapping[str, str] = field(default_factory=dict)


def track(
    world: World, machine: RewardMachine, on: LabelOn, path: Sequence[tuple[int, int, int]], title: str
) -> Tracked:
    """Follows a machine along a path of (state, action, state after).

    >>> from markovize.worlds import world
    >>> office = world("office", task="e")
    >>> seen = track(office, office.machine, "state", [(office.start, 3, office.start - 1)], "true machine")
    >>> seen.where, seen.fired
    ('u = 1 of 0…3', ('a (1, 1)',))
    """
    labelling, u, visited, fired = labelling_of(on), machine.initial, {machine.initial}, []
    for before, action, after in path:
        label = labelling.label((world.observations[before], world.actions[action], world.observations[after]))
        v = machine.step(u, label)
        if v != u:
            fired.append(_name_trigger(world, labelling, label, (before, action, after)))
        u = v
        visited.add(u)
    return Tracked(title, machine.states, u, frozenset(visited), tuple(fired))


def _name_trigger(world: World, labelling: Labelling, label: Value, step: tuple[int, int, int]) -> str:
    """A trigger as people call it: by landmark and cell."""
    before, action, after = step
    names = {"state": place(world, before), "action": world.action_names[action], "next_state": place(world, after)}
    shown = [names[part] for part in labelling.parts]
    return labelling.text(tuple(shown) if len(shown) > 1 else shown[0], 300) if shown else labelling.text(label, 24)


def place(world: World, state: int) -> str:
    """A state's landmark, and its cell if there is a map.

    >>> from markovize.worlds import world
    >>> place(world("office"), 0), place(world("beach"), 1)
    ('(0, 0)', 'shack')
    """
    name = next((name for name, states in world.landmarks.items() if state in states), "")
    cell = one_line(show(world.observations[state]), TEXT_LENGTH) if world.grid is not None or not name else ""
    return f"{name} {cell}".strip()


def signs(names: Iterable[str]) -> dict[str, str]:
    """One character for each landmark: its own name if that is one, or else a letter of it that is still free.

    >>> signs(["c", "coffee", "mail", "plant", "cat"])
    {'c': 'c', 'coffee': 'C', 'mail': 'M', 'plant': '♣', 'cat': 'A'}
    """
    names = list(names)
    out = {name: name for name in names if len(name) == 1}
    for name in names:
        if name not in out:
            letters = [*SIGNS.get(name, ""), *name.upper(), *name, *"0123456789*"]
            free = [c for c in letters if c not in out.values() and c.isprintable() and not c.isspace()]
            out[name] = free[0] if free else "*"
    return {name: out[name] for name in names}
