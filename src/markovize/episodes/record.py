"""Observations with named parts, such as those of Gymnasium's Dict spaces: read like a dict, compared like a tuple."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Record(tuple[Any, ...]):
    """Names and values, sorted by name. Functions that label steps get one for each observation that is an object.

    >>> seen = Record({"direction": 3, "carrying": "key"})
    >>> seen["carrying"], list(seen.keys()), "direction" in seen, seen.get("mission", "none")
    ('key', ['carrying', 'direction'], True, 'none')
    """

    __slots__ = ()

    def __new__(cls, fields: Mapping[str, Any]) -> Record:
        return super().__new__(cls, sorted(fields.items()))

    def __getitem__(self, name: Any) -> Any:
        return dict(self.items())[name] if isinstance(name, str) else super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return name in dict(self.items())

    def get(self, name: str, default: Any = None) -> Any:
        """What stands under a name, or something else."""
        return dict(self.items()).get(name, default)

    def keys(self) -> Iterator[str]:
        """The names."""
        return (name for name, _ in tuple.__iter__(self))

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names and values."""
        return tuple.__iter__(self)

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {value!r}' for name, value in self.items())}}}"
