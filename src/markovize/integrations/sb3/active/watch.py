"""What looks at a training of Stable-Baselines3 while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from markovize.extras import Missing

if TYPE_CHECKING:
    from stable_baselines3.common.callbacks import BaseCallback
else:
    try:
        from stable_baselines3.common.callbacks import BaseCallback
    except ImportError:
        BaseCallback = Missing


class Watch(BaseCallback):
    """Looks at a training now and then, and ends it when asked to."""

    def __init__(self, look: Callable[[], bool], stop: Callable[[], bool], every: int) -> None:
        super().__init__()
        self._look, self._stop, self._every = look, stop, every
        self._next = 0

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self._every

    def _on_step(self) -> bool:
        if self._stop():
            return False
        if self.num_timesteps < self._next:
            return True
        self._next = self.num_timesteps + self._every
        return self._look()
