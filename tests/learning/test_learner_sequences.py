"""Sequences of calls of a :class:`Learner`, against an oracle: whatever came before, an answer is true.

Episodes are appended, exchanged, flipped, cut; calls are given efforts, time limits, results of other calls; they are
cancelled by exceptions, interrupted once or twice. After each call that returns, ``optimal`` must be the optimum of the
exhaustive search under the labels that it names, and these must be those of the rule; bounds must not exceed the
optimum, and the machine must replay the episodes of that very call.
"""

from __future__ import annotations

import contextlib
import itertools
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from oracle import LABELS, Cell, Options, check, episodes_of, paid_by_machine

from markovize.learning.entry import learn
from markovize.learning.learner import Learner
from markovize.learning.result import LearnResult
from markovize.learning.search import Progress

SMALL = settings(
    max_examples=100,
    stateful_step_count=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
LONG = settings(SMALL, max_examples=10_000, derandomize=False, print_blob=True)


Given: TypeAlias = dict[str, Any]
"""What a call is given beside its episodes."""


class Cancelled(Exception):  # noqa: N818 - not an error
    """Raised by a progress display."""


HOW = {
    "exception": Cancelled,
    "keyboard interrupt": KeyboardInterrupt,
}


def disturb(how: str, at: int) -> Callable[[Progress], None]:
    """A progress display that does something at its n-th call."""
    calls = itertools.count(1)

    def on_progress(_progress: Progress) -> None:
        number = next(calls)
        if number == at and how in HOW:
            raise HOW[how]
        if (how == "ctrl-c" and number == at) or (how == "ctrl-c twice" and number in (at, at + 1)):
            signal.raise_signal(signal.SIGINT)
            if how == "ctrl-c twice":
                signal.raise_signal(signal.SIGINT)

    return on_progress


@contextlib.contextmanager
def ticking() -> Iterator[None]:
    """Time that passes by looking at it: one look, one millisecond."""
    ticks = itertools.count()
    with mock.patch.object(time, "monotonic", lambda: next(ticks) / 1000):
        yield


OPTIONS = st.builds(
    Options,
    objective=st.sampled_from(["triggers", "states"]),
    labels=st.sampled_from(["auto", *LABELS]),
    explain=st.sampled_from(["reward", "reward", "reward+termination"]),
    acyclic=st.booleans(),
    small=st.sampled_from([8, 2, 1, 1]),  # where only one state is few, labels are compared at every conflict
    budget=st.sampled_from([10_000, 10_000, 0]),  # where there is none, searches pause before their first question
    takes_all=st.booleans(),
    cores=st.sampled_from([None, None, 1, 2]),
)
ENGINES = [("sat", "none"), ("sat", "none"), ("exhaustive", "none"), ("sat", "exhaustive")]  # (engine, auditor)
SEEDS = st.integers(0, 2**16)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "effort": st.sampled_from([1, 3, 30, 1000]),
        "time_limit": st.sampled_from([0.001, 0.004, 0.02, 0.1]),
        "rng": SEEDS,
        "since": st.integers(0, 30),
        "disturb": st.tuples(st.sampled_from([*HOW, "ctrl-c", "ctrl-c twice"]), st.integers(1, 12)),
    },
)


class Calls(RuleBasedStateMachine):
    """One learner, and the episodes that it is shown next."""

    @initialize(options=OPTIONS, seed=SEEDS, engines=st.sampled_from(ENGINES))
    def begin(self, options: Options, seed: int, engines: tuple[str, str]) -> None:
        self.options = options
        self.learner = Learner(engine=engines[0], audit=engines[1], **options.arguments())
        self.episodes = paid_by_machine(seed, 3)
        self.shown = [self.episodes]
        self.results: list[LearnResult] = []

    @rule(call=CALLS, seed=SEEDS, number=st.integers(1, 2))
    def go_on(self, call: Given, seed: int, number: int) -> None:
        """More episodes, of the same world."""
        self._call(call, [*self.episodes, *paid_by_machine(seed, number, like=self.episodes)])

    @rule(call=CALLS, seed=SEEDS)
    def go_on_elsewhere(self, call: Given, seed: int) -> None:
        """More episodes, of another world."""
        self._call(call, [*self.episodes, *paid_by_machine(seed, 1)])

    @rule(call=CALLS)
    def ask_again(self, call: Given) -> None:
        self._call(call, self.episodes)

    @rule(call=CALLS, seed=SEEDS, number=st.integers(0, 4))
    def exchange(self, call: Given, seed: int, number: int) -> None:
        """Other episodes altogether."""
        self._call(call, paid_by_machine(seed, number))

    @rule(call=CALLS, which=st.integers(0, 20))
    def go_back(self, call: Given, which: int) -> None:
        """Episodes that were shown before."""
        self._call(call, self.shown[which % len(self.shown)])

    @rule(call=CALLS, at=SEEDS)
    def flip_terminated(self, call: Given, at: int) -> None:
        self._change(call, at, lambda episode: {**episode, "terminated": not episode["terminated"]})

    @rule(call=CALLS, at=SEEDS)
    def flip_truncated(self, call: Given, at: int) -> None:
        self._change(call, at, lambda episode: {**episode, "truncated": not episode["truncated"]})

    @rule(call=CALLS, at=SEEDS, by=st.sampled_from([-1.0, 1.0]))
    def change_a_reward(self, call: Given, at: int, by: float) -> None:
        def change(episode: Cell) -> Cell:
            rewards = list(episode["rewards"])
            rewards[at % len(rewards)] += by
            return {**episode, "rewards": rewards}

        self._change(call, at, change)

    @rule(call=CALLS, at=SEEDS, number=st.integers(0, 2))
    def change_an_observation(self, call: Given, at: int, number: int) -> None:
        def change(episode: Cell) -> Cell:
            seen = list(episode["observations"])
            seen[at % len(seen)] = number
            return {**episode, "observations": seen}

        self._change(call, at, change)

    @rule(call=CALLS, old=st.integers(0, 2), new=st.integers(0, 4))
    def rename(self, call: Given, old: int, new: int) -> None:
        """One observation is called by another name, or like another."""
        renamed = [{**e, "observations": [new if o == old else o for o in e["observations"]]} for e in self.episodes]
        self._call(call, renamed)

    @rule(call=CALLS, at=SEEDS)
    def drop(self, call: Given, at: int) -> None:
        """One episode less, at the end or amid others."""
        if self.episodes:
            at %= len(self.episodes)
            self._call(call, self.episodes[:at] + self.episodes[at + 1 :])

    @rule(other=OPTIONS)
    def learn_by_other_options(self, other: Options) -> None:
        """A result for ``since``."""
        with other.in_force():
            result = learn(episodes_of(self.episodes), **other.arguments())
        check(result, self.episodes, other)
        self.results.append(result)

    def _change(self, call: Given, at: int, change: Callable[[Cell], Cell]) -> None:
        if self.episodes:
            number = at % len(self.episodes)
            self._call(call, [change(e) if n == number else e for n, e in enumerate(self.episodes)])

    def _call(self, call: Given, episodes: list[Cell]) -> None:
        self.episodes = episodes[:7]  # for the oracle's sake
        self.shown.append(self.episodes)
        given = {name: value for name, value in call.items() if name in ("effort", "time_limit")}
        if "rng" in call:
            given["rng"] = np.random.default_rng(call["rng"])
        if "since" in call and self.results:
            given["since"] = self.results[call["since"] % len(self.results)]
        how = ""
        if "disturb" in call:
            how, at = call["disturb"]
            given["on_progress"] = disturb(how, at)
        try:
            with ticking(), self.options.in_force():
                result = self.learner.learn(episodes_of(self.episodes), **given)
        except Cancelled:
            assert how == "exception"
            return
        except KeyboardInterrupt:
            assert how in ("keyboard interrupt", "ctrl-c twice")
            return
        stopped = next((limit for limit in ("effort", "time_limit") if limit in given), "")
        check(result, self.episodes, self.options, stopped)
        if not stopped and not result.interrupted:
            assert result.status in ("optimal", "unrealisable")
        self.results.append(result)


@pytest.mark.usefixtures("ctrl_c")
def test_whatever_came_before_an_answer_is_true() -> None:
    run_state_machine_as_test(Calls, settings=SMALL)


@pytest.mark.long
@pytest.mark.usefixtures("ctrl_c")
def test_ten_thousand_sequences() -> None:
    run_state_machine_as_test(Calls, settings=LONG)
