"""What the Markov test answers: a report, with witnesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from markovize.conflicts.apart import Apart
from markovize.conflicts.clock import Clock
from markovize.episodes.brief import BriefRepr
from markovize.episodes.values import Value, jsonable, show
from markovize.machine.notebook import card

LEAST_COMPARABLE: Final = 0.5
"""Of all steps, from which share on "Markov" is an answer. Of 1,300 samples of worlds whose reward depends on history,
95 % of those with a smaller share showed no conflict, and 32 % of the others: below it, the test hardly sees."""


@dataclass(frozen=True)
class Witness(BriefRepr):
    """Two steps that carry one label but different rewards.

    ``rewards`` starts with the rewards of the two steps, in their order; further rewards of the same label follow.

    >>> print(Witness((0, "go", 1), (0.0, 1.0), episodes=(0, 3), steps=(2, 5)))
    (0, go, 1) pays 0 or 1: episode 0 step 2, episode 3 step 5
    """

    label: Value
    rewards: tuple[float, ...]
    episodes: tuple[int, int]
    steps: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        return {
            "label": jsonable(self.label),
            "rewards": list(self.rewards),
            "episodes": list(self.episodes),
            "steps": list(self.steps),
        }

    def __str__(self) -> str:
        (i, j), (m, n) = self.episodes, self.steps
        rewards = " or ".join(f"{r:g}" for r in self.rewards)
        return f"{show(self.label)} pays {rewards}: episode {i} step {m}, episode {j} step {n}"


@dataclass(frozen=True)
class CheckReport(BriefRepr):
    """Whether the reward is Markov, and witnesses if it is not, the shortest first.

    ``conflicts`` counts labels that were seen with two or more rewards; there is one witness for each. ``comparable``
    counts steps whose (s, a, s') occurs more than once. ``testable`` says whether the episodes can show anything: with
    a conflict among their (s, a, s') or, without one, with at least half of their steps comparable. ``time`` says so
    where the reward is one of the step number, ``apart`` which conflicts are noise and which may be history.

    With a ``tolerance``, labels are in conflict whose rewards no level fits. ``outside`` counts the steps that would
    have to be outliers.

    >>> from markovize import Traces, check
    >>> check(Traces.of([([0, 1], ["go"], [0])])).to_json()
    {'markov': True, 'steps': 1, 'episodes': 1, 'conflicts': 0, 'witnesses': [], 'comparable': 0, 'testable': False}
    """

    steps: int
    episodes: int
    conflicts: int
    witnesses: tuple[Witness, ...]
    comparable: int = 0
    testable: bool = False
    time: Clock | None = None
    apart: Apart | None = None
    tolerance: float = 0.0
    outside: int = 0

    @property
    def markov(self) -> bool:
        return self.conflicts == 0

    def _repr_html_(self) -> str:
        """What notebooks show."""
        verdict = "not Markov" if not self.markov else "Markov" if self.testable else "not testable"
        rows = [("steps", self.steps), ("episodes", self.episodes), ("comparable steps", self.comparable)]
        return card(f"reward: {verdict}", [*rows, ("conflicts", self.conflicts)], [str(w) for w in self.witnesses])

    def to_json(self) -> dict[str, Any]:
        return {
            "markov": self.markov,
            "steps": self.steps,
            "episodes": self.episodes,
            "conflicts": self.conflicts,
            "witnesses": [witness.to_json() for witness in self.witnesses],
            "comparable": self.comparable,
            "testable": self.testable,
            **({} if self.time is None else {"time": self.time.to_json()}),
            **({} if self.apart is None else self.apart.to_json()),
            **({"tolerance": self.tolerance} if self.tolerance else {}),
            **({"outside": self.outside} if self.outside else {}),
        }
