"""Finished trials as files: each written in one piece, found again by the configuration it was made with."""

from __future__ import annotations

import json
import re
from pathlib import Path

from markovize.episodes.strict_json import strict_json
from markovize.errors import InputError, one_line
from markovize.experiments.records import Finished, TrialRecord, TrialTimings
from markovize.experiments.spec import Trial
from markovize.io.files import atomic_write, read_text


class TrialStore:
    """The folder ``trials`` of an experiment: two files for each finished trial, of which one has only timings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "trials"

    def add(self, trial: Trial, finished: Finished) -> None:
        """Keeps a finished trial; the record comes last, so where it is the timings are, too."""
        record, timings = finished
        self.folder.mkdir(parents=True, exist_ok=True)
        atomic_write(self._path(trial, ".timings.json"), json.dumps(timings.to_json()) + "\n")
        atomic_write(self._path(trial, ".json"), json.dumps(record.to_json(), allow_nan=False) + "\n")

    def find(self, trial: Trial) -> Finished | None:
        """A trial that was finished with just this configuration."""
        path, beside = self._path(trial, ".json"), self._path(trial, ".timings.json")
        if not path.is_file() or not beside.is_file():
            return None
        try:
            record = TrialRecord.from_json(strict_json(read_text(path)))
            timings = TrialTimings.from_json(strict_json(read_text(beside)))
        except InputError as error:
            raise InputError(f"{error} (delete this file)", where=one_line(path)) from None
        if record.key != trial.key:
            raise InputError("belongs to another configuration; delete this file", where=one_line(path))
        return record, timings

    def tidy(self) -> None:
        """Removes pieces of files that a killed process left."""
        for piece in self.folder.glob(".*.tmp"):
            piece.unlink(missing_ok=True)

    def _path(self, trial: Trial, ending: str) -> Path:
        name = re.sub(r"[^a-z0-9]+", "-", f"{trial.task.title.lower()}-{trial.seed}")
        return self.folder / f"{name[:60]}-{trial.key}{ending}"
