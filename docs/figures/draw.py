"""Draws the figures of the explanation and contributing pages: ``python docs/figures/draw.py``.

The pictures of machines come from markovize itself: patrol.png and product.png from ``make demo``, corridor.svg from
the tutorial, plane.png from the world of the tutorial on guards.
"""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
INK, SOFT, LINE, ACCENT, PAPER = "#1f2d3d", "#5b6b7a", "#8a99a8", "#0b6e69", "#ffffff"
FILLS = {"data": "#e8f1fb", "code": "#e3f3f1", "loop": "#fdf1dc"}
FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"


@dataclass(frozen=True)
class Box:
    """A box with a title and lines below it."""

    x: float
    y: float
    width: float
    height: float
    title: str
    lines: tuple[str, ...] = ()
    kind: str = "code"

    def svg(self) -> str:
        middle = self.x + self.width / 2
        top = self.y + self.height / 2 - 8 * len(self.lines) + 5
        parts = [
            f"<rect x='{self.x}' y='{self.y}' width='{self.width}' height='{self.height}' rx='8' "
            f"fill='{FILLS[self.kind]}' stroke='{LINE}'/>",
            text(middle, top, self.title, size=15, weight="bold"),
        ]
        parts += [text(middle, top + 19 + 16 * n, line, size=12, fill=SOFT) for n, line in enumerate(self.lines)]
        return "\n".join(parts)


def text(x: float, y: float, words: str, *, size: int = 13, weight: str = "normal", fill: str = INK) -> str:
    return (
        f"<text x='{x}' y='{y}' text-anchor='middle' font-size='{size}' font-weight='{weight}' fill='{fill}' {FONT}>"
        f"{escape(words)}</text>"
    )


def arrow(*points: tuple[float, float], words: str = "", at: tuple[float, float] | None = None) -> str:
    way = " ".join(f"{x},{y}" for x, y in points)
    line = f"<polyline points='{way}' fill='none' stroke='{ACCENT}' stroke-width='2' marker-end='url(#head)'/>"
    return line + (text(*at, words, size=12, fill=ACCENT) if at else "")


def page(width: int, height: int, parts: list[str]) -> str:
    head = (
        "<marker id='head' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='7' markerHeight='7' orient='auto'>"
        f"<path d='M0,0 L10,5 L0,10 z' fill='{ACCENT}'/></marker>"
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}'>\n"
        f"<defs>{head}</defs>\n<rect width='{width}' height='{height}' fill='{PAPER}'/>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def architecture() -> str:
    """The data's way through the folders of the package."""
    row, low = 40, 330
    boxes = [
        Box(20, row, 150, 96, "io", ("files in and out:", "jsonl, csv, json, …"), "data"),
        Box(215, row, 165, 96, "episodes", ("values, traces,", "labels of a step"), "data"),
        Box(425, row, 150, 96, "conflicts", ("is the reward", "Markov? witnesses")),
        Box(620, row, 200, 96, "learning", ("prefix tree, search,", "judge; engines/")),
        Box(865, row, 165, 96, "machine", ("triggers, rewards,", "δ, replay, words"), "data"),
        Box(865, low - 120, 165, 80, "product", ("S×U as tables,", "value iteration")),
        Box(620, low - 120, 200, 80, "pictures", ("machines, worlds,", "curves")),
        Box(20, low, 150, 96, "worlds", ("the paper's, grids,", "random; walks"), "data"),
        Box(215, low, 165, 96, "gym", ("environments,", "wrappers/"), "loop"),
        Box(425, low, 220, 96, "agents", ("tabular/: act, find conflicts,", "learn again; deep/"), "loop"),
        Box(690, low, 130, 96, "runs", ("a run as", "a folder"), "loop"),
        Box(865, low, 165, 96, "experiments", ("what to run, how,", "reports"), "loop"),
        Box(20, low + 140, 360, 58, "cli", ("the commands",)),
        Box(425, low + 140, 605, 58, "integrations", ("Stable-Baselines3, TensorBoard",)),
    ]
    arrows = [
        arrow((170, row + 48), (212, row + 48)),
        arrow((380, row + 48), (422, row + 48)),
        arrow((575, row + 48), (617, row + 48)),
        arrow((820, row + 48), (862, row + 48)),
        arrow((947, row + 96), (947, low - 123)),
        arrow((865, row + 80), (790, low - 123)),
        arrow((170, low + 48), (212, low + 48)),
        arrow((380, low + 34), (422, low + 34), words="step", at=(401, low + 27)),
        arrow((425, low + 64), (383, low + 64), words="action", at=(402, low + 82)),
        arrow((645, low + 48), (687, low + 48)),
        arrow((820, low + 48), (862, low + 48)),
        arrow((535, low), (535, low - 80), (297, low - 80), (297, row + 99), words="new episodes", at=(416, low - 88)),
        arrow(
            (720, row + 96),
            (720, row + 130),
            (575, row + 130),
            (575, low - 3),
            words="new machine",
            at=(645, row + 147),
        ),
    ]
    return page(1050, 560, [box.svg() for box in boxes] + arrows)


def search() -> str:
    """How a search uses engine and judge."""
    boxes = [
        Box(20, 40, 150, 80, "episodes", ("millions of steps",), "data"),
        Box(215, 40, 170, 80, "prefix tree", ("histories that can", "contradict each other"), "data"),
        Box(430, 40, 170, 80, "exemplars", ("the shortest few",), "data"),
        Box(645, 40, 210, 80, "engine", ("K states, z triggers:", "is there a machine?")),
        Box(645, 220, 210, 80, "judge", ("replays the machine", "on the whole tree")),
        Box(990, 40, 165, 80, "floors", ("what is proven", "impossible")),
        Box(990, 220, 165, 80, "best machine", ("optimal, when no floor", "is below it"), "data"),
    ]
    arrows = [
        arrow((170, 80), (212, 80)),
        arrow((385, 80), (427, 80)),
        arrow((600, 80), (642, 80)),
        arrow((750, 120), (750, 217), words="feasible: a machine", at=(820, 172)),
        arrow((855, 80), (987, 80), words="infeasible: a proof", at=(921, 71)),
        arrow((855, 260), (987, 260), words="explains all", at=(921, 251)),
        arrow((645, 260), (515, 260), (515, 123), words="it fails here: more exemplars", at=(515, 285)),
        arrow((1072, 120), (1072, 217)),
    ]
    return page(1175, 330, [box.svg() for box in boxes] + arrows)


def floors() -> str:
    """Sizes that proofs exclude, and the optimum: Officeworld e, acyclic, objective triggers."""
    parts = []
    left, top, cell = 120, 60, 56
    for states in range(1, 6):
        parts.append(text(left + (states - 0.5) * cell, top - 12, str(states), weight="bold"))
        for triggers in range(5):
            x, y = left + (states - 1) * cell, top + triggers * cell
            optimum, proven = (states, triggers) == (4, 3), states in (2, 3) and states - 1 <= triggers <= 3
            impossible = triggers < states - 1 or states == 1
            fill = "#c9ead9" if optimum else "#f6d5d0" if proven else "#eceff2" if impossible else PAPER
            parts.append(f"<rect x='{x}' y='{y}' width='{cell}' height='{cell}' fill='{fill}' stroke='{LINE}'/>")
            sign = "✓" if optimum else "✗" if proven else "–" if impossible else ""
            parts.append(text(x + cell / 2, y + cell / 2 + 6, sign, size=18, weight="bold" if optimum else "normal"))
    for triggers in range(5):
        parts.append(text(left - 18, top + (triggers + 0.5) * cell + 5, str(triggers), weight="bold"))
    parts.append(text(left + 2.5 * cell, 24, "states K", fill=SOFT))
    parts.append(text(48, top + 2.5 * cell, "triggers z", fill=SOFT))
    legend = [
        ("#eceff2", "cannot be: K > z + 1, or one state"),
        ("#f6d5d0", "proven infeasible"),
        ("#c9ead9", "feasible: the optimum"),
        (PAPER, "larger, not asked"),
    ]
    for n, (fill, words) in enumerate(legend):
        y = top + 40 + 40 * n
        parts.append(f"<rect x='460' y='{y}' width='24' height='24' fill='{fill}' stroke='{LINE}'/>")
        parts.append(text(494, y + 17, words).replace("text-anchor='middle'", "text-anchor='start'"))
    return page(760, 370, parts)


def main() -> None:
    for name, draw in (("architecture", architecture), ("search", search), ("floors", floors)):
        (HERE / f"{name}.svg").write_text(draw())
    runpy.run_path(str(HERE / "plane.py"), run_name="__main__")


if __name__ == "__main__":
    main()
