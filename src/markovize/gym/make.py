"""Makes an environment by its name, with errors in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markovize.episodes.user_code import import_module_of_user, look_beside_user
from markovize.errors import InputError, MarkovizeError

if TYPE_CHECKING:
    import gymnasium


def make(env_id: str, env_args: Mapping[str, Any], imports: Sequence[str]) -> gymnasium.Env[Any, Any]:
    """The environment, or an error in one line."""
    import gymnasium

    import markovize.gym  # noqa: F401 - its package registers the worlds

    look_beside_user()  # for MODULE:ID, which Gymnasium imports
    for name in imports:
        import_module_of_user(name)
    try:
        return gymnasium.make(env_id, **env_args)
    except Exception as error:  # other people's code may raise anything
        clear = isinstance(error, (gymnasium.error.Error, MarkovizeError))
        reason = str(error) if clear else f"{type(error).__name__}: {error}"
        if isinstance(error, (gymnasium.error.NameNotFound, gymnasium.error.NamespaceNotFound)) and ":" not in env_id:
            reason += f" If a package registers it, name that too: PACKAGE:{env_id}."
        raise InputError(f"cannot make {env_id}: {reason}") from error
