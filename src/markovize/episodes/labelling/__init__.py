"""What a step is called: labellings, one file for each kind, and the registry of all kinds.

A step has two labels, chosen independently: the *trigger label* moves the machine, the *reward label* selects the
reward. ``state`` is s', ``source`` is s, ``choice`` is (s, a), ``transition`` is (s, a, s'); a function of
``(state, action, next_state)`` brings a user's own propositions, given itself or by where it is found,
``module:function``.
"""

from __future__ import annotations

from markovize.episodes.labelling.base import (
    TEXT_LENGTH,
    LabelFunction,
    LabelFunctions,
    Labelling,
    LabelOn,
    Labels,
    Part,
    Step,
)
from markovize.episodes.labelling.registry import (
    AUTO,
    auto_order,
    kind_names,
    labelling_for,
    labelling_named,
    labelling_of,
    loaded,
    named_kinds,
    pairs_to_compare,
    pairs_to_try,
    register,
)

__all__ = [
    "AUTO",
    "TEXT_LENGTH",
    "LabelFunction",
    "LabelFunctions",
    "LabelOn",
    "Labelling",
    "Labels",
    "Part",
    "Step",
    "auto_order",
    "kind_names",
    "labelling_for",
    "labelling_named",
    "labelling_of",
    "loaded",
    "named_kinds",
    "pairs_to_compare",
    "pairs_to_try",
    "register",
]
