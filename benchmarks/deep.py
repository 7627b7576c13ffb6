"""Deep agents: episodes per second and core, compiled loops beside the plain one, and both learning curves.

    python benchmarks/deep.py [--tasks e,b] [--after 0,3000] [--episodes 400] [--seeds 3] [--models DQN,RNN,GRU,LSTM]
    python benchmarks/deep.py --tasks b --after 0 --episodes 3000 --plot docs/deep.png

*Plain* is what the paper's setting implies: one Gymnasium environment, one forward pass of the network per step, one
update per episode by PyTorch's own layers. *Ours* plays whole episodes in one call and sweeps recurrent layers over
them, compiled. Both have the same first weights, draw the same numbers and do the same updates, so their episodes are
the same until a rounding tips the choice between two actions: *the same for* says for how many. Then they differ as two
seeds do; the last columns are mean returns over all episodes, with the standard error over seeds, and whether the 95 %
bands (Student's t) meet. ``--after 3000`` compares from there on, when episodes have become shorter: both start from
the same agent. ``--plot`` draws both learning curves.

All is timed in processor time, in turns, on one core, compiling left out.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from scipy import stats

import markovize  # noqa: F401 - registers the worlds
from markovize.agents.deep import DeepSettings
from markovize.agents.deep.agent import Agent
from markovize.agents.deep.checkpoints import load_agent, save_agent
from markovize.agents.deep.dqn import DQN
from markovize.agents.deep.fast.arrays import Walk
from markovize.agents.deep.fast.episodes import play_optimally
from markovize.agents.deep.recurrent import RecurrentDQN
from markovize.agents.deep.training import Trained, go_on, new_agent, new_walk, one_quiet_thread
from markovize.machine.machine import RewardMachine
from markovize.worlds import World, world

TIMES = 8.0  # the goal


class PlainAgent:
    """The same agent as PyTorch's own layers, autograd and optimiser make it."""

    def __init__(self, trained: Trained) -> None:
        self.agent, self.first = trained.agent, len(trained.returns) + 1
        self.optimiser = torch.optim.Adam(self.agent.network.parameters(), self.agent.settings.learning_rate)
        ours = self.agent.optimiser
        for network in (self.agent.network, self.agent.target):
            for p in network.parameters():
                at = p.data_ptr() - network.weights.data_ptr()
                if network is self.agent.network:
                    moments = {"exp_avg": plain_part(ours.first, p, at), "exp_avg_sq": plain_part(ours.second, p, at)}
                    self.optimiser.state[p] = {"step": ours.steps.clone()} | moments
                p.data, p.grad = p.data.clone(memory_format=torch.contiguous_format), None

    def train(self, env: gym.Env[Any, Any], episodes: int) -> list[float]:
        """The returns of so many episodes more, step by step."""
        agent, settings = self.agent, self.agent.settings
        cells = {cell: number for number, cell in enumerate(agent.where.world.observations)}
        walk, optimal, returns = new_walk(settings.max_steps), new_walk(settings.max_steps), list[float]()
        with one_quiet_thread():
            for episode in range(self.first, self.first + episodes):
                returns.append(plain_episode(env, agent, cells, walk))
                agent.remember(walk)
                if episode % settings.optimal_every == 0:
                    play_optimally(agent.where.tables, agent.where.best, agent.rng, optimal)
                    agent.remember(optimal)
                self.learn()
        return returns

    def learn(self) -> None:
        """One update, as in a textbook."""
        agent = self.agent
        if isinstance(agent, RecurrentDQN):
            steps = agent.replay.sample(agent.rng)
            states = torch.from_numpy(np.append(steps.views, steps.after[-1]))
            before, after = states[:-1], states
        else:
            assert isinstance(agent, DQN)
            steps = agent.replay.sample(agent.settings.batch, agent.rng)
            before, after = agent.features[steps.views], agent.features[steps.after]
        with torch.no_grad():
            best = agent.target(after)[-len(steps.actions) :].max(dim=1).values
            wanted = torch.from_numpy(steps.rewards) + agent.settings.gamma * torch.from_numpy(~steps.ends) * best
        taken = agent.network(before).gather(1, torch.from_numpy(steps.actions)[:, None])[:, 0]
        loss = torch.nn.functional.mse_loss(taken, wanted)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        with torch.no_grad():
            for mine, theirs in zip(agent.target.parameters(), agent.network.parameters(), strict=True):
                mine.lerp_(theirs, agent.settings.smoothing)


def plain_part(whole: torch.Tensor, p: torch.Tensor, at: int) -> torch.Tensor:
    """What belongs to this parameter, which lies ``at`` so many bytes from the start of all weights."""
    return torch.as_strided(whole, p.shape, p.stride(), at // 4).clone(memory_format=torch.contiguous_format)


def plain_episode(env: gym.Env[Any, Any], agent: Agent, cells: dict[Any, int], walk: Walk) -> float:
    """One episode, one forward pass for each greedy step (for each step, if there is a hidden state)."""
    observation, _ = env.reset()
    hidden, total, n, m, done, terminated = None, 0.0, 0, 0, False, False
    states, actions = agent.where.world.successor.shape
    s = cells[tuple(observation.tolist())]
    while not done:
        seen = torch.zeros(1, states)
        seen[0, s] = 1.0
        if isinstance(agent, RecurrentDQN):
            with torch.no_grad():
                output, hidden = agent.network.memory(seen, hidden)
                values = agent.network.last(torch.relu(agent.network.middle(output)))
        if agent.rng.random() < agent.settings.epsilon:
            a = int(agent.rng.random() * actions)
        else:
            if isinstance(agent, DQN):
                with torch.no_grad():
                    values = agent.network(torch.cat([seen, torch.from_numpy(agent.where.memory.bits[m : m + 1])], 1))
            a = int(values.argmax())
        observation, reward, terminated, truncated, _ = env.step(a)
        walk.views[n], walk.actions[n], walk.rewards[n] = m * states + s, a, reward
        m, s = int(agent.where.memory.table[m, s, a]), cells[tuple(observation.tolist())]
        n, total, done = n + 1, total + float(reward), terminated or truncated
    walk.views[n] = m * states + s
    walk.outcome[:] = n, terminated
    return total


def machine_of(settings: DeepSettings, where: World) -> RewardMachine | None:
    """The true machine: what is timed here does not depend on how one is found."""
    return where.machine if settings.model == "ADQN" else None


class Both(NamedTuple):
    """Returns of each seed, and the seconds that they took."""

    plain: list[list[float]]
    ours: list[list[float]]
    plain_seconds: float
    seconds: float

    @property
    def faster(self) -> float:
        return self.plain_seconds / self.seconds


def compare(task: str, model: str, after: int, episodes: int, seeds: int) -> Both:
    """Prints one line."""
    where, settings = world("office", task=task), DeepSettings(model)
    go_on(fresh(where, settings, 0), 12)  # compiles
    plain, ours, plain_seconds, seconds, same = [], [], 0.0, 0.0, []
    for seed in range(seeds):
        trained = go_on(fresh(where, settings, seed), after)
        with TemporaryDirectory() as folder:
            save_agent(folder, trained)
            twin = PlainAgent(load_agent(folder, where))
        env: gym.Env[Any, Any] = gym.make("markovize/OfficeWorld-v0", task=task)
        start = time.process_time()
        plain.append(twin.train(env, episodes))
        middle = time.process_time()
        ours.append(go_on(trained, after + episodes).returns[after:].tolist())
        plain_seconds, seconds = plain_seconds + middle - start, seconds + time.process_time() - middle
        pairs = enumerate(zip(plain[-1], ours[-1], strict=True))
        same.append(next((n for n, (a, b) in pairs if a != b), episodes))
    theirs, means = [[statistics.fmean(run) for run in runs] for runs in (plain, ours)]
    meet = abs(statistics.fmean(theirs) - statistics.fmean(means)) <= band(theirs) + band(means) + 1e-12
    rates = [seeds * episodes / spent for spent in (plain_seconds, seconds)]
    print(
        f"{task}  {model:5} {after:6,} {rates[0]:9.1f} {rates[1]:9.1f} {rates[1] / rates[0]:7.1f}x   {min(same):6}"
        f"   {shown(theirs):>15} {shown(means):>15}   {'–' if seeds == 1 else 'yes' if meet else 'NO'}",
        flush=True,
    )
    return Both(plain, ours, plain_seconds, seconds)


def fresh(where: World, settings: DeepSettings, seed: int) -> Trained:
    return Trained(new_agent(where, settings, seed, machine_of(settings, where)), np.zeros(0), 0.0)


def error(values: list[float]) -> float:
    """The standard error of the mean."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def band(values: list[float]) -> float:
    """Half of the 95 % band."""
    return float(stats.t.ppf(0.975, len(values) - 1)) * error(values) if len(values) > 1 else 0.0


def shown(values: list[float]) -> str:
    return f"{statistics.fmean(values):.3f} ± {error(values):.3f}"


def plot(found: dict[str, Both], title: str, path: Path) -> None:
    """Both curves of each model: means of the last 200 episodes, and their 95 % bands over seeds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.3 * len(found) + 0.6, 2.9), layout="constrained")
    panels = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
    for axes, (model, both) in zip(panels, found.items(), strict=True):
        for name, runs, colour in (("plain", both.plain, "#c8553d"), ("ours", both.ours, "#1f6f8b")):
            sums = np.cumsum(np.pad(np.array(runs), ((0, 0), (1, 0))), axis=1)
            ends = np.arange(200, sums.shape[1], 50)
            curves = (sums[:, ends] - sums[:, ends - 200]) / 200
            mean = curves.mean(axis=0)
            half = np.array([band(column.tolist()) for column in curves.T])
            axes.fill_between(ends, mean - half, mean + half, color=colour, alpha=0.18, linewidth=0)
            axes.plot(ends, mean, color=colour, linewidth=1.6, label=name)
        axes.set_title(f"{model}: {both.faster:.0f} times faster", fontsize=10)
        axes.set(ylim=(-1.05, 1.05), xlabel="episode")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("return (mean of last 200)")
    panels[0].legend(frameon=False, fontsize=9, loc="lower right")
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="e,b")
    parser.add_argument("--models", default="DQN,RNN,GRU,LSTM,ADQN")
    parser.add_argument("--after", default="0,3000", help="episodes of training before what is compared")
    parser.add_argument("--episodes", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--plot", type=Path, help="draw the curves of the last task and start")
    parser.add_argument("--quick", action="store_true", help="a minute instead of many")
    given = parser.parse_args()
    episodes, seeds, afters = (40, 2, "0") if given.quick else (given.episodes, given.seeds, given.after)
    print(f"Officeworld, {episodes} episodes of {seeds} seeds; episodes per second of one core")
    print("task model  after     plain      ours   faster  the same for     plain returns    our returns   bands meet")
    least, found = math.inf, dict[str, Both]()
    for task in given.tasks.split(","):
        for after in map(int, afters.split(",")):
            for model in given.models.split(","):
                found[model] = compare(task, model, after, episodes, seeds)
                least = min(least, found[model].faster if model != "ADQN" else math.inf)
    print(f"least of DQN, RNN, GRU and LSTM: {least:.1f} times; the goal is {TIMES:g}")
    if given.plot is not None:
        plot(found, f"Office {task}, {seeds} seeds: the plain loop and ours, with 95 % bands", given.plot)


if __name__ == "__main__":
    main()
