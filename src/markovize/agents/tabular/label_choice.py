"""Under which labels a run learns its machines: the coarsest that explain its episodes, unless others do far better."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from markovize.episodes.labelled_steps import Explain, label_traces
from markovize.episodes.labelling import AUTO, Labelling, LabelOn, labelling_of, pairs_to_compare, pairs_to_try
from markovize.episodes.traces import Traces
from markovize.learning.comparison import SHARE, SMALL
from markovize.learning.parts import mixed_labels
from markovize.learning.result import LearnResult

LabelPair: TypeAlias = tuple[Labelling, Labelling]
"""What trigger labels and reward labels are."""

MANY_TRIGGERS: Final = 12  # from here on other labels are considered, if they are free; unproven, above SMALL
MORE_TRIGGERS: Final = 1.5  # times those of a machine that no other labels could beat, until they are considered again
FAR_SMALLER: Final = 0.75  # of the bits of a machine: a reason to take other labels
SOME_TRIGGERS: Final = 3  # from here on if other labels leave far less to explain
LONG_LOOK: Final = 2  # times the effort, before labels are left whose machine is large and unproven
FAR_MORE: Final = 4  # times as many reward labels with several rewards


class LabelChoice:
    """The labels of the next machine; they change as episodes refute them, or as machines grow."""

    def __init__(self, asked: tuple[LabelOn, LabelOn], explain: Explain, *, noisy: bool) -> None:
        self._asked, self._explain = asked, explain
        self._candidates = _pairs_to_compare(*asked, noisy=noisy)
        self.labels = self._candidates[0]
        self._many_triggers: float = MANY_TRIGGERS
        self._many_unproven: float = SMALL + 1

    def refine(self) -> bool:
        """Takes the labels that ``auto`` tries after these; False if there are none."""
        order = pairs_to_try(*self._asked)
        here = order.index(self.labels) if self.labels in order else len(order) - 2
        if here + 1 < len(order):
            self.labels = order[here + 1]
        return here + 1 < len(order)

    def compare(
        self,
        result: LearnResult,
        traces: Traces,
        width: float,
        solve: Callable[[LabelPair, float], LearnResult],
        forget: Callable[[LabelPair], None],
    ) -> LearnResult:
        """Under other labels, where these do with a far smaller machine: a large one is a sign of wrong labels.

        Finer ones come first. From few episodes they may look better than they are: so the way back is open. Beside a
        small machine they get a share of the effort: one that is far smaller still is found soon, or not at all.

        ``solve`` learns a machine under some labels with so many times the effort, and goes on with what it learned
        there, unless it is told to ``forget``. Rewards of one level differ by at most the ``width``.
        """
        triggers = math.inf if result.triggers is None else result.triggers
        if triggers < SOME_TRIGGERS or len(self._candidates) < 2:
            return result
        many = self._many_triggers if result.status == "optimal" else self._many_unproven
        unclear = {labels: self._mixed_labels(labels, traces, width) for labels in self._candidates}
        is_small = triggers < many
        if is_small and unclear[self.labels] <= FAR_MORE * min(unclear.values()):
            return result
        if not is_small and triggers <= MANY_TRIGGERS and result.status != "optimal":
            result = self._look_again(result, solve)
            triggers = math.inf if result.triggers is None else result.triggers
            if result.interrupted or triggers < many:
                return result
        here = self._candidates.index(self.labels)
        cost = self._bits(triggers, self.labels, traces)
        for labels in (*self._candidates[here + 1 :], *self._candidates[:here]):
            if unclear[labels] > FAR_MORE * unclear[self.labels]:
                continue  # these rewards have far more to explain: a search would take long, and be in vain
            other = solve(labels, 1 / SHARE if is_small else 1)
            if other.interrupted:
                return replace(result, interrupted=True)
            if other.triggers is not None and self._bits(other.triggers, labels, traces) <= FAR_SMALLER * cost:
                self.labels = labels
                if other.status == "optimal" or not is_small:
                    return other
                forget(labels)  # which has learned to try little: now it is worth the whole effort
                return solve(labels, 1)
        if result.triggers is not None:
            self._many_triggers = max(self._many_triggers, MORE_TRIGGERS * triggers)
            self._many_unproven = max(self._many_unproven, MORE_TRIGGERS * triggers)
        return result

    def _look_again(self, result: LearnResult, solve: Callable[[LabelPair, float], LearnResult]) -> LearnResult:
        """With more effort: a large machine may be the fault of a hard search, and finer labels fit by chance."""
        again = solve(self.labels, LONG_LOOK)
        if again.triggers is None or (result.triggers is not None and again.triggers >= result.triggers):
            return replace(result, interrupted=again.interrupted)
        return again

    def _mixed_labels(self, labels: LabelPair, traces: Traces, width: float) -> int:
        """How many reward labels have been seen with more than one reward."""
        steps = label_traces(traces, labels[1], labels[1], self._explain)
        return len(mixed_labels(steps, width))

    def _bits(self, triggers: float, labels: LabelPair, traces: Traces) -> float:
        """What so many triggers cost to spell: finer labels are more to choose from, so each of them says more."""
        return triggers * math.log2(max(2, len(labels[0].label_steps(traces).values)))


def _pairs_to_compare(trigger_on: LabelOn, reward_on: LabelOn, *, noisy: bool) -> list[LabelPair]:
    """All labels that ``auto`` may take; where rewards are noisy, choices (s, a), too, before whole steps.

    In a process that is done action by action, every other outcome of an action would be one more trigger to learn.
    """
    pairs, choice = pairs_to_compare(trigger_on, reward_on), labelling_of("choice")
    return [*pairs[:-1], (choice, choice), pairs[-1]] if noisy and trigger_on == reward_on == AUTO else pairs
