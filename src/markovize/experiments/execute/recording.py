"""From a finished run to the record of its trial, whatever kind of task it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from markovize.episodes.labelling import Labelling, Step
from markovize.episodes.values import Value
from markovize.experiments.record_parts import DIGITS, Curve, PlayedEpisode, PlayedStep
from markovize.experiments.records import TrialRecord
from markovize.experiments.spec import Trial
from markovize.machine.machine import RewardMachine
from markovize.pictures.world.plan import view_of

if TYPE_CHECKING:
    import gymnasium as gym


@dataclass(frozen=True)
class Outcome:
    """What came out of a run. ``machine_at`` is the episode after which its last machine was there."""

    settings: Mapping[str, Any]
    status: str
    episodes: int
    reported: int
    machine: RewardMachine
    machine_at: int
    true_machine: RewardMachine | None
    exemplars: int
    final_return: float
    curve: Curve
    episode: PlayedEpisode
    optimal_return: float | None = None
    episodes_to_optimal: int | None = None
    extra: Mapping[str, float] = field(default_factory=dict)


def make_record(trial: Trial, env: gym.Env[Any, Any], outcome: Outcome) -> TrialRecord:
    """The record of a trial in this environment."""
    task = trial.task
    record = TrialRecord(
        experiment=trial.experiment,
        task=task.name,
        variant=task.variant,
        seed=trial.seed,
        env_id=task.env_id,
        env_args=dict(task.env_args),
        settings=outcome.settings,
        key=trial.key,
        status=outcome.status,
        episodes=outcome.episodes,
        waited=outcome.episodes - outcome.reported,
        reported=outcome.reported,
        states=outcome.machine.states,
        triggers=len(outcome.machine.triggers),
        exemplars=outcome.exemplars,
        final_return=outcome.final_return,
        optimal_return=outcome.optimal_return,
        episodes_to_optimal=outcome.episodes_to_optimal,
        episodes_to_machine=None,
        machine=outcome.machine,
        true_machine=outcome.true_machine,
        curve=outcome.curve,
        episode=outcome.episode,
        view=view_of(env),
        extra=outcome.extra,
    )
    found = record.match()
    if found is not None and found.equal:
        return replace(record, episodes_to_machine=outcome.machine_at)
    return record


class EpisodeBook:
    """Notes an episode step by step, with a machine beside it; ``state`` is the machine's."""

    def __init__(self, machine: RewardMachine, labelling: Labelling, start: Value) -> None:
        self.state = machine.initial
        self._machine, self._labelling, self._start = machine, labelling, start
        self._steps: list[PlayedStep] = []

    def note(self, action: str, step: Step, reward: float) -> None:
        """One step (s, a, s'), whose action people call by this name."""
        label = self._labelling.label(step)
        fired = self._machine.delta.fired(self.state, label)
        self.state = self._machine.step(self.state, label)
        self._steps.append(PlayedStep(action, step[2], round(reward, DIGITS), self.state, label, fired))

    def episode(self, terminated: bool) -> PlayedEpisode:
        """The whole episode."""
        return PlayedEpisode(self._start, self._machine.initial, tuple(self._steps), terminated)
