"""What was recorded, what was changed on purpose since, and where a run differs from both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

Place: TypeAlias = tuple[str | int, ...]

HOME: Final = Path(__file__).resolve().parents[2] / "golden"
EXPECTED: Final = HOME / "expected"
CHANGES: Final = HOME / "changes.json"


class Difference(NamedTuple):
    """A place in a record, and what stands there in each of two; None where nothing does."""

    place: Place
    was: Any
    now: Any

    def __str__(self) -> str:
        shown = ["nothing" if value is None else repr(value) for value in (self.was, self.now)]
        return f"{'/'.join(map(str, self.place))}: expected {shown[0]}, found {shown[1]}"


def differences(expected: Any, found: Any, place: Place = ()) -> list[Difference]:
    """Where two records differ; empty if they are equal.

    >>> for difference in differences({"code": 0, "files": {"a": ["x"]}}, {"code": 1, "files": {}}):
    ...     print(difference)
    code: expected 0, found 1
    files/a: expected ['x'], found nothing
    """
    names: Iterable[str | int] = ()
    if isinstance(expected, dict) and isinstance(found, dict) and "sha256" not in expected:
        names = [*expected, *(name for name in found if name not in expected)]
        pairs = [(name, expected.get(str(name)), found.get(str(name))) for name in names]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = [(number, expected[number], found[number]) for number in range(len(expected))]
    else:
        return [] if expected == found else [Difference(place, expected, found)]
    return [difference for name, one, other in pairs for difference in differences(one, other, (*place, name))]


def expected_of(name: str, folder: Path = EXPECTED, *, changes: bool = True) -> Any:
    """What the run of this name gave when it was recorded, with the changes that were meant since."""
    record = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    for change in read_changes() if changes else ():
        if change["case"] == name:
            change_record(record, change["place"], change["was"], change["is"])
    return record


def read_changes() -> list[dict[str, Any]]:
    """All changes that were meant: ``case``, ``place``, what stood there, what ``is`` there now, and ``why``."""
    by_reason = json.loads(CHANGES.read_text(encoding="utf-8"))
    return [{**change, "why": why} for why, changes in by_reason.items() for change in changes]


def write_changes(changes: Sequence[dict[str, Any]]) -> None:
    """The same, one a line, under their reasons: many have the same."""
    by_reason: dict[str, list[str]] = {}
    for change in changes:
        rest = {name: value for name, value in change.items() if name != "why"}
        by_reason.setdefault(change["why"], []).append(json.dumps(rest, ensure_ascii=False))
    parts = (
        f"{json.dumps(why, ensure_ascii=False)}: [\n" + ",\n".join(lines) + "\n]" for why, lines in by_reason.items()
    )
    CHANGES.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def write_record(name: str, record: Any, folder: Path = EXPECTED) -> None:
    """What a run gives from now on."""
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def fold_changes() -> None:
    """Puts all changes that were meant into the records, so that none is left to be noted."""
    for name in sorted({change["case"] for change in read_changes()}):
        write_record(name, expected_of(name))
    write_changes([])


def change_record(record: Any, place: Sequence[str | int], was: Any, now: Any) -> None:
    """Puts another value at a place, where the first one must stand.

    >>> record = {"commands": [{"code": 0}]}
    >>> change_record(record, ["commands", 0, "code"], 0, 1)
    >>> change_record(record, ["commands", 0, "err"], None, ["no"])
    >>> record
    {'commands': [{'code': 1, 'err': ['no']}]}
    """
    *way, last = place
    for name in way:
        record = record[name]
    stands = record.get(last) if isinstance(record, dict) else record[last]
    assert stands == was, f"changes.json: {was!r} is not what was recorded at {place}"
    if now is None:
        del record[last]
    else:
        record[last] = now
