"""What tests of learning share."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from functools import partial

import pytest


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[], None]]:
    """Presses Ctrl-C, as in a terminal whatever started the tests; at the end Python must handle it again."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield partial(signal.raise_signal, signal.SIGINT)
    after = signal.signal(signal.SIGINT, before)
    assert after is signal.default_int_handler, "the handler was not taken away"
