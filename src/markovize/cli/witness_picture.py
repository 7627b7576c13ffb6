"""One side of a witness as boxes and arrows, with lines where observations are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from markovize.auditing.scripts import RESTORED
from markovize.episodes.values import Value, show
from markovize.errors import one_line

if TYPE_CHECKING:
    from markovize.auditing.report import Trajectory

MOST_BOXES: Final = 6  # observations shown, the last ones
BOX, ARROW = 128, 62  # widths
MOST_LINES: Final = 6  # numbers of an observation
LEAST_POINTS, MOST_POINTS = 8, 80
MOST_WORDS: Final = 400  # observations in the list of all
PLOT: Final = 110  # its height


@dataclass(frozen=True)
class Box:
    """An observation; ``restored`` stands for one that nobody made."""

    x: int
    text: str
    full: str
    restored: bool


@dataclass(frozen=True)
class Arrow:
    """A step from one box to the next; ``jump``: no step, a state was restored there."""

    x: int
    action: str
    reward: str
    last: bool
    jump: bool


@dataclass(frozen=True)
class SidePicture:
    """What the template draws."""

    width: int
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    earlier: int  # steps that are not shown as boxes
    lines: Sequence[str]  # points of polylines, one for each number and each stretch without a jump
    words: str  # all observations


def draw_side(side: Trajectory) -> SidePicture:
    """The last steps as boxes, all of them (or the last eighty) as lines."""
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    shown: list[Any] = []  # steps, and before them the observation from which they start
    for step in side.steps:
        if not shown or step.before == RESTORED:
            shown.append(step.before)
        shown.append(step)
    tail = shown[-MOST_BOXES:]
    x = 4
    for n, item in enumerate(tail):
        value = item.after if hasattr(item, "after") else item
        if n:
            is_step = hasattr(item, "after")
            last = item is side.steps[-1]
            action = short(item.action) if is_step else ""
            reward = f"{item.reward:.6g}" if is_step else ""
            arrows.append(Arrow(x, action, reward, last, not is_step))
            x += ARROW
        boxes.append(Box(x, short(value), one_line(show(value), 200), value == RESTORED))
        x += BOX
    steps = sum(1 for item in tail[1:] if hasattr(item, "after"))
    values = [item.after if hasattr(item, "after") else item for item in shown]
    words = " → ".join(
        f"({short(value)})" if isinstance(value, tuple) else short(value) for value in values[-MOST_WORDS:]
    )
    return SidePicture(x + 4, boxes, arrows, len(side.steps) - steps, plot_lines(side, x), words)


def short(value: Value) -> str:
    """A value in a few characters.

    >>> short((0.123456, -1.5)), short("a very long name of a place")
    ('0.123, -1.5', 'a very …a place')
    """
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, tuple) and value and all(isinstance(part, (int, float)) for part in value):
        return one_line(", ".join(f"{part:.3g}" for part in value), 17)
    return one_line(show(value).strip("'\""), 15)


def plot_lines(side: Trajectory, width: int) -> list[str]:
    """Each number of the observations over the steps, each on a scale of its own; broken where a state was restored."""
    values = [step.after for step in side.steps[-MOST_POINTS:]]
    sizes = {len(value) if isinstance(value, tuple) else 1 for value in values}
    numbers = [value if isinstance(value, tuple) else (value,) for value in values]
    continuous = all(isinstance(part, (int, float)) for row in numbers for part in row)
    if (
        len(values) < 3
        or len(sizes) != 1
        or not continuous
        or not any(isinstance(n, float) for r in numbers for n in r)
    ):
        return []
    out = []
    for k in range(min(len(numbers[0]), MOST_LINES)):
        column = [float(row[k]) for row in numbers]  # type: ignore[arg-type]
        low, high = min(column), max(column)
        points: list[str] = []
        for n, number in enumerate(column):
            if side.steps[-len(values) :][n].before == RESTORED and points:
                out.append(" ".join(points))
                points = []
            level = 0.5 if high == low else (high - number) / (high - low)
            points.append(f"{8 + n * (width - 16) / (len(column) - 1):.1f},{8 + level * (PLOT - 16):.1f}")
        out.append(" ".join(points))
    return out
