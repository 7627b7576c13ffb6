"""Active training: the machine, the policy on S×U, what is refused, and what goes on after a stop."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from corridor_env import make_corridor, position
from gymnasium import spaces

pytest.importorskip("stable_baselines3")

from markovize import Guard, InputError, UnsupportedError, replay
from markovize.agents.tabular.stopping import NEVER
from markovize.integrations.sb3 import ActiveTraining, TrainingResult, TrainingSettings
from markovize.integrations.sb3.active.encoding import Encoder, is_image, is_minigrid
from markovize.integrations.sb3.active.environments import Prologue
from markovize.integrations.sb3.active.folder import TrainingFolder
from markovize.integrations.sb3.active.models import build_model, carry_over, weights_of
from markovize.integrations.sb3.active.results import TrainingProgress
from markovize.integrations.sb3.active.training import EVALUATION_SEED, LOOK_SEED, Best

FAST: dict[str, Any] = {"explore": 60, "look_every": 256, "evaluation_episodes": 5, "hidden": 8}


def train(agent: Any = "ppo", steps: int = 1024, **settings: Any) -> TrainingResult:
    chosen = TrainingSettings(agent, steps, **{**FAST, "features": position, **settings})
    return ActiveTraining(make_corridor, chosen).run()


def left_end(result: TrainingResult) -> Guard:
    (trigger,) = result.machine.triggers
    assert isinstance(trigger.on, Guard)
    return trigger.on


@pytest.mark.long
def test_ppo_finds_the_machine_and_trains_on_it() -> None:
    result = train(environments=2)
    (literal,) = left_end(result).literals
    assert (literal.feature, literal.relation) == ("x", "below")
    assert literal.threshold == pytest.approx(0.25, abs=0.06)
    assert result.status == "optimal"
    assert result.steps >= 1024 and len(result.returns) == result.episodes == len(result.ends)
    assert replay(result.machine, result.kept, features=position).mismatches == 0
    assert result.ends[0] == 0 and result.ends[-1] > 0
    assert 0 <= result.succeeded <= 1 and result.to_json()["agent"] == "ppo"


@pytest.mark.long
def test_dqn_learns_from_what_was_recorded() -> None:
    """The replay buffer is full before the first step: a short training is enough."""
    result = train("dqn", 1000, learning_rate=3e-3, hidden=32, look_every=1000)
    buffer: Any = result.model.replay_buffer  # type: ignore[union-attr]
    assert buffer.size() > result.lengths[:60].sum()  # each step in every state that knows its reward
    assert result.greedy_return == 1.0


def test_equal_seeds_give_equal_machines() -> None:
    first, second = (train(steps=0, seed=3) for _ in range(2))
    assert first.machine == second.machine and first.returns.tolist() == second.returns.tolist()
    assert np.isnan(first.greedy_return) and first.model is None


def test_a_time_limit_stops_with_what_there_is() -> None:
    chosen = TrainingSettings("ppo", 10**6, **{**FAST, "features": position})
    result = ActiveTraining(make_corridor, chosen).run(time_limit=4.0)
    assert result.stopped == "time limit" and result.steps < 10**6
    assert result.episodes > 0


@pytest.mark.slow
def test_a_stopped_training_goes_on(tmp_path: Path) -> None:
    chosen = TrainingSettings("ppo", 512, **{**FAST, "features": "corridor_env:position", "environments": 2})
    folder = TrainingFolder.new(tmp_path / "run", "corridor", {}, chosen)
    first = ActiveTraining(make_corridor, chosen, on_checkpoint=folder.checkpoint)
    first.settings = TrainingSettings(**{**chosen.to_json(), "steps": 256})
    result = first.run()
    assert first.weights is not None
    again = ActiveTraining(make_corridor, folder.settings)
    assert folder.restore(again)
    assert (again.steps, again.returns, again.evidence.machine) == (first.steps, first.returns, result.machine)
    assert len(again.evidence.episodes) == len(first.evidence.episodes)
    assert all(np.array_equal(again.weights[name], array) for name, array in first.weights.items())  # type: ignore[index]
    finished = again.run()
    assert finished.steps >= 512 and not finished.stopped
    folder.end(finished)
    names = {path.name for path in folder.path.iterdir()}
    assert {"machine.json", "episodes.jsonl", "metrics.csv", "curve.png", "result.json", "model.zip"} <= names
    assert "checkpoint.npz" not in names


def test_ctrl_c_while_dqn_learns_from_what_was_recorded(tmp_path: Path) -> None:
    chosen = TrainingSettings("dqn", 1000, **{**FAST, "features": "corridor_env:position"})
    folder = TrainingFolder.new(tmp_path / "run", "corridor", {}, chosen)

    def press(progress: TrainingProgress) -> None:
        if progress.doing == "learning from recorded steps":
            signal.raise_signal(signal.SIGINT)

    training = ActiveTraining(make_corridor, chosen, on_progress=press, on_checkpoint=folder.checkpoint)
    with pytest.raises(KeyboardInterrupt):
        training.run()
    model: Any = training.model
    assert 0 < model._n_updates < 5_000
    again = ActiveTraining(make_corridor, folder.settings)
    assert folder.restore(again) and again.evidence.machine.states == 2


def test_the_last_episodes_may_give_another_machine() -> None:
    """Then no step is left to train, and the policy that is tried is one of that machine all the same."""
    settings = TrainingSettings("ppo", 64, **{**FAST, "features": position, "environments": 1})
    training = ActiveTraining(make_corridor, settings)
    old = build_model(settings, [training._product(make_corridor())], training.evidence.machine)
    training.weights, training.steps = weights_of(old), 64
    training.evidence.use(train(steps=0).machine, "optimal")
    result = training.run()
    assert result.machine.states == 2 and len(training.greedy) == 5


@pytest.mark.slow
def test_an_early_end_is_not_chosen_by_the_episodes_that_tell_what_is_earned(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def evaluate(*_: object, seed: int = 0, **_options: object) -> Any:
        seeds.append(seed)
        return np.array([0.5, 1.0]) if seed else np.array([0.0, 1.0])

    monkeypatch.setattr(ActiveTraining, "evaluate", evaluate)
    monkeypatch.setattr("markovize.integrations.sb3.active.training.RECENT", 5)
    result = train(steps=10_000, target=0.0, environments=2)
    assert seeds == [LOOK_SEED, LOOK_SEED, 0] and LOOK_SEED != EVALUATION_SEED
    assert result.steps < 10_000 and result.greedy_return == 0.5


@pytest.mark.parametrize(
    ("explored", "evaluated", "evaluations", "enough"),
    [(0.95, [1.0, 1.0], 2, True), (0.5, [], 0, False), (0.95, [0.5], 1, False), (1.0, [0.95, 0.97], 2, False)],
)
def test_a_policy_that_explores_may_earn_less_than_is_aimed_at(
    monkeypatch: pytest.MonkeyPatch, explored: float, evaluated: list[float], evaluations: int, enough: bool
) -> None:
    """Whether it earns enough is decided without exploring; but not where it is far from that."""
    training = ActiveTraining(make_corridor, TrainingSettings(features="corridor_env:position", target=1.0, **FAST))
    left = list(evaluated)
    monkeypatch.setattr(training, "evaluate", lambda *_, **_options: np.array([left.pop(0)]))
    training.returns = [explored] * 99
    assert not training._earns_enough(NEVER)  # too few episodes to tell
    training.returns.append(explored)
    assert training._earns_enough(NEVER) is enough
    assert len(evaluated) - len(left) == evaluations


@pytest.mark.parametrize(("last", "taken"), [(0.5, True), (0.9, False)])
def test_a_missed_target_ends_with_the_best_policy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, last: float, taken: bool
) -> None:
    chosen = TrainingSettings("ppo", features="corridor_env:position", target=1.0, environments=1, **FAST)
    training = ActiveTraining(make_corridor, chosen)
    left = [0.95, 0.8, 0.95, 0.7, last]  # a few episodes and all of them, twice; then the last policy
    monkeypatch.setattr(training, "evaluate", lambda *_, **_options: np.array([left.pop(0)]))
    training.returns, training.lengths, training.ends = [1.0] * 100, [1] * 100, [0] * 100
    training._build(NEVER)
    assert training.model is not None
    for weights in (1.0, 2.0):
        _fill(training.model, weights)
        assert not training._earns_enough(NEVER)
    assert training.best is not None and training.best.earned == 0.8
    folder = TrainingFolder.new(tmp_path / "run", "corridor", {}, chosen)
    folder.checkpoint(training)
    again = ActiveTraining(make_corridor, chosen)
    assert folder.restore(again) and again.best is not None and again.best.earned == 0.8
    _fill(training.model, 3.0)
    training._take_best(NEVER)
    best = 1.0 if taken else 3.0
    assert not left and all((array == best).all() for array in weights_of(training.model).values())
    assert all((array == 1.0).all() for array in again.best.weights.values())


def _fill(model: Any, number: float) -> None:
    model.policy.load_state_dict({name: tensor * 0 + number for name, tensor in model.policy.state_dict().items()})


def test_another_machine_has_no_best_policy_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    training = ActiveTraining(make_corridor, TrainingSettings(features="corridor_env:position", **FAST))
    monkeypatch.setattr(training.evidence, "solve", lambda _: False)
    training.best = Best(0.5, {})
    assert not training._solve(NEVER) and training.best is not None
    monkeypatch.setattr(training.evidence, "solve", lambda _: True)
    assert training._solve(NEVER) and training.best is None


def test_caution_charges_for_the_end_and_less_and_less() -> None:
    chosen = TrainingSettings("ppo", 1000, features="corridor_env:position", caution=0.5, environments=1, **FAST)
    training = ActiveTraining(lambda: gym.wrappers.TimeLimit(make_corridor(), 2), chosen)
    model = training._build(NEVER)
    assert model.env is not None
    for steps, charge in ((0, 0.5), (200, 0.25), (400, 0.0), (1000, 0.0)):
        model.num_timesteps = steps
        model.env.reset()
        paid = [model.env.step(np.array([0])) for _ in range(2)]
        assert [float(rewards[0]) for _, rewards, _, _ in paid] == [0.0, -charge]
        assert paid[-1][2][0] and paid[-1][3][0]["TimeLimit.truncated"] is (charge == 0.0)
    assert training.returns == [0.0] * 4  # what is recorded is what was paid
    assert training.evaluate(1).tolist() == [0.0]


def _given(env: Any) -> Any:
    return env


def test_drawn_actions_are_apart_from_the_draws_of_training() -> None:
    torch = pytest.importorskip("torch")
    lengths: dict[str, list[int]] = {}
    for actions in ("likeliest", "drawn"):
        chosen = TrainingSettings(features="corridor_env:position", actions=actions, environments=1, **FAST)
        env = gym.wrappers.RecordEpisodeStatistics(make_corridor())
        training = ActiveTraining(partial(_given, env), chosen)
        training._build(NEVER)
        before = torch.get_rng_state()
        first = training.evaluate(5).tolist()
        assert torch.equal(torch.get_rng_state(), before)
        assert training.evaluate(5).tolist() == first
        lengths[actions] = [int(length) for length in env.length_queue]
        assert lengths[actions][:5] == lengths[actions][5:10]
    assert len(set(lengths["drawn"])) > 1  # a policy that has learned nothing walks about
    assert lengths["likeliest"] != lengths["drawn"]


def test_damaged_checkpoints(tmp_path: Path) -> None:
    chosen = TrainingSettings(features="corridor_env:position", **FAST)
    folder = TrainingFolder.new(tmp_path / "run", "corridor", {}, chosen)
    training = ActiveTraining(make_corridor, chosen)
    assert not folder.restore(training)
    (folder.path / "checkpoint.npz").write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match=r"checkpoint\.npz: this file was damaged"):
        folder.restore(training)


def test_pictures_that_repeat_are_discrete() -> None:
    result = ActiveTraining(lambda: make_corridor(pictures=True), TrainingSettings(steps=0, **FAST)).run()
    assert result.machine.states == 2
    assert [feature.name for feature in result.machine.features] == ["state"]
    assert "images count by their bytes" in result.notes


def test_pictures_that_do_not_are_refused() -> None:
    training = ActiveTraining(lambda: make_corridor(flicker=True), TrainingSettings(steps=0, **FAST))
    with pytest.raises(UnsupportedError, match=r"images that hardly ever repeat.*give features="):
        training.run()


def test_minigrid_has_features_of_its_own() -> None:
    pytest.importorskip("minigrid")
    training = ActiveTraining(lambda: gym.make("MiniGrid-Empty-5x5-v0"), TrainingSettings())
    assert training.evidence.notes == ["features of MiniGrid: markovize.features.minigrid:view"]
    assert is_minigrid(training.encoder.space) and training.encoder.width == 984


def test_weights_are_carried_over() -> None:
    """With more machine states, the policy first does in each of them what it did before."""
    training = ActiveTraining(make_corridor, TrainingSettings(features=position, environments=1))
    old_machine = training.evidence.machine
    old = build_model(training.settings, [training._product(make_corridor())], old_machine)
    larger = train(steps=0).machine
    training.evidence.use(larger, "optimal")
    new = build_model(training.settings, [training._product(make_corridor())], larger)
    carry_over(new, weights_of(old), training.encoder.width)
    seen = np.array([0.3, 0.7], np.float32)
    before = old.policy.predict_values(old.policy.obs_to_tensor(np.append(seen, 1.0))[0])  # type: ignore[operator]
    for state in np.eye(larger.states):
        there = np.concatenate([seen, state])
        after = new.policy.predict_values(new.policy.obs_to_tensor(there)[0])  # type: ignore[operator]
        assert after.item() == pytest.approx(before.item(), abs=1e-5)
    with pytest.raises(InputError, match="another network"):
        carry_over(new, {name: array[:1] for name, array in weights_of(old).items()}, training.encoder.width)


def test_a_prologue_begins_each_episode() -> None:
    env = Prologue(make_corridor(), [0, 0])
    assert env.reset(seed=0)[0][0] == pytest.approx(0.9, abs=0.1)
    with pytest.raises(InputError, match="prologue: 7 is no action"):
        Prologue(make_corridor(), [7])
    with pytest.raises(InputError, match="ended within it"):
        Prologue(gym.wrappers.TimeLimit(make_corridor(), 1), [0, 0]).reset()


def test_vectors_of_all_spaces() -> None:
    space = spaces.Tuple([spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(2), spaces.Box(-np.inf, np.inf, (1,))])
    vector = Encoder(space)((np.array([1, 2]), np.array([1, 0]), np.array([7.0])))
    assert vector.tolist() == [0, 1, 0, 0, 1, 1, 0, 7]
    assert Encoder(spaces.Discrete(5000))(2500).tolist() == [0.5]
    assert is_image(spaces.Box(0, 1, (2000,))) and not is_image(spaces.Discrete(3))
    with pytest.raises(UnsupportedError, match="Sequence space"):
        Encoder(spaces.Sequence(spaces.Discrete(2)))
    with pytest.raises(UnsupportedError, match=r"cannot be made vectors|numbers"):
        Encoder(spaces.Text(3))


def test_actions_that_an_agent_cannot_take() -> None:
    env = gym.wrappers.TimeLimit(gym.make("Pendulum-v1"), 5)
    with pytest.raises(UnsupportedError, match="DQN cannot take actions of Box"):
        ActiveTraining(lambda: env, TrainingSettings("dqn", 10, explore=1)).run()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"agent": "sarsa"}, "agent is dqn or ppo"),
        ({"explore": 0}, "explore must be a whole number, at least 1"),
        ({"steps": 1.5}, "steps must be a whole number"),
        ({"agent": "dqn", "environments": 4}, "environments is for PPO"),
        ({"caution": -1}, "caution must not be negative"),
        ({"agent": "dqn", "caution": 1}, "caution is for PPO"),
        ({"actions": "best"}, "actions is likeliest or drawn"),
        ({"agent": "dqn", "actions": "drawn"}, "drawn actions are for PPO"),
        ({"solve_seconds": 0}, "solve_seconds must be positive"),
        ({"before": "maybe"}, "before is true, false or auto"),
        ({"gamma": 1.0}, "gamma must be at least 0 and below 1"),
        ({"features": "nonsense"}, "features= is a function"),
    ],
)
def test_wrong_settings(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TrainingSettings(**wrong)
