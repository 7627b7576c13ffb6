"""Steps that may be left unexplained, as clauses: for every formula that explains steps."""

from __future__ import annotations

from collections.abc import Callable


class OutlierCount:
    """At most so many steps are outliers, in a unary count that grows with each mark."""

    def __init__(self, new: Callable[[], int], add: Callable[[list[int]], object]) -> None:
        self._new, self._add = new, add
        self._so_far: list[int] = []  # "at least 1 step was left unexplained so far", "at least 2", …

    def outlier(self, steps: int, most: int) -> int:
        """The variable "these steps, of which all or none are, are outliers"; at most so many steps are, in all."""
        here, before = self._new(), self._so_far
        if steps > most:
            self._add([-here])
            return here
        after = [self._new() for _ in range(most)]
        for j in range(most):
            if before:
                self._add([-before[j], after[j]])
            if j < steps:
                self._add([-here, after[j]])
            elif before:
                self._add([-here, -before[j - steps], after[j]])
        if before:
            self._add([-here, -before[most - steps]])
        self._so_far = after
        return here
