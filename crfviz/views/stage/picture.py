"""Description of a picture on the stage: rows, tables and panels; `walks` has the steps.

A page describes a `Picture` of a `Subject`; `payload` writes both as data, and `web/` draws them.
Rows, tables, steps, rulers and panels are sent as they are declared here, see `payload.encoded`.
The parts of a picture have names: the id of a row, the name of a table, "nodes" and "pointers" of
the lattice, the "sums" behind one of its columns, the best "path", the "gradient", the "note" and
the "score" line.

Letters: `T` tokens, `K` tags.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from crfviz.views.stage.walks import ONE_PICTURE, Walk

MAX_DRAWN_COPIES = 80  # maximum number of tag copies under a rule in the browser
WINDOW = 120  # words drawn at once; longer sentences show a window
MAX_OPERATIONS = 4_000_000  # maximum T·K² that the browser recomputes while a score is dragged
MAX_STEP_OPERATIONS = 500_000  # the same if each step has its own matrix


def most_words(num_tags: int, *, homogeneous: bool = True) -> int:
    """Return the maximum number of words that a picture computes with; at least a window."""
    most = MAX_OPERATIONS if homogeneous else MAX_STEP_OPERATIONS
    return max(WINDOW, most // num_tags**2)


T = TypeVar("T")
SPARSE = "sent only if it is set"  # because every edit sends up to fifty rows
Sparse = Annotated[T, SPARSE]


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
