"""Certificates are made here: the checker's own formulas are asked anew, with proofs. Nothing here need be trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from markovize.certificate.checker import FORMAT, NAME, VERSION, smaller_sizes
from markovize.certificate.cliques import find_clique
from markovize.certificate.exemplars import ExemplarList, Position
from markovize.certificate.formula import Formula, Tree
from markovize.certificate.reading import Episodes, Labeller, NotVerifiedError, read_episodes
from markovize.episodes.brief import BriefRepr
from markovize.errors import EngineError, InputError, UnsupportedError, one_line

SOLVER: Final = "glucose4"
SLICE: Final = 5_000  # conflicts between two looks at the clock

Size = tuple[int, int | None]


@dataclass(frozen=True)
class Statement:
    """What is to be certified, and what the search left behind that may help.

    Exemplars and questions are only where to begin: nothing is believed of them.
    """

    machine: Mapping[str, Any]  # its JSON
    objective: str
    acyclic: bool
    explain: str
    trigger_on: str  # a kind of labels, or module:function
    reward_on: str
    counted: tuple[Position, ...] = ()  # exemplars of questions that count triggers
    uncounted: tuple[Position, ...] = ()  # those of others
    questions: tuple[Size, ...] = ()  # (K, z) that the search found to be infeasible; None: any number of triggers


@dataclass(frozen=True)
class Certificate(BriefRepr):
    """A certificate, ready to be saved: ``fields`` is ``certificate.json``, ``files`` are the files beside it.

    >>> from markovize import learn
    >>> made = learn([([0, 1, 2], ["a", "b"], [0, 0]), ([0, 0, 2], ["a", "b"], [0, 1])]).certificate()
    >>> made.fields["objective"], sorted(made.files)
    ('triggers', [])
    """

    fields: Mapping[str, Any]
    files: Mapping[str, bytes] = field(repr=False)

    def save(self, folder: str | Path) -> None:
        """Writes the folder, which is made if it is not there; one with other files in it is refused."""
        place = Path(folder)
        check_folder(place)
        place.mkdir(exist_ok=True)
        for name, content in self.files.items():
            (place / name).write_bytes(content)
        (place / NAME).write_text(json.dumps(self.fields, indent=1) + "\n", encoding="ascii")


def check_folder(folder: Path) -> None:
    """Fails before a long solve, not after it."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; a certificate is a folder", where=one_line(folder))
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError("is not empty; a certificate goes into a folder of its own", where=one_line(folder))
    if not folder.parent.is_dir():
        raise InputError(f"the folder {folder.parent} does not exist", where=one_line(folder))


def make_certificate(
    statement: Statement,
    lines: Iterable[str | bytes],
    functions: Mapping[str, Labeller],
    look: Callable[[], None] = lambda: None,
) -> Certificate:
    """The certificate of a statement about episodes, given as JSON lines; ``look`` is called often, and may raise."""
    labels = [functions.get(name, name) for name in (statement.trigger_on, statement.reward_on)]
    try:
        episodes = read_episodes(lines, *labels)
        return _Maker(statement, episodes, look).make()
    except NotVerifiedError as error:
        raise UnsupportedError(f"not certified: {error}") from None


class _Maker:
    """One certificate in the making."""

    def __init__(self, statement: Statement, episodes: Episodes, look: Callable[[], None]) -> None:
        self._statement, self._episodes, self._look = statement, episodes, look
        self._explain_ends = statement.explain != "reward"
        self._exemplars = ExemplarList(episodes, self._explain_ends)
        self._exemplars.add(statement.counted, counted=True)
        if any(triggers is None for _, triggers in self._questions()):
            self._exemplars.add((*statement.counted, *statement.uncounted), counted=False)
        self._proofs: dict[str, bytes] = {}  # by the sum of the formula

    def make(self) -> Certificate:
        claims, files = self._claim_all()
        statement = self._statement
        machine = {name: value for name, value in statement.machine.items() if name != "triggers"}
        triggers = [{name: each[name] for name in ("from", "on", "to")} for each in statement.machine["triggers"]]
        options = {"trigger_on": statement.trigger_on, "reward_on": statement.reward_on}
        fields = {
            "format": FORMAT,
            "version": VERSION,
            "machine": {**machine, "triggers": triggers},
            "objective": statement.objective,
            "options": options | {"explain": statement.explain, "acyclic": statement.acyclic},
            "episodes": self._episodes.digest,
            "exemplars": [list(position) for position in self._exemplars.positions],
            "claims": claims,
            "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        }
        return Certificate(fields, files)

    def _questions(self) -> list[Size]:
        """For each size that must be excluded, the question that the search answered, or the size itself."""
        states, triggers = self._statement.machine["states"], len(self._statement.machine["triggers"])
        out: list[Size] = []
        for k, z in smaller_sizes(self._statement.objective, states, triggers):
            if z is not None and z < k - 1:
                continue  # counting excludes it
            answered = [q for q in self._statement.questions if q[0] == k and _covers(q[1], z)]
            out.append(answered[0] if answered else (k, z))
        return out

    def _claim_all(self) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
        """All claims on the same exemplars: where one needs more of them, all are asked once more."""
        while True:
            before = self._exemplars.positions
            whole = self._tree(len(before))
            clique = find_clique(whole.apart)
            claims: list[dict[str, Any]] = [{"claim": "counting"}]
            if clique:
                claims.append({"claim": "clique", "histories": self._histories(whole, clique)})
            files: dict[str, bytes] = {}
            for states, triggers in self._questions():
                if states >= len(clique):
                    claims.append(self._exclude(states, triggers, files))
            if self._exemplars.positions == before:
                return claims, files

    def _exclude(self, states: int, triggers: int | None, files: dict[str, bytes]) -> dict[str, Any]:
        """A claim that there is no machine of this size; exemplars join until it is so."""
        while True:
            every = self._exemplars.positions
            few = len(every) if triggers is None else self._exemplars.counted
            alphabet = self._tree(len(every)).alphabet()
            formula = Formula(self._tree(few), alphabet, states, triggers, self._statement.acyclic)
            content = formula.dimacs()
            key = hashlib.sha256(content).hexdigest()
            if key not in self._proofs:
                proof = self._solve(formula, states, triggers)
                if proof is None:
                    continue
                self._proofs[key] = proof
            name = f"k{states}" + ("" if triggers is None else f"-z{triggers}")
            files |= {f"{name}.cnf": content, f"{name}.drat": self._proofs[key]}
            claim = {"claim": "infeasible", "states": states, "triggers": triggers, "exemplars": few}
            return claim | {"formula": f"{name}.cnf", "proof": f"{name}.drat"}

    def _solve(self, formula: Formula, states: int, triggers: int | None) -> bytes | None:
        """A refutation; None if there is a machine, and what it fails on joined the exemplars."""
        found = solve_with_proof(formula, self._look)
        if isinstance(found, bytes):
            return found
        true = set(found)
        delta = {
            (i, x): j
            for x, rows in formula.moves.items()
            for i, row in enumerate(rows)
            for j, variable in enumerate(row)
            if variable in true
        }
        wrong = self._exemplars.violations(delta)
        if not wrong:
            size = f"{states} states and {'any' if triggers is None else triggers} triggers"
            raise EngineError(f"a machine with {size} explains the episodes: the one learned is not the smallest")
        before = self._exemplars.positions
        self._exemplars.add(wrong, counted=triggers is not None)
        if self._exemplars.positions == before:
            raise EngineError("the checker's formula allows what its exemplars forbid; please report this as a bug")
        if triggers is not None and any(z is None for _, z in self._questions()):
            self._exemplars.add(wrong, counted=False)
        return None

    def _tree(self, exemplars: int) -> Tree:
        chosen = self._exemplars.positions[:exemplars]
        steps = self._episodes.steps
        return Tree([steps[episode][: t + 1] for episode, t in chosen], self._explain_ends, self._look)

    def _histories(self, tree: Tree, nodes: list[int]) -> list[list[int]]:
        """A position for each node; step -1 is before the first."""
        where: dict[int, list[int]] = {0: [0, -1]}
        for episode, t in self._exemplars.positions:
            node = 0
            for n, step in enumerate(self._episodes.steps[episode][: t + 1]):
                node = tree.child[node, step.trigger]
                where.setdefault(node, [episode, n])
        return [where[node] for node in nodes]


def _covers(most: int | None, triggers: int | None) -> bool:
    """Whether excluding at most ``most`` triggers excludes at most ``triggers``."""
    return most is None or (triggers is not None and triggers <= most)


def solve_with_proof(formula: Formula, look: Callable[[], None]) -> bytes | list[int]:
    """A refutation of the formula in the DRUP format, or a model; ``look`` is called now and then, and may raise."""
    from pysat.solvers import Solver

    with Solver(name=SOLVER, bootstrap_with=formula.clauses, with_proof=True) as solver:
        while True:
            look()
            solver.conf_budget(SLICE)
            found = solver.solve_limited(expect_interrupt=True)  # else PySAT handles Ctrl-C in its own way
            if found:
                return list(solver.get_model())
            if found is False:
                lines = list(solver.get_proof())
                if lines[-1:] != ["0"]:  # where the clauses alone do, Glucose writes nothing
                    lines.append("0")
                return "".join(f"{line}\n" for line in lines).encode("ascii")
