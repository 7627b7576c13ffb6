"""Trained agents as files: weights as safetensors, all else as JSON; nothing is unpickled.

==========================  ===========================================================================================
``agent.json``              settings, the world, the machine, if the agent has one, where its dice are, and the name of
``agent-….safetensors``     the weights of network and target, the optimiser's moments, the replay, and all returns
==========================  ===========================================================================================

A crash while one is written leaves the one before.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from msgspec import Struct
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from markovize.agents.deep.settings import DeepSettings
from markovize.agents.deep.training import Trained, new_agent
from markovize.episodes.schema import fit
from markovize.episodes.strict_json import strict_json
from markovize.errors import InputError, MarkovizeError, one_line
from markovize.io.files import atomic_write, read_text
from markovize.machine.machine import RewardMachine
from markovize.worlds import World

if TYPE_CHECKING:
    from markovize.agents.deep.agent import Agent

FORMAT: Final = "markovize.deep-agent"
VERSION: Final = 2


class _Description(Struct):
    """The fields of ``agent.json`` that are read again."""

    world: str
    tables: str
    settings: dict[str, Any]
    machine: dict[str, Any] | None
    seconds: float
    rng: dict[str, Any]
    weights: str


def save_agent(folder: str | os.PathLike[str], trained: Trained) -> None:
    """Writes an agent into a folder, which is made; one that is there is replaced."""
    folder, agent = Path(folder), trained.agent
    folder.mkdir(parents=True, exist_ok=True)
    machine = agent.where.machine
    weights = save_tensors({name: tensor.contiguous() for name, tensor in _tensors(trained).items()})
    name = _weights_name(weights)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "world": agent.where.world.name,
        "tables": agent.where.fingerprint,
        "settings": agent.settings.to_json(),
        "machine": None if machine is None else machine.to_json(),
        "episodes": len(trained.returns),
        "seconds": trained.seconds,
        "rng": agent.rng.bit_generator.state,
        "weights": name,
    }
    atomic_write(folder / name, weights)
    atomic_write(folder / "agent.json", json.dumps(data, indent=2) + "\n")
    for old in folder.glob("agent-*.safetensors"):
        if old.name != name:
            old.unlink()


def load_agent(folder: str | os.PathLike[str], world: World) -> Trained:
    """Reads what :func:`save_agent` wrote: an agent for this world, to play, or to :func:`go_on` with.

    Training that goes on from here gives what it would have given without the stop.
    """
    path = Path(folder) / "agent.json"
    data = _read_description(path)
    if data.world != world.name:
        raise InputError(f"was trained in {data.world!r}, not in {world.name!r}", where=one_line(path))
    try:
        machine = None if data.machine is None else RewardMachine.from_json(data.machine)
        agent = new_agent(world, DeepSettings.from_json(data.settings), 0, machine)
    except MarkovizeError as error:
        raise InputError(str(error), where=one_line(path)) from None
    except (ValueError, TypeError, OverflowError, RuntimeError, MemoryError) as error:  # of NumPy and PyTorch
        raise InputError(f"such an agent cannot be made: {one_line(error)}", where=one_line(path)) from None
    if data.tables != agent.where.fingerprint:
        raise InputError(f"was trained in another world that is called {world.name!r}, too", where=one_line(path))
    weights = path.parent / Path(data.weights).name
    tensors = _read_weights(weights)
    try:
        _restore(agent, tensors)
        agent.rng.bit_generator.state = data.rng
        return Trained(agent, tensors["returns"].numpy(), data.seconds)
    except (RuntimeError, LookupError, ValueError, TypeError, OverflowError) as error:
        raise InputError(f"does not fit the agent: {error}", where=one_line(weights)) from None


def _read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The tensors; the name of the file tells whether it is as it was written."""
    try:
        content = path.read_bytes()
        tensors = load_tensors(content)
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(f"cannot be read: {error}", where=one_line(path)) from None
    if path.name != _weights_name(content):
        raise InputError("is damaged: these are not the weights that were saved", where=one_line(path))
    return tensors


def _weights_name(content: bytes) -> str:
    return f"agent-{hashlib.sha256(content).hexdigest()[:16]}.safetensors"


def _tensors(trained: Trained) -> dict[str, torch.Tensor]:
    agent = trained.agent
    named = {"returns": torch.from_numpy(trained.returns)}
    for name, network in (("network", agent.network), ("target", agent.target)):
        named |= {f"{name}.{key}": value for key, value in network.state_dict().items()}
    named |= {f"adam.{name}": tensor for name, tensor in agent.optimiser.state.items()}
    return named | {f"replay.{name}": torch.from_numpy(array) for name, array in agent.replay.arrays().items()}


def _restore(agent: Agent, tensors: dict[str, torch.Tensor]) -> None:
    def under(name: str) -> dict[str, torch.Tensor]:
        return {key.removeprefix(f"{name}."): t for key, t in tensors.items() if key.startswith(f"{name}.")}

    agent.network.load_state_dict(under("network"))
    agent.target.load_state_dict(under("target"))
    agent.replay.restore({name: tensor.numpy() for name, tensor in under("replay").items()})
    for name, tensor in agent.optimiser.state.items():
        tensor.copy_(tensors[f"adam.{name}"])


def _read_description(path: Path) -> _Description:
    data = strict_json(read_text(path), where=one_line(path))
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != (FORMAT, VERSION):
        raise InputError(f'is not a "{FORMAT}" of version {VERSION}', where=one_line(path))
    try:
        return fit(data, _Description, "an agent")
    except InputError as error:
        raise InputError(str(error), where=one_line(path)) from None
