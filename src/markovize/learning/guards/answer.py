"""One call of the learner of guards: features, whether any machine can explain the rewards, the search, the machine."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

import numpy as np

from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.features import FeatureFunction, FeatureTable, extract_features
from markovize.episodes.labelled_steps import Explain, LabelledSteps, check_no_objects, code_outcomes
from markovize.episodes.labelling import AUTO, Labelling, LabelOn, Labels, labelling_of
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.traces import Traces
from markovize.episodes.values import Value, has_objects, show
from markovize.errors import one_line
from markovize.learning.guards.assembly import assemble_guards
from markovize.learning.guards.candidate import Bound, Candidate
from markovize.learning.guards.memory import Proven, Remembered, digest
from markovize.learning.guards.noisy_judge import judge_of
from markovize.learning.guards.outliers import count_outliers, with_fewest_outliers
from markovize.learning.guards.polish import Room, centre_bounds, find_rooms, turn_rewards
from markovize.learning.guards.problem import GuardProblem, pose_guards
from markovize.learning.guards.search import GuardSearch
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import Contradiction, find_contradiction
from markovize.learning.result import LearnResult, Status
from markovize.learning.search import Progress

Before: TypeAlias = Literal["auto"] | bool
MANY_REWARD_GUARDS: Final = 8


@dataclass(frozen=True)
class GuardOptions:
    """What is asked for, by every call alike."""

    reward_on: LabelOn = AUTO
    function: FeatureFunction | None = None
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    before: Before = AUTO
    explain: Explain = "reward"
    acyclic: bool = False
    allowance: Allowance = EXACT

    @property
    def reward_labels(self) -> Labelling | None:
        """What rewards are selected by; None: reward guards, to be found."""
        return None if self.reward_on in (AUTO, GUARDS) else labelling_of(self.reward_on)


@dataclass(frozen=True)
class GuardCall:
    """What one call is given."""

    traces: Traces
    limits: Limits
    effort: int | None = None
    on_progress: Callable[[Progress], None] | None = None
    remembered: Remembered = field(default_factory=Remembered)
    first: Candidate | None = None  # a machine to begin with, over the same features


def answer_guards(options: GuardOptions, call: GuardCall, blank: LearnResult) -> tuple[LearnResult, Remembered]:
    """The result of a call, and what to remember of it. ``blank``: nothing is known yet."""
    rewards = options.reward_labels
    blank = replace(blank, trigger_on=GUARDS, reward_on=GUARDS if rewards is None else rewards.kind, engine=GUARDS)
    blank = replace(blank, objective="triggers", guard_bounds=(0, 0))
    try:
        posed, remarks = _pose(options, call)
    except Stop:
        return blank, call.remembered
    blank = replace(blank, remarks=remarks)
    if posed.contradiction is not None:
        return replace(blank, status="unrealisable", contradiction=posed.contradiction), call.remembered
    search = GuardSearch(
        posed.problem,
        call.limits,
        acyclic=options.acyclic,
        effort=call.effort,
        exemplars=call.remembered.recall(call.traces.offsets),
        proven=call.remembered.proven_of(posed.problem),
        on_progress=call.on_progress,
        first=call.first,
    )
    search.run()
    found = replace(blank, exemplars=len(search.exemplars), guard_bounds=(search.lower, search.literals_lower))
    found = replace(found, remarks=(*remarks, *_limits_of_guards(search, call.traces)))
    if search.best is not None:
        found = _with_machine(found, options, call, posed.steps, search)
    return found, _remember(call, posed.problem, search)


def _remember(call: GuardCall, problem: GuardProblem, search: GuardSearch) -> Remembered:
    exemplars = tuple(call.traces.locate(step) for step in search.exemplars)
    if not search.is_proven or search.size is None:
        return Remembered(exemplars, search.proven)
    episodes = len(problem.offsets) - 1
    return Remembered(exemplars, Proven(search.size, search.refutations, episodes, digest(problem, episodes)))


@dataclass(frozen=True)
class _Posed:
    """The steps, what must be explained, and why that cannot be, if so."""

    steps: LabelledSteps
    problem: GuardProblem
    contradiction: Contradiction | None


def _pose(options: GuardOptions, call: GuardCall) -> tuple[_Posed, tuple[str, ...]]:
    """With features of s only where those of s' and of the action do not explain the rewards, unless the user says."""
    posed = _pose_with(options, call, before=options.before is True)
    remarks = tuple(map(_tell_mixed, posed.problem.table.mixed))
    if posed.contradiction is None or options.before != AUTO:
        return posed, remarks
    more = _pose_with(options, call, before=True)
    if more.contradiction is not None:
        return more, remarks
    added = "features of the state before the step were added: those after it do not explain the rewards"
    return more, (*remarks, added)


def _tell_mixed(found: tuple[str, Value, Value]) -> str:
    """Of a feature with numbers and other values, that its numbers are not compared."""
    name, number, other = found
    shown = one_line(name, 60)
    return (
        f"the feature {shown} has numbers, such as {one_line(show(number), 30)}, and other values, such as "
        f"{one_line(show(other), 30)}: guards only ask whether it equals one of them (--categorical {shown} says that "
        "this is meant)"
    )


def _pose_with(options: GuardOptions, call: GuardCall, *, before: bool) -> _Posed:
    traces, rewards = call.traces, options.reward_labels
    call.limits.check()
    table = read_features(traces, options, before=before)
    call.limits.check()
    steps = label_for_guards(traces, options)
    problem = pose_guards(steps, table, finds_reward_guards=rewards is None, allowance=options.allowance)
    call.limits.check()
    found = find_contradiction(steps, problem.first_alike(), traces, options.allowance)
    if found is not None:
        found = replace(found, advice=_advise(found, table, traces))
    return _Posed(steps, problem, found)


def _advise(found: Contradiction, table: FeatureTable, traces: Traces) -> str:
    """What may help where no machine over these features explains the rewards."""
    names = table.places or table.constant
    what = "The features are" if table.places else "No feature ever changes:"
    listed, many = one_line(", ".join(names) or "there is none", 200), found.contradicting_episodes
    return (
        f"{what} {listed}; a function may add others (features=, --features module:function). If none can tell them "
        f"apart, rewards are noisy: {many} of {traces.recorded[0]} episodes contradict{'s' if many == 1 else ''} "
        "others with the same history."
    )


def read_features(traces: Traces, options: GuardOptions, *, before: bool) -> FeatureTable:
    """The features that guards may speak of."""
    return extract_features(
        traces,
        function=options.function,
        numeric=options.numeric,
        categorical=options.categorical,
        before=before,
    )


def label_for_guards(traces: Traces, options: GuardOptions) -> LabelledSteps:
    """The steps' outcomes and, if rewards are not to be selected by guards, their reward labels."""
    rewards = options.reward_labels
    if rewards is not None:
        check_no_objects(traces, rewards, "reward_on")
    nothing = Labels(GUARDS, np.zeros(traces.steps, np.int32), [()])
    labels = nothing if rewards is None else rewards.label_steps(traces)
    codes, outcomes = code_outcomes(traces, options.explain)
    return LabelledSteps(traces.offsets, nothing, labels, codes, outcomes)


def _limits_of_guards(search: GuardSearch, traces: Traces) -> tuple[str, ...]:
    """Where no machine with few guards explains the rewards: what may be the reason."""
    most = search.lower if search.best is None else len(search.best.reward_boxes)
    if not (most > MANY_REWARD_GUARDS and search.problem.finds_reward_guards):
        return ()
    objects = any(map(has_objects, traces.observation_values[:1]))  # which are no labels
    kinds = "module:function" if objects else "transition or module:function"
    return (
        f"more than {MANY_REWARD_GUARDS} guards are needed: rewards that are a function of the state's numbers need no "
        f"guards but labels, reward_on= (--reward-on) {kinds}",
    )


def _with_machine(
    found: LearnResult, options: GuardOptions, call: GuardCall, steps: LabelledSteps, search: GuardSearch
) -> LearnResult:
    assert search.best is not None
    judge, best = search.judge, search.best
    if options.allowance.outliers:
        best = with_fewest_outliers(search, call.limits, acyclic=options.acyclic)
        judge = judge_of(search.problem.with_outliers(count_outliers(best, search.problem)))  # no more are taken
    best, moment = turn_rewards(best, judge), call.limits.a_moment_more()
    rooms: dict[tuple[int, Bound], Room] = {}
    with contextlib.suppress(Stop):
        best = centre_bounds(best, judge, moment)
        rooms = find_rooms(best, judge, moment)
    machine, ends = assemble_guards(call.traces, steps, best, judge, rooms, options.function)
    status: Status = "optimal" if search.is_proven else "feasible"
    size = best.size
    bounds = (size.states, size.triggers) if search.is_proven else (1, 0)
    proof = _proof(search) if search.is_proven else ""
    return replace(found, status=status, machine=machine, termination_conflicts=ends, bounds=bounds, proof=proof)


def _proof(search: GuardSearch) -> str:
    """In one line, what excludes anything smaller."""
    size, proofs = search.size, search.refutations
    if size is None or not size.guards:
        return "the reward is the same at every step: nothing is needed to tell it"
    one = proofs == 1
    told = f"{proofs} infeasibility proof{'' if one else 's'} on {len(search.exemplars)} exemplars"
    fewer = f" and, with {size.guards}, fewer than {size.literals} literals" if size.literals > 1 else ""
    return f"{told} {'excludes' if one else 'exclude'} fewer guards{fewer}, over these features"
