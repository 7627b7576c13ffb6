"""The environments' names in Gymnasium's registry: a name for each family of worlds. Nothing slow is loaded for it."""

from __future__ import annotations

from typing import Final

import gymnasium

from markovize.worlds import FAMILIES, LONGEST, env_name

MAX_EPISODE_STEPS: Final = 200


def register_envs() -> None:
    """Registers what is not registered yet; importing markovize does this.

    >>> register_envs()
    >>> gymnasium.spec("markovize/OfficeWorld-v0").max_episode_steps
    200
    """
    limits = {env_name(family): LONGEST.get(family, MAX_EPISODE_STEPS) for family in FAMILIES}
    for name, steps in [*limits.items(), ("GridWorld", MAX_EPISODE_STEPS)]:
        if f"markovize/{name}-v0" not in gymnasium.registry:  # Gymnasium warns of a second time
            gymnasium.register(
                f"markovize/{name}-v0",
                entry_point=f"markovize.gym:{name}",
                max_episode_steps=steps,
            )
