"""The observations inside: those of the environment itself, where wrappers around it show others.

Stacked, normalised or delayed observations never come back, and hold a memory of their own that no restored state
touches. What the environment itself shows may; the rewards are still those that the outermost wrapper pays.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from markovize.auditing.labels import label_of
from markovize.auditing.report import RewardReport
from markovize.auditing.scripts import play
from markovize.auditing.sources import EnvSource, wrappers_of

if TYPE_CHECKING:
    import gymnasium

TRIAL: Final = 8  # steps on which observations are compared


def look_inside(source: EnvSource) -> EnvSource | None:
    """The same environment with the observations that its wrappers get; None where they show these themselves."""
    env = source.env
    if env is env.unwrapped or not _shows_otherwise(env):
        return None
    if source.make is None:
        return EnvSource(_inside_kind()(env), None, source.name)
    make = source.make
    return EnvSource(_inside_kind()(make()), lambda: _inside_kind()(make()), source.name)


def join_inside(source: EnvSource, outer: RewardReport, inner: RewardReport, seed: int) -> RewardReport:
    """The report on what could not be tested from outside, with what was found inside.

    What the reward remembers may be just what the wrappers show, as with stacked or time-aware observations. So a
    history counts only where they show the same on both sides of the witness.
    """
    steps = outer.steps + inner.steps
    wrappers = ", ".join(wrappers_of(source.env)) or "a wrapper"
    if inner.verdict == "not-testable":
        return replace(outer, steps=steps)
    if inner.verdict in ("history", "time") and not _looks_equal(source, inner):
        why = "the step number" if inner.verdict == "time" else "what happened before"
        reason = (
            f"{outer.reason}; without {wrappers} the reward depends on {why}, and whether what {wrappers} shows tells "
            "it could not be tested"
        )
        return replace(outer, steps=steps, reason=reason, advice=inner.advice)
    note = f"Compared by what the environment shows to {wrappers}: what that makes of it never came back."
    more = _describe_leak(source, wrappers, seed)
    return replace(inner, steps=steps, notes=(*inner.notes, note, *more))


def _looks_equal(source: EnvSource, inner: RewardReport) -> bool:
    """Whether the wrappers show the same in the last steps of both sides of a witness."""
    seen = []
    for side in () if inner.witness is None else (inner.witness.first, inner.witness.second):
        if side.script is not None:
            with source.fresh() as env:
                seen.append(play(env, side.script)[-1].label)
    return len(seen) == 2 and seen[0] == seen[1]


def _describe_leak(source: EnvSource, wrappers: str, seed: int) -> tuple[str, ...]:
    """Whether what the wrappers show depends on earlier episodes."""
    with source.fresh() as env:
        first, again = (_observed(env, seed) for _ in range(2))
    if first == again:
        return ()
    return (
        f"What {wrappers} shows depends on earlier episodes: equal seed and actions, other observations. Freeze its "
        "statistics once they have settled, and save them with the agent.",
    )


def _observed(env: gymnasium.Env[Any, Any], seed: int) -> list[Any]:
    """What the wrappers show at the beginning of an episode with this seed."""
    env.action_space.seed(seed)
    shown = [label_of(env.reset(seed=seed)[0])]
    for _ in range(TRIAL):
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        shown.append(label_of(observation))
        if terminated or truncated:
            break
    return shown


def _shows_otherwise(env: gymnasium.Env[Any, Any]) -> bool:
    """Whether what it shows is not what the environment inside shows, at a reset or soon after it."""
    inside = _inside_kind()(env)
    return _observed(env, 0) != _observed(inside, 0)


@cache
def _inside_kind() -> type[Any]:
    """The wrapper, a class that is made only where Gymnasium is imported anyway."""
    import gymnasium

    class Inside(gymnasium.Wrapper[Any, Any, Any, Any]):
        """Everything is as the outermost wrapper has it, but the observation."""

        def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
            super().__init__(env)
            self.observation_space = env.unwrapped.observation_space
            self._spy = _put_spy(env)

        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[Any, dict[str, Any]]:
            _, info = self.env.reset(seed=seed, options=options)
            return self._spy.shown, info

        def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
            _, reward, terminated, truncated, info = self.env.step(action)
            return self._spy.shown, reward, terminated, truncated, info

    return Inside


@cache
def _spy_kind() -> type[Any]:
    import gymnasium

    class Spy(gymnasium.Wrapper[Any, Any, Any, Any]):
        """Remembers the last observation of the environment itself."""

        shown: Any = None

        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[Any, dict[str, Any]]:
            self.shown, info = self.env.reset(seed=seed, options=options)
            return self.shown, info

        def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
            self.shown, reward, terminated, truncated, info = self.env.step(action)
            return self.shown, reward, terminated, truncated, info

    return Spy


def _put_spy(env: gymnasium.Env[Any, Any]) -> Any:
    """Between the environment and its innermost wrapper, once."""
    import gymnasium

    layer = env
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, _spy_kind()):
            return layer
        if layer.env is env.unwrapped:
            layer.env = _spy_kind()(layer.env)
        layer = layer.env
    raise AssertionError("an environment without a wrapper is not looked into")
