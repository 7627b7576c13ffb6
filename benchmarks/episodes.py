"""The nine files of episodes that the benchmarks share: shipped in ``benchmarks/data``, checked by their sums.

A benchmark on other episodes would be another benchmark, so a file that is missing or different is an error.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np

from markovize import Traces
from markovize.worlds import noisy_walks, world

DATA = Path(__file__).resolve().parent / "data"
NAMES = (
    "breakfast-b-full",
    "breakfast-b-cumulative",
    "breakfast-c-full",
    "breakfast-c-cumulative",
    "office-b",
    "office-c",
    "office-d",
    "office-e",
    "office-loop",
)


def load(name: str) -> Traces:
    """The episodes of one of the nine files, after a look at their sum."""
    content = gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes())
    if (found := hashlib.sha256(content).hexdigest()) != sums()[f"{name}.jsonl"]:
        raise SystemExit(f"{name}: these are not the episodes of the table (SHA-256 {found})")
    return Traces.of(json.loads(line) for line in content.splitlines())


def walk_anew(name: str, seed: int) -> Traces:
    """As many steps in the same task as the file has, by fresh walks."""
    place, task, *paid = name.split("-")
    here, like = world(place, task=task, **({"rewards": paid[0]} if paid else {})), load(name)
    walks = noisy_walks(here, 4 * len(like), np.random.default_rng(seed))
    return walks.select(np.arange(np.searchsorted(walks.offsets, like.steps)))


@cache
def sums() -> dict[str, str]:
    """SHA-256 of each file, decompressed, by its name."""
    lines = (DATA / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}
