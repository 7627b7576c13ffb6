"""Icons of landmarks: one source of shapes, drawn as pixels and as SVG."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from markovize.pictures.world.canvas import Canvas
from markovize.pictures.world.icons import ICONS, draw_icon, draw_shapes, shapes_svg
from markovize.worlds import FAMILIES, family
from markovize.worlds.shapes import SCENE, Words

SCENES = {name: scene for known in FAMILIES for name, scene in family(known).scenes.items()}


@pytest.mark.parametrize("name", ICONS)
def test_an_icon_fills_its_square_and_no_more(name: str) -> None:
    canvas = Canvas(100, 100, "#ff00ff")
    draw_icon(canvas, (50, 50), 60, ICONS[name])
    drawn = (np.asarray(canvas.shrink()) != (255, 0, 255)).any(axis=2)
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    assert 17 <= rows[0] < rows[-1] <= 82
    assert 17 <= columns[0] < columns[-1] <= 82
    assert drawn.mean() > 0.08


@pytest.mark.parametrize("name", ICONS)
def test_the_svg_has_an_element_for_each_shape_in_its_colour(name: str) -> None:
    icon = ICONS[name]
    root = ET.parse(io.StringIO(f"<svg>{shapes_svg(icon.shapes, 19)}</svg>")).getroot()
    assert len(root) == len(icon.shapes)
    for element, shape in zip(root, icon.shapes, strict=True):
        assert shape.colour in (element.get("fill"), element.get("stroke"))


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_fills_its_tile(name: str) -> None:
    canvas = Canvas(SCENE, SCENE, "#ff00ff")
    draw_shapes(canvas, SCENES[name], (0, 0), 1)
    assert ((np.asarray(canvas.shrink()) != (255, 0, 255)).any(axis=2)).mean() > 0.98


def test_words_are_escaped() -> None:
    assert "&lt;b&gt;" in shapes_svg([Words(0, 0, "<b>", 1, "#000000")], 10)
