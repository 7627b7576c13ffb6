"""Copies of other people's objects, which may not be made to be copied."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_last_words() -> Iterator[None]:
    """Within it, objects that raise when they are thrown away do so in silence.

    A copy that failed half-way leaves such objects behind (Box2D's do), and Python would print a traceback for each.
    """
    before, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = before
