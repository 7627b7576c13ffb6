"""A policy's view of S×U: a copy of the observation for each machine state, all but the present one's zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from markovize.extras import Missing

if TYPE_CHECKING:
    import torch
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
else:
    try:
        import torch
        from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    except ImportError:
        BaseFeaturesExtractor = Missing


class Gated(BaseFeaturesExtractor):
    """Gives each machine state weights of its own, as tables on S×U do.

    What is right in one state is often wrong in the next. A network that reads the state beside the observation has to
    learn that exclusive-or first; one whose first layer differs from state to state does not.

    Takes vectors that end with the machine's state one-hot, and gives (observation, 1) in the place of this state.
    """

    def __init__(self, observation_space: spaces.Box, states: int) -> None:
        (width,) = observation_space.shape
        super().__init__(observation_space, states * (width - states + 1))
        self._states = states

    def forward(self, observations: Any) -> Any:
        seen, state = observations[:, : -self._states], observations[:, -self._states :]
        seen = torch.cat([seen, torch.ones_like(state[:, :1])], 1)
        return (state.unsqueeze(2) * seen.unsqueeze(1)).flatten(1)
