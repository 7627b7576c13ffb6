"""Trials that train deep agents: the paper's experiment 2."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from markovize.agents.deep.settings import WINDOW, DeepSettings
from markovize.agents.tabular import ActiveLearner, RunProgress, RunResult
from markovize.episodes.labelling import labelling_named
from markovize.errors import InputError
from markovize.experiments.records import (
    DIGITS,
    Curve,
    Finished,
    PlayedEpisode,
    PlayedStep,
    TrialRecord,
    TrialTimings,
    curve_points,
    recent_mean,
)
from markovize.experiments.spec import Task, Trial
from markovize.machine.machine import RewardMachine
from markovize.pictures.world.plan import view_of

if TYPE_CHECKING:
    import gymnasium as gym

    from markovize.agents.deep.training import Trained
    from markovize.worlds import World

NO_MACHINE: Final = RewardMachine("state", "state", 1)


@dataclass(frozen=True)
class DeepTask(Task):
    """One environment and one deep agent in it, as ``deep`` says.

    If that is ADQN, the machine that it sees is learned first, by an active learner with these ``settings``; that is
    part of the trial. The record's final return is the mean of the last 1,000 episodes.

    >>> task = DeepTask("e", "markovize/OfficeWorld-v0", {"task": "e"}, variant="GRU", deep=DeepSettings("GRU"))
    >>> task.title, sorted(task.config(0))
    ('e, GRU', ['deep', 'env_args', 'env_id', 'imports', 'seed', 'task', 'variant'])
    """

    deep: DeepSettings = field(default_factory=lambda: DeepSettings("DQN"))

    def config(self, seed: int) -> dict[str, Any]:
        """All that the result of a trial depends on, but the experiment's name."""
        config = super().config(seed)
        learning = config.pop("settings")
        needed = {"machine": learning} if self.deep.model == "ADQN" else {}
        return config | {"seed": seed, "deep": self.deep.to_json()} | needed

    def check(self) -> None:
        """Whether PyTorch is there."""
        from markovize.agents.deep import train  # noqa: F401 - says what is missing

    def run(self, trial: Trial, on_progress: Callable[[RunProgress], None] | None = None) -> Finished:
        """Learns the machine, if one is needed; trains; plays one greedy episode."""
        from markovize.agents.deep import train
        from markovize.agents.tabular.players import world_behind
        from markovize.gym.make import make

        began = time.perf_counter()
        env = make(self.env_id, self.env_args, self.imports)
        try:
            world = world_behind(env)
            if world is None:
                raise InputError(f"deep agents are trained on the tables of a world; {self.env_id} has none")
            limit = None if env.spec is None else env.spec.max_episode_steps
            if limit is not None and limit < self.deep.max_steps:
                raise InputError(f"{self.env_id} cuts episodes after {limit} steps, max_steps is {self.deep.max_steps}")
            learned = None
            if self.deep.model == "ADQN":
                learned = ActiveLearner(env, replace(self.settings, seed=trial.seed)).run()
            machine = None if learned is None else learned.machine
            trained = train(world, self.deep, trial.seed, machine, on_progress)
            return _finished(trial, self, env, world, learned, trained, time.perf_counter() - began)
        finally:
            env.close()


def _finished(
    trial: Trial,
    task: DeepTask,
    env: gym.Env[Any, Any],
    world: World,
    learned: RunResult | None,
    trained: Trained,
    seconds: float,
) -> Finished:
    machine = NO_MACHINE if learned is None else learned.machine
    points = curve_points(task.deep.episodes)
    exemplars = 0 if learned is None else learned.exemplars
    episode = played(world, machine, trained)
    extra = {"greedy_return": round(sum(step.reward for step in episode.steps), DIGITS)}
    more_seconds = {"training_seconds": round(trained.seconds, 6)}
    if learned is not None:
        extra["machine_episodes"] = learned.episodes
        more_seconds["machine_seconds"] = round(learned.seconds, 6)
    record = TrialRecord(
        experiment=trial.experiment,
        task=task.name,
        variant=task.variant,
        seed=trial.seed,
        env_id=task.env_id,
        env_args=dict(task.env_args),
        settings=task.deep.to_json(),
        key=trial.key,
        status="trained" if learned is None else f"trained, machine {learned.status}",
        episodes=task.deep.episodes,
        waited=0,
        reported=task.deep.episodes,
        states=machine.states,
        triggers=len(machine.triggers),
        exemplars=exemplars,
        final_return=recent_mean(trained.returns, task.deep.episodes, WINDOW),
        optimal_return=None,
        episodes_to_optimal=None,
        episodes_to_machine=None,
        machine=machine,
        true_machine=None if learned is None else world.machine,
        curve=Curve(
            tuple(points),
            tuple(recent_mean(trained.returns, point, WINDOW) for point in points),
            *((number,) * len(points) for number in (machine.states, exemplars, len(machine.triggers))),
        ),
        episode=episode,
        view=view_of(env),
        extra=extra,
    )
    found = record.match()
    if learned is not None and found is not None and found.equal:
        record = replace(record, episodes_to_machine=learned.solves[-1].episode if learned.solves else 0)
    solving = 0.0 if learned is None else round(learned.solve_seconds, 6)
    return record, TrialTimings(round(seconds, 6), solving, (solving,) * len(points), more_seconds)


def played(world: World, machine: RewardMachine, trained: Trained) -> PlayedEpisode:
    """A greedy episode of a trained agent, with its machine beside it."""
    from markovize.agents.deep.training import new_walk, one_quiet_thread

    agent = trained.agent
    walk = new_walk(agent.settings.max_steps)
    with one_quiet_thread():
        agent.play(0.0, walk)
    length, ended = walk.outcome.tolist()
    states = (walk.views[: length + 1] % len(world.observations)).tolist()
    labelling, u, steps = labelling_named(machine.trigger_on), machine.initial, list[PlayedStep]()
    for n, (s, t, a) in enumerate(zip(states, states[1:], walk.actions[:length].tolist(), strict=False)):
        after = world.observations[t]
        label = labelling.label((world.observations[s], world.actions[a], after))
        v = machine.step(u, label)
        reward = round(float(walk.rewards[n]), DIGITS)
        steps.append(PlayedStep(world.action_names[a], after, reward, v, label, machine.delta.fired(u, label)))
        u = v
    return PlayedEpisode(world.observations[states[0]], machine.initial, tuple(steps), bool(ended))
