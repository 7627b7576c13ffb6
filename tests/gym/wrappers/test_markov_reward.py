"""The wrapper on single environments: the machine's state, the four modes, the policy for unseen labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from wrapper_cases import FORMS, GOAL, OPEN, Errand, Ring, errand, errand_machine, ring_at, ring_label, ring_machine

import markovize
from markovize.errors import InputError, MachineError, UnsupportedError
from markovize.gym.wrappers import MarkovRewardWrapper, RecordEpisodes
from markovize.machine.machine import Emission, RewardMachine, Trigger
from markovize.machine.replay import run


def walk(env: gym.Env[Any, Any], episodes: int, seed: int = 0) -> list[list[tuple[Any, Any]]]:
    """Random episodes: for each, (observation, info) after the reset and after every step."""
    env.action_space.seed(seed)
    out = []
    for number in range(episodes):
        rows = [env.reset(seed=seed + number)]
        ended = False
        while not ended:
            observation, _, terminated, truncated, info = env.step(env.action_space.sample())
            rows.append((observation, info))
            ended = terminated or truncated
        out.append(rows)
    return out


def test_the_reward_is_markov_again(tmp_path: Path) -> None:
    plain = RecordEpisodes(errand(), tmp_path / "plain.jsonl")
    walk(plain, 150)
    before = markovize.read_episodes(tmp_path / "plain.jsonl")
    assert before.rewards.any()
    assert not markovize.check(before).markov

    machine = markovize.learn(before).unwrap()  # not told of the true one
    wrapped = RecordEpisodes(MarkovRewardWrapper(errand(), machine, mode="flat"), tmp_path / "wrapped.jsonl")
    walk(wrapped, 150)
    after = markovize.read_episodes(tmp_path / "wrapped.jsonl")
    assert after.rewards.tolist() == before.rewards.tolist()
    assert markovize.check(after).markov


@pytest.mark.parametrize("form", FORMS)
def test_states_are_those_of_a_replay(form: str, tmp_path: Path) -> None:
    machine = ring_machine(form)
    env = MarkovRewardWrapper(RecordEpisodes(Ring(form), tmp_path / "log.jsonl"), machine)
    rows = walk(env, 20)
    traces = markovize.read_episodes(tmp_path / "log.jsonl")
    assert set(traces.observation_values) == {ring_label(form, place) for place in range(6)}
    states = [info["rm_state"] for episode in rows for _, info in episode[1:]]
    assert states == run(machine, traces).after.tolist()
    assert 0 < sum(states) < len(states)
    for episode in rows:
        assert episode[0][1] == {"steps": 0, "rm_state": 0, "rm_trigger": -1, "rm_unseen": 0}
        for observation, info in episode:
            assert observation in env.observation_space
            assert observation["rm_state"] == info["rm_state"]
            assert info["rm_unseen"] == 0
        fired = [info["rm_trigger"] for _, info in episode]
        assert fired.count(0) == int(episode[-1][1]["rm_state"] == 1)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "text"])
def test_modes_say_the_same(form: str) -> None:
    machine = ring_machine(form)
    dicts = MarkovRewardWrapper(Ring(form), machine)
    others = {mode: MarkovRewardWrapper(Ring(form), machine, mode=mode) for mode in ("flat", "one-hot", "triggers")}
    size = {"bits": 8}.get(form, 6)
    assert others["flat"].observation_space == spaces.Discrete(size * 2)
    assert others["one-hot"].observation_space == spaces.Box(0, 1, (size + 2,), np.float32)
    assert others["triggers"].observation_space == spaces.Box(0, 1, (size + 1,), np.float32)
    rows = {mode: walk(env, 5) for mode, env in others.items()}
    for number, episode in enumerate(walk(dicts, 5)):
        for step, (observation, _) in enumerate(episode):
            s, u = ring_at(form, observation["observation"]), observation["rm_state"]
            flat, one_hot, triggers = (rows[mode][number][step][0] for mode in others)
            assert flat == s * 2 + u
            assert np.flatnonzero(one_hot).tolist() == [s, size + u]
            assert np.flatnonzero(triggers).tolist() == ([s, size] if u else [s])
            assert all(rows[mode][number][step][0] in env.observation_space for mode, env in others.items())


def test_flat_numbers_are_the_products(tmp_path: Path) -> None:
    walk(RecordEpisodes(errand(), tmp_path / "log.jsonl"), 30)
    product = markovize.Product.of(markovize.read_episodes(tmp_path / "log.jsonl"), errand_machine())
    env = MarkovRewardWrapper(errand(), errand_machine(), mode="flat")
    for episode in walk(env, 3):
        for observation, info in episode:
            assert product.states[observation] == (observation // 3, info["rm_state"])


def test_triggers_remember_all_that_fired() -> None:
    patrol = RewardMachine("state", "state", 2, (Trigger(0, 1, 1), Trigger(1, 0, 0)))
    env = MarkovRewardWrapper(gym.make("FrozenLake-v1", is_slippery=False), patrol, mode="triggers")
    env.reset(seed=0)
    bits = [env.step(action)[0][16:].tolist() for action in (2, 0, 2)]
    assert bits == [[1, 0], [1, 1], [1, 1]]
    assert env.reset()[0][16:].tolist() == [0, 0]


def test_the_state_is_kept_at_a_truncation() -> None:
    env = MarkovRewardWrapper(errand(limit=3), errand_machine())
    env.reset(seed=0)
    for action in (2, 2, 2):
        observation, _, terminated, truncated, info = env.step(action)
    assert (terminated, truncated) == (False, True)
    assert observation == {"observation": 3, "rm_state": 1}
    assert (info["rm_state"], info["rm_trigger"], env.rm_state) == (1, 0, 1)
    assert env.reset()[0] == {"observation": 0, "rm_state": 0}


def test_labels_on_transitions() -> None:
    bump = RewardMachine("transition", "transition", 2, (Trigger(0, (0, 0, 0), 1),))
    env = MarkovRewardWrapper(gym.make("FrozenLake-v1", is_slippery=False), bump)
    env.reset(seed=0)
    assert [env.step(np.int64(action))[4]["rm_state"] for action in (3, 1, 3, 0, 2)] == [0, 0, 0, 1, 1]


def test_an_initial_state_other_than_0() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(1, 1, 0),), initial=1)
    env = MarkovRewardWrapper(gym.make("FrozenLake-v1", is_slippery=False), machine)
    assert env.reset(seed=0)[1]["rm_state"] == 1
    assert env.step(2)[4]["rm_state"] == 0
    assert env.reset()[1]["rm_state"] == 1


def right_edge(*step: Any) -> Any:
    return np.array([step[2] % 4 == 3])


def test_labels_of_a_function() -> None:
    machine = RewardMachine("function", "state", 2, (Trigger(0, (True,), 1),))
    lake = gym.make("FrozenLake-v1", is_slippery=False)
    env = MarkovRewardWrapper(lake, machine, trigger_on=right_edge)
    env.reset(seed=0)
    assert [env.step(2)[4]["rm_state"] for _ in range(3)] == [0, 0, 1]
    with pytest.raises(InputError, match="pass it as trigger_on="):
        MarkovRewardWrapper(lake, machine)
    with pytest.raises(InputError, match="reward_on is 'state'; it cannot be run with 'function' labels"):
        MarkovRewardWrapper(lake, machine, trigger_on=right_edge, reward_on=right_edge)


def test_functions_may_look_at_continuous_observations() -> None:
    machine = RewardMachine("function", "function", 2, (Trigger(0, "right", 1),))
    side = lambda *step: "right" if step[2][0] > 0.5 else "left"  # noqa: E731
    env = MarkovRewardWrapper(gym.make("Pendulum-v1"), machine, trigger_on=side, reward_on=side)
    rows = walk(env, 1)[0]
    first = next(n for n, (o, _) in enumerate(rows) if n and o["observation"][0] > 0.5)
    assert [info["rm_state"] for _, info in rows] == [0] * first + [1] * (len(rows) - first)


def partial_machine(**changes: Any) -> RewardMachine:
    kinds = {"trigger_on": "state", "reward_on": "state", **changes}
    return RewardMachine(**kinds, states=2, triggers=(Trigger(0, 5, 1, (6,)),), rewards=(Emission(0, 1, 0, 0.0),))


def test_unseen_labels_are_counted_and_the_machine_stays() -> None:
    env = MarkovRewardWrapper(gym.make("FrozenLake-v1", desc=OPEN, is_slippery=False), partial_machine())
    env.reset(seed=0)
    infos = [env.step(action)[4] for action in (2, 0, 1, 2, 2, 2)]
    # 1 is rewarded, 0 and 4 are nowhere, 5 triggers, 6 is an alternative, 7 is nowhere
    assert [info["rm_unseen"] for info in infos] == [0, 1, 2, 2, 2, 3]
    assert [info["rm_state"] for info in infos] == [0, 0, 0, 1, 1, 1]
    assert env.reset()[1]["rm_unseen"] == 0


def test_unseen_labels_may_be_errors() -> None:
    lake = gym.make("FrozenLake-v1", desc=OPEN, is_slippery=False)
    env = MarkovRewardWrapper(lake, partial_machine(), unseen="error")
    env.reset(seed=0)
    env.step(2)
    with pytest.raises(InputError, match=r"the label 0 of the step \(1, 0, 0\) was never seen in learning"):
        env.step(0)
    with pytest.raises(gym.error.ResetNeeded, match="after an error"):
        env.step(2)
    env.reset()
    assert env.step(2)[0] == {"observation": 1, "rm_state": 0}


def test_a_machine_without_rewards_says_nothing_of_what_was_seen() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(0, 3, 1),))
    env = MarkovRewardWrapper(errand(), machine, unseen="error")
    assert walk(env, 2)[1][-1][1]["rm_unseen"] == 0


def test_rewards_are_left_alone() -> None:
    plain, wrapped = errand(slippery=True), MarkovRewardWrapper(errand(slippery=True), errand_machine())
    plain.reset(seed=1), wrapped.reset(seed=1)
    for action in [2, 1, 2, 1, 0, 3] * 8:
        one, two = plain.step(action), wrapped.step(action)
        assert one[1:4] == two[1:4]
        assert two[4].items() >= one[4].items()
        if one[2] or one[3]:
            plain.reset(), wrapped.reset()


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (RewardMachine("state", "state", 2, (Trigger(0, 16, 1),)), "trigger 0 → 1 is on 16, which is no observation"),
        (RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1),)), r"on \(1, 1\), which is no observation of D"),
        (RewardMachine("state", "state", 2, (Trigger(0, True, 1),)), "on true, which is no observation"),
        (RewardMachine("state", "state", 1, (), (Emission(0, "door", 0, 2.5),)), "reward 2.5 in state 0 is on door"),
        (RewardMachine("transition", "state", 2, (Trigger(0, 3, 1),)), "which is no transition"),
        (RewardMachine("transition", "state", 2, (Trigger(0, (0, 4, 0), 1),)), "and 4 is no action of Discrete"),
        (RewardMachine("transition", "state", 2, (Trigger(0, (0, 3, 99), 1),)), "and 99 is no observation of Discr"),
    ],
)
def test_machines_for_other_environments(machine: RewardMachine, words: str) -> None:
    with pytest.raises(MachineError, match=f"this machine is not for this environment: .*{words}"):
        MarkovRewardWrapper(gym.make("FrozenLake-v1"), machine)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "both"}, "mode is one of dict, flat"),
        ({"unseen": "guess"}, "unseen is 'stay' or 'error'"),
        ({"shaping": 1.0}, "0 ≤ gamma < 1"),
        ({"shaping": float("nan")}, "0 ≤ gamma < 1"),
        ({"shaping": True}, "0 ≤ gamma < 1"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        MarkovRewardWrapper(errand(), errand_machine(), **options)


def test_bad_machines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        MarkovRewardWrapper(errand(), tmp_path / "none.json")
    with pytest.raises(MachineError, match='"format" must be'):
        MarkovRewardWrapper(errand(), {"format": "other"})
    with pytest.raises(InputError, match="not int"):
        MarkovRewardWrapper(errand(), 3)  # type: ignore[arg-type]


def test_observations_that_have_no_labels_or_no_numbers() -> None:
    one = RewardMachine("state", "state", 1)
    with pytest.raises(UnsupportedError, match="DiscretizeObservation"):
        MarkovRewardWrapper(gym.make("CartPole-v1"), one)
    with pytest.raises(UnsupportedError, match="DiscretizeAction"):
        MarkovRewardWrapper(
            gym.wrappers.TransformObservation(gym.make("Pendulum-v1"), lambda _: 0, spaces.Discrete(1)),
            RewardMachine("transition", "state", 1),
        )
    with pytest.raises(UnsupportedError, match="use mode 'dict'"):
        MarkovRewardWrapper(Ring("text"), one, mode="flat")

    class Wide(gym.Env[Any, Any]):
        observation_space = spaces.MultiBinary(62)
        action_space = spaces.Discrete(2)

    with pytest.raises(UnsupportedError, match=r"mode 'flat' cannot number .*; use mode 'dict'"):
        MarkovRewardWrapper(Wide(), RewardMachine("state", "state", 2), mode="flat")
    with pytest.raises(UnsupportedError, match=r"vectors of .* numbers; use mode 'dict'"):
        MarkovRewardWrapper(Wide(), one, mode="one-hot")


def test_a_step_needs_a_reset() -> None:
    with pytest.raises(gym.error.ResetNeeded):
        MarkovRewardWrapper(Ring(), ring_machine()).step(0)


def test_reused_buffers_do_no_harm() -> None:
    class Buffer(Ring):
        """Returns the same array each time, as some environments do."""

        def __init__(self) -> None:
            super().__init__("multi")
            self.buffer = np.zeros(2, np.int64)

        def seen(self) -> Any:
            self.buffer[:] = super().seen()
            return self.buffer

    corner = RewardMachine("transition", "state", 2, (Trigger(0, ((1, 2), 0, (0, 0)), 1),))  # from place 5 to place 0
    ways = [
        [info["rm_state"] for e in walk(MarkovRewardWrapper(env, corner), 9) for _, info in e]
        for env in (Buffer(), Ring("multi"))
    ]
    assert ways[0] == ways[1]
    assert any(ways[0])


def test_errand_is_what_it_says() -> None:
    assert isinstance(errand(), Errand)
    env = errand()
    env.reset(seed=0)
    pays = [env.step(action)[1] for action in [2] * 3 + [1] * 3]
    assert pays == [0] * 6  # the goal, but corner 12 is missing
    assert GOAL == 15
