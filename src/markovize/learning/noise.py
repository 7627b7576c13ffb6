"""What the allowances for noise were used for: the machine is replayed, and what is outside of its levels is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Unpack

import numpy as np

from markovize.episodes.allowance import EXACT, Allowance, show_tolerance
from markovize.episodes.columns import Floats
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.traces import Traces
from markovize.learning.attempt import NO_CONFLICT
from markovize.learning.description import Ruler
from markovize.learning.fronts import Front, Point
from markovize.learning.judge import Judge
from markovize.learning.label_front import Question, draw_front, quiet_groups
from markovize.learning.limits import Limits
from markovize.learning.noise_notes import name_chance
from markovize.learning.prefix_tree import cut_tree
from markovize.learning.problem import LabelPair, label_and_merge
from markovize.learning.repair import moves_of
from markovize.learning.result import Choice, LearnResult, Noise, Outlier
from markovize.learning.reward_clusters import snap_rewards
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import MachineFunctions, are_apart, promised_ends, promised_rewards, run
from markovize.machine.support import count_support

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
    result = replace(
        result, remarks=(*result.remarks, *name_chance(way.cells(machine.states), traces, wrong, allowance))
    )
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
