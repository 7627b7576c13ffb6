"""The names that other people's programs rely on."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import markovize
from markovize import errors

NAMES = [
    "ActiveLearner",
    "AllMachines",
    "Certificate",
    "CheckReport",
    "Emission",
    "EngineError",
    "Episode",
    "Feature",
    "GridWorld",
    "Guard",
    "InputError",
    "LearnResult",
    "Learner",
    "Literal",
    "MachineError",
    "MarkovRewardWrapper",
    "MarkovizeError",
    "Product",
    "RecordEpisodes",
    "ReplayReport",
    "RewardMachine",
    "RewardReport",
    "RunResult",
    "Separation",
    "Settings",
    "Traces",
    "Trigger",
    "UnrealisableError",
    "UnsupportedError",
    "Verification",
    "Witness",
    "assert_reward_markov",
    "check",
    "check_reward",
    "convert",
    "describe",
    "draw",
    "learn",
    "read_episodes",
    "read_machine",
    "replay",
    "stream_episodes",
    "tell_apart",
    "verify",
    "write_episodes",
    "write_machine",
]


def test_names_are_stable() -> None:
    assert sorted(markovize.__all__) == NAMES
    assert set(NAMES) <= set(dir(markovize))


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_and_documented(name: str) -> None:
    thing = getattr(markovize, name)
    assert thing.__name__ == name
    assert inspect.isfunction(thing) or inspect.isclass(thing)
    assert thing.__module__.startswith("markovize.")
    own = vars(thing)["__doc__"] if inspect.isclass(thing) else thing.__doc__
    assert own, "no docstring"
    assert not own.startswith(f"{name}("), "only the one that dataclasses write"


@pytest.mark.parametrize("name", NAMES)
def test_each_docstring_has_an_example(name: str) -> None:
    assert ">>>" in getattr(markovize, name).__doc__


@pytest.mark.parametrize("name", [name for name in NAMES if name[0].islower()])
def test_each_function_is_typed(name: str) -> None:
    signature = inspect.signature(getattr(markovize, name))
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="module 'markovize' has no attribute 'guess'"):
        markovize.guess  # noqa: B018


def test_one_tree_of_errors() -> None:
    raised = [e for e in vars(errors).values() if inspect.isclass(e) and issubclass(e, Exception)]
    assert all(issubclass(e, markovize.MarkovizeError) for e in raised)
    assert {e.__name__ for e in raised} == {name for name in NAMES if name.endswith("Error")}
    assert issubclass(markovize.InputError, ValueError)
    assert issubclass(markovize.MachineError, markovize.InputError)
    assert all(e.__name__ in (errors.__doc__ or "") for e in raised), "the docstring draws the whole tree"


def test_importing_is_cheap() -> None:
    """What is slow to load is loaded when it is needed."""
    heavy = ("numba", "matplotlib", "pysat", "highspy", "torch", "rich", "gurobipy", "PIL")
    code = f"import sys, markovize, markovize.cli.app; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""
