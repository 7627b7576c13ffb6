"""The compiled checker of refutations: right proofs pass, wrong ones do not, whatever is in them."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from pysat.solvers import Solver

from markovize.certificate import rup
from markovize.certificate.rup import refutes

pytestmark = pytest.mark.kernels

Clauses = list[tuple[int, ...]]


def random_clauses(rng: np.random.Generator, variables: int, count: int) -> Clauses:
    sizes = rng.choice([1, 2, 3, 3, 3, 3], count)
    return [
        tuple(int(v) * int(rng.choice([-1, 1])) for v in rng.choice(variables, min(n, variables), replace=False) + 1)
        for n in sizes
    ]


def is_satisfiable(clauses: Clauses, variables: int) -> bool:
    return any(
        all(any(values[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses)
        for values in product([False, True], repeat=variables)
    )


def proof_of(clauses: Clauses) -> bytes:
    with Solver(name="glucose4", bootstrap_with=clauses, with_proof=True) as solver:
        assert not solver.solve()
        return "".join(f"{line}\n" for line in solver.get_proof()).encode()


def follows(clauses: list[list[int]], lemma: list[int]) -> bool:
    """Unit propagation, as plainly as it can be written."""
    true = {-x for x in lemma}
    if any(-x in true for x in true):
        return True
    while True:
        units = set()
        for clause in clauses:
            left = [x for x in clause if -x not in true]
            if not left:
                return True
            if len(set(left)) == 1 and left[0] not in true:
                units.add(left[0])
        if not units:
            return False
        true |= units
        if any(-x in true for x in units):
            return True


def plainly_refutes(clauses: Clauses, proof: bytes) -> bool:
    """The same as ``refutes``, where no line is a deletion."""
    there = [list(clause) for clause in clauses]
    for line in proof.decode().splitlines():
        lemma = [int(word) for word in line.split()[:-1]]
        if follows(there, []):
            return True
        if not follows(there, lemma):
            return False
        there.append(lemma)
    return follows(there, [])


def test_proofs_of_random_clauses() -> None:
    rng, refuted = np.random.default_rng(0), 0
    for _ in range(150):
        variables = int(rng.integers(3, 9))
        clauses = random_clauses(rng, variables, int(rng.integers(variables, 6 * variables)))
        if is_satisfiable(clauses, variables):
            assert not refutes(clauses, variables, b"0\n")
            continue
        refuted += 1
        assert refutes(clauses, variables, proof_of(clauses))
    assert refuted > 50


def test_no_proof_refutes_what_can_be_satisfied() -> None:
    """Lines at random, some of them lines that follow: the verdict is that of plain unit propagation."""
    rng, said = np.random.default_rng(1), []
    for _ in range(300):
        variables = int(rng.integers(2, 6))
        clauses = random_clauses(rng, variables, int(rng.integers(2, 5 * variables)))
        lemmas = random_clauses(rng, variables, int(rng.integers(0, 6)))
        proof = "".join(" ".join(map(str, (*lemma, 0))) + "\n" for lemma in lemmas).encode()
        said.append(refutes(clauses, variables, proof))
        assert said[-1] == plainly_refutes(clauses, proof)
        assert not (said[-1] and is_satisfiable(clauses, variables))
    assert 50 < sum(said) < 250


def test_deletions_are_honoured() -> None:
    clauses = [(1, 2), (1, -2), (-1, 2), (-1, -2)]
    assert refutes(clauses, 2, b"1 0\n0\n")
    assert not refutes(clauses, 2, b"d 2 1 0\n1 0\n0\n")
    assert not refutes([(1, 2, 3), *clauses[1:], (1, 2, -3)], 3, b"d 3 2 1 0\n1 0\n0\n")
    assert refutes([(1, 2, 3), *clauses[1:], (1, 2, -3)], 3, b"d 3 2 0\n1 2 0\n1 0\n0\n")  # no such clause


@pytest.mark.parametrize(
    "proof",
    [b"1", b"d d 1 0", b"1 x 0", b"-0\n", b"3 0\n", b"99999999999 0\n", b"1 d 0\n", b"\xff", b"1.5 0"],
)
def test_what_is_no_proof_refutes_nothing(proof: bytes) -> None:
    clauses = [(1, 2), (1, -2), (-1, 2), (-1, -2)]
    assert not refutes(clauses, 2, proof + b"\n1 0\n0\n")


def test_odd_clauses() -> None:
    assert refutes([()], 0, b"")
    assert refutes([(1,), (-1,)], 1, b"")
    assert not refutes([], 0, b"0\n")
    assert not refutes([(1, -1), (1, 1, 2)], 2, b"0\n")
    assert refutes([(1, 1, 2), (1, 1, -2), (-1, -1)], 2, b"1 -1 0\n1 0\n")


def test_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    clauses = random_clauses(rng, 60, 400)
    proof = proof_of(clauses)
    monkeypatch.setattr(rup, "SLICE", 50)
    assert refutes(clauses, 60, proof, time.monotonic() + 60)
    with pytest.raises(TimeoutError):
        refutes(clauses, 60, proof, time.monotonic() - 1)


def test_another_checker_agrees() -> None:
    """dratify, which shares no code with ours: on proofs as the solver wrote them, and with lines left out."""
    dratify = pytest.importorskip("dratify", reason="dratify is not installed")
    rng, said = np.random.default_rng(3), list[bool]()
    while len(said) < 60:
        clauses = random_clauses(rng, 12, 60)
        with Solver(name="glucose4", bootstrap_with=clauses) as solver:
            if solver.solve():
                continue
        lines = proof_of(clauses).splitlines()
        if lines and len(said) % 2:
            del lines[int(rng.integers(len(lines)))]
        proof = b"".join(line + b"\n" for line in lines)
        text = f"p cnf 12 {len(clauses)}\n" + "".join(" ".join(map(str, (*c, 0))) + "\n" for c in clauses)
        theirs = dratify.check_proof(dratify.parse_dimacs(text), proof.decode())
        said.append(refutes(clauses, 12, proof))
        assert said[-1] == (theirs.ok and theirs.reached_empty), (clauses, proof)
    assert sum(said) > 30
