"""markovize: when a reward depends on history, learn the smallest reward machine that makes it Markov again.

One verb for each job, with the same names as on the command line:

* :func:`read_episodes`, :func:`write_episodes`, :class:`Traces`, :class:`Episode`: episodes
* :func:`check`: is the reward Markov? with witnesses
* :func:`learn`: the smallest machine of hidden triggers, with a proof
* :func:`replay`: does a machine explain these episodes?
* :func:`draw`, :func:`describe`: look at a machine
* :func:`convert`, :func:`read_machine`, :func:`write_machine`, :class:`RewardMachine`: machines and files
* :class:`Product`: states S×U, on which rewards are Markov
* :class:`MarkovRewardWrapper`, :class:`RecordEpisodes`: a Markov reward for, and episodes of, any environment
* :class:`ActiveLearner`, :class:`Settings`, :class:`RunResult`: learn the machine while acting (``markovize run``)
* :class:`GridWorld`: Gymnasium environments from a map and a machine; importing markovize also registers the paper's
  worlds, ``markovize/OfficeWorld-v0``, ``markovize/BreakfastWorld-v0`` and ``markovize/BeachWorld-v0``
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from markovize.envs.registration import register_envs

__version__ = "0.1.0"

if TYPE_CHECKING:
    from markovize.active import ActiveLearner, RunResult, Settings
    from markovize.conflicts import CheckReport, Witness, check
    from markovize.descriptions import describe
    from markovize.drawing import draw
    from markovize.envs.grid_world import GridWorld
    from markovize.errors import (
        EngineError,
        InputError,
        MachineError,
        MarkovizeError,
        UnrealisableError,
        UnsupportedError,
    )  # fmt: skip
    from markovize.formats import convert, read_episodes, read_machine, write_episodes, write_machine
    from markovize.learn_result import LearnResult
    from markovize.learning import learn
    from markovize.machine import Emission, RewardMachine, Trigger
    from markovize.product import Product
    from markovize.replaying import ReplayReport, replay
    from markovize.traces import Episode, Traces
    from markovize.wrappers import MarkovRewardWrapper, RecordEpisodes

_HOMES = {
    "check": "conflicts", "CheckReport": "conflicts", "Witness": "conflicts",
    "describe": "descriptions", "draw": "drawing", "GridWorld": "envs.grid_world",
    "EngineError": "errors", "InputError": "errors", "MachineError": "errors", "MarkovizeError": "errors",
    "UnrealisableError": "errors", "UnsupportedError": "errors",
    "convert": "formats", "read_episodes": "formats", "read_machine": "formats", "write_episodes": "formats",
    "write_machine": "formats",
    "learn": "learning", "LearnResult": "learn_result",
    "Emission": "machine", "RewardMachine": "machine", "Trigger": "machine",
    "ActiveLearner": "active", "RunResult": "active", "Settings": "active",
    "MarkovRewardWrapper": "wrappers", "RecordEpisodes": "wrappers",
    "Product": "product", "replay": "replaying", "ReplayReport": "replaying",
    "Episode": "traces", "Traces": "traces",
}  # fmt: skip

__all__ = [  # noqa: RUF022 - grouped as in the docstring
    "read_episodes", "write_episodes", "Episode", "Traces",
    "check", "CheckReport", "Witness",
    "learn", "LearnResult",
    "replay", "ReplayReport",
    "draw", "describe",
    "convert", "read_machine", "write_machine", "RewardMachine", "Trigger", "Emission",
    "Product", "MarkovRewardWrapper", "RecordEpisodes", "ActiveLearner", "Settings", "RunResult", "GridWorld",
    "MarkovizeError", "InputError", "MachineError", "UnrealisableError", "UnsupportedError", "EngineError",
]  # fmt: skip


register_envs()


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first used: importing markovize stays quick."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'markovize' has no attribute {name!r}")
    value = getattr(import_module(f"markovize.{home}"), name)
    globals()[name] = value  # a function shadows the module of the same name
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
