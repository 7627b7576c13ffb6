"""Third part of the checker: a certificate folder against episodes. Nothing here comes from what learned the machine.

A certificate says: this machine explains every step of these episodes, and no smaller one does (for the objective
``triggers``: none with fewer triggers, nor with as many and fewer states; for ``states`` the other way round). Let M be
a machine that explains the episodes. Leave out its triggers on labels that the exemplars do not have, then the states
that state 0 no longer reaches: what is left, with K states and z triggers, explains the exemplars, is no larger than M
in either number, and is one of the machines that :mod:`~markovize.certificate.formula` speaks of. Each such (K, z) that
is smaller than the machine of the certificate must be excluded by a claim:

* ``counting``: K - 1 ≤ z, since each state but 0 is entered by a trigger of its own;
* ``clique``: histories that are pairwise apart, so that K is at least their number;
* ``infeasible``: the formula for exactly K states and at most z triggers on the first n exemplars contradicts itself,
  by a proof. All formulas speak of the labels of all exemplars.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from markovize.certificate.formula import Formula, Tree
from markovize.certificate.reading import Episodes, Labeller, need, parse, read_episodes, text_of

FORMAT: Final = "markovize.certificate"
VERSION: Final = 1
NAME: Final = "certificate.json"
LARGEST_FILE: Final = 4_000_000_000
KINDS: Final = ("state", "source", "choice", "transition")

Fields = dict[str, Any]
Files = dict[str, bytes]
Refuter = Callable[[Formula, bytes, float], bool]  # whether the proof refutes the formula; not after the deadline


def check_certificate(
    folder: Path, lines: Iterable[str | bytes], functions: dict[str, Labeller], refutes: Refuter, seconds: float
) -> tuple[int, int, int, str, Fields]:
    """Checks everything, or raises :class:`NotVerifiedError`: (states, triggers, claims, objective, options).

    ``functions`` are users' label functions by name.
    """
    deadline = time.monotonic() + seconds
    fields, files = read_certificate(folder)
    kinds = [fields["options"]["trigger_on"], fields["options"]["reward_on"]]
    for kind in kinds:
        need(kind in KINDS or kind in functions, f"the labels come from {kind}, a function that was not given")
    episodes = read_episodes(lines, *[functions.get(kind, kind) for kind in kinds])
    need(episodes.digest == fields["episodes"], "these are other episodes than those of the certificate")
    states, triggers = check_machine(fields["machine"], fields["options"], episodes)
    Claims(fields, files, episodes, refutes, deadline).cover(states, triggers)
    return states, triggers, len(fields["claims"]), fields["objective"], fields["options"]


def fields_of(data: Any, names: str, what: str) -> Fields:
    """An object with exactly these fields."""
    need(isinstance(data, dict) and sorted(data) == sorted(names.split()), f"{what} must have the fields {names}")
    return dict(data)


def list_of(data: Any, what: str) -> list[Any]:
    """A list."""
    need(isinstance(data, list), f"{what} must be a list")
    return list(data)


def integer(data: Any, least: int, most: int, what: str) -> int:
    """A whole number between these."""
    need(type(data) is int and least <= data <= most, f"{what} must be a whole number from {least} to {most}")
    return int(data)


def read_certificate(folder: Path) -> tuple[Fields, Files]:
    """The fields of ``certificate.json``, and the files whose sums it lists."""

    def content(name: str) -> bytes:
        need(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name) is not None, "a file has an odd name")
        path = folder / name
        need(path.is_file() and not path.is_symlink(), f"there is no file {name}")
        need(path.stat().st_size <= LARGEST_FILE, f"{name} is too large")
        return path.read_bytes()

    names = "format version machine objective options episodes exemplars claims files"
    fields = fields_of(parse(content(NAME)), names, "a certificate")
    need(text_of([fields["format"], fields["version"]]) == text_of([FORMAT, VERSION]), "not a certificate of version 1")
    need(fields["objective"] in ("triggers", "states"), "the objective is triggers or states")
    options = fields_of(fields["options"], "trigger_on reward_on explain acyclic", "options")
    need(isinstance(options["trigger_on"], str) and isinstance(options["reward_on"], str), "labels have names")
    need(options["explain"] in ("reward", "reward+termination"), "explain is reward or reward+termination")
    need(isinstance(options["acyclic"], bool), "acyclic is true or false")
    need(isinstance(fields["files"], dict), "files must be an object of names and SHA-256 sums")
    files = {name: content(name) for name in fields["files"]}
    for name, digest in fields["files"].items():
        need(hashlib.sha256(files[name]).hexdigest() == digest, f"{name} is not the file it should be")
    return fields, files


def check_machine(data: Any, options: Fields, episodes: Episodes) -> tuple[int, int]:
    """Whether the machine explains every step of every episode; (states, triggers)."""
    machine = fields_of(data, "format version trigger_on reward_on states initial triggers rewards", "the machine")
    is_known = text_of([machine["format"], machine["version"]]) == text_of(["markovize.reward-machine", 1])
    need(is_known, "not a machine of version 1")
    for name in ("trigger_on", "reward_on"):
        kind = options[name] if options[name] in KINDS else "function"
        need(machine[name] == kind, f"{name} of the machine and of the options differ")
    states = integer(machine["states"], 1, 1_000_000, "states")
    start = integer(machine["initial"], 0, states - 1, "initial")
    delta: dict[tuple[int, str], int] = {}
    for trigger in list_of(machine["triggers"], "triggers"):
        each = fields_of(trigger, "from on to", "a trigger")
        u, v = (integer(each[end], 0, states - 1, "a state") for end in ("from", "to"))
        need(u != v and (u, text_of(each["on"])) not in delta, "a trigger leads nowhere, or stands twice")
        delta[u, text_of(each["on"])] = v
    edges = {(u, v) for (u, _), v in delta.items()} if options["acyclic"] else set()
    while edges:  # those from states that are not entered are left out, again and again: only cycles stay
        entered = {v for _, v in edges}
        left = {(u, v) for u, v in edges if u in entered}
        need(len(left) < len(edges), "the machine has a cycle")
        edges = left
    moves = {(u, episodes.triggers[on]): v for (u, on), v in delta.items() if on in episodes.triggers}
    seen: dict[tuple[int, int, int], tuple[float, bool, bool]] = {}  # reward, whether all end, whether some do
    for steps in episodes.steps:
        u = start
        for x, y, reward, ends in steps:
            v = moves.get((u, x), u)
            before = seen.get((u, y, v), (reward, ends, ends))
            need(before[0] == reward, "the machine does not explain the episodes")
            seen[u, y, v] = (reward, before[1] and ends, before[2] or ends)
            u = v
    is_function = options["explain"] == "reward" or all(every == some for _, every, some in seen.values())
    need(is_function, "the machine does not explain how episodes end")
    labels = list(episodes.reward_labels)
    shown = {(u, labels[y], v): (reward, every) for (u, y, v), (reward, every, _) in seen.items()}
    for emission in list_of(machine["rewards"], "rewards"):
        each = fields_of(emission, "from on to reward terminal", "a reward")
        u, v = (integer(each[end], 0, states - 1, "a state") for end in ("from", "to"))
        found = shown.pop((u, text_of(each["on"]), v), None)
        need(found == (each["reward"], each["terminal"]), "a reward is not what was paid")
        need(not isinstance(each["reward"], bool) and isinstance(each["terminal"], bool), "a reward is a number")
    need(not shown, "rewards that were paid are not listed")
    return states, len(delta)


class Claims:
    """What the claims of a certificate exclude."""

    def __init__(self, fields: Fields, files: Files, episodes: Episodes, refutes: Refuter, deadline: float) -> None:
        self.fields, self.files, self.episodes, self.refutes, self.deadline = fields, files, episodes, refutes, deadline
        self.clique = 1  # this many states are needed
        self.infeasible: list[tuple[int, int | None]] = []  # (K, at most z; None: any number)
        self.exemplars = [self.history(pair, 0) for pair in list_of(fields["exemplars"], "exemplars")]
        self.whole = self.tree(len(self.exemplars))

    def tick(self) -> None:
        """Goes on only if there is time."""
        need(time.monotonic() < self.deadline, "out of time")

    def history(self, pair: Any, least: int) -> tuple[int, int]:
        """(episode, how many of its steps) of [episode, step]; step -1 is before the first."""
        need(isinstance(pair, list) and len(pair) == 2, "a history is [episode, step]")
        episode = integer(pair[0], 0, len(self.episodes.steps) - 1, "an episode")
        return episode, integer(pair[1], least, len(self.episodes.steps[episode]) - 1, "a step") + 1

    def tree(self, exemplars: int) -> Tree:
        """The tree of the first exemplars."""
        chosen = (self.episodes.steps[episode][:length] for episode, length in self.exemplars[:exemplars])
        return Tree(chosen, self.fields["options"]["explain"] != "reward", self.tick)

    def cover(self, states: int, triggers: int) -> None:
        """Checks each claim, and that together they exclude every smaller size."""
        counting, claims = {"claim": "counting"}, list_of(self.fields["claims"], "claims")
        for claim in claims:
            kind = claim.get("claim") if isinstance(claim, dict) else None
            if kind == "clique":
                self.check_clique(fields_of(claim, "claim histories", "a clique"))
            elif kind == "infeasible":
                self.check_infeasible(fields_of(claim, "claim states triggers exemplars formula proof", "a size"))
            else:
                need(claim == counting, "a claim is counting, clique or infeasible")
        need(counting in claims, "there is no counting claim")
        for k, z in smaller_sizes(self.fields["objective"], states, triggers):
            counted_out = z is not None and z < k - 1
            proven = any(k == row and (most is None or (z is not None and z <= most)) for row, most in self.infeasible)
            many = "any number of triggers" if z is None else f"at most {z} trigger{'' if z == 1 else 's'}"
            size = f"{k} states and {many}"
            need(counted_out or k < self.clique or proven, f"no claim excludes machines with {size}")

    def check_clique(self, claim: Fields) -> None:
        """Whether the histories are pairwise apart."""
        nodes: list[int] = []
        for pair in list_of(claim["histories"], "histories"):
            self.tick()
            episode, length = self.history(pair, -1)
            node = 0
            for step in self.episodes.steps[episode][:length]:
                need((node, step.trigger) in self.whole.child, "a history of a clique is not among the exemplars")
                node = self.whole.child[node, step.trigger]
            nodes.append(node)
        for v, w in combinations(sorted(nodes), 2):
            self.tick()
            need((v, w) in self.whole.apart, "two histories of a clique are not apart")
        self.clique = max(self.clique, len(nodes))

    def check_infeasible(self, claim: Fields) -> None:
        """Whether the formula is that of these episodes, and the proof refutes it."""
        k = integer(claim["states"], 1, 1_000, "states")
        z = None if claim["triggers"] is None else integer(claim["triggers"], k - 1, 1_000_000, "triggers")
        few = self.tree(integer(claim["exemplars"], 0, len(self.exemplars), "exemplars"))
        formula = Formula(few, self.whole.alphabet(), k, z, self.fields["options"]["acyclic"])
        names = [str(claim[name]) for name in ("formula", "proof")]
        need(all(name in self.files for name in names), "a claim names a file that is not listed")
        need(self.files[names[0]] == formula.dimacs(), "a formula is not that of these episodes")
        need(self.refutes(formula, self.files[names[1]], self.deadline), f"the proof {names[1]} is wrong")
        self.infeasible.append((k, z))


def smaller_sizes(objective: str, states: int, triggers: int) -> list[tuple[int, int | None]]:
    """(K, at most z) of everything that must be excluded; beyond these, counting excludes it.

    >>> smaller_sizes("triggers", 2, 3), smaller_sizes("states", 2, 3)
    ([(1, 3), (2, 2), (3, 2)], [(1, None), (2, 2)])
    """
    if objective == "states":
        return [*((k, None) for k in range(1, states)), (states, triggers - 1)]
    return [*((k, triggers) for k in range(1, states)), *((k, triggers - 1) for k in range(states, triggers + 1))]
