"""Words with a label, as those who learn automata from samples have them: drawn here, or read from a folder.

A sample of size N has 50·N words over {0, 1}, labelled by a random automaton with N states: two words of length 3, then
twice as many of each further length, beginning with two of length 4. That is how the samples of DFAMiner's public
benchmark are made, whose format :func:`read` understands: a line with the number of words and of symbols, then for each
word a line with its label, its length and its symbols.

As episodes, a word is walked from ``^`` to ``$``: all steps pay 0 but the last, which pays the label.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from markovize import Traces

Word: TypeAlias = tuple[int, ...]
WORDS_PER_STATE, SHORTEST = 50, 3


class Sample(NamedTuple):
    """Words and their labels, under a name."""

    name: str
    words: dict[Word, int]

    def traces(self) -> Traces:
        """The words as episodes."""
        return Traces.of(
            [
                (["^", *word, "$"], [0] * (len(word) + 1), [0] * len(word) + [label])
                for word, label in self.words.items()
            ]
        )


def draw(states: int, seed: int) -> Sample:
    """A sample of a random automaton all of whose states can be reached and told apart."""
    rng = np.random.default_rng([states, seed])
    while True:
        moves, accepts = rng.integers(states, size=(states, 2)), rng.integers(2, size=states)
        if _is_minimal(moves, accepts):
            break
    words: dict[Word, int] = {}
    length, of_length = SHORTEST, 2
    while len(words) < WORDS_PER_STATE * states:
        for number in rng.choice(2**length, size=of_length, replace=False):
            if len(words) < WORDS_PER_STATE * states:
                word = tuple(int(number) >> at & 1 for at in range(length))
                state = 0
                for symbol in word:
                    state = moves[state, symbol]
                words[word] = int(accepts[state])
        of_length, length = 2 ** max(1, length - 2), length + 1
    return Sample(f"{states}-{seed}", words)


def read(path: Path) -> Sample:
    """The sample in a file, which is named after what comes after ``res``."""
    lines = path.read_text(encoding="ascii").splitlines()
    words = {}
    for line in lines[1:]:
        label, length, *symbols = (int(part) for part in line.split())
        if length != len(symbols):
            raise SystemExit(f"{path}: a word of {length} symbols has {len(symbols)}")
        words[tuple(symbols)] = label
    if len(words) != int(lines[0].split()[0]):
        raise SystemExit(f"{path}: the first line says {lines[0].split()[0]} words, there are {len(words)}")
    return Sample(path.stem.removeprefix("res"), words)


def samples(states: int, seeds: int, folder: Path | None) -> list[Sample]:
    """Samples of automata with so many states: drawn with seeds 1, 2, …, or the files ``resN-i.txt`` of a folder."""
    if folder is None:
        return [draw(states, seed) for seed in range(1, seeds + 1)]
    files = [folder / f"res{states}-{number}.txt" for number in range(1, seeds + 1)]
    return [read(file) for file in files if file.exists()]


def _is_minimal(
    moves: np.ndarray[tuple[int, int], np.dtype[np.int64]], accepts: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> bool:
    """Whether each state can be reached from the first and no two accept the same words."""
    reached = {0}
    for _ in range(len(moves)):
        reached |= {int(target) for state in reached for target in moves[state]}
    classes = accepts
    for _ in range(len(moves)):
        classes = np.unique(np.column_stack([classes, classes[moves]]), axis=0, return_inverse=True)[1].ravel()
    return len(reached) == len(moves) == len(set(classes.tolist()))
