"""Grid worlds of one's own: a map drawn as text, and a reward machine that speaks of its cells and landmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from markovize.episodes.labelling import Labelling, labelling_named, named_kinds
from markovize.episodes.values import On, Value, key_of, show
from markovize.errors import InputError
from markovize.gym.world_env import WorldEnv
from markovize.machine.machine import RewardMachine, Trigger, sorted_emissions, sorted_triggers
from markovize.worlds import GridMap, World
from markovize.worlds.base import world_on
from markovize.worlds.grid import ACTIONS


class GridWorld(WorldEnv):
    """An environment of a map and a machine; observations are ``[x, y]``, y grows upwards.

    In the map ``.`` is floor, ``#`` solid, ``@`` the start; any other character is a landmark, named by itself or by
    ``names``. Between cells a blank is open and anything else a wall. Actions: 0 up, 1 right, 2 down, 3 left,
    4 stay; who bumps stays.

    The machine's labels are landmarks (each stands for all its cells) or cells ``(x, y)``, with ``"transition"``
    ``(from, action, to)`` of them. What the machine does not list pays 0 and ends nothing. A machine in
    JSON (:meth:`~markovize.RewardMachine.to_json`) will do as well, so that it can be part of a registered
    environment's ``kwargs``.

    >>> from markovize import Emission, GridWorld, RewardMachine, Trigger
    >>> MAP = '''
    ...     +-----+-+
    ...     |k . .|#|
    ...     |--   + +
    ...     |@ . . D|
    ...     +-------+'''
    >>> machine = RewardMachine(
    ...     "state", "state", states=2,
    ...     triggers=(Trigger(0, "key", 1),),
    ...     rewards=(Emission(1, "door", 1, reward=1.0, terminal=True),),
    ... )
    >>> env = GridWorld(MAP, machine, names={"k": "key", "D": "door"})
    >>> env.reset(seed=0)
    (array([0, 0]), {})
    >>> steps = [env.step(action) for action in (1, 1, 0, 3, 3, 1, 1, 2, 1)]
    >>> sum(reward for _, reward, *_ in steps), steps[-1]
    (1.0, (array([3, 0]), 1.0, True, False, {}))

    Gymnasium takes it from there; a subclass of one's own may be registered just as well:

    >>> import gymnasium
    >>> options = {"map": MAP, "machine": machine.to_json(), "names": {"k": "key", "D": "door"}}
    >>> gymnasium.register("Vault-v0", entry_point="markovize.gym:GridWorld", max_episode_steps=50, kwargs=options)
    >>> gymnasium.make("Vault-v0").reset(seed=0)
    (array([0, 0]), {})
    >>> class Vault(GridWorld):
    ...     def __init__(self, **options):
    ...         super().__init__(MAP, machine, names={"k": "key", "D": "door"}, **options)
    >>> Vault(render_mode="ansi").machine.states
    2
    """

    def __init__(
        self,
        map: str,
        machine: RewardMachine | Mapping[str, Any],
        *,
        names: Mapping[str, str] | None = None,
        render_mode: str | None = None,
        show_machine: bool = False,
        show_trail: bool = False,
    ) -> None:
        given = machine if isinstance(machine, RewardMachine) else RewardMachine.from_json(machine)
        super().__init__(
            make_world(GridMap.parse(map, names), given),
            render_mode=render_mode,
            show_machine=show_machine,
            show_trail=show_trail,
        )


def make_world(grid: GridMap, machine: RewardMachine) -> World:
    """The world of a map and a machine, whose labels become cells, with a reward for all that can happen.

    >>> from markovize.machine.machine import Emission
    >>> grid = GridMap.parse("+-----+\\n|@ a a|\\n+-----+")
    >>> world = make_world(grid, RewardMachine("state", "state", 1, (), (Emission(0, "a", 0, 1.0, True),)))
    >>> [(e.on, e.reward, e.terminal) for e in world.machine.rewards]
    [((0, 0), 0.0, False), ((1, 0), 1.0, True)]
    """
    said = put_on_cells(grid, machine)

    def pay(u: int, label: Value, v: int) -> tuple[float, bool]:
        return said.reward(u, label, v) or 0.0, said.terminal(u, label, v)

    return world_on(grid, said, pay)


def put_on_cells(grid: GridMap, machine: RewardMachine) -> RewardMachine:
    """The machine with landmarks replaced by their cells; labels that the map lacks are refused."""
    if machine.has_guards:  # features are the coordinates: guards are about cells already
        return machine
    unknown: dict[str, None] = {}
    triggers, rewards = [], []
    triggered, rewarded = machine.trigger_labels, machine.reward_labels
    for trigger in machine.triggers:
        labels = _labels_on_cells(grid, triggered, trigger.on, unknown)
        triggers += [Trigger(trigger.source, label, trigger.target) for label in labels]
    for emission in machine.rewards:
        labels = _labels_on_cells(grid, rewarded, emission.on, unknown)
        rewards.append([replace(emission, on=label) for label in labels])
    if unknown:
        landmarks = f" or landmarks ({', '.join(grid.landmarks)})" if grid.landmarks else ""
        what = f"free cells (x, y){landmarks}"
        hint = f"; transitions are (from, action, to) of them, as the map allows: {', '.join(ACTIONS)}"
        tail = hint if "action" in (*triggered.parts, *rewarded.parts) else ""
        raise InputError(f"the map does not know the machine's {', '.join(unknown)}; labels are {what}{tail}")
    found = replace(
        machine,
        triggers=sorted_triggers(dict.fromkeys(triggers)),
        rewards=sorted_emissions(dict.fromkeys(emission for same in rewards for emission in same)),
    )
    if machine.trigger_on == machine.reward_on:
        for emission, same in zip(machine.rewards, rewards, strict=True):
            if all(found.step(e.source, e.on) != e.target for e in same):
                said = f"({emission.source}, {show(emission.on)}, {emission.target})"
                leads = found.step(emission.source, same[0].on)
                raise InputError(f"the reward of {said} is never paid: there the machine goes to state {leads}")
    return found


def _labels_on_cells(grid: GridMap, labelling: Labelling, label: On, unknown: dict[str, None]) -> list[Value]:
    """The labels on cells that one label stands for; a label that stands for none joins the unknown."""
    if not labelling.parts:
        names = " or ".join(f'"{kind}"' for kind in named_kinds() if labelling_named(kind).parts)
        raise InputError(f"a grid labels its steps by {names}; it knows no function of the machine's")
    meant = labelling.split(label)
    out: dict[Value, None] = {}
    if meant is not None and labelling.are_observations:
        out = dict.fromkeys(_cells(grid, label))
    elif meant is not None:
        sources = _cells(grid, meant["state"]) if "state" in meant else grid.cells
        targets = _cells(grid, meant["next_state"]) if "next_state" in meant else grid.cells
        actions = [a for a, name in enumerate(ACTIONS) if "action" not in meant or key_of(meant["action"]) in (a, name)]
        number = {cell: index for index, cell in enumerate(grid.cells)}
        for before, after in product(sources, targets):
            for action in actions:
                if grid.moves[number[before], action] == number[after]:
                    out[labelling.label((before, action, after))] = None
    if not out:
        unknown[show(label)] = None
    return list(out)


def _cells(grid: GridMap, label: On) -> tuple[tuple[int, int], ...]:
    if isinstance(label, str):
        return grid.at(label) if label in grid.landmarks else ()
    return tuple(cell for cell in grid.cells if cell == key_of(label))
