"""The legend in the first line of our own reward-machine text: what its edges cannot say, as JSON in a comment."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from markovize.episodes.schema import fit
from markovize.episodes.strict_json import strict_json
from markovize.episodes.values import canonical, jsonable, key_of
from markovize.errors import InputError, MachineError
from markovize.io.machines.steps import KnownStep
from markovize.io.machines.text_syntax import Document
from markovize.machine.machine import Emission, RewardMachine, Trigger, sorted_emissions, sorted_triggers

_OURS: Final = "markovize"


class Legend(Struct):
    """The labels behind letters, the labels of self-loops, where ending steps would lead, and what was never seen."""

    legend: str
    on: Any
    states: int
    letters: dict[str, Any]
    leads: list[tuple[int, str, int]]
    unseen: list[tuple[int, str]]
    stays: dict[str, list[Any]]

    @classmethod
    def of(cls, machine: RewardMachine, steps: Sequence[KnownStep], letters: Mapping[Hashable, str]) -> Legend:
        """The legend of a machine whose labels have these letters."""
        values = {key_of(step.on): step.on for step in steps}
        stays: dict[str, list[Any]] = {}
        for step in steps:
            if step.target == step.source and not step.terminal:
                stays.setdefault(str(step.source), []).append(jsonable(step.on))
        return cls(
            legend=_OURS,
            on=machine.trigger_on,
            states=machine.states,
            letters={letter: jsonable(values[key]) for key, letter in letters.items()},
            leads=[(s.source, letters[key_of(s.on)], s.target) for s in steps if s.terminal and s.source != s.target],
            unseen=[(s.source, letters[key_of(s.on)]) for s in steps if s.reward is None],
            stays=stays,
        )

    def text(self) -> str:
        """As the comment holds it."""
        return json.dumps(structs.asdict(self), separators=(",", ":"))


def machine_of_legend(document: Document) -> RewardMachine | None:
    """The machine that we wrote, or None for a file without a legend."""
    try:
        fields = strict_json(document.comment)
    except InputError as error:
        if document.comment.startswith(f'{{"legend":"{_OURS}"'):
            raise _damaged(document, error) from None
        return None  # somebody's own comment
    if not isinstance(fields, dict) or fields.get("legend") != _OURS:
        return None
    try:
        return _machine(document, fit(fields, Legend, "the legend"))
    except InputError as error:
        if error.where:
            raise
        raise _damaged(document, error) from None


def _damaged(document: Document, error: InputError) -> MachineError:
    return MachineError(f"the legend in the first line is damaged: {error}", where=f"{document.name}:1")


def _machine(document: Document, legend: Legend) -> RewardMachine:
    if not 1 <= legend.states <= len(document.edges):
        raise InputError(f"{legend.states} states, but {len(document.edges)} edges")
    leads = {(source, letter): target for source, letter, target in legend.leads}
    unseen = set(legend.unseen)
    letters = {letter: canonical(raw) for letter, raw in legend.letters.items()}
    triggers: list[Trigger] = []
    rewards: list[Emission] = []
    for state in range(legend.states):
        staying = document.edge(state, frozenset())
        for letter in _letters_that_matter(document, state, letters):
            edge = document.edge(state, frozenset((letter,)))
            if edge is None or edge.target == state:
                continue
            terminal = edge.target in document.terminal
            target = leads.get((state, letter), state) if terminal else edge.target
            if target != state:
                triggers.append(Trigger(state, letters[letter], target))
            if (state, letter) not in unseen:
                rewards.append(Emission(state, letters[letter], target, edge.reward, terminal))
        for raw in legend.stays.get(str(state), ()):
            if staying is None:
                raise MachineError(f"state {state} has no edge for the labels that stay", where=document.name)
            rewards.append(Emission(state, canonical(raw), state, staying.reward))
    return RewardMachine(
        legend.on, legend.on, legend.states, sorted_triggers(triggers), sorted_emissions(rewards), document.initial
    )


def _letters_that_matter(document: Document, state: int, letters: Mapping[str, Any]) -> Sequence[str]:
    """The letters on the state's edges: all others are as good as none, and leave the machine where it is."""
    staying = document.edge(state, frozenset())
    if staying is not None and staying.target != state:
        return list(letters)  # not as we write it: every letter moves
    mentioned = {symbol for edge in document.leaving.get(state, ()) for symbol in edge.formula.symbols()}
    return [letter for letter in letters if letter in mentioned]
