"""Libraries that come with an extra: loaded when they are needed, with advice where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from markovize.errors import InputError


def missing(what: str, extra: str) -> InputError:
    """The error for something whose extra is not installed.

    >>> str(missing("reading Minari data sets", "data"))
    "reading Minari data sets needs the extra: pip install 'markovize[data]'"
    """
    return InputError(f"{what} needs the extra: pip install 'markovize[{extra}]'")


def load(module: str, what: str, extra: str) -> Any:
    """A module of another library.

    >>> load("json", "this", "data").__name__
    'json'
    >>> load("no_such_library", "this", "data")
    Traceback (most recent call last):
    markovize.errors.InputError: this needs the extra: pip install 'markovize[data]'
    """
    try:
        return import_module(module)
    except ImportError:
        raise missing(what, extra) from None


class Missing:
    """A base class in place of one that Stable-Baselines3 would bring: says so as soon as it is used.

    >>> class Callback(Missing): ...
    >>> Callback()
    Traceback (most recent call last):
    markovize.errors.InputError: Callback needs the extra: pip install 'markovize[sb3]'
    """

    def __init__(self, *_args: Any, **_options: Any) -> None:
        raise missing(type(self).__name__, "sb3")
