"""What a snapshot of a run must hold: its facts by type, its columns by type and length."""

from __future__ import annotations

from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from markovize.agents.tabular.results import Solve
from markovize.episodes.schema import fit
from markovize.errors import InputError

COLUMNS: Final[dict[str, npt.DTypeLike]] = {
    "returns": np.float64,
    "lengths": np.int32,
    "kept_offsets": np.int64,
    "kept_transitions": np.int32,
    "kept_rewards": np.float64,
    "kept_terminated": np.bool_,
    "recent_seeds": np.int64,
    "recent_ends": np.int64,
    "recent_transitions": np.int32,
    "recent_rewards": np.float64,
}
Count = Annotated[int, Meta(ge=0)]


class ScheduleFacts(Struct):
    """Which episode comes next, and how many there are."""

    episode: Count
    total: Count | None


class HorizonFacts(Struct):
    """How far exploration goes."""

    steps: Annotated[float, Meta(ge=1)]
    quiet: Count
    rests: Count


class CodecFacts(Struct):
    """What was met, and what it is labelled by."""

    observations: list[Any]
    labels: Annotated[list[str], Meta(min_length=2, max_length=2)]
    transition_labels: list[list[Any]] = []  # where states do not tell all that labels are made of


class TiesFacts(Struct):
    """What is known of other machines as small."""

    unique_since: Count | None
    waits: bool
    rests: bool


class Facts(Struct):
    """All that is not in arrays."""

    format: int
    settings: dict[str, Any]
    environment: dict[str, Any]
    rng: dict[str, Any]
    machine: dict[str, Any]
    solves: list[Solve]
    pending: bool
    status: str
    exemplars: Count
    schedule: ScheduleFacts
    horizon: HorizonFacts
    notes: list[str]
    optimal_since: Count | None
    seconds: Annotated[float, Meta(ge=0)]
    codec: CodecFacts
    ties: TiesFacts | None = None


def check_facts(facts: dict[str, Any]) -> Facts:
    """The facts of a snapshot, if they are of the right types."""
    return fit(facts, Facts, "a checkpoint")


def check_columns(arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Refuses columns of other types, or of lengths that do not go together."""
    for name, kind in COLUMNS.items():
        column = arrays.get(name)
        if column is None or column.dtype != kind or column.ndim != 1:
            raise InputError(f"not a checkpoint of a run: no column {name} of {np.dtype(kind)}")
    codec = arrays.get("codec")
    if codec is None or codec.dtype != np.int32 or codec.ndim != 2 or len(codec) != 3:
        raise InputError("not a checkpoint of a run: no transitions")
    offsets, ends = arrays["kept_offsets"], np.concatenate([[0], arrays["recent_ends"]])
    fit_together = (
        len(arrays["returns"]) == len(arrays["lengths"])
        and len(offsets) == len(arrays["kept_terminated"]) + 1
        and _cuts(offsets, len(arrays["kept_transitions"]), len(arrays["kept_rewards"]))
        and len(arrays["recent_seeds"]) == len(arrays["recent_ends"])
        and _cuts(ends, len(arrays["recent_transitions"]), len(arrays["recent_rewards"]))
    )
    if not fit_together:
        raise InputError("not a checkpoint of a run: its columns do not go together")


def check_numbers(numbers: npt.NDArray[Any], below: int, what: str) -> None:
    """Refuses numbers of things that are not there."""
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < below:
        raise InputError(f"not a checkpoint of a run: {what} that never happened")


def _cuts(offsets: npt.NDArray[Any], *lengths: int) -> bool:
    """Whether these cut columns of such lengths into pieces, none of them empty."""
    return offsets[0] == 0 and bool((np.diff(offsets) > 0).all()) and all(offsets[-1] == n for n in lengths)
