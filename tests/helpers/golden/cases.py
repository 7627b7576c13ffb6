"""All golden runs."""

from __future__ import annotations

from typing import Final

from golden.file_cases import FILES, LOOKING
from golden.learn_cases import LEARNING
from golden.run_cases import REPRODUCING, RUNS

CASES: Final = [*LOOKING, *LEARNING, *FILES, *RUNS, *REPRODUCING]
