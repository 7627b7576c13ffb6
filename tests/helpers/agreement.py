"""Do all engines find the same optimum? Random tiny instances, every setting, against the exhaustive oracle.

``python tests/helpers/agreement.py 5000`` runs as many as wanted and stops at the first disagreement, which it prints
as JSONL.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from instances import KINDS, Kinds, random_steps

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.learning.engines.exhaustive import exhaustive_optimum
from markovize.learning.entry import learn
from markovize.machine.replay import replay

EVERY: tuple[Kinds, ...] = (*KINDS, ("transition", "state"))  # the last: u' is not fixed by u and the reward label


def instance(seed: int) -> tuple[Traces, Kinds]:
    """The instance of a seed: its size and its labels vary with it."""
    rng = np.random.default_rng(seed)
    kinds = EVERY[seed % len(EVERY)]
    traces = random_steps(
        rng,
        kinds=kinds,
        episodes=int(rng.integers(2, 6)),
        length=int(rng.integers(2, 6)),
        rewards=int(rng.integers(2, 4)),
        acyclic=bool(rng.integers(0, 2)),
    )
    return traces, kinds


def disagreement(traces: Traces, kinds: Kinds) -> str | None:
    """What differs between exhaustive, ILP and the default engine in any of the four settings; None if nothing."""
    trigger_on, reward_on = kinds
    steps = label_traces(traces, trigger_on, reward_on)
    for objective in ("triggers", "states"):
        for acyclic in (True, False):
            truth = exhaustive_optimum(steps, objective, acyclic)
            for engine in ("sat", "ilp"):
                result = learn(
                    traces,
                    objective=objective,
                    acyclic=acyclic,
                    engine=engine,
                    trigger_on=trigger_on,
                    reward_on=reward_on,
                )
                found = (result.states, result.triggers)
                setting = f"{engine} {objective} {'acyclic' if acyclic else 'cyclic'} {trigger_on}/{reward_on}"
                if result.status != "optimal" or found != truth:
                    return f"{setting}: {result.status} {found}, exhaustive {truth}"
                if replay(result.unwrap(), traces).mismatches or (acyclic and not result.unwrap().acyclic):
                    return f"{setting}: the machine does not replay or is cyclic"
    return None


def main(count: int, first: int = 0) -> int:
    start = time.monotonic()
    for seed in range(first, first + count):
        traces, kinds = instance(seed)
        problem = disagreement(traces, kinds)
        if problem is not None:
            print(f"seed {seed}: {problem}")
            for episode in traces:
                print(json.dumps(episode.to_json()))
            return 1
        if (seed - first + 1) % 500 == 0:
            print(f"{seed - first + 1} instances agree, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{count} instances, 4 settings each: exhaustive, ILP and the default engine agree")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
