"""How a run is stopped without harm: checkpoints while it goes on, Ctrl-C and a time limit between two blocks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NoReturn

from markovize.learning.interrupts import Interrupt

CHECKPOINT_SECONDS = 1.0  # between two checkpoints, at least
SHARE = 20  # a checkpoint may take a twentieth of the time
MOMENT = 0.5  # seconds in which a block of episodes may come to its end after Ctrl-C; a run is to stop within two


class TimeIsUp(Exception):  # noqa: N818 - a signal, not an error
    """Raised where a run has to end, since its time limit is reached."""


class Stop:
    """Ctrl-C and the time limit, as the parts of a run hear them.

    A run can be resumed from the end of a block of episodes only. So a block that is soon over may end; one that is not
    is given up, and the last checkpoint is where the run goes on.

    >>> stop = Stop(Interrupt())
    >>> stop.check()
    >>> stop.requested, Stop(Interrupt(), time.monotonic() - 1.0).requested
    (False, True)
    """

    def __init__(self, interrupt: Interrupt, deadline: float | None = None) -> None:
        self.interrupt, self._limit = interrupt, deadline
        self._deadline: float | None = None

    @property
    def requested(self) -> bool:
        """Whether the user asked to stop, or time is up."""
        return self.interrupt.requested or (self._limit is not None and time.monotonic() >= self._limit)

    @property
    def remaining(self) -> float | None:
        """Seconds until time is up; None without a limit."""
        return None if self._limit is None else max(0.0, self._limit - time.monotonic())

    def check(self) -> None:
        """Raises a moment after a stop was requested."""
        if self.requested:
            now = time.monotonic()
            self._deadline = now + MOMENT if self._deadline is None else self._deadline
            if now >= self._deadline:
                self.end()

    def end(self) -> NoReturn:
        """Ends the run: by :class:`KeyboardInterrupt`, or by :class:`TimeIsUp`."""
        if self._limit is None or self.interrupt.requested:
            raise KeyboardInterrupt
        raise TimeIsUp


NEVER: Final = Stop(Interrupt())


class Checkpoints:
    """Saves a run after a while, again and again, and never so often that it takes more than a share of the time."""

    def __init__(self, save: Callable[[], None]) -> None:
        self._save, self._took = save, 0.0
        self._next = time.monotonic() + CHECKPOINT_SECONDS

    def due(self) -> bool:
        """Whether it is time again."""
        return time.monotonic() >= self._next

    def save(self) -> None:
        """Saves the run."""
        began = time.monotonic()
        self._save()
        now = time.monotonic()
        self._took = now - began
        self._next = now + max(CHECKPOINT_SECONDS, SHARE * self._took)

    def save_at_last(self) -> None:
        """Saves a run that stops now, unless that would take long: then the last checkpoint has to do."""
        if self._took <= MOMENT:
            self.save()
