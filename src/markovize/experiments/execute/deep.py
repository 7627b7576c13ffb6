"""Trials that train deep agents: the paper's experiment 2."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from markovize.agents.deep.settings import WINDOW
from markovize.agents.tabular import ActiveLearner, RunProgress, RunResult
from markovize.agents.tabular.environment import world_behind
from markovize.errors import InputError
from markovize.experiments.execute.recording import EpisodeBook, Outcome, make_record
from markovize.experiments.record_parts import DIGITS, Curve, PlayedEpisode, curve_points, recent_mean
from markovize.experiments.records import Finished, TrialTimings
from markovize.experiments.spec import DeepTask, Task, Trial
from markovize.gym.make import make
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    import gymnasium as gym

    from markovize.agents.deep.training import Trained
    from markovize.worlds import World

NO_MACHINE: Final = RewardMachine("state", "state", 1)


def check_task(_task: Task) -> None:
    """Whether PyTorch is there."""
    from markovize.agents.deep import train  # noqa: F401 - says what is missing


def run_trial(trial: Trial, on_progress: Callable[[RunProgress], None] | None = None) -> Finished:
    """Learns the machine, if one is needed; trains; plays one greedy episode."""
    from markovize.agents.deep import train

    task, began = trial.task, time.perf_counter()
    assert isinstance(task, DeepTask)
    env = make(task.env_id, task.env_args, task.imports)
    try:
        world = world_behind(env)
        if world is None:
            raise InputError(f"deep agents are trained on the tables of a world; {task.env_id} has none")
        limit = None if env.spec is None else env.spec.max_episode_steps
        if limit is not None and limit < task.deep.max_steps:
            raise InputError(f"{task.env_id} cuts episodes after {limit} steps, max_steps is {task.deep.max_steps}")
        learned = None
        if task.deep.model == "ADQN":
            learned = ActiveLearner(env, replace(task.settings, seed=trial.seed)).run()
        trained = train(world, task.deep, trial.seed, None if learned is None else learned.machine, on_progress)
        return _record_training(trial, env, world, learned, trained, time.perf_counter() - began)
    finally:
        env.close()


def _record_training(
    trial: Trial,
    env: gym.Env[Any, Any],
    world: World,
    learned: RunResult | None,
    trained: Trained,
    seconds: float,
) -> Finished:
    settings = trained.agent.settings
    machine = NO_MACHINE if learned is None else learned.machine
    exemplars = 0 if learned is None else learned.exemplars
    points = curve_points(settings.episodes)
    episode = play_greedily(world, machine, trained)
    extra = {"greedy_return": round(sum(step.reward for step in episode.steps), DIGITS)}
    more_seconds = {"training_seconds": round(trained.seconds, 6)}
    solving, machine_at = 0.0, 0
    if learned is not None:
        extra["machine_episodes"] = learned.episodes
        more_seconds["machine_seconds"] = round(learned.seconds, 6)
        solving = round(learned.solve_seconds, 6)
        machine_at = learned.solves[-1].episode if learned.solves else 0
    outcome = Outcome(
        settings=settings.to_json(),
        status="trained" if learned is None else f"trained, machine {learned.status}",
        episodes=settings.episodes,
        reported=settings.episodes,
        machine=machine,
        machine_at=machine_at,
        true_machine=None if learned is None else world.machine,
        exemplars=exemplars,
        final_return=recent_mean(trained.returns, settings.episodes, WINDOW),
        curve=Curve(
            tuple(points),
            tuple(recent_mean(trained.returns, point, WINDOW) for point in points),
            *((number,) * len(points) for number in (machine.states, exemplars, len(machine.triggers))),
        ),
        episode=episode,
        extra=extra,
    )
    timings = TrialTimings(round(seconds, 6), solving, (solving,) * len(points), more_seconds)
    return make_record(trial, env, outcome), timings


def play_greedily(world: World, machine: RewardMachine, trained: Trained) -> PlayedEpisode:
    """A greedy episode of a trained agent, with its machine beside it."""
    from markovize.agents.deep.training import new_walk, one_quiet_thread

    agent = trained.agent
    walk = new_walk(agent.settings.max_steps)
    with one_quiet_thread():
        agent.play(0.0, walk)
    length, ended = walk.outcome.tolist()
    states = (walk.views[: length + 1] % len(world.observations)).tolist()
    book = EpisodeBook(machine, machine.trigger_labels, world.observations[states[0]])
    for n, a in enumerate(walk.actions[:length].tolist()):
        step = world.observations[states[n]], world.actions[a], world.observations[states[n + 1]]
        book.note(world.action_names[a], step, float(walk.rewards[n]))
    return book.episode(bool(ended))
