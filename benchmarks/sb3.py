"""Stable-Baselines3's DQN on Office e and c, with a learned machine and bare: the same episodes and seeds.

    python benchmarks/sb3.py [--seeds 3] [--plot docs/sb3.png]
    python benchmarks/sb3.py --others e     # the settings that the bare one was tried with, one seed each

All get the episodes of the active run that learned the machine in their replay buffer, the bare ones through a machine
of one state. The greedy return is that of one episode without exploring. Settings are those of
``examples/sb3_office.py``, and for the bare one also the best of ``OTHERS``.

On Office c no deterministic policy that sees the cell alone ever earns the 1: the mail room's only door is met on the
way in and on the way out, and there it would have to go both ways. On Office e one exists, whose walk meets no cell
twice; of the settings tried on one seed (SB3's defaults, a network of 64, 64, a lower learning rate, more exploring,
returns of 10 steps, three times as long) only the returns of 10 steps ever earned the 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from markovize import RewardMachine, Traces
from sb3_office import NO_MACHINE, STEPS, Evaluation, dqn, explored, wrapped

EVERY = 500
OTHERS: dict[str, dict[str, Any]] = {
    "SB3's defaults": {
        "policy_kwargs": None,
        "learning_rate": 1e-4,
        "gamma": 0.99,
        "batch_size": 32,
        "gradient_steps": 1,
        "tau": 1.0,
        "target_update_interval": 10_000,
        "exploration_initial_eps": 1.0,
        "exploration_final_eps": 0.05,
    },
    "a network of 64, 64": {"policy_kwargs": {"net_arch": [64, 64]}, "learning_rate": 1e-3},
    "a lower learning rate": {"learning_rate": 1e-3},
    "more exploring": {"exploration_initial_eps": 1.0, "exploration_final_eps": 0.3},
    "returns of 10 steps": {"n_steps": 10, "replay_buffer_class": None, "replay_buffer_kwargs": None},
    "three times as long": {"steps": 3 * STEPS},
}
BEST = "returns of 10 steps"
MACHINE, BARE, BARE_BEST = "with the learned machine", "bare", f"bare, {BEST}"
COLOURS = {MACHINE: "#1f6f8b", BARE_BEST: "#d9a441", BARE: "#c8553d"}  # the last one is drawn on top
DASHES = {BARE: (0, (2, 2))}
Curve = list[tuple[int, float]]
Curves = dict[str, dict[str, list[Curve]]]  # of each task and kind of agent, one for each seed


def measure(tasks: str, seeds: int, steps: int) -> Curves:
    """The curves of each seed, printed as a table on the way."""
    curves: Curves = {task: {name: [] for name in COLOURS} for task in tasks}
    heading()
    for task in tasks:
        for seed in range(seeds):
            machine, episodes = explored(seed, task=task)
            for name, known, changes in (
                (MACHINE, machine, {}),
                (BARE, NO_MACHINE, {}),
                (BARE_BEST, NO_MACHINE, OTHERS[BEST]),
            ):
                curves[task][name].append(trained(name, task, known, episodes, seed, {"steps": steps} | changes))
    return curves


def try_others(task: str) -> None:
    """The bare DQN with each of the other settings."""
    heading()
    _, episodes = explored(task=task)
    for name, changes in OTHERS.items():
        trained(f"bare, {name}", task, NO_MACHINE, episodes, 0, {"steps": STEPS} | changes)


def heading() -> None:
    print("| DQN on Office | task | seed | optimal from step | optimal at | at the end | seconds (processor) |")
    print("|---|---|---|---|---|---|---|", flush=True)


def trained(
    name: str, task: str, machine: RewardMachine, episodes: Traces, seed: int, settings: dict[str, Any]
) -> Curve:
    """The greedy returns along one training, as a row of the table."""
    start, evaluation = time.process_time(), Evaluation(wrapped(machine, task), EVERY)
    steps = settings.pop("steps")
    dqn(machine, episodes, seed, task, **settings).learn(steps, callback=evaluation)
    since, curve = optimal_since(evaluation.curve), evaluation.curve
    often = np.mean([paid == 1 for _, paid in curve])
    print(
        f"| {name} | {task} | {seed} | {'never' if since is None else f'{since:,}'} | {often:.0%} of the times "
        f"| {curve[-1][1]:g} | {time.process_time() - start:.0f} |",
        flush=True,
    )
    return curve


def optimal_since(curve: Curve) -> int | None:
    """The step from which on every greedy episode earned 1."""
    wrong = [step for step, paid in curve if paid != 1]
    later = [step for step, _ in curve if not wrong or step > wrong[-1]]
    return later[0] if later else None


def plot(curves: Curves, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(curves), 3.4), layout="constrained")
    titles = {"e": "Office e: a, b, c, d in this order", "c": "Office c: mail, then office"}
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, (task, agents) in zip(panels, curves.items(), strict=True):
        for name, runs in agents.items():
            steps = [step for step, _ in runs[0]]
            returns = np.array([[paid for _, paid in run] for run in runs])
            style = {"color": COLOURS[name], "linestyle": DASHES.get(name, "-"), "linewidth": 2}
            axes.plot(steps, returns.mean(axis=0), label=name, **style)
            for run in returns:
                axes.plot(steps, run, color=COLOURS[name], alpha=0.25, linewidth=1)
        axes.axhline(1, color="grey", linestyle=":", linewidth=1)
        axes.annotate("optimum", (steps[0], 1), xytext=(0, 3), textcoords="offset points", color="grey", fontsize=8)
        axes.set(xlabel="steps", ylim=(-0.6, 1.2))
        axes.set_title(titles[task], fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("return of a greedy episode")
    panels[0].legend(fontsize=8, frameon=False, loc="lower right")
    figure.suptitle(f"Stable-Baselines3's DQN: {len(runs)} seeds and their mean", fontsize=11)
    figure.savefig(path, dpi=150)
    print(f"\nplot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="ec", help="of the figure, each a letter")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--others", metavar="TASK", help="try the bare one's other settings instead")
    parser.add_argument("--plot", type=Path, default=Path("docs/sb3.png"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.others:
        try_others(options.others)
    else:
        plot(measure(options.tasks, options.seeds, options.steps), options.plot)


if __name__ == "__main__":
    main()
