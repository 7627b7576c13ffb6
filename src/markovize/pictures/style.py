"""How every picture looks and is written: one set of colours, one set of matplotlib settings, one way to a file.

Equal content gives equal bytes: no dates, fixed names in SVG files, the user's own matplotlib settings left out.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1f2d3d"
"""Outlines and names."""
FILL: Final = "#e8f0fa"
"""Inside the states of a machine."""
LABEL: Final = "#37474f"
"""Words beside things."""

_FIXED: Final[dict[str, Any]] = {
    "svg.hashsalt": "markovize",
    "svg.fonttype": "path",
    "font.family": ["DejaVu Sans"],
}


@contextmanager
def fixed_style(settings: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Draw and write figures within this: matplotlib's defaults, our fixed settings, and these."""
    import matplotlib.style

    with matplotlib.style.context(["default", _FIXED | dict(settings or {})]):
        yield


def coloured_axes(text: str, frame: str) -> dict[str, Any]:
    """Settings for curves: axes without a frame above and to the right, words and lines in these colours."""
    return {
        "text.color": text,
        "axes.labelcolor": text,
        "axes.titlecolor": text,
        "axes.edgecolor": frame,
        "xtick.color": text,
        "ytick.color": text,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }


def add_grid(axes: Axes, colour: str) -> None:
    """Faint lines at the marks of the vertical axis, behind everything."""
    axes.grid(axis="y", color=colour, linewidth=0.8)
    axes.set_axisbelow(True)


def encode(figure: Figure, kind: str, dpi: float = 100.0) -> bytes:
    """The figure as an SVG or PNG file, without anything that would differ the next time."""
    metadata: dict[str, Any] = {"Date": None, "Creator": "markovize"} if kind == "svg" else {"Software": None}
    out = io.BytesIO()
    figure.savefig(out, format=kind, dpi=dpi, metadata=metadata)
    return out.getvalue()
