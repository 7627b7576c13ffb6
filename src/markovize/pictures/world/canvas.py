"""A canvas with soft edges: Pillow draws several times too large, and the picture is then reduced."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

from PIL import Image, ImageDraw, ImageFont

from markovize.pictures.style import INK

Point: TypeAlias = tuple[float, float]
Font: TypeAlias = ImageFont.FreeTypeFont | ImageFont.ImageFont

SCALE: Final = 3
PAPER, FLOOR, GRID, SOLID, DOOR = "#ffffff", "#f7f9fc", "#e1e8f1", "#b4c0cf", "#d9b98c"
AGENT, TRAIL = "#e8590c", "#f9b189"
CHIPS: Final = ("#3b6fb6", "#8250a8", "#2f8f6b", "#b5651d", "#2389a6", "#b03a6f", "#6b8e23", "#5b5ea6")


class Canvas:
    """Draws in pixels of the shrunk picture, whole or not.

    >>> canvas = Canvas(20, 10, "#000000")
    >>> canvas.disc((10, 5), 3, "#ffffff")
    >>> canvas.shrink().size, canvas.shrink().getpixel((10, 5))
    ((20, 10), (255, 255, 255))
    """

    def __init__(self, width: int, height: int, colour: str = PAPER, image: Image.Image | None = None) -> None:
        self.width, self.height = width, height
        self.image = image or Image.new("RGB", (width * SCALE, height * SCALE), colour)
        self._draw = ImageDraw.Draw(self.image)

    def copy(self, width: int, height: int) -> Canvas:
        """A canvas of this size that starts with this one's picture."""
        out = Canvas(width, height)
        out.image.paste(self.image)
        return out

    def shrink(self) -> Image.Image:
        """The picture at its own size."""
        return self.image.reduce(SCALE)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str, round: float = 0) -> None:
        """A filled rectangle, with round corners if asked for."""
        edges = (left * SCALE, top * SCALE, right * SCALE - 1, bottom * SCALE - 1)
        self._draw.rounded_rectangle(edges, radius=round * SCALE, fill=colour)

    def disc(self, centre: Point, radius: float, colour: str, rim: str | None = None, width: float = 0) -> None:
        """A filled circle, with a rim inside its edge if asked for."""
        self._draw.circle(self._at(centre), radius * SCALE, fill=rim or colour)
        if rim:
            self._draw.circle(self._at(centre), (radius - width) * SCALE, fill=colour)

    def oval(self, centre: Point, across: float, down: float, colour: str) -> None:
        """A filled ellipse of these half axes."""
        x, y = centre
        edges = [(x - across) * SCALE, (y - down) * SCALE, (x + across) * SCALE, (y + down) * SCALE]
        self._draw.ellipse(edges, fill=colour)

    def ring(self, centre: Point, radius: float, colour: str, width: float) -> None:
        """A circle's outline."""
        self._draw.circle(self._at(centre), radius * SCALE, outline=colour, width=round(width * SCALE))

    def line(self, points: Sequence[Point], colour: str, width: float) -> None:
        """A line with round ends and corners."""
        self._draw.line([self._at(p) for p in points], fill=colour, width=round(width * SCALE), joint="curve")
        for point in (points[0], points[-1]):
            self.disc(point, width / 2, colour)

    def shape(self, points: Sequence[Point], colour: str) -> None:
        """A filled polygon."""
        self._draw.polygon([self._at(p) for p in points], fill=colour)

    def text(
        self, at: Point, words: str, size: float, colour: str = INK, *, anchor: str = "mm", bold: bool = False
    ) -> None:
        """Words, centred unless the anchor (as Pillow names them) says otherwise."""
        self._draw.text(self._at(at), words, fill=colour, font=font(size * SCALE, bold), anchor=anchor)

    @staticmethod
    def _at(point: Point) -> Any:
        return (point[0] * SCALE, point[1] * SCALE)


def text_width(words: str, size: float, *, bold: bool = False) -> float:
    """How wide words become.

    >>> 10 < text_width("mm", 12) < 30
    True
    """
    return font(size * SCALE, bold).getlength(words) / SCALE


@lru_cache(maxsize=64)
def font(size: float, bold: bool) -> Font:
    """DejaVu Sans as it comes with matplotlib, in which machines are drawn too; or else Pillow's own."""
    found = find_spec("matplotlib")  # its folder; loading matplotlib would take longer than drawing
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    for folder in (found and found.submodule_search_locations) or []:
        path = Path(folder, "mpl-data", "fonts", "ttf", name)
        if path.is_file():
            return ImageFont.truetype(str(path), size)
    return ImageFont.load_default(size)
