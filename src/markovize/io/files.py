"""Reading and writing files safely: clear errors, and never a half-written file."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from markovize.errors import InputError, one_line


def readable(path: str | os.PathLike[str]) -> Path:
    """The path, if a file can be read there; otherwise an error that says what is wrong.

    >>> readable("no/such/file.jsonl")
    Traceback (most recent call last):
    markovize.errors.InputError: no/such/file.jsonl: no such file
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError("is a folder, not a file", where=one_line(path))
        if not path.exists():
            raise InputError("no such file", where=one_line(path))
        if not os.access(path, os.R_OK):
            raise InputError("no permission to read this file", where=one_line(path))
    except (OSError, ValueError) as error:  # names that are too long or contain a zero byte
        if isinstance(error, InputError):
            raise
        raise InputError(_reason(error), where=one_line(path)) from None
    return path


@contextlib.contextmanager
def atomic_open(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that appears under its name only when the block ends without an error.

    It is written beside its target and renamed, so that a crash leaves the old file or the new one, never a piece.
    """
    path = Path(path)
    where = one_line(path)
    try:
        if path.is_dir():
            raise InputError("is a folder; give a file name", where=where)
        if not path.parent.is_dir():
            raise InputError(f"the folder {one_line(path.parent, 80)} does not exist", where=where)
        if path.exists() and not path.is_file():  # a pipe or a device must be written to, not replaced
            with path.open("wb") as direct:
                yield direct
            return
        target = Path(os.path.realpath(path))  # a link keeps pointing where it points
        temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
        # mode 0666 less the user's umask, as any program makes files; tempfile would leave them private
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be written: {_reason(error)}", where=where) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot be written: {_reason(error)}", where=where) from None
        raise


def atomic_write(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Writes the whole file or nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomic_write(Path(folder, "a.txt"), "hello")
    ...     Path(folder, "a.txt").read_text()
    'hello'
    """
    with atomic_open(path) as file:
        # JSON may hold lone surrogates; they survive writing and reading
        file.write(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as comma-separated values.

    >>> csv_text(("task", "seed"), [("b, full", 0)])
    'task,seed\\n"b, full",0\\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return out.getvalue()


def read_text(path: str | os.PathLike[str]) -> str:
    """The whole file as text, for the small machine formats."""
    path = readable(path)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start}); is this a binary file?", where=one_line(path)) from None


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return one_line(text).lower()
