"""Lines of progress on stderr: where a machine is slow, a run writes some, and what is tested is the rest."""

from __future__ import annotations

import re


def without_progress(text: str) -> str:
    """The text without the lines that a run without a terminal writes every ten seconds.

    >>> without_progress("13 s: episode 1 of 300 · return -1\\noptimal\\n")
    'optimal\\n'
    """
    return re.sub(r"^\d+ s: episode .*\n", "", text, flags=re.MULTILINE)
