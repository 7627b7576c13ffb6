"""Which file formats there are. A new one is a module with its reader and writer, and one line in a table below.

The tables name functions as ``module:function`` within this package, so that a format's module is loaded when a file
asks for it and not before. The formats of pictures have a table of their own, :mod:`markovize.pictures.formats`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from markovize.errors import InputError, UnsupportedError, one_line
from markovize.io.compression import compression_of, open_bytes, uncompressed_name
from markovize.io.files import readable

if TYPE_CHECKING:
    from markovize.episodes.stream import EpisodeStream
    from markovize.episodes.table_columns import TableColumns
    from markovize.episodes.traces import Traces
    from markovize.machine.machine import RewardMachine

AnyPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[int, int], None]
T = TypeVar("T")


@dataclass(frozen=True)
class ReadOptions:
    """What a reader of episodes is told beside the path; each takes what concerns it.

    ``columns`` says which columns of a table hold what, ``reward_decimals`` rounds rewards once, and
    ``on_progress(bytes read, bytes in all)`` is called now and then.

    >>> ReadOptions(reward_decimals=3).columns is None
    True
    """

    columns: TableColumns | None = None
    reward_decimals: int | None = None
    on_progress: Progress | None = None


@dataclass(frozen=True)
class Format(Generic[T]):
    """A format: its name, how its files are recognised, and what reads and writes them.

    ``read`` and ``write`` are functions, or names of functions of this package, ``module:function``; a format without
    one of them goes only the other way. A reader of episodes takes (path, :class:`ReadOptions`), a reader of machines
    takes (path), a writer takes (path, what to write).

    Files are recognised by ``endings`` (which also serve as other names of the format), by a ``prefix`` of the name, or
    as folders that hold one of the files ``folder_with`` or, with ``folder_of``, any file with these endings. A file
    whose name tells nothing is taken for the format whose ``first_sign`` it starts with. Texts may be ``packed``:
    ``.gz`` or ``.zst`` after the ending. ``stream`` takes what a reader of episodes takes and gives an
    :class:`~markovize.episodes.stream.EpisodeStream`, for logs larger than memory.

    >>> Format("csv", ("csv",), "one step a row").pattern, Format("minari", (), "data", prefix="minari:").pattern
    ('.csv', 'minari:NAME')
    """

    name: str
    endings: tuple[str, ...]
    description: str
    read: Callable[..., T] | str | None = None
    write: Callable[[AnyPath, T], None] | str | None = None
    prefix: str = ""
    folder_with: tuple[str, ...] = ()
    first_sign: bytes = b""
    packed: bool = False
    folder_of: bool = False
    stream: Callable[..., EpisodeStream] | str | None = None

    @property
    def pattern(self) -> str:
        """How the name of such a file looks, for help and errors."""
        return f"{self.prefix}NAME" if self.prefix else f".{self.endings[0]}"

    def recognises(self, path: AnyPath) -> bool:
        """Whether the name, or what the folder holds, says that this is the format."""
        name = (uncompressed_name(path) if self.packed else Path(path).name).lower()
        if any(name.endswith(f".{ending}") and len(name) > len(ending) + 1 for ending in self.endings):
            return True
        if self.folder_of and any(_holds(path, ending) for ending in self.endings):
            return True
        # os.path, since pathlib raises errors for odd names
        return any(os.path.isfile(f"{os.fspath(path)}/{file}") for file in self.folder_with)  # noqa: PTH113


class Registry(Generic[T]):
    """The formats for one kind of thing, in the order in which help and errors list them.

    >>> EPISODES.recognise("log.ndjson").name
    'jsonl'
    >>> MACHINES.choose("any", "gv").name
    'dot'
    >>> EPISODES.choose("log.xml")
    Traceback (most recent call last):
    markovize.errors.InputError: log.xml: the ending ".xml" is unknown; known: .jsonl, .csv, .tsv, .parquet, minari:NAME
    """

    def __init__(self, holds: str, formats: Iterable[Format[T]]) -> None:
        self.holds = holds
        self._formats: list[Format[T]] = []
        for format in formats:
            self.add(format)

    def __iter__(self) -> Iterator[Format[T]]:
        return iter(self._formats)

    def add(self, format: Format[T]) -> None:
        """Adds a format, also one of a user's own; names and endings must be new."""
        taken = {name for known in self for name in (known.name, *known.endings)}
        for name in {format.name, *format.endings}:
            if name in taken:
                raise InputError(f'there is a format called "{one_line(name, 40)}" already')
        self._formats.append(format)

    def find(self, name: str) -> Format[T] | None:
        """The format of this name, or with this ending, if there is one."""
        return next((format for format in self if name.lower() in (format.name, *format.endings)), None)

    def recognise(self, path: AnyPath) -> Format[T] | None:
        """The format that the path itself tells, if it tells one."""
        text = os.fspath(path)
        prefixed = (format for format in self if format.prefix and text.startswith(format.prefix))
        return next(prefixed, None) or next((format for format in self if format.recognises(path)), None)

    def choose(self, path: AnyPath, name: str | None = None) -> Format[T]:
        """The format by its name, if one is given, otherwise by the path; unknown ones are refused."""
        format = self.recognise(path) if name is None else self.find(name)
        if format is None:
            raise unknown(path, name, self)
        return format

    def choose_to_read(self, path: AnyPath, name: str | None = None) -> Format[T]:
        """The same, but a file that exists under a name without a known ending is judged by its first sign."""
        if name is not None or self.recognise(path) is not None:
            return self.choose(path, name)
        sign = _first_sign(readable(path))
        for format in self:
            if format.first_sign and sign in (format.first_sign, None):
                return format
        raise unknown(path, None, self)

    def reader(self, format: Format[T]) -> Callable[..., T]:
        """What reads the format; one that is only written is refused."""
        if format.read is None:
            others = ", ".join(other.name for other in self if other.read is not None)
            raise UnsupportedError(f"{format.name} is only written, not read; use {others}")
        return _load(format.read)

    def streamer(self, format: Format[T]) -> Callable[..., EpisodeStream] | None:
        """What reads the format chunk by chunk, if it can be read so."""
        return None if format.stream is None else _load(format.stream)

    def writer(self, format: Format[T]) -> Callable[..., None]:
        """What writes the format, given the path and what to write; one that is only read is refused."""
        if format.write is None:
            others = ", ".join(other.name for other in self if other.write is not None)
            raise UnsupportedError(f"{format.name} is only read, not written; use {others}")
        return _load(format.write)


def unknown(path: AnyPath, name: str | None, *registries: Registry[Any]) -> InputError:
    """The error for a name of a format, if one was given, or else for a path, that is not known."""
    formats = [format for registry in registries for format in registry]
    if name is not None:
        return InputError(f'unknown format "{one_line(name, 40)}"; known: {", ".join(f.name for f in formats)}')
    ending = Path(uncompressed_name(path)).suffix + compression_of(path)
    said = f'the ending "{one_line(ending, 40)}" is unknown' if ending else "the name has no ending"
    return InputError(f"{said}; known: {', '.join(f.pattern for f in formats)}", where=one_line(path))


def _load(function: Callable[..., Any] | str) -> Callable[..., Any]:
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"markovize.{module}"), name)
    return found


def _holds(path: AnyPath, ending: str) -> bool:
    """Whether this is a folder with such a file in it, or in a folder in it."""
    if not os.path.isdir(path):  # noqa: PTH112 - no errors for odd names
        return False
    return any(name.endswith(f".{ending}") for _, _, names in os.walk(path) for name in names)


def _first_sign(path: Path) -> bytes | None:
    """The first byte that is no white space; None for a pipe, where what is read is gone, so no look ahead."""
    if not path.is_file():
        return None
    with open_bytes(path) as file:
        while chunk := file.read(4096):
            if text := chunk.removeprefix(b"\xef\xbb\xbf").lstrip():
                return text[:1]
    return b""


EPISODES: Final[Registry[Traces]] = Registry(
    "episodes",
    (
        Format(
            "jsonl",
            ("jsonl", "ndjson"),
            "one episode a line",
            "io.episodes.jsonl:read_jsonl",
            "io.episodes.jsonl:write_jsonl",
            first_sign=b"{",
            packed=True,
        ),
        Format(
            "csv",
            ("csv",),
            "one step a row",
            "io.episodes.table:read_table",
            "io.episodes.table:write_csv",
            packed=True,
        ),
        Format(
            "tsv",
            ("tsv", "tab"),
            "the same with tabs",
            "io.episodes.table:read_tsv",
            "io.episodes.table:write_tsv",
            packed=True,
        ),
        Format(
            "parquet",
            ("parquet",),
            "one step a row; a file, a folder of files or a pattern",
            "io.episodes.parquet:read_parquet",
            "io.episodes.parquet:write_parquet",
            folder_of=True,
            stream="io.episodes.parquet:stream_parquet",
        ),
        Format(
            "minari",
            (),
            "a Minari data set, by its name or folder",
            "io.episodes.minari:read_named",
            "io.episodes.minari:write_named",
            prefix="minari:",
            folder_with=("metadata.json", "data/metadata.json"),
        ),
    ),
)

MACHINES: Final[Registry[RewardMachine]] = Registry(
    "a machine",
    (
        Format(
            "json",
            ("json",),
            "this package's own format",
            "io.machines.json:read_machine_json",
            "io.machines.json:write_machine_json",
            first_sign=b"{",
        ),
        Format(
            "txt",
            ("txt",),
            "the text format of the reward-machine literature",
            "io.machines.text:read_reward_machine_text",
            "io.machines.text:write_reward_machine_text",
        ),
        Format(
            "dot",
            ("dot", "gv"),
            "Mealy machines as AALpy writes them",
            "io.machines.mealy_dot:read_mealy_dot",
            "io.machines.mealy_dot:write_mealy_dot",
        ),
        Format("mmd", ("mmd", "mermaid"), "Mermaid, for Markdown", write="io.machines.mermaid:write_mermaid"),
        Format("py", ("py",), "guards as a plain Python function", write="io.machines.python_code:write_python"),
        Format("smt2", ("smt2",), "guards as SMT-LIB definitions", write="io.machines.smt_lib:write_smt_lib"),
    ),
)
