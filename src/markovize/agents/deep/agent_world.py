"""Worlds as deep agents walk them: tables, what the agent sees of its machine, and what would be optimal."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import numpy.typing as npt

from markovize.episodes.traces import Bools, Ints
from markovize.machine.machine import RewardMachine
from markovize.product.value_iteration import optimal_values
from markovize.worlds import World

if TYPE_CHECKING:
    from markovize.agents.deep.fast.arrays import WorldTables

TIE: Final = 1e-6  # of a value: actions that differ by less are equally good
MOST_MEMORIES: Final = 1_000


@dataclass(frozen=True, eq=False)
class Memory:
    """What an agent keeps in mind beside the state that it sees: numbers 0…M-1, each shown to it as ``bits``.

    ``table[m, s, a]`` is the next one, ``machine_state[m]`` the state of the agent's machine in it.
    """

    table: Ints
    bits: npt.NDArray[np.float32]
    machine_state: tuple[int, ...]

    @classmethod
    def of(cls, world: World, machine: RewardMachine | None = None) -> Memory:
        """Nothing at all without a machine; else a bit for each trigger that has fired in this episode.

        If the machine can return to a state that it has left, or could remember too much in this way, the bits are its
        state instead, one-hot.

        >>> from markovize.worlds import world
        >>> office = world("office", task="e")
        >>> Memory.of(office, office.machine).bits.tolist()
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
        >>> loop = world("office", task="loop")
        >>> Memory.of(loop, loop.machine).bits.shape, Memory.of(loop).bits.shape
        ((4, 4), (1, 0))
        """
        if machine is None:
            machine = RewardMachine("state", "state", 1)
        fired = cls._of(world, machine, by_trigger=True) if machine.acyclic else None
        return fired or cast(Memory, cls._of(world, machine, by_trigger=False))

    @classmethod
    def _of(cls, world: World, machine: RewardMachine, *, by_trigger: bool) -> Memory | None:
        labelling, names = machine.trigger_labels, world.observations
        start = machine.initial, frozenset[int]()
        seen, rows = {start: 0}, list[Ints]()
        waiting = [start]
        while waiting:
            u, fired = waiting.pop(0)
            row = np.empty(world.successor.shape, np.int32)
            for s, a in np.ndindex(row.shape):
                step = names[s], world.actions[a], names[world.successor[s, a]]
                number = machine.delta.fired(u, labelling.label(step))
                v = u if number is None else machine.triggers[number].target
                after = (v, fired | {number}) if by_trigger and number is not None else (v, fired)
                if after not in seen:
                    if by_trigger and len(seen) == MOST_MEMORIES:
                        return None
                    seen[after] = len(seen)
                    waiting.append(after)
                row[s, a] = seen[after]
            rows.append(row)
        bits = np.zeros((len(seen), len(machine.triggers) if by_trigger else machine.states), np.float32)
        for (u, fired), number in seen.items():
            bits[number, sorted(fired) if by_trigger else [u]] = 1.0
        return cls(np.stack(rows), bits, tuple(u for u, _ in seen))


@dataclass(frozen=True, eq=False)
class AgentWorld:
    """A world, and the machine of the agent in it, if it has one."""

    world: World
    machine: RewardMachine | None
    gamma: float

    @cached_property
    def memory(self) -> Memory:
        """What the agent keeps in mind."""
        return Memory.of(self.world, self.machine)

    @cached_property
    def tables(self) -> WorldTables:
        """All tables, for the compiled loops."""
        from markovize.agents.deep.fast.arrays import WorldTables

        tables, world = self.world.tables, self.world
        return WorldTables(
            np.ascontiguousarray(world.successor, np.int32),
            tables.u,
            tables.reward,
            tables.terminated,
            self.memory.table,
            world.start,
            world.machine.initial,
        )

    @property
    def fingerprint(self) -> str:
        """Of all that an agent can meet in this world: another world has another one."""
        tables, world = self.world.tables, self.world
        digest = hashlib.sha256(f"{world.start} {world.machine.initial} {world.observations} {world.actions}".encode())
        for table in (world.successor, tables.u, tables.reward, tables.terminated):
            digest.update(np.ascontiguousarray(table).tobytes())
        return digest.hexdigest()[:16]

    @property
    def features(self) -> npt.NDArray[np.float32]:
        """What a network sees of each view: the state one-hot, then the bits of the memory."""
        states, memories = len(self.world.observations), len(self.memory.bits)
        one_hot = np.tile(np.eye(states, dtype=np.float32), (memories, 1))
        return np.hstack([one_hot, np.repeat(self.memory.bits, states, axis=0)])

    @cached_property
    def best(self) -> Bools:
        """The optimal actions in each (u, s) of the true product, by value iteration."""
        values = optimal_values(self.world, self.gamma)
        most = values.max(axis=2, keepdims=True)
        best: Bools = values >= most - TIE * np.abs(most)
        return best
