"""What an audit found: the verdict, what the reward depends on, and two trajectories that prove it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from markovize.auditing.scripts import Played, Script, play, script_json
from markovize.auditing.sources import EnvSource
from markovize.conflicts.apart import Apart
from markovize.episodes.values import Value, jsonable, show
from markovize.errors import InputError, one_line
from markovize.machine.machine import RewardMachine
from markovize.machine.notebook import card

if TYPE_CHECKING:
    import gymnasium

Verdict: TypeAlias = Literal["markov", "time", "history", "previous-episodes", "noise", "not-testable"]
Given: TypeAlias = Literal["observation", "state"]

HEADLINES: Final[dict[str, str]] = {
    "markov": "Markov: {signature} determines the reward",
    "time": "not Markov: the reward depends on the step number",
    "history": "not Markov: the reward depends on what happened before in the episode",
    "previous-episodes": "not Markov: the reward depends on earlier episodes",
    "noise": "random: the same history pays different rewards",
    "not-testable": "not testable",
}
WORDS: Final = {
    (): "nothing (it is constant)",
    ("next_state",): "s'",
    ("state", "action"): "(s, a)",
    ("state", "action", "next_state"): "(s, a, s')",
}


def words_of(signature: tuple[str, ...]) -> str:
    """A signature as people write it.

    >>> words_of(("state", "action"))
    '(s, a)'
    """
    return WORDS.get(signature, ", ".join(signature))


@dataclass(frozen=True)
class Trajectory:
    """One side of a witness: the steps of its last episode, of which the last one is compared."""

    steps: tuple[Played, ...]
    script: Script | None = None  # how to play it again; None for episodes of a file
    where: str = ""  # in words: the seed, or the episode of the file

    @property
    def reward(self) -> float:
        return self.steps[-1].reward

    def to_json(self) -> dict[str, Any]:
        states = [step.before for step in self.steps] + [self.steps[-1].after]
        out: dict[str, Any] = {
            "where": self.where,
            "observations": [jsonable(state) for state in states],
            "actions": [jsonable(step.action) for step in self.steps],
            "rewards": [step.reward for step in self.steps],
            "step": len(self.steps) - 1,
        }
        if self.script is not None:
            out["script"] = script_json(self.script)
        return out


@dataclass(frozen=True)
class Witness:
    """Two trajectories whose last steps should have paid the same."""

    first: Trajectory
    second: Trajectory
    alike: str  # what is equal
    differs: str  # and what is not

    @property
    def label(self) -> tuple[Value, Value, Value]:
        return self.first.steps[-1].label

    @property
    def rewards(self) -> tuple[float, float]:
        return self.first.reward, self.second.reward

    def to_json(self) -> dict[str, Any]:
        return {
            "label": [jsonable(part) for part in self.label],
            "rewards": list(self.rewards),
            "alike": self.alike,
            "differs": self.differs,
            "trajectories": [self.first.to_json(), self.second.to_json()],
        }

    def __str__(self) -> str:
        a, b = self.rewards
        one, two = f"{a:.6g}", f"{b:.6g}"
        if one == two:
            one, two = f"{a:.12g}", f"{b:.12g}"
        return (
            f"{one_line(show(self.label), 160)} paid {one} ({self.first.where}) and {two} ({self.second.where}): "
            f"{self.alike}, {self.differs}"
        )


@dataclass(frozen=True)
class RewardReport:
    """What the reward depends on, as :func:`markovize.check_reward` found it.

    >>> from markovize import check_reward
    >>> report = check_reward([(["hall", "office"], ["go"], [0]), (["coffee", "hall", "office"], ["go", "go"], [0, 1])])
    >>> report.verdict, report.comparable, report.reason
    ('not-testable', 2, "only 2 of 3 steps have an (s, a, s') that came about in two ways")
    """

    verdict: Verdict
    signature: tuple[str, ...]
    given: Given
    steps: int
    comparable: int
    advice: str
    episodes: int = 0
    seconds: float = 0.0
    source: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    witness: Witness | None = field(default=None, repr=False)
    machine: RewardMachine | None = field(default=None, repr=False)
    apart: Apart | None = field(default=None, repr=False)  # (s, a, s') that paid differently: noise, or history

    @property
    def markov(self) -> bool:
        return self.verdict == "markov"

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        text = HEADLINES[self.verdict].format(signature=words_of(self.signature))
        if self.markov and not self.signature:
            text = f"Markov: the reward was the same in all {self.steps:,} steps"
        return f"{text}: {self.reason}" if self.reason else text

    def to_json(self) -> dict[str, Any]:
        """The report as ``markovize audit --json`` prints it."""
        return {
            "verdict": self.verdict,
            "signature": list(self.signature),
            "given": self.given,
            "steps": self.steps,
            "comparable": self.comparable,
            "witness": {} if self.witness is None else self.witness.to_json(),
            "machine": None if self.machine is None else self.machine.to_json(),
            "advice": self.advice,
            "reason": self.reason,
            "notes": list(self.notes),
            "episodes": self.episodes,
            "seconds": round(self.seconds, 3),
            "source": self.source,
            **({} if self.apart is None else self.apart.to_json()),
        }

    def _repr_html_(self) -> str:
        """What notebooks show."""
        rows: list[tuple[str, object]] = [
            ("environment", self.source or "episodes"),
            ("the reward depends on", words_of(self.signature) if self.signature else "–"),
            ("compared by", "repeated observations" if self.given == "observation" else "restored states"),
            ("steps", f"{self.steps:,}, of which {self.comparable:,} comparable"),
            ("seconds", f"{self.seconds:.1f}"),
        ]
        notes = [*([] if self.witness is None else [str(self.witness)]), *self.notes, self.advice]
        return card(self.headline, rows, notes, self.machine)

    def replay_witness(self, env: gymnasium.Env[Any, Any]) -> tuple[float, float]:
        """Plays both trajectories of the witness in this environment, and gives the rewards of their last steps."""
        return self.replay_witness_in(EnvSource.of(env))

    def replay_witness_in(self, source: EnvSource) -> tuple[float, float]:
        """The same, in an environment without a past for each of them where one can be made."""
        if self.witness is None:
            raise InputError("there is no witness to play: the report has none")
        rewards = []
        for side in (self.witness.first, self.witness.second):
            if side.script is None:
                raise InputError("the witness is in a file of episodes, which cannot be played again")
            with source.fresh() as env:
                rewards.append(play(env, side.script)[-1].reward)
        return rewards[0], rewards[1]
