"""Ray clusters (extra ``ray``): one is joined, or started on this machine; a function runs on each of many items."""

from __future__ import annotations

import logging
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final, TypeVar

from markovize.errors import InputError
from markovize.extras import load

EXECUTORS: Final = ("local", "ray")
SECONDS_TO_ANSWER: Final = 5.0
Item = TypeVar("Item")
Made = TypeVar("Made")


def check_executor(executor: str, address: str | None = None) -> None:
    """Refuses what is no executor, and an address that none needs.

    >>> check_executor("slurm")
    Traceback (most recent call last):
    markovize.errors.InputError: executors are local, ray, not 'slurm'
    """
    if executor not in EXECUTORS:
        raise InputError(f"executors are {', '.join(EXECUTORS)}, not {executor!r}")
    if address is not None and executor != "ray":
        raise InputError("an address is for the executor ray")


@contextmanager
def joined(jobs: int | None, address: str | None) -> Iterator[Any]:
    """Ray itself, connected to a cluster: the one in use, that at the address, or one that is started here."""
    ray = load("ray", "--executor ray", "ray")
    started = not ray.is_initialized()
    if started:
        _connect(ray, jobs, address)
    try:
        yield ray
    finally:
        if started:
            ray.shutdown()


@contextmanager
def joined_quietly(jobs: int | None, address: str | None) -> Iterator[Any]:
    """As :func:`joined`; meanwhile stdout is stderr: Ray tells of nodes that die where answers for programs stand."""
    with redirect_stdout(sys.stderr), joined(jobs, address) as ray:
        yield ray


def map_on_ray(function: Callable[[Item], Made], items: Iterable[Item], address: str | None) -> Iterator[Made]:
    """What the function makes of each item, in the order of the items; each is a task of one core.

    Tasks of a node that dies run again on the others. Only some are under way ahead of those that were taken, so that
    results do not pile up.
    """
    with joined_quietly(None, address) as ray:
        work = ray.remote(num_cpus=1, max_retries=-1)(_apply)
        ahead = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(work.remote(function, item))
            if len(waiting) > ahead:
                yield ray.get(waiting.popleft())
        while waiting:
            yield ray.get(waiting.popleft())


def _apply(function: Callable[[Item], Made], item: Item) -> Made:
    """Ray sends functions, but not all that can be called."""
    return function(item)


def _connect(ray: Any, jobs: int | None, address: str | None) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "include_dashboard": False}
    if address is None:
        options |= {"address": "local", "num_cpus": jobs}
    else:
        options |= {"address": address}
        del options["include_dashboard"]
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    try:
        if colon and port.isdigit():  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), SECONDS_TO_ANSWER).close()
        ray.init(**options)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"no Ray cluster at {address or 'this machine'}: {error}") from None
