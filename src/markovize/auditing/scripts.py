"""Scripts: what to do in an environment, command by command, so that everything an audit claims can be played again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from markovize.auditing.labels import label_of
from markovize.auditing.snapshots import Snapshot
from markovize.episodes.values import Value, jsonable

if TYPE_CHECKING:
    import gymnasium


@dataclass(frozen=True)
class Reset:
    """Begins an episode with this seed."""

    seed: int


@dataclass(frozen=True)
class Act:
    """Takes this action, an element of the action space."""

    action: Any


@dataclass(frozen=True)
class Reseed:
    """Gives the environment another random generator (``env.unwrapped.np_random``) amid an episode."""

    seed: int


@dataclass(frozen=True)
class Restore:
    """Puts a state of the simulator back, amid an episode; wrappers, and whatever else remembers, notice nothing."""

    snapshot: Snapshot


Command: TypeAlias = Reset | Act | Reseed | Restore
Script: TypeAlias = tuple[Command, ...]
RESTORED: Final = "restored"  # in the place of an observation that nobody made


@dataclass(frozen=True)
class Played:
    """One step of a played script."""

    before: Value
    action: Value
    reward: float
    after: Value
    ended: bool

    @property
    def label(self) -> tuple[Value, Value, Value]:
        return (self.before, self.action, self.after)


def episode_script(seed: int, actions: Sequence[Any]) -> Script:
    """One episode, by its seed and its actions.

    >>> episode_script(3, [0, 1])
    (Reset(seed=3), Act(action=0), Act(action=1))
    """
    return (Reset(seed), *(Act(action) for action in actions))


def play(env: gymnasium.Env[Any, Any], script: Script) -> list[Played]:
    """The steps of the script's last episode; it ends early where the episode does.

    >>> import gymnasium
    >>> [step.reward for step in play(gymnasium.make("CartPole-v1"), episode_script(0, [0, 1]))]
    [1.0, 1.0]
    """
    steps: list[Played] = []
    now: Value = 0
    over = True
    for command in script:
        if isinstance(command, Reset):
            observation, _ = env.reset(seed=command.seed)
            now, over, steps = label_of(observation), False, []
        elif over:
            continue
        elif isinstance(command, Act):
            observation, reward, terminated, truncated, _ = env.step(command.action)
            after, over = label_of(observation), bool(terminated or truncated)
            steps.append(Played(now, label_of(command.action), float(reward), after, over))
            now = after
        elif isinstance(command, Restore):
            command.snapshot.put(env)
            now = RESTORED
        else:
            reseed(env, command.seed)
    return steps


def reseed(env: gymnasium.Env[Any, Any], seed: int) -> None:
    """A new generator for whatever the environment draws from now on."""
    env.unwrapped.np_random = np.random.default_rng(seed)


def script_json(script: Script) -> list[dict[str, Any]]:
    """The script as JSON holds it.

    >>> script_json((Reset(3), Act(1), Reseed(7)))
    [{'reset': 3}, {'act': 1}, {'reseed': 7}]
    """
    out: list[dict[str, Any]] = []
    for command in script:
        if isinstance(command, Reset):
            out.append({"reset": command.seed})
        elif isinstance(command, Act):
            out.append({"act": jsonable(label_of(command.action))})
        elif isinstance(command, Restore):
            out.append({"restore": command.snapshot.to_json()})
        else:
            out.append({"reseed": command.seed})
    return out
