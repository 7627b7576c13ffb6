"""The spaces of a Minari data set that is made from episodes alone, without their environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from gymnasium import spaces

from markovize.episodes.spaces import AnySpace
from markovize.episodes.values import Value, show
from markovize.errors import UnsupportedError, one_line


def smallest_space(values: Sequence[Value], what: str) -> AnySpace:
    """The smallest Gymnasium space that holds these values; refuses what no discrete space holds.

    >>> smallest_space([3, 5], "actions"), smallest_space([(0, 1), (0, 4)], "observations")
    (Discrete(3, start=3), MultiDiscrete([1 4], start=[0 1]))
    >>> smallest_space([0.5], "actions")
    Traceback (most recent call last):
    markovize.errors.UnsupportedError: no discrete space holds the actions (0.5 is one); give the environment, \
write_minari(…, env=…), or use another format
    """
    kinds = {type(value) for value in values}
    if kinds == {int} and all(abs(cast(int, value)) < 2**62 for value in values):
        numbers = cast(Sequence[int], values)
        return spaces.Discrete(max(numbers) - min(numbers) + 1, start=min(numbers))
    if kinds == {str}:
        texts = cast(Sequence[str], values)
        letters = "".join(sorted(set().union(*texts)))
        return spaces.Text(max(1, *map(len, texts)), min_length=min(map(len, texts)), charset=letters or "a")
    if kinds == {tuple}:
        widths = {len(cast(tuple[Value, ...], value)) for value in values}
        if len(widths) == 1 and widths != {0}:
            columns: list[Sequence[Value]] = list(zip(*cast(Any, values), strict=True))
            parts = [smallest_space(column, what) for column in columns]
            if all(isinstance(part, spaces.Discrete) for part in parts):
                ranges = cast(list["spaces.Discrete[Any]"], parts)
                return spaces.MultiDiscrete(
                    np.array([part.n for part in ranges]), start=np.array([part.start for part in ranges])
                )
            return spaces.Tuple(parts)
    odd = next((value for value in values if not isinstance(value, (int, str)) or isinstance(value, bool)), values[0])
    raise UnsupportedError(
        f"no discrete space holds the {what} ({one_line(show(odd), 40)} is one); "
        "give the environment, write_minari(…, env=…), or use another format"
    )
