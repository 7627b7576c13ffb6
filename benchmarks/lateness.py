"""How long a process goes on after its time was up: by the clock, and by the processor time that it took.

    watch = Watch(os.getpid())
    watch.begin(limit)
    work()
    late = watch.end(own_seconds())          # late.clock, late.processor

On a machine with other work to do, the clock tells as well how long others were served. What the process itself did too
late is its processor time from the limit on. Another process reads that when the limit is reached, because this one may
be in the middle of compiled code then.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import NamedTuple

# what the kernel counts for a process: in it, for it, and both for those of its children that have ended
READER = """
import os, sys, time
deadline = float(input())
time.sleep(max(0.0, deadline - time.monotonic()))
with open(f"/proc/{sys.argv[1]}/stat") as file:
    ticks = file.read().rpartition(")")[2].split()[11:15]
print(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), time.monotonic())
"""


class Late(NamedTuple):
    """Seconds after the limit; those by the clock are negative where the end came before it."""

    clock: float
    processor: float

    @property
    def seconds(self) -> float:
        """By the clock, or by the processor if that is less: others were served in between."""
        return min(self.clock, max(self.processor, 0.0)) if self.clock > 0 else self.clock


class Watch:
    """Watches one process and its limit. Make it first, since that takes some time itself."""

    def __init__(self, process: int) -> None:
        command = [sys.executable, "-S", "-E", "-c", READER, str(process)]
        self._reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._deadline = 0.0

    def begin(self, limit: float) -> None:
        """The time runs from now on."""
        assert self._reader.stdin is not None
        self._deadline = time.monotonic() + limit
        self._reader.stdin.write(f"{self._deadline!r}\n")
        self._reader.stdin.flush()

    def end(self, processor: float) -> Late:
        """It has ended, having used so many seconds of the processor since it was started."""
        clock = time.monotonic() - self._deadline
        if clock <= 0:
            self._reader.kill()
        told, _ = self._reader.communicate()
        if clock <= 0 or not told:  # in time, or on a system that does not tell
            return Late(clock, clock)
        used, read = map(float, told.split())
        return Late(clock, processor - used + (read - self._deadline))  # if it was read too late: all of that counts


def own_seconds() -> float:
    """Of the processor, for this process and those of its children that have ended."""
    return sum(os.times()[:4])


def seconds_of_children() -> float:
    """Of the processor, for all children that have ended."""
    return sum(os.times()[2:4])
