"""Pictures of machines: SVG and PNG by matplotlib, DOT and Mermaid as text."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, overload

from markovize.errors import InputError
from markovize.io.files import atomic_write
from markovize.io.registry import AnyPath
from markovize.machine.machine import RewardMachine
from markovize.machine.summary import Arrow, arrows
from markovize.pictures.formats import DRAWINGS
from markovize.pictures.geometry import Line, place_machine
from markovize.pictures.layout import RADIUS, Point, Size
from markovize.pictures.style import FILL, INK, LABEL, encode, fixed_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from markovize.machine.support import Support

_FONT: Final = 9.0
_LINE: Final = 0.165  # inches from line to line
_DPI: Final = 160.0
_LARGEST: Final = 12_000  # pixels; viewers do not like larger pictures
_CORNER: Final = 0.16  # inches: how far from a corner its rounding begins
_WIDEST: Final = {True: 26, False: 36}  # letters on one line of a self-loop's label, and of another arrow's
_SETTINGS: Final = {"path.simplify": False, "text.hinting": "force_autohint"}


@overload
def draw(
    path: AnyPath, machine: RewardMachine, *, format: str | None = None, support: Sequence[Support] = ()
) -> None: ...


@overload
def draw(
    path: RewardMachine, machine: AnyPath, *, format: str | None = None, support: Sequence[Support] = ()
) -> None: ...


def draw(
    path: AnyPath | RewardMachine,
    machine: RewardMachine | AnyPath,
    *,
    format: str | None = None,
    support: Sequence[Support] = (),
) -> None:
    """Draws the machine into a .svg, .png, .dot or .mmd file; equal machines give equal bytes.

    With ``support``, as :func:`markovize.learn` counts it (``result.support``), each trigger says how many steps fired
    it and how many paid ones need it.

    The path comes first, as for :func:`markovize.write_machine`; the other order still works, and warns.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw(pathlib.Path(folder, "machine.svg"), RewardMachine("state", "state", 1))
    ...     pathlib.Path(folder, "machine.svg").read_text()[:5]
    '<?xml'
    """
    if isinstance(path, RewardMachine):
        warnings.warn("draw(machine, path) is deprecated: draw(path, machine)", DeprecationWarning, stacklevel=2)
        path, machine = machine, path
    if isinstance(path, RewardMachine) or not isinstance(machine, RewardMachine):
        raise InputError(f"draw needs a path and a machine, not {type(path).__name__} and {type(machine).__name__}")
    write = DRAWINGS.writer(DRAWINGS.choose(path, format))
    if support:
        write(path, machine, support)
    else:
        write(path, machine)


def write_svg(path: AnyPath, machine: RewardMachine, support: Sequence[Support] = ()) -> None:
    """Writes the picture as SVG."""
    atomic_write(path, picture(machine, "svg", support))


def write_png(path: AnyPath, machine: RewardMachine, support: Sequence[Support] = ()) -> None:
    """Writes the picture as PNG."""
    atomic_write(path, picture(machine, "png", support))


def picture(machine: RewardMachine, kind: str, support: Sequence[Support] = ()) -> bytes:
    """The bytes of an SVG or PNG picture."""
    with fixed_style(_SETTINGS), warnings.catch_warnings():
        # letters that the font lacks become boxes; that is plain to see and no reason for a warning each
        warnings.filterwarnings("ignore", message="Glyph")
        figure = figure_of(machine, support)
        dpi = min(_DPI, _LARGEST / max(figure.get_size_inches())) if kind == "png" else _DPI
        return encode(figure, kind, dpi)


def figure_of(machine: RewardMachine, support: Sequence[Support] = ()) -> Figure:
    """A matplotlib figure of the machine, without pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    labels = {(arrow.source, arrow.target): _break_lines(arrow) for arrow in arrows(machine, support)}
    placement = place_machine(machine, {pair: _size(lines) for pair, lines in labels.items()})
    figure = Figure(figsize=(placement.width, placement.height), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, placement.width)
    axes.set_ylim(0, placement.height)
    axes.set_axis_off()
    for pair, line in placement.arrows.items():
        _draw_line(axes, line)
        _draw_label(axes, labels[pair], line.label)
    for state, centre in enumerate(placement.states):
        _draw_state(axes, centre, str(state))
    _draw_line(axes, placement.start)
    return figure


def _break_lines(arrow: Arrow) -> list[str]:
    """Long lines take two: narrow labels keep a picture narrow."""
    most = _WIDEST[arrow.source == arrow.target]
    lines: list[str] = []
    for line in arrow.lines:
        before, mark, reward = line.rpartition(": reward ")
        lines += [before + ":", "reward " + reward] if mark and len(line) > most else [line]
    return [part for line in lines for part in _apart(line, most)]


def _apart(line: str, most: int) -> list[str]:
    """A long line, and what supports it on a line of its own."""
    before, mark, figures = line.rpartition(" (")
    return [before, f"({figures}"] if mark and figures.endswith(" paid)") and len(line) > most else [line]


def _size(lines: Sequence[str]) -> Size:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(family=["DejaVu Sans"])
    # a path of the text has its width to the point, with no renderer asked
    widths = [
        TextPath((0, 0), line, size=_FONT, prop=font, usetex=False).get_extents().width for line in map(_plain, lines)
    ]
    return Size(max(widths) / 72 + 0.1, len(lines) * _LINE)


def _plain(line: str) -> str:
    """Without the dollar signs that would start a formula."""
    return line.replace("$", r"\$")


def _draw_state(axes: Axes, centre: Point, name: str) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle(centre, RADIUS, facecolor=FILL, edgecolor=INK, linewidth=1.3, zorder=3))
    axes.text(*centre, name, ha="center", va="center_baseline", fontsize=11, color=INK, zorder=4, weight="bold")


def _draw_label(axes: Axes, lines: Sequence[str], bottom: Point) -> None:
    for number, line in enumerate(reversed(lines)):
        height = bottom[1] + number * _LINE
        axes.text(bottom[0], height, _plain(line), ha="center", va="bottom", fontsize=_FONT, color=LABEL, zorder=5)


def _draw_line(axes: Axes, line: Line) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    axes.add_patch(
        FancyArrowPatch(
            path=Path(*_round_corners(line)),
            arrowstyle="-|>",
            mutation_scale=11,
            linewidth=1.1,
            color=INK,
            zorder=2,
            shrinkA=0,
            shrinkB=0,
            joinstyle="round",
            capstyle="round",
        )
    )


def _round_corners(line: Line) -> tuple[list[Point], list[int]]:
    """Straight lines get round corners; curves have none."""
    points = line.vertices
    if 4 in line.codes:
        return list(points), list(line.codes)
    vertices, codes = [points[0]], [1]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        for near, code in ((before, 2), (after, 3)):
            length = math.dist(corner, near) or 1.0
            part = min(_CORNER, length / 2) / length
            point = (corner[0] + (near[0] - corner[0]) * part, corner[1] + (near[1] - corner[1]) * part)
            if code == 3:
                vertices.append(corner)
                codes.append(3)
            vertices.append(point)
            codes.append(code)
    return [*vertices, points[-1]], [*codes, 2]
