"""What Gymnasium's spaces say of features: their names and kinds, before any step was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from markovize.episodes.features.feature import Kind
from markovize.episodes.features.paths import ACTION, STATE, join_names

if TYPE_CHECKING:
    from markovize.episodes.spaces import AnySpace


def kinds_of_space(space: AnySpace, name: str = "") -> dict[str, Kind]:
    """The features of a space's elements: a Box of floats is numeric, everything else that has values categorical.

    Spaces whose elements have no fixed parts (Sequence, Graph) have no features.

    >>> from gymnasium import spaces
    >>> kinds_of_space(spaces.Dict(at=spaces.Box(0.0, 1.0, (2,)), door=spaces.Discrete(3)))
    {'at.0': 'numeric', 'at.1': 'numeric', 'door': 'categorical'}
    >>> kinds_of_space(spaces.Discrete(4), "action"), kinds_of_space(spaces.MultiBinary(2))
    ({'action': 'categorical'}, {'0': 'categorical', '1': 'categorical'})
    """
    return {found or STATE: kind for found, kind in _kinds(space, name)}


def kinds_of_action(space: AnySpace) -> dict[str, Kind]:
    """The same for actions."""
    return kinds_of_space(space, ACTION)


def has_fixed_parts(space: AnySpace) -> bool:
    """Whether all elements of a space have the features that :func:`kinds_of_space` tells, and no others.

    >>> from gymnasium import spaces
    >>> has_fixed_parts(spaces.Tuple([spaces.Discrete(2)])), has_fixed_parts(spaces.Sequence(spaces.Discrete(2)))
    (True, False)
    """
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        return all(map(has_fixed_parts, space.spaces.values()))
    if isinstance(space, spaces.Tuple):
        return all(map(has_fixed_parts, space.spaces))
    scalars = (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary, spaces.Discrete, spaces.Text)
    return isinstance(space, scalars)


def _kinds(space: AnySpace, name: str) -> Iterator[tuple[str, Kind]]:
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        for key, part in sorted(space.spaces.items()):
            yield from _kinds(part, join_names(name, key))
    elif isinstance(space, spaces.Tuple):
        for place, part in enumerate(space.spaces):
            yield from _kinds(part, join_names(name, str(place)))
    elif isinstance(space, (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)):
        kind: Kind = "numeric" if np.dtype(space.dtype).kind == "f" else "categorical"
        for indices in np.ndindex(space.shape):
            yield ".".join([*([name] if name else []), *map(str, indices)]), kind
    elif isinstance(space, (spaces.Discrete, spaces.Text)):
        yield name, "categorical"
