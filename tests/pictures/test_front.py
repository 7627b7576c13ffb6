"""The picture of a front: names of machines can be read."""

from __future__ import annotations

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from markovize.learning.result import Choice
from markovize.pictures import front
from markovize.pictures.curves import LIGHT


def test_names_do_not_cover_each_other_and_the_one_that_is_taken_is_there() -> None:
    crowded = [Choice(0.0, outliers, 3, 2, 100.0 + outliers) for outliers in range(20)]
    figure = Figure(figsize=front.SIZE)
    FigureCanvasAgg(figure)
    front._draw(figure, crowded, (0.0, 19), LIGHT)
    names = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
    assert names[0].get_text() == "3, 2 taken" and len(names) > 2
    places = [name.get_window_extent() for name in names]
    assert not any(one.overlaps(other) for one, other in combinations(places, 2))
