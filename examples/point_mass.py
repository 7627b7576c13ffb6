"""A point in a room, paid for the dock at the right only after the store at the left; nobody labelled either.

The agent sees its position, two real numbers, and nothing else. `markovize run` finds the regions by itself:

    markovize run markovize-examples/PointMass-v0 --import point_mass --features point_mass:position --agent dqn

This script does the same for several seeds, trains a plain PPO beside it with as many steps, those of exploration
included, and draws the regions that were found.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from markovize import Guard, describe
from markovize.features import named
from markovize.integrations.sb3 import ActiveTraining, TrainingResult, TrainingSettings

ENV_ID: Final = "markovize-examples/PointMass-v0"
ROOM: Final = (10.0, 5.0)
STORE: Final = ((0.5, 2.5), (2.5, 4.5))  # x from 0.5 to 2.5, y from 2.5 to 4.5
DOCK: Final = ((7.5, 9.5), (0.5, 2.5))
STRIDE, WOBBLE, LONGEST = 0.5, 0.05, 150
EPISODES: Final = 200  # of evaluation
DIRECTIONS: Final = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)], np.float64)

position = named("x", "y")


class PointMass(gym.Env[Any, Any]):
    """Four directions, half a unit each, with a wobble; after the store, the dock pays 1 and ends the episode."""

    observation_space = spaces.Box(np.zeros(2, np.float32), np.array(ROOM, np.float32))
    action_space = spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._at = self.np_random.uniform((4.0, 1.5), (6.0, 3.5))
        self._stored = False
        return self._at.astype(np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        moved = self._at + STRIDE * DIRECTIONS[int(action)] + self.np_random.normal(0.0, WOBBLE, 2)
        self._at = np.clip(moved, 0.0, ROOM)
        seen = self._at.astype(np.float32)
        self._stored = self._stored or within(STORE, seen)
        done = self._stored and within(DOCK, seen)
        return seen, float(done), done, False, {}


def within(box: tuple[tuple[float, float], tuple[float, float]], at: Any) -> bool:
    """Whether a position lies in a box."""
    return all(low <= value < high for (low, high), value in zip(box, at, strict=True))


gym.register(ENV_ID, entry_point=lambda **_: PointMass(), max_episode_steps=LONGEST)


def train_with_machine(seed: int, agent: str, steps: int) -> TrainingResult:
    """Explores, finds the machine, trains on it."""
    settings = TrainingSettings(
        agent,  # type: ignore[arg-type]
        steps,
        seed,
        features=position,
        target=0.98,
        evaluation_episodes=EPISODES,
    )
    return ActiveTraining(lambda: gym.make(ENV_ID), settings).run()


def train_plainly(seed: int, steps: int) -> float:
    """PPO on positions alone, so many steps; what its policy earns."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy

    envs = make_vec_env(ENV_ID, 8, seed=seed)
    model = PPO(
        "MlpPolicy", envs, n_steps=128, batch_size=256, n_epochs=4, ent_coef=0.01, learning_rate=1e-3, seed=seed
    )
    model.learn(steps)
    mean, _ = evaluate_policy(model, make_vec_env(ENV_ID, 1, seed=10**6), EPISODES)
    return float(np.mean(mean))


def draw_regions(path: Path, result: TrainingResult) -> None:
    """The regions of the found guards over random walks and what the policy last did, with the true ones dashed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    figure = Figure(figsize=(7, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    kept = list(result.kept)
    for episode in kept[:25]:
        axes.plot(*np.array(episode.observations).T, color="#cfd8dc", linewidth=0.6, zorder=1)
    for episode in [episode for episode in kept if sum(episode.rewards)][-8:]:
        axes.plot(*np.array(episode.observations).T, color="#2e7d32", linewidth=0.8, zorder=2)
    guards: list[tuple[object, str, str]] = [
        (trigger.on, f"state {trigger.source} → {trigger.target}", "#1565c0") for trigger in result.machine.triggers
    ]
    guards += [(guard, "reward", "#c62828") for guard in result.machine.reward_guards]
    for guard, name, colour in guards:
        sides = {"x": [0.0, ROOM[0]], "y": [0.0, ROOM[1]]}
        assert isinstance(guard, Guard)
        for literal in guard.literals:
            sides[literal.feature][literal.relation == "below"] = literal.threshold
        (x, right), (y, top) = sides["x"], sides["y"]
        axes.add_patch(Rectangle((x, y), right - x, top - y, color=colour, alpha=0.25, linewidth=0, zorder=3))
        where = {"boxstyle": "round", "facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.2}
        axes.text((x + right) / 2, (y + top) / 2, name, color=colour, ha="center", fontsize=9, bbox=where, zorder=5)
    for (x, right), (y, top) in (STORE, DOCK):
        axes.add_patch(Rectangle((x, y), right - x, top - y, fill=False, linestyle="--", zorder=4))
    axes.set(xlim=(0, ROOM[0]), ylim=(0, ROOM[1]), aspect="equal", xlabel="x", ylabel="y")
    axes.set_title(
        "Regions that were found, the true ones (dashed), random walks (grey), the policy (green)", fontsize=10
    )
    figure.savefig(path, dpi=120)


def main() -> None:
    """Runs the comparison and writes its table and picture."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--agent", choices=("dqn", "ppo"), default="dqn")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--no-plain", action="store_true", help="leave plain PPO out")
    parser.add_argument("--out", type=Path, default=Path("point-mass"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for seed in range(given.seeds):
        began = time.perf_counter()
        result = train_with_machine(seed, given.agent, given.steps)
        walked = int(result.lengths[result.ends == 0].sum())
        row = {"seed": seed, **result.to_json(), "machine": describe(result.machine, rewards=True)}
        row |= {"notes": list(result.notes), "explored_steps": walked}
        row["searches"] = [round(solve.seconds, 1) for solve in result.solves]
        if not given.no_plain:
            row["plain_ppo_return"] = train_plainly(seed, walked + given.steps)
        rows.append(row | {"all_seconds": round(time.perf_counter() - began, 1)})
        print(json.dumps(rows[-1]), flush=True)
        if seed == 0:
            draw_regions(given.out / "regions.png", result)
        (given.out / "results.json").write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
