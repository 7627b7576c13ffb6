"""``learn --certificate``: the folder is looked at before the search, and written after it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from markovize.episodes.traces import Traces
    from markovize.learning.result import LearnResult


def check(folder: Path, holdout: float | None, *, exact: bool) -> None:
    """Fails before a long solve, not after it."""
    from markovize.certificate.make import check_folder

    if not exact:
        raise typer.BadParameter("--certificate is for rewards that are exact: no bound is proven of random ones")
    if holdout is not None:
        raise typer.BadParameter("--certificate is about all episodes of a file; leave out --holdout")
    check_folder(folder)


def write(result: LearnResult, folder: Path, read_again: Callable[[], Traces]) -> dict[str, Any]:
    """Writes the certificate; what ``--json`` says about it. Episodes that were merged as they came are read again."""
    merged = result.evidence is not None and result.evidence.traces is None
    start = time.monotonic()
    made = result.certificate(read_again() if merged else None)
    made.save(folder)
    seconds = round(time.monotonic() - start, 6)
    return {"folder": str(folder), "claims": len(made.fields["claims"]), "seconds": seconds}
