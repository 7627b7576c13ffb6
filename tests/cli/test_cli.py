"""The command line: exit codes, JSON keys, one line for every error, and nothing left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from instances import coffee

import markovize
from markovize import RewardMachine, Traces, Trigger
from markovize.cli import app as cli
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

COMMANDS = ("check", "learn", "replay", "draw", "convert")
LEARN_KEYS = [
    "status",
    "states",
    "triggers",
    "bounds",
    "engine",
    "seconds",
    "exemplars",
    "objective",
    "acyclic",
    "trigger_on",
    "reward_on",
    "proof",
    "termination_conflicts",
]
NOISE = Traces.of([([0, 7], ["go"], [0]), ([0, 1], ["go"], [3]), ([0, 7], ["go"], [1])])


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def failed_with(self, text: str, code: int = 2) -> None:
        """One line on stderr that says what is wrong, nothing on stdout."""
        assert self.code == code, self
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("markovize: ")
        assert text in lines[0]
        assert "Traceback" not in self.err


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs the command inside this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def command(*args: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["markovize", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert isinstance(stopped.value.code, int)
        return Ran(stopped.value.code, *capsys.readouterr())

    return command


@pytest.fixture
def episodes(tmp_path: Path) -> Path:
    path = tmp_path / "episodes.jsonl"
    markovize.write_episodes(path, coffee())
    return path


@pytest.fixture
def noise(tmp_path: Path) -> Path:
    path = tmp_path / "noise.jsonl"
    markovize.write_episodes(path, NOISE)
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "machine.json"
    markovize.write_machine(path, markovize.learn(coffee()).unwrap())
    return path


def hard_traces() -> Traces:
    """Coin flips at the end of random walks: some machine is found at once, the smallest not within hours."""
    rng = np.random.default_rng(0)
    steps = 12
    return Traces.of(
        (rng.integers(0, 4, steps + 1), [0] * steps, [0.0] * (steps - 1) + [float(rng.integers(0, 2))])
        for _ in range(30)
    )


# --- help and usage -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(run: Run, command: str) -> None:
    ran = run(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"Example: markovize {command} " in ran.out
    assert "--json" in ran.out


def test_help_lists_the_commands(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    assert all(command in ran.out for command in COMMANDS)


def test_no_arguments_is_bad_usage_and_shows_the_help(run: Run) -> None:
    ran = run()
    assert ran.code == 2
    assert "Usage: markovize" in ran.out + ran.err


def test_no_garbage_is_looked_for_at_the_end() -> None:
    """What is registered before a command runs last, and sees everything set aside."""
    look = "atexit.register(lambda: print(gc.get_freeze_count() > 0))"
    script = f"import atexit, gc; {look}; from markovize.cli import main; main()"
    told = subprocess.run([sys.executable, "-c", script, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.split()[-1] == "True"


def test_version(run: Run) -> None:
    assert run("--version") == Ran(0, f"markovize {markovize.__version__}\n", "")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["chekc"], "chekc"),
        (["check"], "episodes"),
        (["check", "x.jsonl", "--nope"], "--nope"),
        (["learn", "x.jsonl", "--objective", "fun"], "--objective"),
        (["learn", "x.jsonl", "--engine", "steam"], "--engine"),
        (["learn", "x.jsonl", "--time-limit", "0"], "--time-limit"),
        (["learn", "x.jsonl", "--reward-decimals", "-1"], "--reward-decimals"),
        (["draw", "m.json"], "output"),
        (["replay", "m.json"], "episodes"),
    ],
)
def test_bad_usage(run: Run, args: list[str], text: str) -> None:
    run(*args).failed_with(text)
    assert "--help" in run(*args).err


# --- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "no such file"),
        ("{", "bad.jsonl:1"),
        ('{"observations": [0], "actions": []}', 'field "rewards" is missing'),
        ('{"observations": [0, null], "actions": [0], "rewards": [0]}', "null is not a label"),
        ('{"observations": [0, 0], "actions": [0], "rewards": [NaN]}', "nan"),
        ('{"observations": [0, 0], "actions": [0], "rewards": [1e999]}', "rewards must be finite"),
        ("\x80\ufffd", "bad.jsonl"),
    ],
)
@pytest.mark.parametrize("command", [["check"], ["learn", "-o", "out.json"], ["replay", "machine.json"]])
def test_bad_episodes(
    run: Run, machine: Path, tmp_path: Path, content: str | None, text: str, command: list[str]
) -> None:
    bad = tmp_path / "bad.jsonl"
    if content is not None:
        bad.write_text(content + "\n", encoding="latin-1", errors="replace")
    before = sorted(tmp_path.iterdir())
    ran = run(*command, bad)
    ran.failed_with(text)
    assert sorted(tmp_path.iterdir()) == before, "nothing is written on failure"
    assert machine in before


@pytest.mark.parametrize(
    ("content", "text"),
    [("[]", "a machine is a JSON object"), ("{}", '"format" must be'), ("nonsense", "not JSON"), (None, "no such")],
)
@pytest.mark.parametrize("command", ["replay", "draw", "convert", "check"])
def test_bad_machines(run: Run, episodes: Path, tmp_path: Path, content: str | None, text: str, command: str) -> None:
    if content is not None:
        (tmp_path / "bad.json").write_text(content)
    before = sorted(tmp_path.iterdir())
    ways: dict[str, list[str | Path]] = {
        "replay": ["bad.json", episodes],
        "draw": ["bad.json", "-o", "out.svg"],
        "convert": ["bad.json", "out.txt"],
        "check": [episodes, "--machine", "bad.json"],
    }
    run(command, *ways[command]).failed_with(text)
    assert sorted(tmp_path.iterdir()) == before


def test_not_enough_memory_is_one_line(
    run: Run, episodes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = {**RewardMachine("state", "state", 1).to_json(), "states": 10**15}
    (tmp_path / "huge.json").write_text(json.dumps(huge))
    run("replay", "huge.json", episodes).failed_with("more than 1,000,000 are not supported")

    def refuse(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("markovize.machine.replay.run", refuse)
    (tmp_path / "fine.json").write_text(json.dumps(RewardMachine("state", "state", 1).to_json()))
    run("replay", "fine.json", episodes).failed_with("not enough memory")


# --- check --------------------------------------------------------------------------------------------------------


def test_check(run: Run, episodes: Path) -> None:
    ran = run("check", episodes)
    assert (ran.code, ran.err) == (0, "")
    assert "not Markov: 1 (s, a, s')" in ran.out
    assert "(1, 1, 2) pays 0 or 1: episode 0 step 0, episode 2 step 2" in ran.out
    assert run("check", episodes, "--exit-code").code == 1


def test_check_json(run: Run, episodes: Path) -> None:
    ran = run("check", episodes, "--json", "--exit-code")
    assert ran.code == 1
    known = ["markov", "steps", "episodes", "conflicts", "witnesses", "comparable", "testable"]
    assert list(ran.json) == [*known, "noise", "history", "repeated_histories", "outside"]
    assert ran.json["witnesses"] == [{"label": [1, 1, 2], "rewards": [0.0, 1.0], "episodes": [0, 2], "steps": [0, 2]}]


def test_check_with_a_machine(run: Run, episodes: Path, machine: Path) -> None:
    ran = run("check", episodes, "--machine", machine, "--exit-code")
    assert ran.code == 0
    assert "Markov: every (u, label, u') of the machine always paid the same reward" in ran.out


def test_check_rounds_rewards(run: Run, tmp_path: Path) -> None:
    markovize.write_episodes(tmp_path / "e.jsonl", Traces.of([([0, 0, 0], [0, 0], [0.1 + 0.2, 0.3])]))
    assert run("check", "e.jsonl", "--exit-code").code == 1
    assert run("check", "e.jsonl", "--exit-code", "--reward-decimals", 9).code == 0


def test_check_a_table_with_chosen_columns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("ep,x,u,x2,r,done\n0,1,go,2,0,true\n1,1,go,2,5,true\n")
    columns = "episode=ep,state=x,action=u,next_state=x2,reward=r,terminated=done"
    assert run("check", "log.csv", "--columns", columns, "--json").json["conflicts"] == 1


def test_labels_are_shown_as_they_are(run: Run, tmp_path: Path) -> None:
    """Brackets are no markup, and text that cannot be encoded does not fail."""
    odd = ["[/x]", "[red]", "\ud800"]
    traces = Traces.of([([odd[0], odd[1]], [odd[2]], [0]), ([odd[0], odd[1]], [odd[2]], [1])])
    markovize.write_episodes(tmp_path / "odd.jsonl", traces)
    ran = run("check", "odd.jsonl")
    assert ran.code == 0
    assert "([/x], \\ud800, [red]) pays 0 or 1" in ran.out
    labels = Traces.of([(["a", "[/b]", "c"], [0, 0], [0, 1]), (["a", "c"], [0], [0], True), (["a", "c"], [0], [0])])
    markovize.write_episodes(tmp_path / "[y].jsonl", labels)
    ran = run("learn", "[y].jsonl", "-o", "[z].json")
    assert ran.code == 0
    assert "entering [/b] → state 1" in ran.out
    assert "written to [z].json" in ran.out
    assert "note: (0, c, 0) both ends and does not end episodes" in ran.out


# --- learn --------------------------------------------------------------------------------------------------------


def test_learn(run: Run, episodes: Path, tmp_path: Path) -> None:
    ran = run("learn", episodes, "-o", "out.json")
    assert (ran.code, ran.err) == (0, "")
    assert "optimal: 2 states, 1 trigger (labels state/state" in ran.out
    assert "in state 0, entering 0 → state 1" in ran.out
    assert "Why minimal: " in ran.out
    assert "written to out.json" in ran.out
    assert markovize.read_machine(tmp_path / "out.json") == markovize.learn(coffee()).machine
    assert run("replay", "out.json", episodes).code == 0


@pytest.mark.parametrize("options", [[], ["--objective", "states", "--acyclic"], ["--engine", "exhaustive"]])
def test_learn_json(run: Run, episodes: Path, tmp_path: Path, options: list[str]) -> None:
    ran = run("learn", episodes, "--json", *options)
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.json) == [*LEARN_KEYS, "support"]
    assert [ran.json[k] for k in ("status", "states", "triggers", "bounds")] == [
        "optimal",
        2,
        1,
        {"states": 2, "triggers": 1},
    ]
    assert ran.json["acyclic"] == ("--acyclic" in options)
    assert [path.name for path in tmp_path.iterdir()] == ["episodes.jsonl"], "without -o nothing is written"


def test_learn_explains_endings_when_asked(run: Run, tmp_path: Path) -> None:
    traces = Traces.of([([0, 5], ["go"], [0], True), ([0, 1, 5, 5], ["go"] * 3, [0, 0, 0], False)])
    markovize.write_episodes(tmp_path / "e.jsonl", traces)
    ran = run("learn", "e.jsonl", "--json")
    assert (ran.json["states"], ran.json["termination_conflicts"]) == (1, [{"from": 0, "on": 5, "to": 0}])
    assert run("learn", "e.jsonl", "--json", "--explain", "reward+termination").json["states"] == 2


def test_learn_unrealisable(run: Run, noise: Path, tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("an older file")
    ran = run("learn", noise, "-o", "out.json")
    ran.failed_with("episode 0 step 0 and episode 2 step 0", code=1)
    assert "1 of 3 episodes contradict" in ran.err
    assert (tmp_path / "out.json").read_text() == "an older file"


def test_learn_unrealisable_json(run: Run, noise: Path) -> None:
    ran = run("learn", noise, "--json")
    assert ran.code == 1
    assert list(ran.json) == [*LEARN_KEYS, "contradiction"]
    assert (ran.json["status"], ran.json["states"], ran.json["triggers"]) == ("unrealisable", None, None)
    assert list(ran.json["contradiction"]) == ["episodes", "steps", "rewards", "contradicting_episodes", "advice"]
    assert len(ran.err.splitlines()) == 1


def test_learn_names_the_labels_that_would_do(run: Run, tmp_path: Path) -> None:
    markovize.write_episodes(tmp_path / "e.jsonl", Traces.of([([0, 1], ["walk"], [0]), ([0, 1], ["run"], [1])]))
    assert run("learn", "e.jsonl").code == 0
    ran = run("learn", "e.jsonl", "--trigger-on", "state", "--reward-on", "state")
    ran.failed_with("Labels state/transition (trigger/reward) would tell them apart", code=1)


def test_learn_stopped_by_the_clock_still_writes_a_machine(run: Run, tmp_path: Path) -> None:
    markovize.write_episodes(tmp_path / "hard.jsonl", hard_traces())
    ran = run("learn", "hard.jsonl", "-o", "out.json", "--time-limit", "0.4", "--json")
    assert ran.code == 3
    assert ran.json["status"] == "feasible"
    bounds = ran.json["bounds"]
    assert 1 < bounds["states"] <= ran.json["states"]
    assert bounds["triggers"] <= ran.json["triggers"]
    assert markovize.replay(markovize.read_machine(tmp_path / "out.json"), hard_traces()).mismatches == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hard.jsonl", "out.json"]
    assert "Stopped early; proven so far: at least" in run("learn", "hard.jsonl", "--time-limit", "0.4").out


def test_learn_that_finds_nothing_is_unknown(
    run: Run, episodes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = markovize.learn(coffee())
    monkeypatch.setattr(markovize, "learn", lambda *_, **__: replace(known, status="unknown", machine=None))
    ran = run("learn", episodes, "-o", "out.json")
    assert (ran.code, ran.err) == (3, "")
    assert "unknown: nothing found within the limit; at least 2 states, 1 trigger needed" in ran.out
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(("target", "text"), [(".", "is a folder"), ("no/such/out.json", "does not exist")])
def test_learn_looks_at_the_target_before_it_works(
    run: Run, episodes: Path, target: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markovize, "learn", lambda *_, **__: pytest.fail("too late"))
    run("learn", episodes, "-o", target).failed_with(text)


def test_interrupted_learning_keeps_the_best_machine(
    run: Run, episodes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = markovize.learn(coffee())
    monkeypatch.setattr(markovize, "learn", lambda *_, **__: replace(known, status="feasible", interrupted=True))
    ran = run("learn", episodes, "-o", "out.json", "--json")
    assert (ran.code, ran.err) == (130, "markovize: interrupted\n")
    assert ran.json["status"] == "feasible"
    assert markovize.read_machine(tmp_path / "out.json") == known.machine


@pytest.mark.parametrize("reason", [KeyboardInterrupt, typer.Abort])
def test_interrupted_elsewhere(
    run: Run, episodes: Path, monkeypatch: pytest.MonkeyPatch, reason: type[BaseException]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise reason

    monkeypatch.setattr(markovize, "check", interrupt)
    ran = run("check", episodes)
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.split() == ["markovize:", "interrupted"]


# --- replay, draw, convert ----------------------------------------------------------------------------------------


def test_replay(run: Run, machine: Path, episodes: Path, tmp_path: Path) -> None:
    ran = run("replay", machine, episodes)
    assert (ran.code, ran.out, ran.err) == (0, "7 steps, 0 unseen, 0 mismatches\n", "")
    markovize.write_episodes(tmp_path / "other.jsonl", Traces.of([([1, 0, 1, 2, 9], [0] * 4, [0, 0, 0, 0])]))
    ran = run("replay", machine, "other.jsonl")
    assert ran.code == 1
    assert "4 steps, 1 unseen, 1 mismatches" in ran.out
    assert "first: episode 0 step 2: the machine says 1, observed 0" in ran.out
    ran = run("replay", machine, "other.jsonl", "--json")
    assert (ran.code, ran.json) == (1, {"steps": 4, "unseen": 1, "mismatches": 1, "unseen_paid": 0})


def test_replay_fails_on_unseen_paid_steps_only_if_asked_to(run: Run, machine: Path, tmp_path: Path) -> None:
    markovize.write_episodes(tmp_path / "new.jsonl", Traces.of([([0, 9, 9, 9], [0] * 3, [0, 0, 7])]))
    assert run("replay", machine, "new.jsonl").code == 0
    ran = run("replay", machine, "new.jsonl", "--exit-code")
    assert ran.code == 1
    assert "1 of the unseen is paid" in ran.out
    markovize.write_episodes(tmp_path / "unpaid.jsonl", Traces.of([([0, 9, 9], [0] * 2, [0, 0])]))
    ran = run("replay", machine, "unpaid.jsonl", "--exit-code", "--json")
    assert (ran.code, ran.json["unseen"], ran.json["unseen_paid"]) == (0, 2, 0)


def test_large_machines_fit_a_screen_unless_all_is_asked_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    triggers = tuple(Trigger(n, f"{'a long label ' * 30}{n}", n + 1) for n in range(300))
    large = RewardMachine("state", "state", 301, triggers)
    found = replace(markovize.learn(coffee()), machine=large)
    monkeypatch.setattr(markovize, "learn", lambda *_args, **_options: found)
    markovize.write_episodes(tmp_path / "e.jsonl", coffee())
    out = run("learn", "e.jsonl").out
    assert sum(-(-len(line) // 80) for line in out.splitlines()) <= 24, "a screen"
    assert "… and 291 more triggers (--all shows them)" in out
    assert len(run("learn", "e.jsonl", "--all").out.splitlines()) > 300


def test_a_reward_of_time_is_named(run: Run, tmp_path: Path) -> None:
    haste = Traces.of([([0] * n + [1], [0] * n, [0] * (n - 1) + [1 - n / 100]) for n in range(1, 7)])
    markovize.write_episodes(tmp_path / "haste.jsonl", haste)
    assert "what is paid is 1 - 0.01·n at step n" in run("check", "haste.jsonl").out
    assert run("check", "haste.jsonl", "--json").json["time"]["slope"] == -0.01
    run("learn", "haste.jsonl").failed_with("the reward is one of time", code=1)
    ran = run("learn", "haste.jsonl", "--json", "--count-steps")
    assert (ran.code, ran.json["status"]) == (0, "optimal")


def test_learning_on_a_part_and_replaying_on_the_other(run: Run, tmp_path: Path) -> None:
    traces = Traces.of([*coffee()] * 4)
    markovize.write_episodes(tmp_path / "many.jsonl", traces)
    ran = run("learn", "many.jsonl", "--holdout", 0.25, "--json", "-o", "m.json")
    learned, held_out = traces.split(0.25, 0)
    machine = markovize.read_machine(tmp_path / "m.json")
    assert machine == markovize.learn(learned).machine
    assert ran.json["holdout"] == {"episodes": len(held_out), **markovize.replay(machine, held_out).to_json()}
    steps = held_out.steps
    assert f"{steps} steps of 3 episodes held out, 0 unseen" in run("learn", "many.jsonl", "--holdout", 0.25).out
    assert "holdout" not in run("learn", "many.jsonl", "--json").json
    run("learn", "many.jsonl", "--holdout", 1.5).failed_with("between 0 and 1")


@pytest.mark.parametrize("options", [(), ("--holdout", 0.25, "--seed", 3), ("--acyclic", "--objective", "states")])
def test_learn_from_parquet_prints_what_it_prints_from_other_files(run: Run, options: tuple[object, ...]) -> None:
    pytest.importorskip("pyarrow")
    walks = noisy_walks(world("breakfast", task="b"), 60, np.random.default_rng(0))
    markovize.write_episodes("walks.jsonl", walks)
    markovize.write_episodes("walks.parquet", walks)
    answers = []
    for name in ("walks.jsonl", "walks.parquet"):
        ran = run("learn", name, "-o", "machine.json", "--json", *options)
        answers.append(({**ran.json, "seconds": 0}, Path("machine.json").read_bytes()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("ending", ["svg", "png", "dot", "mmd"])
def test_draw(run: Run, machine: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"picture.{ending}"
    assert run("draw", machine, "-o", out) == Ran(0, f"written to {out}\n", "")
    assert out.stat().st_size > 20
    assert run("draw", machine, "-o", out, "--json").json == {"written": str(out)}


def test_draw_nothing_else(run: Run, machine: Path, tmp_path: Path) -> None:
    run("draw", machine, "-o", "picture.gif").failed_with("gif")
    assert [path.name for path in tmp_path.iterdir()] == ["machine.json"]


def test_convert(run: Run, machine: Path, episodes: Path, tmp_path: Path) -> None:
    assert run("convert", episodes, "e.csv") == Ran(0, "written to e.csv\n", "")
    assert [e.rewards for e in markovize.read_episodes(tmp_path / "e.csv")] == [e.rewards for e in coffee()]
    assert run("convert", machine, "out", "--from", "json", "--to", "mmd", "--json").json == {"written": "out"}
    assert "stateDiagram" in (tmp_path / "out").read_text()


def test_convert_what_makes_no_sense(run: Run, episodes: Path, tmp_path: Path) -> None:
    run("convert", episodes, "m.json").failed_with("`learn` makes one from the other")
    run("convert", episodes, "e.xyz").failed_with(".xyz")
    run("convert", episodes, "e.csv", "--to", "klingon").failed_with("klingon")
    run("convert", episodes, "no/such/e.csv").failed_with("does not exist")
    assert [path.name for path in tmp_path.iterdir()] == ["episodes.jsonl"]


def test_long_errors_are_cut(run: Run) -> None:
    ran = run("check", "x" * 5_000 + ".jsonl")
    assert ran.code == 2
    assert len(ran.err) < 450
    assert len(ran.err.splitlines()) == 1


# --- the real command ---------------------------------------------------------------------------------------------


def test_the_real_command_where_text_is_not_unicode(episodes: Path) -> None:
    command = [sys.executable, "-c", "from markovize.cli.app import main; main()", "learn", str(episodes)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PYTHONIOENCODING": "ascii", "COLUMNS": "200"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "entering 0 \\u2192 state 1" in done.stdout


INTERRUPTIBLE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from markovize.cli import app as cli
from markovize.learning import search as deepening
from markovize.learning.warm_up import warm_up
warm_up()
ask = deepening.Deepening._ask
def ask_aloud(self, *question):
    print("searching", file=sys.stderr, flush=True)
    return ask(self, *question)
deepening.Deepening._ask = ask_aloud
cli.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_in_the_middle_of_learning(tmp_path: Path) -> None:
    markovize.write_episodes(tmp_path / "hard.jsonl", hard_traces())
    command = [sys.executable, "-c", INTERRUPTIBLE, "learn", "hard.jsonl", "-o", "out.json", "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            assert child.stderr is not None
            assert child.stderr.readline() == "searching\n"
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=30)
        finally:
            child.kill()
    assert child.returncode == 130, err
    assert "Traceback" not in err
    assert json.loads(out)["status"] in ("feasible", "unknown")
    assert {path.name for path in tmp_path.iterdir()} <= {"hard.jsonl", "out.json"}, "no temporary file"


def test_trigger_labels_survive_the_files(run: Run, tmp_path: Path) -> None:
    """true, 1 and "1" are three labels for the learner, the file and the replay."""
    traces = Traces.of([([0, on, 9], ["go"] * 2, [0, pays]) for on, pays in ((True, 1), (1, 2), ("1", 3), (1.0, 2))])
    markovize.write_episodes(tmp_path / "e.jsonl", traces)
    assert run("learn", "e.jsonl", "-o", "m.json").code == 0
    assert run("replay", "m.json", "e.jsonl", "--json").json == {
        "steps": 8,
        "unseen": 0,
        "mismatches": 0,
        "unseen_paid": 0,
    }
    known = markovize.read_machine(tmp_path / "m.json")
    assert isinstance(known, RewardMachine)
    assert len({known.step(0, label) for label in (True, 1, "1")}) == 3
    assert all(isinstance(trigger, Trigger) for trigger in known.triggers)
