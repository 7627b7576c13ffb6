"""Files: episodes and machines, in and out, by the ending of the name.

Which formats there are, and how to add one, says :mod:`~markovize.io.registry`:

Episodes
    ``jsonl``  one episode a line (:mod:`~markovize.io.episodes.jsonl`)
    ``csv``, ``tsv``  one step a row (:mod:`~markovize.io.episodes.table`)
    ``parquet``  the same in Parquet files (:mod:`~markovize.io.episodes.parquet`)
    ``minari``  data sets of Minari, by name or folder (:mod:`~markovize.io.episodes.minari`)

Machines
    ``json``  this package's own format (:mod:`~markovize.io.machines.json`)
    ``txt``  the text format of the reward-machine literature (:mod:`~markovize.io.machines.text`)
    ``dot``  Mealy machines as AALpy writes them (:mod:`~markovize.io.machines.mealy_dot`)
    ``mmd``  Mermaid, for Markdown; only written (:mod:`~markovize.io.machines.mermaid`)
    ``py``  guards as a plain Python function; only written (:mod:`~markovize.io.machines.python_code`)
    ``smt2``  guards as SMT-LIB definitions; only written (:mod:`~markovize.io.machines.smt_lib`)
"""

from __future__ import annotations

from pathlib import Path

from markovize.clusters.ray_cluster import check_executor
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.table_columns import TableColumns
from markovize.episodes.traces import Traces
from markovize.errors import InputError, UnsupportedError, one_line
from markovize.io.registry import EPISODES, MACHINES, AnyPath, Format, Progress, ReadOptions, Registry, unknown
from markovize.machine.machine import RewardMachine
from markovize.machine.schema import FORMAT

__all__ = [
    "EPISODES",
    "MACHINES",
    "Format",
    "ReadOptions",
    "TableColumns",
    "convert",
    "read_episodes",
    "read_machine",
    "stream_episodes",
    "write_episodes",
    "write_machine",
]


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
    chosen = EPISODES.choose_to_read(path, format)
    if format is None and chosen.name == "jsonl" and _is_machine(path):
        raise InputError("holds a machine, not episodes", where=one_line(path))
    return EPISODES.reader(chosen)(path, ReadOptions(columns, reward_decimals, on_progress))


def stream_episodes(
    path: AnyPath,
    *,
    format: str | None = None,
    columns: TableColumns | None = None,
    reward_decimals: int | None = None,
    executor: str = "local",
    address: str | None = None,
) -> EpisodeStream:
    """Episodes for logs larger than memory: :func:`check`, :func:`learn` and :func:`replay` read them chunk by chunk.

    Parquet files are read so: one, a folder of them, or a pattern such as ``logs/*.parquet``. With the ``executor``
    ``ray`` each file is read on a node of a Ray cluster, at ``address`` or started here; the answers are the same.

    >>> stream_episodes("log.csv")
    Traceback (most recent call last):
    markovize.errors.UnsupportedError: csv is read at once, not as a stream; use parquet
    """
    chosen = EPISODES.choose(path, format)
    stream = EPISODES.streamer(chosen)
    if stream is None:
        others = ", ".join(known.name for known in EPISODES if known.stream is not None)
        raise UnsupportedError(f"{chosen.name} is read at once, not as a stream; use {others}")
    check_executor(executor, address)
    log = stream(path, ReadOptions(columns, reward_decimals))
    if executor == "local":
        return log
    from markovize.io.episodes.on_ray import RayStream

    return RayStream(log, address)


def write_episodes(path: AnyPath, traces: Traces, *, format: str | None = None) -> None:
    """Writes episodes as JSONL, CSV, TSV or Parquet, or as a Minari data set.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_episodes(f"{folder}/log.csv", Traces.of([([0, 1], ["go"], [0.5], True)]))
    ...     read_episodes(f"{folder}/log.csv").steps
    1
    """
    EPISODES.writer(EPISODES.choose(path, format))(path, traces)


def read_machine(path: AnyPath, *, format: str | None = None) -> RewardMachine:
    """Reads a machine.

    >>> read_machine("machine.mmd", format="mmd")
    Traceback (most recent call last):
    markovize.errors.UnsupportedError: mmd is only written, not read; use json, txt, dot
    """
    if format is None and MACHINES.recognise(path) is None and EPISODES.recognise(path) is not None:
        raise InputError("holds episodes, not a machine", where=one_line(path))
    return MACHINES.reader(MACHINES.choose_to_read(path, format))(path)


def write_machine(path: AnyPath, machine: RewardMachine, *, format: str | None = None) -> None:
    """Writes a machine: JSON, reward-machine text, Mealy DOT or Mermaid.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_machine(f"{folder}/m.json", RewardMachine("state", "state", 1))
    ...     read_machine(f"{folder}/m.json").states
    1
    """
    MACHINES.writer(MACHINES.choose(path, format))(path, machine)


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
    (first, holds), (second, wanted) = _of_any_kind(source, source_format), _of_any_kind(target, target_format)
    if holds != wanted:
        raise UnsupportedError(f"{first} holds {holds} and {second} holds {wanted}; `learn` makes one from the other")
    if holds == EPISODES.holds:
        write_episodes(target, read_episodes(source, format=first, columns=columns), format=second)
    else:
        write_machine(target, read_machine(source, format=first), format=second)


def _is_machine(path: AnyPath) -> bool:
    """Whether a machine's file was given where episodes are wanted: its first characters say so."""
    file = Path(path)
    if MACHINES.recognise(path) is None or not file.is_file():
        return False
    with file.open("rb") as opened:
        return f'"{FORMAT}"'.encode() in opened.read(200)


def _of_any_kind(path: AnyPath, name: str | None) -> tuple[str, str]:
    """The name of the format, and what it holds."""
    registries: tuple[Registry[Traces], Registry[RewardMachine]] = (EPISODES, MACHINES)
    for registry in registries:
        found = registry.recognise(path) if name is None else registry.find(name)
        if found is not None:
            return found.name, registry.holds
    raise unknown(path, name, *registries)
