"""``source``: a step is called by the state that it leaves, s; so an episode's first observation can move a machine."""

from __future__ import annotations

from dataclasses import dataclass

from markovize.episodes.labelling.base import TEXT_LENGTH, Labelling, Labels, Step, spell
from markovize.episodes.traces import Traces
from markovize.episodes.values import On, Value


@dataclass(frozen=True)
class SourceLabelling(Labelling):
    """s.

    >>> SourceLabelling().label(("hall", "go", "office")), SourceLabelling().describe((1, 1))
    ('hall', 'leaving (1, 1)')
    """

    kind = "source"
    noun = "state s"
    parts = ("state",)
    compared = True

    def label(self, step: Step) -> Value:
        return step[0]

    def label_steps(self, traces: Traces) -> Labels:
        return Labels(self.kind, traces.states_before(), traces.observation_values)

    def describe(self, label: On) -> str:
        return f"leaving {spell(label)}"

    def text(self, label: On, length: int = TEXT_LENGTH) -> str:
        return f"from {super().text(label, length)}"
