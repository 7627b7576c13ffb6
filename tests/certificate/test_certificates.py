"""Certificates: every optimum of learning has one that holds, and what has none is told in one line."""

from __future__ import annotations

import ast
import json
import os
import sys
import tokenize
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from instances import KINDS, coffee, patrol, random_steps, two_coffees, walk

import markovize
from markovize import Feature, InputError, RewardMachine, Traces, UnsupportedError, learn, verify
from markovize.certificate import checker, formula, reading, rup
from markovize.certificate.verify import lines_of
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.engines.exhaustive import exhaustive_optimum
from markovize.learning.result import Noise

OBJECTIVES: tuple[Literal["triggers", "states"], ...] = ("triggers", "states")
PARTS = (reading, formula, checker)


def certify(traces: Traces, folder: Path, **options: Any) -> dict[str, Any]:
    """The certificate, saved and verified; its fields."""
    made = learn(traces, **options).certificate()
    made.save(folder)
    report = verify(folder, traces)
    assert report.verified, report
    machine = made.fields["machine"]
    assert (report.states, report.triggers) == (machine["states"], len(machine["triggers"]))
    assert report.claims == len(made.fields["claims"])
    return dict(made.fields)


def kinds_of(fields: dict[str, Any]) -> list[str]:
    return [claim["claim"] for claim in fields["claims"]]


def test_a_clique_and_counting_are_enough_for_coffee(tmp_path: Path) -> None:
    fields = certify(coffee(), tmp_path / "certificate")
    assert kinds_of(fields) == ["counting", "clique"]
    assert fields["files"] == {}


@pytest.mark.parametrize("acyclic", [False, True])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_sizes_that_need_a_proof(objective: str, acyclic: bool, tmp_path: Path) -> None:
    fields = certify(two_coffees(), tmp_path / "two", objective=objective, acyclic=acyclic)
    assert {"claim": "infeasible", "states": 2, "triggers": 1}.items() <= fields["claims"][-1].items()
    certify(patrol(3), tmp_path / "patrol", objective=objective, acyclic=acyclic)


def test_one_state_needs_nothing(tmp_path: Path) -> None:
    fields = certify(Traces.of([([0, 1], ["go"], [1]), ([0], [], [])]), tmp_path / "certificate")
    assert kinds_of(fields) == ["counting"]


@pytest.mark.parametrize("seed", range(12))
def test_random_instances(seed: int, tmp_path: Path) -> None:
    """What is verified is what exhaustive search finds."""
    kinds = (*KINDS, ("transition", "state"))[seed % 4]
    acyclic, objective = bool(seed // 2 % 2), OBJECTIVES[seed // 4 % 2]
    traces = random_steps(np.random.default_rng(seed), kinds=kinds, acyclic=acyclic, labels=2, episodes=6, length=5)
    labels = {"trigger_on": kinds[0], "reward_on": kinds[1]}
    fields = certify(traces, tmp_path / "c", objective=objective, acyclic=acyclic, count_steps=True, **labels)
    best = exhaustive_optimum(label_traces(traces, *kinds), objective, acyclic)
    assert (fields["machine"]["states"], len(fields["machine"]["triggers"])) == best


def test_how_episodes_end_is_certified_too(tmp_path: Path) -> None:
    traces = Traces.of([walk(1, 2, 2, ends=True), walk(1, 0, 2), walk(1, 0, 1, 2)])
    labels = {"trigger_on": "state", "reward_on": "state"}
    assert certify(traces, tmp_path / "rewards", **labels)["machine"]["states"] == 1
    fields = certify(traces, tmp_path / "ends", explain="reward+termination", **labels)
    assert fields["machine"]["states"] == 2


def test_labels_of_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("far_labels.py").write_text("def far(state, action, next_state):\n    return (next_state > 3, action)\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    go = ["a", "b"]
    traces = Traces.of([([0, 1, 2], go, [0, 0]), ([0, 5, 2], go, [0, 1]), ([0, 7, 2], go, [0, 1])])
    made = learn(traces, trigger_on="far_labels:far", reward_on="state").certificate()
    made.save("certificate")
    assert made.fields["options"]["trigger_on"] == "far_labels:far"
    assert verify("certificate", traces, functions=["far_labels:far"]).verified
    report = verify("certificate", traces)
    assert not report.verified
    assert report.reason == "the labels come from far_labels:far, a function that was not given"


def test_a_function_without_a_name_is_not_certified() -> None:
    def near(state: int, action: int, next_state: int) -> bool:
        return action < 3 < state or next_state == 0

    with pytest.raises(UnsupportedError, match="not certified: labels come from the function"):
        learn(coffee(), trigger_on=near, reward_on="state").certificate()


def test_what_is_not_certified() -> None:
    noisy = Traces.of([([0, 1], ["go"], [0]), ([0, 1], ["go"], [1])])
    result = learn(coffee())
    with pytest.raises(UnsupportedError, match="not certified: there is no machine"):
        learn(noisy).certificate()
    with pytest.raises(UnsupportedError, match="not certified: certificates are for exact rewards"):
        replace(result, noise=Noise(0.1, 0)).certificate()
    feature = Feature("here", "categorical")
    guarded = RewardMachine("guards", "state", 1, features=(feature,))
    with pytest.raises(UnsupportedError, match="not certified: certificates are for exact labels"):
        replace(result, machine=guarded).certificate()
    with pytest.raises(UnsupportedError, match="not certified: the machine was put together from parts"):
        replace(result, evidence=None).certificate()
    with pytest.raises(UnsupportedError, match=r"not certified: the machine is not proven .* \(feasible\)"):
        replace(result, status="feasible").certificate()
    with pytest.raises(UnsupportedError, match="not certified: the time limit was reached"):
        learn(two_coffees()).certificate(time_limit=1e-9)
    with pytest.raises(UnsupportedError, match="not certified: the episodes came as a stream"):
        assert result.evidence is not None
        replace(result, evidence=replace(result.evidence, traces=None)).certificate()


def test_episodes_that_were_merged_as_they_came(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "log.parquet"
    markovize.write_episodes(path, two_coffees())
    result = learn(markovize.stream_episodes(path))
    result.certificate(two_coffees()).save(tmp_path / "certificate")
    assert verify(tmp_path / "certificate", two_coffees()).verified


def test_what_search_left_behind_is_not_believed(tmp_path: Path) -> None:
    """Without exemplars and questions of the search, the maker finds its own."""
    result = learn(two_coffees())
    assert result.evidence is not None
    bare = replace(result.evidence, counted=(), uncounted=(), questions=())
    replace(result, evidence=bare).certificate().save(tmp_path / "certificate")
    assert verify(tmp_path / "certificate", two_coffees()).verified


def test_folders_with_something_in_them_are_not_written_over(tmp_path: Path) -> None:
    made = learn(coffee()).certificate()
    made.save(tmp_path / "certificate")
    with pytest.raises(InputError, match="is not empty"):
        made.save(tmp_path / "certificate")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        made.save(tmp_path / "file")
    with pytest.raises(InputError, match="does not exist"):
        made.save(tmp_path / "no" / "folder")


def test_names_of_files_lead_nowhere_else(tmp_path: Path) -> None:
    made = learn(two_coffees()).certificate()
    made.save(tmp_path / "certificate")
    secret = tmp_path / "secret.cnf"
    secret.write_bytes(b"p cnf 0 0\n")
    text = (tmp_path / "certificate" / "certificate.json").read_text()
    name = next(iter(made.files))
    for other in ("../secret.cnf", str(secret), ".hidden", "a/b", "..", "x" * 200, ""):
        (tmp_path / "certificate" / "certificate.json").write_text(text.replace(f'"{name}"', json.dumps(other)))
        assert "odd name" in verify(tmp_path / "certificate", two_coffees()).reason
    (tmp_path / "certificate" / "certificate.json").write_text(text)
    (tmp_path / "certificate" / name).unlink()
    (tmp_path / "certificate" / name).symlink_to(secret)
    assert "there is no file" in verify(tmp_path / "certificate", two_coffees()).reason
    (tmp_path / "certificate" / name).unlink()
    os.mkfifo(tmp_path / "certificate" / name)
    assert "there is no file" in verify(tmp_path / "certificate", two_coffees()).reason


def test_time_limits_hold(tmp_path: Path) -> None:
    learn(two_coffees()).certificate().save(tmp_path / "certificate")
    assert verify(tmp_path / "certificate", two_coffees(), time_limit=1e-9).reason == "out of time"


def test_another_program_may_check_the_proofs(tmp_path: Path) -> None:
    learn(two_coffees()).certificate().save(tmp_path / "certificate")
    for says, verified in (("s VERIFIED", True), ("s NOT VERIFIED", False), ("c s VERIFIED", False)):
        program = tmp_path / "checker"
        program.write_text(f"#!/bin/sh\nhead -1 $1 | grep -q 'p cnf' && test -s $2 && echo '{says}'\n")
        program.chmod(0o755)
        assert verify(tmp_path / "certificate", two_coffees(), checker=str(program)).verified is verified
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    slow = verify(tmp_path / "certificate", two_coffees(), checker=str(program), time_limit=1)
    assert slow.reason == "out of time"
    with pytest.raises(InputError, match="no program no-such-checker"):
        verify(tmp_path / "certificate", two_coffees(), checker="no-such-checker")


def test_there_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        verify(tmp_path / "nothing", coffee())
    assert "there is no file certificate.json" in verify(tmp_path, coffee()).reason


def test_labels_compare_by_their_json_value() -> None:
    values = [0, 1, True, False, "1", "", [1], [True], [[1]], [], 0.5, -1, 10**20, 1e300, "é", [1, "1"]]
    texts = [reading.text_of(value) for value in values]
    assert len(set(texts)) == len(values)
    assert [json.loads(text) for text in texts] == values
    for one, other in ((1, 1.0), (0, -0.0), ([2, 3], (2.0, 3)), (10**20, 1e20)):
        assert reading.text_of(one) == reading.text_of(other)


@pytest.mark.parametrize(
    "line",
    [
        '{"observations": [0, null], "actions": [1], "rewards": [0]}',
        '{"observations": [0, {}], "actions": [1], "rewards": [0]}',
        '{"observations": [0, 1], "actions": [1], "rewards": [NaN]}',
        '{"observations": [0, 1], "actions": [1], "rewards": [1e999]}',
        '{"observations": [0, 1], "actions": [1], "rewards": [true]}',
        '{"observations": [0, 1], "actions": [1], "rewards": [1], "rewards": [0]}',
        '{"observations": [0, 1], "actions": [1], "rewards": []}',
        '{"observations": [0], "actions": [1], "rewards": [1]}',
        '{"observations": [0, 1], "actions": [1], "rewards": [1], "terminated": 1}',
        '{"observations": [0, 1], "actions": [1], "rewards": [' + "9" * 5000 + "]}",
        '{"observations": [0, ' + "[" * 100_000 + '], "actions": [1], "rewards": [1]}',
        "[]",
        "{",
    ],
)
def test_episodes_that_are_none(line: str) -> None:
    with pytest.raises(reading.NotVerifiedError):
        reading.read_episodes([line], "state", "state")


def test_files_of_all_kinds_are_read(tmp_path: Path) -> None:
    learn(two_coffees()).certificate().save(tmp_path / "certificate")
    for name in ("log.jsonl", "log.jsonl.gz", "log.csv"):
        markovize.write_episodes(tmp_path / name, two_coffees())
        assert verify(tmp_path / "certificate", tmp_path / name).verified


@pytest.mark.parametrize("kind", checker.KINDS)
def test_labels_of_every_kind(kind: str, tmp_path: Path) -> None:
    traces = random_steps(np.random.default_rng(3), episodes=12, length=6)
    learn(traces, trigger_on=kind, reward_on="transition").certificate().save(tmp_path / "certificate")
    assert verify(tmp_path / "certificate", traces).verified


def test_labels_that_the_checker_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markovize.learning.certify.KINDS", ("state",))
    result = learn(coffee(), trigger_on="source", reward_on="state")
    with pytest.raises(UnsupportedError, match="not certified: the checker does not know labels of the kind 'source'"):
        result.certificate()


def test_the_checker_reads_episodes_as_the_package_does(tmp_path: Path) -> None:
    """Labels and outcomes by first appearance, from the same file: the two ways agree."""
    traces = random_steps(np.random.default_rng(5), episodes=20, length=8)
    markovize.write_episodes(tmp_path / "log.jsonl", traces)
    lines = list(lines_of(tmp_path / "log.jsonl"))
    for kinds in (*KINDS, ("source", "state"), ("choice", "choice")):
        ours, theirs = reading.read_episodes(lines, *kinds), label_traces(traces, *kinds)
        steps = [step for episode in ours.steps for step in episode]
        assert [step.trigger for step in steps] == theirs.triggers.ids.tolist()
        assert [step.reward_label for step in steps] == theirs.rewards.ids.tolist()
        assert [step.reward for step in steps] == traces.rewards.tolist()
        assert [step.ends for step in steps] == traces.ends().tolist()
        assert ours.digest == reading.read_episodes(lines_of(traces), *kinds).digest


def test_the_digest_is_that_of_the_file_that_we_write(tmp_path: Path) -> None:
    import hashlib

    markovize.write_episodes(tmp_path / "log.jsonl", coffee())
    content = (tmp_path / "log.jsonl").read_bytes()
    assert reading.read_episodes(lines_of(coffee()), "state", "state").digest == hashlib.sha256(content).hexdigest()


def test_the_checker_is_small_and_stands_alone() -> None:
    """Lines with code, without docstrings and comments; and what is imported."""
    lines = 0
    for part in PARTS:
        path = Path(str(part.__file__))
        with path.open("rb") as file:
            tokens = [t for t in tokenize.tokenize(file.readline) if t.type in (tokenize.NAME, tokenize.OP)]
        lines += len({token.start[0] for token in tokens})
    assert lines <= 400, lines
    own = {part.__name__ for part in (*PARTS, rup)}
    for part in (*PARTS, rup):
        tree = ast.parse(Path(str(part.__file__)).read_text())
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        others = {str(name) for name in modules if str(name).split(".")[0] not in sys.stdlib_module_names} - own
        assert others <= ({"numba", "numpy", "numpy.typing"} if part is rup else set())
