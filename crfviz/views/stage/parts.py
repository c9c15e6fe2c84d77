"""What the stage can show: strips, tables and panels, with numbers as Python has them.

Letters: `T` tokens, `K` tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.demonstrations.sample_counts import Pile
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.counts import Counts
from crfviz.views.stage.entity import EntityPanel


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
class Table:
    """Numbers in a column per word and a row per tag."""

    name: str
    label: str
    values: Tensor  # (T, K)
    scale: float  # the size at which the colour is full
    digits: int = 1
    kind: str = "score"  # or "probability", "exponent", "change", "signed"
    editable: bool = False  # only the emissions themselves
    outlined: Sequence[int] | None = None  # T tag ids to frame
    trained: Tensor | None = None  # (T, K) the same before the edits, where there are some


@dataclass(frozen=True)
class Terms:
    """The gap between two paths, taken apart."""

    title: str
    emissions: Sequence[float]  # T nats
    transitions: Sequence[float]  # T + 1 nats: start first, end last
    foot: str = ""
    trained: tuple[Sequence[float], Sequence[float]] | None = None  # both before the edits


@dataclass(frozen=True)
class Ruler:
    """The values of one weight, in pieces with the same best path."""

    weight: tuple[str, str]  # from and to, by tag name
    trained: float  # nats; NaN where it differs from step to step
    pieces: Sequence[tuple[float, float, str]]  # low, high (infinite at the ends), name


@dataclass(frozen=True, eq=False)
class Gradient:
    """How often each weight of the CRF layer is used, by the right path and on average."""

    observed: Counts
    difference: Counts  # observed - expected


@dataclass(frozen=True)
class Mark:
    """A strength of the CRF at which the best path flips."""

    at: float  # 0 to 2
    label: str  # what flips there


@dataclass(frozen=True)
class Panels:
    """Which parts of the stage a page shows."""

    main: Sequence[str]  # "strips", "lattice", "spans" or the name of a table, from top to bottom
    side: str | None = None  # "matrix", "cell", "bars", "terms", "entity"; "gradient" goes below
    stepper: bool = False
    compact: bool = False  # rows as low as can be read, for two pictures in one sight


@dataclass(frozen=True, eq=False)
class Stage:
    """Everything one drawing of the stage needs."""

    words: Sequence[str]  # T
    tags: Sequence[str]  # K
    trained: Analysis
    now: Analysis  # the same object as `trained` where nothing is edited
    edits: Edits
    panels: Panels
    rows: Sequence[Row] = ()
    tables: Sequence[Table] = ()
    reference: str = "viterbi"  # the row that others are compared with
    contrast: str = "left_to_right"  # the row whose differing steps are drawn dashed in the lattice
    display: str = "score"  # of the matrix; "probability" shows exp of its scores
    probabilistic: bool = (
        True  # whether Z and p are more than what a CRF with these scores would say
    )
    margin: float | None = None  # nats between the two best paths, where they are to be told
    title: str | None = None  # instead of score, log Z and p of the best path
    note: str = ""  # what happened, in a sentence
    legend: str = ""
    hint: str = ""  # how to change something, where something can be changed
    pins: Mapping[int, str] = field(default_factory=dict)  # position to tag
    terms: Terms | None = None  # for the side panel "terms"
    ruler: Ruler | None = None  # under the matrix
    marks: Sequence[Mark] = ()  # on the slider of the strength
    entity: EntityPanel | None = None  # for the main panel "spans" and the side panel "entity"
    heading: Sequence[str] = ()  # over the columns of rows that have some; such rows scroll
    pile: Pile | None = None  # samples to draw in the lattice
    gradient: Gradient | None = None  # for the panel "gradient"; None where no path is right
    asks: str = ""  # page option that a chosen place goes to as "t TAG"; "right" marks a right tag
    asked: tuple[int, int] | None = None  # position and tag id that the page speaks of
    constrained: bool | None = None  # None: the tagger has no hard constraints to switch
    step: int = 0  # 0 and 2 T: the whole picture; up to T columns forward, then back along the path
    ack: int = 0  # highest event number that has been applied
    changeable: bool = True  # False: nothing here changes a score, and the scores stay at home
    unedited: Potentials | None = field(
        default=None
    )  # the scores under the edits, if not `trained`'s own
