"""One run of ``markovize run``: the display, the folder, and what an interrupted run leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from markovize.errors import UnrealisableError
from markovize.learning.interrupts import interruptible

if TYPE_CHECKING:
    import gymnasium

    from markovize.agents.tabular import RunProgress, RunResult, Settings
    from markovize.runs import RunFolder


class Session(NamedTuple):
    """What came of a run: its result, or what it had found when it was interrupted, and where all of it is."""

    result: RunResult
    folder: RunFolder | None
    interrupted: bool = False


def run_session(
    env: gymnasium.Env[Any, Any],
    settings: Settings,
    begin: Callable[[], RunFolder] | None = None,
    watch: Callable[[RunProgress], None] | None = None,
    time_limit: float | None = None,
) -> Session:
    """Runs with a live display; in a folder, from its last checkpoint to its last file.

    ``begin`` gives the folder once the environment is known to be fit; ``watch`` is told what the display is told.
    """
    from markovize.agents.tabular import ActiveLearner
    from markovize.cli.environment_errors import guarding_environment
    from markovize.cli.run_display import run_display

    folder: RunFolder | None = None
    learner: ActiveLearner | None = None
    try:
        with interruptible(), run_display() as show, guarding_environment():
            watching = [tell for tell in (show, watch) if tell is not None]
            learner = ActiveLearner(env, settings, on_progress=partial(_tell_all, watching) if watching else None)
            if begin is not None:
                folder = begin()
                learner.on_checkpoint = folder.checkpoint
                folder.restore(learner)
            result = learner.run(time_limit)
            if folder is not None:
                if result.stopped:
                    folder.stop(result)
                else:
                    folder.finish(result)
        return Session(result, folder)
    except UnrealisableError:
        if folder is not None and learner is not None:  # the episodes that the error names are for the user to look at
            folder.show(learner.so_far())
        raise
    except KeyboardInterrupt:
        if folder is not None:
            raise KeyboardInterrupt(f"interrupted; go on with: markovize run --resume {folder.path}") from None
        if learner is None:
            raise
        return Session(learner.so_far(stopped="interrupted"), None, interrupted=True)
    finally:
        env.close()


def _tell_all(watching: Sequence[Callable[[RunProgress], None]], progress: RunProgress) -> None:
    for tell in watching:
        tell(progress)
