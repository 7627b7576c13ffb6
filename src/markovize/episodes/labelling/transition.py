"""``transition``: a step is called by all that is seen of it, (s, a, s'). The finest of all labels."""

from __future__ import annotations

from dataclasses import dataclass

from markovize.episodes.labelling.base import TEXT_LENGTH, Labelling, Labels, Step, distinct_steps, spell
from markovize.episodes.traces import Traces
from markovize.episodes.values import On, Value, show
from markovize.errors import one_line


@dataclass(frozen=True)
class TransitionLabelling(Labelling):
    """(s, a, s').

    >>> TransitionLabelling().text(((1, 1), "up", (1, 2))), TransitionLabelling().describe((0, "up", 1))
    ('(1, 1) –up→ (1, 2)', 'going from 0 by up to 1')
    """

    kind = "transition"
    noun = "transition (s, a, s')"
    parts = ("state", "action", "next_state")
    automatic = True

    def label(self, step: Step) -> Value:
        return step

    def label_steps(self, traces: Traces) -> Labels:
        ids, steps = distinct_steps(traces)
        return Labels(self.kind, ids, list(steps))

    def describe(self, label: On) -> str:
        if (found := self.split(label)) is None:
            return super().describe(label)
        state, action, after = (spell(part) for part in found.values())
        return f"going from {state} by {action} to {after}"

    def text(self, label: On, length: int = TEXT_LENGTH) -> str:
        if (found := self.split(label)) is None:
            return super().text(label, length)
        state, action, after = (one_line(show(part), max(8, length // 3)) for part in found.values())
        return f"{state} –{action}→ {after}"
