"""Sends Ctrl-C to a command at some instant, and tells how it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

READY = "ready"
START = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal, whatever started the tests
from markovize.cli.app import main
from markovize.learning.warm_up import warm_up
warm_up()
print({READY!r}, file=sys.stderr, flush=True)
main()
"""


class Ended(NamedTuple):
    """How a command ended that was interrupted: seconds by the clock and of processor time since the signal."""

    code: int
    clock: float
    processor: float
    out: str
    err: str

    @property
    def seconds(self) -> float:
        """What it took; on a machine that is busy with other things, the processor time."""
        return min(self.clock, self.processor)


def interrupt(arguments: list[str], folder: Path, after: float) -> Ended:
    """Runs ``markovize ARGUMENTS`` and presses Ctrl-C once, so many seconds after all is loaded and compiled."""
    files = [(folder / name).open("w+") for name in ("stdout.txt", "stderr.txt")]
    command = [sys.executable, "-c", START, *arguments]
    with files[0] as out, files[1] as err, subprocess.Popen(command, cwd=folder, stdout=out, stderr=err) as child:
        while READY not in Path(err.name).read_text():
            assert child.poll() is None, Path(err.name).read_text()
            time.sleep(0.01)
        time.sleep(after)
        assert child.poll() is None, f"over before Ctrl-C: {Path(out.name).read_text()}"
        used, pressed = _processor_seconds(child.pid), time.monotonic()
        child.send_signal(signal.SIGINT)
        try:
            _, status, usage = os.wait4(child.pid, 0)
        finally:
            child.returncode = -signal.SIGKILL
        clock = time.monotonic() - pressed
        child.returncode = os.waitstatus_to_exitcode(status)
        texts = [Path(file.name).read_text() for file in (out, err)]
    spent = usage.ru_utime + usage.ru_stime - used
    return Ended(child.returncode, clock, spent, texts[0], texts[1].replace(f"{READY}\n", ""))


def _processor_seconds(process: int) -> float:
    """Of a process that is running; endless where that is not told."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1e9
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
