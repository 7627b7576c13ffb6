"""Compressed text files, known by the last ending of their names: ``.gz`` and ``.zst``.

Zstandard comes with Python from 3.14 on, before that with the extra ``data``.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

from markovize.errors import InputError, one_line
from markovize.extras import load
from markovize.io.files import atomic_open, readable

ENDINGS: Final = (".gz", ".zst")


def compression_of(path: str | os.PathLike[str]) -> str:
    """The ending that says how the file is compressed; nothing if it is not.

    >>> compression_of("walks.jsonl.GZ"), compression_of("walks.jsonl")
    ('.gz', '')
    """
    suffix = Path(path).suffix.lower()
    return suffix if suffix in ENDINGS else ""


def uncompressed_name(path: str | os.PathLike[str]) -> str:
    """The file's name without the ending that says how it is compressed.

    >>> uncompressed_name("logs/walks.jsonl.zst"), uncompressed_name("walks.csv")
    ('walks.jsonl', 'walks.csv')
    """
    name, ending = Path(path).name, compression_of(path)
    return name.removesuffix(name[-len(ending) :]) if ending else name


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The bytes of a file as they were before they were compressed; one that is cut off or damaged is refused."""
    path = readable(path)
    ending = compression_of(path)
    if not ending:
        with path.open("rb") as file:
            yield file
        return
    zstd = _zstd() if ending == ".zst" else None
    damage = (EOFError, zlib.error, gzip.BadGzipFile, *((zstd.ZstdError,) if zstd else ()))
    try:
        with gzip.open(path, "rb") if zstd is None else zstd.open(path, "rb") as file:
            yield cast("IO[bytes]", file)
    except damage as error:
        reason = one_line(str(error), 80).rstrip(".")
        raise InputError(f"is damaged, or not a {ending} file: {reason}", where=one_line(path)) from None


@contextmanager
def atomic_open_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """As :func:`~markovize.io.files.atomic_open`, compressed if the name says so. Equal input gives equal bytes."""
    ending = compression_of(path)
    zstd = _zstd() if ending == ".zst" else None
    with atomic_open(path) as file:
        if ending == ".gz":
            # without the name and the time, which differ from file to file
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed, io.BufferedWriter(_raw(packed)) as buffered:
                yield buffered
        elif zstd is not None:
            with zstd.open(file, "wb") as packed:
                yield packed
        else:
            yield file


def _raw(file: gzip.GzipFile) -> io.RawIOBase:
    return cast("io.RawIOBase", file)  # it has what a buffer needs: many small writes are slow without one


def _zstd() -> Any:
    return load(
        "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", "reading or writing .zst", "data"
    )
