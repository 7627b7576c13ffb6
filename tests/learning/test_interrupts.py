"""Ctrl-C: the first sets a flag, the second raises, and none is lost."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

from markovize import learn
from markovize.learning.interrupts import Interrupt, interruptible
from markovize.worlds import noisy_walks, world

pytestmark = pytest.mark.usefixtures("ctrl_c")


def press_ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_first_sets_a_flag_that_inner_layers_share() -> None:
    with interruptible() as outer:
        with interruptible() as inner:
            press_ctrl_c()
            assert inner.requested
        with interruptible() as later:
            assert later.requested
        assert outer.requested
    with interruptible() as afresh:
        assert not afresh.requested


def test_the_second_raises_at_once() -> None:
    def work() -> None:
        with interruptible() as outer, interruptible():
            press_ctrl_c()
            assert outer.requested
            press_ctrl_c()
            pytest.fail("the second must not get here")

    with pytest.raises(KeyboardInterrupt):
        work()
    with interruptible() as afresh:
        assert not afresh.requested


def test_after_a_second_that_was_caught_the_third_raises_too() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        press_ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
        press_ctrl_c()


def test_what_nobody_looked_at_is_raised_at_the_end() -> None:
    def work() -> None:
        with interruptible() as interrupt:
            assert not interrupt.requested
            press_ctrl_c()

    with pytest.raises(KeyboardInterrupt):
        work()


def test_an_exception_on_its_way_is_not_replaced() -> None:
    with pytest.raises(ValueError, match="mine"), interruptible():
        press_ctrl_c()
        raise ValueError("mine")


def test_work_without_a_result_raises() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible() as interrupt:
        interrupt.raise_if_requested()
        press_ctrl_c()
        interrupt.raise_if_requested()


@pytest.mark.parametrize("own", [signal.SIG_IGN, lambda *_: None], ids=["ignored", "own handler"])
def test_a_program_keeps_its_own_way(own: signal.Handlers) -> None:
    signal.signal(signal.SIGINT, own)
    with interruptible() as interrupt:
        assert signal.getsignal(signal.SIGINT) is own
        press_ctrl_c()
        assert not interrupt.requested
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is own


def test_other_threads_share_what_the_main_thread_has() -> None:
    seen: list[Interrupt] = []

    def work() -> None:
        with interruptible() as interrupt:
            seen.append(interrupt)

    def in_a_thread() -> Interrupt:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return seen.pop()

    assert not in_a_thread().requested  # nothing to share, nothing breaks
    with interruptible() as interrupt:
        assert in_a_thread() is interrupt
    assert in_a_thread() is not interrupt


@pytest.mark.parametrize("trigger_on", ["state", "guards"])
def test_no_encoding_hears_it_in_its_own_way(trigger_on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the main thread PySAT would leap out of what it does: if that is to allocate memory, nothing goes on."""
    in_main: list[bool] = []

    class Watched:
        @staticmethod
        def check() -> bool:
            in_main.append(threading.current_thread() is threading.main_thread())
            return in_main[-1]

    monkeypatch.setattr("pysat.card.MainThread", Watched)
    walks = noisy_walks(world("breakfast", task="b"), 60, np.random.default_rng(0))
    learn(walks, trigger_on=trigger_on)
    assert in_main
    assert not any(in_main)
