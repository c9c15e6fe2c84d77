"""What the stage can show: strips, grids and panels, with numbers as Python has them.

Letters: `T` tokens, `K` tags.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.distribution import SampleCounts
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import GradientStep
from crfviz.views.stage.entity import EntityPanel
from crfviz.views.stage.steps import ONE_PICTURE, Walk


@dataclass(frozen=True)
class Row:
    """One strip: a tag for every word."""

    id: str  # "greedy", "left_to_right", "viterbi", "max_marginal", "gold" or any other name
    label: str
    tags: Sequence[int] | None  # T tag ids; None draws dashes (no allowed path)
    value: str = ""  # beside the label, for example a probability
    texts: Sequence[str] | None = None  # T texts to show instead of tags
    faults: Sequence[int] = ()  # positions whose tag may not follow the one before
    trained: Sequence[int] | None = None  # T tag ids before the edits, if not the decoder's own
    against: str | None = None  # id of the row to compare with, if not the stage's reference
    shares: Sequence[float] | None = None  # T bars behind the texts, from -1 to 1
    titles: Sequence[str] | None = None  # T texts for who points at a cell
    columns: Sequence[str] = ()  # in place of the label, under the stage's heading


@dataclass(frozen=True, eq=False)
class Grid:
    """Numbers in a column per word and a row per tag."""

    name: str
    label: str
    values: Tensor  # (T, K)
    scale: float  # the size at which the colour is full
    digits: int = 1
    kind: str = "score"  # or "probability", "exponent", "change", "signed"
    editable: bool = False  # only the emissions themselves
    outlined: Sequence[int] | None = None  # T tag ids to frame
    frames: str | None = None  # id of the row whose tags are framed; they are seen with it
    trained: Tensor | None = None  # (T, K) the same before the edits, where there are some


@dataclass(frozen=True)
class Ruler:
    """The values of one weight, in pieces with the same best path."""

    weight: tuple[str, str]  # from and to, by tag name
    trained: float  # nats; NaN where it differs from step to step
    pieces: Sequence[tuple[float, float, str]]  # low, high (infinite at the ends), name


@dataclass(frozen=True)
class Mark:
    """A strength of the CRF at which the best path flips."""

    at: float  # 0 to 2
    label: str  # what flips there


@dataclass(frozen=True)
class Matrix:
    """The transitions, each open to change, and the strength of the CRF."""

    display: str = "score"  # "probability" shows exp of the scores
    ruler: Ruler | None = None  # of the weight that was chosen, under the matrix
    marks: Sequence[Mark] = ()  # on the slider of the strength


@dataclass(frozen=True)
class Cell:
    """How the numbers of the cell that has the focus come about."""

    message: bool = False  # whether α is what a word passes on to the next one


@dataclass(frozen=True)
class Bars:
    """The marginals of the word that is pointed at."""


@dataclass(frozen=True)
class Gap:
    """The gap between two paths, taken apart."""

    title: str
    emissions: Sequence[float]  # T nats
    transitions: Sequence[float]  # T + 1 nats: start first, end last
    foot: str = ""
    trained: tuple[Sequence[float], Sequence[float]] | None = None  # both before the edits


@dataclass(frozen=True, eq=False)
class Gradient:
    """How often each weight of the CRF layer is used, by the right path and on average; below."""

    step: GradientStep | None  # None where no path is right


FOLDED, UNFOLDED = "yes", "no"  # whether tags without mass share a row

Side = Matrix | Cell | Bars | Gap | EntityPanel | Gradient  # what stands beside the main panels


@dataclass(frozen=True, eq=False)
class Picture:
    """What a page puts on the stage; everything but `main` may be left out."""

    main: Sequence[str]  # "strips", "lattice", "spans", a graph or a grid by its name
    rows: Sequence[Row] = ()
    grids: Sequence[Grid] = ()
    side: Side | None = None  # with "spans" in `main` an entity
    walk: Walk = ONE_PICTURE  # step by step
    compact: bool = False  # rows as low as can be read, for two pictures in one sight
    reference: str = "viterbi"  # the row that others are compared with
    # the row whose differing steps are drawn dashed in the lattice; empty for none
    contrast: str = "left_to_right"
    heading: Sequence[str] = ()  # over the columns of rows that have some; such rows scroll
    pile: SampleCounts | None = None  # samples to draw in the lattice
    title: str | None = None  # instead of score, log Z and p of the best path
    note: str = ""  # what happened, in a sentence
    legend: str = ""
    hint: str = ""  # how to change something, where something can be changed
    asks: str = ""  # page option that a chosen place goes to as "t TAG"; "right" marks a right tag
    asked: tuple[int, int] | None = None  # position and tag id that the page speaks of
    changeable: bool = True  # False: nothing here changes a score, and the scores stay at home


@dataclass(frozen=True, eq=False)
class Subject:
    """The chain on the stage."""

    trained: Analysis
    now: Analysis  # the same object as `trained` where nothing is edited; has words and tags
    edits: Edits = field(default_factory=Edits)
    pins: Mapping[int, str] = field(default_factory=dict)  # position to tag
    unedited: Potentials | None = None  # the scores under the edits, if not `trained`'s own
    constrained: bool | None = None  # None: the tagger has no hard constraints to switch
    probabilistic: bool = (
        True  # whether Z and p are more than what a CRF with these scores would say
    )
    margin: float | None = None  # nats between the two best paths, where they are to be told
    step: int = 0  # of the walk, as `Walk.at` reads it
    nodes: str = ""  # what nodes say, where the walk leaves a choice
    covered: Sequence[str] = ()  # parts that are switched off
    # parts that a question keeps back, each from a word up to before another
    withheld: Sequence[tuple[str, int, int]] = ()
    chosen: tuple[int, int] | None = None  # position and tag id of the cell that is explained
    panel: str = ""  # how the side panel reads that cell, where the reader chose
    folding: str = ""  # FOLDED or UNFOLDED, where the reader chose
