"""A file of episodes that grows by whole lines: nothing that was written is ever lost or half there.

Each finished episode is appended by a single write. A process killed within it may leave a torn last line; opening
the file again with ``append=True`` cuts it off.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from markovize.episodes.traces import Episode
from markovize.errors import InputError, UnsupportedError, one_line

AS_THEY_ARE: Final = "or record them as they are, with continuous=True, to learn guards over their features"
_BLOCK: Final = 1 << 16
_BINARY: Final = getattr(os, "O_BINARY", 0)  # Windows would turn \n into \r\n


class EpisodeFile:
    """Appends episodes as JSON lines, in the format that :func:`markovize.read_episodes` reads.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = EpisodeFile(Path(folder, "log.jsonl"))
    ...     file.append(Episode([0, (1, 2)], ["go"], [0.5], terminated=True))
    ...     print(file.path.read_text(), end="")
    {"observations": [0, [1, 2]], "actions": ["go"], "rewards": [0.5], "terminated": true, "truncated": false}
    """

    def __init__(self, path: str | os.PathLike[str], *, append: bool = False) -> None:
        self.path = Path(path).absolute()  # the program may change its folder later
        self.episodes = 0
        self._where = one_line(path)
        if self.path.suffix.lower() in (".csv", ".tsv", ".tab"):
            raise UnsupportedError(f"{self._where}: episodes are recorded as JSONL; `markovize convert` makes tables")
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_RDWR | _BINARY, 0o666)
            try:
                size = os.fstat(handle).st_size
                if size and not append:
                    raise InputError(
                        "holds something already; pass append=True to add to it, or choose another name",
                        where=self._where,
                    )
                whole = _whole_lines(handle, size)
                if whole < size:
                    os.ftruncate(handle, whole)
            finally:
                os.close(handle)
        except (OSError, ValueError) as error:  # a name may contain a zero byte
            if isinstance(error, InputError):
                raise
            raise self._unwritable(error) from None

    def append(self, episode: Episode) -> None:
        """Writes one episode as one line."""
        line = (json.dumps(episode.to_json(), allow_nan=False) + "\n").encode("ascii")
        try:
            # opened for each line: no handle to leak, to inherit, or to keep an environment from being copied
            handle = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | _BINARY, 0o666)
            try:
                written = os.write(handle, line)
                if written < len(line):  # the disk is full: take the piece back
                    os.ftruncate(handle, max(0, os.fstat(handle).st_size - written))
                    raise InputError("cannot be written: no space left for a whole episode", where=self._where)
            finally:
                os.close(handle)
        except OSError as error:
            raise self._unwritable(error) from None
        self.episodes += 1

    def _unwritable(self, error: Exception) -> InputError:
        if isinstance(error, FileNotFoundError):
            return InputError(f"the folder {one_line(self.path.parent, 80)} does not exist", where=self._where)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return InputError(f"cannot be written: {reason.lower()}", where=self._where)


def _whole_lines(handle: int, size: int) -> int:
    """Up to which byte the file consists of whole lines."""
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        os.lseek(handle, start, os.SEEK_SET)
        found = os.read(handle, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
