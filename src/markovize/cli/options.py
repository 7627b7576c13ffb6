"""What arguments and options of several commands look like."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markovize.cli.choices import ExecutorChoice
from markovize.cli.completion import complete_labels
from markovize.episodes.features import feature_function
from markovize.episodes.labelling import AUTO, labelling_of, named_kinds
from markovize.episodes.labelling.function import FunctionLabelling
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.user_code import function_of_user
from markovize.errors import InputError
from markovize.io.registry import EPISODES, MACHINES

if TYPE_CHECKING:
    from markovize.machine.machine import RewardMachine


def join_words(words: Sequence[str]) -> str:
    """A list in a sentence.

    >>> join_words([".svg", ".png", ".dot"])
    '.svg, .png or .dot'
    """
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


EPISODE_FILES = ", ".join(format.pattern for format in EPISODES if format.read is not None)
MACHINE_FILES = join_words([format.pattern for format in MACHINES if format.read is not None])

EpisodesArgument = Annotated[
    Path,
    typer.Argument(help=f"Episodes: {EPISODE_FILES}; - for JSONL from stdin", show_default=False),
]
MachineArgument = Annotated[Path, typer.Argument(help=f"A machine: {MACHINE_FILES}", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
AllOption = Annotated[bool, typer.Option("--all", help="Show everything, however long.")]
DecimalsOption = Annotated[
    int | None,
    typer.Option(min=0, max=15, help="Round rewards to this many decimals when reading.", show_default=False),
]
ExecutorOption = Annotated[
    ExecutorChoice,
    typer.Option(help="Where the files of a Parquet log are read: here, or on a Ray cluster."),
]
AddressOption = Annotated[
    str | None, typer.Option(help="Ray cluster to join.", show_default="a new one on this machine")
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="KIND=COLUMN,…",
        help="Tables: which columns hold what, for example state=x+y,next_state=x2+y2,reward=r",
        show_default=False,
    ),
]


def label_option(help: str, *, guards: bool = False, **more: Any) -> Any:
    """An option for labels: a kind, or a function of the user's; guards too, where they can be learned."""
    return typer.Option(
        metavar="|".join((AUTO, *named_kinds(), *([GUARDS] if guards else []), "MODULE:FUNCTION")),
        help=help,
        autocompletion=complete_labels,
        callback=check_labels_or_guards if guards else check_labels,
        **more,
    )


def check_labels_or_guards(on: str | None) -> str | None:
    """As :func:`check_labels`, where guards are welcome."""
    return on if on == GUARDS else check_labels(on)


def names_option(help: str) -> Any:
    """An option for names of features."""
    return typer.Option(metavar="NAMES", help=f"{help} Names, with commas between them.", show_default=False)


def split_names(names: str | None) -> tuple[str, ...]:
    """The names that an option lists.

    >>> split_names("x, y"), split_names(None)
    (('x', 'y'), ())
    """
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


def check_labels(on: str | None) -> str | None:
    """Refuses labels that are not there, before anything is read or played."""
    if on is not None and on != AUTO:
        labelling_of(on)
    return on


def check_functions(given: list[str] | None) -> list[str] | None:
    """Refuses functions that are not there, before anything is read."""
    for name in given or ():
        function_of_user(name)
    return given


def function_option() -> Any:
    """An option for the function that a machine's labels come from, if they do."""
    return typer.Option(
        metavar="MODULE:FUNCTION",
        help="The function that the machine was learned with, if it was.",
        autocompletion=complete_labels,
        callback=check_labels,
        show_default=False,
    )


FEATURES = "The function that features of the machine's guards come from, if they do."


def features_option(help: str = FEATURES) -> Any:
    """An option for the function that features of a machine with guards come from, if they do."""
    return typer.Option(
        metavar="MODULE:FUNCTION",
        help=help,
        callback=check_features,
        show_default=False,
    )


def check_features(given: str | None) -> str | None:
    """Refuses functions that are not there, before anything is read."""
    feature_function(given)
    return given


def functions_for(machine: RewardMachine, trigger_on: str | None, reward_on: str | None) -> dict[str, str | None]:
    """Those of both that are the functions of a machine's labels."""
    return {
        "trigger_on": trigger_on if machine.trigger_on == FunctionLabelling.kind else None,
        "reward_on": reward_on if machine.reward_on == FunctionLabelling.kind else None,
    }


def named_values(pairs: Sequence[str], option: str) -> dict[str, Any]:
    """Names and values; what is not JSON is text.

    >>> named_values(["task=c", "levels=3", "sizes=[1, 2]", "x=NaN"], "--env-arg")
    {'task': 'c', 'levels': 3, 'sizes': [1, 2], 'x': 'NaN'}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (equals and name.isidentifier()):
            raise InputError(f"{option} must look like name=value, not {pair!r}")
        if name in values:
            raise InputError(f"{option} {name} is given twice")
        try:
            values[name] = json.loads(text)
            json.dumps(values[name], allow_nan=False)
        except (ValueError, RecursionError):
            values[name] = text
    return values


def allowance_option(help: str, number: str, *, show_default: bool | str = True) -> Any:
    """An option for an allowance for noise: a number, or auto."""
    return typer.Option(help=help, metavar=f"{number}|{AUTO}", callback=check_allowance, show_default=show_default)


def check_allowance(given: str | None) -> str | None:
    """A number that is not negative, or auto, if there is any."""
    try:
        fits = given is None or given == AUTO or 0 <= float(given) < inf
    except ValueError:
        fits = False
    if not fits:
        raise typer.BadParameter(f"{given!r} is neither auto nor a number of at least 0")
    return given


def whole_number(given: str, option: str) -> int:
    """The number of an option that may be auto as well."""
    if not given.isdecimal():
        raise typer.BadParameter(f"{given!r} is neither auto nor a whole number", param_hint=option)
    return int(given)
