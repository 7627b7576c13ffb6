"""Trials on this machine: one process for each core."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import wait as wait_for
from typing import Any, TypeAlias

from markovize.agents.tabular import RunProgress
from markovize.errors import InputError, MarkovizeError
from markovize.experiments.execute.kinds import run_trial
from markovize.experiments.records import Finished
from markovize.experiments.spec import Trial
from markovize.learning.interrupts import interruptible

OnProgress: TypeAlias = Callable[[Trial, RunProgress], None]
_reports: Any = None  # of a worker process: where it tells how far it is
PAUSE = 0.1  # seconds between two looks at the workers


def run_here(trials: Sequence[Trial], on_progress: OnProgress | None) -> Iterator[tuple[Trial, Finished]]:
    """One after the other, in this process."""
    for trial in trials:
        yield trial, run_trial(trial, None if on_progress is None else partial(on_progress, trial))


def run_in_processes(
    trials: Sequence[Trial], jobs: int, on_progress: OnProgress | None
) -> Iterator[tuple[Trial, Finished]]:
    """As many at once as there are jobs, as they finish."""
    try:
        pickle.dumps(list(trials))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"the tasks cannot be sent to other processes ({error}); use jobs=1") from None
    context = multiprocessing.get_context("spawn")
    reports = context.Queue()
    pool = ProcessPoolExecutor(min(jobs, len(trials)), context, _begin_worker, (reports,))
    waiting: dict[Future[Finished], Trial] = {}
    try:
        with interruptible() as interrupt:
            for number, trial in enumerate(trials):
                waiting[pool.submit(_work, number, trial)] = trial
            while waiting:
                finished, _ = wait(waiting, PAUSE, FIRST_COMPLETED)
                interrupt.raise_if_requested()
                _pass_on(reports, trials, on_progress)
                for future in finished:
                    yield waiting.pop(future), future.result()
    except BrokenProcessPool:
        raise MarkovizeError(
            "a worker process died: killed, out of memory, or started by a script without "
            "`if __name__ == '__main__':`; finished trials are kept, go on with --resume"
        ) from None
    finally:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
        reports.close()


def _pass_on(reports: Any, trials: Sequence[Trial], on_progress: OnProgress | None) -> None:
    while True:
        try:
            number, progress = reports.get_nowait()
        except queue.Empty:
            return
        if on_progress is not None:
            on_progress(trials[number], progress)


def _begin_worker(reports: Any) -> None:
    """A trial takes one core, Ctrl-C is for the parent to answer, and no worker outlives it."""
    global _reports
    _reports = reports
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (wait_for([parent.sentinel]), os._exit(1)), daemon=True).start()


def _work(number: int, trial: Trial) -> Finished:
    return run_trial(trial, lambda progress: _reports.put((number, progress)))
