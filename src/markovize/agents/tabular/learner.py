"""Algorithm 1 of the paper, and what improves on it: act, find conflicts, learn a machine, go on with it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np

from markovize.agents.tabular.compiled.arrays import Hyperparameters
from markovize.agents.tabular.compiled.worlds import CONFLICT, FULL, greedy_return
from markovize.agents.tabular.display import Display
from markovize.agents.tabular.environment import Environment
from markovize.agents.tabular.evaluation import advise_gamma, greedy_returns, interval_of_mean, optimal_return
from markovize.agents.tabular.evidence import keep_episode, keep_witness, rewards_in_conflict
from markovize.agents.tabular.history import History, join
from markovize.agents.tabular.looks import looks_until, share_of
from markovize.agents.tabular.renewal import Renewal
from markovize.agents.tabular.results import RunProgress, RunResult
from markovize.agents.tabular.runners import EnvRunner, EpisodeRunner, WorldRunner
from markovize.agents.tabular.schedule import Horizon, Schedule
from markovize.agents.tabular.search import MachineSearch
from markovize.agents.tabular.settings import Settings
from markovize.agents.tabular.snapshots import Snapshot, restore, take
from markovize.agents.tabular.stopping import NEVER, Checkpoints, Stop, TimeIsUp
from markovize.agents.tabular.ties import Ties
from markovize.agents.tabular.trials import Trials
from markovize.agents.tabular.view import View
from markovize.episodes.traces import Floats, Ints
from markovize.errors import InputError
from markovize.learning.interrupts import interruptible
from markovize.learning.result import LearnResult
from markovize.machine.machine import RewardMachine

MOST_KEPT_STEPS = 400_000  # bounds what each search must label and merge; chosen, not measured
MOST_STATES = 50  # of an unfinished search's machine that is worth its tables: a stopgap can have thousands
NO_WALK: Ints = np.zeros(0, np.int32)


class ActiveLearner:
    """Learns a machine and a policy in an environment whose reward depends on history.

    It is made of parts with one job each: ``runner`` plays episodes, ``agent`` is who learns from them, ``search``
    keeps episodes and learns machines from them, ``schedule`` and ``horizon`` say when and how far to explore, and
    ``history`` is what has happened.

    >>> import gymnasium, markovize
    >>> env = gymnasium.make("markovize/BreakfastWorld-v0", task="b")
    >>> result = ActiveLearner(env, Settings.of(episodes=300)).run()
    >>> result.machine.states, result.greedy_return == result.optimal_return
    (5, True)
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        settings: Settings | None = None,
        *,
        on_progress: Callable[[RunProgress], None] | None = None,
        on_checkpoint: Callable[[ActiveLearner], None] | None = None,
        compiled: bool = True,
    ) -> None:
        self.settings = cfg = settings or Settings.of()
        self.environment = Environment.of(env, cfg.max_steps)
        self.on_checkpoint = on_checkpoint
        self.rng = np.random.default_rng(cfg.seed)
        world = self.environment.world
        self.view = View.of(env.observation_space, cfg)
        self.runner: EpisodeRunner = (
            WorldRunner(world, self.rng)
            if world is not None and compiled and self.view.state_of is None
            else EnvRunner(env, self.rng, self.view)
        )
        self.search = MachineSearch(cfg, self.runner.codec, self.view.asked)
        self._renewal = Renewal(self.search, self.runner, self.environment.steps, self.rng)
        self.agent = self._renewal.new_agent(RewardMachine("state", "state", 1), None)
        self.ties, self.trials = Ties(cfg), Trials(self)
        if cfg.all and self.runner.codec.labelled:
            raise InputError("all is for discrete observations, which are the agent's states")
        self.schedule, self.horizon = Schedule(cfg), Horizon(self.environment.steps)
        optimum = None if world is None else optimal_return(world, cfg.gamma, self.environment.steps)
        self.history = History(optimum=optimum)
        self.history.notes += filter(None, [self.view.note])
        self._display = Display(on_progress)

    def run(self, time_limit: float | None = None) -> RunResult:
        """Plays all episodes, or the rest of them if the run was restored.

        After ``time_limit`` seconds of this call the run ends with what it has found, ``stopped`` by ``time limit``: a
        search ends within a second, and a last checkpoint is saved to go on from. Ctrl-C ends it within two seconds
        with :class:`KeyboardInterrupt`, after a last checkpoint, too. :meth:`so_far` has what was found at any moment.

        >>> import gymnasium, markovize
        >>> env = gymnasium.make("markovize/OfficeWorld-v0", task="e")
        >>> result = ActiveLearner(env, Settings.of(episodes=1_000_000)).run(time_limit=0.2)
        >>> result.stopped, result.episodes < 1_000_000
        ('time limit', True)
        """
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"the time limit must be positive, not {time_limit}")
        start = time.perf_counter() - self.history.seconds
        deadline = None if time_limit is None else time.monotonic() + time_limit
        checkpoints = Checkpoints(lambda: self._save(start))
        with interruptible() as interrupt, self._timed(start):
            try:
                returns = self._run(Stop(interrupt, deadline), checkpoints)
            except TimeIsUp:
                self.history.seconds = time.perf_counter() - start
                return self.so_far(stopped="time limit")
        return self.so_far(returns)

    def _run(self, stop: Stop, checkpoints: Checkpoints) -> Floats:
        """All episodes; what the policy earns at the end, in each of some episodes."""
        if self.schedule.episode == 0:
            self._evaluate()
        while not self.schedule.over:
            if not self.search.pending:
                walk = self._look(stop)
                if self.ties.is_due and stop.requested:  # who resumes looks again
                    checkpoints.save_at_last()
                    stop.end()
                self._play(stop, walk)
            if self.search.pending and self.settings.reward == "random":
                self._weigh(stop, checkpoints)
            elif self.search.pending:
                self._resolve_conflict(stop, checkpoints)
            self.schedule.end_wait(solved=bool(self.search.solves))
            self._display.show(self.progress)
            if stop.requested:
                checkpoints.save_at_last()
                stop.end()
            if checkpoints.due():
                checkpoints.save()
        if not self.search.solves and len(self.search.kept):
            machine = self.search.learn_without_conflict()
            if machine.states == self.agent.machine.states:
                self.agent.machine = machine
            else:  # a damaged checkpoint: what it kept was not seen by the agent
                self.agent = self._renewal.new_agent(machine, self.agent)
                self._renewal.replay_kept(self.agent, self.hyperparameters(), stop)
        if self.settings.reward == "exact":
            self._prove(stop, checkpoints)
        if self.settings.all and self.search.status == "optimal":
            self.ties.list(self.agent.machine, self.search.traces(), self.runner.codec.labelled_by, stop)
        if self.environment.world is not None:
            advice = advise_gamma(self.environment.world, self.settings.gamma, self.environment.steps)
            self.history.notes += filter(None, [advice])
        self._display.show(self.progress, last=True)
        return self._greedy_returns(stop)

    # --- stopping and going on -------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that this run knows, in plain data. Only between episodes, as in ``on_checkpoint``.

        >>> import gymnasium, markovize
        >>> env, settings = gymnasium.make("markovize/OfficeWorld-v0", task="c"), Settings.of(episodes=60)
        >>> saved = []
        >>> learner = ActiveLearner(env, settings, on_checkpoint=lambda run: saved.append(run.snapshot()))
        >>> whole = learner.run()
        >>> again = ActiveLearner(env, settings)
        >>> if saved:
        ...     again.restore(saved[0])
        >>> again.run().machine == whole.machine
        True
        """
        return take(self)

    def restore(self, snapshot: Snapshot) -> None:
        """Makes this run, which must be new, go on from a snapshot. Its end is that of a run never stopped."""
        restore(self, snapshot)
        with interruptible():
            for number in self.search.repeat(self.agent.machine):
                self._display.show(self.progress, note=f"resuming: solve {number} of {len(self.search.solves)}")

    @contextmanager
    def _timed(self, start: float) -> Iterator[None]:
        try:
            yield
        finally:
            self.history.seconds = time.perf_counter() - start

    def _save(self, start: float) -> None:
        self.history.seconds = time.perf_counter() - start
        if self.on_checkpoint is not None:
            self.on_checkpoint(self)

    # --- playing ---------------------------------------------------------------------------------------------------

    def _look(self, stop: Stop) -> Ints:
        """Where another machine is as small and as good: the walk that tells them apart, as the next route."""
        is_asked = self.settings.all and self.search.status == "optimal" and self.ties.is_due
        if not (is_asked and self.hyperparameters().pause):  # before every block: the usual answer must be quick
            return NO_WALK
        codec = self.runner.codec
        walk = self.ties.look(self.agent.machine, self.search.traces(), codec.labelled_by, self.schedule.episode, stop)
        return self.agent.write_walk(walk)

    def _play(self, stop: Stop, walk: Ints) -> None:
        """A block of episodes under the same hyperparameters, and what follows from it; one, if it begins by a walk."""
        how, explored = self.hyperparameters()._replace(walk=len(walk)), not self.schedule.greedy
        looks = looks_until(len(self.search.kept))
        why, returns, lengths = self.runner.play(self.agent, how, 1 if len(walk) else self.schedule.block(), stop)
        self.note_played(returns, lengths)
        status = self.agent.arrays.episode.status[0]
        news, moved = why == CONFLICT or bool(status.news), bool(status.moved)
        if why == FULL:
            self.agent.add_rows()
        elif why == CONFLICT:
            ends = self.trials.ends_in_conflict()
            keep_witness(self.agent, self.search.kept, again=self.settings.mode == "paper")
            self.search.pending = True
        elif news or (moved and how.directed):
            self._renewal.plan(self.agent, stop)
        if why == CONFLICT or (why != FULL and (how.pause or moved)):  # with a tolerance, the farthest rewards conflict
            keep_episode(self.agent, self.search.kept)
        taken = self.agent.arrays.episode.transitions[: len(walk)]
        self.ties.note_episode(news, lost=not np.array_equal(taken, walk))
        if why == CONFLICT and self.search.looks_for_noise(rewards_in_conflict(self.agent)):
            self.trials.repeat_conflict(stop)
        if why == CONFLICT:
            self.trials.shorten_conflict(ends, stop)
        if self.settings.reward == "random":
            is_last = explored and self.schedule.greedy
            self.search.pending = is_last or looks_until(len(self.search.kept)) > looks
        self.horizon.adapt(len(returns), news)
        if why != CONFLICT and (news or self.schedule.episode % self.settings.evaluate_every == 0):
            self._evaluate()

    def note_played(self, returns: Floats, lengths: Ints) -> None:
        self.schedule.episode += len(returns)
        self.history.add(returns, lengths)

    def hyperparameters(self) -> Hyperparameters:
        cfg, schedule, kept = self.settings, self.schedule, self.search.kept
        epsilon = cfg.wait_epsilon if schedule.waiting and cfg.wait_epsilon is not None else cfg.epsilon
        room = len(kept) < cfg.keep and kept.steps < MOST_KEPT_STEPS
        return Hyperparameters(
            directed=cfg.mode == "directed",
            epsilon=0.0 if schedule.greedy else epsilon,
            horizon=0 if schedule.greedy else int(self.horizon.steps),
            alpha=cfg.alpha,
            gamma=cfg.gamma,
            crm=cfg.crm,
            pause=room and not schedule.greedy,
            confirm=cfg.mode == "directed" and self.horizon.is_settled,
            endings=cfg.explain != "reward",
            width=math.inf if cfg.reward == "random" else self.search.allowance.width,
        )

    # --- conflicts -------------------------------------------------------------------------------------------------

    def _resolve_conflict(self, stop: Stop, checkpoints: Checkpoints) -> None:
        """Learns a machine that explains all episodes kept, and goes on with it.

        Where there may be outliers, first of all whether it takes another machine.
        """
        if self._renewal.is_excused(self.agent):
            self.search.pending = False
            self.agent = self._renewal.new_agent(self.agent.machine, self.agent)
            self._renewal.replay_kept(self.agent, self.hyperparameters(), stop)
            return
        result = self.search.learn(stop, lambda doing: self._display.show(self.progress, doing=doing))
        if result.interrupted:  # who resumes repeats this search; who does not, has at least its best machine
            checkpoints.save_at_last()
            if result.machine is not None and result.machine.states <= MOST_STATES:
                self._adopt(result, NEVER)
            stop.end()
        before = self.agent.machine
        self._adopt(result, stop)
        self.trials.doubt_triggers(before, stop)
        self._evaluate()

    def _weigh(self, stop: Stop, checkpoints: Checkpoints) -> None:
        """Of random rewards: whether the episodes kept speak for a machine, or for another one that is no smaller.

        At the last look the machine has the mean rewards of all of them, also where it has one state.
        """
        is_last = self.schedule.greedy
        look = looks_until(len(self.search.kept)) + is_last
        result = self.search.weigh(self.settings.significance * share_of(look), stop)
        if result.interrupted:  # who resumes repeats this look
            checkpoints.save_at_last()
            stop.end()
        self.search.pending, found = False, result.triggers or 0
        if found >= len(self.agent.machine.triggers) and (found or is_last):
            self._adopt(result, stop)
            self._evaluate()

    def _adopt(self, result: LearnResult, stop: Stop) -> None:
        old, before = self.agent.arrays, self._renewal.states_of_kept_steps(self.agent)
        if self.search.adopt(result, self.schedule.episode):
            labels = f"{result.trigger_on}/{result.reward_on} (trigger/reward)"
            self.history.notes.append(f"episode {self.schedule.episode}: labels refined to {labels}")
        self.agent = self._renewal.new_agent(result.unwrap(), self.agent)
        self.ties.renew()
        if self.settings.transfer and self.settings.mode == "q-learning":
            self._renewal.transfer(self.agent, before, old.values.q)
        self._renewal.replay_kept(self.agent, self.hyperparameters(), stop)

    def _prove(self, stop: Stop, checkpoints: Checkpoints) -> None:
        """At the end: is the machine the smallest? Searches on the way leave that open where it takes them too long.

        A smaller one takes its place, unless its policy earns less: nobody has played with it, and it may be too small.
        """
        machine = self.agent.machine
        result = self.search.prove(machine, stop, lambda doing: self._display.show(self.progress, doing=doing))
        if result is None:
            return
        if result.interrupted:  # who resumes tries again
            checkpoints.save_at_last()
            stop.end()
        has_same_size = (result.states, result.triggers) == (machine.states, len(machine.triggers))
        if result.status != "optimal" or has_same_size:
            self.search.note_proof(result)
        elif self._earns_less(result.unwrap(), stop):
            size = f"{result.states} states and {result.triggers} triggers"
            self.history.notes.append(f"{size} explain the episodes kept, too, but earn less: more episodes would tell")
        else:
            self._adopt(result, stop)
            self.history.notes.append("the smallest machine was found at the end: no episode was played with it")
            self._evaluate()

    def _earns_less(self, machine: RewardMachine, stop: Stop) -> bool:
        """Whether the policy of another machine, by all that is known, is worse than the present one."""
        own, earned = self.agent, float(self._greedy_returns(stop).mean())
        self.agent = self._renewal.new_agent(machine, own)
        try:
            self._renewal.replay_kept(self.agent, self.hyperparameters(), stop)
            return float(self._greedy_returns(stop).mean()) < earned
        finally:
            self.agent = own

    # --- how good it is --------------------------------------------------------------------------------------------

    def _greedy_returns(self, stop: Stop) -> Floats:
        """What the policy earns in each of some episodes; on a world's tables all are alike."""
        if isinstance(self.runner, WorldRunner):
            return np.array([self._greedy_return(self.runner)])
        policy = self.so_far().policy
        return greedy_returns(self.environment.env, policy, self.environment.steps, self.settings.seed, stop)

    def _greedy_return(self, runner: WorldRunner) -> float:
        arrays = self.agent.arrays
        delta, trigger = arrays.machine.delta, arrays.transitions.trigger
        return float(greedy_return(runner.tables, arrays.values.q, delta, trigger, self.environment.steps))

    def _evaluate(self) -> None:
        if isinstance(self.runner, WorldRunner):  # elsewhere the optimum is not known
            self.history.note_greedy_return(self.schedule.episode, self._greedy_return(self.runner))

    def progress(self) -> RunProgress:
        """Where the run is."""
        machine, history = self.agent.machine, self.history
        return RunProgress(
            self.schedule.episode,
            self.schedule.total,
            history.moving_return,
            machine.states,
            len(machine.triggers),
            self.search.exemplars,
            self.search.seconds,
            history.notes[-1] if history.notes else "",
        )

    def so_far(self, returns: Floats | None = None, stopped: str = "") -> RunResult:
        """The run up to this episode; what its policy earns is tried only at the end (until then it is NaN)."""
        codec, history, search = self.runner.codec, self.history, self.search
        machine, noise = self._renewal.measure_noise(self.agent)
        return RunResult(
            self.settings,
            machine,
            search.status,
            self.schedule.episode,
            search.exemplars,
            search.seconds,
            history.seconds,
            math.nan if returns is None else float(np.mean(returns)),
            history.optimum,
            history.optimal_since,
            join(history.returns, np.float64),
            join(history.lengths, np.int32),
            tuple(search.solves),
            search.traces(),
            tuple(codec.observations.values),
            tuple(codec.actions),
            self.agent.values,
            tuple(history.notes),
            self.rng.bit_generator.state,
            interval_of_mean(returns) if returns is not None and len(returns) > 1 else None,
            stopped,
            tuple(self.runner.actions),
            self.view.trigger_labels or codec.triggers.labelling,
            self.view.state_of,
            self.ties.all,
            self.ties.unique_since,
            noise,
        )
