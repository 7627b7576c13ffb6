"""Machines as SVG that a page can style and light up: every state, arrow and trigger can be addressed.

The layout is that of :mod:`markovize.pictures.machine`; here texts stay texts, and things carry classes and numbers:
``data-state``, ``data-arrow`` ("u-v") and ``data-trigger``. By hand: matplotlib's SVG has
ids, but no classes and no such attributes, and what is left to write is a circle, a path and a text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from markovize.episodes.features.guard import Guard
from markovize.episodes.labelling import TEXT_LENGTH, Labelling
from markovize.episodes.labelling.guards import ValuationLabelling
from markovize.episodes.values import On, key_of, show, sort_key
from markovize.errors import one_line
from markovize.machine.machine import Emission, RewardMachine
from markovize.machine.summary import notable_rewards
from markovize.pictures.geometry import Line, Placement, place_machine
from markovize.pictures.layout import RADIUS, Point, Size
from markovize.pictures.world.canvas import text_width
from markovize.pictures.world.plan import GridView

INCH: Final = 96.0  # pixels
FONT: Final = 12.0
LINE: Final = 0.165  # inches
MOST_LINES: Final = 5
STYLE: Final = """
text{font-family:"DejaVu Sans",Verdana,Arial,sans-serif;font-size:12px;fill:#37474f}
.state circle{fill:#e8f0fa;stroke:#1f2d3d;stroke-width:1.6}
.state text{font-size:14px;font-weight:bold;fill:#1f2d3d;text-anchor:middle}
.state .other{font-size:8.5px;font-weight:normal}
.arrow path{fill:none;stroke:#1f2d3d;stroke-width:1.4}
.arrow .head{fill:#1f2d3d;stroke:none}
.arrow text{text-anchor:middle}
.extra circle,.arrow.extra path{stroke:#c62828}
.extra circle{fill:#fdecea}
.arrow.extra .head{fill:#c62828}
text.extra{fill:#c62828;font-weight:bold}
.missing circle,.arrow.missing path{stroke:#78838d;stroke-dasharray:5 4}
.missing circle{fill:#ffffff}
.state.missing text{fill:#78838d}
.arrow.missing .head{fill:#78838d;stroke:none}
text.missing{fill:#78838d;font-style:italic}
""".strip()


@dataclass(frozen=True)
class Marks:
    """What to mark in a picture: ``extra`` or ``missing`` triggers and states; what other names there are for them."""

    kind: str = ""
    triggers: frozenset[int] = frozenset()
    states: frozenset[int] = frozenset()
    also: Mapping[int, str] = field(default_factory=dict)  # what a trigger's label stands for, if not for itself
    other: Mapping[int, int] = field(default_factory=dict)  # the number of a state in the other machine


@dataclass(frozen=True)
class Drawing:
    """A picture's size in pixels, and its elements."""

    width: float
    height: float
    body: str

    def svg(self, *, style: bool = True, title: str = "") -> str:
        """A whole SVG document, or, without style, an element for a page that brings its own."""
        inner = (f"<title>{escape(title)}</title>" if title else "") + (f"<style>{STYLE}</style>" if style else "")
        head = '<?xml version="1.0" encoding="utf-8"?>\n' if style else ""
        ground = '<rect width="100%" height="100%" fill="#ffffff"/>' if style else ""
        size = f'width="{self.width:.0f}" height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}"'
        return (
            f'{head}<svg xmlns="http://www.w3.org/2000/svg" class="machine" role="img" {size}>{inner}{ground}'
            f"{self.body}</svg>" + ("\n" if style else "")
        )


@dataclass(frozen=True)
class _Text:
    """A line of words on an arrow."""

    words: str
    mark: str = ""
    trigger: int | None = None


def label_name(labelling: Labelling, label: On, view: GridView | None) -> str:
    """A label as people read it, with the name of the place if the map has one.

    >>> from markovize.episodes.labelling import labelling_named
    >>> label_name(labelling_named("state"), (1, 1), None)
    '(1, 1)'
    """
    name = view.name_of(label) if view is not None and labelling.are_observations else None
    if not name:
        return labelling.text(label)
    return labelling.text(f"{name} {one_line(show(label), TEXT_LENGTH)}", len(name) + 1 + TEXT_LENGTH)


def label_lines(labelling: Labelling, label: On, view: GridView | None) -> list[str]:
    """The same on several lines where the label is a long guard."""
    return labelling.lines(label) if isinstance(label, Guard) else [label_name(labelling, label, view)]


def draw_machine(machine: RewardMachine, view: GridView | None = None, marks: Marks | None = None) -> Drawing:
    """The machine as a drawing.

    >>> from markovize.machine.machine import Trigger
    >>> drawing = draw_machine(RewardMachine("state", "state", 2, (Trigger(0, "a & b", 1),)))
    >>> 'data-arrow="0-1"' in drawing.body, "a &amp; b" in drawing.body
    (True, True)
    """
    marks = marks or Marks()
    lines = _lines(machine, view, marks)
    placement = place_machine(machine, {pair: _size(texts) for pair, texts in lines.items()})
    out = [_arrow(placement, pair, lines[pair], line) for pair, line in placement.arrows.items()]
    out += [_state(placement, u, marks) for u in range(machine.states)]
    out.append(_arrow_group(placement, "start", "", placement.start, []))
    return Drawing(placement.width * INCH, placement.height * INCH, "".join(out))


# --- what is written on arrows --------------------------------------------------------------------------------------


def _lines(machine: RewardMachine, view: GridView | None, marks: Marks) -> dict[tuple[int, int], list[_Text]]:
    matters = notable_rewards(machine)
    out: dict[tuple[int, int], list[_Text]] = {}
    for number, trigger in enumerate(machine.triggers):
        pair = trigger.source, trigger.target
        *above, text = label_lines(machine.trigger_labels, trigger.on, view)
        if number in marks.also:
            text += f" ≈ {marks.also[number]}"
        elif trigger.alternatives:
            text += f" (or {len(trigger.alternatives)} alike)"
        if machine.trigger_on == machine.reward_on:  # trigger and reward share a line
            own = [e for e in matters.get(pair, ()) if key_of(e.on) == key_of(trigger.on)]
            for emission in own:
                matters[pair].remove(emission)
                text += f": {_outcome(emission.level, emission.terminal)}"
        mark = marks.kind if number in marks.triggers else ""
        out.setdefault(pair, []).extend(_Text(line, mark, number) for line in (*above, text))
    for pair, emissions in matters.items():
        out.setdefault(pair, []).extend(_group_rewards(machine.reward_labels, emissions, view))
    return {pair: _cut(texts) for pair, texts in sorted(out.items()) if texts}


def _group_rewards(labelling: Labelling, emissions: Sequence[Emission], view: GridView | None) -> list[_Text]:
    """One line for each outcome; places of one name count as one."""
    outcomes: dict[tuple[float, bool], dict[str, int]] = {}
    widest = 2 * TEXT_LENGTH if isinstance(labelling, ValuationLabelling) else 20  # guards cut short say nothing
    for emission in sorted(emissions, key=lambda e: sort_key(e.on)):
        name = view.name_of(emission.on) if view is not None and labelling.are_observations else None
        names = outcomes.setdefault((emission.level, emission.terminal), {})
        shown = labelling.text(name, len(name)) if name else labelling.text(emission.on, widest)
        names[shown] = names.get(shown, 0) + 1
    out = []
    for (reward, terminal), names in sorted(outcomes.items(), key=lambda item: (-item[0][0], item[0][1])):
        texts = [f"{name} ×{count}" if count > 1 else name for name, count in names.items()]
        more = f", … +{len(texts) - 2}" if len(texts) > 2 else ""
        out.append(_Text(f"{', '.join(texts[:2])}{more}: {_outcome(reward, terminal)}"))
    return out


def _outcome(reward: float, terminal: bool) -> str:
    text = f"{reward:+.6g}".replace("-", "−") if reward else "0"
    return text + (", end" if terminal else "")


def _cut(texts: list[_Text]) -> list[_Text]:
    if len(texts) <= MOST_LINES:
        return texts
    return [*texts[: MOST_LINES - 1], _Text(f"… +{len(texts) - MOST_LINES + 1}")]


def _size(texts: Sequence[_Text]) -> Size:
    widest = max(text_width(text.words, FONT, bold=text.mark == "extra") for text in texts)
    return Size(widest / INCH + 0.12, len(texts) * LINE)


# --- elements -------------------------------------------------------------------------------------------------------


def _at(placement: Placement, point: Point) -> str:
    """In pixels, y downwards."""
    return f"{point[0] * INCH:.1f} {(placement.height - point[1]) * INCH:.1f}"


def _state(placement: Placement, u: int, marks: Marks) -> str:
    x, y = (float(part) for part in _at(placement, placement.states[u]).split())
    mark = f" {marks.kind}" if u in marks.states else ""
    other = marks.other.get(u, u)
    second = f'<text class="other" x="{x}" y="{y + 15}">≙ {other}</text>' if other != u else ""
    return (
        f'<g class="state{mark}" data-state="{u}"><circle cx="{x}" cy="{y}" r="{RADIUS * INCH:.1f}"/>'
        f'<text x="{x}" y="{y + (2 if second else 5)}">{u}</text>{second}</g>'
    )


def _arrow(placement: Placement, pair: tuple[int, int], texts: Sequence[_Text], line: Line) -> str:
    """An arrow is marked if all its triggers are; a self-loop never is."""
    marks = {text.mark for text in texts if text.trigger is not None}
    mark = marks.pop() if len(marks) == 1 and pair[0] != pair[1] else ""
    return _arrow_group(placement, f"{pair[0]}-{pair[1]}", mark, line, _texts(placement, texts, line.label))


def _arrow_group(placement: Placement, name: str, mark: str, line: Line, texts: Sequence[str]) -> str:
    path = ""
    for point, code, before in zip(line.vertices, line.codes, (0, *line.codes), strict=False):
        letter = {1: "M", 2: "L", 4: "C"}[code]
        path += ("" if letter == "C" and before == 4 and path.count(" ") else letter) + _at(placement, point) + " "
    head = _head(placement, line.vertices[-1], line.vertices[-2])
    kind = f"arrow {mark}".strip()
    return f'<g class="{kind}" data-arrow="{name}"><path d="{path.strip()}"/>{head}{"".join(texts)}</g>'


def _head(placement: Placement, tip: Point, before: Point) -> str:
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    corners = [
        (tip[0] - 0.11 * math.cos(angle + turn), tip[1] - 0.11 * math.sin(angle + turn)) for turn in (0.42, -0.42)
    ]
    way = " ".join(_at(placement, corner) for corner in (tip, *corners))
    return f'<path class="head" d="M{way}Z"/>'


def _texts(placement: Placement, texts: Sequence[_Text], bottom: Point) -> list[str]:
    out = []
    for number, text in enumerate(reversed(texts)):
        x, y = _at(placement, (bottom[0], bottom[1] + number * LINE + 0.035)).split()
        trigger = "" if text.trigger is None else f' data-trigger="{text.trigger}"'
        kind = f' class="{text.mark}"' if text.mark else ""
        out.append(f'<text x="{x}" y="{y}"{kind}{trigger}>{escape(text.words)}</text>')
    return out[::-1]
