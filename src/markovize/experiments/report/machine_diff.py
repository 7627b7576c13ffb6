"""A learned machine next to the true one, with the differences marked; as pictures and in words.

The frame around two drawings is written by hand, as the drawings are; see :mod:`~markovize.pictures.machine_svg`.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Final

from markovize.episodes.values import key_of, show
from markovize.experiments.records import TrialRecord
from markovize.machine.machine import RewardMachine, Trigger
from markovize.machine.matching import Match
from markovize.pictures.machine_svg import INCH, Drawing, Marks, draw_machine, label_name

WIDEST: Final = 13.5 * INCH  # side by side; wider machines go below each other
GAP, HEAD, LEGEND = 36.0, 34.0, 48.0
LEGENDS: Final = (
    "red: learned, but not in the true machine",
    "dashed grey: in the true machine, but not learned",
    "≙ n: the state that is n in the true machine",
    "≈: the data cannot tell the learned label from the true one, so they count as the same",
)


@dataclass(frozen=True)
class MachineDiff:
    """Both machines as drawings, and what differs, line by line; ``true`` is None where no truth is known."""

    learned: Drawing
    true: Drawing | None
    differences: tuple[str, ...]

    @property
    def summary(self) -> str:
        """In a few words."""
        if self.true is None:
            return "the true machine is not known"
        count = len(self.differences)
        return f"{count} difference{'s' if count > 1 else ''}" if count else "the true machine"

    def svg(self, title: str = "") -> str:
        """Both in one picture, with a legend."""
        panels = [("learned", self.learned), *([("true", self.true)] if self.true is not None else [])]
        beside = sum(drawing.width for _, drawing in panels) + GAP <= WIDEST
        parts, x, y, width, height = [], 0.0, HEAD, 0.0, 0.0
        for name, drawing in panels:
            parts.append(
                f'<text x="{x + 12:.0f}" y="{y - 12:.0f}" style="font-weight:bold;font-size:14px">{name}</text>'
                f'<g transform="translate({x:.0f} {y:.0f})">{drawing.body}</g>'
            )
            width, height = max(width, x + drawing.width), max(height, y + drawing.height)
            x, y = (x + drawing.width + GAP, y) if beside else (x, y + drawing.height + HEAD)
        if self.true is not None:
            width = max(width, 760.0)
            parts += [
                f'<text x="12" y="{height + 18 + 16 * row:.0f}" style="font-size:10.5px">'
                f"{escape(' · '.join(texts))}</text>"
                for row, texts in enumerate((LEGENDS[:3], LEGENDS[3:]))
            ]
            height += LEGEND
        return Drawing(width, height, "".join(parts)).svg(title=title)


def machine_diff(record: TrialRecord) -> MachineDiff:
    """The learned machine of a trial beside the true one."""
    found, true = record.match(), record.true_machine
    if found is None or true is None:
        return MachineDiff(draw_machine(record.machine, record.view), None, ())
    to_true = dict(found.states)
    also = {}
    for learned_number, true_number in found.same:
        label = true.triggers[true_number].on
        if key_of(record.machine.triggers[learned_number].on) != key_of(label):
            also[learned_number] = label_name(true.trigger_labels, label, record.view)
    extra = frozenset(range(record.machine.states)) - frozenset(to_true)
    missing = frozenset(range(true.states)) - frozenset(to_true.values())
    learned_marks = Marks("extra", frozenset(found.extra), extra, also, to_true)
    true_marks = Marks("missing", frozenset(found.missing), missing)
    return MachineDiff(
        draw_machine(record.machine, record.view, learned_marks),
        draw_machine(true, record.view, true_marks),
        tuple(differences(record, found)),
    )


def differences(record: TrialRecord, found: Match) -> list[str]:
    """What differs, in plain sentences; empty if nothing does."""
    learned, true = record.machine, record.true_machine
    assert true is not None
    out = []
    if learned.trigger_on != true.trigger_on:
        out.append(f"labels: learned on {learned.trigger_on}, true on {true.trigger_on}; triggers cannot be compared")
    if learned.states != true.states:
        out.append(f"states: {learned.states} learned, {true.states} true")

    def said(machine: RewardMachine, trigger: Trigger) -> str:
        label = label_name(machine.trigger_labels, trigger.on, record.view)
        return f"in state {trigger.source}, {label} → state {trigger.target}"

    out += [f"extra: {said(learned, learned.triggers[n])}" for n in found.extra]
    out += [f"missing: {said(true, true.triggers[n])} (numbers of the true machine)" for n in found.missing]
    out += [
        f"reward: in state {c.emission.source}, {show(c.emission.on)} → state {c.emission.target} "
        f"pays {c.true_reward:g}, learned as {c.emission.reward:g}"
        for c in found.contradictions
    ]
    return out
