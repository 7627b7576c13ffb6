"""Active learning: an agent that finds the machine behind its reward while it acts (the paper's ARMDPQ-Learning).

- :class:`ActiveLearner` runs it, :class:`Settings` says how, :class:`RunResult` is what comes out;
- :mod:`~markovize.agents.tabular.runners` plays episodes in worlds and environments, the
  :class:`~markovize.agents.tabular.agent.Agent` learns from them in :mod:`~markovize.agents.tabular.compiled` code,
  :class:`~markovize.agents.tabular.search.MachineSearch` learns machines where rewards contradict each other;
- :class:`Snapshot` is a run between two episodes, to go on from.
"""

from markovize.agents.tabular.learner import ActiveLearner
from markovize.agents.tabular.results import RunProgress, RunResult, Solve
from markovize.agents.tabular.settings import MODES, Settings
from markovize.agents.tabular.snapshots import Snapshot

__all__ = ["MODES", "ActiveLearner", "RunProgress", "RunResult", "Settings", "Snapshot", "Solve"]
