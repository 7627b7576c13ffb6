"""After a conflict: an agent for the machine that is held true now, and what it makes of all the episodes kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.compiled.arrays import Hyperparameters
from markovize.agents.tabular.compiled.episodes import replay_episodes
from markovize.agents.tabular.expectations import expect_like_actions, with_expected
from markovize.agents.tabular.outliers import Settled, settle_by_machine
from markovize.agents.tabular.results import RunNoise
from markovize.agents.tabular.runners import EpisodeRunner
from markovize.agents.tabular.search import MachineSearch
from markovize.agents.tabular.stopping import Stop
from markovize.episodes.labelling import AUTO
from markovize.episodes.traces import Floats, Ints
from markovize.gym.wrappers import Potential
from markovize.learning.result import Outlier
from markovize.machine import kernels
from markovize.machine.levels import levels_of
from markovize.machine.machine import RewardMachine


class Renewal:
    """Makes agents, and tells them what was kept: outliers put right, where there may be some."""

    def __init__(self, search: MachineSearch, runner: EpisodeRunner, steps: int, rng: np.random.Generator) -> None:
        self._search, self._runner, self._steps, self._rng = search, runner, steps, rng
        self._settings = search.settings

    def new_agent(self, machine: RewardMachine, old: Agent | None) -> Agent:
        """An agent that holds this machine true, and remembers nothing but how the environment moves."""
        cfg = self._settings
        shaped = cfg.shaping and machine.rewards
        return Agent.new(
            self._runner.codec,
            machine,
            self._runner.room if old is None else old.room,
            per_transition=cfg.mode == "paper",
            steps=self._steps,
            episodes=len(self._search.kept),
            potential=Potential.of(machine, cfg.gamma).values if shaped else None,
            model=None if old is None else old.arrays.model,
        )

    def replay_kept(self, agent: Agent, how: Hyperparameters, stop: Stop) -> None:
        """Shows an agent all episodes kept."""
        values = self._settings.mode != "directed"
        agent.instruct(how, self._rng)
        kept = self.settle(agent).kept if self._settings.outliers else self._search.kept
        replay_episodes(agent.reference, *kept.columns(), values)
        if not values:
            self.plan(agent, stop)

    def plan(self, agent: Agent, stop: Stop) -> None:
        """What to do, by all that is known and, where rewards are noisy, by what is expected of the rest."""
        if self._settings.tolerance != 0:
            expect_like_actions(agent)
        agent.plan(stop.check)

    def states_of_kept_steps(self, agent: Agent) -> Ints:
        """The machine's state before each step of the episodes kept."""
        offsets, transitions, _, _ = self._search.kept.columns()
        labels = np.array(self._runner.codec.triggers.ids, np.int32)[transitions]
        return kernels.episode_states(offsets, labels, agent.arrays.machine.delta, 0)[0]

    def transfer(self, agent: Agent, before: Ints, values: Floats) -> None:
        """Each new state starts with the values of the old one that it most often is on the kept steps."""
        together = np.zeros((agent.machine.states, len(values)), np.int64)
        np.add.at(together, (self.states_of_kept_steps(agent), before), 1)
        agent.arrays.values.q[:] = values[together.argmax(axis=1)]

    # --- noise -----------------------------------------------------------------------------------------------------

    def is_excused(self, agent: Agent) -> bool:
        """Whether the agent's machine explains all that was kept but for as many outliers as are allowed for."""
        if not self._settings.outliers:
            return False
        return len(self.settle(agent).outliers) <= self._search.allowance.outliers

    def settle(self, agent: Agent) -> Settled:
        """What the machine held true makes of the episodes kept: those steps are outliers that no level fits."""
        kept, delta = self._search.put_right().kept, agent.arrays.machine.delta
        return settle_by_machine(kept, self._runner.codec, delta, self._search.allowance.width)

    def measure_noise(self, agent: Agent) -> tuple[RewardMachine, RunNoise | None]:
        """The agent's machine, with levels where noise was allowed for, and that noise."""
        cfg, search, machine = self._settings, self._search, agent.machine
        if cfg.tolerance == 0 and cfg.outliers == 0:
            return machine, None
        if not agent.per_transition and not search.pending:
            machine = replace(agent.machine_with_levels(search.allowance.width), triggers=with_expected(agent).triggers)
        outliers = self._outliers(agent) if cfg.outliers else ()
        tolerance = search.allowance.tolerance
        return machine, RunNoise(tolerance, levels_of(machine, tolerance), outliers)

    def _outliers(self, agent: Agent) -> tuple[Outlier, ...]:
        return self._search.put_right().outliers if self._settings.outliers == AUTO else self.settle(agent).outliers
