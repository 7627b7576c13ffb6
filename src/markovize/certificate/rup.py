"""A compiled checker of refutations, in the DRUP part of the DRAT format: every lemma must follow by unit propagation.

A proof is a list of lemmas, one a line, ``1 -2 0``, and of deletions, ``d 1 -2 0``. A lemma is *RUP* if assuming that
all its literals are false leads to a conflict by unit propagation; then it follows from the clauses that are there, and
joins them. The proof is right if in the end unit propagation alone finds a conflict. Every clause that is ever there
follows from the formula, so that a deletion may make a right proof fail, but never a wrong one pass; a deletion of what
is not there is ignored. Lemmas that are RAT and not RUP are refused: Glucose writes none.

Inside, a literal is 2·variable, and 2·variable + 1 for its negation. The first two literals of a clause are watched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import njit

REFUTED: Final = 1
OPEN: Final = 0
WRONG: Final = -1  # a lemma does not follow
SLICE: Final = 10_000_000  # watches that are looked at between two looks at the clock: a fraction of a second

Packed = npt.NDArray[np.int32]
Table = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def refutes(clauses: Sequence[Sequence[int]], variables: int, proof: bytes, deadline: float | None = None) -> bool:
    """Whether the proof shows that the clauses contradict each other; ``TimeoutError`` after the deadline (monotonic).

    >>> clauses = [(1, 2), (1, -2), (-1, 2), (-1, -2)]
    >>> refutes(clauses, 2, b"1 0\\n0\\n"), refutes(clauses, 2, b""), refutes(clauses[:3], 2, b"1 0\\n0\\n")
    (True, False, False)
    """
    lemmas, lemma_ends, deletes, is_well_formed = read_proof(np.frombuffer(proof, np.uint8), variables)
    if not is_well_formed:
        return False
    literals = np.array([2 * x if x > 0 else 1 - 2 * x for clause in clauses for x in clause], np.int32)
    ends = np.cumsum([len(clause) for clause in clauses], dtype=np.int64)
    start = np.concatenate([np.zeros(1, np.int64), ends, lemma_ends + len(literals)])
    count = len(start) - 1
    arrays = (
        np.concatenate([literals, lemmas]),
        start,
        np.concatenate([np.zeros(len(clauses), np.bool_), deletes]),
        np.zeros(count, np.bool_),
        np.full(2 * variables + 2, -1, np.int64),
        np.full(2 * count, -1, np.int64),
        np.zeros(2 * variables + 2, np.int8),
        np.zeros(variables + 1, np.int32),
        np.full(1 << max(4, count.bit_length()), -1, np.int64),
        np.full(count, -1, np.int64),
    )
    verdict, at, fixed = OPEN, 0, 0
    while verdict == OPEN and at < count:
        verdict, at, fixed = check_lines(*arrays, len(clauses), at, fixed, SLICE)
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError
    return bool(verdict == REFUTED)


@njit(cache=True)
def read_proof(text: Any, variables: int) -> Any:
    """The literals of all lines, where each line ends, which are deletions, and whether all of it is a proof."""
    most = len(text) // 2 + 1
    literals, ends, deletes = np.empty(most, np.int32), np.empty(most, np.int64), np.zeros(most, np.bool_)
    n = lines = at = 0
    deletion = begun = broken = False
    while at < len(text):
        sign = text[at]
        if sign == 32 or sign == 10 or sign == 13:  # space, line feed, carriage return
            at += 1
            continue
        if sign == 100 and not begun and not deletion:  # d
            deletion = True
            at += 1
            continue
        negative = sign == 45  # -
        at += negative
        value = digits = 0
        while at < len(text) and 48 <= text[at] <= 57 and digits < 10:
            value = 10 * value + (text[at] - 48)
            digits += 1
            at += 1
        if digits == 0 or value > variables or (value == 0 and negative) or (at < len(text) and text[at] > 32):
            broken = True
            break
        if value:
            literals[n] = 2 * value + negative
            n += 1
            begun = True
        else:
            ends[lines], deletes[lines] = n, deletion
            lines += 1
            deletion = begun = False
    whole = not (broken or begun or deletion)
    return literals[:n].copy(), ends[:lines].copy(), deletes[:lines].copy(), whole


@njit(cache=True)
def check_lines(
    pool: Packed,  # the literals of all clauses, lemmas and deletions
    start: Table,  # where each begins, and the end
    deletes: Flags,  # which are deletions
    there: Flags,  # which may be used
    head: Table,  # for each literal the first of its watches: 2·clause + 0 or 1
    follow: Table,  # for each watch the next one of the same literal
    value: Any,  # for each literal 1: true, -1: false, 0: open
    trail: Packed,  # the literals that are true, in the order in which they became so
    hashed: Table,  # for each hash the last clause with it
    before: Table,  # for each clause the one before it with the same hash
    clauses: int,  # so many are the formula's, and need no check
    at: int,  # where to go on
    fixed: int,  # so many literals of the trail are true for good
    work: int,
) -> tuple[int, int, int]:
    """Goes through clauses, lemmas and deletions until a verdict, the end, or so much work is done."""
    while at < len(start) - 1 and work > 0:
        first, end = start[at], start[at + 1]
        if deletes[at]:
            found = find_clause(pool, start, there, hashed, before, first, end)
            if found >= 0:
                there[found] = False
            at += 1
            continue
        if at >= clauses:  # a lemma: all its literals are assumed to be false
            size, holds = fixed, False
            for n in range(first, end):
                if value[pool[n]] == 1:  # known to be true, or assumed to be: the lemma has a literal and its negation
                    holds = True
                elif value[pool[n]] == 0:
                    value[pool[n]], value[pool[n] ^ 1] = -1, 1
                    trail[size] = pool[n] ^ 1
                    size += 1
            if not holds:
                holds, size, work = propagate(pool, start, there, head, follow, value, trail, fixed, size, work)
            for n in range(fixed, size):
                value[trail[n]], value[trail[n] ^ 1] = 0, 0
            if not holds:
                return WRONG, at, fixed
        # the clause joins: two literals that are not false for good are watched
        open_ones = 0
        for n in range(first, end):
            if value[pool[n]] != -1 and open_ones < 2:
                pool[first + open_ones], pool[n] = pool[n], pool[first + open_ones]
                open_ones += 1
        there[at] = True
        slot = hash_clause(pool, first, end) & (len(hashed) - 1)
        before[at], hashed[slot] = hashed[slot], at
        if open_ones == 0:
            return REFUTED, at, fixed
        if open_ones == 1:
            only = pool[first]
            if value[only] == 0:
                value[only], value[only ^ 1] = 1, -1
                trail[fixed] = only
                conflict, fixed, work = propagate(
                    pool, start, there, head, follow, value, trail, fixed, fixed + 1, work
                )
                if conflict:
                    return REFUTED, at, fixed
        else:
            for k in range(2):
                literal = pool[first + k]
                follow[2 * at + k], head[literal] = head[literal], 2 * at + k
        work -= end - first
        at += 1
    return OPEN, at, fixed


@njit(cache=True)
def propagate(
    pool: Packed,
    start: Table,
    there: Flags,
    head: Table,
    follow: Table,
    value: Any,
    trail: Packed,
    at: int,
    size: int,
    work: int,
) -> tuple[bool, int, int]:
    """Makes true what must be, from this place of the trail on: (whether a clause is false, size of the trail, …)."""
    while at < size:
        false = trail[at] ^ 1
        at += 1
        last, watch = -1, head[false]
        while watch >= 0:
            work -= 1
            clause, k, following = watch >> 1, watch & 1, follow[watch]
            first = start[clause]
            moved = not there[clause]  # a deleted clause loses its watch
            if not moved:
                other = pool[first + 1 - k]
                if value[other] != 1:
                    for n in range(first + 2, start[clause + 1]):
                        literal = pool[n]
                        if value[literal] != -1:  # watched from now on
                            pool[first + k], pool[n] = literal, false
                            follow[watch], head[literal] = head[literal], watch
                            moved = True
                            break
                    if not moved:
                        if value[other] == -1:
                            return True, size, work
                        value[other], value[other ^ 1] = 1, -1
                        trail[size] = other
                        size += 1
            if not moved:
                last = watch
            elif last >= 0:
                follow[last] = following
            else:
                head[false] = following
            watch = following
    return False, size, work


@njit(cache=True)
def hash_clause(pool: Packed, first: int, end: int) -> Any:
    """The same for the same literals in any order."""
    total, mixed = np.int64(0), np.int64(0)
    for n in range(first, end):
        total += pool[n]
        mixed ^= np.int64(pool[n]) * 0x9E3779B1
    return mixed ^ (mixed >> 15) ^ (total * 0x85EBCA6B)


@njit(cache=True)
def find_clause(pool: Packed, start: Table, there: Flags, hashed: Table, before: Table, first: int, end: int) -> Any:
    """The last clause with these literals that is there, or -1."""
    clause = hashed[hash_clause(pool, first, end) & (len(hashed) - 1)]
    while clause >= 0:
        begin = start[clause]
        if there[clause] and start[clause + 1] - begin == end - first:
            alike = 0
            for n in range(first, end):
                alike += pool[n] in pool[begin : start[clause + 1]]
            if alike == end - first:
                return clause
        clause = before[clause]
    return -1
