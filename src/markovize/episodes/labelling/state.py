"""``state``: a step is called by the state that it enters, s'. The paper's labels, and the coarsest of ``auto``."""

from __future__ import annotations

from dataclasses import dataclass

from markovize.episodes.labelling.base import Labelling, Labels, Step, spell
from markovize.episodes.traces import Traces
from markovize.episodes.values import On, Value


@dataclass(frozen=True)
class StateLabelling(Labelling):
    """s'.

    >>> StateLabelling().label(("hall", "go", "office")), StateLabelling().describe((1, 1))
    ('office', 'entering (1, 1)')
    """

    kind = "state"
    noun = "state s'"
    parts = ("next_state",)
    automatic = True

    def label(self, step: Step) -> Value:
        return step[2]

    def label_steps(self, traces: Traces) -> Labels:
        return Labels(self.kind, traces.states_after(), traces.observation_values)

    def describe(self, label: On) -> str:
        return f"entering {spell(label)}"
