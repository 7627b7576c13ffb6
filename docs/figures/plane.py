"""The picture of the tutorial on guards: regions that were found over walks in the plane, and the machine beside them.

The world is the one of the page, read from there, so that page and picture cannot differ.
"""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import markovize
from markovize.episodes.features import Guard
from markovize.machine.replay import run
from markovize.pictures.machine import picture
from markovize.pictures.style import INK, LABEL, encode, fixed_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAGE = Path(__file__).parents[1] / "tutorial-guards.md"
WALKS, SHOWN = 300, 8
TYPICAL = 45  # steps of the walks that are shown
BEFORE, AFTER, PAID = "#9aa5b1", "#3a9d6e", "#c0392b"
REGIONS = (("#2b6cb0", "state 0 → 1"), ("#b7791f", "pays in state 1"))


def plane_picture() -> bytes:
    """Two panels as PNG."""
    with tempfile.TemporaryDirectory() as folder:
        world = _world(Path(folder))
        file = Path(folder, "walks.jsonl")
        world.record(file, range(WALKS))
        traces = markovize.read_episodes(file)
    machine = markovize.learn(traces, trigger_on="guards").unwrap()
    return _panels(traces, machine)


def _world(folder: Path) -> ModuleType:
    found = re.search(r":caption: plane\.py\n\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None, f"{PAGE} has no plane.py"
    file = folder / "plane.py"
    file.write_text(found[1])
    spec = importlib.util.spec_from_file_location("plane_of_tutorial", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _panels(traces: markovize.Traces, machine: markovize.RewardMachine) -> bytes:
    import io

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.image import imread

    with fixed_style():
        figure = Figure(figsize=(10.4, 4.4), facecolor="white")
        FigureCanvasAgg(figure)
        left = figure.add_axes((0.05, 0.1, 0.37, 0.82))
        right = figure.add_axes((0.45, 0.28, 0.54, 0.5))
        _draw_walks(left, traces, machine)
        trigger, reward = machine.triggers[0].on, machine.reward_guards[0]
        for guard, (colour, words) in zip((trigger, reward), REGIONS, strict=True):
            assert isinstance(guard, Guard)
            _draw_region(left, guard, colour, words)
        left.set(xlim=(0, 10), ylim=(0, 10), aspect="equal")
        left.set_xlabel("x", color=LABEL)
        left.set_ylabel("y", color=LABEL)
        left.tick_params(labelsize=8, colors=LABEL)
        right.imshow(imread(io.BytesIO(picture(machine, "png"))), interpolation="antialiased")
        right.set_axis_off()
        left.set_title(f"regions found in {len(traces):,} walks that nobody labelled", fontsize=10, color=INK)
        figure.text(0.72, 0.94, "the smallest machine that explains every reward", fontsize=10, color=INK, ha="center")
        _draw_legend(figure)
        return encode(figure, "png", 120)


def _draw_legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Line2D([], [], color=BEFORE, lw=1.2, label="a walk in state 0"),
        Line2D([], [], color=AFTER, lw=1.2, label="in state 1"),
        Line2D([], [], color=PAID, marker="o", ms=3.5, lw=0, label="a paid step"),
        Patch(facecolor=REGIONS[0][0], alpha=0.45, label="gap: the side could lie here as well"),
    ]
    figure.legend(
        handles=handles, loc="center", bbox_to_anchor=(0.72, 0.15), ncols=2, fontsize=9, frameon=False, labelcolor=LABEL
    )


def _draw_walks(axes: Axes, traces: markovize.Traces, machine: markovize.RewardMachine) -> None:
    """Some walks that were paid, in the colour of the machine's state; dots are all the steps that were."""
    after = run(machine, traces).after
    paid = [e for e in range(len(traces)) if sum(traces.episode(e).rewards) > 0]
    for e in sorted(paid, key=lambda e: abs(traces.episode(e).steps - TYPICAL))[:SHOWN]:
        seen: list[Any] = list(traces.episode(e).observations)
        states = [0, *after[traces.offsets[e] : traces.offsets[e + 1]].tolist()]
        for n in range(1, len(seen)):
            xs, ys = ([at[name] for at in seen[n - 1 : n + 1]] for name in "xy")
            axes.plot(xs, ys, color=AFTER if states[n] else BEFORE, linewidth=0.8, alpha=0.7, zorder=1 + states[n])
    ends = [traces.episode(e).observations[-1] for e in paid]
    axes.scatter([at["x"] for at in ends], [at["y"] for at in ends], s=7, color=PAID, zorder=4, linewidths=0)


def _draw_region(axes: Axes, guard: Guard, colour: str, words: str) -> None:
    from matplotlib.patches import Rectangle

    sides = {(literal.feature, literal.relation): literal for literal in guard}
    x, y = ((sides[name, "at_least"].threshold, sides[name, "below"].threshold) for name in "xy")
    axes.add_patch(Rectangle((x[0], y[0]), x[1] - x[0], y[1] - y[0], facecolor=colour, alpha=0.14, zorder=3))
    axes.add_patch(Rectangle((x[0], y[0]), x[1] - x[0], y[1] - y[0], fill=False, edgecolor=colour, lw=1.4, zorder=5))
    for (name, _), literal in sides.items():
        assert literal.gap is not None
        low, width = literal.gap[0], literal.gap[1] - literal.gap[0]
        corner, size = ((low, y[0]), (width, y[1] - y[0])) if name == "x" else ((x[0], low), (x[1] - x[0], width))
        along = Rectangle(corner, *size)
        along.set(facecolor=colour, alpha=0.32, zorder=5, linewidth=0)
        axes.add_patch(along)
    behind = {"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 1.5}
    at = sum(x) / 2, sum(y) / 2
    axes.text(*at, words, ha="center", va="center", fontsize=9, color=colour, weight="bold", zorder=6, bbox=behind)


if __name__ == "__main__":
    Path(__file__).with_suffix(".png").write_bytes(plane_picture())
