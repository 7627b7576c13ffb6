"""``check_reward``: what does this reward depend on?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from markovize.auditing import advice
from markovize.auditing.factored import turn_to_guards
from markovize.auditing.inside import join_inside, look_inside
from markovize.auditing.logbook import Logbook
from markovize.auditing.observed import DENSE_SHARE, LEAST_SHARE, Budget, Evidence, judge, report_finding, suspects
from markovize.auditing.replays import Replays
from markovize.auditing.report import RewardReport, words_of
from markovize.auditing.restored import audit_by_restoring, cannot_restore
from markovize.auditing.sources import EnvSource, is_continuous
from markovize.auditing.walks import Walker
from markovize.episodes.traces import Traces, as_traces
from markovize.errors import UnsupportedError
from markovize.gym.make import make
from markovize.io import EPISODES, read_episodes

if TYPE_CHECKING:
    from markovize.io import TableColumns

SECONDS: Final = 20.0
STEPS: Final = 40_000
FIRST_LOOK: Final = 2_000  # steps before the first look at what was seen
LEAST_RESTORING: Final = 5.0  # seconds, where walking has used up the time
DOUBTS: Final = 500  # episodes that try to refute a reward of time that follows no law
LEAST_STEPS: Final = 8_000  # before a conflict settles the matter: the machine needs some data


@dataclass(frozen=True)
class AuditProgress:
    """Where an audit is."""

    phase: str
    steps: int
    seconds: float

    def sentence(self) -> str:
        """One line: what is being done, the steps so far, the time.

        >>> AuditProgress("walking", 12_000, 3.21).sentence()
        'walking · 12,000 steps · 3.2 s'
        """
        return f"{self.phase} · {self.steps:,} steps · {self.seconds:.1f} s"


Tell: TypeAlias = Callable[[AuditProgress], None]


def check_reward(
    source: Any,
    *,
    seed: int = 0,
    seconds: float = SECONDS,
    steps: int = STEPS,
    on_progress: Tell | None = None,
) -> RewardReport:
    """What the reward depends on: of an environment, of a function that makes one, or of episodes.

    Args:
        source: a Gymnasium environment, its id, or a function without arguments that makes one; or episodes, as
            :func:`markovize.check` takes them, a file of them, or ``minari:NAME``. An environment is played in;
            where it can be copied, or made, what it does is compared with what a new one does.
        seed: of the walks; equal seeds give equal walks.
        seconds, steps: for walking; playing again what was found, and learning a machine, takes some more.
        on_progress: called now and then.

    >>> import gymnasium
    >>> report = check_reward(gymnasium.make("FrozenLake-v1"), steps=2_000)
    >>> report.verdict, report.signature
    ('markov', ('next_state',))
    """
    import gymnasium

    start = time.monotonic()
    budget = Budget(steps, start + seconds)
    if isinstance(source, (str, Path)):
        try:
            source = find_source(str(source))
        except UnsupportedError as error:
            return not_testable(str(error))
    if isinstance(source, (gymnasium.Env, gymnasium.vector.VectorEnv)):
        source = EnvSource.of(source)
    elif not isinstance(source, EnvSource) and callable(source):
        source = EnvSource.made_by(source)
    if isinstance(source, EnvSource):
        report = _audit_env(source, seed, budget, on_progress or (lambda _: None), start)
        if report.verdict == "not-testable" and (inside := look_inside(source)) is not None:
            limits = Budget(steps, max(budget.deadline, time.monotonic() + LEAST_RESTORING))
            found = _audit_env(inside, seed, limits, on_progress or (lambda _: None), start)
            report = join_inside(source, report, found, seed)
    else:
        report = audit_episodes(as_traces(source), budget)
    return replace(report, seconds=time.monotonic() - start)


def find_source(
    text: str,
    *,
    imports: Sequence[str] = (),
    env_args: Mapping[str, Any] | None = None,
    columns: TableColumns | None = None,
    reward_decimals: int | None = None,
) -> EnvSource | Traces:
    """What a name stands for: a file of episodes, a Minari data set, else the id of an environment."""
    if EPISODES.recognise(text) is not None or Path(text).exists():
        return read_episodes(text, columns=columns, reward_decimals=reward_decimals)
    arguments = dict(env_args or {})
    make(text, arguments, imports).close()  # says what is wrong, in one line
    return EnvSource.made_by(partial(make, text, arguments, ()), text)


def not_testable(reason: str) -> RewardReport:
    """The report on what cannot even be read."""
    return RewardReport("not-testable", (), "observation", 0, 0, advice.ENVIRONMENT, reason=reason)


def audit_episodes(traces: Traces, budget: Budget) -> RewardReport:
    """The audit of episodes of a file."""
    logbook = Logbook()
    for episode in traces:
        if episode.steps:
            logbook.add(episode)
    report = turn_to_guards(judge(logbook, Evidence.of(logbook), None, budget, lambda _: None), traces)
    return replace(report, episodes=len(logbook.episodes))


def _audit_env(source: EnvSource, seed: int, budget: Budget, tell: Tell, start: float) -> RewardReport:
    logbook = Logbook()
    walker = Walker(source.env, logbook, seed)

    def say(phase: str) -> None:
        tell(AuditProgress(phase, logbook.steps, time.monotonic() - start))

    evidence = _walk(walker, budget, say)
    if evidence.of_time and evidence.clock is None:
        evidence = _doubt_time(walker, budget, say)
    replays = Replays(source, logbook, patience=(budget.deadline - start) / 3)
    if evidence.testable and not (is_continuous(source.env) and evidence.sparse):
        report = judge(logbook, evidence, replays, budget, say)
    else:
        report = _audit_continuous(source, seed, evidence, replays, budget, say)
    return replace(report, episodes=len(logbook.episodes), source=source.name)


def _audit_continuous(
    source: EnvSource, seed: int, evidence: Evidence, replays: Replays, budget: Budget, say: Callable[[str], None]
) -> RewardReport:
    """Leaks by equal seeds, everything else by restored states; what came back by itself has the last word."""
    logbook = replays.logbook
    leak = replays.find_leak(suspects(evidence, logbook))
    if leak is not None:
        return report_finding(leak, evidence)
    limits = Budget(budget.steps, max(budget.deadline, time.monotonic() + LEAST_RESTORING))
    restored = audit_by_restoring(source, logbook, seed, limits, say)
    restored = replace(restored, steps=restored.steps + logbook.steps)
    if restored.verdict != "not-testable" and (evidence.base is not None or not restored.markov):
        return restored
    observed = judge(logbook, evidence, replays, budget, say)
    if restored.markov and observed.verdict == "not-testable":
        return restored
    if restored.markov:
        note = f"Given the state, {words_of(restored.signature)} determines the reward: observations hide something."
        return replace(observed, notes=(*observed.notes, note, *restored.notes))
    if observed.verdict == "not-testable":
        return cannot_restore(observed, restored)
    share = f"{evidence.comparable / evidence.steps:.0%}"
    note = f"Only {share} of the steps came back, and nothing is known of the others: {restored.reason}."
    return replace(observed, notes=(*observed.notes, note))


def _walk(walker: Walker, budget: Budget, say: Callable[[str], None]) -> Evidence:
    """Walks until the matter is settled, or the budget is used up."""
    logbook, look, evidence = walker.logbook, FIRST_LOOK, None
    half = time.monotonic() + budget.left() / 2
    while logbook.steps < budget.steps and budget.left() > 0:
        walker.walk()
        say("walking")
        if logbook.steps >= look:
            look *= 2
            evidence = Evidence.of(logbook)
            hopeless = LEAST_SHARE if not is_continuous(walker.env) else DENSE_SHARE
            if evidence.comparable < hopeless * evidence.steps and evidence.steps >= 2 * FIRST_LOOK:
                patient = evidence.base == () and evidence.steps < budget.steps / 2 and time.monotonic() < half
                if not patient:  # a constant reward may be one that was not earned yet
                    return evidence  # observations do not come back: nothing to gain here
            if evidence.settled and evidence.steps >= LEAST_STEPS:
                return evidence
    if evidence is None or evidence.steps < logbook.steps:
        evidence = Evidence.of(logbook)
    return evidence


def _doubt_time(walker: Walker, budget: Budget, say: Callable[[str], None]) -> Evidence:
    """Other histories of equal length, before the step number is blamed: those of the walks may have met no other."""
    end = max(budget.deadline, time.monotonic() + LEAST_RESTORING)
    for _ in range(DOUBTS):
        walker.walk_otherwise()
        say("trying other histories of equal length")
        if time.monotonic() > end:
            break
    return Evidence.of(walker.logbook)
