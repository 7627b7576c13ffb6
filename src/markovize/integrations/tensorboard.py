"""TensorBoard scalars of a run or a training: what its progress tells, as curves over episodes."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Self

from markovize.agents.tabular import RunProgress
from markovize.extras import load

SCALARS = ("moving_return", "states", "triggers", "exemplars", "solve_seconds", "loss")


class TensorBoardProgress:
    """An ``on_progress`` for all our agents that writes scalars to a folder; close it at the end.

    The step is the episode. Notes, such as that labels were refined, are written as text.

    ::

        with TensorBoardProgress("runs/office") as progress:
            ActiveLearner(env, settings, on_progress=progress).run()
        with TensorBoardProgress("runs/lstm") as progress:
            train(world("office", task="e"), DeepSettings("LSTM"), seed=0, on_progress=progress)
    """

    def __init__(self, folder: str | os.PathLike[str], *, prefix: str = "markovize") -> None:
        self._module: Any = load("torch.utils.tensorboard", "writing TensorBoard scalars", "sb3")
        self._folder, self._prefix = os.fspath(folder), prefix
        self._writer: Any = None
        self._note = ""

    def __call__(self, progress: RunProgress) -> None:
        """Writes one point of each curve. The first call makes the folder, and replaces what was there from here on."""
        if self._writer is None:
            self._writer = self._module.SummaryWriter(self._folder, purge_step=progress.episode)
        for name in (name for name in SCALARS if hasattr(progress, name)):
            self._writer.add_scalar(f"{self._prefix}/{name}", getattr(progress, name), progress.episode)
        if progress.note != self._note:
            self._note = progress.note
            self._writer.add_text(f"{self._prefix}/note", progress.note, progress.episode)

    def close(self) -> None:
        """Writes what is still waiting."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
