"""``learn --certificate`` and ``verify``: exit codes, JSON, and one clear line where something is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from in_process import run_here
from instances import coffee, two_coffees

import markovize


@pytest.fixture
def log(tmp_path: Path) -> Path:
    markovize.write_episodes(tmp_path / "log.jsonl", two_coffees())
    markovize.write_episodes(tmp_path / "log.csv", two_coffees())
    markovize.write_episodes(tmp_path / "other.jsonl", coffee())
    return tmp_path / "log.jsonl"


def test_from_episodes_to_verified(log: Path) -> None:
    folder = log.parent / "proof"
    learned = run_here("learn", log, "--certificate", folder, "--json")
    assert learned.code == 0, learned
    said = json.loads(learned.out)["certificate"]
    assert (said["folder"], said["claims"]) == (str(folder), 3)
    for episodes in (log, log.with_suffix(".csv")):
        ran = run_here("verify", folder, episodes, "--json")
        answer = json.loads(ran.out)
        assert ran.code == 0, ran
        assert answer.pop("seconds") > 0
        options = {"trigger_on": "state", "reward_on": "state", "explain": "reward", "acyclic": False}
        size = {"states": 2, "triggers": 2, "claims": 3}
        assert answer == {"verified": True, **size, "objective": "triggers", **options}
    assert "verified: 2 states, 2 triggers, 3 claims" in run_here("verify", folder, log).out


def test_what_is_not_verified_ends_with_one(log: Path) -> None:
    folder = log.parent / "proof"
    assert run_here("learn", log, "--certificate", folder).out.splitlines()[-1].startswith("certificate with 3 claims")
    other = run_here("verify", folder, log.with_name("other.jsonl"))
    assert (other.code, other.err) == (1, "")
    assert other.out.strip() == "not verified: these are other episodes than those of the certificate"
    (folder / "k2-z1.drat").write_text("1 0\n")
    changed = run_here("verify", folder, log, "--json")
    assert changed.code == 1
    assert json.loads(changed.out)["reason"] == "k2-z1.drat is not the file it should be"


def test_bad_use(log: Path) -> None:
    folder = log.parent / "proof"
    for args, why in (
        (["verify", folder, log], "is no folder"),
        (["learn", log, "--certificate", log], "is a file; a certificate is a folder"),
        (["learn", log, "--certificate", log.parent], "is not empty"),
        (["learn", log, "--certificate", folder, "--holdout", "0.5"], "leave out --holdout"),
        (["learn", log, "--certificate", folder, "--reward", "random"], "no bound is proven of random ones"),
        (["verify", log.parent, log.with_name("missing.jsonl")], "missing.jsonl"),
        (["verify", log.parent, log, "--function", "no_such_module:label"], "cannot import no_such_module"),
        (["verify", log.parent, log, "--checker", "no-such-checker"], "there is no program no-such-checker"),
    ):
        ran = run_here(*args)
        assert ran.code == 2, ran
        assert why in ran.err
        assert len(ran.err.splitlines()) == 1
    assert not folder.exists()


def test_no_proof_no_certificate(log: Path) -> None:
    folder = log.parent / "proof"
    markovize.write_episodes(log, markovize.Traces.of([([0, 1], ["go"], [0]), ([0, 1], ["go"], [1])]))
    ran = run_here("learn", log, "--certificate", folder)
    assert ran.code == 1
    assert "markovize: not certified: the machine is not proven (unrealisable)" in ran.err.splitlines()
    assert not folder.exists()


def test_what_cannot_be_certified_is_learned_and_told(log: Path) -> None:
    folder, machine = log.parent / "proof", log.parent / "machine.json"
    ran = run_here("learn", log, "--tolerance", "0.1", "--certificate", folder, "-o", machine)
    assert ran.code == 2
    assert ran.out.startswith("optimal: ") and machine.exists()
    assert ran.err == "markovize: not certified: certificates are for exact rewards, without tolerance or outliers\n"
    assert not folder.exists()


def test_functions_are_named_by_who_verifies(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(log.parent)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("ends_of_test.py").write_text("def end(state, action, next_state):\n    return next_state in (0, 4)\n")
    folder, name = log.parent / "proof", "ends_of_test:end"
    assert run_here("learn", log, "--trigger-on", name, "--reward-on", "state", "--certificate", folder).code == 0
    assert "a function that was not given" in run_here("verify", folder, log).out
    ran = run_here("verify", folder, log, "--function", name)
    assert (ran.code, ran.err) == (0, "")
    assert "verified: 2 states, 1 trigger" in ran.out
