"""Modules and functions that a user names: found beside the user first, with errors in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from markovize.errors import InputError, one_line


def import_module_of_user(name: str) -> ModuleType:
    """Imports a module, from the current folder first, as ``python -m`` does.

    >>> import_module_of_user("no_such_module")
    Traceback (most recent call last):
    markovize.errors.InputError: cannot import no_such_module: ModuleNotFoundError: No module named 'no_such_module' \
(is it beside you? run this where it can be imported)
    """
    look_beside_user()
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:  # other people's code may raise anything, and scripts end the program
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"cannot import {name}: {reason} (is it beside you? run this where it can be imported)"
        ) from error


def look_beside_user() -> None:
    """From now on modules are looked for in the current folder first."""
    here = str(Path.cwd())
    if sys.path[:1] != [here]:
        sys.path.insert(0, here)


def is_function_name(text: str) -> bool:
    """Whether a text names a function of a module.

    >>> is_function_name("events:region"), is_function_name("state")
    (True, False)
    """
    return ":" in text


def function_of_user(name: str) -> Callable[..., Any]:
    """The function that ``module:function`` names.

    >>> function_of_user("math:floor")(2.5)
    2
    >>> function_of_user("math:pi")
    Traceback (most recent call last):
    markovize.errors.InputError: math:pi is no function, but 3.141592653589793
    """
    module_name, _, path = name.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *path.split("."))):
        raise InputError(f"a function is named like module:function, not {name!r}")
    module = import_module_of_user(module_name)
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            where = getattr(module, "__file__", None) or "built in"
            raise InputError(f"there is no {path} in the module {module_name} ({one_line(where, 120)})")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{name} is no function, but {one_line(repr(found), 40)}")
    function: Callable[..., Any] = found
    return function


def name_of_function(function: Callable[..., Any]) -> str:
    """``module:function`` where that finds it again, else what it is called.

    >>> import shutil
    >>> name_of_function(shutil.copy), name_of_function(lambda: 0)
    ('shutil:copy', '<lambda>')
    """
    name = getattr(function, "__qualname__", None)
    if not isinstance(name, str):
        return repr(function)
    module = getattr(function, "__module__", None)
    if module in (None, "__main__", "builtins") or "<" in name:  # of a script, a lambda, or within another
        return name
    return f"{module}:{name}"
