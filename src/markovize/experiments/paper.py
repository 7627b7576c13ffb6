"""What the paper reports: Hyde & Santos, *Detecting Hidden Triggers*, ECAI 2024, means over 10 trials.

Experiment 1 is in its section 5.1 (|U|, |T_o| and solve times as rounded in the text; more digits and the deviations of
|U| and |T_o| from the curves published with its code), experiment 3 in section 5.3 and its table 1. All solved tasks
ended optimal, so the final returns are the optimal ones of its worlds. No deviation is known of solve times in
experiment 1. Times are of Gurobi on 32 cores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class PaperValues:
    """End values of one task, means over trials; None where nothing was reported.

    ``solved`` is False where the paper says that no solution was found; ``note`` says how that ended.

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


EXPERIMENT_1: Final[dict[str, PaperValues]] = {
    "b": PaperValues(2.0, 4.2, 0.1, 1.0, states_sd=0.0, exemplars_sd=1.7),
    "c": PaperValues(2.0, 7.4, 0.6, 1.0, states_sd=0.0, exemplars_sd=3.5),
    "d": PaperValues(3.2, 36.8, 4_200, 1.0, states_sd=0.7, exemplars_sd=29.0),
    "e": PaperValues(4.0, 44.2, 12_000, 1.0, states_sd=0.0, exemplars_sd=24.4),
}

EXPERIMENT_3: Final[dict[str, PaperValues]] = {
    "b full": PaperValues(5.0, 6.2, 4.4, 3.2, 0.0, 1.1, 3.3, 0.0),
    "b cumulative": PaperValues(5.0, 22.4, 1_102.9, 1.6, 0.0, 8.8, 1_068.8, 0.0),
    "c full": PaperValues(7.0, 10.8, 153.8, 2.2, 0.0, 3.0, 197.8, 0.0),
    "c cumulative": PaperValues(solved=False, note="unsolved in 100,000 s"),
}
