"""What to do about a verdict, in a sentence or two."""

from __future__ import annotations

from typing import Final

MARKOV: Final = {
    (): "nothing, if the reward is meant never to change.",
    ("next_state",): "nothing.",
    ("state", "action"): (
        "nothing. The reward is of the state that was left, not of the one that was entered: if it should pay "
        "for the state entered, it comes one step late."
    ),
    ("state", "action", "next_state"): "nothing, as long as the agent's critic may see the whole step.",
}
STATE_ACTION: Final = "nothing, as long as the agent sees the state, or what the reward needs of it."
TIME: Final = (
    "Put the step number into the observation (gymnasium.wrappers.TimeAwareObservation), or make the reward "
    "independent of it."
)
HISTORY: Final = (
    "Put what the reward remembers into the observation, or learn it: record episodes and run `markovize learn`, or "
    "`markovize run`, then wrap the environment with markovize.MarkovRewardWrapper."
)
HISTORY_MACHINE: Final = (
    "Wrap the environment with markovize.MarkovRewardWrapper(env, report.machine): the observation then shows what the "
    "reward remembers."
)
HISTORY_ACTIONS: Final = (
    "The machine's triggers are actions. Wrap the environment with markovize.MarkovRewardWrapper(env, report.machine, "
    "trigger_on=lambda s, a, t: a): the observation then shows what the reward remembers."
)
HISTORY_CONTINUOUS: Final = (
    "Put what the reward remembers into the observation; or name what matters with label functions, record episodes "
    "and run `markovize learn`, then wrap the environment with markovize.MarkovRewardWrapper."
)
HISTORY_OBJECTS: Final = (
    "The observations have named parts: `markovize learn EPISODES --trigger-on guards` says which of them the reward "
    "remembers, for markovize.MarkovRewardWrapper; or put what it remembers into the observation."
)
GUARDS_INSTEAD: Final = (
    "A machine over the parts of observations needs no repetition: `markovize learn EPISODES --trigger-on guards "
    "--holdout 0.2` finds the smallest that explains the rewards, and tries it on episodes held back."
)
PREVIOUS: Final = (
    "Something survives reset(): set every attribute that the reward reads in reset(), draw from self.np_random only, "
    "and call super().reset(seed=seed) first."
)
NOISE: Final = (
    "The reward is random, or depends on something drawn at random that the observations do not show. If that is "
    "meant, agents learn its mean; if not, show it in the observation."
)
UNSEEDED: Final = (
    "The reward is random, and reset(seed=…) does not make it repeatable: draw from self.np_random, which "
    "super().reset(seed=seed) seeds, so that runs can be repeated."
)
NOISE_IN_FILE: Final = (
    "Equal histories paid differently: random rewards, something that is not recorded, or something left over from "
    "earlier episodes. Audit the environment itself to tell which. A machine is learned all the same where that is "
    "allowed for: errors of rewards by --tolerance auto or --outliers auto, chance by --reward random."
)
MORE_EPISODES: Final = (
    "Record more episodes, from the same starts, with other ways to the same steps; or audit the environment itself; "
    "or make the observations coarser with labels of your own."
)
COARSER: Final = (
    "Walk longer (more seconds, more steps), or make the observations coarser with a wrapper, so that they come back."
)
ENVIRONMENT: Final = "Audit the environment itself, or make the observations discrete."
UNPAID: Final = (
    "Walk longer (more seconds, more steps), or record episodes of somebody who knows how to earn a reward, and audit "
    "the file."
)
NO_STATE: Final = (
    "Give the environment an attribute `state` from which step() goes on, or make the observations coarser with a "
    "wrapper, so that they come back."
)
