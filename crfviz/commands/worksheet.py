"""`python -m crfviz worksheet`: write a worksheet with different numbers for each student.

The chains suit work on paper: scores are multiples of 0.5, no two ways into a tag tie, and both
greedy decoders are wrong, so that a guessed table shows. Each student gets pages to print (HTML,
LaTeX), a notebook with nbgrader's metadata, tests for otter-grader, and a question for
PrairieLearn. The keys are in a separate folder.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crfviz.chain.decoding.analysis import greedy
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError
from crfviz.views.exports.worksheet import worksheet_files

IMAGE = "prairielearn/grader-python"
WORDS, TAGS = ("they", "can", "fish", "now"), ("N", "V", "R")
EMISSIONS, STEPS = range(-2, 7), range(-4, 5)  # possible scores, in units of half a nat
MAX_STUDENTS = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `worksheet`."""
    add = parser.add_argument
    add("out", type=Path, help="folder to write; it must be empty or not exist")
    add("--seed", type=int, default=0, help="another one gives other numbers")
    add("--students", type=int, default=1, help="how many worksheets, at most 1000")
    add("--image", default=IMAGE, help="Docker image with crfviz, for PrairieLearn")


def main(args: argparse.Namespace) -> int:
    """Write the folder and return 0.

    Raises:
        CrfvizError: the folder already has files, or the number of students is out of range.
    """
    chains = variants(args.seed, args.students)
    if args.out.exists() and (not args.out.is_dir() or any(args.out.iterdir())):
        raise CrfvizError(f"{args.out} is there already and not empty: name another folder")
    digits = len(str(len(chains)))
    for number, chain in enumerate(chains, start=1):
        for path, text in worksheet_files(chain, f"student-{number:0{digits}}", args.image).items():
            target = args.out / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            if path.endswith("grade.py"):
                target.chmod(0o755)
    sys.stdout.write(f"{args.out}: {len(chains)} worksheets and their keys\n")
    return 0


def variants(seed: int, students: int) -> list[Potentials]:
    """Return a different chain for each student; the seed determines them.

    The first n chains do not depend on the number of students.

    Raises:
        CrfvizError: the number of students is not from 1 to 1000.
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
    """Return whether both greedy decoders are wrong and no decoder has ties."""
    alone, committed, best, _ = first = _answers(chain, 1)
    return best not in (alone, committed) and first == _answers(chain, -1)


def _answers(chain: Potentials, step: int) -> tuple[list[int], ...]:
    """Return the paths of three decoders, and the backpointers.

    A `step` of -1 decodes with the tags in reverse order, so that ties give other answers.
    """
    emissions, transitions, start, end = chain.scores()
    turned = Potentials(
        emissions[:, ::step], transitions[::step, ::step], start[::step], end[::step]
    )
    result = viterbi(turned)
    alone, committed = greedy(turned, "independent"), greedy(turned, "left_to_right")
    pointers = result.backpointers[1:].numpy()[:, ::step].flatten().tolist()
    tags = range(chain.num_tags)[::step]
    return tuple([tags[k] for k in ids] for ids in (alone, committed, result.path, pointers))
