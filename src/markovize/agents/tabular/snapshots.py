"""All that a run knows between two episodes, as plain data: so that it can stop here and go on elsewhere.

A snapshot is a JSON object and some arrays, and one file without pickles. Solvers are not part of it: they are brought
back to where they were by the solves they have seen, which repeat exactly.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from markovize.agents.tabular.mind import new_record, new_way
from markovize.agents.tabular.players import SteppingPlayer
from markovize.agents.tabular.results import Solve
from markovize.agents.tabular.steps import Kept, StepBook
from markovize.agents.tabular.tables import Beliefs, Mind, Model, Pool
from markovize.episodes.strict_json import strict_json
from markovize.episodes.values import canonical, jsonable
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    from markovize.agents.tabular.learner import ActiveLearner

FORMAT = 1
_PLAIN = ("episode", "notes", "_horizon", "_quiet", "_total", "_optimal_since", "_exemplars", "_status")


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
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            facts = strict_json(arrays.pop("facts").tobytes().decode())
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
            raise InputError("not a checkpoint of a run", where=where) from None
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise InputError("a checkpoint of another version of markovize; start the run again", where=where)
        return cls(facts, arrays)


def take(run: ActiveLearner) -> Snapshot:
    """The state of a run, which must not be in the middle of an episode."""
    facts = {name.lstrip("_"): getattr(run, name) for name in _PLAIN} | {
        "format": FORMAT,
        "settings": run.settings.to_json(),
        "environment": fingerprint(run),
        "rng": run.rng.bit_generator.state,
        "machine": run.machine.to_json(),
        "solves": [asdict(solve) for solve in run.solves],
        "seconds": run.seconds,
        "book": _book_facts(run.book),
    }
    offsets, transitions, rewards, terminated = run.kept.columns()
    arrays = {
        "returns": _joined(run.returns, np.float64),
        "lengths": _joined(run.lengths, np.int32),
        "kept_offsets": offsets,
        "kept_transitions": transitions,
        "kept_rewards": rewards,
        "kept_terminated": terminated,
        "book": np.array([run.book.source, run.book.action, run.book.target], np.int32),
    }
    for part in (run.mind.beliefs, run.mind.model, run.mind.pool):
        arrays |= {f"{type(part).__name__}.{name}": value for name, value in part._asdict().items()}
    return Snapshot(facts, arrays | _recent_arrays(run))


def restore(run: ActiveLearner, snapshot: Snapshot) -> None:
    """Brings a new run to the state of a snapshot; an environment that is not the same is refused."""
    try:
        _restore(run, *snapshot)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"not a checkpoint of a run: {type(error).__name__} {error}") from None


def _restore(run: ActiveLearner, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
    if facts["settings"] != run.settings.to_json():
        changed = [name for name, value in run.settings.to_json().items() if facts["settings"].get(name) != value]
        raise InputError(f"the run was made with other settings ({', '.join(changed)})")
    _check_environment(run, facts["environment"])
    for name in _PLAIN:
        setattr(run, name, facts[name.lstrip("_")])
    run.rng.bit_generator.state = facts["rng"]
    run.machine = RewardMachine.from_json(facts["machine"])
    run.solves = [Solve(**solve) for solve in facts["solves"]]
    run.seconds = facts["seconds"]
    _restore_book(run.book, facts["book"], arrays["book"])
    run.returns, run.lengths = [arrays["returns"]], [arrays["lengths"]]
    run.kept = _kept(arrays)
    beliefs, model, pool = (_part(kind, arrays) for kind in (Beliefs, Model, Pool))
    nodes = beliefs.q.shape[0] * beliefs.q.shape[1]
    run.mind = Mind(beliefs, model, new_way(nodes), pool, new_record(run.steps))
    if isinstance(run.player, SteppingPlayer):
        run.player.room = (model.first.shape[0], len(model.seen))
        for episode in zip(arrays["recent_seeds"].tolist(), *_split_recent(arrays), strict=True):
            run.player.recent.append(episode)
        _check_behaviour(run, run.player)


def fingerprint(run: ActiveLearner) -> dict[str, Any]:
    """What tells environments apart without stepping them; a world of this package is known whole."""
    world = None
    if run.world is not None:
        digest = hashlib.sha256()
        tables = run.world.tables
        for array in (run.world.successor, tables.u, tables.reward, tables.terminated):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(repr((run.world.start, run.world.machine.initial, run.world.observations)).encode())
        world = digest.hexdigest()
    spaces = str(run.env.observation_space), str(run.env.action_space)
    spec = run.env.spec
    name = None
    if spec is not None:
        made = f"{spec.id} {spec.kwargs!r} {[wrapper.name for wrapper in spec.additional_wrappers]}"
        name = re.sub(r" at 0x[0-9a-f]+", "", made)
    return {"name": name, "observations": spaces[0], "actions": spaces[1], "steps": run.steps, "world": world}


def _check_environment(run: ActiveLearner, before: dict[str, Any]) -> None:
    now = fingerprint(run)
    names = {
        "name": "name or arguments have",
        "observations": "observation space has",
        "actions": "action space has",
        "steps": "step limit has",
        "world": "world has",
    }
    for name, words in names.items():
        if now[name] != before.get(name):
            change = "" if name == "world" else f": it was {before.get(name)} and is {now[name]}"
            raise InputError(f"the environment's {words} changed since this run began{change}; start a new run")


def _check_behaviour(run: ActiveLearner, player: SteppingPlayer) -> None:
    """Plays the last episodes again, with their seeds and actions: all must go as it went."""
    book = run.book
    for seed, transitions, rewards in player.recent:
        observation, _ = run.env.reset(seed=int(seed))
        for n, (x, reward) in enumerate(zip(transitions.tolist(), rewards.tolist(), strict=True)):
            s, _, t = book.values(x)
            if canonical(observation) != s:
                raise _changed(n, f"showed {canonical(observation)}, where it was {s}")
            observation, paid, terminated, truncated, _ = run.env.step(player.raw_action(x))
            if (terminated or truncated) and n < len(rewards) - 1:
                raise _changed(n, "ended it, where it went on")
            if float(paid) != reward:
                raise _changed(n, f"paid {float(paid):g}, where it was {reward:g}")
            if canonical(observation) != t:
                raise _changed(n, f"led to {canonical(observation)}, where it was {t}")


def _changed(step: int, what: str) -> InputError:
    return InputError(
        f"the environment has changed since this run began: with the same seed and actions, step {step} of an episode "
        f"{what}; start a new run (an environment that ignores reset(seed=…) cannot be resumed)"
    )


def _book_facts(book: StepBook) -> dict[str, Any]:
    labels = ["custom" if callable(on) else on for on in (book.trigger_on, book.reward_on)]
    return {"observations": [jsonable(value) for value in book.observations.values], "labels": labels}


def _restore_book(book: StepBook, facts: dict[str, Any], transitions: npt.NDArray[np.int32]) -> None:
    for value in facts["observations"]:
        book.observations.id(value)
    for s, a, t in transitions.T.tolist():
        book.transition(s, a, t)
    asked = book.trigger_on, book.reward_on
    book.relabel(*[own if callable(own) else on for own, on in zip(asked, facts["labels"], strict=True)])


def _kept(arrays: dict[str, npt.NDArray[Any]]) -> Kept:
    kept, cuts = Kept(), arrays["kept_offsets"][1:-1]
    if len(arrays["kept_terminated"]):
        columns = (np.split(arrays[f"kept_{name}"], cuts) for name in ("transitions", "rewards"))
        for transitions, rewards, terminated in zip(*columns, arrays["kept_terminated"], strict=True):
            kept.add(transitions, rewards, bool(terminated))
    return kept


def _recent_arrays(run: ActiveLearner) -> dict[str, npt.NDArray[Any]]:
    recent = list(run.player.recent) if isinstance(run.player, SteppingPlayer) else []
    return {
        "recent_seeds": np.array([seed for seed, _, _ in recent], np.int64),
        "recent_ends": np.cumsum([len(rewards) for _, _, rewards in recent], dtype=np.int64),
        "recent_transitions": _joined([transitions for _, transitions, _ in recent], np.int32),
        "recent_rewards": _joined([rewards for _, _, rewards in recent], np.float64),
    }


def _split_recent(arrays: dict[str, npt.NDArray[Any]]) -> tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]]:
    ends = arrays["recent_ends"]
    cuts = ends[:-1]
    parts = [np.split(arrays[f"recent_{name}"], cuts) for name in ("transitions", "rewards")]
    return (parts[0], parts[1]) if len(ends) else ([], [])


def _part(kind: Any, arrays: dict[str, npt.NDArray[Any]]) -> Any:
    return kind(*[arrays[f"{kind.__name__}.{name}"] for name in kind._fields])


def _joined(parts: Iterable[npt.NDArray[Any]], kind: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts])
