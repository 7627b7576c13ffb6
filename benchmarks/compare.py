"""Is this checkout as fast as another one? The essential rows of solve.py, steps.py and act.py on both, in turns.

    python benchmarks/compare.py ../before                    all rows, a quarter of an hour
    python benchmarks/compare.py ../before --rows solve,steps --repeat 9
    python benchmarks/compare.py ../before --rows steps --only Taxi,Frozen
    python benchmarks/compare.py .                            against itself: what is noise here?
    python benchmarks/compare.py ../before --new ../then      two other ones; --always-0: a slower row is no failure
    python benchmarks/compare.py ../before --rows cycles --repeat 1 --rounds 1      minutes: the long proofs, too

Each checkout has a process of its own, with its ``src`` as PYTHONPATH; row by row the two take turns, so that a busy
machine is busy for both. Rows use public names only, which both checkouts know. Times are processor seconds, without
compiling and loading; but those of the rows ``cycles`` are the clock's, since long proofs may use several cores. Two
ratios are shown, new over old: of the fastest times, and the median over neighbouring measurements. A row is slower
where both are above 1 by more than ``--noise``. Both must also answer the same.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from report import Report, commit

if TYPE_CHECKING:
    import gymnasium

    from markovize import Traces

    Env: TypeAlias = gymnasium.Env[Any, Any]

HERE = Path(__file__).resolve()
Answer: TypeAlias = list[object]
Work: TypeAlias = Callable[[], Answer]


# --- what is measured, in a process of its own ---------------------------------------------------------------------


def learn_row(traces: Traces, objective: str, acyclic: bool, *labels: str) -> Work:
    """``learn`` on one of the nine files."""
    from markovize import learn

    on: dict[str, Any] = {name: labels[0] for name in ("trigger_on", "reward_on") if labels}

    def work() -> Answer:
        found = learn(traces, objective="states" if objective == "states" else "triggers", acyclic=acyclic, **on)
        return [found.status, found.states, found.triggers, found.exemplars]

    return work


def solve_rows() -> Iterator[tuple[str, Work]]:
    """The nine files, where they take seconds at most."""
    from episodes import NAMES, load

    too_long = {"breakfast-c-cumulative", "office-d"}  # minutes, with cycles
    for name in NAMES:
        traces = load(name)
        for objective, acyclic in (("triggers", True), ("states", True), ("triggers", False)):
            if acyclic or name not in too_long:
                yield (
                    f"{name}, {objective}, {'acyclic' if acyclic else 'cycles'}",
                    learn_row(traces, objective, acyclic),
                )


def cycles_rows() -> Iterator[tuple[str, Work]]:
    """The nine files with cycles, their labels given: two of them took minutes."""
    from episodes import NAMES, load

    for name in NAMES:
        yield f"{name}, cycles", learn_row(load(name), "triggers", False, "state")


def steps_rows() -> Iterator[tuple[str, Work]]:
    """Long runs in which acting takes most of the time: compiled, stepped, and in environments that are not ours."""
    import gymnasium

    from markovize import ActiveLearner, Settings

    def row(make: Callable[[], Env], compiled: bool, mode: str, **changes: Any) -> Work:
        def work() -> Answer:
            result = ActiveLearner(make(), Settings.of(mode, **changes), compiled=compiled).run()
            return [result.machine.states, int(result.lengths.sum()), float(result.returns.sum())]

        return work

    office = partial(gymnasium.make, "markovize/OfficeWorld-v0", task="e")
    for mode, episodes in (("paper", 100_000), ("q-learning", 50_000), ("directed", 20_000)):
        yield f"office e, {mode}, {episodes:,} episodes", row(office, True, mode, episodes=episodes)
    yield "office e, q-learning, 3,000 episodes, stepped", row(office, False, "q-learning", episodes=3_000)
    fine = {"trigger_on": "transition", "reward_on": "transition"}  # nothing conflicts: only playing takes time
    for start in ("FrozenLake", "Taxi", "CliffWalking"):
        name = max(env for env in gymnasium.registry if env.rpartition("-")[0] == start)
        for mode in ("q-learning", "directed"):
            make = partial(gymnasium.make, name, max_episode_steps=200)
            yield f"{name}, {mode}, 1,000 episodes", row(make, True, mode, episodes=1_000, **fine)


def act_rows() -> Iterator[tuple[str, Work]]:
    """The eight tasks of the paper while acting, as in act.py, one seed."""
    import gymnasium

    from act import DIRECTED_EPISODES, TASKS
    from markovize import ActiveLearner, Settings

    def row(task: str, mode: str) -> Work:
        def work() -> Answer:
            world, options, episodes, *_ = TASKS[task]
            settings = Settings.of(
                mode,
                episodes=episodes if mode == "paper" else DIRECTED_EPISODES,
                acyclic=True,
                evaluate_every=10,
                wait_epsilon=0.2 if (mode, task) == ("paper", "office b") else None,
            )
            result = ActiveLearner(gymnasium.make(f"markovize/{world}-v0", **options), settings).run()
            return [result.machine.states, result.exemplars, len(result.solves), result.episodes_to_optimal]

        return work

    for task in TASKS:
        for mode in ("paper", "directed"):
            yield f"{task}, {mode}", row(task, mode)


GROUPS: dict[str, Callable[[], Iterator[tuple[str, Work]]]] = {
    "solve": solve_rows,
    "steps": steps_rows,
    "act": act_rows,
    "cycles": cycles_rows,
}


def warm_up() -> None:
    """Everything that is compiled or loaded when it is first used."""
    import gymnasium

    from episodes import load
    from markovize import ActiveLearner, Settings, learn

    learn(load("office-c"))
    for mode in ("paper", "q-learning", "directed"):
        for compiled in (True, False):
            env = gymnasium.make("markovize/BreakfastWorld-v0", task="b")
            ActiveLearner(env, Settings.of(mode, episodes=100), compiled=compiled).run()


def serve(groups: list[str], source: Path) -> None:
    """A worker: prints its rows, then for each number read from its input the row's processor seconds and answer."""
    import markovize

    where = Path(markovize.__file__).resolve()
    assert where.is_relative_to(source), f"markovize comes from {where}, not from {source}"
    warm_up()
    rows = [(group, name, work) for group in groups for name, work in GROUPS[group]()]
    print(json.dumps([(group, name) for group, name, _ in rows]), flush=True)
    for line in sys.stdin:
        group, _, work = rows[int(line)]
        clock = time.perf_counter if group == "cycles" else time.process_time
        start = clock()
        answer = work()
        print(json.dumps([clock() - start, answer]), flush=True)


# --- the two checkouts in turns ------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """A row, once."""

    seconds: float
    answer: Answer


class Worker:
    """A process that imports markovize from one checkout and measures rows when it is asked to."""

    def __init__(self, checkout: Path, groups: list[str]) -> None:
        command = [sys.executable, str(HERE), str(checkout), "--rows", ",".join(groups), "--serve"]
        environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src"), "PYTHONHASHSEED": "0"}
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.rows: list[list[str]] = json.loads(self._line())

    def measure(self, row: int) -> Measured:
        assert self.process.stdin is not None
        print(row, file=self.process.stdin, flush=True)
        return Measured(*json.loads(self._line()))

    def stop(self) -> None:
        self.process.communicate()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a worker ended with exit code {self.process.wait()}")
        return line


class Row(NamedTuple):
    """A row of both checkouts, measured as often in each."""

    group: str
    name: str
    old: list[Measured]
    new: list[Measured]

    @property
    def fastest(self) -> tuple[float, float]:
        return min(m.seconds for m in self.old), min(m.seconds for m in self.new)

    @property
    def ratio(self) -> float:
        old, new = self.fastest
        return new / old

    @property
    def median_ratio(self) -> float:
        return statistics.median(new.seconds / old.seconds for old, new in zip(self.old, self.new, strict=True))

    @property
    def answers(self) -> str:
        old, new = self.old[0].answer, self.new[0].answer
        return "same" if all(m.answer == old for m in self.old + self.new) else f"{old} became {new}"


def measure(old: Path, new: Path, groups: list[str], *, only: list[str], repeat: int, rounds: int) -> list[Row]:
    """Row by row, old and new in turns; each round in new processes, since no two of them lie in memory alike."""
    rows: list[Row] = []
    for number in range(rounds):
        workers = Worker(old, groups), Worker(new, groups)
        rows = rows or [Row(group, name, [], []) for group, name in workers[0].rows]
        assert workers[0].rows == workers[1].rows
        for index, row in enumerate(rows):
            if not any(part in row.name for part in only):
                continue
            for turn in range(repeat):
                order = (0, 1) if turn % 2 else (1, 0)
                for side in order:
                    (row.old, row.new)[side].append(workers[side].measure(index))
            print(f"{number + 1}/{rounds} {row.name}: {row.ratio:.2f}", file=sys.stderr, flush=True)
        for worker in workers:
            worker.stop()
    return [row for row in rows if row.old]


def show(report: Report, rows: list[Row], noise: float) -> bool:
    """The tables, and whether all is as fast and as right as before."""
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            report.heads("row", "old, s", "new, s", "ratio of the fastest", "median ratio", "answers", over=group)
        seconds = (f"{s:.3f}" for s in row.fastest)
        report.row(row.name, *seconds, f"{row.ratio:.2f}", f"{row.median_ratio:.2f}", row.answers)
    ratios = [row.ratio for row in rows]
    mean = statistics.geometric_mean(ratios)
    report.note(f"{len(rows)} rows, ratio {mean:.2f} in the geometric mean, {min(ratios):.2f} to {max(ratios):.2f}.")
    slower = [row.name for row in rows if min(row.ratio, row.median_ratio) > 1 + noise]
    other = [row.name for row in rows if row.answers != "same"]
    percent = f"{100 * noise:.0f} %"
    report.note(f"Slower by more than {percent}: {'; '.join(slower)}." if slower else f"None is slower by {percent}.")
    report.note(f"Other answers: {'; '.join(other)}." if other else "All answer the same.")
    return not slower and not other


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path, metavar="BASE_CHECKOUT", help="a folder with src/markovize")
    parser.add_argument("--new", type=Path, default=HERE.parents[1], help="the other one (default: this checkout)")
    parser.add_argument("--rows", default="solve,steps,act", help=f"of {', '.join(GROUPS)} (default: the first three)")
    parser.add_argument("--only", default="", help="parts of the names of rows, separated by commas")
    parser.add_argument("--repeat", type=int, default=3, help="turns of each row in a process (default 3)")
    parser.add_argument("--rounds", type=int, default=2, help="pairs of processes (default 2)")
    parser.add_argument("--noise", type=float, default=0.1, help="what a ratio may be above 1 (default 0.1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the tables here, with their origin")
    parser.add_argument("--always-0", action="store_true", help="exit with 0 also where a row is slower or other")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    groups = asked.rows.split(",")
    if unknown := set(groups) - set(GROUPS):
        parser.error(f"there are no rows {sorted(unknown)[0]!r}; they are {', '.join(GROUPS)}")
    for checkout in (asked.base, asked.new):
        if not (checkout / "src" / "markovize").is_dir():
            parser.error(f"{checkout} is no checkout: it has no src/markovize")
    if asked.serve:
        serve(groups, asked.base.resolve() / "src")
        return 0
    unit = "Seconds by the clock" if groups == ["cycles"] else "Processor seconds"
    words = f"{unit}, {asked.rounds} × {asked.repeat} measurements in turns; *old* is another checkout."
    report = Report("Before and after", words)
    only = asked.only.split(",")
    rows = measure(asked.base, asked.new, groups, only=only, repeat=asked.repeat, rounds=asked.rounds)
    if not rows:
        parser.error(f"no row has {asked.only!r} in its name")
    right = show(report, rows, asked.noise)
    report.note(f"Old is commit {commit(asked.base)}, new is {commit(asked.new)}.")
    report.save(asked.out)
    return 0 if right or asked.always_0 else 1


if __name__ == "__main__":
    sys.exit(main())
