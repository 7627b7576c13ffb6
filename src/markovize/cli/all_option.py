"""``--all`` of ``learn`` and ``run``: alone it shows everything, however long; with a number it is about machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from markovize.learning.result import LearnResult

ALL: Final = "--all"
ALONE: Final = "everything"  # what stands for a number that is not given


def _number_or_nothing(given: str | None) -> str | None:
    if given not in (None, ALONE) and not (given.isdecimal() and int(given) > 0):
        raise typer.BadParameter(f"{given!r} is no number of machines; give one of at least 1, or none")
    return given


AllMachinesOption = Annotated[
    str | None,
    typer.Option(
        ALL,
        metavar="[N]",
        help="Alone: show everything, however long. With N: also list up to N machines of the smallest size and what "
        "tells them apart, or prove that there is just one; with -o, write them all.",
        callback=_number_or_nothing,
        show_default=False,
    ),
]


RunAllOption = Annotated[
    str | None,
    typer.Option(
        ALL,
        metavar="[N]",
        help="Alone: show everything, however long. With N: look for up to N machines of the smallest size, and walk "
        "where they disagree, until there is just one (mode directed).",
        callback=_number_or_nothing,
        show_default=False,
    ),
]


def what_of_all(given: str | None) -> tuple[bool, int | None]:
    """Whether to show everything, and how many machines to list.

    >>> what_of_all(None), what_of_all(ALONE), what_of_all("10")
    ((False, None), (True, None), (True, 10))
    """
    return given is not None, None if given in (None, ALONE) else int(given)


class CommandWithAll(TyperCommand):
    """A command whose option ``--all`` can do without its number."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The command's arguments."""
        return super().parse_args(ctx, with_numbers(args))


def with_numbers(args: list[str]) -> list[str]:
    """The arguments, where no ``--all`` is alone.

    >>> with_numbers(["--all", "log.csv"]), with_numbers(["log.csv", "--all", "5"])
    (['--all', 'everything', 'log.csv'], ['log.csv', '--all', '5'])
    """
    out: list[str] = []
    for number, argument in enumerate(args):
        out.append(argument)
        follows = args[number + 1] if number + 1 < len(args) else ""
        if argument == ALL and not follows.lstrip("-").isdecimal():
            out.append(ALONE)
    return out


def name_of_other(output: Path, number: int) -> Path:
    """Where another machine of the same size is written.

    >>> name_of_other(Path("machine.json"), 2).name
    'machine.2.json'
    """
    return output.with_name(f"{output.stem}.{number}{output.suffix}")


def write_others(result: LearnResult, output: Path) -> None:
    """Writes all listed machines but the first beside it."""
    from markovize import write_machine

    for number, machine in enumerate(() if result.all is None else result.all.machines[1:], 2):
        write_machine(name_of_other(output, number), machine, format="json")
