"""markovize: when a reward depends on history, learn the smallest reward machine that makes it Markov again.

One verb for each job, with the same names as on the command line:

* :func:`read_episodes`, :func:`write_episodes`, :class:`Traces`, :class:`Episode`: episodes; :func:`stream_episodes`:
  logs larger than memory
* :func:`check`: is the reward Markov? with witnesses
* :func:`check_reward`: what does the reward of an environment depend on? (``markovize audit``)
* :func:`learn`: the smallest machine of hidden triggers, with a proof; :class:`Learner`: for episodes that keep coming
* :class:`AllMachines`, :class:`Separation`, :func:`tell_apart`: other machines as small, and what tells two apart
* :func:`verify`: does a certificate of ``LearnResult.certificate`` hold? with a checker of its own
* :func:`replay`: does a machine explain these episodes?
* :func:`draw`, :func:`describe`: look at a machine
* :func:`convert`, :func:`read_machine`, :func:`write_machine`, :class:`RewardMachine`: machines and files
* :class:`Feature`, :class:`Literal`, :class:`Guard`: triggers as predicates, where observations hardly ever repeat
* :class:`Product`: states S×U, on which rewards are Markov
* :class:`MarkovRewardWrapper`, :class:`RecordEpisodes`: a Markov reward for, and episodes of, any environment
* :class:`ActiveLearner`, :class:`Settings`, :class:`RunResult`: learn the machine while acting (``markovize run``)
* :class:`GridWorld`: Gymnasium environments from a map and a machine; importing markovize also registers the paper's
  worlds, ``markovize/OfficeWorld-v0``, ``markovize/BreakfastWorld-v0`` and ``markovize/BeachWorld-v0``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markovize.extras import lazy_names
from markovize.gym.registration import register_envs

__version__ = "0.1.0"

if TYPE_CHECKING:
    from markovize.agents.tabular import ActiveLearner, RunResult, Settings
    from markovize.auditing.audit import check_reward
    from markovize.auditing.report import RewardReport
    from markovize.auditing.testing import assert_reward_markov
    from markovize.certificate.make import Certificate
    from markovize.certificate.verify import Verification, verify
    from markovize.conflicts.check import check
    from markovize.conflicts.report import CheckReport, Witness
    from markovize.episodes.features.feature import Feature
    from markovize.episodes.features.guard import Guard
    from markovize.episodes.features.literal import Literal
    from markovize.episodes.traces import Episode, Traces
    from markovize.errors import (
        EngineError,
        InputError,
        MachineError,
        MarkovizeError,
        UnrealisableError,
        UnsupportedError,
    )
    from markovize.gym.grid_world import GridWorld
    from markovize.gym.wrappers import MarkovRewardWrapper, RecordEpisodes
    from markovize.io import convert, read_episodes, read_machine, stream_episodes, write_episodes, write_machine
    from markovize.learning.all_machines import AllMachines
    from markovize.learning.entry import learn
    from markovize.learning.learner import Learner
    from markovize.learning.result import LearnResult
    from markovize.machine.describe import describe
    from markovize.machine.machine import Emission, RewardMachine, Trigger
    from markovize.machine.replay import ReplayReport, replay
    from markovize.machine.separation import Separation, tell_apart
    from markovize.pictures.machine import draw
    from markovize.product.product import Product

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "assert_reward_markov": "auditing.testing",
        "check_reward": "auditing.audit",
        "RewardReport": "auditing.report",
        "Certificate": "certificate.make",
        "Verification": "certificate.verify",
        "verify": "certificate.verify",
        "check": "conflicts.check",
        "CheckReport": "conflicts.report",
        "Witness": "conflicts.report",
        "describe": "machine.describe",
        "draw": "pictures.machine",
        "GridWorld": "gym.grid_world",
        "EngineError": "errors",
        "InputError": "errors",
        "MachineError": "errors",
        "MarkovizeError": "errors",
        "UnrealisableError": "errors",
        "UnsupportedError": "errors",
        "convert": "io",
        "read_episodes": "io",
        "read_machine": "io",
        "stream_episodes": "io",
        "write_episodes": "io",
        "write_machine": "io",
        "AllMachines": "learning.all_machines",
        "learn": "learning.entry",
        "Learner": "learning.learner",
        "LearnResult": "learning.result",
        "Emission": "machine.machine",
        "RewardMachine": "machine.machine",
        "Trigger": "machine.machine",
        "ActiveLearner": "agents.tabular",
        "RunResult": "agents.tabular",
        "Settings": "agents.tabular",
        "MarkovRewardWrapper": "gym.wrappers",
        "RecordEpisodes": "gym.wrappers",
        "Product": "product.product",
        "Separation": "machine.separation",
        "tell_apart": "machine.separation",
        "replay": "machine.replay",
        "ReplayReport": "machine.replay",
        "Feature": "episodes.features.feature",
        "Guard": "episodes.features.guard",
        "Literal": "episodes.features.literal",
        "Episode": "episodes.traces",
        "Traces": "episodes.traces",
    },
)

__all__ = [  # noqa: RUF022 - grouped as in the docstring
    "read_episodes",
    "stream_episodes",
    "write_episodes",
    "Episode",
    "Traces",
    "check",
    "CheckReport",
    "Witness",
    "check_reward",
    "RewardReport",
    "assert_reward_markov",
    "learn",
    "Learner",
    "LearnResult",
    "AllMachines",
    "Separation",
    "tell_apart",
    "verify",
    "Verification",
    "Certificate",
    "replay",
    "ReplayReport",
    "draw",
    "describe",
    "convert",
    "read_machine",
    "write_machine",
    "RewardMachine",
    "Trigger",
    "Emission",
    "Feature",
    "Guard",
    "Literal",
    "Product",
    "MarkovRewardWrapper",
    "RecordEpisodes",
    "ActiveLearner",
    "Settings",
    "RunResult",
    "GridWorld",
    "MarkovizeError",
    "InputError",
    "MachineError",
    "UnrealisableError",
    "UnsupportedError",
    "EngineError",
]


register_envs()
