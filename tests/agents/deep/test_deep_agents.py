"""Deep agents: what they keep, how they learn, and that a seed says all."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path

import numpy as np
import pytest
from damaged_files import mutate, mutate_values

torch = pytest.importorskip("torch", reason="the extra `deep` is not installed")

from markovize.agents.deep import MODELS, RECURRENT, DeepSettings  # noqa: E402
from markovize.agents.deep.agent import Adam  # noqa: E402
from markovize.agents.deep.checkpoints import load_agent, save_agent  # noqa: E402
from markovize.agents.deep.dqn import DQN  # noqa: E402
from markovize.agents.deep.fast.arrays import Walk  # noqa: E402
from markovize.agents.deep.replay import EpisodeReplay, StepReplay  # noqa: E402
from markovize.agents.deep.training import Trained, TrainingProgress, go_on, new_agent, new_walk, train  # noqa: E402
from markovize.agents.tabular import RunProgress  # noqa: E402
from markovize.errors import InputError  # noqa: E402
from markovize.machine.machine import RewardMachine  # noqa: E402
from markovize.worlds import World, world  # noqa: E402

OFFICE = world("office", task="e")
BREAKFAST = world("breakfast", task="b", rewards="full")


def machine_for(model: str, where: World) -> RewardMachine | None:
    return where.machine if model == "ADQN" else None


def walk_of(views: list[int], actions: list[int], rewards: list[float], *, ended: bool) -> Walk:
    walk = new_walk(8)
    walk.views[: len(views)], walk.actions[: len(actions)], walk.rewards[: len(rewards)] = views, actions, rewards
    walk.outcome[:] = len(actions), ended
    return walk


SHAPES = {
    "DQN": [(128, 108), (128,), (128, 128), (128,), (5, 128), (5,)],
    "ADQN": [(128, 111), (128,), (128, 128), (128,), (5, 128), (5,)],
    "RNN": [(128, 108), (128, 128), (128,), (128,), (128, 128), (128,), (5, 128), (5,)],
    "GRU": [(384, 108), (384, 128), (384,), (384,), (128, 128), (128,), (5, 128), (5,)],
    "LSTM": [(512, 108), (512, 128), (512,), (512,), (128, 128), (128,), (5, 128), (5,)],
}


@pytest.mark.parametrize("model", MODELS)
def test_shapes(model: str) -> None:
    agent = new_agent(OFFICE, DeepSettings(model), 0, machine_for(model, OFFICE))
    assert [tuple(weights.shape) for weights in agent.network.parameters()] == SHAPES[model]
    assert not any(weights.requires_grad for weights in agent.target.parameters())


def test_steps_are_kept_until_they_are_the_oldest() -> None:
    replay = StepReplay(5)
    replay.add(walk_of([1, 2, 3], [0, 1], [0, -1], ended=True))
    first = replay.sample(200, np.random.default_rng(0))
    rows = set(zip(*(column.tolist() for column in first), strict=True))
    assert rows == {(1, 0, 0.0, 2, False), (2, 1, -1.0, 3, True)}
    replay.add(walk_of([4, 5, 6, 7, 8], [2, 2, 2, 3], [0, 0, 0, 1], ended=False))
    rows = set(zip(*(column.tolist() for column in replay.sample(500, np.random.default_rng(0))), strict=True))
    assert rows == {
        (2, 1, -1.0, 3, True),
        (4, 2, 0.0, 5, False),
        (5, 2, 0.0, 6, False),
        (6, 2, 0.0, 7, False),
        (7, 3, 1.0, 8, False),
    }


def test_episodes_are_kept_whole() -> None:
    replay, rng = EpisodeReplay(2), np.random.default_rng(0)
    for n in range(3):
        replay.add(walk_of([n, n + 1, n + 2], [n, n], [0.5, n], ended=n == 2))
    seen = {tuple(replay.sample(rng).views.tolist()) for _ in range(50)}
    assert seen == {(1, 2), (2, 3)}
    kept = {int(e.views[0]): e for e in (replay.sample(rng) for _ in range(50))}
    assert kept[2].ends.tolist() == [False, True] and kept[1].ends.tolist() == [False, False]
    assert kept[2].after.tolist() == [3, 4] and kept[2].rewards.tolist() == [0.5, 2.0]


@pytest.mark.parametrize("model", MODELS)
def test_each_update_moves_the_target_by_the_smoothing(model: str) -> None:
    agent = new_agent(BREAKFAST, DeepSettings(model), 0, machine_for(model, BREAKFAST))
    walk = new_walk(200)
    agent.play(1.0, walk)
    agent.remember(walk)
    for _ in range(3):
        before = [weights.clone() for weights in agent.target.parameters()]
        old = [weights.detach().clone() for weights in agent.network.parameters()]
        agent.learn()
        assert any(not torch.equal(a, b) for a, b in zip(old, agent.network.parameters(), strict=True))
        for was, now, network in zip(before, agent.target.parameters(), agent.network.parameters(), strict=True):
            assert torch.allclose(now, 0.99 * was + 0.01 * network.detach(), atol=1e-6)


def test_an_update_wants_the_reward_at_the_end_and_the_targets_best_elsewhere() -> None:
    agent = new_agent(BREAKFAST, DeepSettings("DQN", batch=4, learning_rate=1e-9), 0)
    assert isinstance(agent, DQN)
    for ended in (True, False):
        agent.replay = StepReplay(10)
        agent.replay.add(walk_of([3, 5], [2], [0.7], ended=ended))
        with torch.no_grad():
            best = float(agent.target(agent.features[5:6]).max())
            value = float(agent.network(agent.features[3:4])[0, 2])
        assert agent.learn() == pytest.approx((value - (0.7 if ended else 0.7 + 0.95 * best)) ** 2, rel=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_a_seed_says_all(model: str) -> None:
    settings = DeepSettings(model, episodes=25, max_steps=60)
    runs = [train(OFFICE, settings, seed, machine_for(model, OFFICE)) for seed in (4, 4, 5)]
    assert runs[0].returns.tolist() == runs[1].returns.tolist()
    weights = [torch.cat([w.flatten() for w in run.agent.network.parameters()]) for run in runs]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_training_leaves_torch_as_it_was() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    threads = torch.get_num_threads()
    train(BREAKFAST, DeepSettings("DQN", episodes=3), 0)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.rand(3), expected)


def test_every_tenth_episode_an_optimal_one_is_remembered() -> None:
    returns: list[float] = []
    settings = DeepSettings("RNN", episodes=30, max_steps=60, hidden=8)
    agent = train(OFFICE, settings, 0).agent
    rng = np.random.default_rng(0)
    episodes = {id(e): e for e in (agent.replay.sample(rng) for _ in range(2_000))}  # type: ignore[attr-defined]
    assert len(episodes) == 33
    returns = sorted(float(episode.rewards.sum()) for episode in episodes.values())
    assert returns[-3:] == [1.0, 1.0, 1.0]
    without = train(OFFICE, DeepSettings("RNN", episodes=30, max_steps=60, hidden=8, optimal_every=0), 0).agent
    assert without.replay.size == 30  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", ["ADQN", *RECURRENT])
def test_agents_with_memory_learn_what_depends_on_it(model: str) -> None:
    """Beach: sunbathing pays less each time. One seed, a small world, the optimum within a few hundred episodes."""
    where = world("beach", levels=2)
    settings = DeepSettings(model, episodes=500, max_steps=10, hidden=32, learning_rate=5e-3, smoothing=0.05)
    trained = train(where, settings, 0, machine_for(model, where))
    walk = new_walk(10)
    assert trained.agent.play(0.0, walk) == pytest.approx(1.9)


def test_ctrl_c_ends_a_training_between_two_episodes() -> None:
    half = train(OFFICE, DeepSettings("DQN", episodes=20), seed=1)

    def press(progress: RunProgress) -> None:
        if progress.episode == 200:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        go_on(half, 1_000, press)
    learned = half.agent.optimiser.state["steps"].item()
    assert learned == 200  # the episode before the signal was learned from, no other one was begun
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert len(go_on(half, 30).returns) == 30


def test_machines_are_for_adqn_alone() -> None:
    with pytest.raises(InputError, match="ADQN needs a machine"):
        new_agent(OFFICE, DeepSettings("ADQN"), 0)
    with pytest.raises(InputError, match="no other model has one"):
        new_agent(OFFICE, DeepSettings("DQN"), 0, OFFICE.machine)


@pytest.mark.parametrize("model", ["ADQN", "LSTM"])
def test_training_goes_on_from_a_checkpoint_as_if_it_had_not_stopped(model: str, tmp_path: Path) -> None:
    machine = machine_for(model, BREAKFAST)
    settings = DeepSettings(
        model, episodes=30, max_steps=30, hidden=16, replay_steps=200, replay_episodes=12, optimal_every=4
    )
    whole = train(BREAKFAST, settings, 1, machine)
    half = go_on(Trained(new_agent(BREAKFAST, settings, 1, machine), np.zeros(0), 0.0), 17)
    save_agent(tmp_path / "agent", half)
    names = sorted(path.name for path in (tmp_path / "agent").iterdir())
    save_agent(tmp_path / "agent", half)
    assert sorted(path.name for path in (tmp_path / "agent").iterdir()) == names
    assert [name.split("-")[0].split(".")[0] for name in names] == ["agent", "agent"]
    again = load_agent(tmp_path / "agent", BREAKFAST)
    assert again.agent.where.machine == machine and again.seconds == half.seconds
    walks = [new_walk(30), new_walk(30)]
    assert half.agent.play(0.0, walks[0]) == again.agent.play(0.0, walks[1])
    assert walks[0].actions.tolist() == walks[1].actions.tolist()
    again = go_on(load_agent(tmp_path / "agent", BREAKFAST), 30)
    assert again.returns.tolist() == whole.returns.tolist()
    for one, other in ((whole.agent.network, again.agent.network), (whole.agent.target, again.agent.target)):
        assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert go_on(again, 10).returns.tolist() == whole.returns.tolist()  # nothing left to do


def test_a_checkpoint_says_what_it_is_as_it_always_did(tmp_path: Path) -> None:
    """Agents that were kept by earlier versions must still be read."""
    save_agent(tmp_path, train(BREAKFAST, DeepSettings("DQN", episodes=5), seed=0))
    data = json.loads((tmp_path / "agent.json").read_text())
    assert (data["format"], data["version"]) == ("markovize.deep-agent", 2)


@pytest.mark.parametrize("model", ["DQN", "GRU"])
def test_an_agent_that_has_not_learned_yet_can_be_kept(model: str, tmp_path: Path) -> None:
    settings = DeepSettings(model, episodes=3, hidden=8)
    save_agent(tmp_path, Trained(new_agent(BREAKFAST, settings, 5), np.zeros(0), 0.0))
    assert go_on(load_agent(tmp_path, BREAKFAST), 3).returns.tolist() == train(BREAKFAST, settings, 5).returns.tolist()


def test_checkpoints_that_do_not_fit(tmp_path: Path) -> None:
    save_agent(tmp_path, train(BREAKFAST, DeepSettings("DQN", hidden=8, episodes=2), 0))
    with pytest.raises(InputError, match="was trained in 'breakfast-b-full', not in 'office-e'"):
        load_agent(tmp_path, OFFICE)
    text = (tmp_path / "agent.json").read_text()
    for was, wrong, message in [
        ('"hidden": 8', '"hidden": 9', "does not fit the agent"),
        ('"PCG64"', '"dice"', "does not fit the agent"),
        ('"rng"', '"coin"', 'agent.json: field "rng" is missing'),
        ('"replay_steps": 100000', '"replay_steps": 1' + "0" * 25, "such an agent cannot be made"),
        ('"replay_steps": 100000', '"replay_steps": 9223372036854775807', "such an agent cannot be made"),
        ('"gamma": 0.95', '"gamma": "0.95"', "agent.json: gamma must be a number"),
        ('"weights": "agent', '"weights": "other', "cannot be read"),
        ('"tables": "', '"tables": "0', "another world that is called 'breakfast-b-full', too"),
    ]:
        assert was in text
        (tmp_path / "agent.json").write_text(text.replace(was, wrong))
        with pytest.raises(InputError, match=message):
            load_agent(tmp_path, BREAKFAST)
    (tmp_path / "agent.json").write_text(text)
    [weights] = tmp_path.glob("*.safetensors")
    saved = weights.read_bytes()
    weights.write_bytes(saved[:-1] + bytes([saved[-1] ^ 1]))
    with pytest.raises(InputError, match="is damaged: these are not the weights that were saved"):
        load_agent(tmp_path, BREAKFAST)
    weights.write_bytes(b"no tensors")
    with pytest.raises(InputError, match="cannot be read"):
        load_agent(tmp_path, BREAKFAST)
    (tmp_path / "agent.json").write_text("{}")
    with pytest.raises(InputError, match="is not a"):
        load_agent(tmp_path, BREAKFAST)


@pytest.mark.parametrize("model", ["DQN", "LSTM"])
def test_damaged_checkpoints_are_refused_or_read(model: str, tmp_path: Path) -> None:
    save_agent(tmp_path, train(BREAKFAST, DeepSettings(model, hidden=8, episodes=2), 0))
    rng, whole = random.Random(3), {path: path.read_bytes() for path in tmp_path.iterdir()}
    refused = 0
    for _ in range(120):
        path, data = rng.choice(list(whole.items()))
        by_value = path.suffix == ".json" and rng.random() < 0.7
        path.write_bytes(mutate_values(data, rng) if by_value else mutate(data, rng, [data]))
        try:
            load_agent(tmp_path, BREAKFAST)
        except InputError as error:
            assert str(error).startswith(str(tmp_path))
            refused += 1
        path.write_bytes(data)
    assert refused > 60


def test_a_checkpoint_replaces_the_one_before(tmp_path: Path) -> None:
    trained = train(BREAKFAST, DeepSettings("DQN", hidden=8, episodes=2), 0)
    save_agent(tmp_path, trained)
    [old] = tmp_path.glob("*.safetensors")
    before = (tmp_path / "agent.json").read_bytes(), old.read_bytes()
    save_agent(tmp_path, go_on(trained, 5))
    assert len(list(tmp_path.iterdir())) == 2 and not old.exists()
    assert len(load_agent(tmp_path, BREAKFAST).returns) == 5
    (tmp_path / "agent.json").write_bytes(before[0])  # as if it had been killed between the two files
    old.write_bytes(before[1])
    assert len(load_agent(tmp_path, BREAKFAST).returns) == 2


def test_worlds_of_one_name_are_told_apart(tmp_path: Path) -> None:
    save_agent(tmp_path, train(world("beach", levels=2), DeepSettings("DQN", hidden=8, episodes=2), 0))
    with pytest.raises(InputError, match="another world that is called 'beach', too"):
        load_agent(tmp_path, world("beach", levels=3))


def test_what_cannot_be_trained() -> None:
    with pytest.raises(InputError, match="trained in a World"):
        train("office", DeepSettings("DQN"), 0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="whole number of at least 0"):
        train(OFFICE, DeepSettings("DQN"), -1)


def test_adam_is_that_of_torch() -> None:
    torch.manual_seed(0)
    weights, gradient = torch.randn(50), torch.zeros(50)
    theirs = weights.clone().requires_grad_()
    ours, optimiser = Adam(weights, gradient, 0.01), torch.optim.Adam([theirs], 0.01)
    for _ in range(5):
        gradient.normal_()
        theirs.grad = gradient.clone()
        ours.step()
        optimiser.step()
        assert torch.allclose(weights, theirs.detach(), atol=1e-7)
    assert ours.steps == 5


def test_progress_is_told_now_and_then_and_at_the_end() -> None:
    told: list[RunProgress] = []
    trained = train(BREAKFAST, DeepSettings("ADQN", episodes=450, max_steps=5), 0, BREAKFAST.machine, told.append)
    assert [now.episode for now in told] == [200, 400, 450] and {now.episodes for now in told} == {450}
    assert told[-1].moving_return == pytest.approx(trained.returns.mean())
    assert told[-1].states == BREAKFAST.machine.states
    assert isinstance(told[-1], TrainingProgress) and told[-1].loss > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 0}, "at least 1"),
        ({"epsilon": 2}, "between 0 and 1"),
        ({"learning_rate": 0}, "positive"),
        ({"replay_steps": 10}, "cannot hold"),
        ({"batch": 1.5}, "whole number"),
        ({"gamma": 1.0}, "below 1"),
        ({"gamma": True}, "a number"),
        ({"learning_rate": float("nan")}, "a number"),
        ({"epsilon": "1"}, "a number"),
    ],
)
def test_settings_are_checked(changes: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DeepSettings("DQN", **changes)  # type: ignore[arg-type]
