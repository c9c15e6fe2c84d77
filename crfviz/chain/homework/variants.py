"""Small chains for worksheets: other numbers for each student, all of them fit for paper.

Scores are multiples of 0.5. No two ways into a tag tie, and both greedy decoders are wrong, so that
a table that was guessed shows.
"""

import random
from collections.abc import Iterator

import numpy as np

from crfviz.chain.homework.programs import BACKPOINTERS, VITERBI, right_program
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError

WORDS, TAGS = ("they", "can", "fish", "now"), ("N", "V", "R")
EMISSIONS, STEPS = range(-2, 7), range(-4, 5)  # in halves of a nat
MAX_STUDENTS = 1000


def variants(seed: int, students: int) -> list[Potentials]:
    """Return a chain for each student, all different; the same for the same seed.

    The first n are those of n students.

    Raises:
        CrfvizError: there are no students, or more than 1000.
    """
    if require_count("students", students) > MAX_STUDENTS:
        raise CrfvizError(f"students must be at most {MAX_STUDENTS}, got {students}")
    source = random.Random(f"crfviz worksheet {seed}")
    chosen: dict[bytes, Potentials] = {}
    for chain in _drawn(source):
        if _is_fit(chain):
            chosen[b"".join(table.tobytes() for table in chain.scores())] = chain
        if len(chosen) == students:
            break
    return list(chosen.values())


def _drawn(source: random.Random) -> Iterator[Potentials]:
    T, K = len(WORDS), len(TAGS)

    def halves(values: range, *shape: int) -> Array:
        numbers = [source.choice(values) / 2 for _ in range(int(np.prod(shape)))]
        return np.array(numbers).reshape(shape)

    while True:
        yield Potentials(
            halves(EMISSIONS, T, K),
            halves(STEPS, K, K),
            halves(STEPS, K),
            halves(STEPS, K),
            tags=TAGS,
            tokens=WORDS,
        )


def _is_fit(chain: Potentials) -> bool:
    """Whether nothing ties and both greedy decoders go wrong."""
    emissions, steps, start, end = chain.arrays()
    choices = right_program(chain, BACKPOINTERS).choices()
    last = right_program(chain, VITERBI).printed(VITERBI)[-1] + end
    alone = np.sort(emissions, axis=1)
    if (choices[1:].sum(2) > 1).any() or (alone[:, -1] == alone[:, -2]).any():
        return False
    if np.count_nonzero(last == last.max()) > 1:
        return False
    best = [int(last.argmax())]
    for row in choices[:0:-1]:
        best.insert(0, int(row[best[0]].argmax()))
    committed: list[int] = []
    for t, emission in enumerate(emissions):
        scores = emission + (steps[t - 1][committed[-1]] if t else start)
        scores = scores + (end if t == len(emissions) - 1 else 0.0)
        if np.count_nonzero(scores == scores.max()) > 1:
            return False
        committed.append(int(scores.argmax()))
    return best != committed and best != emissions.argmax(1).tolist()
