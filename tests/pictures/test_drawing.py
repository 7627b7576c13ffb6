"""Pictures: nothing overlaps, nothing is cut off, equal machines give equal bytes."""

from __future__ import annotations

import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.transforms import BboxBase

from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import Emission, RewardMachine, Trigger
from markovize.pictures.layout import LOOP, RADIUS, Size, place
from markovize.pictures.machine import draw, figure_of

ALIKE = tuple((n, 2) for n in range(6))
QUIET = tuple(Emission(0, (99, n), 0, 0.0) for n in range(9))


def chain(states: int, kind: str = "state") -> RewardMachine:
    def label(n: int) -> Value:
        return (n, 1) if kind == "state" else ((n, 1), "right", (n + 1, 1))

    triggers = tuple(Trigger(n, label(n), n + 1, ALIKE[: n % 3]) for n in range(states - 1))
    return RewardMachine(kind, kind, states, triggers, (*QUIET, Emission(states - 1, "goal", states - 1, 1.0, True)))


MACHINES = {
    "one": RewardMachine("state", "state", 1),
    "chain4": chain(4),
    "chain11": chain(11, "transition"),
    "chain25": chain(25),
    "diamond": RewardMachine(
        "state",
        "state",
        4,
        (
            Trigger(0, "a", 1),
            Trigger(0, "b", 2),
            Trigger(0, "c", 1),
            Trigger(1, "b", 3),
            Trigger(2, "a", 3),
            Trigger(0, "$x$", 3),
            Trigger(0, "門", 3),
        ),
        (*QUIET, Emission(3, "goal with a rather long name", 3, 1.0, True), Emission(1, "goal", 1, 0.5)),
    ),
    "cycle": RewardMachine(
        "state", "state", 4, tuple(Trigger(n, n, (n + 1) % 4) for n in range(4)), (Emission(3, 3, 0, 1.0),)
    ),
    "pair": RewardMachine(
        "state", "state", 2, (Trigger(0, "a", 1), Trigger(1, "a rather long label to go back", 0)), QUIET
    ),
    "lost": RewardMachine("state", "state", 3, (Trigger(2, "a", 1),), QUIET, 1),
}


@pytest.mark.parametrize("name", MACHINES)
def test_equal_bytes_and_everything_inside(tmp_path: Path, name: str) -> None:
    machine = MACHINES[name]
    for ending in ("svg", "png"):
        draw(tmp_path / f"a.{ending}", machine)
        draw(tmp_path / "b", machine, format=ending.upper())
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / "b").read_bytes()
    ET.parse(tmp_path / "a.svg")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        figure = figure_of(machine)
        figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts]
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
    assert sum(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n] if _apart_enough(a, b)) == 0


def _apart_enough(a: BboxBase, b: BboxBase) -> bool:
    """Lines of one label may touch by a pixel or two; anything more is an overlap."""
    return bool(min(a.y1, b.y1) - max(a.y0, b.y0) > 4 and min(a.x1, b.x1) - max(a.x0, b.x0) > 4)


sizes = st.builds(Size, st.floats(0.2, 3.0), st.sampled_from([0.165, 0.33, 0.66]))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, int, dict[int, Size], list[tuple[int, int, Size]]]:
    states = draw(st.integers(1, 9))
    node = st.integers(0, states - 1)
    pairs = draw(st.sets(st.tuples(node, node).filter(lambda p: p[0] != p[1]), max_size=14))
    loops = draw(st.dictionaries(node, sizes, max_size=states))
    return states, draw(node), loops, [(u, v, draw(sizes)) for u, v in sorted(pairs)]


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_no_text_overlaps_another_or_a_state(
    graph: tuple[int, int, dict[int, Size], list[tuple[int, int, Size]]],
) -> None:
    states, initial, loops, edges = graph
    layout = place(states, initial, loops, edges)
    boxes = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in layout.states]
    for state, size in loops.items():
        x, y = layout.states[state]
        low = y + RADIUS + LOOP * 0.82
        boxes.append((x - size.width / 2, low, x + size.width / 2, low + size.height))
    for route, (_, _, size) in zip(layout.routes, edges, strict=True):
        x, y = route.label
        boxes.append((x - size.width / 2, y + 0.05, x + size.width / 2, y + 0.05 + size.height))
    for n, (x0, y0, x1, y1) in enumerate(boxes):
        assert x0 >= 0 and y0 >= 0 and x1 <= layout.width and y1 <= layout.height
        for a0, b0, a1, b1 in boxes[:n]:
            assert min(x1, a1) - max(x0, a0) < 1e-6 or min(y1, b1) - max(y0, b0) < 1e-6


def test_text_formats_and_unknown_ones(tmp_path: Path) -> None:
    draw(tmp_path / "a.dot", MACHINES["chain4"])
    draw(tmp_path / "a.mmd", MACHINES["chain4"])
    assert (tmp_path / "a.dot").read_text().startswith("digraph")
    assert (tmp_path / "a.mmd").read_text().startswith("stateDiagram-v2")
    with pytest.raises(InputError, match=r'the ending ".pdf" is unknown; known: \.svg, \.png, \.dot, \.mmd'):
        draw(tmp_path / "a.pdf", MACHINES["one"])
    with pytest.raises(InputError, match="the name has no ending"):
        draw(tmp_path / "a", MACHINES["one"])


def test_the_users_own_settings_change_nothing(tmp_path: Path) -> None:
    import matplotlib

    draw(tmp_path / "a.svg", MACHINES["cycle"])
    with matplotlib.rc_context(
        {"font.size": 30, "font.family": ["serif"], "svg.hashsalt": "x", "savefig.bbox": "tight"}
    ):
        draw(tmp_path / "b.svg", MACHINES["cycle"])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_importing_is_cheap() -> None:
    code = "import sys, markovize.pictures.machine; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_path_comes_first_and_the_other_order_still_works(tmp_path: Path) -> None:
    draw(tmp_path / "a.svg", MACHINES["cycle"])
    with pytest.deprecated_call(match=r"draw\(path, machine\)"):
        draw(MACHINES["cycle"], tmp_path / "b.svg")
    draw(machine=MACHINES["cycle"], path=tmp_path / "c.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes() == (tmp_path / "c.svg").read_bytes()
    with pytest.raises(InputError, match="draw needs a path and a machine, not str and str"):
        draw("a.svg", "b.svg")  # type: ignore[call-overload]
