"""``markovize audit``: verdicts, exit codes, JSON and errors, on environments that are not ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from continuous_defects import Locked

from markovize.cli.app import main

KEYS = {"verdict", "signature", "given", "steps", "comparable", "witness"}


def audit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["markovize", "audit", *map(str, args)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("env", "code", "verdict", "signature"),
    [
        ("CliffWalking-v1", 0, "markov", ["state", "action"]),
        ("Blackjack-v1", 1, "noise", None),
        ("CartPole-v1", 0, "markov", []),
    ],
)
def test_verdicts(
    env: str,
    code: int,
    verdict: str,
    signature: list[str] | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended, out, _ = audit(monkeypatch, capsys, env, "--json", "--seconds", "3", "--steps", "8000")
    report: dict[str, Any] = json.loads(out)
    assert report.keys() >= KEYS
    assert (ended, report["verdict"]) == (code, verdict)
    assert signature is None or report["signature"] == signature
    assert report["comparable"] <= report["steps"]
    assert bool(report["witness"]) == (verdict == "noise")


def test_a_history_is_found_and_played_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    office = ("markovize/OfficeWorld-v0", "--env-arg", "task=b")
    code, out, _ = audit(monkeypatch, capsys, *office, "--replay-witness", "--json", "--seconds", "20")
    report = json.loads(out)
    assert (code, report["verdict"]) == (1, "history")
    assert report["signature"][-1] == "history"
    assert report["replayed"] == report["witness"]["rewards"]
    assert report["replayed"][0] != report["replayed"][1]


def test_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = audit(monkeypatch, capsys, "FrozenLake-v1", "--seconds", "2", "--steps", "5000")
    assert code == 0
    assert "Markov: s' determines the reward" in out
    assert "What to do: nothing." in out


def test_not_testable_says_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gymnasium.register("Locked-v0", lambda **_: Locked())
    try:
        code, out, _ = audit(monkeypatch, capsys, "Locked-v0", "--seconds", "3", "--steps", "5000")
    finally:
        del gymnasium.registry["Locked-v0"]
    assert code == 3
    first, verdict, advice = out.splitlines()
    assert verdict.startswith("not testable: only ")
    assert "vault cannot be copied" in verdict
    assert advice.startswith("What to do: Give the environment an attribute `state`")
    assert "comparable" in first


def test_unknown_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for source in ("NoSuch-v0", tmp_path / "no.jsonl"):
        code, out, err = audit(monkeypatch, capsys, source)
        assert (code, out) == (2, "")
        assert err.startswith("markovize: ")
        assert len(err.splitlines()) == 1
