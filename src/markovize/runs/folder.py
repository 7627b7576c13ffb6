"""The folder of a run, from its first file to its last; :mod:`markovize.runs` lists what is in it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from markovize.episodes.strict_json import strict_json
from markovize.errors import InputError, one_line
from markovize.io import write_episodes, write_machine
from markovize.io.files import atomic_write, read_text, readable
from markovize.pictures.machine import draw
from markovize.runs.learning_curve import Told, curve
from markovize.runs.text_files import format_json, format_metrics, format_q_table

if TYPE_CHECKING:
    from markovize.agents.tabular import ActiveLearner, RunResult, Settings

TIMINGS: Final = ("seconds", "solve_seconds")
CHECKPOINT: Final = "checkpoint.npz"
CONFIG: Final = ("env_id", "env_args", "imports", "settings", "markovize")


class HasJson(Protocol):
    """Settings of any kind of run."""

    def to_json(self) -> dict[str, Any]: ...


class RunFolder:
    """Where a run is kept while it goes on.

    Every file is replaced in one piece, so that a run killed at any instant can be resumed from its last checkpoint,
    and ends as if nothing had happened.

    >>> import gymnasium, tempfile, markovize
    >>> env, settings = gymnasium.make("markovize/BreakfastWorld-v0"), markovize.Settings.of(episodes=100)
    >>> folder = RunFolder.new(Path(tempfile.mkdtemp(), "run"), "markovize/BreakfastWorld-v0", {}, settings)
    >>> learner = markovize.ActiveLearner(env, settings, on_checkpoint=folder.checkpoint)
    >>> folder.restore(learner)  # a run that was killed before would go on
    False
    >>> folder.finish(learner.run())
    >>> RunFolder.open(folder.path).finished
    True
    """

    def __init__(self, path: Path, config: Mapping[str, Any]) -> None:
        self.path, self.config = path, config

    @classmethod
    def new(
        cls,
        folder: str | os.PathLike[str],
        env_id: str,
        env_args: Mapping[str, Any],
        settings: HasJson,
        *,
        imports: Sequence[str] = (),
    ) -> RunFolder:
        """Makes the folder; one with files in it is refused. ``imports`` are modules that register the environment."""
        from markovize import __version__

        path = check_new(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # names may contain a zero byte
            raise InputError(f"cannot be made: {one_line(error)}", where=one_line(path)) from None
        values = env_id, dict(env_args), list(imports), settings.to_json(), __version__
        config = dict(zip(CONFIG, values, strict=True))
        atomic_write(path / "config.json", format_json(config))
        return cls(path, config)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> RunFolder:
        """The folder of a run that was begun.

        >>> RunFolder.open("no/such/run")
        Traceback (most recent call last):
        markovize.errors.InputError: no/such/run: no run was begun here (no config.json)
        """
        path = Path(folder)
        if not os.path.lexists(path / "config.json"):
            raise InputError("no run was begun here (no config.json)", where=one_line(path))
        config = _object(path / "config.json")
        missing = [name for name in CONFIG if name not in config]
        if missing:
            raise InputError(f"not the configuration of a run: no {missing[0]!r}", where=one_line(path / "config.json"))
        named = isinstance(config["env_id"], str) and isinstance(config["env_args"], dict)
        if not (named and isinstance(config["imports"], list) and isinstance(config["settings"], dict)):
            raise InputError("not the configuration of a run", where=one_line(path / "config.json"))
        return cls(path, config)

    @property
    def settings(self) -> Settings:
        """How the run is made, as its configuration says."""
        from markovize.agents.tabular import Settings

        where = one_line(self.path / "config.json")
        try:
            return Settings.of(**self.config["settings"])
        except (InputError, TypeError, AttributeError) as error:
            raise InputError(f"settings: {one_line(error)}", where=where) from None

    @property
    def finished(self) -> bool:
        """Whether the run is over and all its files are there; one that was stopped by a limit can go on."""
        path = self.path / "result.json"
        return path.is_file() and not _object(path).get("stopped")

    def checkpoint(self, learner: ActiveLearner) -> None:
        """Saves a run that goes on, and what it has found so far; for ``ActiveLearner(on_checkpoint=…)``."""
        self.show(learner.so_far())
        atomic_write(self.path / CHECKPOINT, learner.snapshot().to_bytes())

    def restore(self, learner: ActiveLearner) -> bool:
        """Brings a new learner to the last checkpoint; False if there is none yet."""
        from markovize.agents.tabular import Snapshot

        path = self.path / CHECKPOINT
        if not os.path.lexists(path):
            return False
        snapshot = Snapshot.from_bytes(readable(path).read_bytes(), one_line(path))
        try:
            learner.restore(snapshot)
        except InputError as error:
            raise InputError(str(error), where=one_line(self.path)) from None
        return True

    def finish(self, result: RunResult) -> None:
        """The last files, and away with what was only for going on."""
        self.stop(result)
        self.tidy()

    def stop(self, result: RunResult) -> None:
        """All files of a run that ends here; a checkpoint stays, to go on from."""
        self.show(result)
        write_ending(self.path, result)

    def tidy(self) -> None:
        """Removes the checkpoint of a finished run, and pieces of files that a killed process left."""
        for leftover in [self.path / CHECKPOINT, *self.path.glob(".*.tmp")]:
            with contextlib.suppress(FileNotFoundError):
                leftover.unlink()

    def show(self, result: RunResult) -> None:
        """The plain files of a run, wherever it is."""
        atomic_write(self.path / "metrics.csv", format_metrics(result))
        write_episodes(self.path / "exemplars.jsonl", result.kept)
        write_machine(self.path / "machine.json", result.machine)
        atomic_write(self.path / "q.csv", format_q_table(result))
        atomic_write(self.path / "rng.json", format_json(result.rng))


def write_ending(path: Path, result: Told) -> None:
    """The files that every kind of run ends with: pictures, seconds and, last of all, the numbers."""
    summary = result.to_json()
    draw(path / "machine.svg", result.machine)
    atomic_write(path / "curve.png", curve(result))
    solves = [{"episode": solve.episode, "seconds": solve.seconds} for solve in result.solves]
    timings = {name: summary[name] for name in TIMINGS} | {"solves": solves}
    atomic_write(path / "timings.json", format_json(timings))
    numbers = {name: value for name, value in summary.items() if name not in TIMINGS}
    atomic_write(path / "result.json", format_json(numbers))


def write_run(
    folder: str | os.PathLike[str],
    env_id: str,
    env_args: Mapping[str, Any],
    result: RunResult,
    *,
    imports: Sequence[str] = (),
) -> None:
    """Writes everything about a run that is over into a new folder.

    The same run gives the same bytes, except in ``timings.json``.
    """
    RunFolder.new(folder, env_id, env_args, result.settings, imports=imports).finish(result)


def read_run(folder: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The configuration and the result of a run that was written.

    >>> read_run("no/such/run")
    Traceback (most recent call last):
    markovize.errors.InputError: no/such/run/config.json: no such file
    """
    config, result = (_object(Path(folder, name)) for name in ("config.json", "result.json"))
    return config, result


def read_timings(folder: str | os.PathLike[str]) -> dict[str, float]:
    """The seconds that a run took."""
    path = Path(folder, "timings.json")
    timings = _object(path)
    if missing := [name for name in TIMINGS if not isinstance(timings.get(name), (int, float))]:
        raise InputError(f"no {missing[0]!r}; this file was damaged", where=one_line(path))
    return {name: timings[name] for name in TIMINGS}


def check_new(folder: str | os.PathLike[str]) -> Path:
    """The folder, if a run can be written there: before a long run is better than after it.

    >>> check_new("/")
    Traceback (most recent call last):
    markovize.errors.InputError: /: already has files in it; nothing was overwritten, give a new folder
    """
    path = Path(folder)
    where = one_line(path)
    try:
        if path.is_dir() and any(path.iterdir()):
            raise InputError("already has files in it; nothing was overwritten, give a new folder", where=where)
        above = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
        if not above.is_dir():
            raise InputError(f"{one_line(above, 80)} is not a folder", where=where)
        if not os.access(above, os.W_OK | os.X_OK):
            raise InputError(f"no permission to write in {one_line(above, 80)}", where=where)
    except OSError as error:  # names that are too long, folders that cannot be looked into
        raise InputError(f"cannot be made: {one_line(error)}", where=where) from None
    return path


def _object(path: Path) -> dict[str, Any]:
    data = strict_json(read_text(path), where=one_line(path))
    if not isinstance(data, dict):
        raise InputError("must be a JSON object", where=one_line(path))
    return data
