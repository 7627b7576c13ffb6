"""What notebooks show: pictures of machines that can be read, tables of results, and no markup from labels."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import gymnasium

from markovize import ActiveLearner, RewardMachine, Trigger, check, learn
from markovize.agents.tabular import Settings
from markovize.machine.notebook import MOST_DRAWN, MOST_NOTES, card

EVIL = "<script>alert(1)</script>"


def chain(states: int) -> RewardMachine:
    return RewardMachine("state", "state", states, tuple(Trigger(n, n, n + 1) for n in range(states - 1)))


def test_a_machine_shows_as_its_picture_unless_it_is_large() -> None:
    picture = chain(3)._repr_svg_()
    assert picture is not None
    assert ET.fromstring(picture.encode()).tag.endswith("svg")
    assert chain(MOST_DRAWN + 1)._repr_svg_() is None, "notebooks show the text then"


def test_results_show_their_machine_and_what_is_proven() -> None:
    episodes = [(["hall", EVIL, "office"], ["go", "go"], [0, 1]), (["hall", "hall", "office"], ["stay", "go"], [0, 0])]
    result = learn(episodes)
    shown = result._repr_html_()
    assert "optimal machine" in shown and "2, 1" in shown and "<svg" in shown
    assert EVIL not in shown and "&lt;script&gt;" in shown
    assert "not testable" in check(episodes)._repr_html_()
    assert "not Markov" in check([(["a", "b"], [0], [0]), (["a", "b"], [0], [1])])._repr_html_()


def test_a_run_shows_its_machine_and_its_returns() -> None:
    env = gymnasium.make("markovize/OfficeWorld-v0", task="c")
    shown = ActiveLearner(env, Settings(episodes=30, seed=0)).run()._repr_html_()
    assert "active run" in shown and "greedy return" in shown and "<svg" in shown


def test_no_machine_no_picture() -> None:
    shown = learn([(["a", "b"], [0], [0]), (["a", "b"], [0], [1])])._repr_html_()
    assert "unrealisable" in shown and "<svg" not in shown and "share their history" in shown


def test_of_many_notes_the_first_ones() -> None:
    shown = card("many", [], ["x" * 1000] * 500)
    assert shown.count("<li>") == MOST_NOTES
    assert "and 490 more" in shown
    assert len(shown) < 5_000
