"""The steps that show a picture bit by bit.

The position in a `Walk` is the number of steps done; the browser steps without a request to Python
(`web/stage/visibility.js`). Phases name parts of a picture, see `picture`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

BEST, ALPHA, BETA, MARGINALS = "best", "alpha", "beta", "marginals"  # numbers on nodes
FIRST_PATHS = (1, 2, 3, 10)  # paths summed in the first steps, before all the others


@dataclass(frozen=True)
class Phase:
    """Steps of one kind: one for each word, or a single one.

    Placeholders in the texts: {n} is the number of the step, {T} the number of words, {word} the
    step's word, {tag} and {after} the tags of the best path at this and the next word, {z} log Z.
    """

    text: str  # text of a step
    parts: Sequence[str]  # parts that a step reveals, up to its word
    sweep: int = 0  # 1: a step per word, first to last; -1: last to first; 0: a single step
    nodes: Sequence[str] = ()  # numbers on nodes, for the reader to choose; (): unchanged
    first: str = ""  # replaces `text` at the first step
    last: str = ""  # replaces `text` at the last step


@dataclass(frozen=True)
class Walk:
    """A sequence of phases. The last step reveals everything except `never`."""

    phases: Sequence[Phase]
    start: str = "Press → or PageDown to begin."  # text before the first step
    opens_done: bool = True  # whether the page opens at the last step
    never: Sequence[str] = ()  # parts that are not in this picture
    nodes: Sequence[str] = ()  # numbers on nodes where no phase names any; (): marginals

    def steps(self, num_words: int) -> int:
        return sum(num_words if phase.sweep else 1 for phase in self.phases)

    def opens(self, num_words: int) -> int:
        """Return the step at which the page opens, unless its link says another."""
        return self.steps(num_words) if self.opens_done else 0

    def at(self, step: int, num_words: int) -> int:
        """Return the steps done for a link's `step`: 0 is the default, negative means none."""
        return max(0, min(step, self.steps(num_words))) if step else self.opens(num_words)


ONE_PICTURE = Walk(())  # no steps: a clicker opens the next page


def viterbi_walk(*, possible: bool) -> Walk:
    """Return the steps of Viterbi: forward over the columns, then back along the backpointers.

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
    return Walk([forward, back])


def product_walk(*, possible: bool) -> Walk:
    """Return the steps of Viterbi over the copies of a product, then its marginals."""
    forward, back = viterbi_walk(possible=possible).phases
    forward = replace(forward, parts=["weights", *forward.parts])
    text = "The marginals: those of a tag’s rows sum to its marginal under the rule."
    return Walk([forward, back, Phase(text, (), nodes=[MARGINALS])])


def forward_backward_walk() -> Walk:
    """Return the steps α from left to right, Z, β from right to left, and their product."""
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
    """Return the steps word by word, then the effect of the transitions."""
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
    """Return the steps over marginals word by word, the best paths, and samples, by row ids."""
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
    """Return the steps prediction, right tags, gradient, and the result of a gradient step."""
    return Walk(
        [
            Phase("What the model says now.", ["nodes", "pointers", "path", "viterbi"]),
            Phase("The gold tags, and where they leave the best path.", ["gold"]),
            Phase("Observed minus expected counts: which weights should grow.", ["gradient"]),
            Phase("What one step along the gradient does.", ["note"]),
        ]
    )


def hmm_walk(emissions: str, table: str) -> Walk:
    """Return the steps from log probabilities to weights, decoding, and probabilities again."""
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


def rule_walk() -> Walk:
    """Return the steps the chain, the automaton of a rule, their product, and its sum."""
    return Walk(
        [
            Phase(
                "The chain: all its paths, and the best of them.",
                ["weights", "nodes", "pointers", "path", "viterbi", MARGINALS],
            ),
            Phase("The automaton: one state for all that matters of the tags so far.", ()),
            Phase(
                "The product: every path takes its state along. Dashed: the best one that matches.",
                ["rule", "states"],
            ),
            Phase(
                "The sum: the share of Z that all matching paths have.", ["ruled", "moved", "note"]
            ),
        ]
    )


def naive_walk(num_paths: int) -> Walk:
    """Return the steps first paths, all paths, and the recursion."""
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
    """Return the number of paths listed after `step` steps of `naive_walk`."""
    return [0, *[n for n in FIRST_PATHS if n < num_paths], num_paths, num_paths][step]


def log_sum_walk() -> Walk:
    """Return the steps of one log-sum-exp, a column of its table each."""
    return Walk(
        [
            Phase("The scores to be summed: one for each tag before.", ()),
            Phase("The largest is taken out: what is left is 0 or less.", ()),
            Phase("exp of what is left: never more than 1, so nothing overflows.", ()),
            Phase("The logarithm of their sum, and the largest added again.", ()),
            Phase("Without the trick: what float32 and float64 make of the same sum.", ()),
        ]
    )
