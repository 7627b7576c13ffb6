"""Ctrl-C, heard in one way by every layer: the signal sets a flag, and whoever works looks at it between two steps.

A :class:`KeyboardInterrupt` that strikes anywhere tears what is half done, and Python drops one that strikes in a
destructor. So long work runs inside :func:`interruptible`: there the first signal only sets a flag, and the work ends
at the next place where that is safe, with the best that it has. A second signal raises at once, as ever.

Layers nest. The outermost installs the handler and takes it away again; those inside share its flag, so that a search
inside a run ends early, and the run sees why.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Whether the user asked to stop.

    >>> interrupt = Interrupt()
    >>> interrupt.requested
    False
    >>> interrupt.request()
    >>> interrupt.requested
    True
    """

    def __init__(self) -> None:
        self._requested = self._heard = False

    @property
    def requested(self) -> bool:
        """Whether to end soon. Whoever sees True answers for it: by an early end that says so, or by an exception."""
        self._heard = self._heard or self._requested
        return self._requested

    def request(self) -> None:
        """Asks to end soon, as the first Ctrl-C does."""
        self._requested = True

    def raise_if_requested(self) -> None:
        """For work that has nothing to hand over when it ends early."""
        if self.requested:
            raise KeyboardInterrupt

    @property
    def _ignored(self) -> bool:
        return self._requested and not self._heard

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._requested:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.default_int_handler(number, frame)
        self._requested = True

    @property
    def _listening(self) -> bool:
        return signal.getsignal(signal.SIGINT) == self._on_signal


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Inside, the first Ctrl-C sets ``requested`` and does nothing else; the second raises :class:`KeyboardInterrupt`.

    Signals are handled in the main thread only. In any other this shares what the main thread has installed, if
    anything. A program that handles or ignores SIGINT in its own way keeps that way. A request that nobody has looked
    at until the end becomes a :class:`KeyboardInterrupt` there: none is lost.

    >>> with interruptible() as interrupt:
    ...     signal.raise_signal(signal.SIGINT)
    ...     with interruptible() as inner:
    ...         print(inner.requested, inner is interrupt)
    True True
    """
    global _outermost
    if _outermost is not None and _outermost._listening:
        yield _outermost
        return
    interrupt = Interrupt()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupt
        return
    try:
        _outermost = interrupt
        signal.signal(signal.SIGINT, interrupt._on_signal)
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupt._ignored:
        raise KeyboardInterrupt


_outermost: Interrupt | None = None
