"""Reward machines in the text format of the literature (Toro Icarte et al., *Reward Machines*, JAIR 2022).

::

    0                                            # initial state
    [2]                                          # terminal states
    (0,0,'!f',ConstantRewardFunction(0))
    (0,1,'f',ConstantRewardFunction(0))
    (1,2,'g&!n',ConstantRewardFunction(1))

There, a step makes any set of propositions true and a pair of states has one reward. Here, a step has exactly one
label. Exported labels become propositions of one letter; a legend in the comment of the first line says which label
is which, so that reading the file again gives the same machine. Files without a legend are read with the true
propositions as labels: replay them with :class:`~markovize.io.machines.propositions.Propositions`.
"""

from __future__ import annotations

import json
import string
from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import Any, Final

from markovize.episodes.values import Value, canonical, jsonable, key_of, show, strict_json
from markovize.errors import InputError, MachineError, UnsupportedError, one_line
from markovize.io.files import atomic_write, read_text
from markovize.io.machines.steps import KnownStep, known_steps, number_text
from markovize.io.machines.text_syntax import REWARD, Document, Edge, parse_document
from markovize.io.registry import AnyPath
from markovize.machine.machine import Emission, RewardMachine, Trigger, sorted_emissions, sorted_triggers

_LETTERS: Final = string.ascii_lowercase + string.ascii_uppercase
_MOST_SYMBOLS: Final = 10


def write_reward_machine_text(path: AnyPath, machine: RewardMachine) -> None:
    """Writes the file, or refuses with the reason."""
    atomic_write(path, reward_machine_text(machine))


def read_reward_machine_text(path: AnyPath) -> RewardMachine:
    """Reads a file of this package or of the literature."""
    return parse_reward_machine_text(read_text(path), one_line(path))


def reward_machine_text(machine: RewardMachine) -> str:
    """The machine in the text format.

    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, 5, 1),), (Emission(1, 7, 1, 1.0, True),))
    >>> _, *lines = reward_machine_text(machine).splitlines()  # the first holds the initial state and the legend
    >>> print(*lines, sep="\\n")
    [2]
    (0,0,'!a',ConstantRewardFunction(0))
    (0,1,'a',ConstantRewardFunction(0))
    (1,1,'!b',ConstantRewardFunction(0))
    (1,2,'b',ConstantRewardFunction(1))
    """
    steps = known_steps(machine, "the reward-machine text format")
    marked = [step for step in steps if step.target != step.source or step.terminal]
    letters = _letters(step.on for step in marked)
    ends = {
        reward: machine.states + n for n, reward in enumerate(dict.fromkeys(s.reward for s in marked if s.terminal))
    }
    rewards = _pair_rewards(steps)
    lines: list[str] = []
    for state in range(machine.states):
        here = [step for step in marked if step.source == state]
        own = sorted((letters[key_of(step.on)] for step in here), key=_LETTERS.index)
        groups: dict[int, list[str]] = {state: ["&".join("!" + letter for letter in own) or "True"]}
        for step in here:
            target = ends[step.reward] if step.terminal else step.target
            groups.setdefault(target, []).append(letters[key_of(step.on)])
            rewards.setdefault((state, target), step.reward if step.terminal else None)
        for target, parts in sorted(groups.items()):
            formula = "|".join(sorted(parts, key=_LETTERS.index) if target != state else parts)
            reward = rewards.get((state, target)) or 0.0
            lines.append(f"({state},{target},'{formula}',{REWARD}({number_text(reward)}))")
    legend = _legend(machine, steps, letters)
    return f"{machine.initial} # {legend}\n{list(ends.values())}\n" + "".join(line + "\n" for line in lines)


def parse_reward_machine_text(text: str, name: str = "") -> RewardMachine:
    """Reads the text format.

    >>> text = "0\\n[1]\\n(0,0,'!a',ConstantRewardFunction(0))\\n(0,1,'a',ConstantRewardFunction(1))"
    >>> machine = parse_reward_machine_text(text)
    >>> machine.trigger_on, machine.triggers
    ('function', (Trigger(source=0, on=('a',), target=1, alternatives=()),))
    """
    document = parse_document(text, name)
    try:
        legend = strict_json(document.comment)
    except InputError as error:
        if document.comment.startswith('{"legend":"markovize"'):
            raise MachineError(f"the legend in the first line is damaged: {error}", where=f"{name}:1") from None
        legend = None  # somebody's own comment
    if not isinstance(legend, dict) or legend.get("legend") != "markovize":
        return _from_formulas(document, name)
    try:
        return _from_legend(document, legend, name)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError) and error.where:
            raise
        reason = f"no {error}" if isinstance(error, KeyError) else one_line(error, 80)
        raise MachineError(f"the legend in the first line is damaged: {reason}", where=f"{name}:1") from None


def _letters(labels: Iterable[Value]) -> dict[Hashable, str]:
    keys = dict.fromkeys(key_of(label) for label in labels)
    if len(keys) > len(_LETTERS):
        # longer names would be ambiguous: the literature looks symbols up as substrings of the true propositions
        raise UnsupportedError(f"{len(keys)} labels matter, and the text format has {len(_LETTERS)} letters for them")
    return dict(zip(keys, _LETTERS, strict=False))


def _pair_rewards(steps: list[KnownStep]) -> dict[tuple[int, int], float | None]:
    """The reward of each pair of states, which must be one."""
    first: dict[tuple[int, int], KnownStep] = {}
    for step in steps:
        if step.reward is None or step.terminal:
            continue
        other = first.setdefault((step.source, step.target), step)
        if other.reward != step.reward:
            raise UnsupportedError(
                f"the text format has one reward from state {step.source} to {step.target}, but "
                f"{one_line(show(other.on), 40)} pays {other.reward}, {one_line(show(step.on), 40)} pays {step.reward}"
            )
    return {pair: step.reward for pair, step in first.items()}


def _legend(machine: RewardMachine, steps: list[KnownStep], letters: dict[Hashable, str]) -> str:
    """What the edges cannot say: the labels behind letters, the labels of self-loops, where ending steps would lead."""
    values = {key_of(step.on): step.on for step in steps}
    stays: dict[str, list[Any]] = {}
    for step in steps:
        if step.target == step.source and not step.terminal:
            stays.setdefault(str(step.source), []).append(jsonable(step.on))
    legend = {
        "legend": "markovize",
        "on": machine.trigger_on,
        "states": machine.states,
        "letters": {letter: jsonable(values[key]) for key, letter in letters.items()},
        "leads": [[s.source, letters[key_of(s.on)], s.target] for s in steps if s.terminal and s.source != s.target],
        "unseen": [[s.source, letters[key_of(s.on)]] for s in steps if s.reward is None],
        "stays": stays,
    }
    return json.dumps(legend, separators=(",", ":"))


def _from_legend(document: Document, legend: dict[str, Any], name: str) -> RewardMachine:
    kind: str = legend["on"]
    if not 1 <= legend["states"] <= len(document.edges):
        raise ValueError("more states than edges")
    leads = {(source, letter): target for source, letter, target in legend["leads"]}
    unseen = {(source, letter) for source, letter in legend["unseen"]}
    triggers: list[Trigger] = []
    rewards: list[Emission] = []
    letters = {letter: canonical(raw) for letter, raw in legend["letters"].items()}
    for state in range(legend["states"]):
        for letter, label in letters.items():
            edge = _only(document, state, frozenset(letter), name)
            if edge is None or edge.target == state:
                continue
            terminal = edge.target in document.terminal
            target = leads.get((state, letter), state) if terminal else edge.target
            if target != state:
                triggers.append(Trigger(state, label, target))
            if (state, letter) not in unseen:
                rewards.append(Emission(state, label, target, edge.reward, terminal))
        staying = _only(document, state, frozenset(), name)
        for raw in legend["stays"].get(str(state), ()):
            if staying is None:
                raise MachineError(f"state {state} has no edge for the labels that stay", where=name)
            rewards.append(Emission(state, canonical(raw), state, staying.reward))
    return RewardMachine(
        kind, kind, legend["states"], sorted_triggers(triggers), sorted_emissions(rewards), document.initial
    )


def _from_formulas(document: Document, name: str) -> RewardMachine:
    symbols = sorted({symbol for edge in document.edges for symbol in edge.formula.symbols()})
    if len(symbols) > _MOST_SYMBOLS:
        reason = f"{len(symbols)} propositions make {2 ** len(symbols)} labels"
        raise UnsupportedError(f"{name}: {reason}; at most {_MOST_SYMBOLS} are supported")
    mentioned = {document.initial, *document.terminal, *(s for e in document.edges for s in (e.source, e.target))}
    number = {state: n for n, state in enumerate(sorted(mentioned))}
    triggers: list[Trigger] = []
    rewards: list[Emission] = []
    for state in sorted(mentioned - set(document.terminal)):
        u = number[state]
        for true in (set(c) for size in range(len(symbols) + 1) for c in combinations(symbols, size)):
            edge = _only(document, state, frozenset(true), name)
            label = tuple(sorted(true))
            if edge is None:
                # where no formula holds, the literature's machines fall off: no reward, and the episode is over
                rewards.append(Emission(u, label, u, 0.0, True))
                continue
            target = number[edge.target]
            if target != u:
                triggers.append(Trigger(u, label, target))
            rewards.append(Emission(u, label, target, edge.reward, edge.target in document.terminal))
    return RewardMachine(
        "function",
        "function",
        len(number),
        sorted_triggers(triggers),
        sorted_emissions(rewards),
        number[document.initial],
    )


def _only(document: Document, state: int, true: frozenset[str], name: str) -> Edge | None:
    """The edge to follow; two that disagree are refused."""
    found: Edge | None = None
    for edge in document.edges:
        if edge.source != state or not edge.formula.holds(true):
            continue
        if found is not None and (found.target, found.reward) != (edge.target, edge.reward):
            shown = "{" + ", ".join(sorted(true)) + "}"
            raise MachineError(
                f"state {state} is not deterministic: for {shown} this edge and the one in line {found.line} both hold",
                where=f"{name}:{edge.line}:1",
            )
        found = found or edge
    return found
