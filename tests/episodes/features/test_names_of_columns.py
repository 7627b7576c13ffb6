"""Columns of tables and data frames: their names are those of the features."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import markovize
from markovize import Traces, describe, learn, read_episodes, replay, write_episodes
from markovize.episodes.features import extract_features
from markovize.episodes.table_columns import TableColumns
from markovize.features import named

HEADER = "episode state_x state_speed action_turn action_gas reward next_state_x next_state_speed terminated"


def rows() -> list[tuple[float, ...]]:
    """First far to the left, then far to the right pays."""
    rng = random.Random(0)
    out: list[tuple[float, ...]] = []
    for episode in range(40):
        x, speed, was_left = rng.uniform(-5, 5), rng.uniform(0, 1), False
        for _ in range(12):
            x2, speed2 = rng.uniform(-5, 5), rng.uniform(0, 1)
            was_left = was_left or x2 < -3
            turn, gas = rng.randrange(3), rng.randrange(2)
            out.append((episode, x, speed, turn, gas, float(was_left and x2 >= 3), x2, speed2, 0))
            x, speed = x2, speed2
    return out


@pytest.fixture
def log(tmp_path: Path) -> Traces:
    file = tmp_path / "log.csv"
    lines = [HEADER.replace(" ", ","), *(",".join(map(str, row)) for row in rows())]
    file.write_text("\n".join(lines) + "\n")
    return read_episodes(file)


def test_features_are_called_as_columns(log: Traces) -> None:
    table = extract_features(log, before=True)
    names = [feature.name for feature in table.features]
    assert names == ["x", "speed", "before.x", "before.speed", "action.turn", "action.gas"]
    machine = learn(log, trigger_on="guards").unwrap()
    assert [feature.name for feature in machine.features] == ["x"]
    assert describe(machine)[0].startswith("in state 0, x < -")


def test_names_stay_with_the_episodes(log: Traces, tmp_path: Path) -> None:
    machine = learn(log, trigger_on="guards").unwrap()
    for part in log.split(0.25):
        assert part.observation_names == ("x", "speed")
        assert replay(machine, part).mismatches == 0
    write_episodes(tmp_path / "again.csv", log)
    assert (tmp_path / "again.csv").read_text().split("\n")[0].startswith("episode,state_x,state_speed,action_turn,")
    again = read_episodes(tmp_path / "again.csv")
    assert (again.observation_names, again.action_names) == (("x", "speed"), ("turn", "gas"))


def test_data_frames_and_parquet(log: Traces, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows(), columns=HEADER.split())
    assert Traces.of(frame).observation_names == ("x", "speed")
    frame.to_parquet(tmp_path / "log.parquet")
    machine = learn(log, trigger_on="guards").unwrap()
    assert replay(machine, read_episodes(tmp_path / "log.parquet")).mismatches == 0
    kept, _ = markovize.stream_episodes(tmp_path / "log.parquet").split(0.25)
    assert kept.read().action_names == ("turn", "gas")


def test_machines_of_vectors_and_of_columns_serve_each_other(log: Traces) -> None:
    vectors = Traces.of(list(log))
    by_number, by_name = (learn(traces, trigger_on="guards").unwrap() for traces in (vectors, log))
    assert [feature.name for feature in by_number.features] == ["0"]
    assert replay(by_number, log).mismatches == 0
    with pytest.raises(markovize.InputError, match=r"feature x is not among .* features=markovize\.features\.named"):
        replay(by_name, vectors)
    assert replay(by_name, vectors, features=named("x", "speed")).mismatches == 0


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (("state_x", "state_y"), ("x", "y")),
        (("x", "y"), ("x", "y")),
        (("state_x", ""), ("x",)),  # a family of one
        (("state",), ()),  # a single value
        (("state_x", "x"), ("state_x", "x")),
        (("state_action", "state_y"), ("state_action", "state_y")),
        (("state_before.x", "state_y"), ("state_before.x", "state_y")),
    ],
)
def test_names_of_parts(columns: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert TableColumns(state=columns).names_of("state") == names
