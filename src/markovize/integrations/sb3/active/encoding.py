"""Any observation as a vector for a policy: numbers scaled, choices one-hot."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from markovize.episodes.features.paths import MOST_FEATURES
from markovize.episodes.spaces import AnySpace, value_of
from markovize.episodes.values import Value
from markovize.errors import UnsupportedError
from markovize.features import minigrid

Vector: TypeAlias = npt.NDArray[np.float32]
MOST_CHOICES: Final = 1_000  # larger ones are scaled like numbers
MOST_INPUTS: Final = 100_000
LARGEST: Final = 1e6  # wider bounds are no scale


class Encoder:
    """Makes vectors of the observations of a space, as environments give them or as episodes have recorded them.

    Texts are left out. Images are recorded by the hash of their bytes, and found again by it.

    >>> encoder = Encoder(spaces.Dict(at=spaces.Box(0.0, 10.0, (2,)), door=spaces.Discrete(3)))
    >>> encoder({"at": np.array([5.0, 10.0], np.float32), "door": 2}).tolist(), encoder.width
    ([0.0, 1.0, 0.0, 0.0, 1.0], 5)
    """

    def __init__(self, space: AnySpace) -> None:
        self.space, self.image = space, is_image(space)
        self.minigrid = is_minigrid(space)
        self.frames: dict[str, Vector] = {}
        self._encode = minigrid.encode if self.minigrid else _joined(_parts(space))
        try:
            self.width = len(self._encode(space.sample()))
        except (TypeError, ValueError) as error:
            raise UnsupportedError(f"observations of {space} cannot be made vectors: {error}") from None
        if not 0 < self.width <= MOST_INPUTS:
            raise UnsupportedError(
                f"observations of {self.width:,} numbers; wrap the environment so that they are 1 to {MOST_INPUTS:,}, "
                "for example in gymnasium.wrappers.ResizeObservation"
            )

    def __call__(self, observation: Any) -> Vector:
        if self.image and isinstance(observation, str):
            return self.frames[observation]
        return self._encode(observation)

    def record(self, observation: Any) -> Value:
        """The observation as episodes have it."""
        if not self.image:
            return value_of(observation, objects=isinstance(observation, dict))
        name = name_of_frame(observation)
        if name not in self.frames:
            self.frames[name] = self._encode(observation)
        return name


def name_of_frame(image: Any) -> str:
    """What an image is called: equal ones alike.

    >>> name_of_frame(np.zeros((2, 2, 3), np.uint8)) == name_of_frame([[[0] * 3] * 2] * 2)
    True
    """
    if isinstance(image, str):  # recorded by its name
        return image
    return hashlib.sha256(np.ascontiguousarray(image, np.int64).tobytes()).hexdigest()[:12]


def is_image(space: AnySpace) -> bool:
    """Whether observations are pictures, and no vectors whose entries mean something each.

    >>> is_image(spaces.Box(0, 255, (64, 64, 3), np.uint8)), is_image(spaces.Box(0, 1, (4,)))
    (True, False)
    """
    if not isinstance(space, spaces.Box):
        return False
    size = int(np.prod(space.shape))
    return size > MOST_FEATURES or (len(space.shape) in (2, 3) and space.dtype == np.uint8)


def is_minigrid(space: AnySpace) -> bool:
    """Whether observations are those of MiniGrid: cells and a direction."""
    if not isinstance(space, spaces.Dict) or not {"image", "direction"} <= {*space.spaces}:
        return False
    image = space.spaces["image"]
    return isinstance(image, spaces.Box) and len(image.shape) == 3 and image.shape[2] == 3 and image.dtype == np.uint8


_Part: TypeAlias = Callable[[Any], Vector]


def _joined(parts: Iterator[_Part]) -> _Part:
    every = list(parts)
    return lambda observation: np.concatenate([np.zeros(0, np.float32), *(part(observation) for part in every)])


def _parts(space: AnySpace, at: _Part | Callable[[Any], Any] = lambda observation: observation) -> Iterator[_Part]:
    if isinstance(space, spaces.Dict):
        for name, inner in space.spaces.items():
            yield from _parts(inner, lambda seen, name=name: at(seen)[name])
    elif isinstance(space, spaces.Tuple):
        for place, inner in enumerate(space.spaces):
            yield from _parts(inner, lambda seen, place=place: at(seen)[place])
    elif isinstance(space, spaces.Discrete):
        yield _choices(at, [int(space.n)], int(space.start))
    elif isinstance(space, spaces.MultiDiscrete):
        yield _choices(at, [int(n) for n in space.nvec.ravel()], 0)
    elif isinstance(space, spaces.MultiBinary):
        yield lambda seen: np.asarray(at(seen), np.float32).ravel()
    elif isinstance(space, spaces.Box):
        yield _numbers(at, space)
    elif not isinstance(space, spaces.Text):
        raise UnsupportedError(f"observations of a {type(space).__name__} space cannot be made vectors; wrap them")


def _choices(at: Callable[[Any], Any], sizes: list[int], start: int) -> _Part:
    if sum(sizes) > MOST_CHOICES:
        scale = np.array(sizes, np.float32)
        return lambda seen: (np.asarray(at(seen), np.float32).ravel() - start) / scale
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) - start

    def one_hot(seen: Any) -> Vector:
        out = np.zeros(sum(sizes), np.float32)
        out[np.asarray(at(seen), np.int64).ravel() + firsts] = 1.0
        return out

    return one_hot


def _numbers(at: Callable[[Any], Any], space: spaces.Box) -> _Part:
    low, high = space.low.ravel().astype(np.float64), space.high.ravel().astype(np.float64)
    bounded = (np.abs(low) < LARGEST) & (np.abs(high) < LARGEST) & (high > low)
    low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
    middle, half = ((low + high) / 2).astype(np.float32), ((high - low) / 2).astype(np.float32)
    return lambda seen: np.asarray((np.asarray(at(seen), np.float32).ravel() - middle) / half, np.float32)
