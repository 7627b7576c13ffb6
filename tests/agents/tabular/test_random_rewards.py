"""Acting where rewards are random: machines are taken when they are significant."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from in_process import run_here

from markovize import ActiveLearner, InputError, Settings
from markovize.agents.tabular.looks import FIRST, looks_until, share_of
from markovize.agents.tabular.results import RunResult
from markovize.agents.tabular.snapshots import Snapshot
from markovize.agents.tabular.stopping import Checkpoints

HALL, COFFEE, OFFICE, YARD = range(4)
STEPS = 8


class Rooms(gymnasium.Env[Any, Any]):
    """From any room to any other. The office pays 1, by chance: 0.8 after a coffee, else 0.2, or always 0.5."""

    def __init__(self, *, markov: bool = False) -> None:
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(4), gymnasium.spaces.Discrete(4)
        self._markov, self._has_coffee, self._steps = markov, False, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._has_coffee, self._steps = False, 0
        return HALL, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        chance = 0.5 if self._markov else 0.8 if self._has_coffee else 0.2
        paid = float(action == OFFICE and self.np_random.random() < chance)
        self._has_coffee |= action == COFFEE
        self._steps += 1
        return int(action), paid, False, self._steps == STEPS, {}


def settings(**changes: Any) -> Settings:
    given: dict[str, Any] = {"episodes": 600, "epsilon": 0.3, "reward": "random"}
    return Settings.of("q-learning", **given | changes)


@pytest.mark.parametrize("seed", range(3))
def test_the_machine_and_its_policy_are_found(seed: int) -> None:
    result = ActiveLearner(Rooms(), settings(seed=seed)).run()
    assert [(t.source, t.on, t.target) for t in result.machine.triggers] == [(0, COFFEE, 1)]
    assert result.status == "feasible"
    means = {e.source: e.reward for e in result.machine.rewards if e.on == OFFICE}
    assert means[0] == pytest.approx(0.2, abs=0.1) and means[1] == pytest.approx(0.8, abs=0.1)
    assert result.act(HALL, 0) == COFFEE and result.act(COFFEE, 1) == OFFICE


def test_rewards_that_are_markov_need_no_machine() -> None:
    """0.5 whatever happened: in 12 runs of three looks each, with a significance of 0.1 in all."""
    machines = [
        ActiveLearner(Rooms(markov=True), settings(seed=seed, episodes=300, significance=0.1)).run().machine
        for seed in range(12)
    ]
    assert sum(machine.states > 1 for machine in machines) <= 4  # more have a probability below 0.005 at 0.1
    (paid,) = {e.reward for e in machines[0].rewards if e.on == OFFICE}
    assert paid == pytest.approx(0.5, abs=0.1)


def same(one: RunResult, other: RunResult) -> bool:
    return bool(
        one.machine == other.machine
        and np.array_equal(one.q, other.q)
        and np.array_equal(one.returns, other.returns)
        and [s.episode for s in one.solves] == [s.episode for s in other.solves]
        and one.rng == other.rng
    )


def test_equal_seeds_give_equal_runs() -> None:
    one, other = (ActiveLearner(Rooms(), settings(seed=4, episodes=300)).run() for _ in range(2))
    assert same(one, other)
    assert len(one.solves) >= 1


@pytest.fixture
def saves_at_each_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checkpoints, "due", lambda _: True)


@pytest.mark.usefixtures("saves_at_each_episode")
def test_a_run_goes_on_from_any_checkpoint() -> None:
    saved = dict[int, bytes]()

    def keep(run: ActiveLearner) -> None:
        saved[run.schedule.episode] = run.snapshot().to_bytes()

    how = settings(seed=1, episodes=300)
    whole = ActiveLearner(Rooms(), how, on_checkpoint=keep).run()
    for episode in (FIRST - 1, FIRST, FIRST + 1, 250, 270, 271):
        again = ActiveLearner(Rooms(), how)
        again.restore(Snapshot.from_bytes(saved[min(saved, key=lambda at: abs(at - episode))]))
        assert same(again.run(), whole), episode


def test_a_look_that_is_cut_short_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[Snapshot] = []
    how = settings(seed=1, episodes=300)
    whole = ActiveLearner(Rooms(), how).run()
    run = ActiveLearner(Rooms(), how, on_checkpoint=lambda run: saved.append(run.snapshot()))
    weigh: Callable[..., Any] = run.search.weigh

    def pressed(alpha: float, stop: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return weigh(alpha, stop)

    monkeypatch.setattr(run.search, "weigh", pressed)
    with pytest.raises(KeyboardInterrupt):
        run.run()
    assert run.schedule.episode == FIRST and saved[-1].facts["pending"]
    again = ActiveLearner(Rooms(), how)
    again.restore(saved[-1])
    assert same(again.run(), whole)


def test_looks_share_the_significance(monkeypatch: pytest.MonkeyPatch) -> None:
    run = ActiveLearner(Rooms(markov=True), settings(episodes=1_000, significance=0.02))
    asked: list[float] = []
    weigh: Callable[..., Any] = run.search.weigh

    def noted(alpha: float, stop: Any) -> Any:
        asked.append(alpha)
        return weigh(alpha, stop)

    monkeypatch.setattr(run.search, "weigh", noted)
    run.run()  # looks at 100, 200, 400 and 800 episodes, and at 900, where exploration ends
    assert asked == pytest.approx([0.02 * share_of(look) for look in range(1, 6)])
    assert sum(asked) < 0.02
    assert looks_until(900) == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tolerance": 0.1}, "random rewards know no tolerance"),
        ({"outliers": 2}, "random rewards know no outliers"),
        ({"objective": "states"}, "random rewards know no objective"),
        ({"crm": True}, "random rewards know no crm"),
        ({"keep": 0}, "keep must be at least 1"),
        ({"reward": "lucky"}, "reward must be one of exact, random"),
        ({"significance": 1.5}, "significance is a number between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        settings(**changes)


def test_other_modes_are_refused() -> None:
    with pytest.raises(InputError, match="random rewards are for the mode q-learning"):
        Settings.of("directed", reward="random")


def test_files_of_exact_runs_are_as_they_were() -> None:
    assert not {"reward", "significance"} & Settings.of().to_json().keys()
    assert settings().to_json()["reward"] == "random"


ROOMS = """
import gymnasium
from test_random_rewards import Rooms
gymnasium.register("test/Rooms-v0", Rooms)
"""


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rooms_for_runs.py").write_text(ROOMS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(Path(__file__).parent)
    common = ("run", "test/Rooms-v0", "--import", "rooms_for_runs", "--json")
    few = ("--episodes", "300", "--epsilon", "0.3", "--reward", "random", "--out", str(tmp_path / "run"))
    done = run_here(*common, *few)
    told = json.loads(done.out)
    assert (done.code, told["mode"], told["states"], told["triggers"]) == (0, "q-learning", 2, 1)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["settings"]["reward"] == "random"
    for wrong, words in [
        (("--significance", "0.1"), "--significance is for --reward random"),
        (("--reward", "random", "--significance", "2"), "between 0 and 1"),
        (("--reward", "random", "--mode", "directed"), "random rewards are for the mode q-learning"),
        (("--reward", "random", "--agent", "dqn"), "--reward is for --agent tabular"),
    ]:
        refused = run_here(*common, *wrong)
        assert refused.code == 2 and words in refused.err, refused.err
