"""Walks: which steps a picture has, and what each of them uncovers.

What a walk has not come to is not on the page at all. A picture says which walk it has; where one
stands is a number, the steps done, and the browser goes on without asking: `web/stage/steps.js`
reads what is said here. Letters: `T` words.

The parts of a picture go by name: the id of a row, the name of a grid, "nodes" and "pointers" of
the lattice, "sums" that make a column of it, the best "path", the "gradient", the "note" and the
"score" line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

BEST, ALPHA, BETA, MARGINALS = "best", "alpha", "beta", "marginals"  # what nodes can say


@dataclass(frozen=True)
class Phase:
    """Steps of one kind: one for each word, or a single one.

    In the texts {n} is the number of the step, {T} that of all words, {word} the step's word, {tag}
    and {after} the tags of the best path there and one word on, {z} log Z.
    """

    text: str  # what a step says
    parts: Sequence[str]  # what it uncovers, up to its word
    sweep: int = 0  # 1: a step for each word from the first on, -1: from the last, 0: a single one
    nodes: Sequence[str] = ()  # what the lattice's nodes say, as the reader chooses; as before: ()
    first: str = ""  # in place of `text` at the first step
    last: str = ""  # and at the last


@dataclass(frozen=True)
class Walk:
    """Phases one after the other. The last step uncovers everything but `never`."""

    phases: Sequence[Phase]
    start: str = "Press → or PageDown to begin."  # what is said before the first step
    opens_done: bool = True  # where the page opens: at the end, else at the start
    never: Sequence[str] = ()  # parts that this picture does without

    def steps(self, num_words: int) -> int:
        """How many steps there are over T words."""
        return sum(num_words if phase.sweep else 1 for phase in self.phases)

    def opens(self, num_words: int) -> int:
        """The step at which the page opens, unless its link says another."""
        return self.steps(num_words) if self.opens_done else 0

    def at(self, step: int, num_words: int) -> int:
        """The steps done where a link says `step`: 0 where the page opens, negative for none."""
        return max(0, min(step, self.steps(num_words))) if step else self.opens(num_words)


ONE_PICTURE = Walk(())  # no steps: the clicker goes on to the next page


def viterbi_walk(*, possible: bool) -> Walk:
    """Forward over the columns, then back along the backpointers.

    `possible` says whether any path is allowed.
    """
    lost = "" if possible else "No path is allowed, so there is nothing to trace back."
    forward = Phase(
        "Forward {n} of {T}: the best way into each tag of “{word}”.",
        ["nodes", "pointers", BEST],
        sweep=1,
        nodes=[BEST],
        first="Start: each tag of “{word}” by itself.",
    )
    back = Phase(
        lost or "Back: the pointer leads from {after} to {tag} at “{word}”.",
        ["path", "viterbi"],
        sweep=-1,
        nodes=[BEST, MARGINALS],
        first=lost or "Back: {tag} ends the best path (best score plus END).",
        last=lost or "The best path, read back along the backpointers.",
    )
    return Walk([forward, back], opens_done=False)


def forward_backward_walk() -> Walk:
    """α from left to right, Z, β from right to left, and their product."""
    return Walk(
        [
            Phase(
                "α {n} of {T}: each tag of “{word}” sums over all ways to get there.",
                ["nodes", "sums", ALPHA],
                sweep=1,
                nodes=[ALPHA],
                first="α at the first word: START and the emission of “{word}”.",
            ),
            Phase("Z: the last column of α with END, summed: log Z = {z}.", ["z"], nodes=[ALPHA]),
            Phase(
                "β back, {n} of {T}: each tag of “{word}” sums over all ways to the end.",
                ["nodes", "sums", BETA],
                sweep=-1,
                nodes=[BETA],
                first="β at the last word: END alone.",
            ),
            Phase(
                "α times β, divided by Z: the marginals. At each word α·β sums to Z.",
                ["nodes"],
                nodes=[MARGINALS],
            ),
        ],
        never=["pointers", "path"],
    )


def emission_walk(table: str) -> Walk:
    """Word by word, then what the transitions make of it."""
    return Walk(
        [
            Phase(
                "Word {n} of {T}: the scores of “{word}” alone, and its best tag by itself.",
                [table, "greedy"],
                sweep=1,
            ),
            Phase("And with the transitions: what Viterbi says.", ["viterbi"]),
        ]
    )


def marginal_walk(best: Sequence[str], samples: Sequence[str]) -> Walk:
    """The marginals word by word, then the best paths and the samples, by the ids of their rows."""
    return Walk(
        [
            Phase(
                "Word {n} of {T}: how much of all probability passes each tag of “{word}”.",
                [MARGINALS],
                sweep=1,
            ),
            Phase("Whole paths: the most probable ones.", best),
            Phase("Samples: paths appear in proportion to probability.", samples),
        ]
    )


def learning_walk() -> Walk:
    """What the model says, what is right, and what is learnt from the difference."""
    return Walk(
        [
            Phase("What the model says now.", ["nodes", "pointers", "path", "viterbi"]),
            Phase("The right tags, and where they leave the best path.", ["gold"]),
            Phase("Observed minus expected counts: which weights should grow.", ["gradient"]),
            Phase("What one step along the gradient does.", ["note"]),
        ]
    )


def hmm_walk(emissions: str, table: str) -> Walk:
    """From the logarithms of an HMM to what no shift can change."""
    return Walk(
        [
            Phase(
                "Logarithms of probabilities are scores: these are the weights.",
                ["weights", emissions],
            ),
            Phase("The best path needs nothing more than scores.", ["viterbi"]),
            Phase("Divided by Z they are probabilities again.", [table, "max_marginal"]),
        ]
    )


FIRST_PATHS = (1, 2, 3, 10)  # of a sum over all paths, before the rest at once


def naive_walk(num_paths: int) -> Walk:
    """The first paths of the sum, all of them, and the recursion."""
    first = [n for n in FIRST_PATHS if n < num_paths]
    return Walk(
        [
            *[
                Phase(f"exp of the score of the best {n:,} of {num_paths:,} paths.", ())
                for n in first
            ],
            Phase(f"All {num_paths:,} paths: their sum is Z.", ()),
            Phase("The recursion comes to the same Z without ever listing a path.", ()),
        ]
    )


def paths_at(step: int, num_paths: int) -> int:
    """How many paths of the sum are listed after so many steps of `naive_walk`."""
    return [0, *[n for n in FIRST_PATHS if n < num_paths], num_paths, num_paths][step]


def log_sum_walk() -> Walk:
    """One log-sum-exp, a column of its table after the other."""
    return Walk(
        [
            Phase("The scores to be summed: one for each tag before.", ()),
            Phase("The largest is taken out: what is left is 0 or less.", ()),
            Phase("exp of what is left: never more than 1, so nothing overflows.", ()),
            Phase("The logarithm of their sum, and the largest added again.", ()),
            Phase("Without the trick: what float32 and float64 make of the same sum.", ()),
        ]
    )
