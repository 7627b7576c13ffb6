"""What two machines disagree on: the shortest walk over known transitions after which they pay differently.

Breadth-first search over (s, u, w), where u and w are the states of the two machines. A walk begins where an episode
began, takes transitions (s, a, s') that some episode has, and ends with a step that tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from markovize.episodes.brief import BriefRepr
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.labelling import Labelling, LabelOn, Labels, Step
from markovize.episodes.labelling.base import distinct_steps
from markovize.episodes.traces import Episodes, Traces, as_traces
from markovize.episodes.values import Interner, jsonable, show
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine

LOOK: Final = 1_000  # nodes between two looks at the clock
Node: TypeAlias = tuple[int, int, int]
"""(s, state of the first machine, state of the second)."""
Paid: TypeAlias = "tuple[float, bool | None]"
"""A reward, and whether it ends the episode, where that counts."""


@dataclass(frozen=True)
class Separation(BriefRepr):
    """A walk that two machines pay differently at its last step, and what each pays there, as it has learned.

    Where one has not seen such a step, it pays None: then the walk shows whether the other is right, and is a step
    towards telling them apart.

    >>> print(Separation((("hall", "go", "coffee"), ("coffee", "go", "office")), (1.0, 0.0)))
    from hall: go → coffee, go → office: the first pays 1, the second 0
    """

    steps: tuple[Step, ...]
    rewards: tuple[float | None, float | None]
    ends: tuple[bool | None, bool | None] = (None, None)  # whether the step ends the episode, where that counts

    def __str__(self) -> str:
        walk = ", ".join(f"{show(action)} → {show(target)}" for _, action, target in self.steps)
        first, second = (_words(*paid) for paid in zip(self.rewards, self.ends, strict=True))
        if self.rewards == (None, None):
            told = "neither has seen what that pays"
        elif self.rewards[1] is None:
            told = f"the first pays {first}, the second has not seen it"
        elif self.rewards[0] is None:
            told = f"the second pays {second}, the first has not seen it"
        else:
            told = f"the first pays {first}, the second {second}"
        return f"from {show(self.steps[0][0])}: {walk}: {told}"

    @property
    def is_certain(self) -> bool:
        """Whether the walk refutes one of the two, whatever it pays."""
        return None not in self.rewards

    def to_json(self) -> dict[str, Any]:
        """The walk as an episode has it, and what each machine pays at its end."""
        out: dict[str, Any] = {
            "observations": [jsonable(step[0]) for step in self.steps] + [jsonable(self.steps[-1][2])],
            "actions": [jsonable(step[1]) for step in self.steps],
            "pays": list(self.rewards),
        }
        return out if self.ends == (None, None) else out | {"ends": list(self.ends)}


def _words(reward: float | None, end: bool | None) -> str:
    return f"{0.0 if reward is None else reward:.6g}" + (" and ends the episode" if end else "")


def tell_apart(
    first: RewardMachine,
    second: RewardMachine,
    episodes: Episodes,
    *,
    trigger_on: LabelOn | None = None,
    reward_on: LabelOn | None = None,
    explain: Explain = "reward",
) -> Separation | None:
    """The shortest walk over transitions of the episodes after which two machines pay differently.

    Where there is none, the shortest to a step of which one of them does not know what it pays, else neither. None if
    they pay the same on every such walk.

    Args:
        trigger_on, reward_on: the functions that the machines were learned with, if they were.
        explain: with ``reward+termination``, machines also disagree where one of them says that the episode ends.

    >>> from markovize import Traces
    >>> from markovize.machine.machine import Emission, Trigger
    >>> pays = (Emission(1, "office", 1, 1.0), Emission(0, "office", 0, 0.0))
    >>> coffee = RewardMachine("state", "state", 2, (Trigger(0, "coffee", 1),), pays)
    >>> tea = RewardMachine("state", "state", 2, (Trigger(0, "tea", 1),), pays)
    >>> walks = [(["coffee", "tea", "office"], ["go"] * 2, [0, 1]), (["tea", "coffee", "office"], ["go"] * 2, [0, 1])]
    >>> print(tell_apart(coffee, tea, Traces.of(walks)))
    from coffee: go → tea, go → office: the first pays 0, the second 1
    """
    if first.has_guards or second.has_guards:
        raise InputError("machines are told apart by exact labels; these have guards")
    known = KnownSteps.of(as_traces(episodes))

    def labelled(machine: RewardMachine) -> LabelledMachine:
        triggers, rewards = machine.trigger_labelling(trigger_on), machine.reward_labelling(reward_on)
        return LabelledMachine.of(machine, known.label(triggers), known.label(rewards), explain)

    return separate(known, labelled(first), labelled(second))


@dataclass(frozen=True)
class KnownSteps:
    """The different transitions (s, a, s') of episodes, by first appearance, and where episodes began."""

    steps: list[Step]
    target: list[int]
    starts: list[int]
    of_state: dict[int, list[int]]

    @classmethod
    def of(cls, traces: Traces) -> KnownSteps:
        """All that these episodes show."""
        ids, steps = distinct_steps(traces)
        before, after = traces.states_before(), traces.states_after()
        target, of_state = np.zeros(len(steps), np.int32), dict[int, list[int]]()
        source = np.zeros(len(steps), np.int32)
        source[ids], target[ids] = before, after
        for number, state in enumerate(source.tolist()):
            of_state.setdefault(state, []).append(number)
        begun = traces.offsets[:-1][(np.diff(traces.offsets) > 0) & (traces.starts() < 0)]
        return cls(steps, target.tolist(), list(dict.fromkeys(before[begun].tolist())), of_state)

    def label(self, labelling: Labelling) -> Labels:
        """The label of each transition."""
        table = Interner()
        ids = np.array([table.id(labelling.label(step)) for step in self.steps], np.int32)
        return Labels(labelling.kind, ids, table.values)


class LabelledMachine(NamedTuple):
    """A machine that runs on numbered transitions."""

    initial: int
    after: list[list[int]]  # [u][transition]: the state after it
    paid: list[list[Paid | None]]  # [u][transition]
    closed: list[list[bool]]  # [u][transition]: whether it is known to end the episode

    @classmethod
    def of(cls, machine: RewardMachine, triggers: Labels, rewards: Labels, explain: Explain) -> LabelledMachine:
        """What a machine makes of transitions with these labels."""
        after: list[list[int]] = machine.delta.table(triggers.values)[:, triggers.ids].tolist()
        labels = [rewards.values[y] for y in rewards.ids.tolist()]
        seen = [[machine.emission(u, y, v) for y, v in zip(labels, row, strict=True)] for u, row in enumerate(after)]
        ends = explain != "reward"
        paid = [[None if e is None else (e.reward, e.terminal if ends else None) for e in row] for row in seen]
        return cls(machine.initial, after, paid, [[e is not None and e.terminal for e in row] for row in seen])


def separate(
    known: KnownSteps, first: LabelledMachine, second: LabelledMachine, check: Callable[[], None] = lambda: None
) -> Separation | None:
    """As :func:`tell_apart`; ``check`` is called now and then, and may end it by an exception."""
    came: dict[Node, tuple[Node, int] | None] = {(s, first.initial, second.initial): None for s in known.starts}
    queue = list(came)
    half: tuple[Node, int] | None = None  # a step of which only one machine knows what it pays
    blank: tuple[Node, int] | None = None  # or neither
    for number, node in enumerate(queue):  # which grows
        if number % LOOK == 0:
            check()
        for x, one, other, there in _moves(known, first, second, node):
            if one is None or other is None:
                if one is other:
                    blank = blank or (node, x)
                else:
                    half = half or (node, x)
            elif one != other:
                return _walk(known, first, second, came, (node, x))
            if there is not None and there not in came:
                came[there] = node, x
                queue.append(there)
    last = half or blank
    return None if last is None else _walk(known, first, second, came, last)


def _moves(
    known: KnownSteps, first: LabelledMachine, second: LabelledMachine, node: Node
) -> Iterator[tuple[int, Paid | None, Paid | None, Node | None]]:
    """The transitions that can be taken at a node, what each machine pays, and where they lead if they do not end."""
    s, u, w = node
    for x in known.of_state.get(s, ()):
        there = None
        if not (first.closed[u][x] or second.closed[w][x]):
            there = known.target[x], first.after[u][x], second.after[w][x]
        yield x, first.paid[u][x], second.paid[w][x], there


def _walk(
    known: KnownSteps,
    first: LabelledMachine,
    second: LabelledMachine,
    came: dict[Node, tuple[Node, int] | None],
    last: tuple[Node, int],
) -> Separation:
    """The way to a node and a last transition there."""
    (_, u, w), x = last
    numbers: list[int] = []
    at: tuple[Node, int] | None = last
    while at is not None:
        numbers.append(at[1])
        at = came[at[0]]
    one, other = first.paid[u][x] or (None, None), second.paid[w][x] or (None, None)
    steps = tuple(known.steps[number] for number in reversed(numbers))
    return Separation(steps, (one[0], other[0]), (one[1], other[1]))
