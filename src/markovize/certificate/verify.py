"""``verify``: does a certificate hold for these episodes? The answer, and why not if it does not."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from markovize.certificate.checker import Refuter, check_certificate
from markovize.certificate.formula import Formula
from markovize.certificate.reading import Labeller, NotVerifiedError
from markovize.episodes.brief import BriefRepr
from markovize.episodes.traces import Episodes, as_traces
from markovize.episodes.user_code import function_of_user
from markovize.episodes.values import canonical, jsonable
from markovize.errors import InputError, MarkovizeError, one_line
from markovize.io import read_episodes

OWN: Final = "own"
TIME_LIMIT: Final = 600.0


@dataclass(frozen=True)
class Verification(BriefRepr):
    """Whether a certificate holds, and of what machine.

    >>> Verification(False, "the proof k2.drat is wrong").to_json()["verified"]
    False
    """

    verified: bool
    reason: str = ""  # why it is not verified
    states: int | None = None
    triggers: int | None = None
    claims: int | None = None
    objective: str | None = None
    options: Mapping[str, Any] | None = None  # trigger_on, reward_on, explain, acyclic
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.verified

    def to_json(self) -> dict[str, Any]:
        """As ``markovize verify --json`` prints it."""
        out: dict[str, Any] = {"verified": self.verified, "states": self.states, "triggers": self.triggers}
        out |= {"claims": self.claims, "seconds": round(self.seconds, 6)}
        if not self.verified:
            return out | {"reason": self.reason}
        return out | {"objective": self.objective, **(self.options or {})}

    def statement(self) -> str:
        """In one line, what is verified.

        >>> options = {"trigger_on": "state", "reward_on": "state", "explain": "reward", "acyclic": True}
        >>> Verification(True, "", 2, 1, 3, "triggers", options).statement()
        'fewest triggers of all machines without cycles that explain the reward, labels state/state'
        """
        said = self.options or {}
        cycles = "without cycles " if said.get("acyclic") else ""
        what = "the reward" if said.get("explain") == "reward" else "reward and termination"
        labels = f"labels {said.get('trigger_on')}/{said.get('reward_on')}"
        return f"fewest {self.objective} of all machines {cycles}that explain {what}, {labels}"


def verify(
    folder: str | Path,
    episodes: Episodes | str | Path,
    *,
    functions: Iterable[str] = (),
    checker: str = OWN,
    time_limit: float = TIME_LIMIT,
) -> Verification:
    """Whether a certificate holds for these episodes: the machine explains them, and no smaller one does.

    The formulas are made anew from the episodes, and every proof is checked, by programs that share nothing with those
    that learned the machine.

    Args:
        folder: the certificate.
        episodes: a ``.jsonl`` file, which the checker reads by itself; another file; or what ``learn`` takes.
        functions: ``module:function`` of the users' functions that labels come from. None is called that is not
            named here, whatever the certificate says.
        checker: what checks the proofs: ``own``, or the name of a program that is called with a formula and a proof and
            says ``s VERIFIED``, as ``drat-trim`` does.
        time_limit: seconds.

    >>> import tempfile
    >>> from markovize import learn
    >>> episodes = [([0, 1, 2], ["a", "b"], [0, 0]), ([0, 0, 2], ["a", "b"], [0, 1])]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     learn(episodes).certificate().save(folder)
    ...     print(verify(folder, episodes).verified, verify(folder, episodes[:1]).reason)
    True these are other episodes than those of the certificate
    """
    start = time.monotonic()
    if not Path(folder).is_dir():
        raise InputError("is no folder; a certificate is one, with a certificate.json in it", where=one_line(folder))
    known = {name: labeller(function_of_user(name)) for name in functions}
    refutes = _refuter(checker)
    try:
        found = check_certificate(Path(folder), lines_of(episodes), known, refutes, time_limit)
    except Exception as error:  # whatever a hostile certificate brings about, it is not verified
        if isinstance(error, (MarkovizeError, OSError)) and not isinstance(error, TimeoutError):
            raise
        reason = "out of time" if isinstance(error, TimeoutError) else _reason(error)
        return Verification(False, reason, seconds=time.monotonic() - start)
    return Verification(True, "", *found, time.monotonic() - start)


def _reason(error: Exception) -> str:
    return one_line(error if isinstance(error, NotVerifiedError) else f"{type(error).__name__}: {error}", 300)


def lines_of(episodes: Episodes | str | Path) -> Iterator[str | bytes]:
    """The episodes as JSON lines: those of a JSONL file as they are, those of any other file as markovize reads them.

    >>> list(lines_of([([0, 1], ["go"], [0.5])]))
    ['{"observations": [0, 1], "actions": ["go"], "rewards": [0.5], "terminated": false, "truncated": false}']
    """
    if isinstance(episodes, (str, Path)) and Path(episodes).suffix == ".jsonl":
        with Path(episodes).open("rb") as file:
            yield from file
        return
    for episode in read_episodes(episodes) if isinstance(episodes, (str, Path)) else as_traces(episodes):
        yield json.dumps(episode.to_json())


def labeller(function: Callable[..., Any]) -> Labeller:
    """The function, with values that the checker knows: whatever markovize takes for a label, as plain JSON."""
    return lambda s, a, t: jsonable(canonical(function(s, a, t)))


def _refuter(checker: str) -> Refuter:
    """What checks proofs."""
    if checker == OWN:
        return _refute
    program = shutil.which(checker)
    if program is None:
        raise InputError(f"there is no program {one_line(checker, 60)} to check proofs with; {OWN!r} needs none")
    return lambda formula, proof, deadline: _ask(program, formula, proof, deadline)


def _refute(formula: Formula, proof: bytes, deadline: float) -> bool:
    from markovize.certificate.rup import refutes  # compiled, and not every certificate has proofs

    return refutes(formula.clauses, formula.variables, proof, deadline)


def _ask(program: str, formula: Formula, proof: bytes, deadline: float) -> bool:
    """Another program's word, on copies of both files."""
    with tempfile.TemporaryDirectory() as folder:
        formula_file, proof_file = Path(folder, "formula.cnf"), Path(folder, "proof.drat")
        formula_file.write_bytes(formula.dimacs())
        proof_file.write_bytes(proof)
        left = max(1.0, deadline - time.monotonic())
        command = [program, str(formula_file), str(proof_file)]
        try:
            told = subprocess.run(command, capture_output=True, timeout=left, check=False).stdout
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
    return any(line.split() == [b"s", b"VERIFIED"] for line in told.splitlines())
