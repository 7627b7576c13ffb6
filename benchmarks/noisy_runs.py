"""Acting under noise: Harvest and Mining, without propositions and without being told how noisy rewards are.

    python benchmarks/noisy_runs.py [--world harvest|mining] [--seeds 10] [--episodes N] [--limit SECONDS]

A run is right if what its greedy policy earns on average, computed on the product of the true machine with the learned
one, is the optimum by value iteration on the true product. Steps are all that were made, episodes that were repeated to
measure the noise included; published are 25,000 for Harvest and 3,000,000 for Mining, with labels and the noise given.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Final, NamedTuple

import gymnasium

from markovize import ActiveLearner, Settings
from markovize.agents.tabular.evaluation import optimal_return
from markovize.agents.tabular.policy import Policy
from markovize.worlds import World, world

GAMMA: Final = 0.9


def state_and_action(state: Any, action: Any, _next_state: Any) -> list[Any]:
    """What a step is called where machines move by actions: no proposition, just less than the whole transition."""
    return [state, action]


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
        500,
        50,
        25_000,
        {"trigger_on": state_and_action, "reward_on": state_and_action, "effort": 50},
    ),
    "mining": Task(
        "markovize/MiningWorld-v0",
        3_000,
        1_000,
        3_000_000,
        {"trigger_on": "state", "reward_on": "state", "effort": 300},
    ),
}


def mean_return(where: World, policy: Policy, steps: int) -> float:
    """What a policy earns on average within so many steps: exactly, over all that may happen."""
    here, total = {(where.machine.initial, policy.machine.initial, where.start): 1.0}, 0.0
    for _ in range(steps):
        after: dict[tuple[int, int, int], float] = {}
        for (u, v, s), chance in here.items():
            a = policy.choose(where.observations[s], v)
            reached = int(where.successor[s, a])
            chances = {reached: 1.0} if where.drift is None else dict(enumerate(where.drift[reached].tolist()))
            for t, share in chances.items():
                step = where.step(s, u, a, t)
                total += chance * share * step.reward
                if not step.terminated:
                    seen = where.observations[s], where.actions[a], where.observations[t]
                    place = step.u, policy.follow(v, seen), t
                    after[place] = after.get(place, 0.0) + chance * share
        here = after
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=[*TASKS], default="harvest")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--limit", type=float, help="seconds for each run")
    options = parser.parse_args()
    task, where = TASKS[options.world], world(options.world)
    optimum = optimal_return(where, GAMMA, task.steps)
    print(
        f"{where.name}: optimum {optimum:.4g} in {task.steps} steps, gamma {GAMMA}; published {task.published:,} steps"
    )
    right = 0
    for seed in range(options.first, options.first + options.seeds):
        begun = time.perf_counter()
        episodes = options.episodes or task.episodes
        settings = Settings.of(episodes=episodes, seed=seed, gamma=GAMMA, tolerance="auto", **task.settings)
        result = ActiveLearner(gymnasium.make(task.env_id), settings).run(options.limit)
        earned = mean_return(where, result.policy, task.steps)
        steps = int(result.lengths.sum())
        is_right = earned > optimum - 1e-6 and steps <= task.published
        right += is_right
        stopped = f", {result.stopped}" if result.stopped else ""
        sizes = f"{result.machine.states} states {len(result.machine.triggers)} triggers"
        print(
            f"seed {seed}: {'optimal' if is_right else 'NOT'} {earned:.4g} ({earned / optimum:.1%}), {steps:,} steps, "
            f"{sizes}, {len(result.solves)} solves, {time.perf_counter() - begun:.0f} s{stopped}; "
            f"{result.noise}",
            flush=True,
        )
    print(f"{right} of {options.seeds} optimal")


if __name__ == "__main__":
    main()
