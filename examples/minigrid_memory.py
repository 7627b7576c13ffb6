"""MiniGrid's memory tasks: PPO with a machine beside memoryless PPO and RecurrentPPO, all from the agent's own view.

In a first room lies a key or a ball; at the end of a corridor lie both, and only the place beside the same thing pays.
All agents begin each episode by turning around, since rewards of an agent that never looked are a matter of chance. The
machine is found in random walks; then PPO trains on view and machine state. Writes a table and a figure.

    python examples/minigrid_memory.py --size 7 --seeds 3 --steps 100000 --recurrent --out memory
"""

from __future__ import annotations

import argparse
import json
import time
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

TURN_AROUND: Final = (0, 0)
EPISODES: Final = 200
COLOURS: Final = {"machine": "#1565c0", "memoryless": "#9e9e9e", "recurrent": "#ef6c00"}


class Vectors(gym.ObservationWrapper[Any, Any, Any]):
    """The view as a vector, for agents that get no machine: the same one as with it."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (len(minigrid.encode(env.observation_space.sample())),))

    def observation(self, observation: Any) -> Any:
        return minigrid.encode(observation)


def with_machine(env_id: str, seed: int, steps: int) -> dict[str, Any]:
    """Active training; ends as soon as 97 of 100 evaluation episodes succeed."""
    settings = TrainingSettings("ppo", steps, seed, prologue=TURN_AROUND, evaluation_episodes=EPISODES, target=0.97)
    result = ActiveTraining(lambda: gym.make(env_id), settings).run()
    explored = result.ends == 0
    curve = [[int(at), float(paid)] for at, paid in zip(result.ends[~explored], result.returns[~explored], strict=True)]
    return {
        "agent": "machine",
        "success": result.succeeded,
        "steps": result.steps,
        "explored_steps": int(result.lengths[explored].sum()),
        "seconds": round(result.seconds, 1),
        "solve_seconds": round(result.solve_seconds, 1),
        "status": result.status,
        "guards": result.to_json()["guards"],
        "machine": describe(result.machine),
        "reward_guards": [guard.text() for guard in result.machine.reward_guards],
        "notes": list(result.notes),
        "curve": curve,
    }


def without(env_id: str, seed: int, steps: int, recurrent: bool) -> dict[str, Any]:
    """PPO on the view alone, or with an LSTM."""
    from sb3_contrib import RecurrentPPO
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor

    def make() -> gym.Env[Any, Any]:
        return Monitor(Prologue(Vectors(gym.make(env_id)), TURN_AROUND))

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
    returns, _ = evaluate_policy(model, make_vec_env(make, 1, seed=10**6), EPISODES, return_episode_rewards=True)
    name = "recurrent" if recurrent else "memoryless"
    success = float(np.mean(np.array(returns) > 0))
    return {
        "agent": name,
        "success": success,
        "steps": model.num_timesteps,
        "seconds": round(seconds, 1),
        "curve": curve,
    }


def draw_curves(path: Path, rows: list[dict[str, Any]], size: int) -> None:
    """Success over steps, each agent's seconds beside it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for row in rows:
        at, paid = np.array(row["curve"], np.float64).reshape(-1, 2).T
        mean = np.convolve(paid, np.ones(100) / 100, "valid") if len(paid) >= 100 else paid[:0]
        label = f"{row['agent']}, seed {row['seed']}: {row['success']:.0%} in {row['seconds']:.0f} s"
        axes.plot(at[len(at) - len(mean) :], mean, color=COLOURS[row["agent"]], label=label, linewidth=1.2)
    axes.set(xlabel="training steps", ylabel="success, mean of 100 episodes", ylim=(0, 1.02))
    axes.set_title(f"MiniGrid-MemoryS{size}: legend has success in {EPISODES} evaluation episodes", fontsize=9)
    axes.legend(fontsize=7, frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Runs all agents and seeds that were asked for."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, choices=minigrid_worlds.SIZES, default=7)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--plain", action="store_true", help="memoryless PPO, too")
    parser.add_argument("--recurrent", action="store_true", help="RecurrentPPO, too")
    parser.add_argument("--out", type=Path, default=Path("memory"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    env_id, rows = f"markovize-examples/MemoryS{given.size}-v0", []
    for seed in range(given.seeds):
        runs = [partial(with_machine, env_id, seed, given.steps)]
        runs += [partial(without, env_id, seed, given.steps, False)] if given.plain else []
        runs += [partial(without, env_id, seed, given.steps, True)] if given.recurrent and seed == 0 else []
        for run in runs:
            rows.append({"size": given.size, "seed": seed, **run()})
            shown = {name: value for name, value in rows[-1].items() if name != "curve"}
            print(json.dumps(shown), flush=True)
            told = [{name: value for name, value in row.items() if name != "curve"} for row in rows]
            (given.out / "results.json").write_text(json.dumps(told, indent=2) + "\n")
            draw_curves(given.out / f"curves-s{given.size}.png", rows, given.size)


if __name__ == "__main__":
    main()
