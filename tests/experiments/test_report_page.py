"""The page in a real browser: it opens from disk, asks for nothing, plays, shows, sorts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, find_chromium
from finished import beach, breakfast, cumulative, lake, office

from markovize.experiments.report.page import report_page

CHROMIUM = find_chromium()
if CHROMIUM is None:
    pytest.skip("no Chromium found (Debian: apt-get install chromium): the page is not tested", allow_module_level=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    trials = [breakfast(0), breakfast(1), cumulative(0), office(0), beach(), lake()]
    path.write_text(report_page(trials, title="A report of tests"), "utf-8")
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with Browser(CHROMIUM) as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser, report: Path) -> Iterator[Browser]:
    """The page, freshly opened; whatever a test does, nothing may go wrong or go out."""
    chromium.screen(1280, 900)
    chromium.open(report)
    yield chromium
    assert chromium.errors == []
    assert chromium.requests == [report.resolve().as_uri()]


def choose(page: Browser, task: str) -> None:
    page.value(f"task.value = '{task}'; task.dispatchEvent(new Event('change'))")


def place(page: Browser) -> tuple[str, str]:
    """Where the agent is, and which machine state is lit."""
    lit = page.value("[...document.querySelectorAll('#machine .here')].map(e => e.dataset.state).join()")
    return page.value("agent.dataset.cell"), lit


def test_the_page_opens_and_says_what_it_is(page: Browser) -> None:
    assert page.value("document.title") == page.value("document.querySelector('h1').textContent") == "A report of tests"
    assert page.value("document.querySelectorAll('#summary tbody tr').length") == 5


def test_figures_and_machines_are_seen(page: Browser) -> None:
    for dark in (False, True):
        page.screen(1280, 900, dark=dark)
        page.wait_for("[...document.images].length > 0 && [...document.images].every(i => i.complete)")
        assert page.value(
            "[...document.images].every(i => i.naturalWidth > 500 && i.getBoundingClientRect().width > 500)"
        )
    assert page.value(
        "[...document.querySelectorAll('details[open] svg, #machine svg, #world svg')]"
        ".every(s => s.getBoundingClientRect().width > 100 && s.getBBox().width > 50)"
    )


def test_dark_and_light_differ(page: Browser) -> None:
    light = page.value("getComputedStyle(document.body).backgroundColor")
    page.screen(1280, 900, dark=True)
    assert page.value("getComputedStyle(document.body).backgroundColor") != light


def test_buttons_and_keys_step(page: Browser) -> None:
    choose(page, "b full")
    record, _ = breakfast(0)
    way = [(record.episode.start, record.episode.state)]
    way += [(step.observation, step.state) for step in record.episode.steps]
    expected = [(",".join(map(str, cell)), str(u)) for cell, u in way]  # type: ignore[arg-type]
    assert place(page) == expected[0]
    for number in (1, 2, 3):
        page.click("#step")
        assert place(page) == expected[number]
    page.click("#back")
    assert place(page) == expected[2]
    page.value("document.activeElement.blur()")
    for number in range(3, len(expected)):
        page.press("ArrowRight")
        assert place(page) == expected[number]
    page.press("ArrowRight")
    assert place(page) == expected[-1]
    assert float(page.value("document.getElementById('return').textContent")) == pytest.approx(record.final_return)
    page.press("ArrowLeft")
    assert place(page) == expected[-2]
    page.click("#first")
    assert place(page) == expected[0]


def test_the_trigger_that_fires_flashes(page: Browser) -> None:
    choose(page, "b full")
    record, _ = breakfast(0)
    at = next(n for n, step in enumerate(record.episode.steps) if step.fired is not None)
    for _ in range(at):
        page.click("#step")
    assert page.value("document.querySelectorAll('#machine .fired').length") == 0
    page.click("#step")
    assert page.value("document.querySelector('#machine text.fired').dataset.trigger") == str(
        record.episode.steps[at].fired
    )
    assert page.value("document.querySelector('#machine .arrow.fired').dataset.arrow").startswith("0-")


def test_it_plays_and_pauses_by_itself(page: Browser) -> None:
    choose(page, "b full")
    page.value("speed.value = '110'; document.activeElement.blur()")
    page.click("#play")
    page.wait_for("Number(slider.value) >= 3")
    page.click("#play")
    assert page.value("play.getAttribute('aria-label')") == "play"
    page.click("#play")
    page.wait_for("slider.value === slider.max")
    assert page.value("play.getAttribute('aria-label')") == "play"


def test_the_slider_and_the_list_jump(page: Browser) -> None:
    choose(page, "b full")
    page.value("slider.value = 4; slider.dispatchEvent(new Event('input'))")
    assert page.value("document.querySelector('#steps [aria-current]').dataset.step") == "4"
    page.click("#steps li:nth-child(2)")
    assert page.value("slider.value") == "1"


@pytest.mark.parametrize("task", ["beach", "lake"])
def test_worlds_without_a_map_are_told_in_words(page: Browser, task: str) -> None:
    choose(page, task)
    record, _ = beach() if task == "beach" else lake()
    assert page.value("place.textContent") == str(record.episode.start)
    page.click("#last")
    assert page.value("place.textContent") == str(record.episode.steps[-1].observation)


def test_trials_sort_and_open(page: Browser) -> None:
    column = "[...document.querySelectorAll('#trials tbody tr')].map(r => r.cells[{}].dataset.value)"
    heads = page.value("[...document.querySelectorAll('#trials th')].map(h => h.textContent)")
    at = heads.index("episodes")
    page.click(f"#trials th:nth-child({at + 1}) button")
    up = [int(value) for value in page.value(column.format(at))]
    assert up == sorted(up)
    assert len(set(up)) > 2
    page.click(f"#trials th:nth-child({at + 1}) button")
    assert [int(value) for value in page.value(column.format(at))] == up[::-1]
    of = heads.index("of")  # unknown for the lake: last, whichever way
    for _ in range(2):
        page.click(f"#trials th:nth-child({of + 1}) button")
        assert page.value(column.format(of))[-1] == ""
    page.click("#trials tbody tr[data-trial='1'] button")
    assert page.value("[task.value, seed.value]") == ["b full", "1"]


@pytest.mark.parametrize("width", [360, 390, 768])
def test_narrow_screens_need_no_sideways_scrolling(page: Browser, width: int) -> None:
    page.screen(width, 800)
    assert page.value("document.documentElement.scrollWidth") <= width
    page.click("#step")
    assert page.value("slider.value") == "1"
