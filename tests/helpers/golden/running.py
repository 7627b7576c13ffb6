"""Runs a case and tells what came of it: exit codes, what was printed, every file; times aside."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from in_process import run_here
from progress_lines import without_progress

from golden.additions import without_additions
from golden.case import Case
from golden.inputs import GENERATED, make

Record: TypeAlias = dict[str, Any]

MOST_PRINTED, MOST_WRITTEN = 3_000, 800  # characters; of a longer text the digest is kept
ALWAYS_WHOLE: Final = ("results.csv", "result.json", "config.json", "table.md")  # where a difference says most
ENVIRONMENT: Final = {"COLUMNS": "200", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
NOT_WANTED: Final = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYTHONWARNINGS")
# these tell times, show them in pictures, or are for the program alone: that they are there is all that is promised
NOT_PROMISED: Final = re.compile(
    r"timings\.(json|csv)$|(^|/)(solve_curves\.csv|report\.html|figures/[^/]+|checkpoint\.npz)$"
)


# --- running ------------------------------------------------------------------------------------------------


def run_case(case: Case, folder: Path, *, in_process: bool = False) -> Record:
    """Runs all commands of a case in an empty folder."""
    environment = ENVIRONMENT | {name: value.format(folder=folder.resolve()) for name, value in case.env.items()}
    with _environment(environment), contextlib.chdir(folder):
        for name in case.inputs:
            make(name, Path())
        before = _digests()
        command = _run_here if in_process and not case.own_process else _run_apart
        commands = [{"run": line, **_said(line, case.whole, *command(line))} for line in case.commands]
        files = {
            name: _content(Path(name)) for name, digest in sorted(_digests().items()) if before.get(name) != digest
        }
        missing = [name for name in before if not Path(name).exists()]
    inputs = {name: before[name] for name in sorted(case.inputs) if name in GENERATED and name in before}
    return {"inputs": inputs, "commands": commands, "files": files} | ({"missing": missing} if missing else {})


def _run_apart(line: str) -> tuple[int, bytes, bytes]:
    """As a user does: ``python -m markovize`` in a process of its own."""
    line, _, source = line.partition(" < ")
    command = [sys.executable, "-m", "markovize", *shlex.split(line)]
    given = Path(source).read_bytes() if source else b""
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def _run_here(line: str) -> tuple[int, bytes, bytes]:
    """The same within this process, which saves a second."""
    ran = run_here(*shlex.split(line))
    return ran.code, ran.out.encode(), ran.err.encode()


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    known = dict(os.environ)
    places = [place for place in known.get("PYTHONPATH", "").split(os.pathsep) if place]
    path = os.pathsep.join(str(Path(place).resolve()) for place in places)  # a command runs in another folder
    os.environ.update(values | ({"PYTHONPATH": path} if path else {}))
    for name in NOT_WANTED:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(known)


# --- telling ------------------------------------------------------------------------------------------------


def _said(line: str, whole: bool, code: int, out: bytes, err: bytes) -> Record:
    printed = out.decode() if whole else without_additions(line, out.decode())
    texts = {"out": without_times(printed), "err": without_times(_without_noise(err.decode()))}
    return {"code": code, **{name: _brief(text, MOST_PRINTED) for name, text in texts.items() if text}}


def _content(path: Path) -> Any:
    if NOT_PROMISED.search(path.as_posix()):
        return "is there"
    data = path.read_bytes()
    if path.suffix == ".png":
        return _pixels(data)
    if path.name == "table.md":
        data = without_time_cells(data.decode()).encode()
    return _brief(data.decode(), len(data) if path.name in ALWAYS_WHOLE else MOST_WRITTEN)


def _brief(text: str, most: int) -> Any:
    """A short text line by line, a longer one as its digest."""
    return text.split("\n") if len(text) <= most else _digest(text.encode())


def _digest(data: bytes) -> Record:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _pixels(data: bytes) -> Record:
    """The picture itself: how well its bytes are packed is the business of the compression library."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        shown = image.convert("RGBA")
        return {"size": list(shown.size), "pixels": hashlib.sha256(shown.tobytes()).hexdigest()}


def _digests() -> dict[str, str]:
    return {
        path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path().rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


# --- times --------------------------------------------------------------------------------------------------

_SECONDS_FIELD: Final = re.compile(r'("(?:\w+_)?seconds": )[-+.\de]+')
_SECONDS: Final = re.compile(r"\d[\d,]*\.\d\d s\b")
_TIME_HEAD: Final = re.compile(r"\S+(?: \S+)*, s(?= |$)")
_LAST_NUMBER: Final = re.compile(r"[\d.,]+( ± [\d.,]+)?$")


def without_times(text: str) -> str:
    """Seconds in JSON, in sentences and in the columns of a table become ``#``.

    >>> without_times('{"seconds": 0.12, "solve_seconds": 1e-05, "states": 2}')
    '{"seconds": #, "solve_seconds": #, "states": 2}'
    >>> without_times("optimal: 2 states (labels state/state, 0.12 s, 3 exemplars)")
    'optimal: 2 states (labels state/state, # s, 3 exemplars)'
    >>> print(without_times("task  solve time, s  return" + chr(10) + "b             0.014       1"))
    task  solve time, s  return
    b                 #       1
    """
    return _without_time_columns(_SECONDS.sub("# s", _SECONDS_FIELD.sub(r"\1#", text)))


def _without_time_columns(text: str) -> str:
    ends: list[int] = []
    out = []
    for line in text.split("\n"):
        heads = [found.end() for found in _TIME_HEAD.finditer(line)] if line.startswith("task ") else []
        ends = heads or ends
        for end in ends if not heads and not line.startswith("  paper") else ():
            if found := _LAST_NUMBER.search(line[:end]):
                line = line[: found.start()] + "#".rjust(end - found.start()) + line[end:]
        out.append(line)
    return "\n".join(out)


def without_time_cells(table: str) -> str:
    """The same for a Markdown table.

    >>> rows = ["| task | solve time, s | paper's |", "|---|---|---|", "| b | 0.01 | 0.6 |"]
    >>> without_time_cells(chr(10).join(rows)).split(chr(10))[2]
    '| b | # | 0.6 |'
    """
    rows = [re.split(r"(?<!\\)\|", line) for line in table.split("\n")]
    places = [place for place, head in enumerate(rows[0]) if head.endswith(", s ")]
    for row in rows[2:]:
        for place in places:
            if place < len(row):
                row[place] = " # "
    return "\n".join("|".join(row) for row in rows)


def _without_noise(text: str) -> str:
    """What only a new or a slow machine says: that matplotlib looks for fonts, and how a run goes on."""
    lines = without_progress(text).splitlines(keepends=True)
    return "".join(line for line in lines if "building the font cache" not in line)
