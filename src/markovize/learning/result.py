"""What learning gives: a machine, what is proven about it, or why there is none."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from markovize.conflicts.clock import Clock
from markovize.conflicts.timetable import Timetable
from markovize.episodes.allowance import show_tolerance
from markovize.episodes.brief import BriefRepr
from markovize.episodes.features import Guard
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.values import jsonable
from markovize.errors import MarkovizeError, UnrealisableError
from markovize.learning.all_machines import AllMachines
from markovize.learning.assembly import TerminationConflict
from markovize.learning.floors import Objective
from markovize.learning.identity import Identity
from markovize.learning.prefix_tree import Contradiction
from markovize.learning.random_rewards.chance import Chance
from markovize.machine.describe import describe
from markovize.machine.machine import RewardMachine
from markovize.machine.notebook import card
from markovize.machine.support import LITTLE, Support

if TYPE_CHECKING:
    from markovize.certificate.make import Certificate
    from markovize.episodes.traces import Episodes
    from markovize.learning.certify import Evidence

Status: TypeAlias = Literal["optimal", "feasible", "unrealisable", "unknown"]


@dataclass(frozen=True)
class Outlier:
    """A step that pays something else than its (u, reward label, u'), or that ``ends`` its episode, or not, unlike it.

    >>> str(Outlier(3, 7, 0.0, 1.0))
    'episode 3 step 7 paid 0 instead of 1'
    >>> str(Outlier(3, 7, 1.0, 1.0, ends=False))
    'episode 3 step 7 did not end it'
    """

    episode: int
    step: int
    reward: float
    expected: float
    ends: bool | None = None  # where ends are to be explained, too, and this one is not

    def __str__(self) -> str:
        told = []
        if self.reward != self.expected:
            paid, expected = f"{self.reward:g}", f"{self.expected:g}"
            if paid == expected:
                paid, expected = repr(self.reward), repr(self.expected)
            told.append(f"paid {paid} instead of {expected}")
        if self.ends is not None:
            told.append("ended it" if self.ends else "did not end it")
        return f"episode {self.episode} step {self.step} {' and '.join(told)}"

    def to_json(self) -> dict[str, Any]:
        """As ``learn --json`` has it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Choice:
    """An allowance, the size of a machine that it takes, and the bits of machine, levels, outliers and residuals.

    >>> str(Choice(0.1, 2, 3, 4, 812.4))
    'tolerance 0.1, 2 outliers: 3 states, 4 triggers, 812 bits'
    >>> str(Choice(0.1, 0, 2, 1, 812.4, 2, 6))
    'tolerance 0.1, 0 outliers: 2 states, 1 trigger, 2 guards, 6 literals, 812 bits'
    """

    tolerance: float
    outliers: int
    states: int
    triggers: int
    bits: float
    guards: int | None = None  # where triggers are guards
    literals: int | None = None

    def __str__(self) -> str:
        told = f"tolerance {show_tolerance(self.tolerance)}, {self.outliers} outlier{'' if self.outliers == 1 else 's'}"
        return f"{told}: {self.machine}, {self.bits:.0f} bits"

    @property
    def machine(self) -> str:
        """Its size in words."""
        sizes = {"state": self.states, "trigger": self.triggers, "guard": self.guards, "literal": self.literals}
        said = [f"{n} {what}{'' if n == 1 else 's'}" for what, n in sizes.items() if n is not None]
        return ", ".join(said)

    def to_json(self) -> dict[str, Any]:
        """As ``learn --json`` has it: guards only where there are any."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Noise:
    """What was allowed for, and which steps are outliers.

    >>> Noise(0.1, 1, (Outlier(3, 7, 0.0, 1.0),)).to_json()["outliers"]
    [{'episode': 3, 'step': 7, 'reward': 0.0, 'expected': 1.0}]
    """

    tolerance: float
    allowed: int  # outliers
    outliers: tuple[Outlier, ...] = ()
    front: tuple[Choice, ...] = ()  # what was compared, where the allowance was chosen
    margin: float | None = None  # bits by which the choice is shorter than other machines; longer, where it is exact
    stopped: bool = False  # by a limit, before all allowances were compared

    @property
    def taken(self) -> tuple[float, int]:
        """What of the front was taken: the tolerance, and the outliers that are allowed. Some may not be needed."""
        return self.tolerance, self.allowed

    def to_json(self) -> dict[str, Any]:
        """As ``learn --json`` has it."""
        out: dict[str, Any] = {"tolerance": self.tolerance, "allowed": self.allowed}
        out["outliers"] = [outlier.to_json() for outlier in self.outliers]
        out["front"] = [choice.to_json() for choice in self.front]
        out |= {"stopped": True} if self.stopped else {}
        return out if self.margin is None else out | {"margin": round(self.margin, 1)}


@dataclass(frozen=True)
class Compared:
    """What was found under one pair of labels, where several were compared. ``optimal``: under these labels.

    >>> str(Compared("source", "transition", "optimal", 5, 4))
    'source/transition: 5 states, 4 triggers'
    >>> str(Compared("state", "transition", "unknown", None, None))
    'state/transition: none found'
    """

    trigger_on: str
    reward_on: str
    status: Status
    states: int | None
    triggers: int | None

    def __str__(self) -> str:
        labels = f"{self.trigger_on}/{self.reward_on}"
        if self.states is None or self.triggers is None:
            return f"{labels}: none found"
        states = f"{self.states} state{'' if self.states == 1 else 's'}"
        triggers = f"{self.triggers} trigger{'' if self.triggers == 1 else 's'}"
        return f"{labels}: {states}, {triggers}{'' if self.status == 'optimal' else ', unproven'}"


@dataclass(frozen=True)
class LearnResult(BriefRepr):
    """What was learned. ``machine`` is None where no machine exists (unrealisable) or none was found (unknown).

    >>> from markovize import Traces, learn
    >>> result = learn(Traces.of([([0, 1, 2], ["a", "b"], [0, 0]), ([0, 0, 2], ["a", "b"], [0, 1])]))
    >>> result.status, result.states, result.triggers, result.bounds
    ('optimal', 2, 1, (2, 1))
    """

    status: Status
    machine: RewardMachine | None
    bounds: tuple[int, int]  # proven: at least this many states, at least this many triggers
    objective: Objective
    acyclic: bool
    engine: str
    seconds: float
    exemplars: int
    proof: str = ""
    trigger_on: str = ""
    reward_on: str = ""
    explain: Explain = "reward"
    contradiction: Contradiction | None = None
    termination_conflicts: tuple[TerminationConflict, ...] = ()
    interrupted: bool = False
    compared: tuple[Compared, ...] = ()  # where the machine of the coarsest labels was large: it, and those of others
    support: tuple[Support, ...] = ()  # what the episodes say for each trigger; not counted if that takes long
    labels_hardly_repeat: bool = False  # so nothing could contradict a machine with one state
    time: Clock | Timetable | None = None  # the reward is one of time, so no machine was looked for
    guard_bounds: tuple[int, int] | None = None  # proven, for guards: at least so many, with at least so many literals
    noise: Noise | None = None  # with an allowance: what it was used for
    chance: Chance | None = None  # where rewards are random: how much speaks for the machine
    all: AllMachines | None = None  # where all minimal machines were asked for, and their size is proven
    remarks: tuple[str, ...] = ()  # what was chosen that a user may want to know
    identity: Identity | None = field(default=None, repr=False)  # of the episodes and options it was learned from
    evidence: Evidence | None = field(default=None, repr=False, compare=False)  # what a certificate is made of

    @property
    def states(self) -> int | None:
        return None if self.machine is None else self.machine.states

    @property
    def triggers(self) -> int | None:
        return None if self.machine is None else len(self.machine.triggers)

    @property
    def guards(self) -> int | None:
        """How many guards the machine has, those of rewards included; None if it has exact labels."""
        guards = self._guards
        return None if guards is None else len(guards)

    @property
    def literals(self) -> int | None:
        """How many literals these guards have."""
        guards = self._guards
        return None if guards is None else sum(map(len, guards))

    @property
    def _guards(self) -> list[Guard] | None:
        if self.machine is None or not self.machine.has_guards:
            return None
        triggers = [trigger.on for trigger in self.machine.triggers if isinstance(trigger.on, Guard)]
        return [*triggers, *self.machine.reward_guards]

    def why_these_labels(self) -> str:
        """In one line, which labels were compared, since the machine of the coarsest is large; empty if none were."""
        if not self.compared:
            return ""
        coarsest, labels = self.compared[0], (self.trigger_on, self.reward_on)
        kept = (coarsest.trigger_on, coarsest.reward_on) == labels
        is_finer = (coarsest.trigger_on, coarsest.reward_on) != ("state", "state")
        which = "the coarsest that explain the episodes" if is_finer else "the coarsest"
        ours = f"{which}, and {self._what_others_have()}" if kept else "those with the smallest machine"
        others = "; ".join(str(pair) for pair in self.compared if (pair.trigger_on, pair.reward_on) != labels)
        return f"{'/'.join(labels)}: {ours} (compared: {others})"

    def _what_others_have(self) -> str:
        """Where the coarsest labels are kept: what is known of machines of the others, of which those are compared."""
        found = self.compared[1:]
        if any(self._is_below(each) for each in found):
            return "others have smaller machines only without a proof"
        if all(each.status == "optimal" for each in found):
            return "none has a smaller machine"
        return "no smaller machine was found with others"

    def _is_below(self, other: Compared) -> bool:
        sizes = [(each.states, each.triggers) for each in (other, self) if each.states is not None]
        order = slice(None) if self.objective == "states" else slice(None, None, -1)
        return len(sizes) == 2 and sizes[0][order] < sizes[1][order]  # type: ignore[operator]

    @property
    def doubt(self) -> str:
        """In one line, that a trigger, or the lack of any, is pinned by almost nothing; empty if it is not so."""
        if self.labels_hardly_repeat:
            return (
                f"most {self.reward_on} labels of rewards occur only once, so that no step could contradict another; "
                "give functions that make labels of steps (--trigger-on and --reward-on module:function), or learn "
                "guards over features of observations (--trigger-on guards)"
            )
        least = min((each.paid for each in self.support), default=LITTLE)
        if least >= LITTLE:
            return ""
        return (
            f"little pins this machine: a trigger is needed by only {least} paid step{'' if least == 1 else 's'} "
            f"(with fewer than {LITTLE}, most fail on new episodes; try --holdout)"
        )

    def unwrap(self) -> RewardMachine:
        """The machine, or an error that says why there is none."""
        if self.machine is not None:
            return self.machine
        if self.contradiction is not None:
            raise UnrealisableError(self.contradiction)
        if self.time is not None:
            raise MarkovizeError(f"{self.time}. {self.time.advice}")
        raise MarkovizeError("no machine was found within the limit; allow more time")

    def certificate(self, episodes: Episodes | None = None, *, time_limit: float | None = None) -> Certificate:
        """Evidence that no machine is smaller, for :func:`markovize.verify` or another program to check.

        ``episodes`` need be given only where they came as a stream.

        >>> from markovize import learn
        >>> result = learn([([0, 1, 2], ["a", "b"], [0, 0]), ([0, 0, 2], ["a", "b"], [0, 1])])
        >>> [claim["claim"] for claim in result.certificate().fields["claims"]]
        ['counting', 'clique']
        """
        from markovize.learning.certify import certify  # knows results

        return certify(self, episodes, time_limit)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        rows: list[tuple[str, object]] = [
            ("states, triggers", "none" if self.machine is None else f"{self.states}, {self.triggers}"),
            ("proven", f"at least {self.bounds[0]}, {self.bounds[1]}"),
            ("labels", f"{self.trigger_on}/{self.reward_on}"),
            *([] if self.guards is None else [("guards, literals", f"{self.guards}, {self.literals}")]),
            ("seconds", f"{self.seconds:.2f}"),
            *([] if self.all is None else [("of this size", self.all)]),
        ]
        if self.compared:
            rows.append(("labels compared", self.why_these_labels()))
        if self.contradiction is not None:
            rows.append(("why", self.contradiction))
        notes = [] if self.machine is None else describe(self.machine)
        return card(f"{self.status} machine" if self.machine else self.status, rows, notes, self.machine)

    def to_json(self) -> dict[str, Any]:
        """The result as ``markovize learn --json`` prints it."""
        out: dict[str, Any] = {
            "status": self.status,
            "states": self.states,
            "triggers": self.triggers,
            "bounds": {"states": self.bounds[0], "triggers": self.bounds[1]},
            "engine": self.engine,
            "seconds": round(self.seconds, 6),
            "exemplars": self.exemplars,
            "objective": self.objective,
            "acyclic": self.acyclic,
            "trigger_on": self.trigger_on,
            "reward_on": self.reward_on,
            "proof": self.proof,
            "termination_conflicts": [
                {"from": c.source, "on": jsonable(c.on), "to": c.target} for c in self.termination_conflicts
            ],
        }
        if self.guard_bounds is not None:
            out |= {"guards": self.guards, "literals": self.literals}
            out["bounds"] |= {"guards": self.guard_bounds[0], "literals": self.guard_bounds[1]}
        if self.noise is not None:
            out["noise"] = self.noise.to_json()
        if self.chance is not None:
            out["random"] = self.chance.to_json()
        if self.all is not None:
            out["all"] = self.all.to_json()
        if self.remarks:
            out["remarks"] = list(self.remarks)
        if self.support:
            out["support"] = [each.to_json() for each in self.support]
        if self.time is not None:
            out["time"] = self.time.to_json()
        if self.compared:
            out["compared"] = [asdict(pair) for pair in self.compared]
        if self.contradiction is not None:
            c = self.contradiction
            out["contradiction"] = {
                "episodes": list(c.episodes),
                "steps": list(c.steps),
                "rewards": list(c.rewards),
                "contradicting_episodes": c.contradicting_episodes,
                "advice": c.advice,
            }
        return out
