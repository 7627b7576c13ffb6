"""Features that a user's function of (s, a, s') adds or replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from markovize.episodes.features.paths import BEFORE, columns_of
from markovize.episodes.record import Record
from markovize.episodes.user_code import function_of_user, is_function_name
from markovize.episodes.values import Value, canonical
from markovize.errors import InputError, MarkovizeError, one_line

MOST_REMEMBERED: Final = 10_000  # observations; images are large
FeatureFunction: TypeAlias = Callable[[Any, Any, Any], Mapping[str, Any]]
Features: TypeAlias = "str | FeatureFunction"
"""How a user gives features of their own: a function of (state, action, next_state), or where it is found."""


@dataclass(frozen=True)
class ObservationFeatures:
    """Features of single observations, in place of the observations' own: what ``function`` returns for s' and for s.

    What it says of s has names that begin with ``before.``. Such a function is asked once for each distinct
    observation, and parts of observations that it does not mention, such as the pixels of an image, are no features.

    >>> features = ObservationFeatures(lambda seen: {"left": seen[0] < 0})
    >>> features((1, 5), "go", (-1, 5))
    {'left': True, 'before.left': False}
    """

    function: Callable[[Any], Mapping[str, Any]]
    _known: dict[Value, dict[str, Value]] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, state: Any, _action: Any, next_state: Any) -> dict[str, Any]:
        before = {BEFORE + name: value for name, value in self.function(state).items()}
        return {**self.function(next_state), **before}

    def describe(self, observations: Sequence[Value]) -> list[Value]:
        """What it says of each of these observations, as objects."""
        return [call_for_features(self._of_next, (observation,) * 3) for observation in observations]

    def __deepcopy__(self, _memo: object) -> ObservationFeatures:
        return self  # a frozen value; what it remembers is large

    def of_step(self, step: tuple[Value, Value, Value]) -> dict[str, Value]:
        """The features of a step, by their names; what is said of an observation is remembered."""
        before = {BEFORE + name: value for name, value in self._named(step[0]).items()}
        return {**self._named(step[2]), **before}

    def _named(self, observation: Value) -> dict[str, Value]:
        known = self._known.get(observation)  # no environment has true and 1 in one place
        if known is None:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            known = named_features(call_for_features(self._of_next, (observation,) * 3))
            self._known[observation] = known
        return known

    def _of_next(self, _state: Any, _action: Any, next_state: Any) -> Mapping[str, Any]:
        return self.function(next_state)


def feature_function(given: Features | None) -> FeatureFunction | None:
    """The function itself, where ``module:function`` names one.

    >>> feature_function("no-function")
    Traceback (most recent call last):
    markovize.errors.InputError: features= is a function of (state, action, next_state) that returns a mapping, or \
module:function, not 'no-function'
    """
    if isinstance(given, str) and is_function_name(given):
        return function_of_user(given)
    if given is not None and not callable(given):
        raise InputError(
            "features= is a function of (state, action, next_state) that returns a mapping, or module:function, not "
            + one_line(repr(given), 60)
        )
    return given


def call_for_features(function: FeatureFunction, step: tuple[Value, Value, Value]) -> Record:
    """What the function says of one step (s, a, s').

    >>> call_for_features(lambda s, a, t: {"gain": t - s}, (3, "go", 5))
    {'gain': 2}
    """
    name = one_line(getattr(function, "__qualname__", type(function).__name__), 60)
    try:
        found = function(*step)
    except MarkovizeError:
        raise
    except Exception as error:  # a user's code may raise anything
        failed = one_line(f"{type(error).__name__}: {error}", 120)
        raise InputError(
            f"features: {name} failed with {failed} at {_place(step)}; it must take every (state, action, next_state)"
        ) from error
    if not isinstance(found, Mapping):
        raise InputError(
            f"features: {name} must return a mapping of names to values, not {one_line(found, 40)} for {_place(step)}"
        )
    try:
        record = canonical(dict(found), objects=True)
    except InputError as error:
        raise InputError(f"features: what {name} returned for {_place(step)} cannot be used: {error}") from None
    assert isinstance(record, Record)
    return record


def _place(step: tuple[Value, Value, Value]) -> str:
    return f"the step {one_line(step, 80)}"


def named_features(record: Record) -> dict[str, Value]:
    """What a function returned, flat: by the names of the features.

    >>> named_features(Record({"at": (1, 2), "lit": True}))
    {'at.0': 1, 'at.1': 2, 'lit': True}
    """
    return {name: cells[0] for name, cells in columns_of([record], "features") if record}


def function_columns(
    function: FeatureFunction, steps: Sequence[tuple[Value, Value, Value]]
) -> dict[str, Sequence[Value]]:
    """A column for each feature that the function returns, with an entry for each of these steps."""
    records = [call_for_features(function, step) for step in steps]
    if not any(records):
        return {}
    return dict(columns_of(records, "features that the function returned"))
