"""Tells somebody where a run is, now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from markovize.agents.tabular.results import RunProgress

PAUSE: Final = 0.1  # seconds, between two reports


class Display:
    """Passes progress on, unless it did so only just now; where nobody listens, progress is not even looked at."""

    def __init__(self, tell: Callable[[RunProgress], None] | None) -> None:
        self._tell, self._told = tell, 0.0

    def show(
        self, look: Callable[[], RunProgress], *, note: str | None = None, doing: str = "", last: bool = False
    ) -> None:
        """Where the run is, as ``look`` has it; the last report is always made."""
        now = time.monotonic()
        if self._tell is None or (now - self._told < PAUSE and not last):
            return
        self._told = now
        progress = replace(look(), doing=doing)
        self._tell(progress if note is None else replace(progress, note=note))
