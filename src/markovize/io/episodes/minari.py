"""Minari data sets as episodes, and episodes as Minari data sets.

The format ``minari`` of :func:`~markovize.read_episodes` and :func:`~markovize.write_episodes` takes ``minari:NAME``;
a folder of a data set can be read, too. Observations may be continuous or objects (``Box`` and ``Dict`` spaces), and
actions continuous: then functions of the step must label them. What is written must be discrete:
:mod:`markovize.episodes.spaces` says which spaces are.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
import numpy as np

from markovize.episodes.spaces import AnySpace, check_space, fits, values_of
from markovize.episodes.traces import Episode, Episodes, Traces, TracesBuilder, as_traces
from markovize.episodes.values import Value, show
from markovize.errors import InputError, one_line
from markovize.extras import install, load, missing
from markovize.io.episodes.minari_spaces import smallest_space
from markovize.io.registry import AnyPath, ReadOptions

PREFIX: Final = "minari:"
FORMATS: Final = ("hdf5", "arrow")
# what HDF5, NumPy and Minari raise for files that are not as they wrote them
_DAMAGE: Final = (
    *(OSError, LookupError, ValueError, TypeError, AttributeError, AssertionError),
    *(RuntimeError, MemoryError, OverflowError),
)


def read_named(source: AnyPath, options: ReadOptions) -> Traces:
    """Reads ``minari:NAME``, a name without the prefix, or the folder of a data set."""
    return read_minari(os.fspath(source), reward_decimals=options.reward_decimals)


def write_named(target: AnyPath, traces: Traces) -> None:
    """Writes a new data set called ``minari:NAME``, with the smallest spaces that hold the values."""
    write_minari(traces, os.fspath(target).removeprefix(PREFIX))


def read_minari(dataset: Any, *, reward_decimals: int | None = None) -> Traces:
    """The episodes of a Minari data set, given as such, by its name or by its folder; nothing is downloaded.

    A name may start with ``minari:``, as on the command line.
    """
    where = PREFIX + one_line(getattr(dataset, "id", dataset), 80)
    if isinstance(dataset, str):
        where = one_line(dataset) if _is_folder(dataset) else PREFIX + one_line(dataset.removeprefix(PREFIX), 80)
        dataset = _load(dataset.removeprefix(PREFIX), where)
    builder = TracesBuilder(reward_decimals=reward_decimals)
    for number, episode in enumerate(_episodes(dataset, where)):
        builder.add(*episode, where=f"{where}: episode {number}")
    return builder.build()


def write_minari(
    episodes: Episodes,
    dataset_id: str,
    *,
    env: gym.Env[Any, Any] | None = None,
    description: str | None = None,
    author: str | None = None,
    data_format: str = "hdf5",
) -> Any:
    """Writes episodes as a new Minari data set, and returns it.

    ``env`` gives the spaces, and the spec from which Minari can make the environment again; without it the spaces are
    the smallest that hold the values. Episodes without steps cannot be part of a data set and are refused, as are
    observations and actions that are not of the spaces.
    """
    if data_format not in FORMATS:
        raise InputError(f"formats of Minari data sets are {', '.join(FORMATS)}, not {data_format!r}")
    minari = load("minari", "writing Minari data sets", "data")
    if data_format == "arrow" and find_spec("pyarrow") is None:
        raise InputError(f"the format arrow needs: {install('arrow', 'minari')}")
    parse_dataset_id = load("minari.dataset.minari_dataset", "writing Minari data sets", "data").parse_dataset_id
    traces = as_traces(episodes)
    if not len(traces):
        raise InputError("a Minari data set needs at least one episode")
    if env is None:
        observation_space = smallest_space(traces.observation_values, "observations")
        action_space = smallest_space(traces.action_values, "actions")
    else:
        observation_space, action_space = env.observation_space, env.action_space
        check_space(observation_space, "observation")
        check_space(action_space, "action")
    buffers = [
        _buffer(minari, number, episode, observation_space, action_space) for number, episode in enumerate(traces)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that there is no link to code, no e-mail address, …
        try:
            parse_dataset_id(dataset_id)  # before Minari makes a folder of that name
            return minari.create_dataset_from_buffers(
                dataset_id,
                buffers,
                env=env if env is not None and env.spec is not None else None,
                observation_space=observation_space,
                action_space=action_space,
                description=description,
                author=author,
                data_format=data_format,
            )
        except (ValueError, TypeError, OSError) as error:
            raise InputError(_reason(error, dataset_id), where=PREFIX + one_line(dataset_id, 80)) from None
        except ImportError:
            raise missing(f"the format {data_format}", "data") from None


def _is_folder(name: str) -> bool:
    """Whether this is the folder of a data set and not its name: the same text may be both, the prefix decides."""
    return not name.startswith(PREFIX) and os.path.isdir(name)  # noqa: PTH112 - no errors for odd names


def _load(name: str, where: str) -> Any:
    minari = load("minari", "reading Minari data sets", "data")
    try:
        if where.startswith(PREFIX):
            return minari.load_dataset(name)
        folder = Path(name)
        return minari.MinariDataset(folder / "data" if (folder / "data").is_dir() else folder)
    except FileNotFoundError:
        raise InputError(
            f"no such data set here; `minari list local` shows what there is, `minari download {one_line(name, 80)}` "
            "gets one",
            where=where,
        ) from None
    except ImportError as error:
        raise InputError(f"cannot be read: {one_line(str(error), 200)}", where=where) from None
    except _DAMAGE as error:
        raise InputError(f"is no Minari data set: {_reason(error, name)}", where=where) from None


def _episodes(dataset: Any, where: str) -> Iterator[tuple[list[Value], list[Value], list[float], bool, bool]]:
    """What :meth:`TracesBuilder.add` takes, for each episode."""
    try:
        for data in dataset.iterate_episodes():
            yield (
                values_of(dataset.observation_space, data.observations),
                values_of(dataset.action_space, data.actions, "action"),
                np.asarray(data.rewards, np.float64).tolist(),
                bool(np.asarray(data.terminations)[-1:].any()),
                bool(np.asarray(data.truncations)[-1:].any()),
            )
    except InputError as error:
        raise InputError(str(error), where=where) from None
    except _DAMAGE as error:
        raise InputError(f"the data set is damaged: {one_line(error, 200)}", where=where) from None


def _reason(error: Exception, name: str) -> str:
    """What Minari says; of a name without a version it says nothing helpful."""
    unversioned = isinstance(error, TypeError) and re.search(r"-v\d+$", name) is None
    return "names end with a version, such as -v0" if unversioned else one_line(error, 200)


def _buffer(minari: Any, number: int, episode: Episode, observation_space: AnySpace, action_space: AnySpace) -> Any:
    where = f"episode {number}"
    if not episode.steps:
        raise InputError("has no steps; Minari cannot hold it", where=where)
    last = np.arange(episode.steps) == episode.steps - 1
    return minari.data_collector.EpisodeBuffer(
        id=number,
        observations=_column(observation_space, episode.observations, "observation", where),
        actions=_column(action_space, episode.actions, "action", where),
        rewards=list(episode.rewards),
        terminations=(last & episode.terminated).tolist(),
        truncations=(last & episode.truncated).tolist(),
    )


def _column(space: AnySpace, values: Any, what: str, where: str) -> Any:
    """The values as Minari keeps a column of this space: one array, a list of texts, or a tuple of columns."""
    for value in values:
        if not fits(space, value):
            raise InputError(f"{show(value)} is no {what} of {space}", where=where)
    return _batched(space, list(values))


def _batched(space: AnySpace, values: list[Value]) -> Any:
    if isinstance(space, gym.spaces.Tuple):
        return tuple(_batched(part, column) for part, column in zip(space.spaces, _columns(values), strict=True))
    if isinstance(space, gym.spaces.Text):
        return values
    return np.array(values, space.dtype)


def _columns(values: list[Any]) -> Iterator[list[Value]]:
    return (list(column) for column in zip(*values, strict=True))
