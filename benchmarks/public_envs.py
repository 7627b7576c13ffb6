"""Public environments, and what their sources say their rewards depend on.

Each truth was read in the source of the version in constraints.txt; ``why`` quotes what decides it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import gymnasium

from planted import (
    Alone,
    AsTwoBefore,
    AtPrimes,
    ByStart,
    Event,
    EveryNth,
    Fading,
    FirstTriple,
    FirstVisits,
    IfEven,
    InARow,
    InOrder,
    Late,
    Memory,
    OnSecond,
    Places,
    Planted,
    Record,
    Then,
)


@dataclass(frozen=True)
class Truth:
    """What an audit should say: one of these verdicts, and why."""

    verdicts: tuple[str, ...]
    why: str

    def agrees(self, verdict: str) -> str:
        """``yes``, ``no``, or ``open`` where the audit says that it cannot tell."""
        return "yes" if verdict in self.verdicts else "open" if verdict == "not-testable" else "no"


@dataclass(frozen=True)
class Case:
    """An environment to audit; ``states`` is the size of a planted history's machine."""

    name: str
    make: Callable[[], gymnasium.Env[Any, Any]]
    truth: Truth
    planted: bool = False
    states: int | None = None


def make(env_id: str, **arguments: Any) -> gymnasium.Env[Any, Any]:
    """An environment by its id; the libraries of the extra are imported if they are needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other people's libraries
        import_module({"M": "minigrid", "B": "minigrid", "p": "popgym"}.get(env_id[:1], "gymnasium"))
        return gymnasium.make(env_id, disable_env_checker=True, **arguments)


MARKOV, TIME, HISTORY, NOISE = "markov", "time", "history", "noise"


def native(env_id: str, verdicts: str, why: str, name: str = "", **arguments: Any) -> Case:
    """An environment as it is."""
    return Case(name or env_id, partial(make, env_id, **arguments), Truth(tuple(verdicts.split()), why))


GOAL = "pays 1 - 0.9 * step_count / max_steps"

NATIVE: list[Case] = [
    native("FrozenLake-v1", MARKOV, "by the letter of the new cell"),
    native("FrozenLake-v1", MARKOV, "by the letter of the new cell", "FrozenLake-v1, not slippery", is_slippery=False),
    native("FrozenLake8x8-v1", MARKOV, "by the letter of the new cell"),
    native("CliffWalking-v1", MARKOV, "-100 for the move into the cliff, else -1"),
    native("CliffWalkingSlippery-v1", NOISE, "-100 if the move that was drawn led into the cliff, which is not shown"),
    native("Taxi-v4", MARKOV, "P[state][action]"),
    native("Taxi-v4", MARKOV, "P[state][action]; rain moves the taxi only", "Taxi-v4, rainy", is_rainy=True),
    native("Blackjack-v1", NOISE, "the dealer draws cards after the last action"),
    native("CartPole-v1", MARKOV, "1 at every step"),
    native("MountainCar-v0", MARKOV, "-1 at every step"),
    native("MountainCarContinuous-v0", MARKOV, "100 at the goal, less the action squared"),
    native("Pendulum-v1", MARKOV, "costs of the angle, speed and torque before the step"),
    native("Acrobot-v1", MARKOV, "0 above the line, else -1"),
    native("MiniGrid-Empty-5x5-v0", TIME, GOAL),
    native("MiniGrid-Empty-Random-5x5-v0", TIME, GOAL),
    native("MiniGrid-DoorKey-5x5-v0", TIME, GOAL),
    native("MiniGrid-FourRooms-v0", TIME, GOAL),
    native("MiniGrid-LavaGapS5-v0", TIME, GOAL),
    native("MiniGrid-SimpleCrossingS9N1-v0", TIME, GOAL),
    native("MiniGrid-DistShift1-v0", TIME, GOAL),
    native("MiniGrid-Dynamic-Obstacles-5x5-v0", TIME, f"{GOAL}; -1 for running into the ball in front"),
    native("MiniGrid-Fetch-5x5-N2-v0", TIME, f"{GOAL}, for the object of the mission"),
    native("MiniGrid-GoToDoor-5x5-v0", TIME, f"{GOAL}, beside the door of the mission, which may be behind"),
    native("MiniGrid-MultiRoom-N2-S4-v0", TIME, GOAL),
    native("MiniGrid-Unlock-v0", TIME, GOAL),
    native("MiniGrid-MemoryS7-v0", "noise history", f"{GOAL}, on the side of the object at the start, seen or not"),
    native("MiniGrid-RedBlueDoors-6x6-v0", "history time", f"{GOAL}, if red was opened before blue"),
    native("popgym-RepeatFirstEasy-v0", HISTORY, "action == the first card"),
    native("popgym-RepeatPreviousEasy-v0", HISTORY, "action == the card four steps ago"),
    native("popgym-AutoencodeEasy-v0", HISTORY, "action == the cards seen, backwards"),
    native("popgym-CountRecallEasy-v0", HISTORY, "action == how often a card was dealt"),
    native("popgym-BattleshipEasy-v0", MARKOV, "by hit or miss, which is the observation"),
    native("popgym-MultiarmedBanditEasy-v0", MARKOV, "by the payout, which is the observation"),
    native("popgym-HigherLowerEasy-v0", MARKOV, "two cards and the guess"),
    native("popgym-ConcentrationEasy-v0", HISTORY, "whether a shown card is the first of a pair is not shown"),
    native("popgym-MineSweeperEasy-v0", "noise history", "mines are drawn and hidden; a tile seen before pays less"),
    native("popgym-PositionOnlyCartPoleEasy-v0", MARKOV, "1/200 at every step"),
    native("popgym-VelocityOnlyCartpoleEasy-v0", MARKOV, "1/200 at every step"),
    native("popgym-NoisyPositionOnlyCartPoleEasy-v0", MARKOV, "1/200 at every step"),
    native("popgym-PositionOnlyPendulumEasy-v0", MARKOV, "of the state; the observation hides the speed"),
    native("popgym-NoisyPositionOnlyPendulumEasy-v0", MARKOV, "of the state; the observation hides the speed"),
    native(
        "CartPole-v1", MARKOV, "-1 for the fall, else 0", "CartPole-v1, Sutton and Barto's", sutton_barto_reward=True
    ),
    native(
        "Taxi-v4", MARKOV, "P[state][action]; passengers change their minds", "Taxi-v4, fickle", fickle_passenger=True
    ),
    native("MiniGrid-LavaCrossingS9N1-v0", TIME, GOAL),
    native("MiniGrid-DistShift2-v0", TIME, GOAL),
    native("MiniGrid-GoToObject-6x6-N2-v0", TIME, GOAL),
    native("MiniGrid-KeyCorridorS3R1-v0", TIME, GOAL),
    native("MiniGrid-PutNear-6x6-N2-v0", TIME, GOAL),
    native("BabyAI-GoToObjS4-v0", TIME, GOAL),
    native("BabyAI-OpenRedDoor-v0", TIME, GOAL),
    native("popgym-RepeatFirstHard-v0", HISTORY, "action == the first card"),
    native("popgym-RepeatPreviousHard-v0", HISTORY, "action == the card 64 steps ago"),
    native("popgym-ConcentrationHard-v0", HISTORY, "turns alternate until an open card is chosen first"),
    native("popgym-BattleshipHard-v0", MARKOV, "by hit or miss, which is the observation"),
    native("popgym-MultiarmedBanditHard-v0", MARKOV, "by the payout, which is the observation"),
    native("popgym-HigherLowerHard-v0", MARKOV, "two cards and the guess"),
    native("popgym-PositionOnlyPendulumHard-v0", MARKOV, "of the state; the observation hides the speed"),
]


def wrapped(env_id: str, wrapper: str, verdicts: str, why: str, *arguments: Any) -> Case:
    """An environment in a wrapper of Gymnasium's."""
    kind = getattr(gymnasium.wrappers, wrapper)
    return Case(f"{env_id} in {wrapper}", lambda: kind(make(env_id), *arguments), Truth(tuple(verdicts.split()), why))


WRAPPED: list[Case] = [
    wrapped("CartPole-v1", "FrameStackObservation", MARKOV, "1 at every step", 4),
    wrapped("Pendulum-v1", "FrameStackObservation", MARKOV, "as without it", 3),
    wrapped("Pendulum-v1", "NormalizeObservation", MARKOV, "as without it; what is shown drifts"),
    wrapped("CartPole-v1", "TimeAwareObservation", MARKOV, "1 at every step"),
    wrapped("MountainCar-v0", "DelayObservation", MARKOV, "-1 at every step", 2),
    wrapped("Pendulum-v1", "NormalizeReward", "previous-episodes", "divided by a deviation over all episodes"),
    wrapped("Taxi-v4", "NormalizeReward", "previous-episodes", "divided by a deviation over all episodes"),
]


def enters(*places: int) -> Event:
    """One of these observations is entered."""
    return lambda _before, _action, after: after in places


def does(*actions: int) -> Event:
    """One of these actions is taken."""
    return lambda _before, action, _after: int(action) in actions


def faces(direction: int) -> Event:
    """A MiniGrid agent looks that way: 0 right, 1 down, 2 left, 3 up."""
    return lambda _before, _action, after: int(after["direction"]) == direction


def coordinate(number: int, *, above: float | None = None, below: float | None = None) -> Event:
    """A number of the new observation is above or below a line."""

    def event(_before: Any, _action: Any, after: Any) -> bool:
        return (above is None or after[number] > above) and (below is None or after[number] < below)

    return event


def taxi_at(row: int, column: int) -> Event:
    """The taxi is there, whoever sits in it."""
    return lambda _before, _action, after: int(after) // 20 == row * 5 + column


def planted(env_id: str, how: str, memory: Callable[[], Memory], **arguments: Any) -> Case:
    """An environment with a memory."""
    name = f"{env_id} + {how}"
    truth = Truth((HISTORY,), f"planted: {how}")
    return Case(name, lambda: Planted(make(env_id, **arguments), memory()), truth, planted=True, states=memory().states)


PLANTED: list[Case] = [
    planted("FrozenLake-v1", "cell 3, then cell 8", lambda: Then(enters(3), enters(8)), is_slippery=False),
    planted("FrozenLake8x8-v1", "cells 2, 9, 17 are new", lambda: FirstVisits((enters(2), enters(9), enters(17)))),
    planted("CliffWalking-v1", "every third entry of cell 24", lambda: EveryNth(enters(24), 3)),
    planted("CliffWalking-v1", "rewards two steps late", lambda: Late(2)),
    planted("CliffWalkingSlippery-v1", "cell 25 once an episode", lambda: Alone(FirstVisits((enters(25),)))),
    planted("Taxi-v4", "the taxi's corner (0, 4), then (4, 0)", lambda: Then(taxi_at(0, 4), taxi_at(4, 0))),
    planted("Taxi-v4", "every second pick-up", lambda: EveryNth(does(4), 2)),
    planted("Blackjack-v1", "stick after a start below 12", lambda: Alone(ByStart(lambda s: s[0] < 12, does(0)))),
    planted("MiniGrid-Empty-5x5-v0", "up before left", lambda: Alone(InOrder(faces(3), faces(2)))),
    planted(
        "MiniGrid-Empty-Random-5x5-v0",
        "down pays after a start to the right",
        lambda: Alone(ByStart(lambda start: int(start["direction"]) == 0, faces(1))),
    ),
    planted("popgym-HigherLowerEasy-v0", "rank 0 before rank 12", lambda: InOrder(enters(0), enters(12))),
    planted("popgym-MultiarmedBanditEasy-v0", "arm 3, then arm 5", lambda: Then(does(3), does(5))),
    planted("popgym-BattleshipEasy-v0", "three hits in a row", lambda: InARow(enters(1), 3)),
    planted("CartPole-v1", "left, then right", lambda: Then(coordinate(0, below=-0.05), coordinate(0, above=0.05))),
    planted("MountainCar-v0", "the left slope once an episode", lambda: FirstVisits((coordinate(0, below=-0.65),))),
    planted("Pendulum-v1", "every second step on the right", lambda: EveryNth(coordinate(1, above=0.0), 2)),
    planted("Pendulum-v1", "rewards two steps late", lambda: Late(2)),
    planted("Acrobot-v1", "action 2 three times in a row", lambda: InARow(does(2), 3)),
    planted("FrozenLake-v1", "the second entry of cell 4", lambda: OnSecond(enters(4)), is_slippery=False),
    planted("CliffWalking-v1", "how many cells were visited", Places),
    planted("CliffWalking-v1", "cell 25 if even steps right", lambda: IfEven(does(1), enters(25))),
    planted("Taxi-v4", "the first action three times in a row", FirstTriple),
    planted("FrozenLake-v1", "less for the action two steps before", AsTwoBefore, is_slippery=False),
    planted("CliffWalking-v1", "cell 25 pays less each time", lambda: Fading(enters(25))),
    planted("MiniGrid-DoorKey-5x5-v0", "every second toggle", lambda: Alone(EveryNth(does(5), 2))),
    planted("MountainCar-v0", "farther right than ever", lambda: Record(0)),
    planted("CartPole-v1", "less for the action two steps before", AsTwoBefore),
    planted("Acrobot-v1", "the first time fast", lambda: FirstVisits((coordinate(4, above=3.0),))),
]

CLOCKS: list[Case] = [
    Case(
        f"{env_id} + at prime steps",
        lambda env_id=env_id, event=event: Planted(make(env_id), AtPrimes(event)),  # type: ignore[misc]
        Truth((TIME,), "planted: a clock that follows no line"),
    )
    for env_id, event in (("CliffWalking-v1", enters(25)), ("MountainCar-v0", coordinate(0, above=-0.45)))
]

CASES = [*NATIVE, *WRAPPED, *CLOCKS, *PLANTED]
