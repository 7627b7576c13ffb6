"""Everything that can be set in an active run, as one frozen value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from markovize.agents.checks import check_discount, check_share, is_number, is_whole
from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.labelling import AUTO, labelling_of, named_kinds
from markovize.episodes.user_code import function_of_user, is_function_name, name_of_function
from markovize.errors import InputError
from markovize.learning.engines import Engine, find_engine
from markovize.learning.floors import Objective
from markovize.learning.learner import DEFAULT_ENGINE, NO_ALLOWANCES, Auto, check_noise

Mode: TypeAlias = Literal["directed", "q-learning", "paper"]
MODES: Final = ("directed", "q-learning", "paper")
CHOICES: Final = {
    "mode": MODES,
    "objective": ("triggers", "states"),
    "explain": ("reward", "reward+termination"),
    "trigger_on": (AUTO, *named_kinds()),
    "reward_on": (AUTO, *named_kinds()),
    "reward": ("exact", "random"),
}
RANDOM_KEEP: Final = 10_000  # episodes that random rewards are weighed by, unless said otherwise
# what random rewards know nothing of, and what it must be then
WITHOUT_RANDOM: Final = {
    "tolerance": 0,
    "outliers": 0,
    "all": 0,
    "objective": "triggers",
    "explain": "reward",
    "engine": AUTO,
    "crm": False,
    "shaping": False,
    "patience": 0,
}


@dataclass(frozen=True)
class Settings:
    """How to run; make one with :meth:`of`, which knows what goes with each mode.

    ``episodes`` are the reported ones. The first ``patience`` of them belong to a wait that goes on, for at most
    ``max_wait`` episodes, until a first conflict has been solved; so a run may take more episodes than it reports. The
    last ``greedy_tail`` are greedy. ``keep`` episodes are kept as they come (all modes keep those in conflict). An
    ``engine`` that is no name is recorded by its name, and must be given again to resume the run. ``state_on`` is a
    function of an observation: what it returns is a state of the agent's tables, for observations that never repeat.
    With ``all``, a run in mode ``directed`` looks for so many machines as small as its own and walks where they differ.
    ``tolerance`` and ``outliers`` are as for :func:`~markovize.learn`; ``auto`` takes them from rewards that differ
    after equal histories. With ``reward`` ``random`` each (u, reward label, u') has a distribution: a machine is taken
    if it is significant, and where rewards are Markov one is taken with the probability ``significance`` at most.

    >>> Settings.of("paper", episodes=100_000).patience, Settings.of("directed").objective
    (20000, 'triggers')
    """

    mode: Mode = "directed"
    episodes: int = 10_000
    seed: int = 0
    gamma: float = 0.95
    alpha: float = 0.1
    epsilon: float = 0.1
    wait_epsilon: float | None = None
    patience: int = 0
    max_wait: int = 0
    greedy_tail: int = 0
    max_steps: int | None = None
    objective: Objective = "triggers"
    acyclic: bool = False
    trigger_on: Auto = "auto"
    reward_on: Auto = "auto"
    state_on: str | Callable[[Any], Any] | None = None
    explain: Explain = "reward"
    engine: str | Engine = "auto"
    effort: int | None = None
    keep: int = 0
    transfer: bool = True
    crm: bool = False
    shaping: bool = False
    evaluate_every: int = 100
    all: int = 0
    tolerance: float | str = 0.0
    outliers: int | str = 0
    reward: Literal["exact", "random"] = "exact"
    significance: float = 0.01

    @classmethod
    def of(cls, mode: str = "directed", **changes: Any) -> Settings:
        """The settings of a mode, with changes.

        >>> Settings.of("paper", epsilon=0.4).objective
        'states'
        >>> Settings.of("clever")
        Traceback (most recent call last):
        markovize.errors.InputError: modes are directed, q-learning, paper, not 'clever'
        """
        if mode not in MODES:
            raise InputError(f"modes are {', '.join(MODES)}, not {mode!r}")
        if "mode" in changes:
            raise InputError("the mode is given twice")
        episodes = changes.get("episodes", cls.episodes)
        _check_kind("episodes", episodes, "int")
        given: dict[str, Any] = {"greedy_tail": episodes // 10}
        if mode == "paper":
            given |= {
                "patience": episodes // 5,
                "max_wait": max(1_000_000, episodes),
                "transfer": False,
                "objective": "states",
                "acyclic": True,
                "trigger_on": "state",
                "reward_on": "state",
            }
        if mode == "directed":
            given |= {"keep": 2_000, "effort": 5_000, "evaluate_every": 10}
        if changes.get("reward") == "random":
            given["keep"] = RANDOM_KEEP
        unknown = [name for name in changes if name not in cls.__dataclass_fields__]
        if unknown:
            raise InputError(f"there is no setting {unknown[0]!r}; settings are {', '.join(cls.__dataclass_fields__)}")
        return replace(cls(mode=mode), **given | changes)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        for name, field in self.__dataclass_fields__.items():
            value = getattr(self, name)
            if isinstance(value, np.generic):
                object.__setattr__(self, name, value := value.item())
            _check_kind(name, value, str(field.type))
        for name in ("epsilon", "wait_epsilon", "alpha"):
            check_share(name, getattr(self, name))
        check_discount(self.gamma)
        for name in ("episodes", "evaluate_every", "max_steps", "effort"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        given = [0 if value == AUTO else value for value in (self.tolerance, self.outliers)]
        if not Allowance(*given).exact:  # type: ignore[arg-type] # refuses what is none
            check_noise(find_engine(self.engine), None)
        if self.all and (self.tolerance, self.outliers) != (0, 0):
            raise InputError(NO_ALLOWANCES)
        if self.outliers != 0 and self.mode == "paper":
            raise InputError("outliers are for the modes directed and q-learning")
        if self.tolerance == AUTO and self.outliers != 0 and self.mode == "q-learning":
            raise InputError(
                "a tolerance of auto together with outliers is for the mode directed; for q-learning give the "
                "tolerance as a number: learn with both auto finds one in episodes that were recorded"
            )
        for name in ("seed", "patience", "max_wait", "greedy_tail", "keep", "all"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must not be negative, not {getattr(self, name)}")

        if not 0 < self.significance < 1:
            raise InputError(f"significance is a number between 0 and 1, not {self.significance}")
        if self.reward == "random":
            self._check_random()
        if self.all and (self.mode != "directed" or self.engine not in (AUTO, DEFAULT_ENGINE)):
            raise InputError(f"all is for mode directed and the engine {DEFAULT_ENGINE}")

    def _check_random(self) -> None:
        for name, usual in WITHOUT_RANDOM.items():
            if getattr(self, name) != usual:
                raise InputError(f"random rewards know no {name}; leave it as it is, or leave reward='random'")
        if self.mode != "q-learning":
            raise InputError("random rewards are for the mode q-learning")
        if not self.keep:
            raise InputError("random rewards are weighed by episodes kept: keep must be at least 1")

    def to_json(self) -> dict[str, Any]:
        """All settings; a user's label function shows as ``module:function`` or by its name, an engine by its name."""
        values = {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}
        # as files had it before there were such settings
        unsaid = {"state_on": None, "tolerance": 0.0, "outliers": 0, "all": 0, "reward": "exact", "significance": 0.01}
        for name, usual in unsaid.items():
            if values[name] == usual:
                del values[name]
        return values


def _check_kind(name: str, value: Any, kind: str) -> None:
    """Settings may come from a file or a command line.

    >>> _check_kind("crm", "yes", "bool")
    Traceback (most recent call last):
    markovize.errors.InputError: crm must be true or false, not 'yes'
    """
    if value is None and kind.endswith("None"):
        return
    kind = kind.removesuffix(" | None")
    fits, words = {
        "bool": (isinstance(value, bool), "true or false"),
        "int": (is_whole(value), "a whole number"),
        "float": (is_number(value), "a number"),
        "int | str": (is_whole(value) or value == AUTO, f"a whole number, or {AUTO}"),
        "float | str": (is_number(value) or value == AUTO, f"a number, or {AUTO}"),
        "str | Callable[[Any], Any]": (callable(value) or _is_found(value), "a function, or module:function"),
        "str | Engine": (isinstance(value, str) or _is_engine(value), "the name of an engine, or an engine"),
    }.get(kind, (True, ""))
    choices = CHOICES.get(name, ())
    if name in ("trigger_on", "reward_on"):
        choices = (*choices, "module:function")
        if callable(value) or (isinstance(value, str) and is_function_name(value)):
            labelling_of(value)  # before the run, not in the middle of it
            choices = ()
    if choices and value not in choices:
        fits, words = False, f"one of {', '.join(choices)}"
    if not fits:
        raise InputError(f"{name} must be {words}, not {value!r}")


def _is_found(value: Any) -> bool:
    """Whether it names a function; one that is not there is an error of its own."""
    return isinstance(value, str) and is_function_name(value) and callable(function_of_user(value))


def _is_engine(value: Any) -> bool:
    return isinstance(getattr(value, "name", None), str) and callable(getattr(value, "open", None))


def _plain(value: Any) -> Any:
    if _is_engine(value):
        return value.name
    return name_of_function(value) if callable(value) else value
