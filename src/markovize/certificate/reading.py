"""First part of the checker: JSON and episodes, read without any other part of markovize.

A label is the text of its JSON value, so that equal texts are equal labels: 1.0 is written ``1``, true ``true``. Steps
then get small numbers for their labels, in order of first appearance.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class NotVerifiedError(Exception):
    """Something of a certificate is wrong, or cannot be checked; the message says what."""


def need(holds: bool, otherwise: str) -> None:
    """Goes on only if it holds."""
    if not holds:
        raise NotVerifiedError(otherwise)


def parse(text: str | bytes) -> Any:
    """Reads JSON: no NaN, no infinities, no field twice, no number of thousands of digits."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise NotVerifiedError(f"not JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a field appears twice")
    return dict(pairs)


def _finite(digits: str) -> float:
    need(math.isfinite(float(digits)), f"{digits[:20]} is no finite number")
    return float(digits)


def text_of(value: Any) -> str:
    """The text of a JSON value, equal exactly for equal values.

    >>> text_of([1.0, True, "a"]), text_of(-0.0), text_of(0.5)
    ('[1, true, "a"]', '0', '0.5')
    """
    if isinstance(value, (bool, str)):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join([text_of(item) for item in value]) + "]"
    raise NotVerifiedError(f"a label is a number, a text, true, false or a list of them, not {type(value).__name__}")


class Step(NamedTuple):
    """Labels as numbers; ``ends``: whether the episode ended here by ``terminated``."""

    trigger: int
    reward_label: int
    reward: float
    ends: bool


@dataclass
class Episodes:
    """All steps of all episodes, what their labels are, and the SHA-256 of the episodes as canonical JSON lines."""

    steps: list[list[Step]] = field(default_factory=list)
    triggers: dict[str, int] = field(default_factory=dict)
    reward_labels: dict[str, int] = field(default_factory=dict)
    digest: str = ""


Labeller = Callable[[Any, Any, Any], Any]  # a user's function of (s, a, s')


def read_episodes(lines: Iterable[str | bytes], trigger_on: str | Labeller, reward_on: str | Labeller) -> Episodes:
    """Reads JSON lines, one episode each; steps are labelled by a kind, ``state`` or another, or by a function.

    >>> line = '{"observations": [0, 1.0], "actions": ["go"], "rewards": [1], "terminated": true}'
    >>> read_episodes([line], "state", "transition").reward_labels
    {'[0, "go", 1]': 0}
    """
    out, canonical = Episodes(), hashlib.sha256()
    for line in lines:
        if not line.strip():
            continue
        episode = parse(line)
        need(isinstance(episode, dict), "an episode is a JSON object")
        seen, actions, paid = (episode.get(name) for name in ("observations", "actions", "rewards"))
        terminated, truncated = (episode.get(name, False) for name in ("terminated", "truncated"))
        are_lists = isinstance(seen, list) and isinstance(actions, list) and isinstance(paid, list)
        need(are_lists and len(seen) - 1 == len(actions) == len(paid), "an episode is o0…oT, a0…aT-1, r1…rT")
        need(isinstance(terminated, bool) and isinstance(truncated, bool), "terminated, truncated: true or false")
        s, a = [text_of(o) for o in seen], [text_of(action) for action in actions]
        rewards = [_reward(r) for r in paid]
        canonical.update(
            f'{{"observations": [{", ".join(s)}], "actions": [{", ".join(a)}], "rewards": {json.dumps(rewards)}, '
            f'"terminated": {json.dumps(terminated)}, "truncated": {json.dumps(truncated)}}}\n'.encode("ascii")
        )
        parts = s, a, seen, actions
        xs = [out.triggers.setdefault(x, len(out.triggers)) for x in _labels(trigger_on, *parts)]
        ys = [out.reward_labels.setdefault(y, len(out.reward_labels)) for y in _labels(reward_on, *parts)]
        ends = [False] * (len(paid) - 1) + [terminated]
        out.steps.append([Step(*step) for step in zip(xs, ys, rewards, ends, strict=False)])  # no steps have no end
    out.digest = canonical.hexdigest()
    return out


def _reward(value: Any) -> float:
    need(isinstance(value, (int, float)) and not isinstance(value, bool), "a reward is a number")
    return _finite(str(value)) + 0.0  # -0.0 becomes 0.0


def _labels(on: str | Labeller, s: list[str], a: list[str], seen: list[Any], actions: list[Any]) -> list[str]:
    """What the steps of an episode are called: s', s, (s, a), (s, a, s'), or the value of a function of them."""
    if on in ("state", "source"):
        return s[1:] if on == "state" else s[:-1]
    if on == "choice":
        return [f"[{s[t]}, {a[t]}]" for t in range(len(a))]
    if on == "transition":
        return [f"[{s[t]}, {a[t]}, {s[t + 1]}]" for t in range(len(a))]
    assert not isinstance(on, str)
    values = [_frozen(o) for o in seen]
    return [text_of(on(values[t], _frozen(actions[t]), values[t + 1])) for t in range(len(actions))]


def _frozen(value: Any) -> Any:
    """As users' functions get values: lists are tuples, whole numbers are integers."""
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
