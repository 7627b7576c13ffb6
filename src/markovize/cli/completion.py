"""What the shell offers after Tab, where it is no choice, file or option: environments, formats and labels.

Nothing here may fail or print: whoever presses Tab wants names or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from markovize.episodes.labelling import AUTO, named_kinds
from markovize.io.registry import EPISODES, MACHINES


def complete_environment(incomplete: str) -> list[str]:
    """The registered environments, ours among them. Slashes in names are typed like any letter.

    >>> complete_environment("markovize/Off")
    ['markovize/OfficeWorld-v0']
    """
    import gymnasium

    import markovize.gym  # noqa: F401 - registers our own

    return _beginning_with(incomplete, gymnasium.registry)


def complete_format(incomplete: str) -> list[str]:
    """The formats of episodes and machines by name.

    >>> complete_format("js")
    ['json', 'jsonl']
    """
    return _beginning_with(incomplete, {format.name for format in (*EPISODES, *MACHINES)})


def complete_labels(incomplete: str) -> list[str]:
    """What labels may be, but for functions of the user's.

    >>> complete_labels("s")
    ['state', 'source']
    """
    return [kind for kind in (AUTO, *named_kinds()) if kind.startswith(incomplete)]


def _beginning_with(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
