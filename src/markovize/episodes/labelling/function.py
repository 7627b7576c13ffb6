"""``function``: a step is called by what a user's function of (s, a, s') returns, their own propositions."""

from __future__ import annotations

from dataclasses import dataclass, field

from markovize.episodes.labelling.base import LabelFunction, Labelling, Step
from markovize.episodes.values import Value, canonical
from markovize.errors import InputError, MarkovizeError, one_line


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
        try:
            value = self.function(*step)
        except MarkovizeError:
            raise
        except Exception as error:  # a user's code may raise anything
            failed = f"{type(error).__name__}: {error}"
            raise InputError(
                f"{self._name} failed with {one_line(failed, 120)} at the step {_brief(step)}; "
                "it must take every (state, action, next_state)"
            ) from error
        if value is None:
            raise InputError(f"{self._name} returned None for the step {_brief(step)}; return a value for every step")
        try:
            return canonical(value)
        except InputError as error:
            raise InputError(f"what {self._name} returned for the step {_brief(step)} is no label: {error}") from None

    @property
    def _name(self) -> str:
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        return f"the label function {one_line(name, 60)}"


def _brief(step: Step) -> str:
    return one_line(step, 80)
