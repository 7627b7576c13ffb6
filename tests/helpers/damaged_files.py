"""Damaged files of every format: each is read, or refused with one short line; what was read goes round unchanged.

Run as a program for more: ``python tests/helpers/damaged_files.py MUTATIONS [SEED]``.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from smt_lib_reader import read_smt_lib

from markovize.episodes.features import Feature, Guard, Literal
from markovize.episodes.traces import Traces
from markovize.errors import InputError, MarkovizeError, UnsupportedError
from markovize.io import read_episodes, read_machine, write_episodes, write_machine
from markovize.machine.machine import Emission, RewardMachine, Trigger

LONGEST_LINE: Final = 400
MACHINE: Final = RewardMachine(
    "state",
    "state",
    3,
    (Trigger(0, (1, 1), 1, ((1, 2), "ü")), Trigger(1, "door", 2), Trigger(2, True, 0)),
    (Emission(0, (1, 1), 1, 0.0), Emission(0, 7, 0, 0.0), Emission(1, "door", 2, -0.5), Emission(2, 0.5, 2, 1.0, True)),
)
GUARDED: Final = RewardMachine(
    "guards",
    "guards",
    2,
    (
        Trigger(0, Guard([Literal("here", "is", "ü"), Literal("x", "below", 2.5, (2.25, 3))]), 1),
        Trigger(1, Guard(), 0),
        Trigger(0, Guard([Literal("here", "is", True)]), 1),
    ),
    (Emission(0, (False, True), 0, 0.0), Emission(0, (True, True), 1, -0.5), Emission(1, (True, False), 0, 1.0, True)),
    features=(Feature("x", "numeric"), Feature("here", "categorical")),
    reward_guards=(Guard([Literal("x", "at_least", 1), Literal("x", "below", 2)]), Guard([Literal("here", "is", 1)])),
)
TRACES: Final = Traces.of(
    [
        ([(0, 0), (0, 1), (1, 1)], ["up", "right"], [0.0, -0.5], True, False),
        ([(0, 0), (0, -1)], [3], [1e-9], False, True),
        ([(2, 2), (0, 1)], ["up"], [-0.0]),
    ]
)
LITERATURE: Final = """0 # initial state
[1] # terminal state
(0,0,'!e&!f&!n',ConstantRewardFunction(0))
(0,2,'e&!n',ConstantRewardFunction(0))
(2,1,'f|(n&e)',ConstantRewardFunction(+1.5e0))
(2,2,"True&!f&!(n&e)",ConstantRewardFunction(-0.0))
"""
AALPY: Final = """digraph learned {
s0 [label="s0"];
s1 [label="s1", shape=circle];
s0 -> s1 [label="coffee/0"];  // a comment
s0 -> s0 [label="mail/-0.0"];
s1 -> s0 [label="[1,2]/1e-3"  terminal="true"];
__start0 [label="", shape="none"];
__start0 -> s0  [label=""];
}
"""
OTHER_LINES: Final = (
    '{"observations":["a",true,1.5],"actions":[[1],[2]],"rewards":[-0.0,1],"terminated":true,"note":{"x":[null]}}\n\n'
    '{"observations": [0], "actions": [], "rewards": []}\n'
)
OTHER_TABLE: Final = (
    'episode;state;action;reward;next_state;terminated\n"a b";"x;y";1;-0.0;z;0\n"a b";z;true;-1e-3;"x;y";TRUE\n'
)
PIECES: Final = tuple(
    piece.encode("utf-8", "surrogatepass")
    for piece in (
        *("\x00", "\x1f", "\x1c", "\x85", "\xa0", "\ufeff", "\u2028", "\ud800", "²", "١", "ﬀ", "é", "🚪", "\x1b[31m"),
        *(
            "NaN",
            "-Infinity",
            "1e999",
            "-0.0",
            "-0",
            "0.10",
            "1e-400",
            "9" * 30,
            "9" * 400,
            "9" * 5000,
            "1_000",
            "0x1F",
        ),
        *("null", "true", "false", "True", "[]", "{}", "[" * 60, "]" * 60, "[" * 3000, "(" * 200, "{" * 200, "!" * 300),
        *(
            '"',
            "'",
            "\\",
            "\\u0000",
            "\\ud800",
            "\\",
            "#",
            "//",
            "/*",
            "*/",
            "->",
            "--",
            "&",
            "|",
            "?",
            "/",
            ";",
            ",",
            "\t",
        ),
        *(
            "\n",
            "\r",
            "\r\n",
            "\n\n\n",
            " " * 3000,
            "x" * 3000,
            '"a":1,"a":2',
            '"rewards"',
            '"from"',
            "label",
            "states",
        ),
        *("digraph", "subgraph", "strict", "__start0", "s99", "ConstantRewardFunction", "terminated", "trigger_on"),
    )
)


def seeds() -> list[tuple[str, bytes]]:
    """(ending, content) of undamaged files: our own of every format, and what others write."""
    out: list[tuple[str, bytes]] = []
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("jsonl", "csv", "tsv"):
            path = Path(folder, f"a.{ending}")
            write_episodes(path, TRACES if ending == "jsonl" else TRACES.select([0, 1]))
            out.append((ending, path.read_bytes()))
        for ending in ("json", "txt", "dot"):
            path = Path(folder, f"a.{ending}")
            write_machine(path, MACHINE)
            out.append((ending, path.read_bytes()))
        write_machine(Path(folder, "guards.json"), GUARDED)
        out.append(("json", Path(folder, "guards.json").read_bytes()))
    others = (("jsonl", OTHER_LINES), ("csv", OTHER_TABLE), ("txt", LITERATURE), ("dot", AALPY))
    return out + [(ending, text.encode()) for ending, text in others]


def mutate(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """One to four small damages."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 1, 2, 5, 20, 200)))
        match rng.randrange(12):
            case 0:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[end:]
            case 2 | 3:
                data = data[:at] + rng.choice(PIECES) + data[at:]
            case 4:
                data = data[:at] + rng.choice(PIECES) + data[end:]
            case 5:
                data = data[:end] + data[at:]
            case 6:
                data = data[:at]
            case 7 | 8 | 9:  # another digit or letter: most such files are still read
                places = [place for place, byte in enumerate(data) if chr(byte).isalnum()] or [0]
                at = rng.choice(places)
                data = data[:at] + rng.choice(b"0123456789abst-.+ ").to_bytes() + data[at + 1 :]
            case 10:
                other = rng.choice(others)
                data = data[:at] + other[rng.randrange(len(other)) :]
            case _:
                lines = data.splitlines(keepends=True) or [b""]
                rng.shuffle(lines)
                data = b"".join(lines)
    return data


ODD_VALUES: Final[tuple[Any, ...]] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        1.0,
        0.5,
        -0.0,
        2**53,
        2**64,
        10**400,
        1e308,
        "",
        "a",
        "0",
        "state",
        "\x1f",
        "é" * 500,
    ),
    *("guards", "numeric", "x", [True], [{"feature": "x", "below": 1}], {"feature": "here", "is": 3}),
    *([], {}, [[]], [0, [1, ["x"]]], {"a": 1}, [None], ["a"] * 300, 10**6, 10**6 + 1, "transition", [1.0, True]),
)


def mutate_values(data: bytes, rng: random.Random) -> bytes:
    """Another value somewhere in the JSON of a file: in all of it, in a line, or in a comment at a line's end."""
    lines = data.decode("utf-8", "replace").splitlines()
    at = rng.randrange(len(lines))
    before, text = lines[at][: lines[at].find("{")], lines[at][lines[at].find("{") :]
    with contextlib.suppress(ValueError):
        return _with_odd_value(json.loads(data), rng).encode()
    with contextlib.suppress(ValueError):
        lines[at] = before + _with_odd_value(json.loads(text), rng)
    return "\n".join(lines).encode()


def _with_odd_value(tree: Any, rng: random.Random) -> str:
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            walk(node[key])

    walk(tree)
    if not places:
        return json.dumps(rng.choice(ODD_VALUES))
    node, key = rng.choice(places)
    if rng.random() < 0.15:
        del node[key]
    elif rng.random() < 0.2:
        other = rng.choice(places)
        node[key] = json.loads(json.dumps(other[0].get(other[1]) if isinstance(other[0], dict) else other[0][-1:]))
    else:
        node[key] = rng.choice(ODD_VALUES)
    return json.dumps(tree)


class WrongError(AssertionError):
    """A file that was handled in a way that it must not be."""


def try_file(folder: Path, ending: str, data: bytes) -> str:
    """Reads the file; ``refused`` or ``read``. Everything else is an error of ours."""
    read, write = (read_machine, write_machine) if ending in ("json", "txt", "dot") else (read_episodes, write_episodes)
    path = folder / f"m.{ending}"
    path.write_bytes(data)
    try:
        value = read(path)
    except MarkovizeError as error:
        check_refusal(error, path)
        return "refused"
    if isinstance(value, RewardMachine) and value.states > 10_000:  # goes round, too, but takes a minute
        return "read"
    if isinstance(value, RewardMachine) and value.has_guards:
        check_exports(value, folder)
    for other in ("json", "txt", "dot") if isinstance(value, RewardMachine) else ("jsonl", "csv", "tsv"):
        check_round_trip(value, folder / f"again.{other}", read, write)
    return "read"


def check_exports(machine: RewardMachine, folder: Path) -> None:
    """What is only written is at least well formed."""
    for ending in ("py", "smt2"):
        path = folder / f"again.{ending}"
        try:
            write_machine(path, machine)
        except UnsupportedError:
            continue
        text = path.read_text()
        if ending == "py":
            compile(text, str(path), "exec")
        else:
            read_smt_lib(text)


def check_refusal(error: MarkovizeError, path: Path) -> None:
    """One short line of an error that was foreseen, with the name of the file."""
    text = str(error)
    if not isinstance(error, (InputError, UnsupportedError)):
        raise WrongError(f"a {type(error).__name__}: {text}")
    if len(text) > LONGEST_LINE or not text.isprintable() or not text.startswith(str(path)):
        raise WrongError(f"not one short line that starts with the file: {len(text)} characters: {text[:1000]!r}")


def check_round_trip(value: Any, path: Path, read: Callable[..., Any], write: Callable[..., Any]) -> None:
    """What can be written is read again as it was, and written again with the same bytes."""
    try:
        write(path, value)
    except UnsupportedError as error:
        if len(str(error)) > LONGEST_LINE:
            raise WrongError(f"a long line: {error}") from None
        return
    first = path.read_bytes()
    again = read(path)
    if _plain(again, path) != _plain(value, path):
        raise WrongError(f"{path.suffix} does not come back as it was")
    write(path, again)
    if path.read_bytes() != first:
        raise WrongError(f"{path.suffix} is not written twice alike")


def _plain(value: Any, path: Path) -> str:
    """All that a format can hold; ``repr`` tells true from 1 and 0.0 from -0.0."""
    if isinstance(value, Traces):
        return repr([episode.to_json() for episode in value])
    fields = value.to_json()
    if path.suffix != ".json":  # others have no room for alternatives, and list things in an order of their own
        fields["triggers"] = sorted(repr((t["from"], t["on"], t["to"])) for t in fields["triggers"])
        fields["rewards"] = sorted(map(repr, fields["rewards"]))
    return repr(fields)


def damaged_files(number: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many damaged files, the same for the same seed."""
    rng, whole = random.Random(seed), seeds()
    for _ in range(number):
        ending, data = rng.choice(whole)
        if ending in ("json", "jsonl", "txt") and rng.random() < 0.5:
            yield ending, mutate_values(data, rng)
        else:
            yield ending, mutate(data, rng, [content for _, content in whole])


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder in memory where there is one: writing is synchronised to disk otherwise, thousands of times."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def main() -> None:
    number, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts: Counter[tuple[str, str]] = Counter()
    slowest = (0.0, "", b"")
    with scratch() as folder:
        for at, (ending, data) in enumerate(damaged_files(number, seed)):
            start = time.perf_counter()
            try:
                counts[ending, try_file(folder, ending, data)] += 1
            except Exception as error:
                counts[ending, "WRONG"] += 1
                print(f"{at}: .{ending}: {type(error).__name__}: {str(error)[:300]}\n    {data[:3000]!r}")
            slowest = max(slowest, (time.perf_counter() - start, ending, data))
    for (ending, outcome), times in sorted(counts.items()):
        print(f"{ending:6} {outcome:8} {times:7,}")
    print(f"slowest: {slowest[0]:.2f} s, .{slowest[1]}")
    sys.exit(any(outcome == "WRONG" for _, outcome in counts))


if __name__ == "__main__":
    main()
