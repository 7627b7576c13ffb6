"""Sample episodes that come with the package, for trying things out.

``office-e`` is a patrol through an office that pays only when a, b, c, d were visited in this order; ``beach``
pays less for each time spent in the sun, and needs labels on transitions. ``benchmarks/make_samples.py`` made them.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Final

from markovize.errors import InputError

SAMPLES: Final = ("office-e", "beach")


def sample_path(name: str) -> Path:
    """Where a sample is.

    >>> sample_path("office-e").name
    'office-e.jsonl'
    >>> sample_path("moon")
    Traceback (most recent call last):
    markovize.errors.InputError: samples are office-e, beach, not 'moon'
    """
    if name not in SAMPLES:
        raise InputError(f"samples are {', '.join(SAMPLES)}, not {name!r}")
    return Path(str(resources.files("markovize").joinpath("data", f"{name}.jsonl")))
