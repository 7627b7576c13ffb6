"""Makes an environment by its name, with errors in one line."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markovize.errors import InputError, MarkovizeError

if TYPE_CHECKING:
    import gymnasium


def make(env_id: str, env_args: Mapping[str, Any], imports: Sequence[str]) -> gymnasium.Env[Any, Any]:
    """The environment, or an error in one line."""
    import gymnasium

    import markovize.gym  # noqa: F401 - its package registers the worlds

    if imports:
        sys.path.insert(0, str(Path.cwd()))  # as for python -m: modules beside the user are found
    doing = ""
    try:
        for name in imports:
            doing = f"import {name}"
            import_module(name)
        doing = f"make {env_id}"
        return gymnasium.make(env_id, **env_args)
    except Exception as error:  # other people's code may raise anything
        clear = isinstance(error, (gymnasium.error.Error, MarkovizeError))
        reason = str(error) if clear else f"{type(error).__name__}: {error}"
        advice = " (is it beside you? run this where it can be imported)" if doing.startswith("import ") else ""
        raise InputError(f"cannot {doing}: {reason}{advice}") from error
