"""Description of a picture on the stage: rows, tables, panels, and the steps that show them.

A page describes a `Picture` of a `Subject`; `payload` writes both as data, and `web/` draws them.
Rows, tables, steps, rulers and panels are sent as they are declared here, see `payload.encoded`.
The position in a `Walk` is the number of steps done; the browser steps without a request to Python
(`web/stage/visibility.js`). The parts of a picture have names: the id of a row, the name of a
table, "nodes" and "pointers" of the lattice, the "sums" behind one of its columns, the best "path",
the "gradient", the "note" and the "score" line.

Letters: `T` tokens, `K` tags.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeVar

from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.distribution import SampleCounts
from crfviz.chain.edits import Edits
from crfviz.chain.patterns import Automaton
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.path_sets import PathSet
from crfviz.chain.questions.sensitivity import GradientStep
from crfviz.views.stage.entity import EntityPanel

MAX_DRAWN_COPIES = 80  # maximum number of tag copies under a rule in the browser
WINDOW = 120  # words drawn at once; longer sentences show a window
MAX_OPERATIONS = 4_000_000  # maximum T·K² that the browser recomputes while a score is dragged
MAX_STEP_OPERATIONS = 500_000  # the same if each step has its own matrix
BEST, ALPHA, BETA, MARGINALS = "best", "alpha", "beta", "marginals"  # numbers on nodes
FIRST_PATHS = (1, 2, 3, 10)  # paths summed in the first steps, before all the others


def most_words(num_tags: int, *, homogeneous: bool = True) -> int:
    """Return the maximum number of words that a picture computes with; at least a window."""
    most = MAX_OPERATIONS if homogeneous else MAX_STEP_OPERATIONS
    return max(WINDOW, most // num_tags**2)


T = TypeVar("T")
SPARSE = "sent only if it is set"  # because every edit sends up to fifty rows
Sparse = Annotated[T, SPARSE]


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


@dataclass(frozen=True)
class Row:
    """A row of the picture with a tag for every word."""

    id: str  # "greedy", "left_to_right", "viterbi", "max_marginal", "gold" or any other name
    label: str
    tags: Sequence[int] | None  # T tag ids, -1 for no tag; None draws dashes (no allowed path)
    value: str = ""  # text beside the label, for example a probability
    texts: Sparse[Sequence[str] | None] = None  # T texts to show instead of tags
    faults: Sparse[Sequence[int]] = ()  # positions whose tag may not follow the one before
    trained: Sparse[Sequence[int] | None] = None  # T ids before edits, if not the decoder's own
    against: Sparse[str | None] = None  # id of the row to compare with; None: the stage's reference
    shares: Sparse[Sequence[float] | None] = None  # T bars behind the texts, from -1 to 1
    titles: Sparse[Sequence[str] | None] = None  # T tooltips of the cells
    columns: Sparse[Sequence[str]] = ()  # replace the label, under the stage's heading
    about: Sparse[str] = ""  # description of the row, one sentence
    key: Sparse[str] = ""  # letter that shows or hides the row

    def names(self, tags: Sequence[str]) -> list[str] | None:
        """Return T texts: `texts`, else the names of the tags; None if both are missing."""
        if self.texts is not None or self.tags is None:
            return None if self.texts is None else list(self.texts)
        return [tags[k] if k >= 0 else "–" for k in self.tags]


@dataclass(frozen=True, eq=False)
class Grid:
    """A table of numbers with a column per word and a row per tag."""

    name: str
    label: str
    values: Sparse[Tensor]  # (T, K); not sent if they are the chain's emissions
    scale: float  # absolute value at full colour
    digits: int = 1
    kind: str = "score"  # or "probability", "exponent", "change", "signed", "written"
    editable: bool = False  # True only for emissions
    outlined: Sequence[int] | None = None  # T tag ids to frame
    frames: Sparse[str | None] = None  # id of the row whose tags are framed while it is visible
    trained: Sparse[Tensor | None] = None  # (T, K) values before the edits, if any
    # (n, 3) position, tag id and value of the cells that each step of the walk writes
    writes: Sparse[Sequence[Tensor] | None] = None
    wrong: Sparse[tuple[int, int] | None] = None  # the cell to mark once it is written


@dataclass(frozen=True)
class Piece:
    """An interval of one weight with the same best path."""

    low: float | None  # nats; None: -inf
    high: float | None  # None: inf
    label: str


@dataclass(frozen=True)
class Ruler:
    """The values of one weight, in intervals with the same best path."""

    weight: tuple[str, str]  # from and to, by tag name
    trained: float | None  # nats; None: -inf, or different at each step
    varies: bool  # whether it differs from step to step
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Mark:
    """A strength of the CRF at which the best path flips."""

    at: float  # 0 to 2
    label: str  # the flip in words


@dataclass(frozen=True)
class Matrix:
    """Side panel with the editable transitions and the strength of the CRF."""

    display: str = "score"  # "probability" shows exp of the scores
    ruler: Ruler | None = None  # of the chosen weight, under the matrix
    marks: Sequence[Mark] = ()  # on the slider of the strength


@dataclass(frozen=True)
class Cell:
    """Side panel with the terms of the chosen cell."""

    message: bool = False  # whether α is the message to the next word


@dataclass(frozen=True)
class Bars:
    """Side panel with the marginals of the word under the pointer."""


@dataclass(frozen=True)
class Gap:
    """Side panel with the terms of the gap between two paths."""

    title: str
    emissions: Sequence[float]  # T nats
    transitions: Sequence[float]  # T + 1 nats: start first, end last
    foot: str = ""
    trained: tuple[Sequence[float], Sequence[float]] | None = None  # both before the edits


@dataclass(frozen=True, eq=False)
class Gradient:
    """Panel below the words: observed and expected uses of each weight of the CRF layer."""

    step: GradientStep | None  # None without a gold path


Side = Matrix | Cell | Bars | Gap | EntityPanel | Gradient  # side panels


@dataclass(frozen=True, eq=False)
class Picture:
    """The description of a picture; everything but `main` is optional."""

    main: Sequence[str]  # "strips", "lattice", "spans", a graph or a grid by its name
    rows: Sequence[Row] = ()
    grids: Sequence[Grid] = ()
    side: Side | None = None  # with "spans" in `main` an entity
    walk: Walk = ONE_PICTURE  # steps of the picture
    compact: bool = False  # whether rows have the minimum height, for two pictures on one screen
    reference: str = "viterbi"  # id of the row that others are compared with
    # the row whose differing steps are drawn dashed in the lattice; empty for none
    contrast: str = "left_to_right"
    heading: Sequence[str] = ()  # headings of `Row.columns`; such rows scroll
    rule: Automaton | None = None  # of the row "rule", so that the browser can update this row
    pile: SampleCounts | None = None  # samples to draw in the lattice
    used: PathSet | None = None  # the lattice draws its tags and steps, and fades all others
    title: str | None = None  # instead of score, log Z and p of the best path
    note: str = ""  # the result, in a sentence
    legend: str = ""
    hint: str = ""  # how to change scores, if that is possible
    asks: str = ""  # page option that a chosen place sets to "t TAG"; "right" marks a gold tag
    asked: tuple[int, int] | None = None  # position and tag id that the page explains
    changeable: bool = True  # False: no scores can be changed, so they are not sent


@dataclass(frozen=True, eq=False)
class Subject:
    """The chain on the stage."""

    trained: Analysis
    now: Analysis  # the same object as `trained` without edits; has words and tags
    edits: Edits = field(default_factory=Edits)
    rule: Automaton | None = None  # the chains are products with it, `Potentials.constrained`
    pins: Mapping[int, str] = field(default_factory=dict)  # position to tag
    unedited: Potentials | None = None  # the scores before the edits, if not those of `trained`
    constrained: bool | None = None  # None: the tagger has no hard constraints
    probabilistic: bool = True  # False: Z and p are only those of a CRF with these scores
    margin: float | None = None  # nats between the two best paths, if shown
    step: int = 0  # of the walk, as `Walk.at` reads it
    nodes: str = ""  # numbers on nodes, if the walk leaves a choice
    covered: Sequence[str] = ()  # parts that the reader has hidden
    # parts that a question hides: part, first word, last word + 1
    withheld: Sequence[tuple[str, int, int]] = ()
    chosen: tuple[int, int] | None = None  # position and tag id of the explained cell
    panel: str = ""  # reading of that cell in the side panel, if the reader chose one
    folding: str = ""  # "yes" or "no", if the reader chose: tags without mass share a row
    direction: str = ""  # direction of the columns, LTR or RTL, if the reader chose
