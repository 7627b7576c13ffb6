"""The files that commands read and write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from markovize.cli.choices import ExecutorChoice
from markovize.cli.terminal import print_json

if TYPE_CHECKING:
    from markovize.episodes.traces import Traces
    from markovize.io import TableColumns
    from markovize.machine.machine import RewardMachine
    from markovize.machine.support import Support


def read(path: Path, columns: str | None, reward_decimals: int | None) -> Traces:
    """The episodes of a file or data set, or of stdin (``-``)."""
    from markovize import read_episodes

    source = Path("/dev/stdin") if str(path) == "-" else path
    return read_episodes(source, columns=table_columns(columns), reward_decimals=reward_decimals)


def check_address(executor: ExecutorChoice, address: str | None) -> None:
    """Fails where nothing would join the cluster at the address."""
    if address is not None and executor is not ExecutorChoice.ray:
        raise typer.BadParameter("--address is for --executor ray")


def support_in(
    machine: RewardMachine,
    episodes: Path,
    trigger_on: str | None,
    reward_on: str | None,
    features: str | None = None,
) -> tuple[Support, ...]:
    """What episodes say for each trigger of a machine."""
    from markovize.errors import InputError
    from markovize.learning.noise import without_noise
    from markovize.machine.replay import MachineFunctions
    from markovize.machine.support import count_support

    functions: MachineFunctions = {"trigger_on": trigger_on, "reward_on": reward_on, "features": features}
    traces = read(episodes, None, None)
    support = count_support(machine, without_noise(machine, traces, **functions), **functions)
    if machine.triggers and not support:
        many = f"{traces.steps:,} steps and {len(machine.triggers):,} triggers"
        raise InputError(f"to count what supports each trigger takes too long with {many}; give fewer episodes")
    return support


def table_columns(columns: str | None) -> TableColumns | None:
    """What ``--columns`` says."""
    from markovize.io import TableColumns

    return None if columns is None else TableColumns.parse(columns)


def check_writable(path: Path) -> None:
    """Fails before a long solve, not after it."""
    from markovize.errors import InputError

    if path.is_dir():
        raise InputError("is a folder, not a file", where=str(path))
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist", where=str(path))


def check_machine_output(path: Path, episodes: Path) -> None:
    """Fails before a machine is written over episodes or under the name of something else."""
    from markovize.errors import InputError
    from markovize.io.registry import EPISODES, MACHINES
    from markovize.pictures.formats import DRAWINGS

    check_writable(path)
    check_other_file(path, episodes)
    if MACHINES.recognise(path) is None:
        if EPISODES.recognise(path) is not None:
            raise InputError("is a name for episodes; a machine is a .json file", where=str(path))
        if DRAWINGS.recognise(path) is not None:
            raise InputError(
                "is a name for a picture; write the machine to a .json file and draw it with `markovize draw`",
                where=str(path),
            )


def check_other_file(path: Path, source: Path) -> None:
    """Fails before a command writes over what it reads."""
    from markovize.errors import InputError

    if path.exists() and source.exists() and path.samefile(source):
        raise InputError("is what this command reads; choose another name to write to", where=str(path))


def report_written(path: Path, json_: bool) -> None:
    """Says that a file was written."""
    if json_:
        print_json({"written": str(path)})
    else:
        typer.echo(f"written to {path}")
