"""Long questions cut into cubes, several at a time: what they are answered does not depend on the number of cores.

Each cube of each question is asked from the same exemplars, by a solver and with exemplars of its own. Answers are
taken in order, up to the first machine that is found; what was answered after it is forgotten. So whether cubes are
asked one after another or in threads, the same is learned from them. Solvers leave the interpreter to other threads.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from markovize.learning.engines.base import Verdict
from markovize.learning.floors import Size
from markovize.learning.inquiry import Inquiry
from markovize.learning.interrupts import Interrupt
from markovize.learning.limits import Limits, Stop

LOOK_SECONDS: Final = 0.05  # between two looks at the limits


@dataclass(frozen=True)
class _Cube:
    """One question in one cube."""

    size: Size
    inquiry: Inquiry

    def ask(self, limits: Limits, *, failures_count: bool) -> Verdict:
        return self.inquiry.ask(*self.size, limits, failures_count=failures_count)


def count_cores() -> int:
    """The cores that this process may use; OMP_NUM_THREADS, where it is set, says that for many programs."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(there, int(asked)) if asked.isdecimal() and int(asked) else there


def ask_in_cubes(
    inquiry: Inquiry, questions: Sequence[Size], limits: Limits, *, cores: int, failures_count: bool
) -> Size | None:
    """Asks the questions up to the first machine, with at most the limits' work for each cube of each.

    The first question that takes more is returned, and no other is asked after it. What is infeasible is entered in
    what is proven, also where the limits stop it.
    """
    cubes = [cube for question in questions for cube in _cut(inquiry, question)]
    left = Counter(cube.size for cube in cubes)
    with closing(_answers(cubes, limits, cores, failures_count)) as answers:
        for cube, verdict in answers:
            inquiry.join(cube.inquiry)
            if verdict is Verdict.UNKNOWN:
                return cube.size
            if verdict is Verdict.FEASIBLE:
                return None
            left[cube.size] -= 1
            if not left[cube.size]:
                inquiry.exclude(*cube.size)
    return None


def _cut(inquiry: Inquiry, question: Size) -> Iterator[_Cube]:
    number = 0
    while (cube := inquiry.cube(number)) is not None:
        yield _Cube(question, cube)
        number += 1


def _answers(
    cubes: list[_Cube], limits: Limits, cores: int, failures_count: bool
) -> Generator[tuple[_Cube, Verdict], None, None]:
    """The cubes in order, with their answers; nobody need ask for them all. Each is given away: it has a solver."""
    ahead = deque(cubes)
    cubes.clear()
    if cores == 1:
        while ahead:
            cube = ahead.popleft()
            yield cube, cube.ask(limits, failures_count=failures_count)
        return
    interrupt = Interrupt()
    quiet = replace(limits, pulse=lambda: None, interrupt=interrupt)  # this thread alone looks at Ctrl-C and shows
    with ThreadPoolExecutor(min(cores, len(ahead)), thread_name_prefix="cube") as pool:
        asked = deque((cube, pool.submit(cube.ask, quiet, failures_count=failures_count)) for cube in ahead)
        ahead.clear()
        try:
            while asked:
                cube, future = asked.popleft()
                yield cube, _await(future, limits)
        finally:
            interrupt.request()
            pool.shutdown(cancel_futures=True)


def _await(future: Future[Verdict], limits: Limits) -> Verdict:
    """The answer, as soon as it is there; raises :class:`Stop` where the limits say so before."""
    limits.check()
    while not wait([future], LOOK_SECONDS).done:
        limits.check()
    try:
        return future.result()
    except Stop:
        limits.check()
        raise
