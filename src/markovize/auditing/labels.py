"""What an observation or action is called: any space, so that an audit can compare what ``learn`` would refuse."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from markovize.episodes.values import Value, canonical
from markovize.errors import InputError

LONGEST: Final = 32  # numbers; larger arrays are called by a digest


def label_of(raw: Any) -> Value:
    """A value that is equal exactly for equal observations, and short enough to be shown.

    >>> import numpy as np
    >>> label_of({"image": np.zeros((7, 7, 3)), "direction": np.int64(2)})
    (('direction', 2), ('image', 'array 7x7x3 #99dec5d134029ac9'))
    >>> label_of(np.array([0.5, np.inf]))
    'array 2 #7d748985c4b31942'
    """
    if type(raw) is int:
        return raw
    if isinstance(raw, Mapping):
        return tuple([(str(name), label_of(raw[name])) for name in sorted(raw, key=str)])
    if isinstance(raw, (tuple, list)):
        return tuple([label_of(part) for part in raw])
    if isinstance(raw, np.ndarray) and raw.size > LONGEST:
        return _digest(raw)
    try:
        return canonical(raw)
    except InputError:  # NaN, infinities, or a class of somebody else's
        return _digest(raw) if isinstance(raw, np.ndarray) else repr(raw)


def _digest(array: np.ndarray[Any, Any]) -> str:
    content = np.ascontiguousarray(array)
    kind = f"{content.dtype.str}{content.shape}".encode()
    return f"array {'x'.join(map(str, array.shape))} #{hashlib.sha1(kind + content.tobytes()).hexdigest()[:16]}"
