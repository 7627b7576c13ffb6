"""Options that belong together are one parameter of a command: a dataclass, whose fields typer gets one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import wraps
from typing import Annotated, Any, Final

from markovize.cli import options


@dataclass(frozen=True)
class Functions:
    """The functions that a machine was learned with, if it was."""

    trigger_on: Annotated[str | None, options.function_option()] = None
    reward_on: Annotated[str | None, options.function_option()] = None
    features: Annotated[str | None, options.features_option()] = None


NO_FUNCTIONS: Final = Functions()


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with options in the place of each parameter that is a group of them.

    >>> @with_groups
    ... def count(episodes: str, functions: Functions = NO_FUNCTIONS, json_: bool = False) -> None:
    ...     print(episodes, functions.features, json_)
    >>> list(inspect.signature(count).parameters)
    ['episodes', 'trigger_on', 'reward_on', 'features', 'json_']
    >>> count(episodes="log.csv", trigger_on=None, reward_on=None, features="mine:features", json_=True)
    log.csv mine:features True
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, tuple[Callable[..., Any], list[inspect.Parameter]]] = {
        name: (own.annotation, list(inspect.signature(own.annotation, eval_str=True).parameters.values()))
        for name, own in signature.parameters.items()
        if isinstance(own.annotation, type) and is_dataclass(own.annotation)
    }
    parameters = [
        part for name, own in signature.parameters.items() for part in (groups[name][1] if name in groups else [own])
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        whole = {
            name: kind(**{part.name: given.pop(part.name) for part in parts}) for name, (kind, parts) in groups.items()
        }
        command(**whole, **given)

    seen: Any = run
    seen.__signature__ = signature.replace(parameters=parameters)
    seen.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
