"""A machine with guards as a Python module without dependencies, for programs that only follow it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from markovize.episodes.features.guard import Guard
from markovize.episodes.features.literal import Literal
from markovize.errors import UnsupportedError, one_line
from markovize.io.files import atomic_write
from markovize.io.registry import AnyPath
from markovize.machine.machine import RewardMachine

_HEAD: Final = '''\
"""A reward machine as plain functions, written by markovize. It needs nothing but Python.

``step(state, features)`` takes the state of the machine, at first INITIAL, and the features of a step, a mapping from
the names in FEATURES to values. It returns the next state and the reward; None for a reward that was never seen.
"""

INITIAL = {initial}
FEATURES = {features}


def _is(value, wanted):
    """Whether two values are the same; true is not 1."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def next_state(state, features):
    """Where the machine goes: the first guard that holds decides."""
'''
_TAIL: Final = '''\


def step(state, features):
    """The next state, and the reward of the step or None."""
    after = next_state(state, features)
    return after, REWARDS.get((state, valuation(features), after), (None, False))[0]


def terminal(state, features):
    """Whether such a step is known to end its episode."""
    after = next_state(state, features)
    return REWARDS.get((state, valuation(features), after), (None, False))[1]
'''


def write_python(path: AnyPath, machine: RewardMachine) -> None:
    """Writes the module."""
    atomic_write(path, python_code(machine))


def python_code(machine: RewardMachine) -> str:
    """The module's text.

    >>> from markovize.machine.machine import Trigger
    >>> from markovize.episodes.features import Feature
    >>> machine = RewardMachine("guards", "guards", 2, (Trigger(0, Guard([Literal("x", "below", 3)]), 1),),
    ...     features=(Feature("x", "numeric"),))
    >>> "if state == 0 and features['x'] < 3.0:  # x < 3" in python_code(machine)
    True
    """
    check_plain_guards(machine, "a Python function")
    features = {feature.name: feature.kind for feature in machine.features}
    lines = [_HEAD.format(initial=machine.initial, features=features), *_moves(machine), "    return state\n"]
    conditions = "".join(
        f"\n        {_condition(guard) or 'True'},  {_remark(guard)}" for guard in machine.reward_guards
    )
    held = f"({conditions}\n    )" if conditions else "()"
    lines.append(f'\n\ndef valuation(features):\n    """Which reward guards hold."""\n    return {held}\n')
    lines.append("\n\nREWARDS = {  # (state, which guards hold, next state): (reward, whether the episode ends)\n")
    lines += [f"    ({e.source}, {e.on!r}, {e.target}): ({e.reward!r}, {e.terminal}),\n" for e in machine.rewards]
    return "".join([*lines, "}\n", _TAIL])


def check_plain_guards(machine: RewardMachine, form: str) -> None:
    """Raises unless triggers and rewards are said by guards alone."""
    if not machine.has_guards:
        raise UnsupportedError(
            f"{form} is made of guards, and this machine's triggers are labels of {machine.trigger_on}"
        )
    if machine.reward_on != machine.trigger_on:
        raise UnsupportedError(f"{form} is made of guards, and this machine's rewards are on {machine.reward_on}")


def _moves(machine: RewardMachine) -> Iterator[str]:
    for trigger in machine.triggers:
        assert isinstance(trigger.on, Guard)
        condition = _condition(trigger.on)
        tested = f"state == {trigger.source}" + (f" and {condition}" if condition else "")
        yield f"    if {tested}:  {_remark(trigger.on)}\n        return {trigger.target}\n"


def _condition(guard: Guard) -> str:
    return " and ".join(_test(literal) for literal in guard)


def _test(literal: Literal) -> str:
    value = f"features[{literal.feature!r}]"
    if literal.relation == "is":
        return f"_is({value}, {literal.value!r})"
    return f"{value} {'>=' if literal.relation == 'at_least' else '<'} {literal.threshold!r}"


def _remark(guard: Guard) -> str:
    return f"# {one_line(guard.text(), 80)}"
