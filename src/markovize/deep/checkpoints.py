"""Trained agents as files: weights as safetensors, all else as JSON; nothing is unpickled.

=======================  ==============================================================
``agent.json``           settings, the world's name, and the machine, if the agent has one
``agent.safetensors``    the weights of network and target
=======================  ==============================================================
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from markovize.deep.settings import DeepSettings
from markovize.deep.training import new_agent
from markovize.errors import InputError
from markovize.formats.files import atomic_write, one_line, read_text
from markovize.machine import RewardMachine
from markovize.values import strict_json
from markovize.worlds import World

if TYPE_CHECKING:
    from markovize.deep.agent import Agent

FORMAT: Final = "markovize.deep-agent"
VERSION: Final = 1


def save_agent(folder: str | os.PathLike[str], agent: Agent, machine: RewardMachine | None = None) -> None:
    """Writes an agent into a folder, which is made; ``machine`` is the one it was trained with."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        f"{name}.{key}": value.contiguous()
        for name, network in (("network", agent.network), ("target", agent.target))
        for key, value in network.state_dict().items()
    }
    data = {
        "format": FORMAT, "version": VERSION, "world": agent.where.world.name, "settings": agent.settings.to_json(),
        "machine": None if machine is None else machine.to_json(),
    }  # fmt: skip
    atomic_write(folder / "agent.safetensors", save_tensors(tensors))
    atomic_write(folder / "agent.json", json.dumps(data, indent=2) + "\n")


def load_agent(folder: str | os.PathLike[str], world: World) -> Agent:
    """Reads what :func:`save_agent` wrote: an agent for this world, to play or to be trained on, its replay empty."""
    path = Path(folder) / "agent.json"
    data = _described(path)
    if data.get("world") != world.name:
        raise InputError(f"was trained in {data.get('world')!r}, not in {world.name!r}", where=one_line(path))
    machine = None if data.get("machine") is None else RewardMachine.from_json(data["machine"])
    agent = new_agent(world, DeepSettings.from_json(data.get("settings")), 0, machine)
    weights = path.with_suffix(".safetensors")
    try:
        tensors = load_tensors(weights.read_bytes())
    except (OSError, SafetensorError) as error:
        raise InputError(f"cannot be read: {one_line(error)}", where=one_line(weights)) from None
    for name, network in (("network", agent.network), ("target", agent.target)):
        _load(network, {key.partition(".")[2]: t for key, t in tensors.items() if key.startswith(f"{name}.")}, weights)
    return agent


def _load(network: torch.nn.Module, tensors: dict[str, torch.Tensor], where: Path) -> None:
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        raise InputError(f"does not fit the agent: {one_line(error)}", where=one_line(where)) from None


def _described(path: Path) -> dict[str, Any]:
    data = strict_json(read_text(path))
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != (FORMAT, VERSION):
        raise InputError(f'is not a "{FORMAT}" of version {VERSION}', where=one_line(path))
    return data
