"""However a certificate or its episodes are changed: nothing false is verified, and nothing crashes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from certificate_changes import Bundle, change, enlarge, forge, is_true
from instances import KINDS, random_steps

from markovize import Traces, learn, verify
from markovize.certificate import verify as verify_module
from markovize.certificate.formula import Formula
from markovize.certificate.make import solve_with_proof
from markovize.certificate.verify import lines_of

ALL = (*KINDS, ("transition", "state"), ("source", "transition"))
OBJECTIVES: tuple[Literal["triggers", "states"], ...] = ("triggers", "states")


@cache
def bundle(number: int) -> Bundle:
    """A certificate of a tiny instance, of which most need infeasible sizes."""
    rng = np.random.default_rng(number)
    kinds, acyclic = ALL[number % len(ALL)], bool(number % 2)
    traces = random_steps(rng, kinds=kinds, acyclic=acyclic, labels=2, episodes=7, length=5, actions=1, states=3)
    explain: Literal["reward", "reward+termination"] = "reward+termination" if number % 7 == 0 else "reward"
    options: dict[str, Any] = {"trigger_on": kinds[0], "reward_on": kinds[1]}
    result = learn(
        traces, objective=OBJECTIVES[number // 2 % 2], acyclic=acyclic, explain=explain, count_steps=True, **options
    )
    if result.status != "optimal" or (result.triggers or 0) > 4:
        return bundle(number + 1000)
    made = result.certificate()
    if number % 3 and len(made.fields["claims"]) < 3:
        return bundle(number + 1000)
    return Bundle(dict(made.fields), dict(made.files), [str(line) for line in lines_of(traces)])


def holds(changed: Bundle, folder: Path) -> bool:
    """Whether a changed certificate is verified; if so, it must be true."""
    changed.save(folder)
    episodes = folder.parent / "episodes.jsonl"
    episodes.write_text("\n".join(changed.lines) + "\n")
    report = verify(folder, episodes, time_limit=20)
    assert report.verified or report.reason
    json.dumps(report.to_json())
    if report.verified:
        assert is_true(changed), changed
    return report.verified


def try_changes(folder: Path, count: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    return sum(holds(change(bundle(n % 30), rng), folder / "certificate") for n in range(count))


def test_unchanged_certificates_hold(tmp_path: Path) -> None:
    for number in range(30):
        assert holds(bundle(number).copy(), tmp_path / "certificate")
    claims = [claim["claim"] for number in range(30) for claim in bundle(number).fields["claims"]]
    assert claims.count("infeasible") > 20 < claims.count("clique")


def test_changed_certificates(tmp_path: Path) -> None:
    verified = try_changes(tmp_path, 80, seed=0)
    assert verified < 40  # some changes change nothing that matters


@pytest.mark.long
def test_a_thousand_changed_certificates(tmp_path: Path) -> None:
    verified = try_changes(tmp_path, 1000, seed=1)
    assert 0 < verified < 400


def test_the_oracle_can_say_no() -> None:
    """What the changes are judged by is no rubber stamp."""
    wrong = bundle(0).copy()
    assert is_true(wrong)
    wrong.fields["machine"]["states"] += 1
    assert not is_true(wrong)


def test_what_only_the_check_of_proofs_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is right in these certificates but the proofs; a checker that believed those would verify what is false."""
    rng, forged = np.random.default_rng(5), []
    for number in range(10):
        forged.append(bundle(number).copy())
        forge(forged[-1], rng)
        forged[-1].recompute()
        assert not holds(forged[-1], tmp_path / "certificate")
    monkeypatch.setattr(verify_module, "_refute", lambda *_: True)
    for each in forged:
        with pytest.raises(AssertionError):
            holds(each, tmp_path / "certificate")


@pytest.mark.parametrize("with_state", [False, True])
def test_claims_that_are_true_but_not_enough(with_state: bool, tmp_path: Path) -> None:
    """A machine that is too large, and every claim about smaller ones that can be proven: some size is left open."""

    def prove(formula: Formula) -> bytes | None:
        found = solve_with_proof(formula, lambda: None)
        return found if isinstance(found, bytes) else None

    folder, claims = tmp_path / "certificate", 0
    for number in range(30):
        changed = bundle(number).copy()
        if changed.fields["machine"]["states"] > 1:
            enlarge(changed, with_state, prove)
            changed.recompute()
            claims += len(changed.fields["claims"]) - 1
            assert not holds(changed, folder)
            assert "no claim excludes machines with" in verify(folder, folder.parent / "episodes.jsonl").reason
    assert claims > 25


def test_a_larger_machine_is_not_certified() -> None:
    from markovize.certificate.make import Statement, make_certificate
    from markovize.errors import EngineError

    traces = Traces.of([([0, 1, 2], ["a", "b"], [0, 0]), ([0, 0, 2], ["a", "b"], [0, 1])])
    machine = learn(traces, trigger_on="state", reward_on="state").unwrap().to_json()
    machine["states"] = 3
    machine["triggers"].append({"from": 1, "on": 7, "to": 2})
    for objective in OBJECTIVES:
        with pytest.raises(EngineError, match="not the smallest"):
            make_certificate(Statement(machine, objective, False, "reward", "state", "state"), lines_of(traces), {})
