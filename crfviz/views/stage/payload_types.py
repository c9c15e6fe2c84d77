"""The format that Python sends and the stage's JavaScript reads, declared once.

The parts of a picture are the dataclasses of `picture` and `entity`, encoded by `payload.encoded`.
This module declares the fields that Python computes for a payload. `make types` writes
`web/payload.d.ts` from both; a test checks that file and the payload of every page. Tables are sent
as base64 of their bytes, without rounding.

Letters: `T` tokens, `K` tags.
"""

from typing import Annotated, Any, Literal, NewType, NotRequired, TypedDict

from crfviz.views.stage import picture, walks
from crfviz.views.stage.entity import EntityPanel

Floats = NewType("Floats", str)  # base64 of float64, little-endian, in C order
Integers = NewType("Integers", str)  # base64 of int16, little-endian, in C order
Indices = NewType("Indices", str)  # base64 of int32, little-endian
Cell = tuple[int, int]  # position of a word, tag id
Side = Literal["matrix", "cell", "bars", "terms", "entity", "gradient"]
# Dataclasses, as `payload.encoded` encodes them.
RowData = Annotated[dict[str, Any], picture.Row]
GridData = Annotated[dict[str, Any], picture.Grid]
WalkData = Annotated[dict[str, Any], walks.Walk]
RulerData = Annotated[dict[str, Any], picture.Ruler]
GapData = Annotated[dict[str, Any], picture.Gap]
EntityPanelData = Annotated[dict[str, Any], EntityPanel]


class Panels(TypedDict):
    """The parts of the picture."""

    main: list[str]  # "strips", "lattice", "spans", a graph, or a table by its name
    side: Side | None  # the panel beside the words
    compact: bool  # whether rows have the minimum height


class StepMatrices(TypedDict):
    """The cells in which the matrix of a step differs from the common one."""

    cells: Indices  # into (T - 1, K, K)
    values: Floats


class Scores(TypedDict):
    """The potentials before the edits."""

    emissions: Floats  # (T, K)
    transitions: Floats  # (K, K), [from, to]
    steps: StepMatrices | None  # None: all steps share one matrix
    start: Floats  # (K,)
    end: Floats  # (K,)


class EditList(TypedDict):
    """The reader's edits."""

    # From and to by name, START and END allowed; None: -inf.
    transitions: list[tuple[str, str, float | None]]
    emissions: list[tuple[int, str, float | None]]  # position, tag by name, score
    strength: float


class CopiesData(TypedDict):
    """Tags split into one copy per state of a rule's automaton (the product chain)."""

    of: list[str]  # K names: the original tag of each copy
    allowed: Integers  # (K + 1, K + 1) 1 or 0: START on top, END at the right


class OverviewData(TypedDict):
    """Best path and marginals of a whole sentence; only a window of it is drawn."""

    path: list[int] | None  # tag ids of the best path
    marginals: Floats  # of `total` words


class Results(TypedDict):
    """Results for the current chain."""

    log_partition: float | None  # None: -inf
    score: float | None  # of the best path; None: no path is allowed
    path: list[int] | None
    # (T, K) tables; absent where the browser computes them, or no panel needs them
    backpointers: NotRequired[Integers]
    marginals: NotRequired[Floats]
    alpha: NotRequired[Floats]
    beta: NotRequired[Floats]
    best: NotRequired[Floats]


class TrainedResults(TypedDict):
    """Results for the trained chain, while edits are active."""

    path: list[int] | None
    probability: float
    log_partition: float | None
    marginals: NotRequired[Floats]  # absent where the browser computes the tables
    alpha: NotRequired[Floats]
    beta: NotRequired[Floats]
    best: NotRequired[Floats]


class UsedData(TypedDict):
    """The part of the lattice that a set of paths uses."""

    tags: list[list[int]]  # ids, of each word
    steps: list[list[tuple[int, int]]]  # ids, from and to, of each step


class PileData(TypedDict):
    """Counts of each tag and each move in the samples."""

    drawn: int
    newest: list[int] | None
    uses: Integers  # (T, K)
    moves: Integers  # rows of step, from, to, count; only counts above 0


class FloatCounts(TypedDict):
    """A real number for each weight of the CRF layer."""

    transitions: Floats
    start: Floats
    end: Floats


class GradientData(TypedDict):
    """Counts of each weight on the right path, and their difference from the expectation."""

    observed: FloatCounts
    difference: FloatCounts


class GuestData(TypedDict):
    """Settings of a stage in another Streamlit app, which has no edit buttons of its own."""

    undo: bool  # whether there is something to undo
    redo: bool
    reset: bool
    fixed: bool  # whether nothing can be edited


class HostData(TypedDict):
    """Fields that a host of the stage adds to a picture."""

    sentence: NotRequired[str]  # identifies the sentence that positions in events refer to
    letters: NotRequired[bool]  # whether single-letter keys are enabled
    guest: NotRequired[GuestData]  # in another Streamlit app


class Payload(TypedDict):
    """One picture on the stage."""

    ack: int  # the highest event number that has been applied
    words: list[str]  # the T drawn words
    offset: int  # position of the first drawn word in the sentence
    total: int  # words of the sentence: `trained` has the scores of all, `edits` and `pins` may be
    tags: list[str]
    colours: list[str]  # of the tags
    panels: Panels
    trained: Scores | None  # None: no scores can be changed on this page
    edits: EditList
    copies: CopiesData | None  # None: tags are not split
    kept: CopiesData | None  # copies of the rule behind the row "rule"
    overview: OverviewData | None  # for a window whose sentence the browser cannot compute
    results: Results
    ghost: TrainedResults | None  # None without edits
    rows: list[RowData]
    tables: list[GridData]
    display: str  # of the matrix: "score" or "probability"
    probabilistic: bool
    margin: float | None  # nats between the two best paths
    pins: list[tuple[int, str]]
    terms: GapData | None
    ruler: RulerData | None
    marks: list[tuple[float, str]]  # strengths at which the best path flips
    messages: bool  # whether α is the message to the next word
    entity: EntityPanelData | None
    heading: list[str]
    pile: PileData | None
    used: UsedData | None
    gradient: GradientData | None
    asked: Cell | None
    constrained: bool | None  # None: the tagger has no hard constraints
    walk: WalkData
    step: int
    nodes: str
    covered: list[str]
    withheld: list[tuple[str, int, int]]  # part, first word, last word + 1
    chosen: Cell | None
    panel: str
    folding: str  # "yes", "no", or "" as the page decides
    rtl: bool  # whether the sentence runs from right to left
    direction: str  # "ltr" or "rtl" where the reader chose
    title: str | None
    reference: str
    contrast: str
    note: str
    legend: str
    hint: str
    asks: str  # page option that a chosen cell sets; "right" marks a gold tag
    # Only in the app; with `since`, the payload has only the changed fields.
    sentence: NotRequired[str]
    letters: NotRequired[bool]  # whether single-letter keys are enabled
    guest: NotRequired[GuestData]  # in another Streamlit app
    whole: NotRequired[str]  # name of this complete picture
    since: NotRequired[str]  # name of the complete picture to which the changes apply


class ChoiceData(TypedDict):
    """A choice that a key of the labeller selects."""

    name: str
    key: str
    colour: str


class DisputeData(TypedDict):
    """Words on which the versions of a sentence disagree."""

    first: int  # word
    last: int
    readings: list[str]  # each version as one line
    split: bool  # whether versions split the words differently
    why: str | None  # address of the page that explains the model's tags


class VersionsData(TypedDict):
    """The versions of a sentence with disputes to settle."""

    names: list[str]
    lanes: list[list[str]]  # by version: the tag of each word; empty without a dispute
    disputes: list[DisputeData]
    left: int  # number of open disputes


class OccurrenceData(TypedDict):
    """A place where the words of a marked name stand again."""

    sentence: int  # number, from 1
    before: str
    words: str
    after: str
    tag: str  # present or proposed
    p: float | None  # of a proposed tag
    answer: str  # yes, no or empty


class EverywhereData(TypedDict):
    """The name that the last step marked, elsewhere in the document."""

    left: int  # undecided places
    text: str
    rows: list[OccurrenceData] | None  # the open list


class WhyData(TypedDict):
    """Why a word has its tag."""

    word: int
    lines: list[str]


class LabellerPayload(TypedDict):
    """One sentence on an annotator's screen."""

    item: int
    revision: int
    state: str
    bio: bool
    choices: list[ChoiceData]
    words: list[str]
    gaps: list[str]
    tags: list[str]
    sure: list[float]
    pinned: list[int]
    doubtful: list[int]
    ranked: list[list[tuple[int, float]]]  # by word: index of the choice, probability
    changed: dict[str, str]
    seen: dict[str, str]  # by word: why another source than the model proposes its tag
    ack: int
    note: str
    problem: str
    held: bool  # whether the browser keeps the last event and sends it again
    reason: str
    place: str
    probabilistic: bool
    letters: bool
    blank: bool  # whether there is no model
    advances: bool  # whether the cursor moves to the next word after a tag
    rtl: bool  # whether the sentence runs from right to left
    versions: VersionsData | None
    everywhere: EverywhereData | None
    why: WhyData | None
    guest: NotRequired[bool]  # whether the labeller is in another Streamlit app
