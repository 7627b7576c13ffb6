"""What the allowances for noise were used for: the machine is replayed, and what is outside of its levels is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import Final, Unpack

import numpy as np

from markovize.episodes.allowance import EXACT, Allowance, show_tolerance
from markovize.episodes.columns import Bools, Floats
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.traces import Traces
from markovize.episodes.values import show
from markovize.learning.attempt import NO_CONFLICT
from markovize.learning.description import Ruler
from markovize.learning.fronts import MANY_OUTLIERS, Front, Point
from markovize.learning.judge import Judge
from markovize.learning.label_front import Question, draw_front, quiet_groups
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import cut_tree
from markovize.learning.problem import LabelPair, label_and_merge
from markovize.learning.repair import moves_of
from markovize.learning.result import Choice, LearnResult, Noise, Outlier
from markovize.learning.reward_clusters import snap_rewards
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import MachineFunctions, Run, are_apart, promised_ends, promised_rewards, run
from markovize.machine.support import count_support

MANY_ALIKE: Final = 5  # steps that pay about the same are no accident
CLEARLY_TWO: Final = 20.0  # bits by which two windows must be shorter than one, beside which label it is
FINEST: Final = 2.0**20  # parts of a range: narrower windows are counted as this
MANY_IN_ONE: Final = 10  # outliers that one label has; likewise
CLEAR: Final = 64.0  # bits that an allowance must save where rewards can be explained as they are


@dataclass(frozen=True)
class Chosen:
    """An allowance, where it was chosen: the point it belongs to, none where exact is best, and what was compared.

    ``stopped``: time was up before all was compared.
    """

    point: Point | None
    front: tuple[Choice, ...]
    margin: float | None
    stopped: bool = False


def choose_noise(
    traces: Traces, question: Question, labels: Sequence[LabelPair], limits: Limits, *, supposing: bool = False
) -> Chosen:
    """The allowance with the shortest description; none, unless that is clearly longer, or where it was not settled."""
    return choose_point(draw_front(traces, question, labels, limits), supposing=supposing)


def choose_point(drawn: Front, *, supposing: bool = False) -> Chosen:
    """Of the points of a front the one to take; none where it is open if there is noise, unless that is supposed."""
    points = drawn.points
    found = {point.allowance: point for point in reversed(points)}  # of equal ones the shortest
    best = points[0] if points else None
    if best is not None and EXACT in found and found[EXACT].bits <= best.bits + CLEAR:
        best = found[EXACT]
    elif best is not None:
        best = _narrowest(best, points)
    if drawn.open and not supposing:
        best = None
    front = sorted((point.choice for point in found.values()), key=lambda c: (c.tolerance, c.outliers))
    others = [point.bits for point in found.values() if best is not None and _is_rival(point, best)]
    margin = min(others) - best.bits if others and best is not None else None
    return Chosen(None if best is None or best.allowance.exact else best, tuple(front), margin, drawn.stopped)


def with_own_machine(chosen: Chosen, result: LearnResult, traces: Traces, explain: Explain) -> Chosen:
    """What was compared where no allowance is taken, with the machine that was then learned in place of the one before.

    A longer search finds a smaller one, perhaps under other labels.
    """
    machine, labels = result.machine, (result.trigger_on, result.reward_on)
    if machine is None or machine.has_guards or "function" in labels or not chosen.front:
        return chosen
    merged = label_and_merge(traces, labels, explain, Limits())
    tree = cut_tree(merged, Allowance(0.0, 1))
    moves = moves_of(machine, merged.steps.triggers.values)
    bits = Ruler.of(traces).measure(moves, Judge(tree), quiet_groups(merged, tree)).bits
    own = Choice(0.0, 0, machine.states, len(machine.triggers), round(bits, 1))
    others = [each for each in chosen.front if (each.tolerance, each.outliers) != (0.0, 0)]
    margin = min((each.bits for each in others), default=own.bits) - own.bits
    is_open = chosen.margin is None or margin < -CLEAR  # time was up, or there is more to say than bits
    return replace(chosen, front=(own, *others), margin=None if is_open or not others else margin)


def _narrowest(best: Point, points: Sequence[Point]) -> Point:
    """The same machine within the narrowest tolerance that is about as good: a wider one lets smaller machines in."""
    alike = (p for p in points if p.labels == best.labels and p.delta == best.delta and p.candidate == best.candidate)
    near = (p for p in alike if p.bits <= best.bits + CLEAR and p.allowance.outliers <= best.allowance.outliers)
    return min(near, key=lambda p: p.allowance.tolerance)


def _is_rival(point: Point, best: Point) -> bool:
    """Whether it is another explanation: not the same one within another tolerance."""
    one, other = point.choice, best.choice
    return (one.machine, one.outliers) != (other.machine, other.outliers)


def describe_choice(point: Point, steps: int) -> str:
    """What an allowance would give, and how to ask for it.

    >>> describe_choice(Point(Allowance(0.0, 3), 3, 2, 100.0), 41_000)
    'With 3 outliers of 41,000 steps (--outliers 3): 3 states, 2 triggers.'
    """
    tolerance, outliers = point.allowance.tolerance, point.allowance.outliers
    words, asked = [], []
    if tolerance:
        rounded = show_tolerance(tolerance)
        words.append(f"a tolerance of {rounded}")
        asked.append(f"--tolerance {rounded}")
    if outliers:
        words.append(f"{outliers} outlier{'' if outliers == 1 else 's'} of {steps:,} steps")
        asked.append(f"--outliers {outliers}")
    return f"With {' and '.join(words)} ({' '.join(asked)}): {point.choice.machine}."


def name_one_level(traces: Traces, allowance: Allowance) -> str:
    """Whether a tolerance that was chosen holds all rewards, so that no machine can matter; empty where it does not.

    >>> two = Traces.of([(["x", "x", "x"], [0, 0], [0.5, 1.5])])
    >>> name_one_level(two, Allowance(0.5, 0))[:36], name_one_level(two, Allowance(0.25, 0))
    ('a tolerance of 0.5 holds all rewards', '')
    """
    tolerance, rewards = allowance.tolerance, traces.rewards
    if not tolerance or float(np.ptp(rewards)) > allowance.width:
        return ""
    return (
        f"a tolerance of {show_tolerance(tolerance)} holds all rewards, which are one level then, whatever happened "
        "before; where noise is as wide as that, distributions of rewards may still tell histories apart "
        "(--reward random)"
    )


def name_two_values(way: Run, states: int, rewards: Floats, wrong: Bools, tolerance: float) -> str:
    """The (u, reward label, u') that most clearly pays two things, which the tolerance makes one level; empty if none.

    What two narrow windows save over one is weighed in bits: of many labels, some look like that by chance.
    """
    ids, cells = way.cells(states)
    ids, rewards = ids[~wrong], rewards[~wrong]
    order = np.lexsort((rewards, ids))
    starts = np.searchsorted(ids[order], np.arange(len(cells) + 1))
    best, clearest = log2(max(1, len(cells))) + CLEARLY_TWO, ""
    for (u, label, v), first, last in zip(cells, starts, starts[1:], strict=False):
        paid = rewards[order[first:last]]
        cut = int(np.argmax(np.diff(paid))) + 1 if len(paid) >= 2 * MANY_ALIKE else 0
        if not MANY_ALIKE <= cut <= len(paid) - MANY_ALIKE:
            continue
        wide = max(paid[cut - 1] - paid[0], paid[-1] - paid[cut], (paid[-1] - paid[0]) / FINEST)
        if (saved := len(paid) * log2((paid[-1] - paid[0]) / (2 * wide)) if wide else 0.0) > best:
            best = saved
            clearest = (
                f"a tolerance of {show_tolerance(tolerance)} makes one level of what ({u}, {show(label)}, {v}) pays, "
                f"about {paid[:cut].mean():.3g} in {cut} steps and {paid[cut:].mean():.3g} in {len(paid) - cut}; "
                "where rewards are random by nature, ask for that (--reward random)"
            )
    return clearest


def name_random_label(way: Run, states: int, wrong: Bools) -> str:
    """The (u, reward label, u') with most outliers, where these are many of its steps; empty if there is none."""
    ids, cells = way.cells(states)
    outliers, steps = (np.bincount(some, minlength=len(cells)) for some in (ids[wrong], ids))
    are_many = (outliers >= MANY_IN_ONE) & (outliers > MANY_OUTLIERS * steps)
    if not are_many.any():
        return ""
    worst = int(np.where(are_many, outliers, 0).argmax())
    u, label, v = cells[worst]
    return (
        f"{outliers[worst]} of the {steps[worst]} steps of ({u}, {show(label)}, {v}) are outliers; where rewards are "
        "random by nature, ask for that (--reward random)"
    )


def name_many_outliers(traces: Traces, noise: Noise) -> str:
    """Whether so many steps are outliers that the machine explains little; empty where that is not so."""
    share = len(noise.outliers) / max(1, traces.steps)
    if share <= MANY_OUTLIERS:
        return ""
    return (
        f"{share:.0%} of the steps are outliers: the machine explains little. Where rewards are continuous, allow for "
        "a tolerance (--tolerance auto); where they are random by nature, ask for that (--reward random)"
    )


def with_noise(
    result: LearnResult,
    traces: Traces,
    allowance: Allowance,
    functions: MachineFunctions,
    explain: Explain = "reward",
) -> LearnResult:
    """The result, with its outliers by episode and step, and with what supports its triggers, these aside."""
    noise = Noise(allowance.tolerance, allowance.outliers)
    if result.machine is None:
        return replace(result, noise=noise)
    way = run(result.machine, traces, **functions)
    levels, ends = promised_rewards(result.machine, way), traces.ends()
    wrong = are_apart(levels, traces.rewards, allowance.tolerance)
    ends_wrong = ends != (promised_ends(result.machine, way) if explain == "reward+termination" else ends)
    found = []
    for step in np.flatnonzero(wrong | ends_wrong).tolist():
        episode, at = traces.locate(step)
        end, reward = bool(ends[step]) if ends_wrong[step] else None, float(traces.rewards[step])
        found.append(Outlier(episode, at, reward, float(levels[step]) if wrong[step] else reward, end))
    noise, machine = replace(noise, outliers=tuple(found)), result.machine
    if allowance.tolerance and (
        two := name_two_values(way, machine.states, traces.rewards, wrong, allowance.tolerance)
    ):
        result = replace(result, remarks=(*result.remarks, two))
    if random := name_random_label(way, machine.states, wrong):
        result = replace(result, remarks=(*result.remarks, random))
    if found and result.proof == NO_CONFLICT:
        result = replace(result, proof=f"but for the outliers, {NO_CONFLICT}")
    if result.interrupted:
        return replace(result, noise=noise)
    support = count_support(machine, _pay_levels(traces, levels, allowance.tolerance), **functions)
    return replace(result, noise=noise, support=support)


def without_noise(machine: RewardMachine, traces: Traces, **functions: Unpack[MachineFunctions]) -> Traces:
    """The episodes as a machine with levels has them, where it knows the step: what supports its triggers is in these.

    >>> from markovize.machine.parts import Emission
    >>> machine = RewardMachine("state", "state", 1, (), rewards=(Emission(0, "x", 0, 1.0, spread=0.2, count=9),))
    >>> without_noise(machine, Traces.of([(["x", "x", "y"], [0, 0], [1.1, 7.0])])).rewards.tolist()
    [1.0, 7.0]
    """
    widest = max((emission.spread for emission in machine.rewards), default=0.0)
    if not widest:
        return traces
    levels = promised_rewards(machine, run(machine, traces, **functions))
    return _pay_levels(traces, np.where(np.isnan(levels), traces.rewards, levels), widest)


def _pay_levels(traces: Traces, levels: Floats, tolerance: float) -> Traces:
    """The episodes with these rewards; those within the tolerance of each other are one, and tell nothing apart."""
    alike = snap_rewards(levels, tolerance)
    return replace(traces, rewards=levels if alike is None else alike)
