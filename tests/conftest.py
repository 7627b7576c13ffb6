"""What all tests share: Ctrl-C is heard, and how many examples Hypothesis tries.

``make test`` tries fewer than its own default of a hundred, ``make test-long`` many more. A test that says
``max_examples`` itself has its number in both, since its examples are slow ones. There are no deadlines: a busy
machine is no reason to fail.
"""

from __future__ import annotations

import signal

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start background jobs with Ctrl-C ignored, and whatever these start inherits that. Commands that are tested
    # with a signal would never hear it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("test", max_examples=50, deadline=None)
settings.register_profile("long", max_examples=1_000, deadline=None)
settings.load_profile("test")
