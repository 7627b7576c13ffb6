"""What notebooks show in place of a ``repr``: a small table, the machine's picture, a few notes.

Labels come from other people's files, so all text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markovize.machine.machine import RewardMachine

MOST_DRAWN: Final = 24  # states, and triggers twice as many: larger pictures cannot be read
MOST_NOTES: Final = 10
NOTE_LENGTH: Final = 200  # characters

_CARD: Final = """\
<div><b>{{ title }}</b>
<table>{% for name, value in rows %}<tr><th style="text-align:left">{{ name }}</th>\
<td style="text-align:left">{{ value }}</td></tr>{% endfor %}</table>
{% if picture %}{{ picture | safe }}{% endif %}
{% if notes %}<ul>{% for note in notes %}<li>{{ note }}</li>{% endfor %}</ul>{% endif %}
{% if more %}<p>… and {{ more }} more</p>{% endif %}</div>"""


def card(
    title: str, rows: Iterable[tuple[str, object]], notes: Sequence[str] = (), machine: RewardMachine | None = None
) -> str:
    """HTML for a notebook; of many notes the first ones.

    >>> "a &lt;b&gt; c" in card("result", [("label", "a <b> c")])
    True
    """
    from jinja2 import Environment

    picture = None if machine is None else machine._repr_svg_()
    shown = [note if len(note) <= NOTE_LENGTH else note[: NOTE_LENGTH - 1] + "…" for note in notes[:MOST_NOTES]]
    return (
        Environment(autoescape=True)
        .from_string(_CARD)
        .render(
            title=title,
            rows=list(rows),
            notes=shown,
            more=len(notes) - len(shown),
            picture=None if picture is None else picture[picture.index("<svg") :],
        )
    )
