"""All histories at once: merged where they continue alike, and asked for machines with at most K states."""

from __future__ import annotations

import itertools
from unittest import mock

import numpy as np
import pytest
from agreement import disagreement, instance
from instances import Kinds, random_steps

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.learning.engines import Rules, Verdict
from markovize.learning.engines.exemplar_tree import ExemplarTree
from markovize.learning.engines.exhaustive import exhaustive_optimum
from markovize.learning.engines.history_graph import HistoryGraph, merge_histories
from markovize.learning.engines.sat import Formula, SatEngine
from markovize.learning.entry import learn
from markovize.learning.floors import Objective
from markovize.learning.judge import Judge
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import PrefixTree, build_tree
from markovize.learning.search import Progress

STATE: Kinds = ("state", "state")


def words(*labelled: tuple[str, int]) -> Traces:
    """Each word is walked from ^ to $, and its label is paid at the end."""
    return Traces.of([(["^", *w, "$"], [0] * (len(w) + 1), [0] * len(w) + [paid]) for w, paid in labelled])


def random_words(seed: int, most: int = 30) -> Traces:
    """Words over a and b, labelled by the number of a's modulo 3."""
    rng = np.random.default_rng(seed)
    drawn = {"".join(rng.choice(["a", "b"], size=rng.integers(0, 6))) for _ in range(most)}
    return words(*((w, int(w.count("a") % 3 == 0)) for w in sorted(drawn)))


def tree_of(traces: Traces, kinds: Kinds = STATE) -> PrefixTree:
    return build_tree(label_traces(traces, *kinds))[0]


def graph_of(tree: PrefixTree) -> HistoryGraph:
    exemplars = ExemplarTree()
    exemplars.extend(tree, np.arange(len(tree), dtype=np.int32))
    return merge_histories(exemplars)


def follow(graph: HistoryGraph, labels: list[int]) -> int | None:
    node: int | None = 0
    for x in labels:
        node = None if node is None else graph.following[node].get(x)
    return node


def test_histories_that_continue_alike_are_one_node() -> None:
    # after aa and ab: a word that is not accepted; after ba and bb: one that is
    graph = graph_of(tree_of(words(("aa", 0), ("ab", 0), ("ba", 1), ("bb", 1))))
    assert len(graph) == 5 and len(graph.labels) == 2, "the root, a, b, and one node for each label of words; $ is none"
    assert graph.marks[0] == () and sorted(map(len, graph.marks)) == [0, 0, 0, 1, 1]
    assert graph.clique == 2


@pytest.mark.parametrize("seed", range(20))
def test_all_marks_of_the_tree_are_in_the_graph_and_no_others(seed: int) -> None:
    tree = tree_of(random_words(seed))
    if not len(tree.mark_node):
        return  # nothing conflicts
    graph = graph_of(tree)
    marks = 0
    for node, label, outcome in zip(tree.mark_node, tree.mark_label, tree.mark_outcome, strict=True):
        before = follow(graph, [int(tree.label[v]) for v in tree.path(int(node))[:-1]])
        assert before is not None and (int(tree.reward_labels[label]), int(outcome)) in graph.marks[before]
        marks += 1
    ways = [1] + [0] * (len(graph) - 1)
    for node, after in enumerate(graph.following):
        for follower in after.values():
            assert follower > node
            ways[follower] += ways[node]
    assert sum(n * len(own) for n, own in zip(ways, graph.marks, strict=True)) == marks


@pytest.mark.parametrize("seed", range(20))
def test_apart_is_what_a_common_continuation_tells_apart(seed: int) -> None:
    graph = graph_of(tree_of(random_words(seed)))

    def told_apart(a: int, b: int) -> bool:
        own, other = dict(graph.marks[a]), dict(graph.marks[b])
        if any(own[y] != other[y] for y in own.keys() & other):
            return True
        after, others = graph.following[a], graph.following[b]
        return any(told_apart(after[x], others[x]) for x in after.keys() & others)

    pairs = {pair for pair in itertools.combinations(range(len(graph)), 2) if told_apart(*pair)}
    assert set(graph.apart) == pairs
    cliques = (
        c for c in itertools.combinations(range(len(graph)), graph.clique) if set(itertools.combinations(c, 2)) <= pairs
    )
    assert next(cliques, None) is not None


@pytest.mark.parametrize("seed", range(80))
def test_the_least_number_of_states_is_that_of_the_exhaustive_search(seed: int) -> None:
    traces, kinds = instance(seed) if seed % 4 else (random_words(seed, 8), STATE)
    tree = tree_of(traces, kinds)
    if not len(tree.mark_node):
        return  # nothing conflicts
    least, _ = exhaustive_optimum(label_traces(traces, *kinds), "states", False)
    session = SatEngine().open(Rules())
    session.extend(tree, np.arange(len(tree), dtype=np.int32))
    with mock.patch.object(Formula, "catch_up", side_effect=AssertionError("not all at once")):
        for states in range(1, least + 2):
            answer = session.decide(states, None, Limits())
            assert (answer.verdict is Verdict.FEASIBLE) == (states >= least)
            if answer.delta is not None:
                assert Judge(tree).explains(answer.delta)


def test_more_histories_make_it_ask_anew() -> None:
    session = SatEngine().open(Rules())
    few, many = tree_of(words(("", 0), ("a", 1))), tree_of(words(("", 0), ("a", 1), ("aa", 0), ("aaa", 0)))
    session.extend(few, np.arange(len(few), dtype=np.int32))
    assert session.decide(2, None, Limits()).verdict is Verdict.FEASIBLE
    session.extend(many, np.arange(len(many), dtype=np.int32))
    assert session.decide(2, None, Limits()).verdict is Verdict.INFEASIBLE
    assert session.decide(3, None, Limits()).verdict is Verdict.FEASIBLE


def test_a_tree_with_some_exemplars_or_without_cycles_is_not_asked_as_a_whole() -> None:
    tree = tree_of(random_steps(np.random.default_rng(4), episodes=5))
    with mock.patch.object(SatEngine().open(Rules()).__class__, "_decide_whole") as whole:
        for acyclic, nodes in ((True, len(tree)), (False, 2)):
            session = SatEngine().open(Rules(acyclic=acyclic))
            session.extend(tree, np.arange(nodes, dtype=np.int32))
            session.decide(2, None, Limits())
        assert not whole.called


@pytest.mark.slow
def test_searches_that_take_all_find_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markovize.learning.inquiry.FEW_NODES", 0)
    for seed in range(200, 240):
        assert disagreement(*instance(seed)) is None, f"seed {seed}"


def test_the_least_number_of_states_is_proven_before_triggers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markovize.learning.inquiry.FEW_NODES", 0)
    asked: list[int | None] = []

    def note(progress: Progress) -> None:
        if progress.phase == "searching" and progress.best is None:
            asked.append(progress.triggers)

    found = learn(random_words(1), objective="states", trigger_on="state", reward_on="state", on_progress=note)
    assert found.status == "optimal" and found.states == 3
    assert set(asked) <= {None}


class Enough(Exception):  # noqa: N818 - a signal, not an error
    """What there is to see was seen."""


@pytest.mark.parametrize("objective", ["states", "triggers"])
def test_there_is_a_good_machine_before_triggers_are_counted(
    objective: Objective, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An automaton of 8 states: conflicts are not repaired by few triggers, and their fewest take long to prove."""
    monkeypatch.setattr("markovize.learning.search.GLANCE", 0)  # but for a glance at few of them
    rng = np.random.default_rng(2)
    moves, accepts = rng.integers(8, size=(8, 2)), rng.integers(2, size=8)
    drawn = {"".join(rng.choice(["0", "1"], size=rng.integers(3, 10))) for _ in range(400)}
    labelled = []
    for word in sorted(drawn):
        u = 0
        for symbol in word:
            u = moves[u, int(symbol)]
        labelled.append((word, int(accepts[u])))
    seen: list[Progress] = []

    def note(progress: Progress) -> None:
        seen.append(progress)
        if progress.triggers is not None:
            raise Enough

    with pytest.raises(Enough):
        learn(words(*labelled), objective=objective, trigger_on="state", reward_on="state", on_progress=note)
    best = seen[-1].best
    assert best is not None and best[0] == seen[-1].lower[0] <= 8 and best[1] <= 2 * best[0]
