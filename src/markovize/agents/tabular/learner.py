"""Algorithm 1 of the paper, and what improves on it: act, find conflicts, learn a machine, go on with it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from markovize.agents.tabular import loop
from markovize.agents.tabular.evaluation import mean_greedy_return, optimal_return
from markovize.agents.tabular.mind import new_mind, new_model, with_more_rows
from markovize.agents.tabular.players import Player, SteppingPlayer, TablePlayer, step_limit, world_behind
from markovize.agents.tabular.results import RunProgress, RunResult, Solve
from markovize.agents.tabular.settings import Settings
from markovize.agents.tabular.snapshots import Snapshot, restore, take
from markovize.agents.tabular.steps import Kept
from markovize.agents.tabular.tables import Rules
from markovize.agents.tabular.tours import plan
from markovize.conflicts.check import check
from markovize.episodes.labelling import LabelOn, auto_order
from markovize.episodes.traces import Floats, Ints, Traces
from markovize.errors import InputError, UnrealisableError
from markovize.gym.wrappers import Potential
from markovize.learning.learner import Auto, Learner
from markovize.learning.result import LearnResult
from markovize.machine import kernels
from markovize.machine.machine import RewardMachine

BLOCK = 1_000  # episodes at a time, at most
MOVING = 100  # episodes of the moving return
MOST_KEPT_STEPS = 400_000
MANY_TRIGGERS = 12  # from here on finer labels are considered, if they are free
SOME_TRIGGERS = 3  # from here on if the reward is a function of the transition alone
FIRST_HORIZON, FARTHER, QUIET_EPISODES = 32, 1.5, 20  # tours start short; after so many quiet episodes they go farther
DISPLAY_SECONDS = 0.1
CHECKPOINT_SECONDS = 1.0


class ActiveLearner:
    """Learns a machine and a policy in an environment whose reward depends on history.

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
        if not isinstance(env, gym.Env):
            many = isinstance(env, gym.vector.VectorEnv)
            what = "one environment, not a vector of them" if many else f"an environment, not {env!r}"
            raise InputError(f"ActiveLearner acts in {what}; use gymnasium.make")
        self.env, self.settings, self.on_progress = env, settings or Settings.of(), on_progress
        self.on_checkpoint = on_checkpoint
        cfg = self.settings
        self.rng = np.random.default_rng(cfg.seed)
        self.steps = step_limit(env, cfg.max_steps)
        self.world = world_behind(env)
        self._per_transition = cfg.mode == "paper"
        self.player: Player = (
            TablePlayer(self.world, self.rng)
            if self.world is not None and compiled
            else SteppingPlayer(env, self.rng, per_transition=self._per_transition)
        )
        self.book = self.player.book
        self.book.relabel(_coarsest(cfg.trigger_on), _coarsest(cfg.reward_on))
        self.machine = RewardMachine("state", "state", 1)
        self.kept = Kept()
        self.solves: list[Solve] = []
        self.notes: list[str] = []
        self.episode = 0
        self._learner = self._new_learner(cfg.trigger_on, cfg.reward_on)
        self._model = new_model(self.player.room[0], len(self.book.actions), self.player.room[1])
        self.mind = self._fresh_mind()
        self.returns: list[Floats] = []
        self.lengths: list[Ints] = []
        self._horizon, self._quiet = float(FIRST_HORIZON), 0
        self._total: int | None = None if cfg.patience else cfg.episodes
        self._optimum = None if self.world is None else optimal_return(self.world, cfg.gamma, self.steps)
        self._optimal_since: int | None = None
        self._exemplars, self._status = 0, "no conflict"
        self._many_triggers = MANY_TRIGGERS
        self.seconds = 0.0  # of earlier parts, where this run was resumed
        self._shown = 0.0
        self._pace = Pace()

    def run(self) -> RunResult:
        """Plays all episodes, or the rest of them if the run was restored."""
        start = time.perf_counter() - self.seconds
        if self.episode == 0:
            self._evaluate()
        while self._total is None or self.episode < self._total:
            self._play()
            self._end_wait()
            self._show()
            if self.on_checkpoint is not None and self._pace.due():
                self.seconds = time.perf_counter() - start
                with self._pace:
                    self.on_checkpoint(self)
        if not self.solves and len(self.kept):
            self.machine = self._learner.learn(self.kept.traces(self.book), effort=self.settings.effort).unwrap()
        self.seconds = time.perf_counter() - start
        self._show(last=True)
        return self.so_far(self._greedy_return())

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
        self._model = self.mind.model
        result = None
        for number, solve in enumerate(self.solves, 1):
            self.notes.append(f"resuming: solve {number} of {len(self.solves)}")
            self._show()
            self.notes.pop()
            result = self._solved(self.kept.first(solve.kept).traces(self.book), number)
        if result is not None and result.machine != self.machine:
            raise InputError("the solver does not repeat what it found in this run (another version?); start a new run")

    # --- the wait for a first conflict -----------------------------------------------------------------------------

    def _end_wait(self) -> None:
        cfg = self.settings
        if self._total is None and self.episode >= cfg.patience and (self.solves or self.episode >= cfg.max_wait):
            self._total = self.episode + cfg.episodes - cfg.patience

    # --- playing ---------------------------------------------------------------------------------------------------

    def _play(self) -> None:
        """A block of episodes under the same rules, and what follows from it."""
        rules, episodes = self._rules(), self._block()
        returns, lengths = np.zeros(episodes), np.zeros(episodes, np.int32)
        self.mind, done, why = self.player.play(self.mind, self.machine, rules, episodes, returns, lengths)
        self._model = self.mind.model
        self.episode += done
        self.returns.append(returns[:done])
        self.lengths.append(lengths[:done])
        news = bool(self.mind.record.outcome[3])
        if why == loop.FULL:
            self.mind = with_more_rows(self.mind)
        elif why == loop.CONFLICT:
            self._resolve()
        elif rules.kept:
            self._keep_record()
        self._adapt_horizon(done, why == loop.CONFLICT or news)
        if why == loop.CONFLICT or news or self.episode % self.settings.evaluate_every == 0:
            self._evaluate()

    def _rules(self) -> Rules:
        cfg = self.settings
        waiting = self._total is None
        greedy = self._total is not None and self.episode >= self._total - cfg.greedy_tail
        epsilon = cfg.wait_epsilon if waiting and cfg.wait_epsilon is not None else cfg.epsilon
        room = len(self.kept) < cfg.keep and self.kept.steps < MOST_KEPT_STEPS
        return Rules(
            cfg.mode == "directed",
            0.0 if greedy else epsilon,
            0 if greedy else int(self._horizon),
            cfg.alpha,
            cfg.gamma,
            cfg.crm,
            room and not greedy,
            cfg.explain != "reward",
        )

    def _block(self) -> int:
        """How many episodes until something may change: an evaluation, the end of the wait, the tail, the end."""
        cfg, here = self.settings, self.episode
        marks = [here + cfg.evaluate_every - here % cfg.evaluate_every, here + BLOCK]
        if self._total is None:
            marks += [m for m in (cfg.patience, cfg.max_wait) if m > here]
        else:
            marks += [self._total, *[m for m in (self._total - cfg.greedy_tail,) if m > here]]
        return min(marks) - here

    def _adapt_horizon(self, done: int, news: bool) -> None:
        """Tours go farther once the near has nothing new: short histories make small exemplars."""
        self._quiet = 0 if news else self._quiet + done
        if self._quiet >= QUIET_EPISODES:
            self._horizon, self._quiet = min(self._horizon * FARTHER, float(self.steps)), 0

    # --- conflicts -------------------------------------------------------------------------------------------------

    def _resolve(self) -> None:
        """Both episodes in conflict are kept, and a machine is learned that explains all that are."""
        beliefs, pool, record = self.mind.beliefs, self.mind.pool, self.mind.record
        n = int(record.outcome[2])
        key = record.before[n], beliefs.label[record.transitions[n]], record.after[n]
        row = int(beliefs.holder[key])
        if row >= 0 and (self.settings.mode == "paper" or not pool.kept[row]):
            length = int(pool.lengths[row])
            self.kept.add(pool.transitions[row, :length], pool.rewards[row, :length], bool(pool.terminated[row]))
        self._keep_record()
        self._learn()

    def _keep_record(self) -> None:
        record = self.mind.record
        length = int(record.outcome[0])
        self.kept.add(record.transitions[:length], record.rewards[:length], bool(record.outcome[1]))

    def _solved(self, traces: Traces, number: int) -> LearnResult:
        """The machine of the first, second, … solve; draws of its own, so that it can be repeated."""
        rng = np.random.default_rng((self.settings.seed, number))
        result = self._finer(traces, self._learner.learn(traces, effort=self.settings.effort, rng=rng), rng)
        if result.interrupted:  # the search ends politely on Ctrl-C, but it was the run that the user meant
            raise KeyboardInterrupt
        return result

    def _learn(self) -> None:
        result = self._solved(self.kept.traces(self.book), len(self.solves) + 1)
        if result.contradiction is not None:
            raise UnrealisableError(result.contradiction)
        machine = result.unwrap()
        before, values = self._states_before(), self.mind.beliefs.q
        self._relabel(result)
        self.machine, self._status = machine, result.status
        self._exemplars = len(self.kept) if self.settings.mode == "paper" else result.exemplars
        self.mind = self._fresh_mind()
        if self.settings.transfer and self.settings.mode == "q-learning":
            self._transfer(before, values)
        self._replay_kept()
        size = machine.states, len(machine.triggers), self._exemplars, len(self.kept)
        labels = result.trigger_on, result.reward_on
        self.solves.append(Solve(self.episode, *size, result.seconds, result.status, *labels))

    def _finer(self, traces: Traces, result: LearnResult, rng: np.random.Generator) -> LearnResult:
        """Under other labels, where these do with far fewer triggers: a large machine is a sign of wrong labels.

        Finer ones come first. From few episodes they may look better than they are: so the way back is open.
        """
        cfg, labels = self.settings, (result.trigger_on, result.reward_on)
        triggers = result.triggers or 0
        if triggers < SOME_TRIGGERS or "auto" not in (cfg.trigger_on, cfg.reward_on):
            return result
        if triggers < self._many_triggers and not check(traces).markov:
            return result
        order = auto_order()
        if labels not in order:
            return result
        here = order.index(labels)
        for trigger_on, reward_on in (*order[here + 1 :], *order[:here]):
            if cfg.trigger_on in ("auto", trigger_on) and cfg.reward_on in ("auto", reward_on):
                learner = self._new_learner(trigger_on, reward_on)
                other = learner.learn(traces, effort=cfg.effort, rng=rng)
                if other.machine is not None and 2 * len(other.machine.triggers) <= (result.triggers or 0):
                    self._learner = learner
                    return other
        self._many_triggers = max(self._many_triggers, 2 * triggers)
        return result

    def _new_learner(self, trigger_on: Auto, reward_on: Auto) -> Learner:
        cfg = self.settings
        return Learner(
            objective=cfg.objective,
            trigger_on=trigger_on,
            reward_on=reward_on,
            explain=cfg.explain,
            acyclic=cfg.acyclic,
            engine=cfg.engine,
        )

    def _relabel(self, result: LearnResult) -> None:
        cfg, book = self.settings, self.book
        wanted = _resolved(cfg.trigger_on, result.trigger_on), _resolved(cfg.reward_on, result.reward_on)
        if wanted != (book.trigger_on, book.reward_on):
            book.relabel(*wanted)
            self.notes.append(
                f"episode {self.episode}: labels refined to {result.trigger_on}/{result.reward_on} (trigger/reward)"
            )

    def _replay_kept(self) -> None:
        cfg = self.settings
        values = cfg.mode != "directed"
        mind, columns = self.mind, self.kept.columns()
        loop.replay(mind.beliefs, mind.pool, mind.record, *columns, cfg.alpha, cfg.gamma, values)
        if not values:
            plan(mind.beliefs, mind.model, cfg.gamma, loop.TOLERANCE)

    def _states_before(self) -> Ints:
        offsets, transitions, _, _ = self.kept.columns()
        labels = np.array(self.book.trigger, np.int32)[transitions]
        return kernels.episode_states(offsets, labels, self.mind.beliefs.delta, 0)[0]

    def _transfer(self, before: Ints, values: Floats) -> None:
        """Each new state starts with the values of the old one that it most often is on the kept steps."""
        now = self._states_before()
        together = np.zeros((self.machine.states, len(values)), np.int64)
        np.add.at(together, (now, before), 1)
        self.mind.beliefs.q[:] = values[together.argmax(axis=1)]

    def _fresh_mind(self) -> Any:
        cfg = self.settings
        potential = np.zeros(self.machine.states)
        if cfg.shaping and self.machine.rewards:
            potential[:] = Potential.of(self.machine, cfg.gamma).values
        return new_mind(
            self.book,
            self.machine,
            self._model,
            per_transition=self._per_transition,
            steps=self.steps,
            rows=2 * len(self.kept),
            potential=potential,
        )

    # --- how good it is --------------------------------------------------------------------------------------------

    def _greedy_return(self) -> float:
        if isinstance(self.player, TablePlayer):
            return float(loop.greedy_return(self.player.tables, self.mind.beliefs, self.steps))
        return mean_greedy_return(self.env, self.mind, self.book, self.steps, self.settings.seed)

    def _evaluate(self) -> None:
        if self._optimum is None or not isinstance(self.player, TablePlayer):
            return
        if self._greedy_return() < self._optimum - 1e-9:
            self._optimal_since = None
        elif self._optimal_since is None:
            self._optimal_since = self.episode

    def _show(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self.on_progress is None or (now - self._shown < DISPLAY_SECONDS and not last):
            return
        self._shown = now
        recent = np.concatenate(self.returns[-MOVING:])[-MOVING:]
        mean = float(recent.mean()) if len(recent) else 0.0
        size = self.machine.states, len(self.machine.triggers)
        note = self.notes[-1] if self.notes else ""
        self.on_progress(
            RunProgress(self.episode, self._total, mean, *size, self._exemplars, self._solve_seconds(), note)
        )

    def _solve_seconds(self) -> float:
        return sum(solve.seconds for solve in self.solves)

    def so_far(self, greedy_return: float = math.nan) -> RunResult:
        """The run up to this episode; what its policy earns is known only at the end."""
        return RunResult(
            self.settings,
            self.machine,
            self._status,
            self.episode,
            self._exemplars,
            self._solve_seconds(),
            self.seconds,
            greedy_return,
            self._optimum,
            self._optimal_since,
            np.concatenate([np.zeros(0), *self.returns]),
            np.concatenate([np.zeros(0, np.int32), *self.lengths]),
            tuple(self.solves),
            self.kept.traces(self.book),
            tuple(self.book.observations.values),
            tuple(self.book.actions),
            self.mind.beliefs.q[:, : len(self.book.observations)].copy(),
            tuple(self.notes),
            self.rng.bit_generator.state,
        )


class Pace:
    """When to checkpoint: after a while, and never so often that it takes more than a twentieth of the time."""

    def __init__(self) -> None:
        self._next = time.monotonic() + CHECKPOINT_SECONDS
        self._began = 0.0

    def due(self) -> bool:
        """Whether it is time again."""
        return time.monotonic() >= self._next

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *_: object) -> None:
        now = time.monotonic()
        self._next = now + max(CHECKPOINT_SECONDS, 20 * (now - self._began))


def _coarsest(on: Auto) -> LabelOn:
    return "state" if on == "auto" else on


def _resolved(asked: Auto, found: str) -> LabelOn:
    return asked if callable(asked) else found
