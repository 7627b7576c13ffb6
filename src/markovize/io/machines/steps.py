"""What a machine says about each (state, label), for formats in which one label decides both target and reward."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from markovize.episodes.features.guard import Guard
from markovize.episodes.values import Value, key_of, show, sort_key
from markovize.errors import UnsupportedError, one_line
from markovize.machine.machine import Emission, RewardMachine, Trigger


@dataclass(frozen=True)
class KnownStep:
    """What a machine says about one label in one state; ``reward`` is None where the data showed none."""

    source: int
    on: Value
    target: int
    reward: float | None
    terminal: bool


def known_steps(machine: RewardMachine, form: str) -> list[KnownStep]:
    """Every (state, label) with a trigger or a reward, for formats where one label decides both.

    >>> known_steps(RewardMachine("state", "transition", 1), "it")
    Traceback (most recent call last):
    markovize.errors.UnsupportedError: it has one label a step; here triggers are on state, rewards on transition
    """
    if machine.has_guards:
        raise UnsupportedError(f"{form} has labels, and cannot say guards over features; use json, py or smt2")
    if machine.trigger_on != machine.reward_on:
        kinds = f"triggers are on {machine.trigger_on}, rewards on {machine.reward_on}"
        raise UnsupportedError(f"{form} has one label a step; here {kinds}")
    seen: set[Hashable] = set()
    steps: list[KnownStep] = []
    items: tuple[Emission | Trigger, ...] = (*machine.rewards, *machine.triggers)
    for item in items:
        assert not isinstance(item.on, Guard)
        key = (item.source, key_of(item.on))
        if isinstance(item, Emission):
            if machine.step(item.source, item.on) != item.target:
                place = f"({item.source}, {one_line(show(item.on), 60)}, {item.target})"
                raise UnsupportedError(f"{form} cannot hold the reward of {place}: no trigger leads there")
            steps.append(KnownStep(item.source, item.on, item.target, item.reward, item.terminal))
        elif key not in seen:
            steps.append(KnownStep(item.source, item.on, item.target, None, False))
        seen.add(key)
    return sorted(steps, key=lambda step: (step.source, step.target, sort_key(step.on)))


def number_text(value: float) -> str:
    """The shortest text of a number.

    >>> number_text(1.0), number_text(-0.25)
    ('1', '-0.25')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
