"""What the tuned constants are worth: each is set to other values, in turns with the one that ships.

    python benchmarks/constants.py                   all of them
    python benchmarks/constants.py GROWTH PAIRS      some
    python benchmarks/constants.py --list            where they are, and what they ship as

For each constant there are rows that it can matter for: files of ``benchmarks/data``, many more walks where it is about
large data, runs of the active learner where it steers those. Each row is solved with the value that ships and then with
each of the others, all in one process; ratios are of processor seconds. How a search goes is luck in part: another
order of questions takes another way. So a single row says little, and a tenth of the mean is not much.

Not here: what is compiled (``TRIES``), and what bounds memory or patience and is never reached by these rows; the
comments beside those say what they bound.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

import gymnasium
import numpy as np

from episodes import load
from markovize import ActiveLearner, RewardMachine, Settings, Traces, learn
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks
from report import Report

Objective: TypeAlias = Literal["triggers", "states"]
Settling: TypeAlias = dict[str, Any]  # changes of the active learner's settings
EPISODES = 300  # of a run: all of these worlds are optimal long before


class Answer(NamedTuple):
    """What came of a row: the machine, and for a run whether its policy ended optimal, and since which episode."""

    machine: RewardMachine
    optimal: bool
    since: int | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self.machine.states, len(self.machine.triggers)


class Row(NamedTuple):
    """One thing to solve."""

    name: str
    solve: Callable[[Settling], Answer]


class Constant(NamedTuple):
    """A tuned number: its name, the modules that hold it (none: it is a setting), what else to try, and on what."""

    name: str
    modules: tuple[str, ...]
    others: tuple[float, ...]
    rows: tuple[Row, ...]

    @property
    def shipped(self) -> float:
        if not self.modules:
            return float(getattr(Settings.of("directed"), self.name))
        return float(getattr(import_module(f"markovize.{self.modules[0]}"), self.name))


# --- rows --------------------------------------------------------------------------------------------------------


def solved(name: str, objective: Objective = "triggers", acyclic: bool = True, labels: str = "auto") -> Row:
    """The optimum behind one of the shipped files."""
    words = [name, objective, *([] if acyclic else ["cycles"]), *([] if labels == "auto" else [f"{labels} labels"])]
    options = {"objective": objective, "acyclic": acyclic, "trigger_on": labels, "reward_on": labels}
    return Row(", ".join(words), lambda _: _learned(kept(name), options))


def walked(kind: str, episodes: int, **task: str) -> Row:
    """The optimum behind many walks."""
    options = {"acyclic": True, "trigger_on": "state", "reward_on": "state"}
    traces = cache(lambda: noisy_walks(world(kind, **task), episodes, np.random.default_rng(7)))
    return Row(f"{kind} {task['task']}, {episodes:,} walks", lambda _: _learned(traces(), options))


def acted(env: str, seed: int, episodes: int = EPISODES, **task: Any) -> Row:
    """A directed run, settings as they ship but for what is tried."""

    def run(changes: Settling) -> Answer:
        settings = Settings.of("directed", **({"seed": seed, "episodes": episodes} | changes))
        result = ActiveLearner(gymnasium.make(f"markovize/{env}-v0", **task), settings).run()
        assert result.optimal_return is not None
        return Answer(result.machine, result.greedy_return >= result.optimal_return - 1e-9, result.episodes_to_optimal)

    return Row(" ".join([env, *task.values(), f"seed {seed}"]), run)


def _learned(traces: Traces, options: dict[str, Any]) -> Answer:
    result = learn(traces, **options)
    assert result.machine is not None
    return Answer(result.machine, result.status == "optimal")


kept = cache(load)
EASY = (
    solved("breakfast-b-cumulative"),
    solved("breakfast-c-full"),
    solved("office-b"),
    solved("office-e"),
    solved("office-loop"),
    solved("office-e", acyclic=False),
    solved("breakfast-c-full", acyclic=False),
)
HARD = (solved("office-loop", acyclic=False), solved("office-d", "states"), solved("breakfast-c-cumulative", "states"))
LARGE = (
    walked("office", 6_000, task="e"),
    walked("breakfast", 6_000, task="b", rewards="cumulative"),
    walked("office", 6_000, task="d"),
)
LABELS = (
    solved("office-b"),
    solved("office-e"),
    solved("office-loop"),
    solved("office-c", labels="transition"),
    solved("office-e", labels="transition"),
)
ACTED = (
    acted("OfficeWorld", 0, task="e"),
    acted("OfficeWorld", 1, task="e"),
    acted("BreakfastWorld", 0, task="c"),
    acted("BreakfastWorld", 0, task="b", rewards="cumulative"),
    acted("BeachWorld", 0, 50),
)
FIRST, SEARCH, SAT = "learning.greedy", "learning.search", "learning.engines.sat"
CONSTANTS = (
    Constant("SAMPLE_NODES", (FIRST,), (2_500, 5_000, 20_000, 40_000, 10**9), LARGE),
    Constant("GROWTH", (FIRST,), (2, 16), LARGE),
    Constant("MOST_TRIGGERS", (FIRST, SEARCH), (6, 12, 48, 96, 10**6), EASY + HARD),
    Constant("FRONT_NODES", ("learning.judge",), (7_500, 15_000, 60_000, 120_000, 10**9), LARGE),
    Constant("SMALL_ALPHABET", ("learning.engines.exemplar_tree",), (0, 64, 10**6), LABELS),
    Constant("FIRST_BUDGET", (SEARCH,), (250, 500, 2_000, 4_000), EASY + HARD),
    Constant("FAVOUR", (SEARCH,), (2, 4, 16, 32), EASY + HARD),
    Constant("PAIRS", ("learning.inquiry",), (1, 4, 8), EASY + HARD),
    Constant("MORE_PAIRS", ("learning.inquiry",), (2, 4, 16, 32), EASY + HARD),
    Constant("SLICE", (SAT,), (500, 1_000, 4_000, 8_000), EASY + HARD),
    Constant("LARGE", (SAT,), (0, 5_000, 80_000), EASY),
    Constant("LONG_SECONDS", (SAT,), (0.0, 0.4), EASY),
    Constant("CLAUSES", (SAT,), (1, 500, 8_000), EASY),
    Constant("OPEN_QUESTIONS", (SEARCH,), (1, 2, 10, 20), ACTED),
    Constant("NEAR", (SEARCH,), (1, 2, 8, 16), ACTED),
    Constant("FAR_BETTER", ("learning.memory",), (1.0, 2.0), ACTED),
    Constant("RECONSIDER", ("learning.memory",), (1, 2, 8, 16), ACTED),
    Constant("MANY_TRIGGERS", ("agents.tabular.search",), (3, 6, 24, 48), ACTED),
    Constant("SOME_TRIGGERS", ("agents.tabular.search",), (1, 6, 12), ACTED),
    Constant("keep", (), (0, 20, 100, 500), ACTED),
    Constant("effort", (), (1_250, 2_500, 10_000, 20_000), ACTED),
)


# --- measuring ---------------------------------------------------------------------------------------------------


@contextmanager
def changed(constant: Constant, value: float) -> Iterator[Settling]:
    """The constant has this value; what is given are the settings to run with."""
    modules = [import_module(f"markovize.{name}") for name in constant.modules]
    before = [getattr(module, constant.name) for module in modules]
    for module in modules:
        setattr(module, constant.name, value)
    try:
        yield {} if modules else {constant.name: value}
    finally:
        for module, shipped in zip(modules, before, strict=True):
            setattr(module, constant.name, shipped)


def timed(row: Row, constant: Constant, value: float) -> tuple[float, Answer]:
    """Processor seconds, and the answer."""
    with changed(constant, value) as changes:
        start = time.process_time()
        answer = row.solve(changes)
        return time.process_time() - start, answer


def measure(constant: Constant, report: Report) -> None:
    """One line for each value."""
    values = (_plain(constant.shipped), *constant.others)
    results = []
    for row in constant.rows:
        timed(row, constant, values[0])  # not counted: who comes first pays for what is loaded and cached
        results.append([timed(row, constant, value) for value in values])  # in turns
    shipped = [answer for (_, answer), *_ in results]
    for place, value in enumerate(values):
        ratios = [times[place][0] / times[0][0] for times in results]
        worst = max(range(len(ratios)), key=lambda n: ratios[n])
        cells = [f"{statistics.geometric_mean(ratios):.2f}", f"{ratios[worst]:.2f} ({constant.rows[worst].name})"]
        if not place:
            cells = [f"{sum(times[0][0] for times in results):.1f} s", "ships"]
        report.row(constant.name, f"{value:,}", *cells, compared([times[place][1] for times in results], shipped))


def compared(answers: list[Answer], shipped: list[Answer]) -> str:
    """How answers differ from those of the value that ships; of runs, also how soon they were optimal."""
    same = sum(a.machine == b.machine for a, b in zip(answers, shipped, strict=True))
    sizes = sum(a.size == b.size for a, b in zip(answers, shipped, strict=True))
    words = "same" if same == len(answers) else f"{same} of {len(answers)} the same, {sizes} of the same size"
    if not all(answer.optimal for answer in answers):
        words += f"; {sum(answer.optimal for answer in answers)} optimal"
    if any(answer.since is not None for answer in shipped):
        words += "; optimal since " + ", ".join("–" if a.since is None else str(a.since) for a in answers)
    return words


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="constants; all, if none")
    parser.add_argument("--list", action="store_true", help="say where they are and what they ship as")
    asked = parser.parse_args()
    known = [constant.name for constant in CONSTANTS]
    if unknown := set(asked.names) - set(known):
        parser.error(f"there is no constant {sorted(unknown)[0]!r}; they are {', '.join(known)}")
    chosen = [constant for constant in CONSTANTS if not asked.names or constant.name in asked.names]
    if asked.list:
        for constant in chosen:
            print(f"{constant.name:16} {_plain(constant.shipped):<10,} {', '.join(constant.modules) or 'a setting'}")
        return
    for row in {row for constant in chosen for row in constant.rows[:1]}:
        row.solve({})  # compiles and loads
    report = Report("Constants")
    report.heads("constant", "value", "time, mean ratio", "worst row", "answers")
    for constant in chosen:
        measure(constant, report)


if __name__ == "__main__":
    main()
