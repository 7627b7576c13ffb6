"""All that a run knows between two episodes, as plain data: so that it can stop here and go on elsewhere.

A snapshot is a JSON object and some arrays, and one file without pickles. Solvers are not part of it: they are brought
back to where they were by the solves they have seen, which repeat exactly.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.compiled.allocation import allocate, from_arrays, sizes_of, to_arrays
from markovize.agents.tabular.compiled.arrays import (
    AgentArrays,
    Control,
    Episode,
    Machine,
    Model,
    Rewards,
    Route,
    Transitions,
    Values,
    Witnesses,
)
from markovize.agents.tabular.history import join
from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.agents.tabular.runners import EnvRunner, RecentEpisode
from markovize.agents.tabular.snapshot_schema import CodecFacts, check_columns, check_facts, check_numbers
from markovize.episodes.strict_json import strict_json
from markovize.episodes.values import canonical, jsonable
from markovize.errors import InputError
from markovize.io.arrays import load_arrays
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    from markovize.agents.tabular.learner import ActiveLearner

FORMAT = 6
KNOWLEDGE = (Transitions, Machine, Rewards, Values, Model, Witnesses)  # the rest is for the episode at hand


class Snapshot(NamedTuple):
    """What JSON can say, and arrays."""

    facts: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]

    def to_bytes(self) -> bytes:
        """As the contents of one ``.npz`` file."""
        facts = np.frombuffer(json.dumps(self.facts, allow_nan=False).encode(), np.uint8)
        out = io.BytesIO()
        np.savez_compressed(out, allow_pickle=False, facts=facts, **self.arrays)
        return out.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, where: str = "") -> Snapshot:
        """What :meth:`to_bytes` made.

        >>> Snapshot.from_bytes(b"PK")
        Traceback (most recent call last):
        markovize.errors.InputError: not a checkpoint of a run
        """
        try:
            arrays = load_arrays(data)
            facts = strict_json(arrays.pop("facts").tobytes().decode())
        except (ValueError, KeyError):
            raise InputError("not a checkpoint of a run", where=where) from None
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise InputError("a checkpoint of another version of markovize; start the run again", where=where)
        return cls(facts, arrays)


def take(run: ActiveLearner) -> Snapshot:
    """The state of a run, which must not be in the middle of an episode."""
    search, schedule, horizon, history = run.search, run.schedule, run.horizon, run.history
    facts = {
        "format": FORMAT,
        "settings": run.settings.to_json(),
        "environment": run.environment.fingerprint(),
        "rng": run.rng.bit_generator.state,
        "machine": run.agent.machine.to_json(),
        "solves": [asdict(solve) for solve in search.solves],
        "pending": search.pending,
        "status": search.status,
        "exemplars": search.exemplars,
        "schedule": {"episode": schedule.episode, "total": schedule.total},
        "horizon": {"steps": horizon.steps, "quiet": horizon.quiet, "rests": horizon.rests},
        "notes": history.notes,
        "optimal_since": history.optimal_since,
        "seconds": history.seconds,
        "codec": _codec_facts(run.runner.codec),
    }
    if run.settings.all:
        ties = run.ties
        facts["ties"] = {"unique_since": ties.unique_since, "waits": ties.waits, "rests": ties.rests}
    offsets, transitions, rewards, terminated = search.kept.columns()
    codec = run.runner.codec
    arrays = {
        "returns": join(history.returns, np.float64),
        "lengths": join(history.lengths, np.int32),
        "kept_offsets": offsets,
        "kept_transitions": transitions,
        "kept_rewards": rewards,
        "kept_terminated": terminated,
        "codec": np.array([codec.source, codec.action, codec.target], np.int32),
    }
    known = [group for group in run.agent.arrays if isinstance(group, KNOWLEDGE)]
    return Snapshot(facts, arrays | to_arrays(tuple(known)) | _recent_arrays(run))


def restore(run: ActiveLearner, snapshot: Snapshot) -> None:
    """Brings a new run to the state of a snapshot; an environment that is not the same is refused."""
    try:
        _restore(run, *snapshot)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"not a checkpoint of a run: {type(error).__name__} {error}") from None


def _restore(run: ActiveLearner, raw: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
    facts = check_facts(raw)
    check_columns(arrays)
    if facts.settings != run.settings.to_json():
        changed = [name for name, value in run.settings.to_json().items() if facts.settings.get(name) != value]
        raise InputError(f"the run was made with other settings ({', '.join(changed)})")
    run.environment.check_unchanged(facts.environment)
    run.rng.bit_generator.state = facts.rng
    search, history, codec = run.search, run.history, run.runner.codec
    run.schedule.go_on(facts.schedule.episode, facts.schedule.total)
    run.horizon.steps, run.horizon.quiet, run.horizon.rests = (
        facts.horizon.steps,
        facts.horizon.quiet,
        facts.horizon.rests,
    )
    if facts.ties is not None:
        run.ties.unique_since, run.ties.waits, run.ties.rests = (
            facts.ties.unique_since,
            facts.ties.waits,
            facts.ties.rests,
        )
    search.solves = facts.solves
    search.pending, search.status, search.exemplars = facts.pending, facts.status, facts.exemplars
    history.notes, history.optimal_since, history.seconds = facts.notes, facts.optimal_since, facts.seconds
    history.returns, history.lengths = [arrays["returns"]], [arrays["lengths"]]
    _restore_codec(codec, facts.codec, arrays["codec"])
    search.kept = _kept(arrays, len(codec), run.environment.steps)
    run.agent = _agent(run, RewardMachine.from_json(facts.machine), arrays)
    if isinstance(run.runner, EnvRunner):
        check_numbers(arrays["recent_transitions"], len(codec), "episodes have transitions")
        check_numbers(arrays["recent_seeds"], 2**31, "episodes have seeds")
        run.runner.recent.extend(_recent_episodes(arrays))
        run.environment.check_behaviour(run.runner, run.runner.recent)


def _agent(run: ActiveLearner, machine: RewardMachine, arrays: dict[str, npt.NDArray[Any]]) -> Agent:
    sizes = sizes_of(arrays, run.environment.steps)
    codec = run.runner.codec
    if (
        sizes.machine_states != machine.states
        or sizes.states < len(codec.observations)
        or sizes.transitions < len(codec)
    ):
        raise InputError("not a checkpoint of a run: its tables do not fit its machine and its steps")
    known = [from_arrays(kind, arrays, sizes) for kind in KNOWLEDGE]
    groups = AgentArrays._make([*known, *(allocate(kind, sizes) for kind in (Episode, Route, Control))])
    return Agent(codec, machine, groups, per_transition=run.agent.per_transition)


def _codec_facts(codec: StepCodec) -> dict[str, Any]:
    labels = ["custom" if callable(on) else on for on in codec.labelled_by]
    facts = {"observations": [jsonable(value) for value in codec.observations.values], "labels": labels}
    return facts | ({"transition_labels": [jsonable(own) for own in codec.labels]} if codec.labelled else {})


def _restore_codec(codec: StepCodec, facts: CodecFacts, transitions: npt.NDArray[np.int32]) -> None:
    for value in facts.observations:
        codec.observations.id(value)
    for numbers, below in zip(transitions, (len(codec.observations), len(codec.actions)) * 2, strict=False):
        check_numbers(numbers, below, "transitions")
    if codec.labelled and len(facts.transition_labels) != transitions.shape[1]:
        raise InputError("not a checkpoint of a run: transitions without their labels")
    for number, (s, a, t) in enumerate(transitions.T.tolist()):
        own = tuple(map(canonical, facts.transition_labels[number])) if codec.labelled else ()
        codec.transition(s, a, t, own)
    codec.relabel(*[own if callable(own) else on for own, on in zip(codec.labelled_by, facts.labels, strict=True)])


def _kept(arrays: dict[str, npt.NDArray[Any]], known: int, longest: int) -> KeptEpisodes:
    kept, offsets = KeptEpisodes(), arrays["kept_offsets"]
    check_numbers(arrays["kept_transitions"], known, "episodes have transitions")
    check_numbers(np.diff(offsets), longest + 1, "episodes are longer than any")
    if len(offsets) > 1:
        columns = (np.split(arrays[f"kept_{name}"], offsets[1:-1]) for name in ("transitions", "rewards"))
        for steps, rewards, terminated in zip(*columns, arrays["kept_terminated"], strict=True):
            kept.add(steps, rewards, bool(terminated))
    return kept


def _recent_arrays(run: ActiveLearner) -> dict[str, npt.NDArray[Any]]:
    recent = list(run.runner.recent) if isinstance(run.runner, EnvRunner) else []
    return {
        "recent_seeds": np.array([episode.seed for episode in recent], np.int64),
        "recent_ends": np.cumsum([len(episode.rewards) for episode in recent], dtype=np.int64),
        "recent_transitions": join([episode.transitions for episode in recent], np.int32),
        "recent_rewards": join([episode.rewards for episode in recent], np.float64),
    }


def _recent_episodes(arrays: dict[str, npt.NDArray[Any]]) -> Iterator[RecentEpisode]:
    cuts = arrays["recent_ends"][:-1]
    columns = (np.split(arrays[f"recent_{name}"], cuts) for name in ("transitions", "rewards"))
    if len(arrays["recent_ends"]):
        for seed, transitions, rewards in zip(arrays["recent_seeds"].tolist(), *columns, strict=True):
            yield RecentEpisode(seed, transitions, rewards)
