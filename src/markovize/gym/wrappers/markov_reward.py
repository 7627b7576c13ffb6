"""The wrapper that makes a reward Markov again: it runs a reward machine beside the environment."""

from __future__ import annotations

from typing import SupportsFloat, Unpack

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from markovize.episodes.spaces import is_labelled, value_of
from markovize.gym.aliases import Info, Observation, SingleEnv, SingleWrapper
from markovize.gym.wrappers.autoreset import Resets
from markovize.gym.wrappers.counterfactual import Experience, experiences_of_step
from markovize.gym.wrappers.follower import Follower
from markovize.gym.wrappers.machine_argument import AnyMachine, load_machine
from markovize.gym.wrappers.observer import Mode
from markovize.gym.wrappers.options import WrapperOptions, prepare


class MarkovRewardWrapper(SingleWrapper, RecordConstructorArgs):
    """Adds the state of a reward machine to each observation, so that the reward depends on nothing else.

    The machine's state follows from the steps (s, a, s') alone. It is kept where an episode is truncated, so that
    agents can bootstrap from the last observation, and starts anew with each episode. Rewards are passed on as they
    are, unless ``shaping`` asks for more.

    Every ``info`` tells ``rm_state`` (u), ``rm_trigger`` (the number of the trigger that this step fired, or -1) and
    ``rm_unseen`` (how many steps of this episode had labels that occur nowhere in the machine).

    Args:
        machine: a :class:`markovize.RewardMachine`, its file, or what its JSON file holds.
        mode: what observations become, ``dict`` (the default), ``flat``, ``one-hot`` or ``triggers``; see
            :class:`markovize.gym.wrappers.Observer`.
        unseen: at labels that learning never met the machine stays where it is (``stay``, the default), or an
            ``error`` is raised.
        shaping: a discount γ; adds γ·Φ(u') - Φ(u) to each reward, see :class:`markovize.gym.wrappers.Potential`. The
            reward without it is in ``info["rm_unshaped_reward"]``.
        crm: whether ``info["rm_experiences"]`` lists each step's experience in every machine state, see
            :class:`markovize.gym.wrappers.CounterfactualTable`; shaped if rewards are.
        trigger_on, reward_on, features: the functions of (s, a, s') that the machine was learned with, if it was.

    >>> from markovize import RewardMachine, Trigger
    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, 4, 1),))
    >>> env = MarkovRewardWrapper(gym.make("FrozenLake-v1", is_slippery=False), machine)
    >>> env.reset(seed=0)[0]
    {'observation': 0, 'rm_state': 0}
    >>> env.step(1)[0]
    {'observation': 4, 'rm_state': 1}
    """

    def __init__(self, env: SingleEnv, machine: AnyMachine, **options: Unpack[WrapperOptions]) -> None:
        machine = load_machine(machine)
        RecordConstructorArgs.__init__(self, machine=machine.to_json(), **options)
        gym.Wrapper.__init__(self, env)
        parts = prepare(env, env.observation_space, machine, **options)
        self.machine, self.potential = machine, parts.potential
        self._observer, self._table = parts.observer, parts.table
        self._follower = Follower(parts.bound)
        self._resets = Resets(env)
        self._objects = not is_labelled(env.observation_space)
        self.observation_space = self._observer.space

    @property
    def mode(self) -> Mode:
        """What observations become."""
        return self._observer.mode

    @property
    def rm_state(self) -> int:
        """The machine's state now."""
        return self._follower.state

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Resets the environment and the machine."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._follower.begin(value_of(observation, objects=self._objects))
        return self._observer.single(observation, self._follower), {**info, **self._follower.info()}

    def step(self, action: object) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        """Steps the environment, then the machine."""
        follower = self._follower
        if not follower.started:
            raise gym.error.ResetNeeded("call reset before the first step, and after an error")
        moved = value_of(action, "action")  # before the environment can change it
        before, phantom = follower.observation, self._resets.next(ended=follower.ended)
        observation, reward, terminated, truncated, info = self.env.step(action)
        follower.started = False  # unless all that follows works out, the machine has lost its way until the next reset
        after = value_of(observation, objects=self._objects)
        experiences: list[Experience] = []
        shaped = reward
        if phantom:  # this step was a reset, and its observation starts an episode
            follower.begin(after)
        else:
            follower.step(moved, after)
            if self.potential is not None:
                shaped = float(reward) + self.potential.bonus(
                    follower.before, follower.state, terminated=bool(terminated)
                )
            if self._table is not None:
                step, final = (before, moved, after), bool(terminated)
                experiences = experiences_of_step(self._table, follower, step, float(reward), final, self.potential)
        follower.started, follower.ended = True, bool(terminated or truncated)
        info = {**info, **follower.info()}
        if self.potential is not None:
            info["rm_unshaped_reward"] = float(reward)
        if self._table is not None:
            info["rm_experiences"] = experiences
        return self._observer.single(observation, follower), shaped, terminated, truncated, info
