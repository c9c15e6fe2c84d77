"""The data of a live file: the chain of one sentence, and how each page draws it.

The file computes every number itself from the scores; `web/local_backend.js` reads this format.

Letters: `T` tokens, `K` tags.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.decoding.viterbi import margin
from crfviz.chain.edits import Edits
from crfviz.chain.homework.grade import Trace
from crfviz.chain.patterns import Automaton
from crfviz.chain.potentials import Potentials
from crfviz.chain.validation import words as checked_words
from crfviz.exceptions import CrfvizError
from crfviz.taggers.registry import SHIPPED
from crfviz.taggers.tagger import HMM, MEMM, Tagger
from crfviz.text.files import abbreviate_value
from crfviz.views.frames.homework import trace_picture
from crfviz.views.stage.payload import encoded, payload
from crfviz.views.stage.payload_types import Payload
from crfviz.views.stage.picture import WINDOW, Matrix, Picture, Row, Subject, most_words
from crfviz.views.stage.walks import viterbi_walk
from crfviz.views.strips.decoders import LABELS
from crfviz.views.strips.pictures import (
    GHOSTS,
    PROBABILITY,
    SWEEP_DISPLAYS,
    emission_picture,
    explore_picture,
    marginal_picture,
    sweep_picture,
    transition_picture,
    viterbi_picture,
)
from crfviz.views.strips.rules import decoded_by_browser, with_rule

OF_SCORES = "Made with crfviz from scores alone: no link can open them again, so keep this."
Draw = Callable[["Live", Analysis, Analysis | None], Picture]  # of the chain now, and before edits

# Fields of a picture's payload that no edit changes.
_OF_PICTURE = (
    *("title", "reference", "contrast", "hint", "legend", "panels", "display", "messages", "used"),
)
_SHARED = (
    "words",
    "tags",
    "colours",
    "trained",
    "edits",
    "pins",
    "kept",
    "probabilistic",
    "margin",
)  # by all pages
_NUMBERS = ("values", "trained", "outlined")  # of a table
TRACE = "trace"  # the only page of a trace
KEPT = "kept"  # a page stored as it was on the screen, with numbers that only Python computes


@dataclass(frozen=True)
class Page:
    """A page of the file."""

    title: str
    draw: Draw
    path: str = ""  # of the app's page
    note: str = "edits"  # which note `local_backend.js` writes
    gold: bool = False  # whether it has a row of right tags
    displays: Mapping[str, str] = field(default_factory=dict)  # of its numbers, with their names


PAGES: Mapping[str, Page] = {
    "explore": Page(
        "Explore", lambda live, now, _: explore_picture(now, live.gold), note="decoders", gold=True
    ),
    "emissions": Page(
        "Emissions",
        lambda live, now, before: emission_picture(now, before, live.display),
        "emissions",
    ),
    "transitions": Page(
        "Transitions",
        lambda live, now, before: transition_picture(now, before, live.gold, Matrix(live.display)),
        "transitions",
        gold=True,
    ),
    "forward-backward": Page(
        "Forward–backward",
        lambda _, now, before: sweep_picture(now, before),
        "forward-backward",
        "sweeps",
        displays=SWEEP_DISPLAYS,
    ),
    "viterbi": Page(
        "Viterbi",
        lambda live, now, _: viterbi_picture(now, live.gold),
        "viterbi",
        note="none",
        gold=True,
        displays=SWEEP_DISPLAYS,
    ),
    "marginals": Page(
        "Marginals", lambda _, now, before: marginal_picture(now, before), "marginals", "entropy"
    ),
}
OF_KEPT = Page("Risk", lambda live, *_: live.kept_picture, "risk", note="kept")
OF_TRACE = Page("Your code", lambda live, *_: trace_picture(live.given_trace), note="given")


@dataclass(frozen=True)
class Origin:
    """The origin of the scores, as far as another machine can use it."""

    model: str = ""  # name of a shipped model; empty for scores alone
    sentence: str = ""  # as typed
    constrained: bool = True
    view: Mapping[str, str] = field(default_factory=dict)  # page options of the page that is kept


@dataclass(frozen=True, eq=False)
class Live:
    """One sentence under one chain, and the state in which the file opens."""

    potentials: Potentials  # before edits and pins
    edits: Edits = field(default_factory=Edits)
    pins: Mapping[int, str] = field(default_factory=dict)  # position to tag
    gold: Sequence[int] | None = None  # T tag ids
    origin: Origin = Origin()
    probabilistic: bool = True  # whether the model defines probabilities, not only scores
    rule: Automaton | None = None  # the active rule; None if it has too many states
    of_probabilities: bool = False  # whether each score is the logarithm of a probability
    opens: str = ""  # id of a page; the first page if the file lacks it
    step: int | None = None  # number of steps done; None: where the page opens
    covered: Sequence[str] = ()  # parts that are switched off
    trace: Trace | None = None  # writes of a program, played instead of the pages
    direction: str = ""  # "ltr" or "rtl" if the reader chose one
    kept: Picture | None = None  # of an additional page, at which the file opens
    code: str = ""  # Python code that prints the page's own numbers from `potentials`

    @property
    def in_sight(self) -> Analysis:
        """The chain that the file opens with, at the words that are drawn first."""
        long = len(self.now.words) > WINDOW
        return self.now.window(0, WINDOW) if long else self.now

    @property
    def given_trace(self) -> Trace:
        assert self.trace is not None
        return self.trace

    @property
    def kept_picture(self) -> Picture:
        assert self.kept is not None
        return self.kept

    @property
    def display(self) -> str:
        """The format of weights: probability or score."""
        return PROBABILITY if self.of_probabilities else "score"

    @cached_property
    def trained(self) -> Analysis:
        return analyse(self.potentials)

    @cached_property
    def now(self) -> Analysis:
        """The chain that the file opens with."""
        if not self.edits and not self.pins:
            return self.trained
        return analyse(self.edits.apply(self.potentials).pin(self.pins))


def checked_pages(pages: Sequence[str] | None) -> list[str]:
    """Return the ids of the requested pages in their order; all pages for None.

    Raises:
        CrfvizError: there is no such page, or none at all.
    """
    requested = list(PAGES) if pages is None else list(dict.fromkeys(pages))
    unknown = [page for page in requested if page not in PAGES]
    if unknown or not requested or isinstance(pages, str):
        received = abbreviate_value(pages if isinstance(pages, str) or not unknown else unknown[0])
        raise CrfvizError(f"pages must be some of {', '.join(PAGES)}, got {received}")
    return requested


def data(live: Live, pages: Sequence[str]) -> dict[str, object]:
    """Return the file's data, ready for JSON.

    Args:
        live: the content; at most `most_words` words, of which a window is drawn.
        pages: ids of `PAGES`, at least one.

    Raises:
        CrfvizError: the sentence is too long.
    """
    chain = live.potentials
    uniform = chain.homogeneous
    most = WINDOW if live.trace else most_words(chain.num_tags, homogeneous=uniform)
    if chain.num_tokens > most:
        raise CrfvizError(
            f"a live file of {chain.num_tags} tags holds at most {most:,} words, "
            f"got {chain.num_tokens:,}: cut it first"
        )
    if live.trace:
        pages = [TRACE]
    elif live.kept:
        pages = [KEPT, *pages]
    whole = _payload(live, _ruled(live, explore_picture(live.trained, None)))
    return {name: value for name, value in whole.items() if name in _SHARED} | {
        "window": WINDOW,
        "pages": [_page(live, name) for name in pages],
        "opens": live.opens if live.opens in pages else pages[0],
        "step": live.step if live.opens in pages else None,
        "covered": list(live.covered),
        "direction": live.direction,
        "colouring": "system",
        "origin": _origin(live),
    }


def _payload(live: Live, picture: Picture) -> Payload:
    trained = live.trained
    return payload(
        Subject(
            trained,
            trained,
            edits=live.edits,
            pins=live.pins,
            probabilistic=live.probabilistic,
            margin=None if live.probabilistic else margin(trained.potentials),
        ),
        picture,
    )


def _page(live: Live, name: str) -> dict[str, object]:
    page, trained = {TRACE: OF_TRACE, KEPT: OF_KEPT, **PAGES}[name], live.trained
    counted = name in ("marginals", KEPT)  # only the paths that match the rule
    plain, changed = (page.draw(live, trained, by) for by in (None, trained))
    picture, edited = (each if counted else _ruled(live, each) for each in (plain, changed))
    fields = _payload(live, picture)
    kept = [
        {key: value for key, value in table.items() if key not in _NUMBERS}
        | {"framed": table["outlined"] is not None}
        for table in fields["tables"]
    ]
    walk, lost = fields["walk"], None
    if name == "viterbi":
        walks = [viterbi_walk(possible=way) for way in (True, False)]
        walk, lost = (encoded(_ruled(live, replace(plain, walk=each)).walk) for each in walks)
    rows, after = (_rows(each.rows) for each in (picture, edited))
    whole = {
        "id": name,
        "title": page.title,
        "path": page.path,
        "picture": {key: value for key, value in fields.items() if key in _OF_PICTURE}
        | {"tables": kept, "heading": fields["heading"] if name == KEPT else []}
        | ({"note": fields["note"]} if name in (TRACE, KEPT) else {}),
        "rows": fields["rows"] if name == KEPT else rows,
        "gold": {"id": "gold", "label": LABELS["gold"], "value": ""} if page.gold else None,
        "editedRows": None if name == KEPT or after == rows else after,
        "editedLegend": " · ".join(filter(None, [edited.legend, GHOSTS])),
        "note": page.note,
        "displays": page.displays or None,
        "walk": walk,
        "lost": lost,
    }
    return {key: value for key, value in whole.items() if value is not None}


def _ruled(live: Live, picture: Picture) -> Picture:
    rule = live.rule and decoded_by_browser(live.rule, live.potentials)
    return with_rule(picture, rule, "", live.potentials) if rule else picture


def _rows(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [
        {"id": row.id, "label": row.label, "value": row.value}
        | {"tags": list(row.tags) if row.id == "gold" and row.tags is not None else None}
        for row in rows
    ]


def _origin(live: Live) -> Mapping[str, object]:
    origin = live.origin
    if not origin.model:
        return {"text": OF_SCORES, "address": "", "params": {}}
    params = {"model": origin.model, "sentence": origin.sentence}
    params |= {f"v.{name}": value for name, value in origin.view.items()}
    if live.rule:
        params["v.rule"] = live.rule.pattern
    return {
        "text": f"Made with crfviz, model {origin.model}.",
        "address": "http://localhost:8501/",  # the address of `make run`
        "params": params if origin.constrained else {**params, "c": "0"},
    }


What = Potentials | Tagger


def live_of(what: What, sentence: str | Sequence[str] | None) -> Live:
    """Return given scores, or those of a tagger for a sentence.

    Args:
        what: potentials, best with their words, or a tagger.
        sentence: for a tagger its sentence, as typed or as words; None for potentials.

    Raises:
        CrfvizError: `what` is neither, or the sentence is missing, empty or unexpected.
    """
    if isinstance(what, Potentials):
        if sentence is not None:
            raise CrfvizError("potentials are of one sentence already: expected no other one")
        return Live(what)
    if not hasattr(what, "potentials"):
        raise CrfvizError(f"expected Potentials or a tagger, got {abbreviate_value(what)}")
    if sentence is None:
        raise CrfvizError('a tagger needs a sentence, such as sentence="These look fine to me."')
    words = what.split(sentence) if isinstance(sentence, str) else [*checked_words(sentence)]
    typed = sentence if isinstance(sentence, str) else " ".join(words)
    return Live(
        what.potentials(words),
        origin=origin_of(what, typed) if what.split(typed) == words else Origin(),
        probabilistic=what.probabilistic,
        of_probabilities=what.family in (HMM, MEMM),
        gold=_gold(what, words),
    )


def origin_of(tagger: Tagger, sentence: str, *, constrained: bool = True) -> Origin:
    """Return the origin of a file; empty for a model that only this machine has."""
    if not Path(tagger.folder).resolve().is_relative_to(SHIPPED):
        return Origin()
    return Origin(tagger.name, sentence, constrained)


def _gold(tagger: Tagger, words: Sequence[str]) -> list[int] | None:
    """Return the right tag ids where the sentence is one of the tagger's examples."""
    for example in tagger.examples():
        known = example.gold and all(tag in tagger.tags for tag in example.gold)
        if known and tagger.split(example.text) == list(words):
            return [tagger.tags.index(tag) for tag in example.gold or ()]
    return None
