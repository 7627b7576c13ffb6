"""An episode that is still going on, collected step by step."""

from __future__ import annotations

from markovize.episodes.traces import Episode
from markovize.episodes.values import Value


class OpenEpisode:
    """Observations, actions and rewards so far; :meth:`close` makes an :class:`Episode` of them.

    >>> episode = OpenEpisode("hall")
    >>> episode.step("go", 1.0, "office")
    >>> episode.close(terminated=True)
    Episode(observations=['hall', 'office'], actions=['go'], rewards=[1.0], terminated=True, truncated=False)
    """

    __slots__ = ("actions", "observations", "rewards")

    def __init__(self, first: Value) -> None:
        self.observations: list[Value] = [first]
        self.actions: list[Value] = []
        self.rewards: list[float] = []

    def step(self, action: Value, reward: float, observation: Value) -> None:
        """One more step."""
        self.actions.append(action)
        self.rewards.append(reward)
        self.observations.append(observation)

    def close(self, *, terminated: bool = False, truncated: bool = False) -> Episode:
        """The episode, as it ended."""
        return Episode(self.observations, self.actions, self.rewards, terminated, truncated)
