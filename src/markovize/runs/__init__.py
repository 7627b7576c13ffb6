"""A run as a folder of plain files, which any program can read, and from which it goes on after any interruption.

========================  =========================================================================
``config.json``           the environment, its arguments, all settings, the version
``metrics.csv``           a row for each block of episodes
``exemplars.jsonl``       the episodes that the solver was given
``machine.json``          the machine
``q.csv``                 what each action is worth, for each machine state and observation
``rng.json``              the state of the random generator
``checkpoint.npz``        everything, to go on from; gone when the run is over
``machine.svg``           the machine drawn (at the end)
``curve.png``             returns and machine sizes (at the end)
``result.json``           the numbers; written last, so where it is the rest is, too
``timings.json``          seconds; all other files are the same whenever the run is repeated
========================  =========================================================================
"""

from markovize.runs.folder import RunFolder, check_new, read_run, write_run
from markovize.runs.learning_curve import curve, moving_average

__all__ = ["RunFolder", "check_new", "curve", "moving_average", "read_run", "write_run"]
