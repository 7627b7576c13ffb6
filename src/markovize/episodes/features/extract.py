"""From episodes to their features: names, kinds and columns. Work is done for what is distinct, not for each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from markovize.episodes.columns import Floats, Ints
from markovize.episodes.features.feature import Feature, Kind
from markovize.episodes.features.function import FeatureFunction, ObservationFeatures, function_columns
from markovize.episodes.features.paths import (
    ACTION,
    BEFORE,
    MOST_FEATURES,
    columns_of,
    count_scalars,
    rename_parts,
)
from markovize.episodes.features.scalars import Scalars, kind_of
from markovize.episodes.features.table import FeatureTable, unknown_feature
from markovize.episodes.labelling.base import distinct_steps
from markovize.episodes.traces import Traces
from markovize.episodes.values import Value
from markovize.errors import InputError, one_line


@dataclass(frozen=True)
class _Cells:
    """A feature's value for each of some distinct things, and which of them each step has."""

    scalars: Scalars
    ids: Ints


_OBSERVED: WeakKeyDictionary[Traces, list[tuple[str, Scalars]]] = WeakKeyDictionary()  # episodes never change


def extract_features(
    traces: Traces,
    *,
    function: FeatureFunction | None = None,
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    before: bool = False,
) -> FeatureTable:
    """The features of these episodes that are not constant.

    Features of s' and of the action, with ``before`` also those of s, and what ``function`` returns for (s, a, s'): it
    adds features, or replaces those of the same name. Numbers are numeric if any value of the feature is not whole,
    else categorical; ``numeric`` and ``categorical`` name the exceptions.

    >>> seen = [{"x": 0, "here": "hall"}, {"x": 1.5, "here": "door"}, {"x": 2, "here": "key"}]
    >>> table = extract_features(Traces.of([(seen, ["go", "go"], [0, 1])]))
    >>> [(feature.name, feature.kind) for feature in table.features], table.row(1), table.constant
    ([('here', 'categorical'), ('x', 'numeric')], ('key', 2), ('action',))
    """
    cells = _all_cells(traces, function, before)
    for name in (*numeric, *categorical):
        if name not in cells:
            raise unknown_feature(name, cells)
    if both := sorted({*numeric} & {*categorical}):
        raise InputError(f"the feature {one_line(both[0], 60)} cannot be numeric and categorical at once")
    features = [Feature(name, _chosen_kind(name, found, numeric, categorical)) for name, found in cells.items()]
    table = replace(_table(features, cells), mixed=tuple(_mixed(cells, categorical)))
    return _without_constants(table)


def tabulate_features(
    traces: Traces, features: Iterable[Feature], function: FeatureFunction | None = None
) -> FeatureTable:
    """Exactly these features, as a machine has them, of any episodes.

    >>> tabulate_features(Traces.of([([0, 1], ["go"], [0])]), [Feature("carrying", "categorical")])
    Traceback (most recent call last):
    markovize.errors.InputError: the machine's feature carrying is not among those of the episodes: action, state; if \
a function made it, give features= (--features module:function)
    """
    wanted = tuple(features)
    before = any(feature.name.startswith(BEFORE) for feature in wanted)
    cells = _all_cells(traces, function, before) if traces.steps else {}
    if cells and (traces.observation_names or traces.action_names):
        # a machine of other episodes may call the columns 0, 1, …, as an environment's vectors are
        cells = _all_cells(traces, function, before, by_name=False) | cells
    for feature in wanted if traces.steps else ():
        if feature.name not in cells:
            raise missing_feature(feature.name, cells, "the episodes", function is not None)
    return _table(wanted, cells)


def missing_feature(name: str, known: Iterable[str], of: str, given: bool) -> InputError:
    """What to say where a machine needs a feature that is not there."""
    known = sorted(known)
    listed = one_line(", ".join(known) or "none", 120)
    what = f"the machine's feature {one_line(name, 60)} is not among those of {of}: {listed}"
    advice = "features= does not return it"
    if not given:
        advice = "if a function made it, give features= (--features module:function)"
        if any(part.isdecimal() for part in known):
            advice += "; features=markovize.features.named(…) names the entries of vectors"
    return InputError(f"{what}; {advice}")


# --- cells: by name, before there are kinds ---------------------------------------------------------------------------


def _all_cells(
    traces: Traces, function: FeatureFunction | None, before: bool, *, by_name: bool = True
) -> dict[str, _Cells]:
    """Every feature; parts of lists are called as the columns that they come from, unless ``by_name`` forbids."""
    if not traces.steps:
        raise InputError("there are no steps, and so no features")
    own = function.describe(traces.observation_values) if isinstance(function, ObservationFeatures) else None
    observed = _observed(traces, own, optional=function is not None)
    acted = _named(traces.action_values, "actions", optional=function is not None)
    if by_name:
        observed = rename_parts(observed, () if own else traces.observation_names)
        acted = rename_parts(acted, traces.action_names)
    found = [(name, _Cells(scalars, traces.states_after())) for name, scalars in observed]
    if before:
        found += [(BEFORE + name, _Cells(scalars, traces.states_before())) for name, scalars in observed]
    found += [(_action_name(name), _Cells(scalars, traces.actions)) for name, scalars in acted]
    counts = Counter(name for name, _ in found)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise InputError(f"two parts of a step are called {one_line(twice[0], 60)}; rename one of them")
    cells = dict(found)
    if function is not None and own is None:
        ids, steps = distinct_steps(traces)
        cells |= {name: _Cells(Scalars(values), ids) for name, values in function_columns(function, steps).items()}
    if not cells:
        raise InputError("the steps have no features; give features=, a function of (state, action, next_state)")
    return cells


def _observed(traces: Traces, described: Sequence[Value] | None, *, optional: bool) -> list[tuple[str, Scalars]]:
    """The features of observations: their own parts, or those by which a function describes them."""
    if described:
        return _named(described, "observations", optional=optional)
    if not (columns := _OBSERVED.get(traces, [])):
        columns = _OBSERVED[traces] = _named(traces.observation_values, "observations", optional=optional)
    return columns


def _named(values: Sequence[Value], what: str, *, optional: bool) -> list[tuple[str, Scalars]]:
    """Names and columns; nothing where that cannot be, if a function gives the features instead."""
    try:
        if (many := count_scalars(values[0])) > MOST_FEATURES:
            raise InputError(
                f"the {what} consist of {many:,} numbers each; give features=, a function of "
                "(state, action, next_state) that says what matters"
            )
        return [(name, Scalars(column)) for name, column in columns_of(values, what)]
    except InputError:
        if optional:
            return []
        raise


def _action_name(name: str) -> str:
    return ACTION if name == "state" else f"{ACTION}.{name}"


def _mixed(cells: dict[str, _Cells], categorical: Collection[str]) -> Iterator[tuple[str, Value, Value]]:
    """Features with numbers and other values that nobody called categorical, with an example of either."""
    for name, found in cells.items():
        if name not in categorical and (examples := found.scalars.mixed) is not None:
            yield name, *examples


def _chosen_kind(name: str, cells: _Cells, numeric: Collection[str], categorical: Collection[str]) -> Kind:
    if name in numeric:
        return "numeric"
    return "categorical" if name in categorical else kind_of(cells.scalars.types)


# --- columns ----------------------------------------------------------------------------------------------------------


def _table(features: Sequence[Feature], cells: dict[str, _Cells]) -> FeatureTable:
    columns: list[Floats | Ints] = []
    values: list[tuple[Value, ...]] = []
    for feature in features:
        found = cells.get(feature.name) or _Cells(Scalars(()), np.zeros(0, np.int32))
        if feature.numeric:
            columns.append(found.scalars.numbers(feature.name)[found.ids])
            values.append(())
        else:
            codes, known = found.scalars.codes
            columns.append(codes[found.ids])
            values.append(known)
    return FeatureTable(tuple(features), tuple(columns), tuple(values))


def _without_constants(table: FeatureTable) -> FeatureTable:
    changing = [name for name, place in table.places.items() if np.any(table.columns[place] != table.columns[place][0])]
    constant = tuple(name for name in table.places if name not in changing)
    return replace(table.select(changing), constant=constant)
