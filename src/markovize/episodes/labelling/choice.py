"""``choice``: a step is called by what was seen and done, (s, a); what came of it does not matter."""

from __future__ import annotations

from dataclasses import dataclass

from markovize.episodes.labelling.base import TEXT_LENGTH, Labelling, Step, spell
from markovize.episodes.values import On, Value, show
from markovize.errors import one_line


@dataclass(frozen=True)
class ChoiceLabelling(Labelling):
    """(s, a).

    >>> ChoiceLabelling().label(("ripe", "pick", "bare")), ChoiceLabelling().describe(("ripe", "pick"))
    (('ripe', 'pick'), 'choosing pick in ripe')
    """

    kind = "choice"
    noun = "choice (s, a)"
    parts = ("state", "action")

    def label(self, step: Step) -> Value:
        return step[:2]

    def describe(self, label: On) -> str:
        if (found := self.split(label)) is None:
            return super().describe(label)
        state, action = (spell(part) for part in found.values())
        return f"choosing {action} in {state}"

    def text(self, label: On, length: int = TEXT_LENGTH) -> str:
        if (found := self.split(label)) is None:
            return super().text(label, length)
        state, action = (one_line(show(part), max(8, length // 2)) for part in found.values())
        return f"{state} –{action}"
