"""The folder of an active training: the files of a run, and what it goes on from.

========================  =========================================================================
``config.json``           the environment, its arguments, all settings, the version
``episodes.jsonl``        the recorded episodes, which the machine was learned from
``metrics.csv``           a row for each block of episodes
``machine.json``          the machine
``checkpoint.npz``        weights, machine and counters, to go on from; stays until the training is over
``model.zip``             the model, for ``PPO.load`` or ``DQN.load`` (at the end)
``machine.svg``, ``curve.png``, ``result.json``, ``timings.json``: as in tabular runs
========================  =========================================================================

A resumed training has the episodes, the machine, the policy's weights and all counters that it had. It is not
bit-identical to one that was never stopped: moments of the optimiser, random generators of environments and policy,
episodes that had not ended, and, for DQN, steps beyond the recorded ones begin anew.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from markovize.agents.tabular.results import Solve
from markovize.errors import InputError, one_line
from markovize.integrations.sb3.active.results import TrainingResult
from markovize.integrations.sb3.active.settings import TrainingSettings
from markovize.integrations.sb3.active.training import ActiveTraining, Best
from markovize.io import read_episodes, write_episodes, write_machine
from markovize.io.files import atomic_write, readable
from markovize.machine.machine import RewardMachine
from markovize.runs.folder import CHECKPOINT, RunFolder, write_ending
from markovize.runs.text_files import format_metrics

EPISODES: Final = "episodes.jsonl"
_WEIGHT, _BEST = "weight:", "best:"


class TrainingFolder:
    """Where an active training is kept while it goes on. Every file is replaced in one piece."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder, self.path, self.config = folder, folder.path, folder.config

    @classmethod
    def new(
        cls,
        path: Path,
        env_id: str,
        env_args: Mapping[str, Any],
        settings: TrainingSettings,
        *,
        imports: Sequence[str] = (),
    ) -> TrainingFolder:
        """Makes the folder; one with files in it is refused."""
        return cls(RunFolder.new(path, env_id, env_args, settings, imports=imports))

    @property
    def settings(self) -> TrainingSettings:
        """How the training is made, as its configuration says."""
        try:
            return TrainingSettings(**self.config["settings"])
        except (InputError, TypeError) as error:
            raise InputError(f"settings: {one_line(error)}", where=one_line(self.path / "config.json")) from None

    def checkpoint(self, training: ActiveTraining) -> None:
        """Saves a training that goes on; for ``ActiveTraining(on_checkpoint=…)``."""
        self.show(training.so_far())
        evidence = training.evidence
        state = {
            "machine": evidence.machine.to_json(),
            "status": evidence.status,
            "seen": evidence.seen,
            "noise": evidence.state(),
            "solve_seconds": evidence.solve_seconds,
            "solves": [asdict(solve) for solve in evidence.solves],
            "notes": evidence.notes,
            "steps": training.steps,
            "seconds": training.seconds,
        }
        arrays = {f"{_WEIGHT}{name}": array for name, array in (training.weights or {}).items()}
        if training.best is not None:
            state["best"] = training.best.earned
            arrays |= {f"{_BEST}{name}": array for name, array in training.best.weights.items()}
        out = BytesIO()
        np.savez(
            out,
            state=np.array(json.dumps(state)),
            returns=np.array(training.returns, np.float64),
            lengths=np.array(training.lengths, np.int64),
            ends=np.array(training.ends, np.int64),
            **arrays,  # type: ignore[arg-type]
        )
        atomic_write(self.path / CHECKPOINT, out.getvalue())

    def restore(self, training: ActiveTraining) -> bool:
        """Brings a new training to the last checkpoint; False if there is none yet."""
        path = self.path / CHECKPOINT
        if not path.is_file():
            return False
        try:
            with np.load(BytesIO(readable(path).read_bytes()), allow_pickle=False) as saved:
                state = json.loads(str(saved["state"]))
                training.returns, training.lengths = saved["returns"].tolist(), saved["lengths"].tolist()
                training.ends = saved["ends"].tolist()
                weights, best = (
                    {name[len(kind) :]: saved[name] for name in saved.files if name.startswith(kind)}
                    for kind in (_WEIGHT, _BEST)
                )
            training.weights = weights or None
            training.best = Best(float(state["best"]), best) if best else None
            training.steps, training.seconds = int(state["steps"]), float(state["seconds"])
            evidence = training.evidence
            evidence.notes, evidence.solve_seconds = list(state["notes"]), float(state["solve_seconds"])
            evidence.solves = [Solve(**solve) for solve in state["solves"]]
            machine, status = RewardMachine.from_json(state["machine"]), str(state["status"])
            seen = int(state["seen"])
            if "noise" in state:  # not in checkpoints of before there were allowances
                evidence.recall(state["noise"])
        except (BadZipFile, OSError, EOFError, ValueError, KeyError, TypeError, InputError) as error:
            raise InputError(f"this file was damaged: {one_line(error, 80)}", where=one_line(path)) from None
        if seen:
            evidence.restore(read_episodes(self.path / EPISODES), seen)
        evidence.use(machine, status)
        return True

    def show(self, result: TrainingResult) -> None:
        """The plain files of a training, wherever it is."""
        atomic_write(self.path / "metrics.csv", format_metrics(result))
        write_episodes(self.path / EPISODES, result.kept)
        write_machine(self.path / "machine.json", result.machine)

    def end(self, result: TrainingResult) -> None:
        """All files of a training that ends here; a checkpoint stays if it was stopped."""
        self.show(result)
        if result.model is not None:
            written = BytesIO()
            result.model.save(written)
            atomic_write(self.path / "model.zip", written.getvalue())
        write_ending(self.path, result)
        if not result.stopped:
            self.folder.tidy()


def is_training(folder: RunFolder) -> bool:
    """Whether the folder is that of a training, and not of a tabular run."""
    with contextlib.suppress(TypeError):
        return "agent" in folder.config["settings"]
    return False
