"""The format that Python sends and the stage's JavaScript reads, declared once.

The parts of a picture are the dataclasses of `picture` and `entity`, sent by `payload.encoded`;
what Python computes for a payload is declared here. `make types` writes `web/payload.d.ts` from
both, and a test holds that file and the payload of every page to them. Tables travel as base64 of
their bytes, so that every bit arrives.

Letters: `T` tokens, `K` tags.
"""

from typing import Annotated, Any, Literal, NewType, NotRequired, TypedDict

from crfviz.views.stage import picture
from crfviz.views.stage.entity import EntityPanel

Floats = NewType("Floats", str)  # base64 of float64, little-endian, in C order
Integers = NewType("Integers", str)  # base64 of int16, little-endian, in C order
Indices = NewType("Indices", str)  # base64 of int32, little-endian
Cell = tuple[int, int]  # position of a word, tag id
Side = Literal["matrix", "cell", "bars", "terms", "entity", "gradient"]
# Dataclasses as `payload.encoded` writes them.
RowData = Annotated[dict[str, Any], picture.Row]
GridData = Annotated[dict[str, Any], picture.Grid]
WalkData = Annotated[dict[str, Any], picture.Walk]
RulerData = Annotated[dict[str, Any], picture.Ruler]
GapData = Annotated[dict[str, Any], picture.Gap]
EntityPanelData = Annotated[dict[str, Any], EntityPanel]


class Panels(TypedDict):
    """The parts of the picture."""

    main: list[str]  # "strips", "lattice", "spans", a graph, or a table by its name
    side: Side | None  # the panel beside the words
    compact: bool  # rows as low as can be read


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
    """Changes by the reader."""

    # From and to by name, START and END allowed; None: -inf.
    transitions: list[tuple[str, str, float | None]]
    emissions: list[tuple[int, str, float | None]]  # position, tag by name, score
    strength: float


class CopiesData(TypedDict):
    """Tags that a rule's automaton has split, one for each state: a chain times an automaton."""

    of: list[str]  # K names of the tags that they are copies of
    allowed: Integers  # (K + 1, K + 1) 1 or 0: START on top, END at the right


class OverviewData(TypedDict):
    """Best path and marginals of a whole sentence, of which a window is drawn."""

    path: list[int] | None  # tag ids of the best path
    marginals: Floats  # of `total` words


class Results(TypedDict):
    """The chain as it is now."""

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
    """The chain as trained, while edits are active."""

    path: list[int] | None
    probability: float
    log_partition: float | None
    marginals: NotRequired[Floats]  # absent where the browser computes the tables
    alpha: NotRequired[Floats]
    beta: NotRequired[Floats]
    best: NotRequired[Floats]


class PileData(TypedDict):
    """Counts of each tag and each move in the samples."""

    drawn: int
    newest: list[int] | None
    uses: Integers  # (T, K)
    moves: Integers  # rows of step, from, to, count; only those with a count


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
    """The stage in an app of somebody else, which has no buttons of its own for edits."""

    undo: bool  # whether there is something to undo
    redo: bool
    reset: bool
    fixed: bool  # whether nothing can be edited


class HostData(TypedDict):
    """What a host of the stage adds to a picture."""

    sentence: NotRequired[str]  # of which the positions of events count
    letters: NotRequired[bool]  # whether keys of one letter act
    guest: NotRequired[GuestData]  # in an app of somebody else


class Payload(TypedDict):
    """One picture on the stage."""

    ack: int  # the highest event number that has been applied
    words: list[str]  # those that are drawn: T
    offset: int  # position of the first of them in the sentence
    total: int  # words of the sentence: `trained` has the scores of all, `edits` and `pins` may be
    tags: list[str]
    colours: list[str]  # of the tags
    panels: Panels
    trained: Scores | None  # None: nothing here changes a score
    edits: EditList
    copies: CopiesData | None  # None: each tag is itself
    kept: CopiesData | None  # of the rule whose best path is the row "rule"
    overview: OverviewData | None  # where a window's sentence cannot be computed from `trained`
    results: Results
    ghost: TrainedResults | None  # None: nothing is edited
    rows: list[RowData]
    tables: list[GridData]
    display: str  # of the matrix: "score" or "probability"
    probabilistic: bool
    margin: float | None  # nats between the two best paths
    pins: list[tuple[int, str]]
    terms: GapData | None
    ruler: RulerData | None
    marks: list[tuple[float, str]]  # strengths at which the best path flips
    messages: bool  # whether α is what a word passes on
    entity: EntityPanelData | None
    heading: list[str]
    pile: PileData | None
    gradient: GradientData | None
    asked: Cell | None
    constrained: bool | None  # None: the tagger has no hard constraints to switch
    walk: WalkData
    step: int
    nodes: str
    covered: list[str]
    withheld: list[tuple[str, int, int]]  # part, from a word up to before another
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
    asks: str  # option that a chosen cell goes to; "right" marks a right tag
    # As a page of the app sends it; with `since` it has only the fields that changed.
    sentence: NotRequired[str]
    letters: NotRequired[bool]  # whether keys of one letter act
    guest: NotRequired[GuestData]  # in an app of somebody else
    whole: NotRequired[str]  # name of this complete picture
    since: NotRequired[str]  # name of the complete picture that these are changes of


class ChoiceData(TypedDict):
    """Something a key of the labeller can mean."""

    name: str
    key: str
    colour: str


class DisputeData(TypedDict):
    """Words about which versions of a sentence disagree."""

    first: int  # word
    last: int
    readings: list[str]  # of each version
    split: bool  # whether versions split the words differently
    why: str | None  # address of the page that explains the model's tags


class VersionsData(TypedDict):
    """The versions of a sentence that are to be settled."""

    names: list[str]
    lanes: list[list[str]]  # of each version: what it says of each word; empty without a dispute
    disputes: list[DisputeData]
    left: int  # disputes that nobody has settled yet


class LabellerPayload(TypedDict):
    """One sentence in front of an annotator."""

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
    ranked: list[list[tuple[int, float]]]  # by word: number of the choice, probability
    changed: dict[str, str]
    gold: list[str] | None
    ack: int
    note: str
    problem: str
    held: bool  # whether it waits in the browser, to be sent again
    reason: str
    place: str
    probabilistic: bool
    letters: bool
    blank: bool  # whether there is no model
    advances: bool  # whether the cursor goes on to the next word after a tag
    rtl: bool  # whether the sentence runs from right to left
    versions: VersionsData | None
    guest: NotRequired[bool]  # whether it is in an app of somebody else
