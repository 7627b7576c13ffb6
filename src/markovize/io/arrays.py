"""Arrays of NumPy in one file, read without pickles and without trust."""

from __future__ import annotations

import io
import struct
import tokenize
import zipfile
import zlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from markovize.errors import InputError

# what NumPy and the zip archive beneath raise for bytes that are not as they wrote them
_DAMAGE: Final = (
    *(ValueError, LookupError, OSError, EOFError, TypeError, SyntaxError, RuntimeError, MemoryError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)


def load_arrays(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an ``.npz`` file.

    >>> load_arrays(b"PK")
    Traceback (most recent call last):
    markovize.errors.InputError: not an archive of arrays
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except _DAMAGE:
        raise InputError("not an archive of arrays") from None
