"""What something was learned from: so many episodes, as the engines see them, under these options.

A fact about some episodes holds for more of them, and for nothing else. So every fact is kept with the identity of its
episodes, and believed only where the new episodes begin with exactly those.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from markovize.episodes.columns import Floats, Ints
from markovize.episodes.labelled_steps import LabelledSteps


@dataclass(frozen=True)
class Identity:
    """The digest of the first ``episodes`` episodes and of the options.

    Labels and outcomes count by their numbers, in order of first appearance, not by their values: whoever renames all
    of them alike asks the same question. With a tolerance it matters how far rewards are apart, so that they count too.
    """

    episodes: int
    digest: str


def identify(
    steps: LabelledSteps, options: object, counts: Iterable[int], *, levels: bool = False
) -> dict[int, Identity]:
    """The identity of the first n episodes, for every n that is asked for and not too many, in one pass.

    With ``levels``, rewards count by their values.

    >>> from markovize.episodes.labelled_steps import label_traces
    >>> from markovize.episodes.traces import Traces
    >>> episodes = [([0, 1], ["go"], [0]), ([0, 2], ["go"], [1])]
    >>> few, many = (label_traces(Traces.of(episodes[:n]), "state", "state") for n in (1, 2))
    >>> identify(few, "options", [1]) == identify(many, "options", [1, 5])
    True
    >>> identify(few, "options", [1]) == identify(few, "others", [1])
    False
    """
    columns: list[Ints | Floats] = [steps.triggers.ids, steps.rewards.ids, steps.outcomes]
    if levels:
        columns.append(steps.levels[steps.outcomes])
    if steps.weights is not None:
        columns.append(steps.weights)
    hashes = [hashlib.blake2b(digest_size=16) for _ in range(1 + len(columns))]
    out: dict[int, Identity] = {}
    start = 0
    for count in sorted({n for n in counts if 0 <= n < len(steps.offsets)}):
        hashes[0].update(steps.offsets[start + 1 : count + 1].tobytes())
        if steps.weights is not None:
            hashes[0].update(steps.starts[start:count].tobytes())
        part = slice(int(steps.offsets[start]), int(steps.offsets[count]))
        for hashed, column in zip(hashes[1:], columns, strict=True):
            hashed.update(column[part].tobytes())
        whole = hashlib.blake2b(repr((options, count)).encode(), digest_size=16)
        for hashed in hashes:
            whole.update(hashed.digest())
        out[count] = Identity(count, whole.hexdigest())
        start = count
    return out
