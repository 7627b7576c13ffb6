"""What is loaded when it is needed: public names of packages, and libraries that come with an extra.

Where a library is missing, the error says which extra brings it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from markovize.errors import InputError


def missing(what: str, extra: str, *, verb: str = "needs") -> InputError:
    """The error for something whose extra is not installed.

    >>> str(missing("reading Minari data sets", "data"))
    "reading Minari data sets needs the extra: pip install 'markovize[data]'"
    """
    return InputError(f"{what} {verb} the extra: {install(extra)}")


def install(extra: str, package: str = "markovize") -> str:
    """The command that brings what is missing.

    >>> install("gurobi")
    "pip install 'markovize[gurobi]'"
    """
    return f"pip install '{package}[{extra}]'"


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names are loaded when they are first used.

    ``homes`` has the module below the package in which each name is defined.

    >>> load_name, list_names = lazy_names("markovize", {"learn": "learning.entry"})
    >>> load_name("learn").__name__, "learn" in list_names()
    ('learn', True)
    >>> load_name("teach")
    Traceback (most recent call last):
    AttributeError: module 'markovize' has no attribute 'teach'
    """

    def load_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)  # a function shadows the module of the same name
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load_name, list_names


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
