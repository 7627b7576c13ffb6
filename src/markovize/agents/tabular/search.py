"""The machines of a run: each learned from all episodes kept so far, under the labels that explain them best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.agents.tabular.label_choice import LabelChoice, LabelPair
from markovize.agents.tabular.outliers import Settled, settle_by_votes
from markovize.agents.tabular.part_learner import PartLearner
from markovize.agents.tabular.repeats import (
    MANY,
    ROUND,
    SAME,
    fitting_tolerance,
    is_examined,
    spread_of_repeats,
    worth_repeating,
)
from markovize.agents.tabular.results import Solve
from markovize.agents.tabular.settings import Settings
from markovize.agents.tabular.stopping import NEVER, Stop
from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.labelling import AUTO, LabelOn, labelling_of, loaded
from markovize.episodes.traces import Ints, Longs, Traces
from markovize.errors import InputError, UnrealisableError
from markovize.learning.comparison import SMALL
from markovize.learning.learner import Auto, Learner, LearnOptions
from markovize.learning.parts import parts_of
from markovize.learning.prefix_tree import Contradiction
from markovize.learning.random_rewards.entry import learn_random
from markovize.learning.result import LearnResult
from markovize.learning.search import Progress
from markovize.machine.machine import RewardMachine

LEAST_SECONDS = 0.01  # of a search that must end at once
PROOF = 80  # times the effort of a question, where the last machine is to be proven: seconds, at worst a minute
MORE_EFFORT = 10  # times the effort, where it was not enough for any machine
NOISE = "Where that is noise, allow for it: --tolerance auto, --outliers auto or --reward random."


class MachineSearch:
    """Keeps the episodes that a machine must explain, and learns one from them whenever one more is in conflict."""

    def __init__(self, settings: Settings, codec: StepCodec, asked: tuple[LabelOn, LabelOn] | None = None) -> None:
        self.settings, self.codec = settings, codec
        self._asked = asked or (loaded(settings.trigger_on), loaded(settings.reward_on))
        codec.relabel(*map(_coarsest, self._asked))
        self.kept = KeptEpisodes()
        self.solves: list[Solve] = []
        self.pending = False  # whether an episode in conflict waits for a machine that explains it
        self.status, self.exemplars = "no conflict", 0
        tolerance, outliers = (0 if own == AUTO else own for own in (settings.tolerance, settings.outliers))
        self.allowance = Allowance(float(tolerance), int(outliers))
        self._choice = LabelChoice(self._asked, settings.explain, noisy=settings.tolerance != 0)
        self._learners: dict[LabelPair, PartLearner] = {}
        self._effort = settings.effort
        self._stop = NEVER
        self._tell: Callable[[str], None] | None = None
        self._last: RewardMachine | None = None  # of the last solve
        self._proof_seconds = 0.0

    @property
    def seconds(self) -> float:
        """Spent on solving."""
        return sum(solve.seconds for solve in self.solves) + self._proof_seconds

    def looks_for_noise(self, rewards: Sequence[float] = ()) -> bool:
        """Whether noise is to be found, and the next conflict, between these rewards, may tell more of it."""
        return self.settings.outliers == AUTO or self.looks_for_tolerance(rewards)

    def looks_for_tolerance(self, rewards: Sequence[float] = ()) -> bool:
        """Whether the same is so of the tolerance, whatever of outliers."""
        if self.settings.tolerance != AUTO:
            return False
        return worth_repeating(len(self.solves) + 1) or not is_examined(self.kept, rewards, self._names())

    def knows_levels(self, rewards: Sequence[float]) -> bool:
        """Whether it is known well how noisy the levels of these rewards are, or that is not asked."""
        return self.settings.tolerance != AUTO or is_examined(self.kept, rewards, self._names(), least=MANY)

    def has_enough(self, paid: Sequence[float]) -> bool:
        """Whether rewards after one history are all the same, or many and, as others are, within what is expected."""
        n, half = len(paid), (max(paid) - min(paid)) / 2
        if not half:
            return n > SAME
        return n % ROUND == 0 and half * (n + 1) / (n - 1) <= self.expected_tolerance()

    def put_right(self, kept: KeptEpisodes | None = None, *, decide: bool = False) -> Settled:
        """The episodes kept, without the outliers that equal histories tell, where these are to be found.

        Where votes are too few, nothing is said, unless it is to ``decide``.
        """
        kept = self.kept if kept is None else kept
        if self.settings.outliers != AUTO:
            return Settled(kept, ())
        return settle_by_votes(kept, self.allowance.width, decide=decide or self.settings.tolerance == AUTO)

    def traces(self) -> Traces:
        """The episodes kept so far."""
        return self.kept.traces(self.codec)

    def learn(self, stop: Stop = NEVER, tell: Callable[[str], None] | None = None) -> LearnResult:
        """A machine that explains all episodes kept; the best so far where Ctrl-C or the clock has ended the search.

        ``tell`` is told what is being searched for, again and again.
        """
        self._stop, self._tell = stop, tell
        self._allow(self.expected_tolerance())
        result = self._solve_settled(self.kept, len(self.solves) + 1)
        if result.contradiction is not None:
            raise UnrealisableError(self._with_hint(result.contradiction))
        return result

    def _with_hint(self, contradiction: Contradiction) -> Contradiction:
        """What to allow for, where nothing is and no labels help."""
        if not self.allowance.exact or contradiction.finer_labels_help:
            return contradiction
        told = f"{contradiction.advice} {NOISE}".strip()
        return replace(contradiction, advice=told)

    def prove(
        self, machine: RewardMachine, stop: Stop = NEVER, tell: Callable[[str], None] | None = None
    ) -> LearnResult | None:
        """Whether this machine, which explains all episodes kept, is the smallest; None where that is not to be asked.

        It is where a search has left questions open and the machine is small: of a large one that is hardly ever known.
        """
        is_open = self.status == "feasible" and self._effort is not None and len(machine.triggers) <= SMALL
        if not is_open or self.pending or not self.allowance.exact:
            return None
        self._stop, self._tell = stop, tell
        labels, kept = self._choice.labels, self.kept
        return self._learners[labels].prove(kept, self._parts(labels, self.traces()), machine, self._ask_for_proof)

    def note_proof(self, result: LearnResult) -> None:
        """The run keeps its machine, which is proven now or is not."""
        self._proof_seconds += result.seconds
        if result.status == "optimal":
            self.status, self.exemplars = result.status, result.exemplars

    def _ask_for_proof(self, learner: Learner, kept: KeptEpisodes, machine: RewardMachine) -> LearnResult:
        effort = PROOF * (self._effort or 1)
        return self._ask(effort, learner, kept, None, prove=machine)

    def expected_tolerance(self) -> float:
        """The tolerance of the next machine: as it is or, where it is to be found, as the episodes kept say."""
        if self.settings.tolerance != AUTO:
            return self.allowance.tolerance
        spread = spread_of_repeats(self.kept, self._names(), outliers=self.settings.outliers != 0)
        return fitting_tolerance(self.allowance.tolerance, spread)

    def learn_without_conflict(self) -> RewardMachine:
        """The machine of a run that never met a conflict: one state, and the rewards of the episodes kept."""
        learner = self._new_learner(*self._asked)
        return learner.learn(self.put_right().kept.traces(self.codec), effort=self.settings.effort).unwrap()

    def weigh(self, alpha: float, stop: Stop = NEVER) -> LearnResult:
        """Of random rewards: a machine of the episodes kept, as large as is significant."""
        options: LearnOptions = {"trigger_on": self._asked[0], "reward_on": self._asked[1]}
        left = stop.remaining
        result = learn_random(
            self.traces(),
            alpha=alpha,
            time_limit=None if left is None else max(left, LEAST_SECONDS),
            options=options | {"acyclic": self.settings.acyclic},
        )
        is_cut = result.chance is not None and result.chance.stopped
        return replace(result, interrupted=result.interrupted or is_cut or stop.requested)

    def adopt(self, result: LearnResult, episode: int) -> bool:
        """The run goes on with this machine; whether steps are labelled in another way from now on."""
        machine = result.unwrap()
        self.pending, self.status = False, result.status
        self.exemplars = len(self.kept) if self.settings.mode == "paper" else result.exemplars
        size = machine.states, len(machine.triggers), self.exemplars, len(self.kept)
        labels = result.trigger_on, result.reward_on
        self.solves.append(Solve(episode, *size, result.seconds, result.status, *labels, self.allowance.tolerance))
        trigger_on, reward_on = self._asked
        wanted = _resolved(trigger_on, result.trigger_on), _resolved(reward_on, result.reward_on)
        if wanted == self.codec.labelled_by:
            return False
        self.codec.relabel(*wanted)
        return True

    def repeat(self, machine: RewardMachine) -> Iterator[int]:
        """Brings the learner to where it was after all solves, which must have led to this machine.

        Yields the number of each solve before it is done.
        """
        result = None
        if self.settings.reward == "random":  # each look is a search of its own
            return
        for number, solve in enumerate(self.solves, 1):
            yield number
            self._allow(solve.tolerance)
            result = self._solve_settled(self.kept.first(solve.kept), number)
            if result.interrupted:
                raise KeyboardInterrupt
        if result is not None and result.machine != machine:
            raise InputError("the solver does not repeat what it found in this run (another version?); start a new run")

    def _names(self) -> Longs | None:
        """What steps are called by a user's functions: who gives these says that nothing else matters."""
        triggers, rewards = self.codec.triggers, self.codec.rewards
        if not (callable(triggers.on) and callable(rewards.on)):
            return None
        return np.array(triggers.ids, np.int64) * (1 + max(rewards.ids, default=0)) + np.array(rewards.ids, np.int64)

    def _allow(self, tolerance: float) -> None:
        """From now on with this tolerance; what learners have derived under another one is of no use."""
        if tolerance != self.allowance.tolerance:
            self.allowance = replace(self.allowance, tolerance=tolerance)
            self._learners.clear()

    def _solve_settled(self, kept: KeptEpisodes, number: int) -> LearnResult:
        """The machine of these episodes without their outliers.

        Two equal histories that were paid differently are no reason to give up: one of them is an outlier, and where
        no labels explain both, it is decided which.
        """
        labels = self._choice.labels
        result = self._solve(self.put_right(kept).kept, number)
        if result.contradiction is None or self.settings.outliers != AUTO:
            return result
        self._choice.labels = labels
        return self._solve(self.put_right(kept, decide=True).kept, number)

    def _solve(self, kept: KeptEpisodes, number: int) -> LearnResult:
        """The machine of the first, second, … solve; draws of its own, so that it can be repeated.

        Labels that these episodes refute give way to the next finer ones.
        """
        rng = np.random.default_rng((self.settings.seed, number))
        traces, choice = kept.traces(self.codec), self._choice

        def solve(labels: LabelPair, times: float = 1) -> LearnResult:
            return self._solve_under(labels, kept, traces, rng, times)

        result = solve(choice.labels)
        while result.contradiction is not None and choice.refine():
            result = solve(choice.labels)
        if result.contradiction is not None:  # no labels explain the episodes: with advice
            return self._new_learner(*self._asked).learn(traces)
        if not result.interrupted:
            result = choice.compare(result, traces, self.allowance.width, solve, self._forget)
        while result.machine is None and not result.interrupted:  # nothing within the budget of a last resort
            self._effort = MORE_EFFORT * (self._effort or 1)
            result = solve(choice.labels)
        if not result.interrupted:
            self._last = result.machine
        return result

    def _solve_under(
        self,
        labels: LabelPair,
        kept: KeptEpisodes,
        traces: Traces,
        rng: np.random.Generator,
        times: float,
    ) -> LearnResult:
        """A machine under these labels, with so many ``times`` the effort."""
        if labels not in self._learners:
            self._learners[labels] = PartLearner(lambda: self._new_learner(*labels))
        effort = None if self._effort is None else max(1, int(times * self._effort))
        return self._learners[labels].learn(kept, self._parts(labels, traces), partial(self._ask, effort), rng)

    def _forget(self, labels: LabelPair) -> None:
        """The learner of these labels begins anew."""
        del self._learners[labels]

    def _parts(self, labels: LabelPair, traces: Traces) -> list[Ints]:
        """The episodes that can be learned apart."""
        if self.settings.objective != "triggers" or self.settings.outliers != 0:
            return []
        return parts_of(label_traces(traces, *labels, self.settings.explain), self.allowance.width)

    def _ask(
        self,
        effort: int | None,
        learner: Learner,
        kept: KeptEpisodes,
        rng: np.random.Generator | None,
        prove: RewardMachine | None = None,
    ) -> LearnResult:
        left, tell = self._stop.remaining, self._tell
        result = learner.learn(
            kept.traces(self.codec),
            effort=effort,
            rng=rng,
            first=self._last if self.allowance.tolerance else None,
            prove=prove,
            time_limit=None if left is None else max(left, LEAST_SECONDS),
            on_progress=None if tell is None else lambda progress: tell(_words(learner, progress)),
        )
        return replace(result, interrupted=result.interrupted or self._stop.requested)

    def _new_learner(self, trigger_on: Auto, reward_on: Auto) -> Learner:
        cfg = self.settings
        return Learner(
            objective=cfg.objective,
            trigger_on=trigger_on,
            reward_on=reward_on,
            explain=cfg.explain,
            acyclic=cfg.acyclic,
            engine=cfg.engine,
            tolerance=self.allowance.tolerance,
            outliers=self.allowance.outliers,
        )


def _words(learner: Learner, progress: Progress) -> str:
    """What a search is doing, in a few words."""
    trigger, reward = (labelling_of(on) for on in learner.options.labels[0])
    size = f" {progress.states} states" if progress.phase == "searching" else ""
    best = "" if progress.best is None else f", best {progress.best[0]} states {progress.best[1]} triggers"
    return f"learning a machine ({trigger.kind}/{reward.kind}): {progress.phase}{size}{best}"


def _coarsest(on: Auto) -> LabelOn:
    return "state" if on == "auto" else on


def _resolved(asked: Auto, found: str) -> LabelOn:
    return asked if callable(asked) else found
