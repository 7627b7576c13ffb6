"""When a run does what: the wait for a first conflict, blocks of episodes, the greedy tail, how far it explores."""

from __future__ import annotations

from dataclasses import dataclass, field

from markovize.agents.tabular.settings import Settings
from markovize.errors import InputError

BLOCK = 1_000  # episodes at a time, at most

# Measured on Office e and Breakfast c, acyclic, 5 seeds: episodes until optimal (median), searches for machines (mean).
#   as here               101, 28    14, 10
#   from 8 steps on       295, 14    67, 11
#   200 steps at once      90, 25     5,  4
#   three times farther   113, 34    14, 10
#   after 5 quiet ones    101, 23    14, 10
#   after 80 quiet ones   128, 15    14, 10
# So a short start hurts and the rest matters little; larger worlds were not measured.
FIRST_HORIZON, FARTHER, QUIET_EPISODES = 32, 1.5, 20
RESTS = 10  # times so many quiet episodes, before exploration also confirms the machine; chosen, not measured


@dataclass
class Schedule:
    """Which episode comes next, and how many there are: None as long as the run waits for a first conflict.

    >>> schedule = Schedule(Settings.of("q-learning", episodes=250))
    >>> schedule.block(), schedule.greedy
    (100, False)
    >>> schedule.episode = 225
    >>> schedule.block(), schedule.greedy, schedule.over
    (25, True, False)
    """

    settings: Settings
    episode: int = 0
    total: int | None = field(init=False)

    def __post_init__(self) -> None:
        self.total = None if self.settings.patience else self.settings.episodes

    @property
    def over(self) -> bool:
        """Whether all episodes were played."""
        return self.total is not None and self.episode >= self.total

    @property
    def waiting(self) -> bool:
        """Whether the run still waits for a first conflict."""
        return self.total is None

    @property
    def greedy(self) -> bool:
        """Whether this is the tail, in which nothing is explored any more."""
        return self.total is not None and self.episode >= self.total - self.settings.greedy_tail

    def end_wait(self, solved: bool) -> None:
        """The end is known once patience is over, and a conflict was solved or never will be."""
        cfg = self.settings
        if self.total is None and self.episode >= cfg.patience and (solved or self.episode >= cfg.max_wait):
            self.total = self.episode + cfg.episodes - cfg.patience

    def go_on(self, episode: int, total: int | None) -> None:
        """Goes on from a checkpoint, whose end must be one that these settings may have."""
        cfg = self.settings
        longest = cfg.episodes + (max(cfg.max_wait - cfg.patience, 0) if cfg.patience else 0)
        if (total is None and not cfg.patience) or (total is not None and not cfg.episodes <= total <= longest):
            raise InputError(f"not a checkpoint of a run: its settings do not make it end after {total} episodes")
        self.episode, self.total = episode, total

    def block(self) -> int:
        """How many episodes until something may change: an evaluation, the end of the wait, the tail, the end."""
        cfg, here = self.settings, self.episode
        marks = [here + cfg.evaluate_every - here % cfg.evaluate_every, here + BLOCK]
        if self.total is None:
            marks += [m for m in (cfg.patience, cfg.max_wait) if m > here]
        else:
            marks += [self.total, *[m for m in (self.total - cfg.greedy_tail,) if m > here]]
        return min(marks) - here


@dataclass
class Horizon:
    """How many steps exploration may take: few at first, since short histories make small exemplars.

    >>> horizon = Horizon(limit=200)
    >>> for _ in range(3):
    ...     horizon.adapt(10, news=False)
    >>> horizon.steps, horizon.quiet
    (48.0, 10)
    """

    limit: int
    steps: float = float(FIRST_HORIZON)
    quiet: int = 0  # episodes without news, in a row
    rests: int = 0  # how often there were enough of them to go farther

    @property
    def is_settled(self) -> bool:
        """Whether it has grown to the limit, and for long nothing was new: what is left is to doubt the machine."""
        return self.steps >= self.limit and self.rests >= RESTS

    def adapt(self, episodes: int, news: bool) -> None:
        """Farther, once the near has nothing new."""
        self.quiet = 0 if news else self.quiet + episodes
        if self.quiet >= QUIET_EPISODES:
            self.steps, self.quiet = min(self.steps * FARTHER, float(self.limit)), 0
            self.rests += 1
