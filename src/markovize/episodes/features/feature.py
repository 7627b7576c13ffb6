"""A feature: a named scalar of a step, ordered (numeric) or not (categorical)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from markovize.episodes.brief import BriefRepr
from markovize.errors import InputError, one_line

Kind: TypeAlias = Literal["numeric", "categorical"]
KINDS: Final[tuple[Kind, ...]] = ("numeric", "categorical")


@dataclass(frozen=True, order=True)
class Feature(BriefRepr):
    """What a guard may look at: ``x`` is of s', ``before.x`` of s, ``action`` of the action.

    >>> Feature("x", "numeric").to_json()
    {'name': 'x', 'kind': 'numeric'}
    >>> Feature("x", "colour")
    Traceback (most recent call last):
    markovize.errors.InputError: the kind of the feature x is numeric or categorical, not 'colour'
    """

    name: str
    kind: Kind

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"a feature's name is a text of at least one letter, not {one_line(repr(self.name), 40)}")
        if self.kind not in KINDS:
            shown = one_line(repr(self.kind), 40)
            raise InputError(
                f"the kind of the feature {one_line(self.name, 40)} is numeric or categorical, not {shown}"
            )

    @property
    def numeric(self) -> bool:
        """Whether its values are ordered."""
        return self.kind == "numeric"

    def to_json(self) -> dict[str, Any]:
        """As machine files hold it."""
        return {"name": self.name, "kind": self.kind}
