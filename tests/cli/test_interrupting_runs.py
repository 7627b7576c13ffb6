"""Ctrl-C at any instant of ``markovize run``: one press, two seconds, the best machine so far, and exact resuming."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from in_process import run_here
from progress_lines import without_progress

import markovize

SECONDS = 2.0  # in the long tests
SOON = 20.0  # in those that run on every submission: it ends, whatever else has to be compiled or done on the machine
PATIENCE = 300  # seconds, for what should take some


OFFICE, BREAKFAST = "markovize/OfficeWorld-v0", "markovize/BreakfastWorld-v0"
CASES: dict[str, tuple[str, ...]] = {
    "office d, with cycles": (OFFICE, "--env-arg", "task=d", "--episodes", "150", "--seed", "1"),
    "breakfast c, cumulative": (
        *(BREAKFAST, "--env-arg", "task=c", "--env-arg", "rewards=cumulative", "--episodes", "60", "--acyclic"),
    ),
    "q-learning": (OFFICE, "--env-arg", "task=c", "--mode", "paper", "--episodes", "200000"),
    "taxi": ("Taxi-v4", "--episodes", "100"),
    "frozen lake": ("FrozenLake-v1", "--episodes", "8000", "--mode", "q-learning"),
    "breakfast c, briefly": (BREAKFAST, "--env-arg", "task=c", "--episodes", "40", "--acyclic"),
    "frozen lake, briefly": ("FrozenLake-v1", "--episodes", "2000", "--mode", "q-learning"),
}

# what is compiled for the first time, and what is loaded, is not part of the run
SCRIPT = """
import sys
from markovize.agents.tabular import ActiveLearner
from markovize.cli.app import main
run = ActiveLearner.run
def told(self, *args, **kwargs):
    print("running", file=sys.stderr, flush=True)
    return run(self, *args, **kwargs)
ActiveLearner.run = told
main()
"""


def start(*args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, "run", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def processor_seconds(pid: int | None) -> float:
    """What a process, or with None all that have ended, took of the processor."""
    if pid is None:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupt(process: subprocess.Popen[str], after: float) -> tuple[int, str, str, float]:
    """Presses Ctrl-C once, so many seconds after the run began: (exit code, stdout, stderr, seconds until its end).

    Where other work slows this machine down, the seconds are those of the processor.
    """
    assert process.stderr is not None
    assert process.stderr.readline() == "running\n"
    time.sleep(after)
    before, others = processor_seconds(process.pid), processor_seconds(None)
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    seconds = time.monotonic() - pressed
    worked = processor_seconds(None) - others - before
    return process.returncode, out, without_progress(err), min(seconds, max(worked, seconds / 10))


def finish(*args: object) -> None:
    process = start(*args)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, without_progress(err)) in ((0, ""), (0, "running\n"))


def go_on(folder: Path) -> None:
    """To the end, within this process."""
    code, _, err = run_here("run", "--resume", folder)
    assert (code, without_progress(err)) == (0, "")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "timings.json"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Undisturbed runs, made when they are asked for; the first of a kind compiles."""
    base = tmp_path_factory.mktemp("whole")
    return {name: base / str(number) for number, name in enumerate(CASES)}


def check_interrupts(name: str, seeds: range, whole: Path, tmp_path: Path, within: float = SECONDS) -> None:
    args, hits = CASES[name], 0
    while not whole.exists():
        finish(*args, "--out", whole)
        if len(seeds) > 1 and not whole.with_name("compiled").exists():  # then it may have taken far too long
            whole.rename(whole.with_name("compiled"))
    lasts = json.loads((whole / "timings.json").read_text())["seconds"]
    for seed in seeds:
        folder = tmp_path / str(seed)
        instant = random.Random(seed).uniform(0, 0.8 * lasts)
        code, out, err, seconds = interrupt(start(*args, "--out", folder), instant)
        if (folder / "result.json").exists():  # it was over before; Python may have been about to leave
            assert code in (0, 130, -signal.SIGINT)
            continue
        hits += 1
        assert seconds < within, (name, seed, instant)
        said = f"markovize: interrupted; go on with: markovize run --resume {folder}"
        assert (code, out, " ".join(err.split())) == (130, "", said)
        assert markovize.read_machine(folder / "machine.json").states >= 1
        go_on(folder)
        assert contents(folder) == contents(whole), (name, seed, instant)
    assert hits >= len(seeds) // 2, "runs were over before they could be interrupted"


@pytest.mark.skipif(sys.platform != "linux", reason="signals, and the time of other processes")
@pytest.mark.parametrize("name", ["breakfast c, briefly", "frozen lake, briefly"])
def test_one_press_at_a_random_instant(name: str, whole: dict[str, Path], tmp_path: Path) -> None:
    check_interrupts(name, range(1), whole[name], tmp_path, SOON)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="signals, and the time of other processes")
@pytest.mark.parametrize("name", [name for name in CASES if "briefly" not in name])
def test_one_press_at_ten_random_instants(name: str, whole: dict[str, Path], tmp_path: Path) -> None:
    check_interrupts(name, range(100, 110), whole[name], tmp_path)


@pytest.fixture(scope="module")
def compiled() -> tuple[str, ...]:
    """A command, all of it compiled, also on a machine where nothing was before: it must learn a machine for that."""
    args = (OFFICE, "--env-arg", "task=c", "--mode", "q-learning", "--episodes")
    code, out, _ = run_here("run", *args, "50000", "--json")
    assert (code, json.loads(out)["states"]) == (0, 2)
    return args


@pytest.mark.skipif(sys.platform != "linux", reason="signals, and the time of other processes")
@pytest.mark.parametrize("within", [SOON, pytest.param(SECONDS, marks=pytest.mark.long)])
@pytest.mark.parametrize("as_json", [True, False])
def test_without_a_folder_the_result_so_far_is_told(as_json: bool, within: float, compiled: tuple[str, ...]) -> None:
    code, out, err, seconds = interrupt(start(*compiled, "100000000", *(["--json"] if as_json else [])), 1.0)
    assert (code, err) == (130, "markovize: interrupted\n")
    assert seconds < within
    if as_json:
        numbers = json.loads(out)
        assert (numbers["greedy_return"], numbers["mode"]) == (None, "q-learning")
        assert 0 < numbers["episodes"] < 100_000_000
    else:
        assert "mean return " in out
        assert " in the last 100 episodes (" in out
