"""Stable-Baselines3 for real: what the callback records and finds, what the buffers hold, and what is learned."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import markovize
from markovize import InputError, MarkovRewardWrapper, RecordEpisodes, RewardMachine, Traces, UnsupportedError
from markovize.integrations.sb3 import ConflictCallback, CounterfactualReplayBuffer, fill_replay
from markovize.worlds import World, world
from markovize.worlds.walks import noisy_walks

torch = pytest.importorskip("torch", reason="the extra `sb3` is not installed")
sb3 = pytest.importorskip("stable_baselines3", reason="the extra `sb3` is not installed")
from stable_baselines3 import DQN, PPO  # noqa: E402
from stable_baselines3.common.base_class import BaseAlgorithm  # noqa: E402
from stable_baselines3.common.callbacks import EveryNTimesteps  # noqa: E402
from stable_baselines3.common.logger import configure  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize  # noqa: E402

torch.set_num_threads(1)
RANDOM: dict[str, Any] = {
    "learning_starts": 10**9,
    "buffer_size": 1_000,
    "device": "cpu",
}  # a DQN that only looks around
SMALL: dict[str, Any] = {"policy_kwargs": {"net_arch": [32]}, "device": "cpu"}
BREAKFAST = world("breakfast", task="b")


def breakfast(machine: RewardMachine | None = None, log: Path | None = None, **options: Any) -> gym.Env[Any, Any]:
    env: gym.Env[Any, Any] = gym.make("markovize/BreakfastWorld-v0", task="b")
    if log is not None:
        env = RecordEpisodes(env, log)
    return env if machine is None else MarkovRewardWrapper(env, machine, **{"mode": "one-hot", **options})


def numbered(log: Path) -> gym.Env[Any, Any]:
    """The bare world with cells as numbers: sb3-contrib's recurrent policies take no MultiDiscrete."""
    return RecordEpisodes(breakfast(RewardMachine("state", "state", 1), mode="flat"), log)


def lines(episodes: Any) -> Counter[str]:
    """Stable-Baselines3 does not tell that an episode which terminated was cut at the same step."""
    told = [{**e.to_json(), "truncated": e.truncated and not e.terminated} for e in episodes]
    return Counter(str(line) for line in told)


def explains(machine: RewardMachine | None, truth: World) -> bool:
    """Whether the machine says what the true one does, wherever noisy walks lead."""
    assert machine is not None
    report = markovize.replay(machine, noisy_walks(truth, 400, np.random.default_rng(5)))
    return report.mismatches == 0


# --- the callback --------------------------------------------------------------------------------------------------


def test_the_callback_finds_the_machine_and_training_goes_on_with_it() -> None:
    callback = ConflictCallback(quiet_episodes=60, stop_training=True)
    bare = DQN("MlpPolicy", breakfast(), seed=1, **RANDOM).learn(60_000, callback=callback)
    assert callback.ready
    assert callback.ready_at == bare.num_timesteps < 60_000
    assert callback.conflicts >= 1
    assert callback.quiet_episodes >= 60
    assert callback.machine is not None
    assert callback.machine.states == BREAKFAST.machine.states
    assert explains(callback.machine, BREAKFAST)
    assert markovize.check(callback.traces, callback.machine).markov
    env = breakfast(callback.machine, crm=True)
    model = DQN(
        "MlpPolicy",
        env,
        seed=1,
        replay_buffer_class=CounterfactualReplayBuffer,
        replay_buffer_kwargs={"machine": callback.machine},
        buffer_size=50_000,
        learning_starts=50,
        **SMALL,
    )
    assert fill_replay(model, callback.traces, env) == callback.traces.steps
    before = {name: value.clone() for name, value in model.q_net.state_dict().items()}
    model.learn(300)
    assert any(not torch.equal(before[name], value) for name, value in model.q_net.state_dict().items())


@pytest.mark.parametrize("algorithm", ["DQN", "PPO", "RecurrentPPO"])
def test_every_finished_episode_is_recorded_as_it_was(algorithm: str, tmp_path: Path) -> None:
    """The truth is what a wrapper inside each environment has written: no phantom steps, no steps lost."""
    logs = [tmp_path / f"{number}.jsonl" for number in range(3)]
    recurrent = algorithm == "RecurrentPPO"
    envs = DummyVecEnv([partial(numbered, log) if recurrent else partial(breakfast, log=log) for log in logs])
    callback = ConflictCallback()
    model: BaseAlgorithm
    if algorithm == "DQN":
        model = DQN("MlpPolicy", envs, seed=0, **RANDOM)
    elif algorithm == "PPO":
        model = PPO("MlpPolicy", envs, seed=0, n_steps=128, n_epochs=1, **SMALL)
    else:
        contrib = pytest.importorskip("sb3_contrib", reason="the extra `sb3` is not installed")
        options = {"policy_kwargs": {"lstm_hidden_size": 16, "net_arch": [16]}, "device": "cpu"}
        model = contrib.RecurrentPPO("MlpLstmPolicy", envs, seed=0, n_steps=128, n_epochs=1, **options)
    model.learn(2_000, callback=callback)
    truth = [episode for log in logs for episode in markovize.read_episodes(log)]
    assert len(truth) > 3
    assert any(episode.truncated for episode in truth)
    assert lines(callback.traces) == lines(truth)
    assert callback.episodes == len(truth)


def test_rewards_are_not_those_that_were_normalised() -> None:
    envs = VecNormalize(DummyVecEnv([breakfast]), norm_obs=False)
    callback = ConflictCallback()
    DQN("MlpPolicy", envs, seed=0, **RANDOM).learn(4_000, callback=callback)
    paid = {reward for episode in callback.traces for reward in episode.rewards}
    assert paid <= {e.reward for e in BREAKFAST.machine.rewards}
    assert -0.1 in paid


def test_observations_that_were_normalised_are_refused() -> None:
    envs = VecNormalize(DummyVecEnv([Counting]))
    with pytest.raises(UnsupportedError, match="norm_obs=False"):
        PPO("MlpPolicy", envs, device="cpu").learn(5, callback=ConflictCallback())


class Counting(gym.Env[Any, Any]):
    """Counts its steps, in a box of whole numbers."""

    observation_space, action_space = gym.spaces.Box(0, 9, (1,), np.int64), gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.steps = 0
        return np.array([0]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return np.array([self.steps]), float(action), self.steps == 9, False, {}


def test_training_in_parts_loses_no_history(tmp_path: Path) -> None:
    """An episode whose beginning the callback did not see is not recorded, all others are."""
    log = tmp_path / "log.jsonl"
    model = DQN("MlpPolicy", breakfast(log=log), seed=0, **RANDOM)
    callback = ConflictCallback()
    model.learn(1_010, callback=callback)
    model.learn(1_010, callback=callback, reset_num_timesteps=False)
    assert lines(callback.traces) == lines(markovize.read_episodes(log))
    seen = len(callback.traces)
    model.learn(250, reset_num_timesteps=False)  # nobody looks
    unseen = len(markovize.read_episodes(log))
    model.learn(2_000, callback=callback, reset_num_timesteps=False)
    truth = list(markovize.read_episodes(log))
    assert seen < unseen < len(truth)
    assert lines(callback.traces) == lines(truth[:seen] + truth[unseen + 1 :])


def test_a_reset_between_two_parts_ends_what_was_open(tmp_path: Path) -> None:
    log, env = tmp_path / "log.jsonl", breakfast(log=tmp_path / "log.jsonl")
    model, callback = DQN("MlpPolicy", env, seed=0, **RANDOM), ConflictCallback()
    model.learn(1_010, callback=callback)
    model.set_env(env)  # which Stable-Baselines3 resets
    model.learn(1_010, callback=callback, reset_num_timesteps=False)
    truth = lines(markovize.read_episodes(log))
    assert sum(lines(callback.traces).values()) > 5
    assert lines(callback.traces) <= truth
    assert all(episode.steps <= 200 for episode in callback.traces)


def test_nothing_is_recorded_with_holes() -> None:
    callback = ConflictCallback()
    DQN("MlpPolicy", breakfast(), seed=0, **RANDOM).learn(1_500, callback=EveryNTimesteps(7, callback))
    assert callback.episodes == 0


def test_a_rule_of_ones_own_says_when_to_switch(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    machines: list[Any] = []
    callback = ConflictCallback(
        switch_when=lambda now: now.episodes >= 50, on_machine=lambda now: machines.append(now.machine), verbose=1
    )
    model = DQN("MlpPolicy", breakfast(), seed=2, **RANDOM)
    model.set_logger(configure(str(tmp_path), ["csv"]))
    model.learn(12_000, callback=callback)
    model.logger.close()
    assert model.num_timesteps == 12_000
    assert callback.conflicts >= len(machines) >= 1
    assert machines[-1] == callback.machine
    said = capsys.readouterr().out
    assert "a conflict in episode" in said
    assert "switch the machine in" in said
    with (tmp_path / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[-1]["markovize/states"]) == machines[-1].states
    assert float(rows[-1]["markovize/ready"]) == 1


def test_conflicts_are_found_when_no_more_episodes_are_recorded() -> None:
    callback = ConflictCallback(quiet_episodes=60, most_episodes=2, stop_training=True)
    DQN("MlpPolicy", breakfast(), seed=1, **RANDOM).learn(60_000, callback=callback)
    assert callback.ready
    assert 2 < len(callback.traces) < callback.episodes
    assert explains(callback.machine, BREAKFAST)


def test_a_callback_that_stopped_a_training_lets_the_next_one_go_on() -> None:
    callback = ConflictCallback(quiet_episodes=60, stop_training=True)
    model = DQN("MlpPolicy", breakfast(), seed=1, **RANDOM).learn(60_000, callback=callback)
    stopped, episodes = model.num_timesteps, callback.episodes
    assert callback.ready
    assert stopped < 60_000
    model.learn(2_000, callback=callback, reset_num_timesteps=False)
    assert model.num_timesteps == stopped + 2_000
    assert callback.episodes > episodes + 1


def test_a_markov_reward_needs_no_machine() -> None:
    lake = gym.make("FrozenLake-v1", is_slippery=False)
    callback = ConflictCallback(quiet_episodes=5, stop_training=True)
    DQN("MlpPolicy", lake, seed=0, **RANDOM).learn(500, callback=callback)
    assert callback.episodes > 5
    assert (callback.machine, callback.conflicts, callback.ready) == (None, 0, False)


def test_noise_has_no_machine_and_ends_nothing() -> None:
    rng = np.random.default_rng(0)
    short = gym.make("markovize/BreakfastWorld-v0", task="b", max_episode_steps=10)
    noisy = gym.wrappers.TransformReward(short, lambda reward: float(reward) + float(rng.integers(2)))
    callback = ConflictCallback(stop_training=True, time_limit=None)
    model = DQN("MlpPolicy", noisy, seed=0, **RANDOM).learn(2_000, callback=callback)
    assert model.num_timesteps == 2_000
    assert callback.result is not None
    assert callback.result.status == "unrealisable"
    assert not callback.ready


def test_labels_of_ones_own() -> None:
    def place(_s: Any, _a: Any, t: Any) -> str:
        cell = BREAKFAST.observations.index(t)
        return next((name for name, cells in BREAKFAST.landmarks.items() if cell in cells), "")

    callback = ConflictCallback(quiet_episodes=60, stop_training=True, trigger_on=place, reward_on=place)
    DQN("MlpPolicy", breakfast(), seed=1, **RANDOM).learn(60_000, callback=callback)
    assert callback.ready
    assert callback.machine is not None
    assert {trigger.on for trigger in callback.machine.triggers} <= set(BREAKFAST.landmarks)
    assert markovize.check(callback.traces, callback.machine, trigger_on=place, reward_on=place).markov


def test_what_has_no_labels_is_refused() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", **RANDOM)
    with pytest.raises(UnsupportedError, match="continuous"):
        model.learn(10, callback=ConflictCallback())
    with pytest.raises(InputError, match="quiet_episodes"):
        ConflictCallback(quiet_episodes=0)
    with pytest.raises(InputError, match="positive"):
        ConflictCallback(time_limit=0)


# --- buffers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["flat", "one-hot"])
@pytest.mark.parametrize("envs", [1, 3])
def test_the_buffer_holds_every_step_in_every_machine_state(mode: str, envs: int) -> None:
    """Each row must be a step of the true product of world and machine."""
    machine = BREAKFAST.machine
    vector = DummyVecEnv([partial(breakfast, machine, mode=mode, crm=True)] * envs)
    model = DQN(
        "MlpPolicy",
        vector,
        seed=0,
        replay_buffer_class=CounterfactualReplayBuffer,
        replay_buffer_kwargs={"machine": machine},
        **{**RANDOM, "buffer_size": 20_000},
    )
    model.learn(600)
    buffer, states = model.replay_buffer, machine.states
    assert buffer is not None
    assert buffer.size() > 1_200
    cells = {cell: number for number, cell in enumerate(BREAKFAST.observations)}

    def place(row: Any) -> tuple[int, int]:
        if mode == "flat":
            number, u = divmod(int(row[0]), states)
        else:
            number, u = int(row[:-states].argmax()), int(row[-states:].argmax())
            assert row.sum() == 2
        return cells[divmod(number, 6)], u

    met = set()
    for row in range(buffer.size()):
        (s, u), (t, v) = place(buffer.observations[row, 0]), place(buffer.next_observations[row, 0])
        step = BREAKFAST.step(s, u, int(buffer.actions[row, 0, 0]))
        assert (t, v) == (step.state, step.u)
        assert buffer.rewards[row, 0] == pytest.approx(step.reward)
        assert bool(buffer.dones[row, 0]) == step.terminated
        met.add(u)
    assert met == set(range(states))


def test_what_the_buffer_needs_is_told() -> None:
    machine = BREAKFAST.machine
    options: dict[str, Any] = {
        "replay_buffer_class": CounterfactualReplayBuffer,
        "replay_buffer_kwargs": {"machine": machine},
    }
    with pytest.raises(UnsupportedError, match="mode 'flat' or 'one-hot'"):
        DQN("MlpPolicy", breakfast(), **options, **RANDOM)
    with pytest.raises(InputError, match="crm=True"):
        DQN("MlpPolicy", breakfast(machine), **options, **RANDOM).learn(5)
    with pytest.raises(UnsupportedError, match="mode 'flat' or 'one-hot'"):
        DQN("MlpPolicy", breakfast(machine, mode="triggers", crm=True), **options, **RANDOM).learn(5)
    options["replay_buffer_kwargs"] = {"machine": RewardMachine("state", "state", 2)}
    with pytest.raises(InputError, match="the buffer's machine has 2 states, the wrapper's has more"):
        DQN("MlpPolicy", breakfast(machine, mode="flat", crm=True), **options, **RANDOM).learn(5)
    with pytest.raises(UnsupportedError, match="optimize_memory_usage"):
        DQN("MlpPolicy", breakfast(machine), optimize_memory_usage=True, **options, **RANDOM)


@pytest.mark.parametrize("wrapped", [False, True])
def test_filling_gives_what_acting_would_have(wrapped: bool, tmp_path: Path) -> None:
    machine, log = BREAKFAST.machine if wrapped else None, tmp_path / "log.jsonl"
    options: dict[str, Any] = {"shaping": 0.9} if wrapped else {}
    acting = DQN("MlpPolicy", breakfast(machine, log, **options), seed=0, **RANDOM).learn(900)
    episodes = markovize.read_episodes(log)
    filled = DQN("MlpPolicy", breakfast(machine, **options), seed=0, **RANDOM)
    assert fill_replay(filled, episodes, breakfast(machine, **options)) == episodes.steps
    for name in ("observations", "next_observations", "actions", "rewards", "dones", "timeouts"):
        ours, theirs = getattr(filled.replay_buffer, name), getattr(acting.replay_buffer, name)
        assert np.array_equal(ours[: episodes.steps], theirs[: episodes.steps]), name


def test_filling_several_environments_and_none() -> None:
    traces = Traces.of([([(0, 0), (0, 1), (1, 1)], [0, 1], [0.0, 0.0])] * 2 + [([(0, 0), (0, 1)], [0], [0.5])])
    model = DQN("MlpPolicy", DummyVecEnv([breakfast] * 2), **RANDOM)
    assert fill_replay(model, traces, breakfast()) == 5
    assert model.replay_buffer is not None
    assert model.replay_buffer.rewards[:3].ravel().tolist() == [0.0, 0.0, 0.0, 0.0, 0.5, 0.0]  # the first one again
    with pytest.raises(InputError, match="wrapped as the model's"):
        fill_replay(model, traces, breakfast(BREAKFAST.machine))


# --- training on the wrapped world ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["dict", "flat", "one-hot", "triggers"])
def test_both_kinds_of_algorithm_take_every_mode(mode: str) -> None:
    make = partial(breakfast, BREAKFAST.machine, mode=mode, shaping=0.95)
    policy = "MultiInputPolicy" if mode == "dict" else "MlpPolicy"
    DQN(policy, make(), learning_starts=20, buffer_size=200, **SMALL).learn(60)
    PPO(policy, DummyVecEnv([make] * 2), n_steps=16, n_epochs=1, batch_size=16, **SMALL).learn(64)


def test_environments_in_processes_of_their_own() -> None:
    """The wrapper goes inside each environment; the machine's state is in the terminal observation, too."""
    make = partial(breakfast, BREAKFAST.machine, mode="flat")
    envs = SubprocVecEnv([make], start_method="spawn")
    try:
        model = PPO("MlpPolicy", envs, n_steps=16, n_epochs=1, batch_size=16, **SMALL)
        assert model.learn(64).num_timesteps == 64
        envs.seed(0)
        envs.reset()
        for _ in range(200):
            observations, _, dones, infos = envs.step(np.array([4]))
        assert dones.all()
        assert isinstance(observations, np.ndarray)
        assert observations.tolist() == [0]
        assert [info["terminal_observation"] for info in infos] == [0]
    finally:
        envs.close()


# --- without the extra ---------------------------------------------------------------------------------------------


def test_without_the_extra_it_says_what_is_missing() -> None:
    code = """
import sys
import markovize
assert not {"torch", "stable_baselines3", "minari"} & set(sys.modules)
sys.modules["stable_baselines3"] = sys.modules["minari"] = sys.modules["torch"] = None
from markovize.io.episodes.minari import read_minari
from markovize.integrations.sb3 import ConflictCallback
from markovize.integrations.tensorboard import TensorBoardProgress
for use in (ConflictCallback, lambda: read_minari("x-v0"), lambda: TensorBoardProgress("x")):
    try:
        use()
    except markovize.InputError as error:
        print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == [
        "ConflictCallback needs the extra: pip install 'markovize[sb3]'",
        "reading Minari data sets needs the extra: pip install 'markovize[data]'",
        "writing TensorBoard scalars needs the extra: pip install 'markovize[sb3]'",
    ]
