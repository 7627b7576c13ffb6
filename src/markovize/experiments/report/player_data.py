"""What the page's player needs to know: a greedy episode of each trial, its map and its machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from markovize.episodes.values import jsonable
from markovize.experiments.records import Finished, TrialRecord
from markovize.experiments.report.groups import group_name
from markovize.pictures.machine_svg import draw_machine
from markovize.pictures.world.icons import ICONS, shapes_svg

ICON: Final = 19.0  # half the size of an icon, of a cell's 60


def player_data(trials: Sequence[Finished]) -> str:
    """As JSON that can stand in a page: no tag can begin in it. Equal maps and machines are stored once."""
    views: dict[str, int] = {}
    machines: dict[str, int] = {}
    rows = [_playable(record, views, machines) for record, _ in trials]
    first = max(range(len(trials)), key=lambda n: (bool(trials[n][0].optimal), trials[n][0].states, -n))
    data = {
        "first": first,
        "trials": rows,
        "views": [json.loads(view) for view in views],
        "icons": _icons(trials),
        "machines": list(machines),
    }
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _icons(trials: Sequence[Finished]) -> dict[str, Any]:
    """The pictures of the landmarks on all maps."""
    names = {mark.name for record, _ in trials if record.view is not None for mark in record.view.landmarks}
    return {
        name: {"svg": shapes_svg(icon.shapes, ICON), "captioned": icon.captioned}
        for name, icon in ICONS.items()
        if name in names
    }


def _playable(record: TrialRecord, views: dict[str, int], machines: dict[str, int]) -> dict[str, Any]:
    view = None
    if record.view is not None:
        view = views.setdefault(json.dumps(record.view.to_json(), separators=(",", ":")), len(views))
    drawing = draw_machine(record.machine, record.view).svg(style=False)
    episode = record.episode
    return {
        "group": group_name((record.task, record.variant)),
        "seed": record.seed,
        "optimal": record.optimal,
        "view": view,
        "machine": machines.setdefault(drawing, len(machines)),
        "triggers": [[t.source, jsonable(t.on)] for t in record.machine.triggers],
        "start": jsonable(episode.start),
        "state": episode.state,
        "steps": [[s.action, jsonable(s.observation), s.reward, s.state, s.fired] for s in episode.steps],
    }
