"""Golden runs against any checkout: compares what they give with what was recorded. Each case has its own process.

    PYTHONPATH=src python tests/golden/record.py -j 2                all of them; exits with 1 if anything differs
    PYTHONPATH=src python tests/golden/record.py run reproduce-exp1  those whose names start so
    PYTHONPATH=src python tests/golden/record.py --keep out          also keeps what was written, to compare by diff -r
    PYTHONPATH=src python tests/golden/record.py --apart             each command in a process of its own
    PYTHONPATH=src python tests/golden/record.py NAME --accept WHY   notes in changes.json what differs, and why it may
    PYTHONPATH=src python tests/golden/record.py NAME --record       records a new case
    PYTHONPATH=src python tests/golden/record.py --fold              puts the changes that were noted into the records

``PYTHONPATH`` says which checkout is run. Times are left out, and so are files that tell times. The records are of the
commit at which changes were last folded in: ``--before`` compares with them alone, without ``changes.json``. What was
meant before that, and why, is in the history of ``changes.json``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

HELPERS = Path(__file__).resolve().parents[1] / "helpers"


def run_one(name: str, keep: str | None, apart: bool) -> tuple[str, dict[str, Any], float]:
    """Runs a case by its name; what it wrote stays in a folder of its name under ``keep``."""
    from golden.cases import CASES
    from golden.running import run_case

    (case,) = (case for case in CASES if case.name == name)
    begin = time.monotonic()
    if keep is None:
        with tempfile.TemporaryDirectory() as folder:
            return name, run_case(case, Path(folder), in_process=not apart), time.monotonic() - begin
    place = Path(keep, name)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return name, run_case(case, place, in_process=not apart), time.monotonic() - begin


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of names; all if there are none")
    parser.add_argument("--record", action="store_true", help="write the records")
    parser.add_argument("--accept", metavar="WHY", help="add what differs to changes.json, with this reason")
    parser.add_argument("--before", action="store_true", help="leave changes.json aside")
    parser.add_argument("--expected", type=Path, metavar="DIR", help="records of another folder")
    parser.add_argument("--apart", action="store_true", help="run each command in a process of its own")
    parser.add_argument("--keep", metavar="DIR", help="keep the folders of the runs there")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="cases at once")
    parser.add_argument("--fold", action="store_true", help="put changes.json into the records, and run nothing")
    options = parser.parse_args(arguments)

    from golden.cases import CASES
    from golden.comparing import (
        EXPECTED,
        differences,
        expected_of,
        fold_changes,
        read_changes,
        write_changes,
        write_record,
    )

    if options.fold:
        fold_changes()
        return 0

    import markovize

    names = [case.name for case in CASES if not options.names or case.name.startswith(tuple(options.names))]
    print(f"{len(names)} cases, {Path(markovize.__file__).parent}", flush=True)
    folder = options.expected or EXPECTED
    folder.mkdir(parents=True, exist_ok=True)
    different = 0
    with ProcessPoolExecutor(options.jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        for name, found, seconds in pool.map(run_one, names, repeat(options.keep), repeat(options.apart)):
            if options.record:
                write_record(name, found, folder)
            told = differences(expected_of(name, folder, changes=not (options.before or options.record)), found)
            if told and options.accept:
                news = [
                    {"case": name, "place": d.place, "was": d.was, "is": d.now, "why": options.accept} for d in told
                ]
                write_changes([*read_changes(), *news])
            different += bool(told)
            print(f"{name:36} {seconds:6.1f} s  {'DIFFERS' if told else 'same'}", flush=True)
            for line in map(str, told[:10]):
                print(f"    {line[:600]}")
    print(f"{different} of {len(names)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.path[0] = str(HELPERS)
    sys.exit(main(sys.argv[1:]))
