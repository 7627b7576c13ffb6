"""Compressed files of episodes: every text format, both ways, and damage told in one line."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError
from markovize.io import convert, read_episodes, write_episodes

TRACES = Traces.of([Episode([(0, 0), (0, 1)] * 40 + [(0, 0)], ["up", "down"] * 40, [0.25, -1.0] * 40, True)] * 30)


@pytest.fixture(params=["gz", "zst"])
def ending(request: pytest.FixtureRequest) -> str:
    if request.param == "zst" and sys.version_info < (3, 14):
        pytest.importorskip("backports.zstd")
    return str(request.param)


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
def test_round_trip(tmp_path: Path, format: str, ending: str) -> None:
    plain, packed = tmp_path / f"log.{format}", tmp_path / f"log.{format}.{ending}"
    write_episodes(plain, TRACES)
    convert(plain, packed)
    assert list(read_episodes(packed)) == list(TRACES)
    assert packed.stat().st_size < plain.stat().st_size / 10
    again = tmp_path / f"again.{format}.{ending}"
    write_episodes(again, TRACES)
    assert again.read_bytes() == packed.read_bytes()  # no name and no time in it


def test_a_file_cut_off_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"log.jsonl.{ending}"
    write_episodes(path, TRACES)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) * 2 // 3], b"hello", whole[:20] + b"0123456789" + whole[30:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=rf"log\.jsonl\.{ending}(:\d+)?: "):
            read_episodes(path)


def test_several_parts_in_one_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"log.jsonl.{ending}"
    write_episodes(path, TRACES)
    path.write_bytes(path.read_bytes() * 2)  # as `cat a.gz b.gz` makes them
    assert len(read_episodes(path)) == 2 * len(TRACES)


def test_a_name_that_tells_only_the_compression(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b'{"observations": [0, 1], "actions": ["go"], "rewards": [1]}'))
    assert read_episodes(path).steps == 1
    with pytest.raises(InputError, match=r'the ending "\.xml\.gz" is unknown'):
        write_episodes(tmp_path / "log.xml.gz", TRACES)


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"\.zst needs the extra: pip install 'markovize\[data\]'"):
        write_episodes(tmp_path / "log.jsonl.zst", TRACES)
    assert list(tmp_path.iterdir()) == []
