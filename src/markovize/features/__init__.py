"""Ready feature functions, for ``features=`` of :func:`markovize.learn`, wrappers and active training.

- :mod:`markovize.features.minigrid`: what a MiniGrid agent sees, carries and has in front of it; with
  ``FullyObsWrapper`` also where it is. On the command line: ``--features markovize.features.minigrid:view``.
- :func:`last_frame`: the last of several stacked observations, as ``FrameStackObservation`` gives them
- :func:`named`: names for the entries of a vector
- :class:`ObservationFeatures`: makes such a function of one of your own that takes a single observation

They take observations as environments give them, and as recorded episodes have them.
"""

from __future__ import annotations

from markovize.episodes.features.function import ObservationFeatures
from markovize.features.columns import named
from markovize.features.vectors import last_frame

__all__ = ["ObservationFeatures", "last_frame", "named"]
