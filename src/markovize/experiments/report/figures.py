"""Which figures a report has: a line for each, with its caption and the trials that it suits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished
from markovize.experiments.report.ablation_figure import ablation_figure
from markovize.experiments.report.groups import variants_in
from markovize.experiments.report.learning_figure import learning_figure
from markovize.experiments.report.returns_figure import returns_figure
from markovize.pictures.curves import Theme


class Draw(Protocol):
    """Draws a figure of some trials, as a PNG or SVG file."""

    def __call__(
        self,
        trials: Sequence[Finished],
        paper: Mapping[str, PaperValues] | None = None,
        *,
        kind: str = ...,
        theme: Theme = ...,
    ) -> bytes: ...


@dataclass(frozen=True)
class ReportFigure:
    """A figure: the name of its files, what is said below it, and whether some trials have it."""

    name: str
    draw: Draw
    suits: Callable[[Sequence[Finished]], bool]
    caption: str


def _are_trainings(trials: Sequence[Finished]) -> bool:
    """Whether all of these are trainings of deep agents."""
    return all("model" in record.settings for record, _ in trials)


FIGURES: Final = (
    ReportFigure(
        "returns",
        returns_figure,
        _are_trainings,
        "The mean return of the last 1,000 episodes, exploration included: mean and standard deviation over "
        "seeds, a line for each model. Diamonds are the paper's end values, after 50,000 episodes.",
    ),
    ReportFigure(
        "learning",
        learning_figure,
        lambda trials: not _are_trainings(trials),
        "From top to bottom: the mean return of the last 100 episodes, the number of machine states, that of "
        "exemplars, the cumulative solve time (logarithmic); mean and standard deviation over seeds.",
    ),
    ReportFigure(
        "ablation",
        ablation_figure,
        lambda trials: not _are_trainings(trials) and len(variants_in(trials)) > 1,
        "Each mark is a seed. Episodes are counted until the last machine was found, if that is the true one; "
        "seeds that ended with another machine are hollow, at the top.",
    ),
)


def figures_of(trials: Sequence[Finished]) -> list[ReportFigure]:
    """The figures that these trials have."""
    return [figure for figure in FIGURES if figure.suits(trials)]
