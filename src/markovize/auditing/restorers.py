"""Which attributes of an environment are the state of its simulator: those that later observations depend on."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from markovize.auditing.copies import without_last_words
from markovize.auditing.labels import label_of
from markovize.auditing.scripts import Act, Command, Reseed, Reset, Restore, Script, play
from markovize.auditing.snapshots import Snapshot, is_mujoco
from markovize.auditing.sources import wrappers_of
from markovize.episodes.values import Value

if TYPE_CHECKING:
    import gymnasium

TRIALS: Final = 8  # places at which a copy must behave like the original
ATTEMPTS: Final = 5 * TRIALS
AHEAD: Final = 4  # steps for which it must
FARTHEST: Final = 12  # steps from the reset to such a place
NO_STATE: Final = ("np_random", "render", "spec", "metadata", "_space", "model", "screen", "clock", "window", "viewer")


@dataclass(frozen=True)
class Restorer:
    """The attributes that make up the state; all others are free to remember."""

    names: tuple[str, ...]

    def save(self, env: gymnasium.Env[Any, Any]) -> Snapshot:
        return Snapshot.of(env, self.names)

    @property
    def words(self) -> str:
        return "env.unwrapped's " + ", ".join(self.names)


@dataclass(frozen=True)
class _Trial:
    """What followed from a place, and another history after which the same must follow once it is restored."""

    everything: Snapshot
    ahead: Script
    seen: Sequence[Value]
    other: Script

    def same(self, env: gymnasium.Env[Any, Any], names: Iterable[str]) -> bool:
        chosen = Snapshot({name: self.everything.values[name] for name in names if name in self.everything.values})
        steps = play(env, (*self.other, Restore(chosen), *self.ahead))
        start = sum(isinstance(command, Act) for command in self.other)
        now = [step.after for step in steps[start:]]
        return bool(now) and all(a == b for a, b in zip(now, self.seen, strict=False))


def find_restorer(env: gymnasium.Env[Any, Any], palette: Sequence[Any], seed: int) -> Restorer | str:
    """The attributes to restore, the fewest that are enough; or the reason why there are none.

    >>> import gymnasium
    >>> find_restorer(gymnasium.make("Pendulum-v1"), [[-1.0], [0.5]], 0)
    Restorer(names=('state',))
    """
    rng = np.random.default_rng(seed)
    names, stubborn = _copyable(env)
    try:
        tried = (_try(env, names, palette, rng, seed + n) for n in range(ATTEMPTS))
        trials = list(islice((trial for trial in tried if trial is not None), TRIALS))
        if len(trials) < 2:
            return "its episodes are too short to restore a state within them"
        simulators = [name for name in names if is_mujoco(vars(env.unwrapped)[name])]
        for few in (["state"], simulators):
            if few and set(few) <= set(names) and all(trial.same(env, few) for trial in trials):
                return Restorer(tuple(few))
        if not all(trial.same(env, names) for trial in trials):
            why = _why(env, stubborn)
            return f"an environment with a state copied into it goes on otherwise than the one it came from{why}"
        needed = list(names)
        for name in names:
            fewer = [other for other in needed if other != name]
            if all(trial.same(env, fewer) for trial in trials):
                needed = fewer
    except Exception as error:  # other people's simulators raise anything when they are taken apart
        return f"its state cannot be restored: {type(error).__name__}: {error}"
    return Restorer(tuple(needed)) if needed else "no attribute of it was found to hold its state"


def _why(env: gymnasium.Env[Any, Any], stubborn: Sequence[str]) -> str:
    """What may be the reason: something that cannot be copied, or a wrapper that remembers."""
    if stubborn:
        return f" ({', '.join(stubborn[:3])} cannot be copied)"
    wrappers = wrappers_of(env)
    return f" (perhaps because of what {', '.join(wrappers[:3])} remembers)" if wrappers else ""


def _copyable(env: gymnasium.Env[Any, Any]) -> tuple[list[str], list[str]]:
    """The attributes that may hold state, and those that might but cannot be copied."""
    good, bad = list[str](), list[str]()
    env.reset(seed=0)
    for name, value in vars(env.unwrapped).items():
        if any(word in name for word in NO_STATE) and not is_mujoco(value):
            continue
        if callable(value) or inspect.ismodule(value) or isinstance(value, np.random.Generator):
            continue
        if is_mujoco(value):
            good.append(name)
            continue
        (good if _can_be_copied(value, env.unwrapped) else bad).append(name)
    return good, bad


def _can_be_copied(value: Any, env: gymnasium.Env[Any, Any]) -> bool:
    with without_last_words():
        try:
            copy.deepcopy(value, {id(env): None})
        except Exception:  # whatever a class raises that is not made to be copied
            return False
        return True


def _try(
    env: gymnasium.Env[Any, Any], names: Sequence[str], palette: Sequence[Any], rng: np.random.Generator, seed: int
) -> _Trial | None:
    def some(count: int) -> list[Command]:
        return [Act(palette[int(rng.integers(len(palette)))]) for _ in range(count)]

    env.reset(seed=seed)
    for command in some(int(rng.integers(FARTHEST))):
        assert isinstance(command, Act)
        _, _, terminated, truncated, _ = env.step(command.action)
        if terminated or truncated:
            return None
    everything = Snapshot.of(env, names)
    ahead = (Reseed(seed), *some(AHEAD))
    env.unwrapped.np_random = np.random.default_rng(seed)
    seen: list[Value] = []
    for command in ahead[1:]:
        assert isinstance(command, Act)
        observation, _, terminated, truncated, _ = env.step(command.action)
        seen.append(label_of(observation))
        if terminated or truncated:
            break
    other = (Reset(seed + ATTEMPTS), *some(int(rng.integers(1, FARTHEST))))
    ended = play(env, other)[-1].ended
    return None if ended else _Trial(everything, ahead, seen, other)
