"""What the agent makes of observations: the states of its tables, and the labels of its steps.

Discrete observations are states as they are. Others, continuous ones and objects, need functions that label the steps,
and continuous ones states besides: what ``state_on`` returns, or a cell of a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from gymnasium import spaces

from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.settings import Settings
from markovize.episodes.labelling import AUTO, Labelling, LabelOn, Step, labelling_of, loaded
from markovize.episodes.spaces import AnySpace, check_space, is_continuous, is_labelled
from markovize.episodes.user_code import function_of_user
from markovize.episodes.values import Value, canonical
from markovize.errors import InputError, MarkovizeError, UnsupportedError, one_line

CELLS: Final = 20  # of a bounded number, from its lowest to its highest value
UNBOUNDED: Final = 1e6  # a bound that says nothing
CELLS_PER_UNIT: Final = 4  # of an unbounded number, near 0; far away they grow with it

StateFunction: TypeAlias = Callable[[Value], Value]


@dataclass(frozen=True)
class View:
    """How an agent sees an environment.

    ``state_of`` gives the state of an observation; None: the observation itself. ``labellings`` label steps of such
    observations; none of them where the codec has the whole step and labels it.

    >>> import gymnasium
    >>> settings = Settings.of(trigger_on=lambda s, a, t: t[0] > 0.5)
    >>> view = View.of(gymnasium.make("MountainCar-v0").observation_space, settings)
    >>> view.state((-0.5, 0.0)), view.outcome(((0.4, 0.0), 2, (0.6, 0.0)))
    ((7, 10), ((19, 10), True))
    """

    asked: tuple[LabelOn, LabelOn]  # what the search labels steps by
    state_of: StateFunction | None = field(default=None, repr=False)
    labellings: tuple[Labelling, ...] = field(default=(), repr=False)
    note: str = ""
    objects: bool = False  # whether observations may be objects

    @classmethod
    def of(cls, space: AnySpace, settings: Settings) -> View:
        """What these settings make of observations of this space; refuses what lacks a function."""
        asked = loaded(settings.trigger_on), loaded(settings.reward_on)
        own = settings.state_on
        if own is None and is_labelled(space):
            return cls(asked)
        trigger, reward, note = _functions(*asked, space)
        if own is None and not is_continuous(space):
            return cls((trigger, reward), note=note, objects=True)
        state_of = cell_of(space)
        if own is not None:
            state_of = _state_function(function_of_user(own) if isinstance(own, str) else own)
        else:
            grid = f"the agent's states are cells of a grid, {CELLS} to a bounded number; state_on= chooses others"
            note = "; ".join(filter(None, [note, grid]))
        if trigger == reward:
            return cls((_first_label, _first_label), state_of, (labelling_of(trigger),), note, objects=True)
        both = labelling_of(trigger), labelling_of(reward)
        return cls((_first_label, _second_label), state_of, both, note, objects=True)

    def codec(self, actions: Sequence[Value]) -> StepCodec:
        """Numbers for what is seen in this way."""
        return StepCodec([], actions, labelled=bool(self.labellings))

    @property
    def trigger_labels(self) -> Labelling | None:
        """What labels the steps between observations, for a machine to follow; None: as the machine says."""
        if self.labellings:
            return self.labellings[0]
        return labelling_of(self.asked[0]) if callable(self.asked[0]) else None

    def state(self, value: Value) -> Value:
        """The state of an observation."""
        return value if self.state_of is None else self.state_of(value)

    def labels(self, step: Step) -> tuple[Value, ...]:
        """The labels of a step between observations, if the codec cannot find them itself."""
        return tuple([labelling.label(step) for labelling in self.labellings])

    def start(self, value: Value) -> Value:
        """A first observation as episodes are kept."""
        return (self.state(value),) if self.labellings else value

    def outcome(self, step: Step) -> Value:
        """What a step between observations led to, as episodes are kept."""
        return (self.state(step[2]), *self.labels(step)) if self.labellings else step[2]


def cell_of(space: AnySpace) -> StateFunction:
    """Gives the cell of a grid in which an observation lies; what is discrete stays as it is.

    >>> import numpy as np
    >>> cell_of(spaces.Box(np.array([0.0, -np.inf]), np.array([1.0, np.inf]), dtype=np.float64))((0.52, -3.0))
    (10, -7)
    """
    if isinstance(space, spaces.Box) and is_continuous(space):
        bounds = list(zip(space.low.ravel().tolist(), space.high.ravel().tolist(), strict=True))
        return lambda value: tuple(map(_cell, _flat(value), bounds))
    if isinstance(space, spaces.Tuple):
        parts = [cell_of(part) for part in space.spaces]
        return lambda value: tuple([cell(part) for cell, part in zip(parts, _parts(value), strict=True)])
    if isinstance(space, spaces.Dict):
        named = {name: cell_of(part) for name, part in sorted(space.spaces.items())}
        return lambda value: tuple([cell(value[name]) for name, cell in named.items()])  # type: ignore[call-overload, index]
    return lambda value: value


def _cell(x: float, bounds: tuple[float, float]) -> int:
    low, high = bounds
    if low < -UNBOUNDED or high > UNBOUNDED or not low < high:
        return round(math.asinh(x) * CELLS_PER_UNIT)
    return min(CELLS - 1, max(0, math.floor((x - low) / (high - low) * CELLS)))


def _flat(value: Any) -> list[float]:
    if not isinstance(value, tuple):
        return [value]
    return [x for part in value for x in _flat(part)]


def _parts(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, tuple)
    return value


def _functions(trigger: LabelOn, reward: LabelOn, space: AnySpace) -> tuple[LabelOn, LabelOn, str]:
    """Both label functions; one that is left to ``auto`` is the other."""
    if callable(trigger) and reward == AUTO:
        return trigger, trigger, "reward_on is the function of trigger_on"
    if callable(reward) and trigger == AUTO:
        return reward, reward, "trigger_on is the function of reward_on"
    if callable(trigger) and callable(reward):
        return trigger, reward, ""
    if is_labelled(space):
        raise UnsupportedError(
            "with state_on=, steps are labelled by functions, too: give functions of (state, action, next_state) as "
            "trigger_on= and reward_on="
        )
    if not is_continuous(space) and not isinstance(space, spaces.Dict):
        check_space(space)
    what, wrapper = ("continuous", "Discretize") if is_continuous(space) else ("objects", "Flatten")
    raise UnsupportedError(
        f"the observations are {what} ({one_line(space, 80)}): give functions of (state, action, next_state) as "
        "trigger_on= and reward_on= (--trigger-on module:function), or make them discrete with a wrapper, such as "
        f"gymnasium.wrappers.{wrapper}Observation"
    )


def _state_function(function: Callable[[Any], Any]) -> StateFunction:
    """A user's function of an observation, whose values are states."""
    name = f"the function {one_line(getattr(function, '__qualname__', repr(function)), 60)} of state_on"

    def state(value: Value) -> Value:
        try:
            found = function(value)
        except MarkovizeError:
            raise
        except Exception as error:  # a user's code may raise anything
            failed = one_line(f"{type(error).__name__}: {error}", 120)
            raise InputError(f"{name} failed with {failed} at the observation {one_line(value, 80)}") from error
        try:
            return canonical(found)
        except InputError as error:
            raise InputError(f"what {name} returned at {one_line(value, 80)} is no state: {error}") from None

    return state


def _first_label(_state: Any, _action: Any, outcome: Any) -> Any:
    return outcome[1]


def _second_label(_state: Any, _action: Any, outcome: Any) -> Any:
    return outcome[2]
