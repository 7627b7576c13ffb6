"""Environments that fail: one line that says where, no traceback of ours; our own errors stay what they are."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from markovize.cli.app import main
from markovize.cli.environment_errors import guarding_environment


class Broken(gym.Env[Any, Any]):
    """Fails at the third step."""

    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.steps = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, Any, bool, bool, dict[str, Any]]:
        self.steps += 1
        return 0, self.reward() + action, False, False, {}

    def reward(self) -> Any:
        return 1 / (3 - self.steps)


class PaysAnArray(Broken):
    """No number."""

    def reward(self) -> Any:
        return np.zeros(1)


class Talks(Broken):
    """Says something at every step."""

    def reward(self) -> Any:
        print("Sampling rejected")
        return 1.0


def _made(kind: type[Broken], **_: Any) -> Broken:
    return kind()


@pytest.fixture(autouse=True)
def registered() -> Any:
    kinds: list[type[Broken]] = [Broken, PaysAnArray, Talks]
    for kind in kinds:
        gym.register(f"tests/{kind.__name__}-v0", entry_point=partial(_made, kind), max_episode_steps=20)
    yield
    for kind in kinds:
        del gym.registry[f"tests/{kind.__name__}-v0"]


@pytest.mark.filterwarnings("ignore")  # Gymnasium's own about the array
@pytest.mark.parametrize("command", ["audit", "run"])
@pytest.mark.parametrize(
    ("env", "said"),
    [
        ("Broken", "the environment raised ZeroDivisionError: division by zero ("),
        ("PaysAnArray", "]) in step 0 of an episode; rewards are numbers"),
    ],
)
def test_one_line(
    command: str, env: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["markovize", command, f"tests/{env}-v0"])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert said in err.splitlines()[-1]
    assert "Traceback" not in err


def test_an_error_of_ours_is_not_blamed_on_anybody() -> None:
    with pytest.raises(KeyError), guarding_environment():
        raise KeyError("ours")


@pytest.mark.parametrize("command", ["audit", "run"])
def test_what_an_environment_prints_is_no_answer(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--steps", "200") if command == "audit" else ("--episodes", "5")
    monkeypatch.setattr("sys.argv", ["markovize", command, "tests/Talks-v0", "--json", *few])
    with pytest.raises(SystemExit):
        main()
    out, err = capsys.readouterr()
    assert isinstance(json.loads(out), dict)
    assert "Sampling rejected" in err
