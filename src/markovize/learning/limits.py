"""When a search ends: time, counted work, Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from markovize.learning.interrupts import Interrupt

MOMENT: Final = 0.15  # seconds, past the limit, for what makes a machine easier to read


class Stop(Exception):  # noqa: N818 - a signal, not an error
    """Raised where work may end: time is up, or the user pressed Ctrl-C. Nothing is half done then."""


@dataclass(frozen=True)
class Limits:
    """When to give up: ``deadline`` in seconds of :func:`time.monotonic`, ``work`` in the engine's own count.

    ``pulse`` is called often, to move the progress display; ``interrupt`` is how Ctrl-C is heard. Only ``work`` may
    decide which way a search goes: the clock can end it, never steer it.
    """

    deadline: float | None = None
    work: int | None = None
    pulse: Callable[[], None] = field(default=lambda: None)
    interrupt: Interrupt = field(default_factory=Interrupt)

    def check(self) -> None:
        """Raises :class:`Stop` when the deadline has passed or the user asked to stop."""
        self.pulse()
        if self.interrupt.requested or (self.deadline is not None and time.monotonic() > self.deadline):
            raise Stop

    def remaining(self) -> float | None:
        """Seconds left, or None without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def a_moment_more(self) -> Limits:
        """Where time is up or the user asked to stop, a moment for what makes a machine easier to read."""
        soon = time.monotonic() + MOMENT
        if self.interrupt.requested:
            return Limits(soon)
        return self if self.deadline is None else replace(self, deadline=max(self.deadline, soon))
