"""``function``: a step is called by what a user's function of (s, a, s') returns, their own propositions."""

from __future__ import annotations

from dataclasses import dataclass, field

from markovize.episodes.labelling.base import LabelFunction, Labelling, Step
from markovize.episodes.values import Value, canonical
from markovize.errors import InputError


@dataclass(frozen=True)
class FunctionLabelling(Labelling):
    """What ``function`` returns. Without one, labels of machine files can be read and said, but no step be labelled.

    >>> warm = FunctionLabelling(lambda state, action, next_state: next_state > 20)
    >>> warm.label((18, "heat", 21)), warm.describe(True)
    (True, 'seeing true')
    """

    kind = "function"
    noun = "value of a function"
    needs_function = True

    function: LabelFunction | None = field(default=None, repr=False)

    def label(self, step: Step) -> Value:
        if self.function is None:
            raise InputError("the labels come from a user's function, and none was given")
        value = self.function(*step)
        if value is None:
            raise InputError(f"the label function returned None for the step {step}; return a value for every step")
        return canonical(value)
