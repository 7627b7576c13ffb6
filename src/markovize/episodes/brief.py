"""Values that hold much, shown in a few lines: ``repr`` is for people."""

from __future__ import annotations

from dataclasses import fields
from reprlib import Repr
from typing import TYPE_CHECKING, Any, Final

from markovize.errors import one_line

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LONGEST: Final = 790  # characters of a repr: ten lines of 79
WHOLE: Final = 400  # characters up to which nothing is left out
_ITEMS: Final = 6  # of a list, where not all are shown


class BriefRepr:
    """For dataclasses: ``repr`` as dataclasses have it, with long fields cut so that all fits ten lines.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Log(BriefRepr):
    ...     name: str
    ...     values: list[int]
    >>> Log("short", [1, 2]), Log("long", list(range(1000)))
    (Log(name='short', values=[1, 2]), Log(name='long', values=[0, 1, 2, 3, 4, 5, ...]))
    """

    def __init_subclass__(cls) -> None:
        cls.__repr__ = brief_repr  # type: ignore[method-assign, assignment]  # or the dataclass writes its own


def brief_repr(thing: DataclassInstance) -> str:
    """The fields of a dataclass, those that its ``repr`` shows, in at most ten lines."""
    values = [(field.name, getattr(thing, field.name)) for field in fields(thing) if field.repr]
    for length in (WHOLE, 120, 60, 30):
        text = ", ".join(f"{name}={_short(value, length)}" for name, value in values)
        text = f"{type(thing).__qualname__}({text})"
        if len(text) <= (WHOLE if length == WHOLE else LONGEST):
            return text
    return one_line(text, LONGEST)


def _short(value: Any, length: int) -> str:
    """At most about this long; of long lists only the first are looked at."""
    short = Repr()
    short.maxlist = short.maxtuple = short.maxdict = short.maxset = short.maxfrozenset = (
        length if length == WHOLE else _ITEMS
    )
    short.maxstring = short.maxother = short.maxlong = length
    return one_line(short.repr(value), length)
