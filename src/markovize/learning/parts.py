"""Episodes that share no label are learned apart: where goals differ from episode to episode, each is a small problem.

Many environments show in every observation what this episode is about (Taxi its destination, a goal's colour, a map).
Then the episodes fall into parts such that no trigger label and no reward label occurs in two of them. A machine moves
in one part by triggers that the others never see, and states can serve all parts at once, so that the fewest triggers
are the sum over the parts, and the fewest states with so many triggers are those of the largest part. That is exact for
the objective ``triggers``, and for acyclic machines as well, since each part's states are numbered topologically. Where
states come first, a part with fewer states than another might do with fewer triggers: then nothing is split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.traces import Ints
from markovize.learning.result import LearnResult
from markovize.learning.windows import outside_of_windows
from markovize.machine.machine import RewardMachine, sorted_emissions, sorted_triggers


def parts_of(steps: LabelledSteps, width: float = 0.0) -> list[Ints]:
    """The numbers of the episodes of each part with conflicts, in the order of their first episodes.

    Rewards that differ by at most ``width`` do not conflict. All parts without conflicts count as one; none if there is
    only one part with conflicts.

    >>> from markovize import Traces
    >>> from markovize.episodes.labelled_steps import label_traces
    >>> red = [(["r0", "r1"], ["go"], [0]), (["r2", "r3", "r1"], ["go", "go"], [0, 1])]
    >>> blue = [(["b0", "b1"], ["go"], [0]), (["b2", "b3", "b1"], ["go", "go"], [0, 1])]
    >>> [part.tolist() for part in parts_of(label_traces(Traces.of([*red, *blue]), "state", "state"))]
    [[0, 1], [2, 3]]
    """
    mixed = mixed_labels(steps, width)
    if len(mixed) < 2:
        return []
    of_episode, of_label = _components(steps)
    with_conflicts = np.unique(of_label[mixed])
    if len(with_conflicts) < 2:
        return []
    groups = np.where(np.isin(of_episode, with_conflicts), of_episode, -1)
    parts = [np.flatnonzero(groups == group).astype(np.int32) for group in np.unique(groups)]
    return sorted(parts, key=lambda numbers: int(numbers[0]))


def mixed_labels(steps: LabelledSteps, width: float = 0.0) -> Ints:
    """The reward labels that were seen with outcomes of more than one level."""
    if width:
        rewards = steps.levels[steps.outcomes]
        ends = steps.ends[steps.outcomes]
        labels, once = steps.rewards.ids, np.ones(len(rewards), np.int64)
        return np.unique(labels[outside_of_windows(labels, ends, rewards, once, width)[0]]).astype(np.int32)
    outcomes = int(steps.outcomes.max(initial=0)) + 1
    seen = np.unique(steps.rewards.ids.astype(np.int64) * outcomes + steps.outcomes)
    labels, counts = np.unique(seen // outcomes, return_counts=True)
    return labels[counts > 1].astype(np.int32)


def _components(steps: LabelledSteps) -> tuple[Ints, Ints]:
    """The number of the component of each episode and of each reward label, linked by the labels that they share."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    episodes, triggers = len(steps.offsets) - 1, len(steps.triggers.values)
    episode = np.repeat(np.arange(episodes), np.diff(steps.offsets))
    first_trigger, first_reward = episodes, episodes + triggers
    ends = np.concatenate([steps.triggers.ids + first_trigger, steps.rewards.ids + first_reward])
    nodes = first_reward + len(steps.rewards.values)
    links = coo_array((np.ones(len(ends), np.bool_), (np.tile(episode, 2), ends)), shape=(nodes, nodes))
    component = connected_components(links, directed=False)[1]
    return component[:episodes], component[first_reward:]


def join_results(results: Sequence[LearnResult]) -> LearnResult:
    """The machine that is each part's machine on that part's labels; it is proven if they all are."""
    machines = [result.unwrap() for result in results]
    first = machines[0]
    machine = RewardMachine(
        first.trigger_on,
        first.reward_on,
        max(machine.states for machine in machines),
        sorted_triggers(trigger for machine in machines for trigger in machine.triggers),
        sorted_emissions(emission for machine in machines for emission in machine.rewards),
    )
    proven = all(result.status == "optimal" for result in results)
    return replace(
        results[0],
        status="optimal" if proven else "feasible",
        machine=machine,
        bounds=(max(result.bounds[0] for result in results), sum(result.bounds[1] for result in results)),
        seconds=sum(result.seconds for result in results),
        exemplars=sum(result.exemplars for result in results),
        proof=f"{len(results)} parts of the episodes share no label, and each is proven" if proven else "",
        termination_conflicts=tuple(conflict for result in results for conflict in result.termination_conflicts),
        identity=None,
        evidence=None,
    )
