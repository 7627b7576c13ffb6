"""MiniGrid's memory tasks: PPO with a machine beside memoryless PPO and RecurrentPPO, all from the agent's own view.

In a first room lies a key or a ball; at the end of a corridor lie both, and only the place beside the same thing pays.
All agents begin each episode by turning around (in S11 they also take a step, since the corridor is longer than their
view), since rewards of an agent that never looked are a matter of chance. The machine is found in random walks; then
PPO trains on view and machine state. The others take as many steps, those of the random walks included. All policies
are tried in the same fresh episodes at the end. Writes a file for each training, a table and a figure; trainings whose
file is there are not repeated.

    python examples/minigrid_memory.py --size 7 --seeds 3 --steps 60000 --plain --recurrent --out memory
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
import numpy as np

import minigrid_worlds  # registers the worlds
from markovize import describe
from markovize.features import minigrid
from markovize.integrations.sb3 import ActiveTraining, TrainingSettings
from markovize.integrations.sb3.active.environments import Prologue

PROLOGUES: Final = {7: (0, 0), 9: (0, 0), 11: (0, 0, 2)}
EPISODES, FRESH = 200, 3 * 10**6  # of the last evaluation, and the seed of its first
COLOURS: Final = {"memoryless": "#bdbdbd", "recurrent": "#ef6c00", "machine": "#1565c0"}
NAMES: Final = {"memoryless": "memoryless PPO", "recurrent": "RecurrentPPO", "machine": "PPO with the machine"}


class Vectors(gym.ObservationWrapper[Any, Any, Any]):
    """The view as a vector, for agents that get no machine: the same one as with it."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (len(minigrid.encode(env.observation_space.sample())),))

    def observation(self, observation: Any) -> Any:
        return minigrid.encode(observation)


def make_world(size: int) -> gym.Env[Any, Any]:
    """The memory task of this size."""
    return gym.make(f"markovize-examples/MemoryS{size}-v0")


def succeed(model: Any, env: gym.Env[Any, Any]) -> float:
    """The share of fresh episodes that a policy succeeds in, doing what it thinks best."""
    succeeded = 0
    for number in range(EPISODES):
        observation, _ = env.reset(seed=FRESH + number)
        memory, first, ended = None, np.ones(1, np.bool_), False
        while not ended:
            action, memory = model.predict(observation, memory, first, deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(int(action))
            first, ended = np.zeros(1, np.bool_), terminated or truncated
            succeeded += float(reward) > 0
    return succeeded / EPISODES


def with_machine(size: int, seed: int, steps: int) -> dict[str, Any]:
    """Active training; ends as soon as 97 of 100 episodes succeed, which are not those of the last evaluation."""
    settings = TrainingSettings("ppo", steps, seed, prologue=PROLOGUES[size], evaluation_episodes=100, target=0.97)
    result = ActiveTraining(lambda: make_world(size), settings).run()
    explored = result.ends == 0
    walked = int(result.lengths[explored].sum())
    curve = [
        [walked + int(at), float(paid)]
        for at, paid in zip(result.ends[~explored], result.returns[~explored], strict=True)
    ]
    return {
        "agent": "machine",
        "success": succeed(result.model, result.wrap(make_world(size))),
        "steps": result.steps,
        "explored_steps": walked,
        "seconds": round(result.seconds, 1),
        "solve_seconds": round(result.solve_seconds, 1),
        "status": result.status,
        "guards": result.to_json()["guards"],
        "machine": describe(result.machine),
        "reward_guards": [guard.text() for guard in result.machine.reward_guards],
        "notes": list(result.notes),
        "curve": curve,
    }


def without(size: int, seed: int, steps: int, recurrent: bool) -> dict[str, Any]:
    """PPO on the view alone, or with an LSTM."""
    from sb3_contrib import RecurrentPPO
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.monitor import Monitor

    def make() -> gym.Env[Any, Any]:
        return Monitor(Prologue(Vectors(make_world(size)), PROLOGUES[size]))

    began, envs = time.perf_counter(), make_vec_env(make, 8, seed=seed)
    common: dict[str, Any] = {"n_steps": 128, "batch_size": 256, "n_epochs": 4, "ent_coef": 0.01, "seed": seed}
    if recurrent:
        model: Any = RecurrentPPO(
            "MlpLstmPolicy", envs, learning_rate=3e-4, policy_kwargs={"lstm_hidden_size": 64}, **common
        )
    else:
        model = PPO("MlpPolicy", envs, learning_rate=1e-3, **common)
    curve: list[list[float]] = []

    def note(seen: dict[str, Any], _: dict[str, Any]) -> bool:
        ended = [info["episode"]["r"] for info in seen["infos"] if "episode" in info]
        curve.extend([model.num_timesteps, float(paid)] for paid in ended)
        return True

    model.learn(steps, callback=note)
    seconds = time.perf_counter() - began
    return {
        "agent": "recurrent" if recurrent else "memoryless",
        "success": succeed(model, make()),
        "steps": model.num_timesteps,
        "seconds": round(seconds, 1),
        "curve": curve,
    }


def draw_curves(path: Path, rows: list[dict[str, Any]], size: int) -> None:
    """Success over steps, each agent's seconds beside it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for row in sorted(rows, key=lambda row: (list(COLOURS).index(row["agent"]), row["seed"])):
        at, paid = np.array(row["curve"], np.float64).reshape(-1, 2).T
        mean = np.convolve(paid, np.ones(100) / 100, "valid") if len(paid) >= 100 else paid[:0]
        label = f"{NAMES[row['agent']]}, seed {row['seed']}: {row['success']:.0%} in {row['seconds']:.0f} s"
        axes.plot(at[len(at) - len(mean) :], mean, color=COLOURS[row["agent"]], label=label, linewidth=1.2)
    walked = max((row["explored_steps"] for row in rows if row["agent"] == "machine"), default=0)
    axes.axvspan(0, walked, color=COLOURS["machine"], alpha=0.07, linewidth=0)
    axes.text(walked / 2, 0.03, "random walks\nfor the machine", ha="center", fontsize=7, color=COLOURS["machine"])
    axes.set(xlabel="steps in the world", ylabel="success, mean of 100 episodes", ylim=(0, 1.02), xlim=(0, None))
    axes.set_title(f"MiniGrid-MemoryS{size}: legend has success in {EPISODES} fresh episodes", fontsize=9)
    axes.legend(fontsize=7, frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Runs all agents and seeds that were asked for."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, choices=minigrid_worlds.SIZES, default=7)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=60_000, help="of training with the machine, at most")
    parser.add_argument("--plain", action="store_true", help="memoryless PPO, too")
    parser.add_argument("--recurrent", action="store_true", help="RecurrentPPO with seed 0, too")
    parser.add_argument("--out", type=Path, default=Path("memory"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []

    def do(agent: str, seed: int, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        path = given.out / f"s{given.size}-{agent}-{seed}.json"
        if not path.exists():
            path.write_text(json.dumps({"size": given.size, "seed": seed, **run()}) + "\n")
        row: dict[str, Any] = json.loads(path.read_text())
        rows.append(row)
        told = [{name: value for name, value in row.items() if name != "curve"} for row in rows]
        print(json.dumps(told[-1]), flush=True)
        (given.out / f"s{given.size}.json").write_text(json.dumps(told, indent=2) + "\n")
        draw_curves(given.out / f"memory-s{given.size}.png", rows, given.size)
        return row

    for seed in range(given.seeds):
        learned = do("machine", seed, partial(with_machine, given.size, seed, given.steps))
        steps = given.steps + learned["explored_steps"]
        if given.plain:
            do("memoryless", seed, partial(without, given.size, seed, steps, False))
        if given.recurrent and seed == 0:
            do("recurrent", seed, partial(without, given.size, seed, steps, True))


if __name__ == "__main__":
    main()
