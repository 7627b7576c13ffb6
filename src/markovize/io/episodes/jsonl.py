"""Episodes as JSON lines, one episode a line: read as a stream, written atomically."""

from __future__ import annotations

import json
from typing import Any, Final

from msgspec import UNSET, DecodeError, Struct, UnsetType
from msgspec.json import Decoder

from markovize.episodes.strict_json import strict_json
from markovize.episodes.traces import Traces, TracesBuilder
from markovize.episodes.values import jsonable
from markovize.errors import InputError, one_line
from markovize.io.compression import atomic_open_bytes, open_bytes
from markovize.io.files import readable
from markovize.io.registry import AnyPath, ReadOptions

_EVERY: Final = 1 << 20
_NO_OPTIONS: Final = ReadOptions()


def read_jsonl(path: AnyPath, options: ReadOptions = _NO_OPTIONS) -> Traces:
    """Reads episodes line by line; ``options.on_progress`` is called about once a megabyte.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.jsonl")
    ...     _ = path.write_text('{"observations": [0, 1], "actions": ["go"], "rewards": [1], "terminated": true}')
    ...     read_jsonl(path).steps
    1
    """
    path = readable(path)
    name = one_line(path)
    builder = TracesBuilder(reward_decimals=options.reward_decimals)
    on_progress = options.on_progress
    done, told, episodes = 0, 0, 0
    total = path.stat().st_size
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            done += len(line)
            if not line.isspace():
                _add(builder, line, f"{name}:{number}")
                episodes += 1
            if on_progress is not None and done - told >= _EVERY:
                told = done
                on_progress(done, max(done, total))
    if not episodes:
        raise InputError("no episodes in this file", where=name)
    if on_progress is not None:
        on_progress(done, done)
    return builder.build()


def write_jsonl(path: AnyPath, traces: Traces) -> None:
    """Writes one line for each episode, in the form that :func:`read_jsonl` reads.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_jsonl(Path(folder, "log.jsonl"), Traces.of([([0, 1], ["go"], [1.0], True)]))
    ...     print(Path(folder, "log.jsonl").read_text().strip())
    {"observations": [0, 1], "actions": ["go"], "rewards": [1.0], "terminated": true, "truncated": false}
    """
    # every distinct value is turned into JSON once, however often it occurs
    states = [json.dumps(jsonable(value)) for value in traces.observation_values]
    actions = [json.dumps(jsonable(value)) for value in traces.action_values]
    with atomic_open_bytes(path) as file:
        for number in range(len(traces)):
            start, end = int(traces.offsets[number]), int(traces.offsets[number + 1])
            first = start + number
            seen = traces.observations[first : first + end - start + 1].tolist()
            line = (
                f'{{"observations": [{", ".join([states[i] for i in seen])}], '
                f'"actions": [{", ".join([actions[i] for i in traces.actions[start:end].tolist()])}], '
                f'"rewards": {json.dumps(traces.rewards[start:end].tolist())}, '
                f'"terminated": {json.dumps(bool(traces.terminated[number]))}, '
                f'"truncated": {json.dumps(bool(traces.truncated[number]))}}}\n'
            )
            file.write(line.encode("ascii"))


class _Line(Struct):
    """An ordinary line, as msgspec reads it several times faster than :mod:`json`."""

    observations: list[Any]
    actions: list[Any]
    rewards: list[float]
    terminated: bool | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET

    def is_all_of(self, line: bytes) -> bool:
        """Whether the line has these fields once each and no others: every key brings a colon with it."""
        fields = 3 + (self.terminated is not UNSET) + (self.truncated is not UNSET)
        return line.count(b":") == fields


_DECODER: Final = Decoder(_Line)


def _add(builder: TracesBuilder, line: bytes, where: str) -> None:
    try:
        episode = _DECODER.decode(line)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        _add_strictly(builder, line, where)
        return
    if not episode.is_all_of(line):
        _add_strictly(builder, line, where)
        return
    ended, cut = episode.terminated is True, episode.truncated is True
    builder.add(episode.observations, episode.actions, episode.rewards, ended, cut, where=where)


def _add_strictly(builder: TracesBuilder, line: bytes, where: str) -> None:
    """The long way, by hand: it finds keys that appear twice, says what is wrong and where, and takes any JSON."""
    try:
        fields = strict_json(line, where=where)
    except InputError as error:
        raise _with_field(line, where) or error from None
    if not isinstance(fields, dict):
        raise InputError(f"an episode is a JSON object, not {_KINDS.get(type(fields), 'null')}", where=where)
    builder.add_json(fields, where=where)


_KINDS: Final[dict[type[Any], str]] = {
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


def _with_field(line: bytes, where: str) -> InputError | None:
    """A better error for NaN and infinities, which a lenient second look can place in their field."""
    if b"NaN" not in line and b"Infinity" not in line:
        return None
    try:
        fields = json.loads(line)
        TracesBuilder().add_json(fields, where=where)
    except InputError as error:
        return error
    except (ValueError, TypeError, RecursionError):
        pass
    return None
