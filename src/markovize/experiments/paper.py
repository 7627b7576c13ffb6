"""What the paper reports: Hyde & Santos, *Detecting Hidden Triggers*, ECAI 2024, means over 10 trials.

Experiment 1 is in its section 5.1 (|U|, |T_o| and solve times as rounded in the text; more digits and the deviations of
|U| and |T_o| from the curves published with its code), experiment 3 in section 5.3 and its table 1. All solved tasks
ended optimal, so the final returns are the optimal ones of its worlds. No deviation is known of solve times in
experiment 1. Times are of Gurobi on 32 cores. Experiment 2 is in section 5.2; its numbers are points of the curves
published with its code: the mean return of the last 1,000 of 50,000 episodes, and of the first 8,000 to compare shorter
trainings with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class PaperValues:
    """End values of one task, means over trials; None where nothing was reported.

    ``solved`` is False where the paper says that no solution was found; ``note`` says how that ended. ``episodes`` is
    how long a training was whose last returns are the final return, where that decides; ``sooner`` has its returns
    (mean, deviation) after fewer episodes.

    >>> EXPERIMENT_3["c full"].states, EXPERIMENT_3["c cumulative"].solved
    (7.0, False)
    """

    states: float | None = None
    exemplars: float | None = None
    solve_seconds: float | None = None
    final_return: float | None = None
    states_sd: float | None = None
    exemplars_sd: float | None = None
    solve_seconds_sd: float | None = None
    final_return_sd: float | None = None
    solved: bool = True
    note: str = ""
    episodes: int | None = None
    sooner: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    def returns_after(self, episodes: int) -> tuple[float, float] | None:
        """Mean return and deviation after so many episodes of training, if they are known.

        >>> EXPERIMENT_2["e, ADQN"].returns_after(8_000), EXPERIMENT_2["e, ADQN"].returns_after(9_000)
        ((0.207, 0.194), None)
        """
        if episodes == self.episodes and self.final_return is not None:
            return self.final_return, self.final_return_sd or 0.0
        return self.sooner.get(episodes)


EXPERIMENT_1: Final[dict[str, PaperValues]] = {
    "b": PaperValues(2.0, 4.2, 0.1, 1.0, states_sd=0.0, exemplars_sd=1.7),
    "c": PaperValues(2.0, 7.4, 0.6, 1.0, states_sd=0.0, exemplars_sd=3.5),
    "d": PaperValues(3.2, 36.8, 4_200, 1.0, states_sd=0.7, exemplars_sd=29.0),
    "e": PaperValues(4.0, 44.2, 12_000, 1.0, states_sd=0.0, exemplars_sd=24.4),
}

_MODELS: Final = ("ADQN", "DQN", "LSTM", "GRU", "RNN")
_SOON: Final = 8_000
_RETURNS: Final[dict[int, dict[str, tuple[tuple[float, float], ...]]]] = {
    # mean and deviation of each model, after so many episodes
    50_000: {
        "b": ((0.765, 0.025), (0.783, 0.016), (0.698, 0.051), (0.658, 0.084), (0.668, 0.036)),
        "c": ((0.501, 0.033), (-0.487, 0.049), (0.345, 0.101), (0.315, 0.113), (0.129, 0.252)),
        "d": ((0.488, 0.023), (-0.508, 0.024), (0.306, 0.111), (0.363, 0.165), (0.041, 0.168)),
        "e": ((0.483, 0.035), (-0.516, 0.088), (0.040, 0.294), (0.072, 0.336), (-0.567, 0.199)),
    },
    _SOON: {
        "b": ((0.658, 0.177), (0.623, 0.287), (0.577, 0.101), (0.517, 0.102), (0.430, 0.129)),
        "c": ((0.174, 0.152), (-0.492, 0.047), (-0.032, 0.210), (-0.030, 0.222), (-0.307, 0.214)),
        "d": ((0.264, 0.092), (-0.506, 0.041), (0.010, 0.115), (-0.066, 0.181), (-0.321, 0.225)),
        "e": ((0.207, 0.194), (-0.502, 0.074), (-0.346, 0.184), (-0.369, 0.209), (-0.507, 0.196)),
    },
}

EXPERIMENT_2: Final[dict[str, PaperValues]] = {
    f"{task}, {model}": PaperValues(
        final_return=mean, final_return_sd=sd, episodes=50_000, sooner={_SOON: _RETURNS[_SOON][task][number]}
    )
    for task, values in _RETURNS[50_000].items()
    for number, (model, (mean, sd)) in enumerate(zip(_MODELS, values, strict=True))
}
"""By task and model."""

EXPERIMENT_3: Final[dict[str, PaperValues]] = {
    "b full": PaperValues(5.0, 6.2, 4.4, 3.2, 0.0, 1.1, 3.3, 0.0),
    "b cumulative": PaperValues(5.0, 22.4, 1_102.9, 1.6, 0.0, 8.8, 1_068.8, 0.0),
    "c full": PaperValues(7.0, 10.8, 153.8, 2.2, 0.0, 3.0, 197.8, 0.0),
    "c cumulative": PaperValues(solved=False, note="unsolved in 100,000 s"),
}
