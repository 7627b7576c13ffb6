"""The packaged episodes: small, reproducible, and true to the worlds they came from."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from markovize.episodes.samples import SAMPLES, sample_path
from markovize.episodes.traces import Traces
from markovize.product.product import Product
from markovize.worlds import World, world

WORLDS = {"office-e": world("office", task="e"), "beach": world("beach", levels=4)}
MAKER = Path(__file__).resolve().parents[2] / "benchmarks" / "make_samples.py"


def read(name: str) -> Traces:
    return Traces.of(json.loads(line) for line in sample_path(name).read_text().splitlines())


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_samples", MAKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_they_are_small() -> None:
    assert sum(sample_path(name).stat().st_size for name in SAMPLES) < 150_000


@pytest.mark.slow
def test_the_committed_command_makes_them_byte_for_byte(
    maker: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tuple(maker.SAMPLES) == SAMPLES
    assert maker.main(["--check"]) == 0
    monkeypatch.setattr(maker, "DATA", tmp_path / "data")
    assert maker.main(["--check"]) == 1
    assert maker.main([]) == 0
    for name in SAMPLES:
        assert (tmp_path / "data" / f"{name}.jsonl").read_bytes() == sample_path(name).read_bytes()
    assert "differs" in capsys.readouterr().out


@pytest.mark.parametrize("name", SAMPLES)
def test_their_world_explains_them(name: str) -> None:
    place: World = WORLDS[name]
    traces = read(name)
    product = Product.of(traces, place.machine)
    assert product.value_iteration().value((place.observations[place.start], 0)) > 0
    number = {value: index for index, value in enumerate(place.observations)}
    for episode in traces:
        state, u, ended = number[episode.observations[0]], 0, False
        for n, action in enumerate(episode.actions):
            assert not ended
            state, u, reward, ended = place.step(state, u, action)
            assert (place.observations[state], reward) == (episode.observations[n + 1], episode.rewards[n])
        assert (ended, not ended) == (episode.terminated, episode.truncated)
