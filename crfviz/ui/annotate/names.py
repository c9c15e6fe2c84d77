"""The same name elsewhere in a document, remembered names, and why a word has its tag."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock

from crfviz.annotations import everywhere, labelling
from crfviz.annotations.everywhere import Name, Place
from crfviz.annotations.hints import Hint, file_hints, hinted
from crfviz.annotations.labelling import Desk
from crfviz.annotations.marking import ends
from crfviz.annotations.memory import Memory
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store import names as queries
from crfviz.annotations.store.names import MAX_SENTENCES
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.questions.conditioning import restrict
from crfviz.exceptions import ConflictError, CrfvizError
from crfviz.taggers.blank import BlankTagger
from crfviz.text.schemes import is_bio
from crfviz.text.sentences import words_at
from crfviz.ui.annotate.documents import store, tagger_of
from crfviz.ui.annotate.queue import Queue
from crfviz.ui.session.session_store import LRUCache, server_value, session_value
from crfviz.views.stage.labeller import NO_ENTITY, plain_tag
from crfviz.views.stage.payload_types import EverywhereData, OccurrenceData, WhyData
from crfviz.views.strips.why import why_lines

AROUND = 5  # words before and after a place
MAX_LISTED = 200  # places in the list
_LOCK = Lock()


@dataclass
class Row:
    """One place in the list, and what the annotator said about it."""

    place: Place
    tag: str  # present or proposed
    probability: float | None  # of a proposed tag; None without a model
    answer: str = ""  # yes, no or empty
    before: Annotation | None = None  # the version before a yes
    revision: int = 0  # of the version with the yes


@dataclass
class Everywhere:
    """The name that the last step marked, and the list of its places once it is open."""

    layer: str = ""
    item: int = 0  # sentence of the mark
    name: Name | None = None
    first: int = 0  # character of the mark
    left: int = 0  # undecided places elsewhere
    rows: list[Row] | None = None  # None while the list is closed
    why: WhyData | None = None


def shown() -> Everywhere:
    """Return what this session shows beside the sentence."""
    return session_value("everywhere", Everywhere)


def reasons() -> WhyData | None:
    """Return the open explanation of a word."""
    return shown().why


def forget() -> None:
    """Close what is open beside the sentence: another one is drawn."""
    now = shown()
    now.rows, now.name, now.left, now.why = None, None, 0, None


def hints_of(queue: Queue, item: Item, *, renew: bool = True) -> tuple[Hint, ...]:
    """Return the proposals for a sentence from elsewhere than the model.

    Without `renew`, names that were stored since the last call are left out.
    """
    document, who = queue.document, queue.layer
    known = file_hints(item) if document.settings.proposes_gold else ()
    if not is_bio(tagger_of(document).tags):
        return known
    no = queries.refused(store(), document.name, who, item=item.id)
    with _LOCK:
        memory = _memory(queue, renew=renew)
        return (*known, *memory.hints(item, {(first, last) for _, first, last in no}))


def _memory(queue: Queue, *, renew: bool) -> Memory:
    document, who = queue.document, queue.layer
    memories = server_value("names", lambda: LRUCache[Memory](32))
    key = f"{document.key} {who}"
    memory = memories.get(key) or Memory()
    memories.add(key, memory)
    if renew and (new := memory.changed(queries.revisions(store(), document.name, who))):
        memory.learn(queries.versions_of(store(), new, who))
    return memory


def after_step(queue: Queue, desk: Desk, after: Annotation, word: int | None) -> None:
    """Look for the name at a word elsewhere, after a step; None closes the line."""
    forget()
    now = shown()
    found = None if word is None or queue.settles else everywhere.marked_name(desk, after, word)
    if found is None:
        return
    now.name, first = found
    now.layer, now.item = queue.layer, after.item
    now.first = after.offsets[first][0]
    now.left = len(_places(queue, now))


def _places(queue: Queue, now: Everywhere) -> list[Place]:
    if now.name is None:
        return []
    name, what = queue.document.name, now.name
    rows = queries.sentences_with(store(), name, queue.layer, what.words)
    refused = queries.refused(store(), name, queue.layer, what.what)
    bio = is_bio(tagger_of(queue.document).tags)
    found = everywhere.undecided(rows, what, refused, bio=bio)
    here = (now.item, now.first)
    return [place for place in found if (place.item.id, place.ends[0]) != here]


def answer(queue: Queue, desk_of: everywhere.DeskOf, said: str, at: int) -> None:
    """Carry out an answer in the list: open, close, yes, no, all, undo, or undo all.

    Raises:
        ConflictError: a sentence was changed meanwhile.
        ValueError: the answer or the row is unknown.
    """
    now = shown()
    if said == "open":
        places = _places(queue, now)[:MAX_LISTED]
        now.rows, now.why = [_row(desk_of(place.item.id), place) for place in places], None
    elif said == "close":
        now.rows = None
    elif now.rows is None or now.name is None or not -1 <= at < len(now.rows):
        raise ValueError
    else:
        if said == "all":  # also the places beyond the list
            listed = {(row.place.item.id, row.place.ends) for row in now.rows}
            more = [p for p in _places(queue, now) if (p.item.id, p.ends) not in listed]
            now.rows += [Row(place, "", None) for place in more]
        rows = now.rows if said in ("all", "undo all") else [now.rows[at]]
        if said in ("all", "yes"):
            _confirm(queue, desk_of, [row for row in rows if not row.answer], now.name)
        elif said == "no" and not rows[0].answer:
            place = rows[0].place
            queries.refuse(store(), place.item.id, queue.layer, place.ends, now.name)
            rows[0].answer = "no"
        elif said in ("undo", "undo all"):
            for row in sorted(rows, key=lambda each: -each.revision):  # the latest first
                _take_back(queue, row, now.name)
        now.left = len(_places(queue, now))


def _row(desk: Desk, place: Place) -> Row:
    said = place.annotation
    if said is not None and said.state == "done":
        return Row(place, plain_tag(said.final[place.first]), None)
    try:
        proposal = desk.propose(place.offsets, {} if said is None else said.pins)
    except CrfvizError:  # the model cannot score the sentence
        return Row(place, NO_ENTITY, None)
    silent = isinstance(desk.tagger, BlankTagger)
    sure = None if silent else proposal.probabilities[place.first]
    return Row(place, plain_tag(proposal.tags[place.first]), sure)


def _confirm(queue: Queue, desk_of: everywhere.DeskOf, rows: list[Row], name: Name) -> None:
    """Store a pin at each place, all of them or none; several of one sentence follow each other."""
    before: dict[int, Annotation] = {}
    after: dict[int, Annotation] = {}
    for place in (row.place for row in rows):
        item, desk = place.item.id, desk_of(place.item.id)
        if item not in after:
            stored = store().annotation(item, queue.layer)
            before[item] = after[item] = stored or labelling.begin(desk)
            if after[item].offsets != place.offsets:
                raise ConflictError("A sentence was changed meanwhile: open the list again.")
        after[item] = everywhere.confirm(desk, after[item], place, name.what)
    tags = tagger_of(queue.document).tags
    saved = {each.item: each for each in queries.save_all(store(), [*after.values()], tags)}
    for row in rows:
        row.answer, row.revision = "yes", saved[row.place.item.id].revision
        row.before = before[row.place.item.id]


def _take_back(queue: Queue, row: Row, name: Name) -> None:
    """Undo the answer of a row; other answers in its sentence of the same moment go with it."""
    item = row.place.item.id
    if row.answer == "no":
        queries.take_back(store(), item, queue.layer, row.place.ends, name)
        row.answer = ""
    if row.answer != "yes" or row.before is None:
        return
    stored = store().annotation(item, queue.layer)
    if stored is None or stored.revision != row.revision:
        raise ConflictError(
            f"Sentence {row.place.item.position + 1:,} was changed after this yes: undo that first."
        )
    back = replace(row.before, revision=stored.revision, created=stored.created)
    saved, undone = store().save(back, tagger_of(queue.document).tags), row.revision
    for other in shown().rows or ():
        if other.place.item.id == item and other.revision == undone:
            other.answer, other.revision = "", 0
        elif other.place.item.id == item and other.revision == row.before.revision > 0:
            other.revision = saved.revision  # an earlier yes in the same sentence


def explain(desk: Desk, annotation: Annotation, word: int) -> None:
    """Show why a word has its tag, under the annotator's tags; once more hides it."""
    now = shown()
    if now.why is not None and now.why["word"] == word:
        now.why = None
        return
    pins = annotation.pins
    lines = []
    if word in pins:
        lines.append(f"You have set {annotation.final[word]} here.")
    hint = hinted(annotation.offsets, pins, desk.hints, desk.tagger.tags).get(word)
    if hint and hint[1]:
        lines.append(f"{hint[0]} is proposed because it was {hint[1].replace('from', 'given by')}.")
    if isinstance(desk.tagger, BlankTagger):
        lines += [] if lines else ["There is no model yet, and nothing proposes a tag here."]
    else:
        potentials = desk.tagger.potentials(words_at(desk.item.text, annotation.offsets))
        others = {t: tag for t, tag in pins.items() if t != word}  # what speaks against the own tag
        bound = ends(others, len(annotation.offsets)) if desk.bio else ()
        chain = analyse(restrict(potentials, others, bound))
        lines += why_lines(chain, word)
        if others:
            number = len(others)
            lines.append(
                f"This holds under {number} other {'tags' if number > 1 else 'tag'} of yours."
            )
    now.why = {"word": word, "lines": lines}


def everywhere_data(queue: Queue, item: int) -> EverywhereData | None:
    """Return the line below the sentence and its list; None without a name."""
    now = shown()
    if now.name is None or (now.item, now.layer) != (item, queue.layer):
        return None
    rows = None if now.rows is None else [_occurrence(row) for row in now.rows]
    more = "+" if now.left >= MAX_SENTENCES else ""
    return {
        "left": now.left,
        "text": f"{' '.join(now.name.words)}: {now.left:,}{more} more",
        "rows": rows,
    }


def _occurrence(row: Row) -> OccurrenceData:
    place, text = row.place, row.place.item.text
    offsets = place.offsets
    start, end = place.ends
    first = offsets[max(0, place.first - AROUND)][0]
    last = offsets[min(len(offsets) - 1, place.last + AROUND)][1]
    return {
        "sentence": place.item.position + 1,
        "before": ("… " if place.first > AROUND else "") + text[first:start],
        "words": text[start:end],
        "after": text[end:last] + (" …" if last < len(text) else ""),
        "tag": row.tag,
        "p": None if row.probability is None else round(row.probability, 4),
        "answer": row.answer,
    }


def marked_word(event: Mapping[object, object]) -> int | None:
    """Return the word whose name a step marks; None for other steps."""
    word = event.get({"correct": "first", "resize": "word"}.get(str(event["kind"]), ""))
    return word if isinstance(word, int) else None
