"""All minimal machines, as a result has them: which they are, whether there are others, and what tells them apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from markovize.episodes.brief import BriefRepr
from markovize.episodes.features import Guard
from markovize.episodes.labelled_steps import Explain, LabelledSteps
from markovize.episodes.labelling import labelling_of
from markovize.episodes.traces import Traces
from markovize.episodes.values import Interner, key_of
from markovize.learning.assembly import assemble
from markovize.learning.engines import Engine
from markovize.learning.enumeration import Enumeration, Listed
from markovize.learning.judge import Judge
from markovize.learning.limits import Limits, Stop
from markovize.learning.problem import LabelPair, pose
from markovize.machine.describe import describe_trigger
from markovize.machine.machine import RewardMachine, Trigger
from markovize.machine.separation import KnownSteps, LabelledMachine, Separation, separate


@dataclass(frozen=True)
class AllMachines(BriefRepr):
    """Machines of the smallest size that explain the episodes equally well; ``result.machine`` is the first.

    They differ in more than the numbers of their states. ``complete``: it is proven that there are no others. For
    each machine after the first, ``separations`` has the shortest walk that would tell it from the first, None if no
    walk over known transitions does; it ends early where time was up.

    >>> from markovize import Traces, learn
    >>> two_ways = Traces.of([([0, 1, 2, 3], ["go"] * 3, [0, 0, 1]), ([0, 3], ["fly"], [0])])
    >>> found = learn(two_ways, all=10).all
    >>> found.complete, found.unique, [machine.triggers[0].on for machine in found.machines]
    (True, False, [1, 2])
    >>> print(found)
    2 minimal machines, proven to be all
    """

    machines: tuple[RewardMachine, ...]
    complete: bool
    at_least: int  # how many there are; one more than listed where only so many were asked for
    separations: tuple[Separation | None, ...] = ()
    stopped: bool = False  # by the time limit or Ctrl-C, before it was complete

    @property
    def unique(self) -> bool:
        """Whether it is proven that there is just one."""
        return self.complete and len(self.machines) == 1

    def __str__(self) -> str:
        if self.unique:
            return "1 minimal machine, proven to be the only one"
        if self.complete:
            return f"{len(self.machines)} minimal machines, proven to be all"
        why = "stopped early" if self.stopped else "as many as were asked for"
        shown = f"{len(self.machines)} listed, {why}"
        return f"at least {self.at_least} minimal machine{'' if self.at_least == 1 else 's'} ({shown})"

    def describe(self) -> list[str]:
        """For each machine after the first, the triggers that the first does not have, and what tells it apart.

        >>> from markovize import Traces, learn
        >>> seen = [([0, 1, 2, 3], ["go"] * 3, [0, 0, 1]), ([0, 3], ["fly"], [0]), ([0, 2, 0], ["go"] * 2, [0, 0])]
        >>> for line in learn(Traces.of(seen), all=10).all.describe():
        ...     print(line)
        machine 2: in state 0, entering 2 → state 1
          told apart from machine 1 by a walk from 0: go → 2, go → 3: the first pays 0, the second 1
        """
        lines: list[str] = []
        first = set(map(_bare, self.machines[0].triggers))
        for number, machine in enumerate(self.machines[1:], 2):
            others = [trigger for trigger in machine.triggers if _bare(trigger) not in first]
            lines.append(f"machine {number}: " + "; ".join(describe_trigger(machine, trigger) for trigger in others))
            if number - 2 < len(self.separations):
                walk = self.separations[number - 2]
                told = "no walk over known transitions" if walk is None else f"a walk {walk}"
                lines.append(f"  told apart from machine 1 by {told}")
        return lines

    def to_json(self) -> dict[str, Any]:
        """As ``learn --json`` has it."""
        machines = [_fields(machine) for machine in self.machines]
        for machine, walk in zip(machines[1:], self.separations, strict=False):
            machine["told_apart_by"] = None if walk is None else walk.to_json()
        return {
            "complete": self.complete,
            "unique": self.unique,
            "at_least": self.at_least,
            "stopped": self.stopped,
            "machines": machines,
        }


def _bare(trigger: Trigger) -> tuple[int, Hashable, int]:
    return trigger.source, key_of(trigger.on), trigger.target


def _fields(machine: RewardMachine) -> dict[str, Any]:
    """A machine's triggers as its file has them, without what is the same for all."""
    label = machine.trigger_labels.to_json
    return {"triggers": [{"from": t.source, "on": label(t.on), "to": t.target} for t in machine.triggers]}


def make_all(
    machine: RewardMachine,
    listed: Listed,
    traces: Traces,
    steps: LabelledSteps,
    labels: LabelPair,
    explain: Explain,
    limits: Limits,
) -> AllMachines:
    """The machines that were listed, of which ``machine`` is the first, and what tells the others from it."""
    machines = [machine]
    with suppress(Stop):
        for delta in listed.machines[1:]:
            limits.check()
            machines.append(assemble(traces, steps, delta, {})[0])
    walks = _find_separations(machines, traces, labels, explain, limits)
    whole = len(machines) == len(listed.machines)
    return AllMachines(tuple(machines), listed.complete and whole, listed.at_least, walks, listed.stopped or not whole)


@dataclass(frozen=True)
class Alike:
    """What machines as small are looked for: how, and how many at most."""

    most: int
    engine: Engine
    acyclic: bool = False
    explain: Explain = "reward"


def find_alike(
    machine: RewardMachine,
    traces: Traces,
    labels: LabelPair,
    options: Alike,
    limits: Limits,
) -> AllMachines:
    """Machines as small as this one, which is known to be minimal for these episodes; the same whenever it is asked.

    The first has the triggers of this one, and the rewards of these episodes, which may be more than it was made of.
    """
    problem = pose(traces, labels, options.explain, limits)
    ids = Interner(problem.steps.triggers.values)
    best = {(t.source, ids.id(t.on)): t.target for t in machine.triggers if not isinstance(t.on, Guard)}
    enumeration = Enumeration(options.engine, acyclic=options.acyclic)
    listed = enumeration.collect(best, Judge(problem.tree), None, options.most, limits)
    machine = assemble(traces, problem.steps, best, {})[0]
    return make_all(machine, listed, traces, problem.steps, labels, options.explain, limits)


def _find_separations(
    machines: Sequence[RewardMachine], traces: Traces, labels: LabelPair, explain: Explain, limits: Limits
) -> tuple[Separation | None, ...]:
    """What tells each machine from the first; as many as the limits allow for."""
    out: list[Separation | None] = []
    with suppress(Stop):
        known = KnownSteps.of(traces)
        triggers, rewards = (known.label(labelling_of(on)) for on in labels)
        first = LabelledMachine.of(machines[0], triggers, rewards, explain)
        for machine in machines[1:]:
            limits.check()
            second = LabelledMachine.of(machine, triggers, rewards, explain)
            out.append(separate(known, first, second, limits.check))
    return tuple(out)
