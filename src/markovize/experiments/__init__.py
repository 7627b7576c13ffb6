"""Experiments as data, one runner for all of them, and what they leave: tables, figures and a page.

- :class:`Experiment` and :class:`Task` say what to run; :mod:`~markovize.experiments.catalogue` has the paper's;
- :func:`run_experiment` runs it on all cores or on a cluster (:mod:`~markovize.experiments.execute.local`,
  :mod:`~markovize.experiments.execute.cluster`) and keeps each finished trial
  (:mod:`~markovize.experiments.execute.store`); :mod:`~markovize.experiments.execute.kinds` says how each kind of
  task is run;
- :class:`TrialRecord` is what is known of a trial, :func:`write_report` what is made of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markovize.extras import lazy_names

if TYPE_CHECKING:
    from markovize.experiments.execute.runner import run_experiment
    from markovize.experiments.paper import PaperValues
    from markovize.experiments.records import TrialRecord, TrialTimings
    from markovize.experiments.report.files import write_report
    from markovize.experiments.spec import DeepTask, Experiment, Task, Trial

__all__ = [
    "DeepTask",
    "Experiment",
    "PaperValues",
    "Task",
    "Trial",
    "TrialRecord",
    "TrialTimings",
    "run_experiment",
    "write_report",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "run_experiment": "execute.runner",
        "PaperValues": "paper",
        "TrialRecord": "records",
        "TrialTimings": "records",
        "write_report": "report.files",
        "DeepTask": "spec",
        "Experiment": "spec",
        "Task": "spec",
        "Trial": "spec",
    },
)
