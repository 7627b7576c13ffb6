"""Files: episodes and machines, in and out, by the ending of the name.

Episodes
    ``jsonl``  one episode a line (:mod:`~markovize.io.episodes.jsonl`)
    ``csv``, ``tsv``  one step a row (:mod:`~markovize.io.episodes.table`)

Machines
    ``json``  this package's own format (:mod:`~markovize.io.machines.json`)
    ``txt``  the text format of the reward-machine literature (:mod:`~markovize.io.machines.text`)
    ``dot``  Mealy machines as AALpy writes them (:mod:`~markovize.io.machines.mealy_dot`)
    ``mmd``  Mermaid, for Markdown; only written (:mod:`~markovize.io.machines.mermaid`)
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

from markovize.episodes.traces import Traces
from markovize.errors import InputError, UnsupportedError, one_line
from markovize.io.episodes.jsonl import Progress, read_jsonl, write_jsonl
from markovize.io.episodes.table import read_table, write_table
from markovize.io.episodes.table_columns import TableColumns
from markovize.io.files import atomic_write, readable
from markovize.io.machines.json import read_machine_json, write_machine_json
from markovize.io.machines.mealy_dot import read_mealy_dot, write_mealy_dot
from markovize.io.machines.mermaid import mermaid
from markovize.io.machines.text import read_reward_machine_text, write_reward_machine_text
from markovize.machine.machine import RewardMachine

__all__ = [
    "EPISODE_FORMATS",
    "MACHINE_FORMATS",
    "TableColumns",
    "convert",
    "read_episodes",
    "read_machine",
    "write_episodes",
    "write_machine",
]

AnyPath: TypeAlias = str | os.PathLike[str]

EPISODE_FORMATS: Final = ("jsonl", "csv", "tsv")
MACHINE_FORMATS: Final = ("json", "txt", "dot", "mmd")
_ALIASES: Final = {"ndjson": "jsonl", "tab": "tsv", "mermaid": "mmd", "gv": "dot"}


def read_episodes(
    path: AnyPath,
    *,
    format: str | None = None,
    columns: TableColumns | None = None,
    reward_decimals: int | None = None,
    on_progress: Progress | None = None,
) -> Traces:
    """Reads episodes; a file with an unknown ending is taken for JSONL if it starts like it.

    >>> read_episodes("no-such-file.jsonl")
    Traceback (most recent call last):
    markovize.errors.InputError: no-such-file.jsonl: no such file
    """
    path = readable(path)
    kind = _ending(path) if format is None else _known(format, EPISODE_FORMATS)
    if kind not in EPISODE_FORMATS:
        if not _starts_like_json(path):
            raise _unknown(path, EPISODE_FORMATS)
        kind = "jsonl"
    if kind == "jsonl":
        return read_jsonl(path, reward_decimals=reward_decimals, on_progress=on_progress)
    delimiter = "\t" if kind == "tsv" else None
    return read_table(path, columns=columns, delimiter=delimiter, reward_decimals=reward_decimals)


def write_episodes(path: AnyPath, traces: Traces, *, format: str | None = None) -> None:
    """Writes episodes as JSONL, CSV or TSV.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_episodes(f"{folder}/log.csv", Traces.of([([0, 1], ["go"], [0.5], True)]))
    ...     read_episodes(f"{folder}/log.csv").steps
    1
    """
    kind = _chosen(path, format, EPISODE_FORMATS)
    if kind == "jsonl":
        write_jsonl(path, traces)
    else:
        write_table(path, traces, delimiter="\t" if kind == "tsv" else ",")


def read_machine(path: AnyPath, *, format: str | None = None) -> RewardMachine:
    """Reads a machine.

    >>> read_machine("machine.mmd", format="mmd")
    Traceback (most recent call last):
    markovize.errors.UnsupportedError: mmd is only written, not read; use json, txt, dot
    """
    if format is None and _ending(path) not in MACHINE_FORMATS and _starts_like_json(readable(path)):
        format = "json"
    kind = _chosen(path, format, MACHINE_FORMATS)
    if kind == "mmd":
        raise UnsupportedError("mmd is only written, not read; use json, txt, dot")
    readers = {"json": read_machine_json, "txt": read_reward_machine_text, "dot": read_mealy_dot}
    return readers[kind](path)


def write_machine(path: AnyPath, machine: RewardMachine, *, format: str | None = None) -> None:
    """Writes a machine: JSON, reward-machine text, Mealy DOT or Mermaid.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_machine(f"{folder}/m.json", RewardMachine("state", "state", 1))
    ...     read_machine(f"{folder}/m.json").states
    1
    """
    kind = _chosen(path, format, MACHINE_FORMATS)
    if kind == "mmd":
        atomic_write(path, mermaid(machine))
        return
    writers = {"json": write_machine_json, "txt": write_reward_machine_text, "dot": write_mealy_dot}
    writers[kind](path, machine)


def convert(
    source: AnyPath,
    target: AnyPath,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    columns: TableColumns | None = None,
) -> None:
    """Reads one format and writes another: episodes to episodes, machines to machines. ``columns`` is for tables.

    >>> convert("episodes.jsonl", "machine.json")
    Traceback (most recent call last):
    markovize.errors.UnsupportedError: jsonl holds episodes and json holds a machine; `learn` makes one from the other
    """
    every = EPISODE_FORMATS + MACHINE_FORMATS
    first, second = _chosen(source, source_format, every), _chosen(target, target_format, every)
    if (first in EPISODE_FORMATS) != (second in EPISODE_FORMATS):
        kinds = ["episodes" if kind in EPISODE_FORMATS else "a machine" for kind in (first, second)]
        raise UnsupportedError(
            f"{first} holds {kinds[0]} and {second} holds {kinds[1]}; `learn` makes one from the other"
        )
    if first in EPISODE_FORMATS:
        write_episodes(target, read_episodes(source, format=first, columns=columns), format=second)
    else:
        write_machine(target, read_machine(source, format=first), format=second)


def _ending(path: AnyPath) -> str:
    ending = Path(path).suffix.lower().removeprefix(".")
    return _ALIASES.get(ending, ending)


def _chosen(path: AnyPath, format: str | None, known: tuple[str, ...]) -> str:
    if format is not None:
        return _known(format, known)
    kind = _ending(path)
    if kind not in known:
        raise _unknown(path, known)
    return kind


def _known(format: str, known: Iterable[str]) -> str:
    kind = _ALIASES.get(format.lower(), format.lower())
    if kind not in known:
        raise InputError(f'unknown format "{one_line(format, 40)}"; known: {", ".join(known)}')
    return kind


def _unknown(path: AnyPath, known: Iterable[str]) -> InputError:
    ending = Path(path).suffix
    said = f'the ending "{one_line(ending, 40)}" is unknown' if ending else "the name has no ending"
    return InputError(f"{said}; known: {', '.join('.' + kind for kind in known)}", where=one_line(path))


def _starts_like_json(path: Path) -> bool:
    if not path.is_file():
        return True  # a pipe: what is read from it is gone, so no look ahead
    with path.open("rb") as file:
        while chunk := file.read(4096):
            text = chunk.removeprefix(b"\xef\xbb\xbf").lstrip()
            if text:
                return text.startswith(b"{")
    return False
