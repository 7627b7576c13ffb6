"""Active training: a deep agent and the machine behind its rewards, each found with the help of the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium as gym
import numpy as np

from markovize.agents.tabular.evaluation import interval_of_mean
from markovize.agents.tabular.stopping import Checkpoints, Stop, TimeIsUp
from markovize.episodes.features import FeatureFunction, ObservationFeatures, feature_function
from markovize.episodes.traces import Episode, Floats
from markovize.errors import UnsupportedError
from markovize.extras import load
from markovize.features import minigrid
from markovize.integrations.sb3.active.encoding import Encoder, name_of_frame
from markovize.integrations.sb3.active.environments import AnyEnv, Charged, Maker, Prologue, Tap, product_env
from markovize.integrations.sb3.active.evidence import Evidence, act_alike
from markovize.integrations.sb3.active.exploration import explore
from markovize.integrations.sb3.active.models import (
    WHAT,
    Weights,
    build_model,
    carry_over,
    drawing_apart,
    fill_buffer,
    single_thread,
    train_on_buffer,
    weights_of,
)
from markovize.integrations.sb3.active.results import TrainingProgress, TrainingResult
from markovize.integrations.sb3.active.settings import TrainingSettings
from markovize.integrations.sb3.active.watch import Watch
from markovize.learning.interrupts import interruptible
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

RECENT = 100  # episodes, whose mean return decides whether to evaluate
NEARLY = 0.1  # of the target may be missing then
SOME = 20  # episodes of an evaluation, that decide whether to go on with it
CAUTIOUS = 0.4  # of all steps; then the charge for an end is nothing
MOST_FRAMES = 1_000  # different images that still count as a discrete observation
SHARE_OF_FRAMES = 4  # and there must be so many times as many steps
SHORTEST_SEARCH, AGAIN = 10.0, 4  # seconds for a later search, and how much longer than the last one it may take
LOOK_SEED, EVALUATION_SEED = 10**6, 2 * 10**6  # of episodes that nobody trained on: to end early, and to tell the end


class Best(NamedTuple):
    """A policy, and what it earned in the episodes that tell whether to end early."""

    earned: float
    weights: Weights


class ActiveTraining:
    """Trains DQN or PPO where there are no tables: explores, learns the machine with guards, goes on on S×U.

    It plays ``explore`` episodes at random and learns the smallest machine behind their rewards. Then the agent trains
    on observation and machine state. Every episode is compared with the machine; where one is in conflict, a machine is
    learned from all of them, and the training goes on with it: DQN with all recorded steps, relabelled, both with the
    policy's weights.

    Args:
        make: makes the environment; PPO calls it several times.
        settings: see :class:`TrainingSettings`.
        on_progress: called now and then with a :class:`TrainingProgress`.
        on_checkpoint: called now and then with this training, to save it.

    ::

        training = ActiveTraining(lambda: gymnasium.make("MiniGrid-MemoryS7-v0"), TrainingSettings("ppo", 300_000))
        result = training.run()
        print(markovize.describe(result.machine), result.greedy_return)
    """

    def __init__(
        self,
        make: Maker,
        settings: TrainingSettings | None = None,
        *,
        on_progress: Callable[[TrainingProgress], None] | None = None,
        on_checkpoint: Callable[[ActiveTraining], None] | None = None,
    ) -> None:
        load("stable_baselines3", WHAT, "sb3")
        self.settings = settings or TrainingSettings()
        self.on_progress, self.on_checkpoint = on_progress, on_checkpoint
        self._make = make
        env = self._bare()
        self.encoder = Encoder(env.observation_space)
        self.features, note = self._features()
        self.evidence = Evidence(self.settings, self.features)
        self.evidence.notes += [note] if note else []
        self._spare = env  # explores, evaluates, and shows its spaces
        self.model: BaseAlgorithm | None = None
        self.weights: Weights | None = None  # of an earlier model
        self.steps = 0
        self.returns: list[float] = []
        self.lengths: list[int] = []
        self.ends: list[int] = []
        self.greedy: Floats = np.zeros(0)
        self._earned = False  # as much as was aimed at
        self.best: Best | None = None  # that the present machine has had
        self._trained_on: RewardMachine | None = None
        self._new: list[Episode] = []
        self.seconds = 0.0

    # --- what is done -------------------------------------------------------------------------------------------------

    def run(self, time_limit: float | None = None) -> TrainingResult:
        """Explores, trains and evaluates; ends early after ``time_limit`` seconds, with what there is."""
        began = time.monotonic()
        checkpoints = Checkpoints(self._save)
        with interruptible() as interrupt, single_thread():
            stop = Stop(interrupt, None if time_limit is None else began + time_limit)
            stopped = ""
            try:
                self._explore(stop, checkpoints)
                while not self._over():
                    self._train(stop, checkpoints)
                    if stop.requested:
                        stop.end()
                if self.weights is not None and not self._is_trained:
                    _close(self._build(stop))  # resumed after its last step, or the last episodes gave another machine
                self._take_best(stop)
                self.greedy = self.evaluate(stop=stop)
            except TimeIsUp:
                stopped = "time limit"
            finally:
                self.seconds += time.monotonic() - began
                checkpoints.save_at_last()
        return self.so_far(stopped)

    def _explore(self, stop: Stop, checkpoints: Checkpoints) -> None:
        settings, rng = self.settings, np.random.default_rng(self.settings.seed)
        if self.evidence.seen < settings.explore and self.steps == 0:
            env = Prologue(Tap(self._spare, self.encoder, self._take), settings.prologue)
            env.action_space.seed(settings.seed)
            for number in range(settings.explore):
                if number < self.evidence.seen:  # resumed: the same seeds as before
                    rng.integers(2**31)
                    continue
                explore(env, rng, number, stop)
                self._tell("exploring")
                if checkpoints.due():
                    self.evidence.add(self._taken())
                    checkpoints.save()
            self.evidence.add(self._taken())
            self._check_frames()
        if self.evidence.due and self.steps == 0:
            self._solve(stop)

    def _train(self, stop: Stop, checkpoints: Checkpoints) -> None:
        """Trains a model until the steps are used up, another machine is needed, or the run has to stop."""
        settings, model = self.settings, self._build(stop)
        watch = Watch(lambda: self._look(stop, checkpoints), lambda: stop.requested, settings.look_every)
        model.learn(settings.steps - self.steps, callback=watch, reset_num_timesteps=False)
        self.steps, self.weights = model.num_timesteps, weights_of(model)
        self._look(stop, checkpoints)
        _close(model)

    def _build(self, stop: Stop) -> BaseAlgorithm:
        """A model for the present machine, which begins with all that is known."""
        settings, evidence = self.settings, self.evidence
        envs = [self._product(Tap(self._bare(), self.encoder, self._take)) for _ in range(settings.environments or 1)]
        if settings.caution:
            envs = [Charged(env, self._charge) for env in envs]
        self.model = model = build_model(settings, envs, evidence.machine)
        self._trained_on = evidence.machine
        if self.weights is not None:
            carry_over(model, self.weights, self.encoder.width)
        known = evidence.episodes, self._spare, self.encoder, evidence.machine, self.features
        if fill_buffer(model, *known, stop.check):
            self._tell("learning from recorded steps")
            train_on_buffer(model, stop.check)
        model.num_timesteps = self.steps
        return model

    def _look(self, stop: Stop, checkpoints: Checkpoints) -> bool:
        """Compares new episodes with the machine; whether the model is to go on with it."""
        assert self.model is not None
        self.steps = self.model.num_timesteps
        evidence = self.evidence
        evidence.add(self._taken())
        self._tell()
        if evidence.due and self._solve(stop):
            return False
        if checkpoints.due():
            self.weights = weights_of(self.model)
            checkpoints.save()
        self._earned = self._earned or self._earns_enough(stop)
        return not self._over()

    def _earns_enough(self, stop: Stop) -> bool:
        """Whether the policy earns what was aimed at, where it does what it thinks best.

        It earns less while it explores. Since an evaluation takes long, there is one only where it may be so.
        """
        recent, target = self.returns[-RECENT:], self.settings.target
        if target is None or len(recent) < RECENT:
            return False
        nearly = target - NEARLY * abs(target)
        if np.mean(recent) < nearly or self.evaluate(SOME, stop=stop, seed=LOOK_SEED).mean() < nearly:
            return False
        earned = float(self.evaluate(stop=stop, seed=LOOK_SEED).mean())
        if self.model is not None and (self.best is None or earned > self.best.earned):
            self.best = Best(earned, weights_of(self.model))
        return earned >= target

    def _take_best(self, stop: Stop) -> None:
        """Where the target was not reached, goes back to the policy that came nearest to it."""
        if self.model is None or self.best is None or self._earned:
            return
        if self.evaluate(stop=stop, seed=LOOK_SEED).mean() < self.best.earned:
            carry_over(self.model, self.best.weights, self.encoder.width)
            self.weights = self.best.weights

    def evaluate(self, episodes: int | None = None, stop: Stop | None = None, seed: int = EVALUATION_SEED) -> Floats:
        """What the policy earns in each of some episodes, by the actions that the settings say.

        Those that tell whether to end early have seeds of their own: they chose the policy, and flatter it. Draws of
        actions are apart from those of training.
        """
        if self.model is None:
            return np.zeros(0)
        env, returns = self._product(self._spare), np.zeros(episodes or self.settings.evaluation_episodes)
        likeliest = self.settings.actions == "likeliest"
        with drawing_apart(seed):
            for number in range(len(returns)):
                observation, _ = env.reset(seed=seed + number)
                ended = False
                while not ended:
                    if stop is not None:
                        stop.check()
                    action, _ = self.model.predict(observation, deterministic=likeliest)
                    observation, reward, terminated, truncated, _ = env.step(_plain(action))
                    returns[number] += float(reward)
                    ended = terminated or truncated
        return returns

    # --- what is known ------------------------------------------------------------------------------------------------

    def so_far(self, stopped: str = "") -> TrainingResult:
        """The result of a training that ends here."""
        evidence, last = self.evidence, self.evidence.solves[-1:]
        known = len(self.greedy) > 0
        return TrainingResult(
            settings=self.settings,
            machine=evidence.machine,
            status=evidence.status,
            steps=self.steps,
            episodes=len(self.returns),
            exemplars=last[0].exemplars if last else 0,
            conflicts=evidence.conflicts,
            solve_seconds=evidence.solve_seconds,
            seconds=self.seconds,
            greedy_return=float(self.greedy.mean()) if known else math.nan,
            succeeded=float((self.greedy > 0).mean()) if known else math.nan,
            returns=np.array(self.returns, np.float64),
            lengths=np.array(self.lengths, np.int32),
            ends=np.array(self.ends, np.int32),
            solves=tuple(evidence.solves),
            kept=evidence.traces(),
            model=self.model,
            features=self.features,
            wrap=self._product,
            notes=tuple(evidence.notes),
            greedy_interval=interval_of_mean(self.greedy) if known else None,
            stopped=stopped,
            noise=evidence.noise,
        )

    @property
    def _is_trained(self) -> bool:
        """Whether the model is one of the present machine."""
        machine, evidence = self._trained_on, self.evidence
        return machine is not None and act_alike(machine, evidence.machine, exactly=evidence.allowance.exact)

    def _charge(self) -> float:
        """What the end of an episode costs now: less and less."""
        steps = self.steps if self.model is None else self.model.num_timesteps
        return self.settings.caution * max(0.0, 1.0 - steps / (CAUTIOUS * self.settings.steps))

    def _over(self) -> bool:
        return self._earned or self.steps >= self.settings.steps

    def _solve(self, stop: Stop) -> bool:
        self._tell("learning a machine")
        left = stop.remaining
        seconds = self.settings.solve_seconds if left is None else min(left, self.settings.solve_seconds)
        if self.evidence.solves:  # a search for what no machine explains shall not take over
            seconds = min(seconds, max(SHORTEST_SEARCH, AGAIN * self.evidence.solves[-1].seconds))
        changed = self.evidence.solve(max(seconds, 0.1))
        if changed:
            self._earned, self.best = False, None
        if stop.requested:
            stop.end()
        return changed

    def _bare(self) -> AnyEnv:
        env, most = self._make(), self.settings.max_steps
        return env if most is None else gym.wrappers.TimeLimit(env, most)

    def _product(self, env: AnyEnv) -> AnyEnv:
        crm = self.settings.agent == "dqn"
        wrapped = product_env(env, self.encoder, self.evidence.machine, self.features, crm=crm)
        return Prologue(wrapped, self.settings.prologue)

    def _take(self, episode: Episode) -> None:
        self.returns.append(float(sum(episode.rewards)))
        self.lengths.append(episode.steps)
        self.ends.append(0 if self.model is None else self.model.num_timesteps)
        self._new.append(episode)

    def _taken(self) -> list[Episode]:
        new, self._new = self._new, []
        return new

    def _features(self) -> tuple[FeatureFunction | None, str]:
        """The user's features, or those that the observations ask for, and what to say about that."""
        given = feature_function(self.settings.features)
        if given is not None:
            return given, ""
        if self.encoder.minigrid:
            return minigrid.view, "features of MiniGrid: markovize.features.minigrid:view"
        if self.encoder.image:
            return ObservationFeatures(lambda image: {"state": name_of_frame(image)}), "images count by their bytes"
        return None, ""

    def _check_frames(self) -> None:
        """Images that hardly ever repeat say nothing."""
        frames, steps = len(self.encoder.frames), sum(self.lengths)
        if self.settings.features is None and frames > min(MOST_FRAMES, max(1, steps // SHARE_OF_FRAMES)):
            raise UnsupportedError(
                f"the observations are images that hardly ever repeat ({frames:,} different ones in {steps:,} steps); "
                "give features=, a function of (state, action, next_state) that says what matters"
            )

    def _save(self) -> None:
        if self.on_checkpoint is not None:
            self.on_checkpoint(self)

    def _tell(self, doing: str = "") -> None:
        if self.on_progress is None:
            return
        evidence, last = self.evidence, self.evidence.solves[-1:]
        recent = self.returns[-RECENT:]
        self.on_progress(
            TrainingProgress(
                episode=len(self.returns),
                episodes=None,
                moving_return=float(np.mean(recent)) if recent else 0.0,
                states=evidence.machine.states,
                triggers=len(evidence.machine.triggers),
                exemplars=last[0].exemplars if last else 0,
                solve_seconds=evidence.solve_seconds,
                note=evidence.notes[-1] if evidence.notes else "",
                doing=doing or f"step {self.steps:,} of {self.settings.steps:,}",
                steps=self.steps,
            )
        )


def _close(model: BaseAlgorithm) -> None:
    """Closes a model's environments."""
    assert model.env is not None
    model.env.close()


def _plain(action: Any) -> Any:
    """An action as environments take it: Stable-Baselines3 gives single numbers as arrays."""
    return action.item() if isinstance(action, np.ndarray) and action.ndim == 0 else action
