"""The page of an audit: complete, self-contained, and nothing in it that an environment could inject."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from continuous_defects import KeyFirst

from markovize import check_reward
from markovize.auditing.report import RewardReport
from markovize.cli.app import main
from markovize.cli.audit_page import audit_page, signature_rows

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def history() -> RewardReport:
    return check_reward(KeyFirst(), steps=1_000)


def test_the_witness_is_drawn(history: RewardReport) -> None:
    page = audit_page(history, (0.0, 1.0))
    assert history.headline in page
    assert history.advice in page.replace("&#39;", "'")
    assert page.count('<div class="card side">') == 2
    assert page.count('class="restored"') >= 2
    assert "Played again, it paid 0 and 1" in page
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", page)


def test_text_from_outside_is_escaped(history: RewardReport) -> None:
    page = audit_page(replace(history, source=HOSTILE, notes=(HOSTILE,)))
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    labels = [([HOSTILE, "b"], [HOSTILE], [n % 2]) for n in range(40)]
    assert HOSTILE not in audit_page(check_reward(labels))


def test_the_table_ends_at_what_is_enough(history: RewardReport) -> None:
    answers = [row.answer for row in signature_rows(history)]
    assert answers == ["not enough"] * 5 + ["enough"] + ["not needed"] * 2
    unknown = check_reward([([0, 1], [0], [0])])
    assert {row.answer for row in signature_rows(unknown)} == {"unknown"}
    assert "not testable" in audit_page(unknown)


def test_the_command_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.html"
    monkeypatch.setattr("sys.argv", ["markovize", "audit", "FrozenLake-v1", "--steps", "2000", "--report", str(file)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "determines the reward" in file.read_text("utf-8")
