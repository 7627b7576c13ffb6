"""What a step of the active learner costs: compiled, plainly in Python, and over stepping an environment bare.

    python benchmarks/steps.py [--quick]

- *Compiled* is the learner's loop on the tables of Office e, detection and pool included. *Not compiled* is the very
  same source, run by Python on the same arrays. *On lists* is the loop as one would tune it by hand in Python; it draws
  the same numbers and must end with the same returns. *Stepped* is the learner on the world as a Gymnasium environment.
- *Over bare* is the learner's time for a step, once an environment is known, less the time that the environment takes
  for the same seeds and actions with nobody learning.
- The last lines are whole runs, every search for a machine and evaluation included.

Steps are timed in processor time, in turns, and the median is shown; whole runs are timed by the clock.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

import markovize  # noqa: F401 - registers the worlds
from markovize.agents.tabular import ActiveLearner, Settings
from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.compiled.arrays import Hyperparameters
from markovize.agents.tabular.compiled.worlds import FULL
from markovize.agents.tabular.runners import EnvRunner, EpisodeRunner, WorldRunner
from markovize.machine.machine import RewardMachine
from markovize.worlds import World, world

Q_LEARNING = Hyperparameters(False, 0.1, 0, 0.1, 0.95, False, False)
DIRECTED = Hyperparameters(True, 0.0, 100, 0.1, 0.95, False, False)
MODES = {"Q-learning": Q_LEARNING, "directed": DIRECTED}
MILLIONS, TIMES, MICROSECONDS, SECONDS = 5.0, 30.0, 10.0, 30.0  # the goals
STEPS = 200  # of an episode, at most


class Session:
    """A runner with an agent that believes in one fixed machine, so that nothing but playing takes time."""

    def __init__(
        self, runner: EpisodeRunner, how: Hyperparameters, machine: RewardMachine, labels: str = "state"
    ) -> None:
        self.runner, self.how = runner, how
        runner.codec.relabel(labels, labels)
        self.agent = Agent.new(runner.codec, machine, runner.room, steps=STEPS)

    def play(self, episodes: int) -> tuple[float, int, list[float]]:
        """(seconds, steps, returns). A conflict is only skipped: what follows from it is not a step's work."""
        returns: list[float] = []
        steps, start = 0, time.process_time()
        while len(returns) < episodes:
            played = self.runner.play(self.agent, self.how, episodes - len(returns))
            returns += played.returns.tolist()
            steps += int(played.lengths.sum())
            if played.why == FULL:
                self.agent.add_rows()
            elif self.agent.arrays.episode.status[0].news:
                self.agent.plan(lambda: None)
        return time.process_time() - start, steps, returns


def table(where: World) -> WorldRunner:
    return WorldRunner(where, np.random.default_rng(0))


# --- the same loop in plain Python ---------------------------------------------------------------------------------


class Plain:
    """Q-learning on a world's tables, with its machine known: what ``q_learning_steps`` does, and ``file_episode``."""

    def __init__(self, where: World) -> None:
        tables, k = where.tables, where.machine.states
        self.successor, self.machine = where.successor.tolist(), tables.u.tolist()
        self.reward, self.ends = tables.reward.tolist(), tables.terminated.tolist()
        self.start, self.initial = int(where.start), int(where.machine.initial)
        states, actions = where.successor.shape
        self.delta = table(where).codec.delta(where.machine).tolist()
        self.q = [[[0.0] * actions for _ in range(states)] for _ in range(k)]
        self.known = [[[math.nan] * k for _ in range(states)] for _ in range(k)]
        self.ended = [[[False] * k for _ in range(states)] for _ in range(k)]
        self.shortest = [[[2**31] * k for _ in range(states)] for _ in range(k)]
        self.draw = draws(np.random.default_rng(0)).__next__

    def play(self, episodes: int) -> tuple[float, int, list[float]]:
        """(seconds, steps, returns)."""
        start, steps, returns = time.process_time(), 0, []
        for _ in range(episodes):
            self.draw(), self.draw()
            total, record, conflict = self.episode(Q_LEARNING.epsilon, Q_LEARNING.alpha, Q_LEARNING.gamma)
            steps += len(record)
            returns.append(total)
            if conflict < 0:
                self.hold(record)
        return time.process_time() - start, steps, returns

    def episode(self, epsilon: float, alpha: float, gamma: float) -> tuple[float, list[tuple[int, ...]], int]:
        s, m, u, total, conflict, end = self.start, self.initial, 0, 0.0, -1, False
        record: list[tuple[int, ...]] = []
        while len(record) < STEPS and not end:
            a = choose(self.q[u][s], epsilon, self.draw(), self.draw())
            reward, end, t = self.reward[m][s][a], self.ends[m][s][a], self.successor[s][a]
            m = self.machine[m][s][a]
            v = self.delta[u][t]
            if self.remember(u, t, v, reward, end) == 2 and conflict < 0:
                conflict = len(record)
            goal = reward if end else reward + gamma * max(self.q[v][t])
            self.q[u][s][a] += alpha * (goal - self.q[u][s][a])
            record.append((s, a, t, reward, u, v))
            total += reward
            s, u = t, v
        return total, record, conflict

    def remember(self, u: int, label: int, v: int, reward: float, end: bool) -> int:
        known = self.known[u][label][v]
        if math.isnan(known):
            self.known[u][label][v] = reward
            self.ended[u][label][v] = end
            return 1
        if end and not self.ended[u][label][v]:
            self.ended[u][label][v] = True
        return 2 if known != reward else 0

    def hold(self, record: list[tuple[int, ...]]) -> None:
        for _, _, label, _, u, v in record:
            if len(record) < self.shortest[u][label][v]:
                self.shortest[u][label][v] = len(record)


def choose(row: list[float], epsilon: float, first: float, second: float) -> int:
    if first < epsilon:
        return int(second * len(row))
    top = max(row)
    ties = [a for a, value in enumerate(row) if value == top]
    return ties[int(second * len(ties))]


def draws(rng: np.random.Generator) -> Iterator[float]:
    """The generator's numbers, many at a time, since one at a time costs as much as a step."""
    while True:
        yield from rng.random(10_000).tolist()


# --- lines of the table --------------------------------------------------------------------------------------------


def line(what: str, measured: str, goal: str = "", met: bool | None = None) -> None:
    print(f"| {what} | {measured} | {goal} | {'' if met is None else 'yes' if met else 'NO'} |", flush=True)


def speeds(episodes: int, repetitions: int) -> None:
    """Steps a second of each loop, in turns."""
    office = world("office", task="e")
    env: gym.Env[Any, Any] = gym.wrappers.TransformReward(gym.make("markovize/OfficeWorld-v0", task="e"), float)
    stepping = EnvRunner(env, np.random.default_rng(0))
    quick = Session(table(office), Q_LEARNING, office.machine)
    plain = Plain(office)
    few = max(1, episodes // 20)
    assert quick.play(few)[2] == plain.play(few)[2], "the loops do not do the same"
    loops: dict[str, tuple[Callable[[int], tuple[float, int, list[float]]], int]] = {
        "compiled": (quick.play, episodes),
        "plain": (plain.play, few),
        "stepped": (Session(stepping, Q_LEARNING, office.machine).play, few),
        "directed": (Session(table(office), DIRECTED, office.machine).play, episodes),
    }
    taken: dict[str, list[float]] = {name: [] for name in loops}
    for repetition in range(repetitions + 1):
        for name, (play, much) in loops.items():
            seconds, steps, _ = play(much)
            if repetition:  # the first one warms up
                taken[name].append(seconds / steps)
    taken["source"] = [uncompiled(max(1, few // 10)) for _ in range(repetitions)]
    rate = {name: 1e-6 / statistics.median(times) for name, times in taken.items()}
    goal, times = f"≥ {MILLIONS:.0f} million", f"≥ {TIMES:.0f} times"
    line(
        "Office e, Q-learning, compiled", f"{rate['compiled']:.1f} million steps/s", goal, rate["compiled"] >= MILLIONS
    )
    for name, what in (("source", "not compiled"), ("plain", "plain Python on lists")):
        ratio = statistics.median(slow / fast for slow, fast in zip(taken[name], taken["compiled"], strict=True))
        measured = f"{rate[name]:.3f} million steps/s; compiled is {ratio:.0f} times as fast"
        line(f"Office e, Q-learning, {what}", measured, times, ratio >= TIMES)
    line("Office e, Q-learning, stepped through Gymnasium", f"{rate['stepped']:.3f} million steps/s")
    line("Office e, directed (tours and their searches), compiled", f"{rate['directed']:.1f} million steps/s")


def uncompiled(episodes: int) -> float:
    """Seconds for a step of the loop's own source, in a Python that compiles nothing."""
    command = [sys.executable, __file__, "--uncompiled", str(episodes)]
    done = subprocess.run(command, capture_output=True, check=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    return float(done.stdout)


def over_bare(name: str, mode: str, steps: int, repetitions: int) -> None:
    """One environment in one mode: the learner's time less the environment's own."""
    env: gym.Env[Any, Any] = gym.make(name, max_episode_steps=STEPS)
    runner = EnvRunner(env, np.random.default_rng(0))
    session = Session(runner, MODES[mode], RewardMachine("transition", "transition", 1), "transition")
    played, episodes = 0, 0
    while played < 5 * steps:
        played += session.play(50)[1]
        episodes += 50
    block = max(1, episodes * steps // played)
    learning, bare = [], []
    for _ in range(repetitions):
        runner.recent = deque()  # all that is played
        seconds, done, _ = session.play(block)
        learning.append(seconds / done)
        bare.append(alone(env, runner) / done)
    extra = 1e6 * statistics.median(w - b for w, b in zip(learning, bare, strict=True))
    measured = f"{extra:.1f} µs (bare {1e6 * statistics.median(bare):.1f} µs)"
    line(f"{name}, {mode}, over bare", measured, f"≤ {MICROSECONDS:.0f} µs", extra <= MICROSECONDS)


def alone(env: gym.Env[Any, Any], runner: EnvRunner) -> float:
    """Seconds that the environment takes for the same episodes by itself."""
    codec = runner.codec
    script = [(seed, [codec.actions[codec.action[x]] for x in xs.tolist()]) for seed, xs, _ in runner.recent]
    reset, step = env.reset, env.step
    start = time.process_time()
    for seed, actions in script:
        reset(seed=seed)
        for action in actions:
            step(action)
    return time.process_time() - start


def whole_run(mode: str, episodes: int, repetitions: int) -> None:
    """A run of Office e by the clock."""
    taken = []
    for seed in range(repetitions):
        env = gym.make("markovize/OfficeWorld-v0", task="e")
        learner = ActiveLearner(env, Settings.of(mode, episodes=episodes, seed=seed))
        start = time.perf_counter()
        result = learner.run()
        taken.append((time.perf_counter() - start, result.solve_seconds, result.episodes))
    seconds, solving, played = sorted(taken)[len(taken) // 2]
    measured = f"{seconds:.1f} s ({solving:.1f} s solving; {played:,} with the wait)"
    line(f"Office e, {episodes:,} episodes, mode {mode}", measured, f"≤ {SECONDS:.0f} s", seconds <= SECONDS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few seconds, and fewer episodes in the whole runs")
    parser.add_argument("--uncompiled", type=int, metavar="EPISODES", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.uncompiled:
        office = world("office", task="e")
        seconds, steps, _ = Session(table(office), Q_LEARNING, office.machine).play(asked.uncompiled)
        print(seconds / steps)
        return
    quick = asked.quick
    repetitions = 3 if quick else 9
    print("| what | measured | goal | met |\n|---|---|---|---|")
    speeds(1_000 if quick else 5_000, repetitions)
    taxi = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"
    cliff = "CliffWalking-v1" if "CliffWalking-v1" in gym.registry else "CliffWalking-v0"
    for name in ("FrozenLake-v1", taxi, cliff):
        for mode in MODES:
            over_bare(name, mode, 4_000 if quick else 20_000, repetitions)
    for mode in ("paper", "directed"):
        whole_run(mode, 5_000 if quick else 100_000, 1 if quick else 3)


if __name__ == "__main__":
    main()
