"""Pictures of machines: SVG and PNG by matplotlib, DOT and Mermaid as text."""

from __future__ import annotations

import io
import math
import warnings
from typing import TYPE_CHECKING, Any, Final

from markovize.io.files import atomic_write
from markovize.io.registry import AnyPath
from markovize.machine.machine import RewardMachine
from markovize.machine.summary import Arrow, arrows
from markovize.pictures.edges import smooth, touch
from markovize.pictures.formats import DRAWINGS
from markovize.pictures.layout import LEAD, LOOP, RADIUS, Layout, Point, Route, Size, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FONT: Final = 9.0
_LINE: Final = 0.165  # inches from line to line
_INK, _FILL, _LABEL = "#1f2d3d", "#e8f0fa", "#37474f"
# fixed, so that equal machines give equal bytes whatever the user's own settings are
_SETTINGS: Final[dict[Any, Any]] = {
    "svg.hashsalt": "markovize",
    "svg.fonttype": "path",
    "font.family": ["DejaVu Sans"],
    "path.simplify": False,
    "axes.unicode_minus": True,
    "text.usetex": False,
    "text.hinting": "force_autohint",
    "figure.dpi": 100.0,
    "savefig.bbox": None,
    "savefig.facecolor": "auto",
    "savefig.transparent": False,
}


def draw(machine: RewardMachine, path: AnyPath, *, format: str | None = None) -> None:
    """Draws the machine into a .svg, .png, .dot or .mmd file; equal machines give equal bytes.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw(RewardMachine("state", "state", 1), pathlib.Path(folder, "machine.svg"))
    ...     pathlib.Path(folder, "machine.svg").read_text()[:5]
    '<?xml'
    """
    DRAWINGS.writer(DRAWINGS.choose(path, format))(path, machine)


def write_svg(path: AnyPath, machine: RewardMachine) -> None:
    """Writes the picture as SVG."""
    atomic_write(path, picture(machine, "svg"))


def write_png(path: AnyPath, machine: RewardMachine) -> None:
    """Writes the picture as PNG."""
    atomic_write(path, picture(machine, "png"))


def picture(machine: RewardMachine, kind: str) -> bytes:
    """The bytes of an SVG or PNG picture."""
    import matplotlib

    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # letters that the font lacks become boxes; that is plain to see and no reason for a warning each
        warnings.filterwarnings("ignore", message="Glyph")
        figure = figure_of(machine)
        out = io.BytesIO()
        if kind == "svg":
            figure.savefig(out, format="svg", metadata={"Date": None, "Creator": "markovize"})
        else:
            # pictures of many rows would otherwise become larger than viewers like
            dpi = min(160.0, 12_000 / max(figure.get_size_inches()))
            figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()


def figure_of(machine: RewardMachine) -> Figure:
    """A matplotlib figure of the machine, without pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    everything = [_broken(arrow) for arrow in arrows(machine)]
    loops = {arrow.source: arrow for arrow in everything if arrow.source == arrow.target}
    others = [arrow for arrow in everything if arrow.source != arrow.target]
    layout = place(
        machine.states,
        machine.initial,
        {state: _size(arrow) for state, arrow in loops.items()},
        [(arrow.source, arrow.target, _size(arrow)) for arrow in others],
    )
    figure = Figure(figsize=(layout.width, layout.height), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, layout.width)
    axes.set_ylim(0, layout.height)
    axes.set_axis_off()
    for arrow, route in zip(others, layout.routes, strict=True):
        _arrow(axes, layout, arrow, route)
    for state, arrow in loops.items():
        _loop(axes, layout.states[state], arrow)
    for state, centre in enumerate(layout.states):
        _state(axes, centre, str(state))
    x, y = layout.states[machine.initial]
    _line(axes, [(x - RADIUS - LEAD, y), (x - RADIUS, y)], [1, 2])
    return figure


def _broken(arrow: Arrow) -> Arrow:
    """Long lines take two: narrow labels keep a picture narrow."""
    most = 26 if arrow.source == arrow.target else 36
    lines: list[str] = []
    for line in arrow.lines:
        before, mark, reward = line.rpartition(": reward ")
        lines += [before + ":", "reward " + reward] if mark and len(line) > most else [line]
    return Arrow(arrow.source, arrow.target, tuple(lines))


def _size(arrow: Arrow) -> Size:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(family=["DejaVu Sans"])
    # a path of the text has its width to the point, with no renderer asked
    widths = [
        TextPath((0, 0), line, size=_FONT, prop=font, usetex=False).get_extents().width
        for line in map(_plain, arrow.lines)
    ]
    return Size(max(widths) / 72 + 0.1, len(arrow.lines) * _LINE)


def _plain(line: str) -> str:
    """Without the dollar signs that would start a formula."""
    return line.replace("$", r"\$")


def _state(axes: Axes, centre: Point, name: str) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle(centre, RADIUS, facecolor=_FILL, edgecolor=_INK, linewidth=1.3, zorder=3))
    axes.text(*centre, name, ha="center", va="center_baseline", fontsize=11, color=_INK, zorder=4, weight="bold")


def _arrow(axes: Axes, layout: Layout, arrow: Arrow, route: Route) -> None:
    points = list(route.points)
    points[0] = touch(layout.states[arrow.source], points[1])
    points[-1] = touch(layout.states[arrow.target], points[-2])
    vertices, codes = smooth(points) if route.smooth else _rounded(points)
    _line(axes, vertices, codes)
    _label(axes, arrow, (route.label[0], route.label[1] + 0.05))


def _loop(axes: Axes, centre: Point, arrow: Arrow) -> None:
    x, y = centre
    out, rise = RADIUS * math.cos(math.radians(60)), RADIUS * math.sin(math.radians(60))
    top = y + RADIUS + LOOP * 1.05
    _line(axes, [(x - out, y + rise), (x - 2.6 * out, top), (x + 2.6 * out, top), (x + out, y + rise)], [1, 4, 4, 4])
    _label(axes, arrow, (x, y + RADIUS + LOOP * 0.82))


def _label(axes: Axes, arrow: Arrow, bottom: Point) -> None:
    for number, line in enumerate(reversed(arrow.lines)):
        height = bottom[1] + number * _LINE
        axes.text(bottom[0], height, _plain(line), ha="center", va="bottom", fontsize=_FONT, color=_LABEL, zorder=5)


def _line(axes: Axes, vertices: list[Point], codes: list[int]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    axes.add_patch(
        FancyArrowPatch(
            path=Path(vertices, codes),
            arrowstyle="-|>",
            mutation_scale=11,
            linewidth=1.1,
            color=_INK,
            zorder=2,
            shrinkA=0,
            shrinkB=0,
            joinstyle="round",
            capstyle="round",
        )
    )


def _rounded(points: list[Point]) -> tuple[list[Point], list[int]]:
    """Straight lines with round corners."""
    vertices, codes = [points[0]], [1]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        for near, code in ((before, 2), (after, 3)):
            length = math.dist(corner, near) or 1.0
            part = min(0.16, length / 2) / length
            point = (corner[0] + (near[0] - corner[0]) * part, corner[1] + (near[1] - corner[1]) * part)
            if code == 3:
                vertices.append(corner)
                codes.append(3)
            vertices.append(point)
            codes.append(code)
    return [*vertices, points[-1]], [*codes, 2]
