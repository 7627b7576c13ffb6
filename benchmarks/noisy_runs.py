"""Acting under noise: Harvest and Mining, without propositions and without being told how noisy rewards are.

    python benchmarks/noisy_runs.py [--world harvest|mining] [--seeds 10] [--first 0] [--episodes N] [--limit SECONDS]

A run is right if its greedy policy is worth what the best one is: the expected return, computed on the product of the
true machine with the learned one, is that of value iteration on the true product, discounted (so that in Mining a
detour counts) and not. Steps are all that were made, episodes that were repeated to measure the noise included;
published are 25,000 for Harvest and 3,000,000 for Mining, with labels and the noise given. Harvest's labels are left to
``auto``, Mining's are the cells (states). Processor seconds.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Final, NamedTuple

import gymnasium

from markovize import ActiveLearner, Settings
from markovize.agents.tabular.policy import Policy
from markovize.episodes.values import Interner
from markovize.product.value_iteration import optimal_values
from markovize.worlds import World, world

GAMMA: Final = 0.9


class Task(NamedTuple):
    """A world, how many episodes are played, how long they are, and what is set."""

    env_id: str
    episodes: int
    steps: int
    published: int
    settings: dict[str, Any]


TASKS: Final = {
    "harvest": Task(
        "markovize/HarvestWorld-v0",
        600,
        50,
        25_000,
        {"effort": 50},
    ),
    "mining": Task(
        "markovize/MiningWorld-v0",
        8_000,
        1_000,
        3_000_000,
        {"trigger_on": "state", "reward_on": "state", "effort": 300, "greedy_tail": 500},
    ),
}


def mean_return(where: World, policy: Policy, steps: int, gamma: float = 1.0) -> float:
    """What a policy earns on average within so many steps: exactly, over all that may happen."""
    here, total = {(where.machine.initial, policy.machine.initial, where.start): 1.0}, 0.0
    for n in range(steps):
        after: dict[tuple[int, int, int], float] = {}
        for (u, v, s), chance in here.items():
            a = policy.choose(where.observations[s], v)
            reached = int(where.successor[s, a])
            chances = {reached: 1.0} if where.drift is None else dict(enumerate(where.drift[reached].tolist()))
            for t, share in chances.items():
                step = where.step(s, u, a, t)
                total += gamma**n * chance * share * step.reward
                if not step.terminated:
                    seen = where.observations[s], where.actions[a], where.observations[t]
                    place = step.u, policy.follow(v, seen), t
                    after[place] = after.get(place, 0.0) + chance * share
        here = after
    return total


def best_policy(where: World) -> Policy:
    """That of value iteration on the true product."""
    machine, states = where.machine, Interner(where.observations)
    return Policy(machine, machine.trigger_labels, states, where.actions, optimal_values(where, GAMMA))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=[*TASKS], default="harvest")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--limit", type=float, help="seconds for each run")
    options = parser.parse_args()
    task, where = TASKS[options.world], world(options.world)
    best = best_policy(where)
    optimum, worth = mean_return(where, best, task.steps), mean_return(where, best, task.steps, GAMMA)
    print(f"{where.name}: the best policy earns {optimum:.4g} in {task.steps} steps, discounted {worth:.4g}\n")
    print("| seed | policy | earns | discounted | steps | machine | solves | seconds | noise |")
    print("|---|---|---|---|---|---|---|---|---|")
    right = 0
    for seed in range(options.first, options.first + options.seeds):
        begun = time.process_time()
        episodes = options.episodes or task.episodes
        settings = Settings.of(episodes=episodes, seed=seed, gamma=GAMMA, tolerance="auto", **task.settings)
        result = ActiveLearner(gymnasium.make(task.env_id), settings).run(options.limit)
        seconds = time.process_time() - begun
        earned = mean_return(where, result.policy, task.steps)
        valued, steps = mean_return(where, result.policy, task.steps, GAMMA), int(result.lengths.sum())
        is_right = min(earned - optimum, valued - worth) > -1e-6 and steps <= task.published
        right += is_right
        sizes = f"{result.machine.states} states, {len(result.machine.triggers)} triggers"
        told = "" if result.noise is None else str(result.noise).replace("|", "")
        words = ("optimal" if is_right else "NOT optimal") + (f", {result.stopped}" if result.stopped else "")
        print(
            f"| {seed} | {words} | {earned / optimum:.1%} | {valued / worth:.1%} | {steps:,} | {sizes} | "
            f"{len(result.solves)} | {seconds:.0f} | {told} |",
            flush=True,
        )
    print(f"\n{right} of {options.seeds} optimal, published {task.published:,} steps")


if __name__ == "__main__":
    main()
