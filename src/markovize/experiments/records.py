"""What a report needs to know about a finished trial, as values that files can hold.

A :class:`TrialRecord` is the same whenever a trial is repeated; what a clock says is kept apart, in
:class:`TrialTimings`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np

from markovize.episodes.labelling import labelling_for
from markovize.episodes.traces import Floats
from markovize.episodes.values import Interner, Value, canonical, jsonable, show
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine
from markovize.machine.matching import Match, match
from markovize.pictures.world.plan import GridView, view_of

if TYPE_CHECKING:
    import gymnasium as gym

    from markovize.agents.tabular import RunResult

POINTS: Final = 200  # of a curve, and its first episode
WINDOW: Final = 100  # episodes in a mean return
DIGITS: Final = 9  # after the point; sums of tenths are not exact
Record = TypeVar("Record")


@dataclass(frozen=True)
class Curve:
    """A trial at some 201 of its reported episodes, 1 to the last."""

    episode: tuple[int, ...]
    mean_return: tuple[float, ...]
    states: tuple[int, ...]
    exemplars: tuple[int, ...]
    triggers: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Columns of equal length."""
        return {name: list(getattr(self, name)) for name in _names(Curve)}

    @classmethod
    def from_json(cls, data: Any) -> Curve:
        """Reads what :meth:`to_json` wrote."""
        columns = _checked(cls, data, "a curve")
        if len({len(_list(column, name)) for name, column in columns.items()}) > 1:
            raise InputError("the columns of a curve must have equal lengths; run the trial again")
        return cls(**{name: tuple(column) for name, column in columns.items()})


@dataclass(frozen=True)
class PlayedStep:
    """One step of an episode: what was done, and where it led.

    ``label`` is the trigger label of the step, ``fired`` the number of the trigger that moved the machine to ``state``,
    or None where it stayed.
    """

    action: str
    observation: Value
    reward: float
    state: int
    label: Value
    fired: int | None

    def to_json(self) -> dict[str, Any]:
        """Values as JSON has them."""
        return {name: jsonable(getattr(self, name)) for name in _names(PlayedStep)}

    @classmethod
    def from_json(cls, data: Any) -> PlayedStep:
        """Reads what :meth:`to_json` wrote."""
        given = _checked(cls, data, "a step")
        return cls(**given | {name: canonical(given[name]) for name in ("observation", "label")})


@dataclass(frozen=True)
class PlayedEpisode:
    """A greedy episode with the learned machine beside it; ``terminated`` is False if it was cut."""

    start: Value
    state: int
    steps: tuple[PlayedStep, ...]
    terminated: bool

    def to_json(self) -> dict[str, Any]:
        """Values as JSON has them."""
        return {
            "start": jsonable(self.start),
            "state": self.state,
            "terminated": self.terminated,
            "steps": [step.to_json() for step in self.steps],
        }

    @classmethod
    def from_json(cls, data: Any) -> PlayedEpisode:
        """Reads what :meth:`to_json` wrote."""
        given = _checked(cls, data, "an episode")
        steps = tuple(PlayedStep.from_json(step) for step in _list(given["steps"], "steps"))
        return cls(canonical(given["start"]), given["state"], steps, given["terminated"])


@dataclass(frozen=True)
class TrialRecord:
    """One finished trial: what was asked for, what came out, how it went, and one greedy episode.

    ``waited`` episodes were played before the ``reported`` ones. ``episodes_to_optimal`` and ``episodes_to_machine``
    count all of them: until the greedy policy was optimal and stayed so, and until the last machine was found, if that
    is the true one (see :mod:`~markovize.machine.matching`). ``key`` stands for the full configuration. ``extra``
    has more numbers by name, where a kind of task has any.
    """

    experiment: str
    task: str
    variant: str
    seed: int
    env_id: str
    env_args: Mapping[str, Any]
    settings: Mapping[str, Any] = field(repr=False)
    key: str
    status: str
    episodes: int
    waited: int
    reported: int
    states: int
    triggers: int
    exemplars: int
    final_return: float
    optimal_return: float | None
    episodes_to_optimal: int | None
    episodes_to_machine: int | None
    machine: RewardMachine = field(repr=False)
    true_machine: RewardMachine | None = field(repr=False)
    curve: Curve = field(repr=False)
    episode: PlayedEpisode = field(repr=False)
    view: GridView | None = field(repr=False)
    extra: Mapping[str, float] = field(default_factory=dict, repr=False)

    @property
    def optimal(self) -> bool | None:
        """Whether the last policy earns what is possible; None where that is unknown."""
        return None if self.optimal_return is None else self.final_return >= self.optimal_return - 1e-9

    def match(self) -> Match | None:
        """The learned machine beside the true one; None where that is unknown."""
        if self.true_machine is None:
            return None
        return match(self.machine, self.true_machine, [[step.label for step in self.episode.steps]])

    def to_json(self) -> dict[str, Any]:
        """The record as a file holds it: the same in every repetition."""
        out = {name: getattr(self, name) for name in _names(TrialRecord)}
        for name in ("machine", "true_machine", "curve", "episode", "view"):
            out[name] = None if out[name] is None else out[name].to_json()
        return out | {"env_args": dict(self.env_args), "settings": dict(self.settings), "extra": dict(self.extra)}

    @classmethod
    def from_json(cls, data: Any) -> TrialRecord:
        """Reads what :meth:`to_json` wrote; anything else is refused.

        >>> TrialRecord.from_json({"task": "e", "colour": "red"})
        Traceback (most recent call last):
        markovize.errors.InputError: a trial's record has no field "colour"; it was written by another version: \
run the trial again
        """
        given = _checked(cls, data, "a trial's record")
        for name, kind in _KINDS.items():
            if not isinstance(given[name], kind) or isinstance(given[name], bool):
                raise InputError(f'field "{name}" must not be {given[name]!r}; run the trial again')
        return cls(
            **given
            | {
                "extra": _numbers(given.get("extra", {})),
                "machine": RewardMachine.from_json(given["machine"]),
                "true_machine": _maybe(RewardMachine.from_json, given["true_machine"]),
                "curve": Curve.from_json(given["curve"]),
                "episode": PlayedEpisode.from_json(given["episode"]),
                "view": _maybe(GridView.from_json, given["view"]),
            }
        )


_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "experiment": str,
    "task": str,
    "variant": str,
    "env_id": str,
    "key": str,
    "status": str,
    "seed": int,
    "episodes": int,
    "waited": int,
    "reported": int,
    "states": int,
    "triggers": int,
    "exemplars": int,
    "final_return": (int, float),
    "optimal_return": (int, float, type(None)),
    "episodes_to_optimal": (int, type(None)),
    "episodes_to_machine": (int, type(None)),
    "env_args": dict,
    "settings": dict,
}


@dataclass(frozen=True)
class TrialTimings:
    """What the clock said: all in all, in the solver, and in the solver up to each point of the curve.

    ``extra`` has the seconds of other things by name, where a kind of task has any.

    >>> TrialTimings.from_json(TrialTimings(2.0, 0.5, (0.0, 0.5)).to_json())
    TrialTimings(seconds=2.0, solve_seconds=0.5, curve=(0.0, 0.5))
    """

    seconds: float
    solve_seconds: float
    curve: tuple[float, ...]
    extra: Mapping[str, float] = field(default_factory=dict, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The timings as a file holds them."""
        return {
            "seconds": self.seconds,
            "solve_seconds": self.solve_seconds,
            "curve": list(self.curve),
            "extra": dict(self.extra),
        }

    @classmethod
    def from_json(cls, data: Any) -> TrialTimings:
        """Reads what :meth:`to_json` wrote; anything else is refused."""
        given = _checked(cls, data, "a trial's timings")
        curve = tuple(_list(given["curve"], "curve"))
        return cls(given["seconds"], given["solve_seconds"], curve, _numbers(given.get("extra", {})))


Finished: TypeAlias = tuple[TrialRecord, TrialTimings]


def record_of(
    env: gym.Env[Any, Any],
    result: RunResult,
    *,
    experiment: str,
    task: str,
    seed: int,
    env_id: str,
    env_args: Mapping[str, Any] | None = None,
    variant: str = "",
    key: str = "",
) -> Finished:
    """Everything about a run, with a greedy episode played in its environment.

    >>> import gymnasium, markovize
    >>> env = gymnasium.make("markovize/BreakfastWorld-v0", task="b")
    >>> result = markovize.ActiveLearner(env, markovize.Settings.of(episodes=300)).run()
    >>> record, _ = record_of(env, result, experiment="mine", task="b", seed=0, env_id="markovize/BreakfastWorld-v0")
    >>> record.states, round(sum(step.reward for step in record.episode.steps), 2), record.match().equal
    (5, 3.2, True)
    """
    reported = min(result.settings.episodes, result.episodes)
    waited = result.episodes - reported
    curve, solving = _curves(result, waited, reported)
    episode = play_greedily(env, result)
    true = getattr(env.unwrapped, "machine", None)
    record = TrialRecord(
        experiment=experiment,
        task=task,
        variant=variant,
        seed=seed,
        env_id=env_id,
        env_args=dict(env_args or {}),
        settings=result.settings.to_json(),
        key=key,
        status=result.status,
        episodes=result.episodes,
        waited=waited,
        reported=reported,
        states=result.machine.states,
        triggers=len(result.machine.triggers),
        exemplars=result.exemplars,
        final_return=round(result.greedy_return, DIGITS),
        optimal_return=None if result.optimal_return is None else round(result.optimal_return, DIGITS),
        episodes_to_optimal=result.episodes_to_optimal,
        episodes_to_machine=None,
        machine=result.machine,
        true_machine=true if isinstance(true, RewardMachine) else None,
        curve=curve,
        episode=episode,
        view=view_of(env),
    )
    found = record.match()
    if found is not None and found.equal:
        last = result.solves[-1].episode if result.solves else 0
        object.__setattr__(record, "episodes_to_machine", last)
    return record, TrialTimings(round(result.seconds, 6), round(result.solve_seconds, 6), solving)


def play_greedily(env: gym.Env[Any, Any], result: RunResult) -> PlayedEpisode:
    """One episode by the learned values, the first of equal actions taken; 0 where nothing is known."""
    from markovize.agents.tabular.players import step_limit, world_behind

    settings, machine = result.settings, result.machine
    function = settings.trigger_on if callable(settings.trigger_on) else None
    labelling = labelling_for(machine.trigger_on, function, "trigger_on")
    world = world_behind(env)
    names = world.action_names if world is not None else tuple(show(action) for action in result.actions)
    rows = Interner(result.observations)
    raw, _ = env.reset(seed=settings.seed)
    start = here = canonical(raw)
    u, steps, ended = machine.initial, [], False
    for _ in range(step_limit(env, settings.max_steps)):
        row = rows.find(here)
        a = int(np.argmax(result.q[u, row])) if row is not None else 0
        raw, reward, terminated, truncated, _ = env.step(result.actions[a])
        after = canonical(raw)
        label = labelling.label((here, result.actions[a], after))
        v, fired = machine.step(u, label), machine.delta.fired(u, label)
        steps.append(PlayedStep(names[a], after, round(float(reward), DIGITS), v, label, fired))
        here, u, ended = after, v, bool(terminated)
        if terminated or truncated:
            break
    return PlayedEpisode(start, machine.initial, tuple(steps), ended)


def _curves(result: RunResult, waited: int, reported: int) -> tuple[Curve, tuple[float, ...]]:
    points = curve_points(reported)
    solved = [0, *(solve.episode for solve in result.solves)]
    sizes = [(1, 0, 0), *((s.states, s.exemplars, s.triggers) for s in result.solves)]
    seconds = np.cumsum([0.0, *(solve.seconds for solve in result.solves)])
    last = [int(np.searchsorted(solved, waited + point, side="right")) - 1 for point in points]
    states, exemplars, triggers = ([sizes[n][column] for n in last] for column in range(3))
    returns = tuple(recent_mean(result.returns, waited + point) for point in points)
    curve = Curve(tuple(points), returns, tuple(states), tuple(exemplars), tuple(triggers))
    return curve, tuple(round(float(seconds[n]), 6) for n in last)


def curve_points(episodes: int) -> list[int]:
    """The episodes that a curve shows.

    >>> curve_points(4), len(curve_points(50_000))
    ([1, 2, 3, 4], 201)
    """
    return sorted({max(1, round(part * episodes / POINTS)) for part in range(POINTS + 1)})


def recent_mean(returns: Floats, episodes: int, window: int = WINDOW) -> float:
    """The mean return of the last of so many episodes.

    >>> recent_mean(np.array([0.0, 1.0, 2.0, 9.0]), 3, window=2)
    1.5
    """
    return round(float(np.mean(returns[max(0, episodes - window) : episodes])), DIGITS)


def _names(kind: type[Any]) -> list[str]:
    return [f.name for f in fields(kind)]


def _checked(kind: type[Any], data: Any, what: str) -> dict[str, Any]:
    """The object, if it has exactly the fields of this kind."""
    if not isinstance(data, dict):
        raise InputError(f"{what} is a JSON object, not {type(data).__name__}; run the trial again")
    known = _names(kind)
    for name in data:
        if name not in known:
            raise InputError(f'{what} has no field "{name}"; it was written by another version: run the trial again')
    for name in known:
        if name not in data and name != "extra":  # younger than the first files
            raise InputError(f'{what} lacks the field "{name}"; it was written by another version: run the trial again')
    return data


def _numbers(value: Any) -> dict[str, float]:
    if not isinstance(value, dict) or not all(type(number) in (int, float) for number in value.values()):
        raise InputError(f'field "extra" must have numbers by name, not {value!r}; run the trial again')
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f'field "{name}" must be a list, not {type(value).__name__}; run the trial again')
    return value


def _maybe(read: Callable[[Any], Record], data: Any) -> Record | None:
    return None if data is None else read(data)
