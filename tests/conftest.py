"""What all tests share."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start background jobs with Ctrl-C ignored, and whatever these start inherits that. Commands that are tested
    # with a signal would never hear it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
