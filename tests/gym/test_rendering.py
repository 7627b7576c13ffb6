"""Pictures and texts of environments."""

from __future__ import annotations

import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from markovize import Emission, RewardMachine, Trigger
from markovize.errors import InputError
from markovize.gym import BeachWorld, BreakfastWorld, GridWorld, OfficeWorld, WorldEnv
from markovize.pictures.world import canvas
from markovize.worlds import World, world

UP, RIGHT, DOWN, LEFT, STAY = range(5)
TO_SHACK, TO_BEACH, SUNBATHE = 3, 2, 4
EACH: list[tuple[type[WorldEnv], tuple[int, int]]] = [
    (OfficeWorld, (448, 592)),
    (BreakfastWorld, (304, 208)),
    (BeachWorld, (222, 660)),
]
EMPTY = RewardMachine("state", "state", 1)


def shown(env: WorldEnv, *actions: int) -> Any:
    env.reset()
    for action in actions:
        env.step(action)
    return env.render()


def plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


def agent_at(picture: NDArray[np.uint8]) -> tuple[int, int]:
    """The middle (x, y) of what has the agent's colour."""
    colour = [int(canvas.AGENT[k : k + 2], 16) for k in (1, 3, 5)]
    ys, xs = np.nonzero((picture == colour).all(axis=2))
    assert len(xs) > 50
    return int(xs.mean()), int(ys.mean())


def test_the_kitchen_as_text() -> None:
    assert plain(shown(BreakfastWorld(render_mode="ansi"), RIGHT)) == [
        "┏━━━━━━━━━━━━━━━┓",
        "┃▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒┃",
        "┃▒▒▒┏━━━━━━━┓▒▒▒┃",
        "┃▒▒▒┃ c   w ┃▒▒▒┃",
        "┃▒▒▒┃       ┃▒▒▒┃",
        "┃▒▒▒┃ ·   · ┃▒▒▒┃",
        "┣━━━┛   ╺━━━┫▒▒▒┃",
        "┃ ·   ·   e ┃▒▒▒┃",
        "┃           ┃▒▒▒┃",
        "┃ ·   ·   · ┃▒▒▒┃",
        "┃           ┗━━━┫",
        "┃ l   ●   ·   · ┃",
        "┗━━━━━━━━━━━━━━━┛",
        "l leave   e eat   c cook   w wash up",
    ]


def test_the_office_as_text() -> None:
    lines = plain(shown(OfficeWorld(render_mode="ansi")))
    assert lines[0] == "┏" + "┳".join(["━" * 11] * 4) + "┓"
    assert lines[6] == "┣━━━╸   ╺━━━╋━━━╸   ╺━━━╋━━━╸   ╺━━━╋━━━╸   ╺━━━┫"
    assert lines[12] == "┣━━━╸   ╺━━━╋━━━━━━━━━━━╋━━━━━━━━━━━╋━━━╸   ╺━━━┫"
    assert lines[15] == "┃ ·   a   ●   ·   ♣   ·   ·   ♣   ·   ·   d   · ┃"
    assert lines[19:] == ["♣ plant   C coffee   O office   M mail"]


def test_the_agent_stands_out_also_on_landmarks() -> None:
    env = OfficeWorld(render_mode="ansi")
    text = shown(env, LEFT)
    assert re.search(r"\x1b\[[0-9;]*48;[0-9;]*m\(a\)\x1b\[0m", text), "on a coloured ground"
    assert "●" not in text


def test_the_beach_as_text() -> None:
    assert plain(shown(BeachWorld(render_mode="ansi", show_machine=True), SUNBATHE, SUNBATHE, TO_SHACK)) == [
        "┏━━━━━━━━━┓  > →┏━━━━━━━━━┓  v →┏━━━━━━━━┓",
        "┃   beach ┃     ┃ ● shack ┃     ┃   exit ┃",
        "┗━━━━━━━━━┛ ← < ┗━━━━━━━━━┛     ┗━━━━━━━━┛",
        "true machine: u = 2 of 0…10   fired: beach –o→ beach ×2",
    ]


def test_the_machine_as_text() -> None:
    env = OfficeWorld(render_mode="ansi", show_machine=True)
    assert plain(shown(env))[-1] == "true machine: u = 0 of 0…3   fired: nothing yet"
    assert plain(shown(env, LEFT))[-1] == "true machine: u = 1 of 0…3   fired: a (1, 1)"
    to_b = [LEFT, UP, UP, LEFT, UP, UP, RIGHT, UP, UP]
    assert plain(shown(env, *to_b))[-1] == "true machine: u = 2 of 0…3   fired: a (1, 1), b (1, 7)"
    assert plain(shown(env))[-1].endswith("nothing yet"), "an episode starts anew"
    assert not any("machine" in line for line in plain(shown(OfficeWorld(render_mode="ansi"), LEFT)))


def test_machines_that_fire_without_end_stay_on_the_line() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(0, "a", 1), Trigger(1, "b", 0)))
    options: Any = {"render_mode": "ansi", "show_machine": True}
    env = GridWorld("+-----+\n|@ a b|\n+-----+", machine, **options)
    line = plain(shown(env, *[RIGHT, RIGHT, LEFT] * 20))[-1]
    assert line.startswith("true machine: u = 1 of 0…1   fired: … ")
    assert len(line) < 140


@pytest.mark.parametrize(("kind", "size"), EACH)
def test_pictures_are_arrays_of_a_known_size(kind: type[WorldEnv], size: tuple[int, int]) -> None:
    picture = shown(kind(render_mode="rgb_array"))  # type: ignore[call-arg]
    assert (picture.dtype, picture.shape) == (np.uint8, (*size, 3))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50, "soft edges"


@pytest.mark.parametrize(("kind", "size"), EACH)
def test_pictures_depend_on_what_is_seen_only(kind: type[WorldEnv], size: tuple[int, int]) -> None:
    """Neither the machine nor the past is in a picture, for pictures may be observations."""
    env = kind(render_mode="rgb_array")  # type: ignore[call-arg]
    start = shown(env)
    assert np.array_equal(start, shown(env)), size
    way = {
        OfficeWorld: [LEFT, RIGHT],
        BreakfastWorld: [RIGHT, *[UP] * 4, *[DOWN] * 4, LEFT],
        BeachWorld: [TO_SHACK, TO_BEACH, SUNBATHE],
    }[kind]
    assert not np.array_equal(start, shown(env, way[0]))
    assert np.array_equal(start, shown(env, *way))
    assert env.machine_state == 1
    picture = env.render()
    picture[:] = 0
    assert np.array_equal(start, env.render()), "pictures are the caller's own"


def test_the_agent_is_drawn_where_it_is() -> None:
    env = OfficeWorld(render_mode="rgb_array")
    assert agent_at(shown(env, UP)) == pytest.approx((8 + 2.5 * 48, 448 - 8 - 2.5 * 48), abs=3)
    assert agent_at(shown(env, UP, UP)) == pytest.approx((8 + 2.5 * 48, 448 - 8 - 2.5 * 48), abs=3), "a wall"
    assert agent_at(shown(env, RIGHT)) == pytest.approx((8 + 3.5 * 48, 448 - 8 - 1.5 * 48), abs=3)


def test_the_trail_shows_the_way() -> None:
    env = OfficeWorld(render_mode="rgb_array", show_trail=True)
    assert not np.array_equal(shown(env), shown(env, LEFT, RIGHT))
    assert "•" in shown(OfficeWorld(render_mode="ansi", show_trail=True), UP, LEFT, DOWN)


@pytest.mark.parametrize(("kind", "size"), EACH)
def test_the_machine_beside_the_picture(kind: type[WorldEnv], size: tuple[int, int]) -> None:
    env = kind(render_mode="rgb_array", show_machine=True)  # type: ignore[call-arg]
    start = shown(env)
    assert start.shape == ((size[0] + 92, size[1], 3) if size[1] >= 400 else (size[0], size[1] + 232, 3))
    way = {OfficeWorld: [LEFT, RIGHT], BeachWorld: [STAY], BreakfastWorld: [RIGHT, *[UP] * 4, *[DOWN] * 4, LEFT]}[kind]
    later = shown(env, *way)
    assert later.shape == start.shape
    bare = (slice(size[0]), slice(size[1]))
    assert np.array_equal(start[bare], later[bare]), "the agent is back"
    assert not np.array_equal(start, later), "the machine is not"


def test_many_states_are_told_in_words() -> None:
    machine = RewardMachine("state", "state", 300, (Trigger(0, "a", 299),))
    options: Any = {"render_mode": "rgb_array", "show_machine": True}
    env = GridWorld("+---+\n|@ a|\n+---+", machine, **options)
    assert shown(env, RIGHT).shape == (108, 112 + 232, 3)


def test_large_maps_are_drawn_smaller() -> None:
    row = "|@ " + ". " * 98 + ".|"
    env = GridWorld("\n".join(["-" * 201, row, "-" * 201]), EMPTY, render_mode="rgb_array")
    height, width, _ = shown(env).shape
    assert (height, width) == (16 + 5, 1600 + 5)


def test_another_machine_on_top() -> None:
    env = OfficeWorld("e", render_mode="ansi")
    learned = RewardMachine("state", "state", 3, (Trigger(0, (2, 2), 1), Trigger(1, (1, 2), 2)))
    env.overlay(learned)
    assert plain(shown(env, UP, LEFT))[-1] == "given machine: u = 2 of 0…2   fired: (2, 2), (1, 2)"
    env.overlay(None)
    assert "machine" not in env.render()
    env.overlay(learned)
    assert plain(env.render())[-1].startswith("given machine: u = 2"), "also in the midst of an episode"
    env.show_machine = True
    env.overlay(None)
    assert plain(env.render())[-1].startswith("true machine: u = 0")
    picturing = OfficeWorld("e", render_mode="rgb_array")
    picturing.overlay(learned)
    assert shown(picturing).shape[0] == 448 + 92


def test_machines_of_functions_on_top() -> None:
    env = OfficeWorld("e", render_mode="ansi")
    learned = RewardMachine("function", "state", 2, (Trigger(0, "high", 1),))
    with pytest.raises(InputError, match="trigger_on"):
        env.overlay(learned)
    env.overlay(learned, lambda _s, _a, t: "high" if t[1] > 1 else "low")
    assert plain(shown(env, LEFT, UP))[-1] == "given machine: u = 1 of 0…1   fired: high"


def test_own_landmarks_have_signs_of_their_own() -> None:
    names = {"1": "castle", "2": "cat", "3": "a very long name", "4": "城"}
    env = GridWorld("+---------+\n|@ 1 2 3 4|\n+---------+", EMPTY, names=names, render_mode="ansi")
    lines = plain(shown(env))
    assert lines[1] == "┃ ●   C   A   V   城┃"
    assert lines[3] == "C castle   A cat   V a very long name"
    drawn = GridWorld("+---------+\n|@ 1 2 3 4|\n+---------+", EMPTY, names=names, render_mode="rgb_array")
    assert shown(drawn).shape == (64, 5 * 48 + 16, 3)


def test_places_without_names_are_drawn_too() -> None:
    beach = world("beach")
    bare = World("bare", beach.successor, 0, beach.observations, beach.actions, beach.action_names, beach.machine)
    assert "┃ ● 0 ┃" in plain(shown(WorldEnv(bare, render_mode="ansi")))[1]
    env = WorldEnv(bare, render_mode="rgb_array", show_trail=True)
    assert agent_at(shown(env)) < agent_at(shown(env, TO_SHACK))


def test_nothing_is_rendered_without_a_mode() -> None:
    env = OfficeWorld()
    env.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_gymnasium_collects_pictures() -> None:
    env = gymnasium.make("markovize/BreakfastWorld-v0", render_mode="rgb_array_list")
    env.reset()
    env.step(UP)
    frames: Any = env.render()
    assert [frame.shape for frame in frames] == [(304, 208, 3)] * 2
    env.close()


def test_an_emission_that_ends_is_rendered_after_the_end() -> None:
    ends = RewardMachine("state", "state", 1, (), (Emission(0, "a", 0, 1.0, True),))
    env = GridWorld("+---+\n|@ a|\n+---+", ends, render_mode="ansi")
    assert plain(shown(env, RIGHT))[1] == "┃ ·  (a)┃"


def test_solid_blocks_are_filled_throughout() -> None:
    env = GridWorld("+-----+\n|# # .|\n|     |\n|# # @|\n+-----+", EMPTY, render_mode="ansi")
    assert plain(shown(env)) == [
        "┏━━━━━━━┳━━━┓",
        "┃▒▒▒▒▒▒▒┃ · ┃",
        "┃▒▒▒▒▒▒▒┃   ┃",
        "┃▒▒▒▒▒▒▒┃ ● ┃",
        "┗━━━━━━━┻━━━┛",
    ]


def test_places_that_were_visited() -> None:
    plainly, trailing = (BeachWorld(render_mode="rgb_array", show_trail=trail) for trail in (False, True))
    way = (TO_SHACK, TO_BEACH, SUNBATHE, TO_SHACK)
    assert not np.array_equal(shown(plainly, *way), shown(trailing, *way))


def test_long_stories_keep_the_picture_s_size() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(0, "n", 1), Trigger(1, "@", 0)))
    names = {"n": "a name that is wider than any panel could ever hope to be", "@": "@"}
    fitting = RewardMachine("state", "state", 2, (Trigger(0, names["n"], 1), Trigger(1, "@", 0)))
    with pytest.raises(InputError, match="does not know the machine's n;"):
        GridWorld("+---+\n|@ n|\n+---+", machine, names=names)
    options: Any = {"render_mode": "rgb_array", "show_machine": True}
    env = GridWorld("+---+\n|@ n|\n+---+", fitting, names=names, **options)
    assert shown(env, RIGHT).shape == shown(env, *[RIGHT, LEFT] * 30).shape


def test_there_is_always_a_font(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "find_spec", lambda _name: None)
    canvas.font.cache_clear()
    try:
        assert shown(OfficeWorld(render_mode="rgb_array")).shape == (448, 592, 3)
    finally:
        canvas.font.cache_clear()
