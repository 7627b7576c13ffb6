"""Calls into solvers that may take long: in a thread of their own, so that this one hears Ctrl-C and sees the clock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from markovize.learning.limits import Limits

T = TypeVar("T")
LOOK_SECONDS: Final = 0.05  # between two looks at the limits


class _Call(threading.Thread, Generic[T]):
    """Runs a function and keeps what it returned or raised."""

    def __init__(self, function: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._function = function
        self._returned: list[T] = []
        self._raised: BaseException | None = None

    def run(self) -> None:
        try:
            self._returned.append(self._function())
        except BaseException as error:
            self._raised = error

    def result(self) -> T:
        if self._raised is not None:
            raise self._raised
        return self._returned[0]


def run_aside(function: Callable[[], T]) -> T:
    """What the function returns, from a thread of its own.

    For native code that handles Ctrl-C itself where it runs in the main thread: PySAT's encodings leap out of whatever
    they do then, and if that is to allocate memory, nobody can any more.

    >>> run_aside(lambda: threading.current_thread() is threading.main_thread())
    False
    """
    call = _Call(function)
    call.start()
    call.join()
    return call.result()


def run_cancellable(function: Callable[[], T], cancel: Callable[[], None], limits: Limits) -> T:
    """What the function returns; ``cancel`` makes it return early when the limits say so, and :class:`Stop` goes on.

    The function must leave the interpreter to other threads, as solvers do.

    >>> run_cancellable(lambda: 42, lambda: None, Limits())
    42
    """
    call = _Call(function)
    call.start()
    try:
        while call.is_alive():
            call.join(LOOK_SECONDS)
            if call.is_alive():
                limits.check()
    except BaseException:
        cancel()
        call.join()
        raise
    return call.result()
