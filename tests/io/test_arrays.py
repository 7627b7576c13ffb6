"""Archives of arrays: damaged ones are refused with one kind of error."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from damaged_files import mutate

from markovize.errors import InputError
from markovize.io.arrays import load_arrays


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_archives_are_refused(save: object) -> None:
    assert callable(save)
    out = io.BytesIO()
    save(out, facts=np.arange(300), text=np.frombuffer(b'{"a": 1}' * 40, np.uint8))
    whole, rng = out.getvalue(), random.Random(5)
    assert load_arrays(whole)["facts"].tolist() == list(range(300))
    refused = 0
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 3, 20))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            load_arrays(bytes(data) if rng.random() < 0.6 else mutate(whole, rng, [whole]))
        except InputError:
            refused += 1
    assert refused > 300


def test_pickles_are_refused() -> None:
    out = io.BytesIO()
    np.savez(out, dangerous=np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(InputError, match="not an archive of arrays"):
        load_arrays(out.getvalue())
