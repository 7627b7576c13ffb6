"""At the end of a run its machine is proven, where searches on the way have left that open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import pytest

from markovize.agents.tabular import ActiveLearner, Settings, Snapshot
from markovize.agents.tabular.results import RunResult
from markovize.agents.tabular.search import MachineSearch
from markovize.learning.entry import learn
from markovize.learning.result import LearnResult
from markovize.machine.replay import replay

LITTLE = Settings.of(episodes=150, effort=40, seed=1)


def office(settings: Settings = LITTLE, **changes: Any) -> ActiveLearner:
    return ActiveLearner(gymnasium.make("markovize/OfficeWorld-v0", task="e"), settings, **changes)


def unproven(monkeypatch: pytest.MonkeyPatch, settings: Settings = LITTLE) -> RunResult:
    with monkeypatch.context() as patch:
        patch.setattr(MachineSearch, "prove", lambda *_: None)
        return office(settings).run()


def test_a_run_ends_with_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    without, result = unproven(monkeypatch), office().run()
    assert (without.status, result.status) == ("feasible", "optimal")
    truth = learn(result.kept, trigger_on=result.machine.trigger_on, reward_on=result.machine.reward_on)
    assert (truth.status, truth.states, truth.triggers) == (
        "optimal",
        result.machine.states,
        len(result.machine.triggers),
    )
    assert result.episodes == without.episodes and len(result.kept) == len(without.kept)
    assert result.greedy_return >= without.greedy_return


def test_a_proof_that_is_stopped_is_tried_again_by_who_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[Snapshot] = []
    whole, prove = office().run(), MachineSearch.prove

    def stopped(self: MachineSearch, *given: Any) -> LearnResult | None:
        result = prove(self, *given)
        return None if result is None else replace(result, interrupted=True)

    with monkeypatch.context() as patch:
        patch.setattr(MachineSearch, "prove", stopped)
        with pytest.raises(KeyboardInterrupt):
            office(on_checkpoint=lambda run: saved.append(run.snapshot())).run()
    again = office()
    again.restore(Snapshot.from_bytes(saved[-1].to_bytes()))
    resumed = again.run()
    assert (resumed.status, resumed.machine, resumed.greedy_return) == (
        "optimal",
        whole.machine,
        whole.greedy_return,
    )
    assert resumed.exemplars == whole.exemplars


def test_a_smaller_machine_takes_the_place_of_the_run_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    before, result = unproven(monkeypatch), office().run()
    assert len(before.machine.triggers) > len(result.machine.triggers)
    assert "no episode was played with it" in result.notes[-1]
    assert replay(result.machine, result.kept).mismatches == 0


def test_a_smaller_machine_that_earns_less_is_only_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few episodes have a machine that is too small, and nobody has played with it."""
    settings = Settings.of(episodes=100, effort=40, seed=0)
    before, result = unproven(monkeypatch, settings), office(settings).run()
    assert (result.status, result.machine, result.greedy_return) == ("feasible", before.machine, before.greedy_return)
    assert result.notes[-1] == (
        "3 states and 3 triggers explain the episodes kept, too, but earn less: more episodes would tell"
    )
