"""Walks through an environment that look for the same step after other histories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from markovize.auditing.earnings import Earnings
from markovize.auditing.logbook import Logbook, LoggedEpisode
from markovize.auditing.map import Map

if TYPE_CHECKING:
    import gymnasium

SEEDS: Final = 8  # of resets that come back again and again, so that one start is seen with many continuations
ACTIONS: Final = 64  # larger action spaces are sampled once, so that actions come back
CONTINUOUS: Final = 6  # actions of a Box
LONG: Final = 1_000  # steps, for episodes that nothing else ends
LEAST_WEIGHT: Final = 0.05  # of actions that never changed an observation, beside 1 for those that always did
CANDIDATES: Final = 10  # earlier episodes that are looked at to choose one to return to

Policy: TypeAlias = Callable[[int], int]  # from the number of an observation to the number of an action
Plans: TypeAlias = Iterator[list[int] | None]  # to follow one after the other; none: a random action


class Walker:
    """Plays episodes of several kinds, in turn, and writes them into a logbook."""

    def __init__(self, env: gymnasium.Env[Any, Any], logbook: Logbook, seed: int) -> None:
        self.env, self.logbook = env, logbook
        self.rng = np.random.default_rng(seed)
        self.first_seed = seed * 1_000_003 % 2**31
        self.palette = action_palette(env.action_space, seed)
        self.map = Map(len(self.palette))
        limit = env.spec.max_episode_steps if env.spec is not None else None
        self.longest = min(LONG, limit or LONG)
        self.earnings = Earnings()
        self._kinds: tuple[Callable[[], Policy], ...] = (
            self._at_random,
            self._explore,
            self._run_errands,
            self._tour,
            self._stubbornly,
            self._explore,
            self._detour,
            self._tour,
            self._delay,
            self._return,
        )

    def walk(self) -> LoggedEpisode:
        """One more episode."""
        number = len(self.logbook.episodes)
        recurring = number % 2 == 0
        seed = self.first_seed + (int(self.rng.integers(SEEDS)) if recurring else SEEDS + number)
        self._seed = seed
        policy = self._kinds[number % len(self._kinds)]()
        return self.play(self._seed, policy, self.longest if number % len(self._kinds) == 7 else min(self.longest, 300))

    def play(self, seed: int, policy: Policy, longest: int) -> LoggedEpisode:
        """One episode by this policy."""
        observation, _ = self.env.reset(seed=seed)
        s = self.logbook.start(observation, seed=seed)
        terminated = truncated = False
        for _ in range(longest):
            a = policy(s)
            observation, reward, terminated, truncated, _ = self.env.step(self.palette[a])
            t = self.logbook.step(self.palette[a], reward, observation)
            self.map.step(s, a, t, ended=bool(terminated))
            self.earnings.step((s, a, t), float(reward))
            s = t
            if terminated or truncated:
                break
        episode = self.logbook.finish(terminated=bool(terminated), truncated=bool(truncated))
        self.earnings.finish(episode)
        return episode

    def walk_otherwise(self) -> None:
        """A disputed step again, at the same step number, with one action on the way to it replaced: time, or history?

        Nothing is played where no reward is disputed.
        """
        disputed = self.earnings.disputed()
        if not disputed:
            return
        episode, step = self._any(disputed)
        assert episode.seed is not None
        actions = [self._number(action) for action in episode.actions[: step + 1]]
        if step:
            actions[int(self.rng.integers(step))] = self._random()
        self.play(episode.seed, lambda _: actions.pop(0), step + 1)

    # --- kinds of walks -----------------------------------------------------------------------------------------------

    def _random(self) -> int:
        return int(self.rng.integers(len(self.palette)))

    def _at_random(self) -> Policy:
        return lambda _: self._random()

    def _stubbornly(self) -> Policy:
        """Takes an action several times in a row: gets further than a random walk."""
        now = self._random()

        def policy(_: int) -> int:
            nonlocal now
            if self.rng.random() < 0.15:
                now = self._random()
            return now

        return policy

    def _follow(self, plans: Plans) -> Policy:
        """Follows one plan after the other, with a random action where there is none."""
        self._at = -1
        plan: list[int] = []

        def policy(s: int) -> int:
            nonlocal plan
            self._at = s
            if not plan:
                following = next(plans, None)
                plan = following[:] if following else [self._random()]
            return plan.pop(0)

        return policy

    def _explore(self) -> Policy:
        """Goes to the nearest action that was tried least."""

        def plans() -> Plans:
            while True:
                for most in (0, 1, 3):
                    plan = self.map.untried(self._at, most)
                    if plan is not None:
                        break
                yield plan
                if plan is None:
                    for _ in range(10):
                        yield None

        return self._follow(plans())

    def _tour(self) -> Policy:
        """From one known place to another, as long as the episode lasts: the same steps, after other histories."""

        def plans() -> Plans:
            while True:
                yield self.map.path(self._at, self._any(self.map.states)) if self.map.states else None
                yield None

        return self._follow(plans())

    def _run_errands(self) -> Policy:
        """Goes to where a rare reward was earned, by way of somewhere else."""

        def plans() -> Plans:
            rewards = self.earnings.rare()
            while rewards:
                for _ in range(int(self.rng.integers(3))):
                    yield self.map.path(self._at, self._any(self.map.states))
                s, a = self._any(self.earnings.places(self._any(rewards)))
                plan = self.map.path(self._at, s)
                yield None if plan is None else [*plan, a]

        return self._follow(plans())

    def _cut_way(self) -> tuple[list[int], int, int | None] | None:
        """The actions of an earlier episode up to a rare reward, a place to cut them, and what was observed there."""
        way = self._rare_way()
        if way is None:
            return None
        episode, step = way
        numbers = [self._number(action) for action in episode.actions[: step + 1]]
        cut = int(self.rng.integers(len(numbers)))
        return numbers, cut, self.logbook.observations.find(episode.episode.observations[cut])

    def _again(self, between: Callable[[int | None], Plans]) -> Policy:
        """An earlier episode again, up to a rare reward, with something ``between``, given what was observed there."""
        way = self._cut_way()
        if way is None:
            return self._return()
        numbers, cut, here = way

        def plans() -> Plans:
            if cut:
                yield numbers[:cut]
            yield from between(here)
            yield numbers[cut:]

        return self._follow(plans())

    def _detour(self) -> Policy:
        """An earlier episode again, with something else in between."""

        def between(back: int | None) -> Plans:
            yield [self._random() for _ in range(int(self.rng.integers(1, 6)))]
            if back is not None:
                yield self.map.path(self._at, back) or None

        return self._again(between)

    def _delay(self) -> Policy:
        """An earlier episode again, with a loop somewhere on the way.

        Loops of equal length at different places give equal step numbers after other histories: time, or history?
        """

        def between(here: int | None) -> Plans:
            loop = None if here is None else self.map.loop(here)
            if loop is not None:
                yield loop

        return self._again(between)

    def _return(self) -> Policy:
        """An earlier episode again, up to the observation that was seen least often of all, and on from there."""
        if not self.logbook.episodes:
            return self._at_random()
        episode = min(
            (self._any(self.logbook.episodes) for _ in range(CANDIDATES)), key=lambda one: self._rarest(one)[0]
        )
        assert episode.seed is not None
        self._seed = episode.seed
        numbers = [self._number(action) for action in episode.actions[: self._rarest(episode)[1]]]
        now, likely = 0, self._lively()

        def policy(_: int) -> int:
            nonlocal now
            if numbers:
                now = numbers.pop(0)
            elif self.rng.random() < 0.5:
                now = int(self.rng.choice(len(likely), p=likely))
            return now

        return policy

    def _lively(self) -> npt.NDArray[np.float64]:
        """Probabilities of actions: those that changed the observation more often are likelier."""
        share = np.array([self.map.changes(a) for a in range(len(self.palette))])
        weights = share + LEAST_WEIGHT
        likely: npt.NDArray[np.float64] = weights / weights.sum()
        return likely

    def _rarest(self, episode: LoggedEpisode) -> tuple[int, int]:
        """How often the rarest observation of an episode was seen, and when, but at its very end."""
        find = self.logbook.observations.find
        seen = [self.map.visits(find(observation) or 0) for observation in episode.episode.observations[:-1]]
        return min((count, time) for time, count in enumerate(seen))

    def _rare_way(self) -> tuple[LoggedEpisode, int] | None:
        """An episode that earned a rare or a disputed reward, and at which step; the next episode has its seed."""
        rewards = [reward for reward in self.earnings.rare() if self.earnings.ways(reward)]
        if not rewards or len(self.earnings.levels()) < 2:  # nothing that was paid is worth coming back to
            return None
        disputed = self.earnings.disputed()
        ways = disputed if disputed and self.rng.random() < 0.5 else self.earnings.ways(self._any(rewards))
        episode, step = self._any(ways)
        assert episode.seed is not None
        self._seed = episode.seed
        return episode, step

    def _number(self, action: Any) -> int:
        return next(n for n, known in enumerate(self.palette) if known is action)

    def _any(self, things: list[Any]) -> Any:
        return things[int(self.rng.integers(len(things)))]


def action_palette(space: gymnasium.Space[Any], seed: int) -> list[Any]:
    """All actions of a small space, else a sample: what never comes back cannot be compared.

    >>> import gymnasium
    >>> action_palette(gymnasium.spaces.Discrete(3), 0)
    [0, 1, 2]
    >>> len(action_palette(gymnasium.spaces.Box(-1, 1, (2,)), 0))
    6
    """
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete) and space.n <= ACTIONS:
        return [int(space.start) + n for n in range(int(space.n))]
    space.seed(seed)
    if isinstance(space, spaces.Box) and np.dtype(space.dtype).kind == "f":
        return [space.sample() for _ in range(CONTINUOUS)]
    return [space.sample() for _ in range(ACTIONS)]
