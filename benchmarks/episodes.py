"""The nine files of episodes that the benchmarks share: shipped in ``benchmarks/data``, checked by their sums.

A benchmark on other episodes would be another benchmark, so a file that is missing or different is an error.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path

from markovize import Traces

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


@cache
def sums() -> dict[str, str]:
    """SHA-256 of each file, decompressed, by its name."""
    lines = (DATA / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}
