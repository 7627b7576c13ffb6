"""Stable-Baselines3's DQN on Office e, with a learned machine and bare: the same episodes, settings and seeds.

    python benchmarks/sb3.py [--seeds 3] [--plot docs/sb3.png]

Both get the episodes of the active run that learned the machine in their replay buffer, the bare one through a machine
of one state. The greedy return is that of one episode without exploring. Settings are those of
``examples/sb3_office.py``.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from sb3_office import NO_MACHINE, STEPS, Evaluation, dqn, explored, wrapped

EVERY = 500
COLOURS = {"with the learned machine": "#1f6f8b", "bare": "#c8553d"}
Curves = dict[str, list[list[tuple[int, float]]]]


def measure(seeds: int, steps: int) -> Curves:
    """The curves of each seed, printed as a table on the way."""
    curves: Curves = {name: [] for name in COLOURS}
    print("| DQN on Office e | seed | optimal from step | at the end | active run, s | training, s (processor) |")
    print("|---|---|---|---|---|---|", flush=True)
    for seed in range(seeds):
        start = time.perf_counter()
        machine, episodes = explored(seed)
        exploring = time.perf_counter() - start
        for name, known in zip(COLOURS, (machine, NO_MACHINE), strict=True):
            start = time.process_time()
            evaluation = Evaluation(wrapped(known), EVERY)
            dqn(known, episodes, seed).learn(steps, callback=evaluation)
            seconds = time.process_time() - start
            curves[name].append(evaluation.curve)
            since = optimal_since(evaluation.curve)
            print(
                f"| {name} | {seed} | {'never' if since is None else f'{since:,}'} | {evaluation.curve[-1][1]:g} "
                f"| {exploring:.1f} | {seconds:.0f} |",
                flush=True,
            )
    return curves


def optimal_since(curve: list[tuple[int, float]]) -> int | None:
    """The step from which on every greedy episode earned 1."""
    wrong = [step for step, paid in curve if paid != 1]
    later = [step for step, _ in curve if not wrong or step > wrong[-1]]
    return later[0] if later else None


def plot(curves: Curves, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, runs in curves.items():
        steps = [step for step, _ in runs[0]]
        returns = np.array([[paid for _, paid in run] for run in runs])
        axes.plot(steps, returns.mean(axis=0), color=COLOURS[name], linewidth=2, label=name)
        for run in returns:
            axes.plot(steps, run, color=COLOURS[name], alpha=0.25, linewidth=1)
    axes.axhline(1, color="grey", linestyle=":", linewidth=1)
    axes.annotate("optimum", (0, 1), xytext=(2, 3), textcoords="offset points", color="grey", fontsize=8)
    axes.set(xlabel="steps", ylabel="return of a greedy episode", ylim=(-1.1, 1.2))
    axes.set_title(f"Stable-Baselines3's DQN on Office e, {len(runs)} seeds", fontsize=11)
    axes.legend(fontsize=9, frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    print(f"\nplot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--plot", type=Path, default=Path("docs/sb3.png"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    plot(measure(options.seeds, options.steps), options.plot)


if __name__ == "__main__":
    main()
