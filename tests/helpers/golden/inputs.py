"""The files that golden runs start from, by name: small texts, random walks, walks through the paper's worlds.

A generator gets a path and writes there. None but those of the worlds uses the package that is being tested.
"""

from __future__ import annotations

import json
import random
import shutil
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

Generator: TypeAlias = Callable[[Path], None]
Walk: TypeAlias = tuple[Sequence[Any], Sequence[Any], Sequence[float], bool]
"""Observations, actions, rewards, terminated."""


def episodes(*walks: Walk) -> str:
    """As JSONL."""
    fields = ("observations", "actions", "rewards", "terminated")
    return "".join(
        json.dumps(dict(zip(fields, walk, strict=True)) | {"truncated": not walk[3]}) + "\n" for walk in walks
    )


def machine(trigger_on: str, reward_on: str, states: int, triggers: list[Any], rewards: list[Any]) -> str:
    """As JSON; a trigger is (from, on, to, alternatives), a reward (from, on, to, reward, terminal)."""
    names = ("from", "on", "to", "alternatives"), ("from", "on", "to", "reward", "terminal")
    data = {
        "format": "markovize.reward-machine",
        "version": 1,
        "trigger_on": trigger_on,
        "reward_on": reward_on,
        "states": states,
        "initial": 0,
        "triggers": [dict(zip(names[0], trigger, strict=True)) for trigger in triggers],
        "rewards": [dict(zip(names[1], reward, strict=True)) for reward in rewards],
    }
    return json.dumps(data)


def corridor(*cells: int, pays: tuple[float, ...] = (), ends: bool = False) -> Walk:
    """A walk along a corridor; ``pays`` are the last rewards, those before are 0."""
    steps = len(cells) - 1
    moves = [after - before for before, after in pairwise(cells)]
    return list(cells), moves, [0.0] * (steps - len(pays)) + list(pays), ends


HEAD: Final = "episode,state,action,reward,next_state,terminated\n"
ROWS: Final = "a,0,go,0,1,0\na,1,go,1.5,2,1\nb,0,go,0,2,0\nb,2,go,0,1,0\nb,1,go,0.25,2,1\n"

TEXTS: Final[dict[str, str]] = {
    # --- episodes that some machine explains
    "coffee.jsonl": episodes(corridor(1, 2), corridor(1, 2, 1, 2), corridor(1, 0, 1, 2, pays=(1.0,))),
    "words.jsonl": episodes(
        (["hall", "office", "hall"], ["go", "back"], [0, 0], False),
        (["hall", "coffee", "hall", "office"], ["left", "right", "go"], [0, 0, 1], True),
        (["hall", "hall", "office"], ["stay", "go"], [0, 0], False),
    ),
    "two-coffees.jsonl": episodes(
        corridor(2, 1, 2),
        corridor(2, 3, 2),
        corridor(2, 1, 0, 1, 2, pays=(1.0,)),
        corridor(2, 3, 4, 3, 2, pays=(1.0,)),
    ),
    "patrol.jsonl": episodes(
        corridor(1, *[0, 1, 2, 1, 2, 1] * 3, pays=(0.0, 0.0, 1.0, 0.0, 0.0, 0.0) * 3), corridor(1, 2, 1)
    ),
    "markov.jsonl": episodes(([0, 1, 0], [1, -1], [0.5, 0], False), ([0, 1], [1], [0.5], True)),
    "actions.jsonl": episodes(([0, 1], ["walk"], [0], False), ([0, 1], ["run"], [1], True)),
    "sun.jsonl": episodes(  # the second sunbath pays less, and waiting is another action on the same spot
        ([0, 0, 0, 0], ["sun", "sun", "wait"], [4, 2, 0], False),
        ([0, 0, 0, 0], ["wait", "sun", "sun"], [0, 4, 2], False),
        ([0, 0, 0, 1], ["wait", "wait", "go"], [0, 0, 1], True),
    ),
    "endings.jsonl": episodes(([0, 5], ["go"], [0], True), ([0, 1, 5, 5], ["go"] * 3, [0, 0, 0], False)),
    "kinds.jsonl": episodes(
        *[
            ([0, on, 9], ["go", "go"], [0, pays], False)
            for on, pays in ((True, 1), (1, 2), ("1", 3), (1.0, 2), ([1, [2, "x"]], 4))
        ]
    ),
    "odd.jsonl": episodes(
        (["[/x]", "[red]"], ["\ud800"], [0], False),
        (["[/x]", "[red]"], ["\ud800"], [1], False),
        (["ü → ∞", "x" * 150, "<script>"], ["$a$", "\x1b[31m"], [0, 0], False),
        (["ü → ∞", "x" * 150, "<script>"], ["$a$", "\x1b[31m"], [0, 2], True),
    ),
    "[marked].jsonl": episodes(
        (["a", "[/b]", "c"], [0, 0], [0, 1], False), (["a", "c"], [0], [0], True), (["a", "c"], [0], [0], False)
    ),
    "empty-ones.jsonl": episodes(([3], [], [], False), corridor(1, 0, 1, 2, pays=(1.0,)), ([3], [], [], True)),
    "tenths.jsonl": episodes(([0, 0, 0], [0, 0], [0.1 + 0.2, 0.3], False)),
    # --- episodes that none explains
    "noise.jsonl": episodes(([0, 7], ["go"], [0], False), ([0, 1], ["go"], [3], False), ([0, 7], ["go"], [1], True)),
    "late-noise.jsonl": episodes(
        corridor(0, 1, 2, 1, 0, pays=(5.0,)), corridor(0, 1, 2, 1, 0, pays=(6.0,)), corridor(0, 1, 2, 1, 0, 1)
    ),
    # --- files that are refused
    "empty.jsonl": "",
    "cut.jsonl": "{",
    "not-an-object.jsonl": "[1, 2]\n",
    "no-rewards.jsonl": '{"observations": [0], "actions": []}\n',
    "null.jsonl": '{"observations": [0, null], "actions": [0], "rewards": [0]}\n',
    "nan.jsonl": '{"observations": [0, 0], "actions": [0], "rewards": [NaN]}\n',
    "infinite.jsonl": '{"observations": [0, 0], "actions": [0], "rewards": [1e999]}\n',
    "lengths.jsonl": episodes(corridor(1, 2)) + '{"observations": [0, 1], "actions": [0, 0], "rewards": [0]}\n',
    "text-reward.jsonl": '{"observations": [0, 1], "actions": [0], "rewards": ["much"]}\n',
    "flag.jsonl": '{"observations": [0, 1], "actions": [0], "rewards": [0], "terminated": 3}\n',
    "object.jsonl": '{"observations": [{"x": 1}, 1], "actions": [0], "rewards": [0]}\n',
    # --- tables
    "log.csv": HEAD + ROWS,
    "log.tsv": (HEAD + ROWS).replace(",", "\t"),
    "semicolons.csv": (HEAD + ROWS).replace(",", ";"),
    "families.csv": "episode,state_x,state_y,action_a,reward,next_state_x,next_state_y,terminated,truncated\n"
    "0,1,2,up,0,1,3,false,false\n0,1,3,up,1,1,4,false,true\n1,1,3,up,0,1,4,true,false\n",
    "named.csv": "id,x,y,move,r,x2,y2,done\n1,0,0,N,0.26,0,true,1\n2,0,0,N,0.34,0,true,1\n",
    "no-column.csv": HEAD.replace("reward", "payout"),
    "twice.csv": HEAD.replace("reward", "state"),
    "short-row.csv": HEAD + "0,0,go,0,1\n",
    "bad-reward.csv": HEAD + "0,0,go,x,1,0\n",
    "bad-flag.csv": HEAD + "0,0,go,0,1,yes\n",
    "jump.csv": HEAD + "0,0,go,0,1,0\n0,2,go,0,3,0\n",
    "again.csv": HEAD + "0,0,go,0,1,0\n1,0,go,0,1,0\n0,1,go,0,2,0\n",
    "after-end.csv": HEAD + "0,0,go,0,1,1\n0,1,go,0,2,0\n",
    "mixed.jsonl": episodes(([[1, 2], 3], [0], [0.0], False)),
    "numeric-text.jsonl": episodes((["7", "8"], [0], [0.0], False)),
    # --- machines
    "one.json": machine("state", "state", 1, [], [(0, 5, 0, 0.0, False)]),
    "chain.json": machine(
        "state",
        "state",
        4,
        [(0, [1, 1], 1, [[1, 2], [2, 1]]), (1, [10, 1], 2, []), (2, [10, 7], 3, [])],
        [
            (0, [1, 1], 1, 0.0, False),
            (0, [9, 9], 0, 0.0, False),
            (1, [9, 9], 1, 0.0, False),
            (1, [10, 1], 2, 0.25, False),
            (2, [9, 9], 2, 0.0, False),
            (3, [1, 7], 3, 1.0, True),
            (3, [9, 9], 3, 0.0, False),
        ],
    ),
    "cycle.json": machine(
        "function", "function", 2, [(0, "a", 1, []), (1, "b", 0, [])], [(0, "a", 1, 0.0, False), (1, "b", 0, 1.0, True)]
    ),
    "moves.json": machine(
        "transition",
        "transition",
        3,
        [(0, [[0, 0], "up", [0, 1]], 1, []), (1, [[0, 1], "up", [0, 2]], 2, [])],
        [
            (0, [[0, 0], "up", [0, 1]], 1, 0.0, False),
            (1, [[0, 1], "up", [0, 2]], 2, -0.5, False),
            (2, [[0, 2], "up", [0, 2]], 2, 2.0, True),
        ],
    ),
    "two-labels.json": machine(
        "state",
        "transition",
        2,
        [(0, "key", 1, ["lamp"])],
        [(0, ["hall", "go", "key"], 1, 0.0, False), (1, ["key", "go", "door"], 1, 3.0, True)],
    ),
    "marked.json": machine(
        "state",
        "state",
        3,
        [(0, "<b>&amp;</b>", 1, []), (0, "$x^2$", 2, []), (1, 'say "hi"; #1', 2, [])],
        [(0, "<b>&amp;</b>", 1, 0.0, False), (1, "back\\slash", 1, 1.0, False), (2, "ü → ∞", 2, 0.125, True)],
    ),
    "slash.json": machine("state", "state", 2, [(0, "a/b", 1, [])], [(0, "a/b", 1, 1.0, False)]),
    "two-rewards.json": machine(
        "state", "state", 2, [(0, "a", 1, [])], [(0, "x", 0, 1.0, False), (0, "y", 0, 2.0, False)]
    ),
    "literature.txt": "0  # initial state\n[2]  # terminal states\n(0,0,'!f',ConstantRewardFunction(0))\n"
    "(0,1,'f',ConstantRewardFunction(0))\n(1,1,'!g&!n',ConstantRewardFunction(0))\n"
    "(1,2,'g&!n',ConstantRewardFunction(1))\n(1,2,'n',ConstantRewardFunction(0))\n",
    "aalpy.dot": 'digraph learned {\ns0 [label="s0"];\ns1 [label="s1"];\ns0 -> s1  [label="a/0"];\n'
    's0 -> s0  [label="b/0"];\ns1 -> s0  [label="b/2.5"];\ns1 -> s1  [label="a/0"];\n'
    '__start0 [label="", shape=none];\n__start0 -> s0  [label=""];\n}\n',
    "two-ways.txt": "0\n[]\n(0,1,'a',ConstantRewardFunction(0))\n(0,0,'a|b',ConstantRewardFunction(1))\n",
    "formula.txt": "0\n[1]\n(0,1,'a&',ConstantRewardFunction(0))\n",
    "no-number.dot": 'digraph g { s0 -> s1 [label="a/much"]; __start0 -> s0; }\n',
    "no-start.dot": 'digraph g { s0 -> s1 [label="a/1"]; }\n',
    "list.json": "[]",
    "nothing.json": "{}",
    "nonsense.json": "nonsense",
    "far.json": machine("state", "state", 2, [(0, "a", 7, [])], []),
    "twice.json": machine("state", "state", 2, [(0, "a", 1, []), (0, "a", 0, [])], []),
    "newer.json": machine("state", "state", 1, [], []).replace('"version": 1', '"version": 99'),
    # --- an environment of the user's own
    "stamps.py": '''
import gymnasium


class Stamps(gymnasium.Env):
    """A corridor: the far end pays once the stamp at the near end was fetched; with noise, every third time."""

    observation_space = gymnasium.spaces.Discrete(4)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, noise=False):
        self.noise, self.payments = noise, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.stamp = 1, False
        return 1, {}

    def step(self, action):
        self.place = min(3, max(0, self.place + (1 if action else -1)))
        self.stamp = self.stamp or self.place == 0
        done = self.place == 3
        self.payments += done
        reward = float(self.payments % 3 == 0) if self.noise else float(self.stamp)
        return self.place, reward if done else 0.0, done, False, {}


if "Stamps-v0" not in gymnasium.registry:
    gymnasium.register("Stamps-v0", entry_point=Stamps, max_episode_steps=20)
''',
}


# --- random walks, drawn by random.Random.random alone, which is the same in every version of Python -----------


def random_walks(path: Path, *, seed: int, transitions: bool = False, states: int = 3, count: int = 6) -> None:
    """Episodes over three observations and two actions, paid by a random machine that is drawn where it is needed."""
    rng = random.Random(seed)

    def below(number: int) -> int:
        return int(rng.random() * number)

    moves: dict[Any, int] = {}
    paid: dict[Any, float] = {}
    walks: list[Walk] = []
    for _ in range(count):
        observations, actions, rewards, u = [below(3)], [], [], 0
        for _ in range(3 + below(5)):
            before, action, after = observations[-1], below(2), below(3)
            label = (before, action, after) if transitions else after
            if (u, label) not in moves:
                moves[u, label] = below(states) if rng.random() < 0.5 else u
            target = moves[u, label]
            if (u, label, target) not in paid:
                paid[u, label, target] = float(below(2))
            observations.append(after)
            actions.append(action)
            rewards.append(paid[u, label, target])
            u = target
        walks.append((observations, actions, rewards, rng.random() < 0.5))
    path.write_text(episodes(*walks))


# --- the paper's worlds -------------------------------------------------------------------------------------


def world_walks(path: Path, *, name: str, count: int = 300, seed: int = 1, **options: str) -> None:
    """Noisy walks between the landmarks of a world."""
    import numpy as np

    from markovize import write_episodes
    from markovize.worlds import noisy_walks, world

    write_episodes(path, noisy_walks(world(name, **options), count, np.random.default_rng(seed)))


def packaged(path: Path) -> None:
    """The sample of this name that comes with the package, wherever it keeps it."""
    import markovize

    (sample,) = Path(markovize.__file__).parent.rglob(path.name)
    shutil.copyfile(sample, path)


def minari_data_set(path: Path) -> None:
    """A Minari data set, made by Minari itself; set MINARI_DATASETS_PATH to the folder."""
    import gymnasium
    import numpy as np

    minari = import_module("minari")  # has no types
    walks = [([1, 2], [0.0]), ([1, 2, 1, 2], [0.0] * 3), ([1, 0, 1, 2], [0.0, 0.0, 1.0])]
    buffers = [
        minari.data_collector.EpisodeBuffer(
            id=number,
            observations=np.array(cells),
            actions=np.zeros(len(rewards), np.int64),
            rewards=rewards,
            terminations=[False] * len(rewards),
            truncations=[False] * (len(rewards) - 1) + [True],
        )
        for number, (cells, rewards) in enumerate(walks)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that there is no author, no link to code, …
        minari.create_dataset_from_buffers(
            f"{path.name}/coffee-v0",
            buffers,
            env=None,
            observation_space=gymnasium.spaces.Discrete(3),
            action_space=gymnasium.spaces.Discrete(1),
        )


WORLDS: Final[dict[str, dict[str, Any]]] = {
    "office-b.jsonl": {"name": "office", "task": "b"},
    "office-c.jsonl": {"name": "office", "task": "c"},
    "office-d.jsonl": {"name": "office", "task": "d"},
    "walks-e.jsonl": {"name": "office", "task": "e"},
    "office-loop.jsonl": {"name": "office", "task": "loop"},
    "breakfast-b-full.jsonl": {"name": "breakfast", "task": "b", "rewards": "full"},
    "breakfast-b-cumulative.jsonl": {"name": "breakfast", "task": "b", "rewards": "cumulative"},
    "breakfast-c-full.jsonl": {"name": "breakfast", "task": "c", "rewards": "full"},
    "breakfast-c-cumulative.jsonl": {"name": "breakfast", "task": "c", "rewards": "cumulative"},
    "sunny.jsonl": {"name": "beach"},
}
RANDOM: Final = range(12)

GENERATED: Final[dict[str, Generator]] = {
    **{name: partial(world_walks, **options) for name, options in WORLDS.items()},
    **{
        f"random-{seed}.jsonl": partial(
            random_walks, seed=seed, transitions=seed % 3 == 2, states=2 + seed % 4, count=6 + seed
        )
        for seed in RANDOM
    },
    "office-e.jsonl": packaged,
    "beach.jsonl": packaged,
    "golden": minari_data_set,
}


def make(name: str, folder: Path) -> None:
    """Writes the input of this name into the folder."""
    if name in TEXTS:
        (folder / name).write_text(TEXTS[name], encoding="utf-8", newline="\n")
    else:
        GENERATED[name](folder / name)
