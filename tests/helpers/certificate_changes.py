"""Certificates and episodes, changed at random: what a hostile or unlucky hand might do to them. And what is true."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from markovize import RewardMachine, Traces, replay
from markovize.certificate.checker import smaller_sizes
from markovize.certificate.formula import Formula, Tree
from markovize.certificate.reading import NotVerifiedError, read_episodes
from markovize.episodes.labelled_steps import label_traces
from markovize.errors import MarkovizeError
from markovize.learning.engines.exhaustive import exhaustive_optimum

ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 7, 10**9, 10**30, 0.5, -0.0, 1e308, "", "state", "../k2.cnf", "/etc/passwd",
    "é\x00", [], {}, [[]], [0, -1], [0, 0], {"claim": "counting"}, {"claim": "clique", "histories": []},
)  # fmt: skip


# what a change may raise after another one; none of it comes from what is tested
NO_FIT = (TypeError, KeyError, AttributeError, ValueError, IndexError, NotVerifiedError, AssertionError)


@dataclass
class Bundle:
    """A certificate in memory, with the lines of its episodes."""

    fields: Any
    files: dict[str, bytes]
    lines: list[str]
    raw: bytes | None = field(default=None)  # of certificate.json, where it is not that of the fields

    def copy(self) -> Bundle:
        return Bundle(copy.deepcopy(self.fields), dict(self.files), list(self.lines))

    def save(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        (folder / "certificate.json").write_bytes(self.raw or json.dumps(self.fields).encode())

    def recompute(self) -> None:
        """All sums as they should be."""
        if not isinstance(self.fields, dict):
            return
        if isinstance(self.fields.get("files"), dict):
            self.fields["files"] = {name: hashlib.sha256(text).hexdigest() for name, text in self.files.items()}
        with contextlib.suppress(NotVerifiedError):
            self.fields["episodes"] = read_episodes(self.lines, "state", "state").digest


def change(bundle: Bundle, rng: np.random.Generator) -> Bundle:
    """One to three changes; in most cases all sums are made to fit."""
    out = bundle.copy()
    for _ in range(int(rng.integers(1, 4))):
        kinds: list[Callable[[Bundle, np.random.Generator], None]] = [
            _machine, _machine, _claims, _claims, _sizes, _proof, _proof, _formula, _episodes, _episodes, _exemplars,
            _options, _anywhere, _bytes, forge,
        ]  # fmt: skip
        with contextlib.suppress(*NO_FIT):
            kinds[int(rng.integers(len(kinds)))](out, rng)
    if rng.random() < 0.85:
        out.recompute()
    return out


def forge(bundle: Bundle, rng: np.random.Generator) -> None:
    """A larger machine, every smaller size claimed to be infeasible, by the right formulas and by proofs that are none.

    Only what checks proofs stands against it.
    """
    proofs = [text for name, text in bundle.files.items() if name.endswith(".drat")]
    proofs += [b"0\n", b"", b"1 0\n-1 0\n0\n"]
    enlarge(bundle, True, lambda _: bytes(_pick(rng, proofs)))


def enlarge(bundle: Bundle, with_state: bool, prove: Callable[[Formula], bytes | None]) -> None:
    """A machine with one more trigger, or state, and a claim for every smaller size that has something like a proof."""
    fields, options = bundle.fields, bundle.fields["options"]
    machine = fields["machine"]
    machine["triggers"].append({"from": 0, "on": "never seen", "to": machine["states"] if with_state else 1})
    machine["states"] += with_state
    episodes = read_episodes(bundle.lines, options["trigger_on"], options["reward_on"])
    histories = [episodes.steps[episode][: step + 1] for episode, step in fields["exemplars"]]
    tree = Tree(histories, options["explain"] != "reward", lambda: None)
    fields["claims"] = [{"claim": "counting"}]
    for k, z in smaller_sizes(fields["objective"], machine["states"], len(machine["triggers"])):
        if z is not None and z < k - 1:
            continue
        formula = Formula(tree, tree.alphabet(), k, z, options["acyclic"])
        proof = prove(formula)
        if proof is not None:
            name = f"f{k}" if z is None else f"f{k}-{z}"
            bundle.files |= {f"{name}.cnf": formula.dimacs(), f"{name}.drat": proof}
            claim = {"claim": "infeasible", "states": k, "triggers": z, "exemplars": len(histories)}
            fields["claims"].append(claim | {"formula": f"{name}.cnf", "proof": f"{name}.drat"})


def _pick(rng: np.random.Generator, items: Any) -> Any:
    items = list(items)
    return items[int(rng.integers(len(items)))] if items else None


def _machine(bundle: Bundle, rng: np.random.Generator) -> None:
    """A machine that is larger, smaller, or another one."""
    machine = bundle.fields["machine"]
    kind = rng.integers(7)
    trigger, reward = _pick(rng, machine["triggers"]), _pick(rng, machine["rewards"])
    if kind == 0:
        machine["states"] = max(1, machine["states"] + int(rng.choice([-1, 1])))
    elif kind == 1 and trigger:
        machine["triggers"].remove(trigger)
    elif kind == 2 and trigger:
        trigger[_pick(rng, ["from", "to"])] = int(rng.integers(machine["states"]))
    elif kind == 3 and trigger:
        machine["triggers"].append({**trigger, "on": _pick(rng, [0, 1, 2, "new", [0, 0, 1]])})
    elif kind == 4 and reward:
        reward[_pick(rng, ["reward", "terminal", "on"])] = _pick(rng, [0, 1, 2.5, True, False])
    elif kind == 5 and reward:
        machine["rewards"].remove(reward)
    else:
        machine["initial"] = int(rng.integers(machine["states"]))


def _claims(bundle: Bundle, rng: np.random.Generator) -> None:
    claims = bundle.fields["claims"]
    claim = _pick(rng, claims)
    if not isinstance(claim, dict):
        return
    kind = rng.integers(3)
    if kind == 0:
        claims.remove(claim)
    elif claim.get("claim") == "clique":
        histories = claim["histories"]
        if kind == 1 and histories:
            histories.append(copy.deepcopy(_pick(rng, histories)))
        else:
            histories.append([int(rng.integers(len(bundle.lines) or 1)), int(rng.integers(-1, 4))])
    elif claim.get("claim") == "infeasible":
        name = _pick(rng, ["states", "triggers", "exemplars", "formula", "proof"])
        others = [*bundle.files, None, 0, 1, 2, 3, len(bundle.fields["exemplars"])]
        claim[name] = _pick(rng, others)


def _sizes(bundle: Bundle, rng: np.random.Generator) -> None:
    """All infeasible sizes grow, as if the proofs said more."""
    for claim in bundle.fields["claims"]:
        if isinstance(claim, dict) and claim.get("claim") == "infeasible" and type(claim["triggers"]) is int:
            claim["triggers"] += int(rng.integers(1, 3))


def _proof(bundle: Bundle, rng: np.random.Generator) -> None:
    name = _pick(rng, [name for name in bundle.files if name.endswith(".drat")])
    if name is None:
        return
    lines = bundle.files[name].splitlines()
    kind = rng.integers(5)
    if kind == 0 and lines:
        lines.remove(_pick(rng, lines))
    elif kind == 1:
        lines = [b"0"]
    elif kind == 2:
        lines = lines[: len(lines) // 2]
    elif kind == 3:
        lines.insert(0, f"{int(rng.integers(-9, 9)) or 1} 0".encode())
    else:
        lines = []
    bundle.files[name] = b"\n".join([*lines, b""])


def _formula(bundle: Bundle, rng: np.random.Generator) -> None:
    name = _pick(rng, [name for name in bundle.files if name.endswith(".cnf")])
    if name is not None:
        lines = bundle.files[name].splitlines()
        at = int(rng.integers(len(lines)))
        lines[at] = lines[at].replace(b"-", b"", 1) if rng.random() < 0.5 else b"1 0"
        bundle.files[name] = b"\n".join([*lines, b""])


def _episodes(bundle: Bundle, rng: np.random.Generator) -> None:
    lines = bundle.lines
    if not lines:
        return
    at, kind = int(rng.integers(len(lines))), rng.integers(5)
    episode = json.loads(lines[at])
    if kind == 0:
        del lines[at]
        return
    if kind == 1:
        lines.append(lines[at])
        return
    if kind == 2 and episode["rewards"]:
        episode["rewards"][int(rng.integers(len(episode["rewards"])))] = float(rng.integers(3))
    elif kind == 3:
        episode["observations"][int(rng.integers(len(episode["observations"])))] = int(rng.integers(3))
    else:
        episode["terminated"] = not episode["terminated"]
    lines[at] = json.dumps(episode)


def _exemplars(bundle: Bundle, rng: np.random.Generator) -> None:
    exemplars = bundle.fields["exemplars"]
    if exemplars and rng.random() < 0.5:
        exemplars.remove(_pick(rng, exemplars))
    else:
        exemplars.insert(0, [int(rng.integers(len(bundle.lines) or 1)), int(rng.integers(0, 5))])


def _options(bundle: Bundle, rng: np.random.Generator) -> None:
    fields, options, kind = bundle.fields, bundle.fields["options"], rng.integers(4)
    if kind == 0:
        fields["objective"] = "states" if fields["objective"] == "triggers" else "triggers"
    elif kind == 1:
        options["acyclic"] = not options["acyclic"]
    elif kind == 2:
        options["explain"] = "reward" if options["explain"] != "reward" else "reward+termination"
    else:
        name = _pick(rng, ["trigger_on", "reward_on"])
        options[name] = fields["machine"][name] = _pick(rng, ["state", "source", "transition", "os:getcwd"])


def _anywhere(bundle: Bundle, rng: np.random.Generator) -> None:
    """Something else, anywhere in the JSON."""
    at: Any = bundle.fields
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = _pick(rng, keys)
        if not isinstance(at[key], (dict, list)) or not at[key] or rng.random() < 0.2:
            at[key] = copy.deepcopy(_pick(rng, ODD))
            return
        at = at[key]


def _bytes(bundle: Bundle, rng: np.random.Generator) -> None:
    """The text of the JSON: bytes lost, changed, doubled, or not JSON at all."""
    text = bytearray(json.dumps(bundle.fields).encode())
    kind, at = rng.integers(5), int(rng.integers(len(text)))
    if kind == 0:
        text[at] = int(rng.integers(256))
    elif kind == 1:
        del text[at:]
    elif kind == 2:
        text[at:at] = text[at : at + 20]
    else:
        text = bytearray(text.replace(b"1", bytes(_pick(rng, [b"NaN", b"1e999", b"9" * 5000, b"[" * 5000])), 1))
    bundle.raw = bytes(text)


def is_true(bundle: Bundle) -> bool:
    """Whether the statement of a certificate that was verified is true, by exhaustive search."""
    fields = json.loads(bundle.raw) if bundle.raw else bundle.fields
    options = fields["options"]
    traces = Traces.of([json.loads(line) for line in bundle.lines])
    try:
        machine = RewardMachine.from_json(fields["machine"])
        steps = label_traces(traces, options["trigger_on"], options["reward_on"], options["explain"])
        best = exhaustive_optimum(steps, fields["objective"], options["acyclic"])
    except MarkovizeError:
        return False
    report = replay(machine, traces)
    return (
        (machine.states, len(machine.triggers)) == best
        and (report.mismatches, report.unseen) == (0, 0)
        and (machine.acyclic or not options["acyclic"])
        and (machine.trigger_on, machine.reward_on) == (options["trigger_on"], options["reward_on"])
    )
