"""Every error that markovize raises on purpose.

::

    MarkovizeError
    ├── InputError              episodes, tables or files that cannot be read (also a ValueError)
    │   └── MachineError        a reward machine that makes no sense
    ├── UnrealisableError       no machine explains the episodes under the chosen labels
    ├── UnsupportedError        the format or engine cannot express what was asked for
    └── EngineError             an engine contradicted itself or returned garbage

Every message is one line of bounded length, whatever a file or a label held. The command line prints it on stderr and
ends with an exit code; Python callers can catch :class:`MarkovizeError` for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markovize.learning.prefix_tree import Contradiction

LONGEST_LINE: Final = 400  # of what the command line prints
LONGEST_MESSAGE: Final = 380  # leaves room for the program's name before it


class MarkovizeError(Exception):
    """Base of all errors raised on purpose.

    >>> issubclass(InputError, MarkovizeError)
    True
    >>> len(str(MarkovizeError("a label\\n" * 1000))) <= LONGEST_MESSAGE
    True
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(message, LONGEST_MESSAGE))


class InputError(MarkovizeError, ValueError):
    """Input that cannot be used; the message names the place (file, line, field) and the remedy.

    >>> str(InputError("rewards[3] is NaN", where="log.jsonl:7"))
    'log.jsonl:7: rewards[3] is NaN'
    """

    def __init__(self, message: str, *, where: str = "") -> None:
        self.where = where
        super().__init__(f"{where}: {message}" if where else message)


class MachineError(InputError):
    """A reward machine that contradicts itself or is malformed.

    >>> str(MachineError('"states" must be a whole number of at least 1, not 0', where="machine.json"))
    'machine.json: "states" must be a whole number of at least 1, not 0'
    """


class UnsupportedError(MarkovizeError):
    """The chosen format or engine cannot say what was asked for; the message gives the reason.

    >>> issubclass(UnsupportedError, InputError)  # the input is fine, the wish is not
    False
    """


class EngineError(MarkovizeError):
    """An engine returned something that the independent replay, or its own earlier answers, refute.

    >>> issubclass(EngineError, MarkovizeError)
    True
    """


class UnrealisableError(MarkovizeError):
    """No reward machine explains the episodes under the chosen labels.

    ``contradiction`` holds both episodes and steps and what would tell them apart.

    >>> import markovize
    >>> noise = markovize.Traces.of([([0, 1], ["go"], [0]), ([0, 1], ["go"], [1])])
    >>> try:
    ...     markovize.learn(noise).unwrap()
    ... except UnrealisableError as error:
    ...     print(error.contradiction.episodes, error.contradiction.steps, error.contradiction.rewards)
    (0, 1) (0, 0) (0.0, 1.0)
    """

    def __init__(self, contradiction: Contradiction) -> None:
        self.contradiction = contradiction
        super().__init__(str(contradiction))


def one_line(text: object, limit: int = 160) -> str:
    """The text on one line, without control characters, cut in the middle if it is long.

    >>> one_line("a\\nb"), one_line("x" * 30, 9)
    ('a b', 'xxxx…xxxx')
    """
    flat = "".join([c if c.isprintable() else " " for c in str(text)])
    if len(flat) <= limit:
        return flat
    half = (limit - 1) // 2
    return f"{flat[:half]}…{flat[len(flat) - half :]}"
