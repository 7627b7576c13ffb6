"""The page of an audit: one self-contained file with the verdict, the signatures, and the witness drawn.

What comes from an environment or a file is escaped by Jinja; ours are the style sheet and the machine's picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from markovize.cli.witness_picture import SidePicture, draw_side

if TYPE_CHECKING:
    from markovize.auditing.report import RewardReport

ENOUGH, TOO_LITTLE, NOT_NEEDED, UNKNOWN = "enough", "not enough", "not needed", "unknown"
BADGES: Final = {ENOUGH: " good", TOO_LITTLE: " bad", NOT_NEEDED: "", UNKNOWN: ""}
BASES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("nothing: the reward is constant", ()),
    ("s', the state that is entered", ("next_state",)),
    ("(s, a), the state that is left and the action", ("state", "action")),
    ("(s, a, s'), the whole step", ("state", "action", "next_state")),
)
BEYOND: Final = (
    ("and the step number", "time"),
    ("and what happened before in the episode", "history"),
    ("and earlier episodes", "previous-episodes"),
    ("and chance", "noise"),
)


@dataclass(frozen=True)
class SignatureRow:
    """One line of the table: what may determine the reward, and whether it does."""

    words: str
    answer: str

    @property
    def badge(self) -> str:
        return BADGES[self.answer]


def signature_rows(report: RewardReport) -> list[SignatureRow]:
    """What was tried, the smallest first.

    >>> from markovize import check_reward
    >>> rows = signature_rows(check_reward("FrozenLake-v1", steps=2_000))
    >>> [row.answer for row in rows][:3]
    ['not enough', 'enough', 'not needed']
    """
    rows = [*((words, "markov", base) for words, base in BASES), *((words, kind, None) for words, kind in BEYOND)]
    out, found = [], False
    for words, kind, base in rows:
        here = kind == report.verdict and base in (None, report.signature)
        answer = ENOUGH if here else NOT_NEEDED if found else TOO_LITTLE
        found = found or here
        out.append(SignatureRow(words, UNKNOWN if report.verdict == "not-testable" else answer))
    return out


def audit_page(report: RewardReport, replayed: tuple[float, float] | None = None) -> str:
    """The page as text; ``replayed``: what the witness paid when it was played again."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from markovize import __version__
    from markovize.machine.describe import describe

    style = files("markovize.experiments.report").joinpath("templates", "style.css").read_text("utf-8")
    environment = Environment(loader=PackageLoader("markovize.cli"), autoescape=True, undefined=StrictUndefined)
    picture = None if report.machine is None else report.machine._repr_svg_()
    page: str = environment.get_template("audit.html").render(
        style=Markup(style),
        report=report,
        rows=signature_rows(report),
        colour={"markov": "good", "not-testable": ""}.get(report.verdict, "bad"),
        compared="steps that came back" if report.given == "observation" else "restored states",
        sides=_sides(report),
        replayed=replayed,
        machine=[] if report.machine is None else describe(report.machine)[:12],
        picture=None if picture is None else Markup(picture[picture.index("<svg") :]),
        version=__version__,
    )
    return page


def _sides(report: RewardReport) -> list[dict[str, Any]]:
    if report.witness is None:
        return []
    sides = (report.witness.first, report.witness.second)
    pictures: list[SidePicture] = [draw_side(side) for side in sides]
    return [
        {"where": side.where, "reward": side.reward, "picture": picture}
        for side, picture in zip(sides, pictures, strict=True)
    ]
