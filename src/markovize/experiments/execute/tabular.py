"""Trials of tasks whose agent learns the machine while it acts: :class:`~markovize.agents.tabular.ActiveLearner`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from markovize.agents.tabular import ActiveLearner, RunProgress, RunResult
from markovize.agents.tabular.environment import step_limit, world_behind
from markovize.episodes.labelling import loaded
from markovize.episodes.values import Interner, canonical, show
from markovize.experiments.execute.recording import EpisodeBook, Outcome, make_record
from markovize.experiments.record_parts import DIGITS, Curve, PlayedEpisode, curve_points, recent_mean
from markovize.experiments.records import Finished, TrialTimings
from markovize.experiments.spec import Task, Trial
from markovize.gym.make import make
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    import gymnasium as gym


def check_task(_task: Task) -> None:
    """Runs everywhere: all that it needs is core."""


def run_trial(trial: Trial, on_progress: Callable[[RunProgress], None] | None = None) -> Finished:
    """Learns, and plays one greedy episode."""
    task = trial.task
    env = make(task.env_id, task.env_args, task.imports)
    try:
        learner = ActiveLearner(env, replace(task.settings, seed=trial.seed), on_progress=on_progress)
        return record_run(trial, env, learner.run())
    finally:
        env.close()


def record_run(trial: Trial, env: gym.Env[Any, Any], result: RunResult) -> Finished:
    """Everything about a run, with a greedy episode played in its environment.

    >>> import gymnasium, markovize
    >>> env = gymnasium.make("markovize/BreakfastWorld-v0", task="b")
    >>> result = markovize.ActiveLearner(env, markovize.Settings.of(episodes=300)).run()
    >>> record, _ = record_run(Trial("mine", Task("b", "markovize/BreakfastWorld-v0"), 0), env, result)
    >>> record.states, round(sum(step.reward for step in record.episode.steps), 2), record.match().equal
    (5, 3.2, True)
    """
    reported = min(result.settings.episodes, result.episodes)
    curve, solving = _curves(result, result.episodes - reported, reported)
    true = getattr(env.unwrapped, "machine", None)
    outcome = Outcome(
        settings=result.settings.to_json(),
        status=result.status,
        episodes=result.episodes,
        reported=reported,
        machine=result.machine,
        machine_at=result.solves[-1].episode if result.solves else 0,
        true_machine=true if isinstance(true, RewardMachine) else None,
        exemplars=result.exemplars,
        final_return=round(result.greedy_return, DIGITS),
        curve=curve,
        episode=play_greedily(env, result),
        optimal_return=None if result.optimal_return is None else round(result.optimal_return, DIGITS),
        episodes_to_optimal=result.episodes_to_optimal,
    )
    timings = TrialTimings(round(result.seconds, 6), round(result.solve_seconds, 6), solving)
    return make_record(trial, env, outcome), timings


def play_greedily(env: gym.Env[Any, Any], result: RunResult) -> PlayedEpisode:
    """One episode by the learned values, the first of equal actions taken; 0 where nothing is known."""
    settings, machine = result.settings, result.machine
    function = settings.trigger_on if callable(loaded(settings.trigger_on)) else None
    world = world_behind(env)
    names = world.action_names if world is not None else tuple(show(action) for action in result.actions)
    rows = Interner(result.observations)
    raw, _ = env.reset(seed=settings.seed)
    here, ended = canonical(raw), False
    book = EpisodeBook(machine, machine.trigger_labelling(function), here)
    for _ in range(step_limit(env, settings.max_steps)):
        row = rows.find(here)
        a = int(np.argmax(result.q[book.state, row])) if row is not None else 0
        raw, reward, terminated, truncated, _ = env.step(result.actions[a])
        after, ended = canonical(raw), bool(terminated)
        book.note(names[a], (here, result.actions[a], after), float(reward))
        here = after
        if terminated or truncated:
            break
    return book.episode(ended)


def _curves(result: RunResult, waited: int, reported: int) -> tuple[Curve, tuple[float, ...]]:
    """The curve of the reported episodes, and the solve seconds up to each of its points."""
    points = curve_points(reported)
    solved = [0, *(solve.episode for solve in result.solves)]
    sizes = [(1, 0, 0), *((s.states, s.exemplars, s.triggers) for s in result.solves)]
    seconds = np.cumsum([0.0, *(solve.seconds for solve in result.solves)])
    last = [int(np.searchsorted(solved, waited + point, side="right")) - 1 for point in points]
    states, exemplars, triggers = ([sizes[n][column] for n in last] for column in range(3))
    returns = tuple(recent_mean(result.returns, waited + point) for point in points)
    curve = Curve(tuple(points), returns, tuple(states), tuple(exemplars), tuple(triggers))
    return curve, tuple(round(float(seconds[n]), 6) for n in last)
