"""The experiments that have a name: the paper's, and the ablation that it argues for, each in three sizes.

A new one is a module with an :class:`~markovize.experiments.catalogue.entry.Entry` and its line in :data:`CATALOGUE`.
Modules are loaded when they are asked for, so that the command line can list the names at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

from markovize.errors import InputError

if TYPE_CHECKING:
    from markovize.experiments.catalogue.entry import Entry
    from markovize.experiments.spec import Experiment

CATALOGUE: Final[Mapping[str, str]] = {
    "exp1": "office",
    "exp2": "deep_office",
    "exp3": "breakfast",
    "ablation": "ablation",
}
"""Modules of this package, by the names of their experiments."""

PRESETS: Final = ("paper", "quick", "smoke")
"""The sizes of every experiment."""


def entry_of(name: str) -> Entry:
    """The entry of an experiment.

    >>> entry_of("exp1").presets["smoke"].episodes
    10000
    >>> entry_of("exp9")
    Traceback (most recent call last):
    markovize.errors.InputError: experiments are exp1, exp2, exp3, ablation, not 'exp9'
    """
    if name not in CATALOGUE:
        raise InputError(f"experiments are {', '.join(CATALOGUE)}, not {name!r}")
    entry: Entry = import_module(f"{__name__}.{CATALOGUE[name]}").ENTRY
    return entry


def experiment(
    name: str, preset: str = "paper", *, seeds: int | None = None, episodes: int | None = None, engine: str = "auto"
) -> Experiment:
    """One of these experiments; ``seeds`` and ``episodes`` override those of the preset.

    >>> exp1 = experiment("exp1")
    >>> exp1.title, [task.name for task in exp1.tasks], exp1.tasks[0].settings.patience
    ('Experiment 1: Officeworld', ['b', 'c', 'd', 'e'], 20000)
    """
    from markovize.experiments.catalogue.entry import Wanted

    make, presets = entry_of(name)
    if preset not in presets:
        raise InputError(f"presets are {', '.join(presets)}, not {preset!r}")
    size = presets[preset]
    episodes = episodes or size.episodes
    numbers = range(size.first, size.first + (seeds or size.seeds))
    return make(Wanted(name, size.tasks, numbers, episodes, max(size.max_wait, episodes), engine))
