"""From a result of learning to its certificate: what is stated, and what the search leaves behind that may help."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from markovize.certificate.checker import KINDS
from markovize.certificate.make import Certificate, Statement, make_certificate
from markovize.certificate.verify import labeller, lines_of
from markovize.episodes.labelling import Labelling, LabelOn, labelling_of
from markovize.episodes.labelling.function import FunctionLabelling
from markovize.episodes.traces import Episodes, Traces
from markovize.episodes.user_code import is_function_name, name_of_function
from markovize.errors import UnsupportedError
from markovize.learning.interrupts import interruptible
from markovize.learning.prefix_tree import PrefixTree

if TYPE_CHECKING:
    from markovize.learning.result import LearnResult

Positions = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a search leaves for a certificate: episodes, labels, exemplars, and the questions answered with no."""

    traces: Traces | None  # None where equal beginnings were merged: then the episodes must be given once more
    labels: tuple[LabelOn, LabelOn]
    counted: Positions = ()
    uncounted: Positions = ()
    questions: tuple[tuple[int, int | None], ...] = field(default=())


def positions(traces: Traces, tree: PrefixTree, nodes: Iterable[int]) -> Positions:
    """(episode, step) of the first history at each of these nodes of the tree."""
    return tuple(traces.locate(int(tree.first_step[node])) for node in nodes)


def certify(result: LearnResult, episodes: Episodes | None, time_limit: float | None) -> Certificate:
    """The certificate of a result; one line that begins with "not certified" where there is none."""
    machine, evidence = result.machine, result.evidence
    if machine is None or result.status != "optimal":
        why = f"the machine is not proven to be the smallest ({result.status})"
        raise UnsupportedError(f"not certified: {'there is no machine' if machine is None else why}")
    if machine.has_guards:
        raise UnsupportedError("not certified: certificates are for exact labels, and this machine has guards")
    if result.noise is not None and (result.noise.tolerance or result.noise.allowed):
        raise UnsupportedError("not certified: certificates are for exact rewards, without tolerance or outliers")
    if evidence is None:
        raise UnsupportedError("not certified: the machine was put together from parts that were learned apart")
    given = evidence.traces if episodes is None else episodes
    if given is None:
        raise UnsupportedError("not certified: the episodes came as a stream; give them to certificate() once more")
    labels = [labelling_of(on) for on in evidence.labels]
    names = [_name(labelling) for labelling in labels]
    functions = {
        name: labeller(labelling.function)
        for name, labelling in zip(names, labels, strict=True)
        if isinstance(labelling, FunctionLabelling) and labelling.function is not None
    }
    statement = Statement(
        machine.to_json(),
        result.objective,
        result.acyclic,
        result.explain,
        names[0],
        names[1],
        evidence.counted,
        evidence.uncounted,
        evidence.questions,
    )
    deadline = None if time_limit is None else time.monotonic() + time_limit
    with interruptible() as interrupt:

        def look() -> None:
            interrupt.raise_if_requested()
            if deadline is not None and time.monotonic() > deadline:
                raise UnsupportedError("not certified: the time limit was reached; allow more time")

        return make_certificate(statement, lines_of(given), functions, look)


def _name(labelling: Labelling) -> str:
    """The kind of labels, or ``module:function``, by which whoever checks the certificate finds the function."""
    if not isinstance(labelling, FunctionLabelling):
        if labelling.kind not in KINDS:
            raise UnsupportedError(f"not certified: the checker does not know labels of the kind {labelling.kind!r}")
        return labelling.kind
    name = "" if labelling.function is None else name_of_function(labelling.function)
    if not is_function_name(name):
        raise UnsupportedError(
            f"not certified: labels come from the function {name}, which others cannot import; put it into a module"
        )
    return name
