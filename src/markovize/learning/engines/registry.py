"""The engines by name: a new one is a file and a line in :data:`ENGINES`. None is loaded before it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from markovize.errors import InputError
from markovize.learning.engines.base import Engine

AUTO: Final = "auto"
NONE: Final = "none"
DEFAULT: Final = "sat"

ENGINES: Final[dict[str, str]] = {  # name: where to find what makes it
    "sat": "markovize.learning.engines.sat:SatEngine",
    "ilp": "markovize.learning.engines.ilp:IlpEngine",
    "ilp-gurobi": "markovize.learning.engines.ilp:gurobi_engine",
    "exhaustive": "markovize.learning.engines.exhaustive:ExhaustiveEngine",
}


def engine_names() -> tuple[str, ...]:
    """What an option that chooses an engine may be.

    >>> engine_names()
    ('auto', 'sat', 'ilp', 'ilp-gurobi', 'exhaustive')
    """
    return (AUTO, *ENGINES)


def find_engine(engine: str | Engine) -> Engine:
    """The engine with this name, or the engine itself.

    >>> find_engine("auto").name
    'sat'
    """
    if not isinstance(engine, str):
        return engine
    name = DEFAULT if engine == AUTO else engine
    if name not in ENGINES:
        raise InputError(f"there is no engine {name!r}; choose one of {', '.join(engine_names())}")
    module, _, maker = ENGINES[name].partition(":")
    made: Engine = getattr(import_module(module), maker)()
    return made


def find_auditor(audit: str | Engine, engine: Engine) -> Engine | None:
    """The engine that decides again whatever ``engine`` calls infeasible; None for ``none``.

    ``auto`` believes the engines of :data:`ENGINES`, which the tests hold against each other, and has any other audited
    by the default one.

    >>> ours = find_engine("ilp")
    >>> find_auditor("auto", ours) is None, find_auditor("sat", ours).name
    (True, 'sat')
    """
    if audit == NONE:
        return None
    if audit == AUTO:
        known = engine.name in ENGINES and type(engine) is type(find_engine(engine.name))
        return None if known else find_engine(DEFAULT)
    return find_engine(audit)
