"""The features of one step, for machines that follow an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markovize.episodes.features.extract import missing_feature
from markovize.episodes.features.feature import Feature
from markovize.episodes.features.function import (
    FeatureFunction,
    ObservationFeatures,
    call_for_features,
    named_features,
)
from markovize.episodes.features.literal import number_of
from markovize.episodes.features.paths import ACTION, BEFORE, STATE, columns_of, scalar_at
from markovize.episodes.values import Value, show
from markovize.errors import InputError, one_line


def step_values(
    features: Sequence[Feature], step: tuple[Value, Value, Value], function: FeatureFunction | None = None
) -> tuple[Value, ...]:
    """The values of these features at a step (s, a, s').

    >>> step_values([Feature("1", "numeric"), Feature("before.0", "numeric"), Feature("action", "categorical")],
    ...     ((0.5, 2), "go", (1.5, 3)))
    (3, 0.5, 'go')
    """
    own = _own_features(function, step)
    out: list[Value] = []
    for feature in features:
        value = own.get(feature.name)
        if value is None:
            value = _part_of(step, feature.name)
        if value is None:
            raise missing_feature(feature.name, {*own, *_names_of(step)}, "the step", function is not None)
        if feature.numeric and number_of(value) is None:
            shown = one_line(show(value), 40)
            raise InputError(f"the feature {one_line(feature.name, 60)} is not numeric: {shown} is no number")
        out.append(value)
    return tuple(out)


def _own_features(function: FeatureFunction | None, step: tuple[Value, Value, Value]) -> Mapping[str, Value]:
    if function is None:
        return {}
    if isinstance(function, ObservationFeatures):
        return function.of_step(step)
    return named_features(call_for_features(function, step))


def _part_of(step: tuple[Value, Value, Value], name: str) -> Value | None:
    before, action, after = step
    value = scalar_at(after, name)
    if value is None and (name == ACTION or name.startswith(ACTION + ".")):
        value = scalar_at(action, name[len(ACTION) + 1 :] or STATE)
    if value is None and name.startswith(BEFORE):
        value = scalar_at(before, name[len(BEFORE) :])
    return value


def _names_of(step: tuple[Value, Value, Value]) -> set[str]:
    try:
        return {name for name, _ in columns_of([step[2]], "observations")}
    except InputError:
        return set()
