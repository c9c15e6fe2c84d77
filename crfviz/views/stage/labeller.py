"""The payload of the labeller: one sentence, its tags, and the model's probabilities.

`web/labelling/` draws the words and maps keys to events; Python applies the events.
"""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from torch import Tensor

from crfviz.annotations.curation import Word, disputes, unanswered
from crfviz.annotations.labelling import Desk, Proposal
from crfviz.annotations.records import Annotation
from crfviz.annotations.settings import NONE_KEY, Settings
from crfviz.taggers.blank import UNSET, BlankTagger
from crfviz.text.direction import right_to_left
from crfviz.text.schemes import OUTSIDE, begin, is_bio, is_inside, split_tag
from crfviz.text.sentences import Offsets
from crfviz.views.stage.payload_types import (
    DisputeData,
    EverywhereData,
    LabellerPayload,
    VersionsData,
    WhyData,
)
from crfviz.views.theme import GREY, tag_colours

MAX_WORDS = 2000  # maximum length of a drawn sentence: about 200 kB for the browser
MAX_RANKED = 5  # number of likeliest tags sent for each word
NONE = ""  # the choice that says "no entity here"
DEFAULTS = Settings()
NO_KEYS: Mapping[str, str] = {}
EVERYWHERE_KEY = "e"  # lists the places of a marked name; no key of an entity type by default
NO_ENTITY = "none"  # displayed tag of a word outside entities


@dataclass(frozen=True)
class Choice:
    """A choice that a key selects: a tag, or an entity type if the tags are BIO."""

    name: str  # NONE: no entity
    key: str  # one letter; empty if no letter is left
    colour: str


def choices(tags: Sequence[str], settings: Settings = DEFAULTS) -> list[Choice]:
    """Return the choices for these tags, with the keys and colours of a document's settings.

    Choices without settings get an unused letter of their name and an unused colour.
    """
    tags = [tag for tag in tags if tag != UNSET]
    colours = dict(zip(tags, tag_colours(tags), strict=True))
    bio = is_bio(tags)
    names = (
        list(dict.fromkeys(kind for tag in tags if (kind := split_tag(tag)[1]))) if bio else tags
    )
    keys = letters(names, NONE_KEY + EVERYWHERE_KEY if bio else "", settings.keys)
    known = [
        Choice(name, keys[name], settings.colours.get(name, colours[begin(name) if bio else name]))
        for name in names
    ]
    return [*known, Choice(NONE, NONE_KEY, GREY)] if bio else known


def letters(
    names: Sequence[str], taken: str = "", given: Mapping[str, str] = NO_KEYS
) -> dict[str, str]:
    """Return a unique key for each name: the given one, a letter of the name, any letter, or "".

    >>> letters(["NOUN", "NUM", "PRON"], given={"NUM": "n"})
    {'NUM': 'n', 'NOUN': 'o', 'PRON': 'p'}
    """
    letter_of = {name: key for name, key in given.items() if name in names}
    used = {*taken, *letter_of.values()}
    free = [letter for letter in string.ascii_lowercase if letter not in used]
    for name in [name for name in names if name not in letter_of]:
        own = [letter for letter in name.lower() if letter in free]
        letter_of[name] = next(iter(own or free), "")
        if letter_of[name]:
            free.remove(letter_of[name])
    return letter_of


@dataclass
class LastStep:
    """The effect of the last step."""

    item: int = 0
    by: str = ""
    changed: Mapping[int, str] = field(default_factory=dict)  # position to the tag before
    note: str = ""
    problem: str = ""  # why the step was rejected
    held: bool = False  # whether the browser keeps the step until the store is back


@dataclass(frozen=True)
class Sheet:
    """One sentence on an annotator's screen."""

    desk: Desk
    annotation: Annotation
    proposal: Proposal
    last: LastStep
    reason: str = ""  # why this sentence comes next
    letters: bool = True  # whether letters, digits and signs are keys
    stays: bool = False  # whether the cursor stays after a tag is set without a proposal
    ack: int = 0
    settings: Settings = DEFAULTS  # of the document
    why: Sequence[str | None] = ()  # URL of the page that explains the model's tags, by dispute
    everywhere: EverywhereData | None = None
    reasons: WhyData | None = None  # of the word that the annotator asked about


def labeller_payload(sheet: Sheet) -> LabellerPayload:
    """Return the data of the component `labeller`: a few kilobytes at 40 words."""
    annotation, proposal, desk, last = sheet.annotation, sheet.proposal, sheet.desk, sheet.last
    tags, text, blank = desk.tagger.tags, desk.item.text, isinstance(desk.tagger, BlankTagger)
    options = choices(tags, sheet.settings)
    unset = [t for t, tag in enumerate(annotation.final) if tag == UNSET]
    done = annotation.state == "done"
    doubtful = unset if blank else [] if done else list(proposal.doubtful)
    if desk.versions:
        open_ones = unanswered(annotation, desk.versions)
        doubtful = [
            t
            for t, place in enumerate(annotation.offsets)
            if any(each.covers(place) for each in open_ones)
        ]
    return {
        "item": annotation.item,
        "revision": annotation.revision,
        "state": annotation.state,
        "bio": is_bio(tags),
        "choices": [{"name": c.name, "key": c.key, "colour": c.colour} for c in options],
        "words": [text[start:end] for start, end in annotation.offsets],
        "gaps": gaps(text, annotation.offsets),
        "tags": list(annotation.final),
        "sure": [round(p, 4) for p in proposal.probabilities],
        "pinned": sorted(annotation.pins),
        "doubtful": doubtful,
        "ranked": [] if blank else ranked(proposal.marginals, tags, options),
        "changed": {str(position): tag for position, tag in last.changed.items()},
        "seen": {str(t): why for t, why in desk.reasons(annotation).items()},
        "ack": sheet.ack,
        "note": last.note,
        "problem": last.problem,
        "held": last.held,
        "reason": sheet.reason,
        "place": f"Sentence {desk.item.position + 1:,}",
        "probabilistic": desk.tagger.probabilistic,
        "letters": sheet.letters,
        "blank": blank,
        "advances": blank and not (sheet.stays or is_bio(tags) or desk.versions),
        "rtl": right_to_left(text),
        "versions": _versions(sheet) if desk.versions else None,
        "everywhere": sheet.everywhere,
        "why": sheet.reasons,
    }


def _versions(sheet: Sheet) -> VersionsData:
    offsets, versions = sheet.annotation.offsets, sheet.desk.versions
    disagreements = disputes(versions)
    data: list[DisputeData] = []
    lanes = [[""] * len(offsets) for _ in versions]
    for each, why in zip_longest(disagreements, sheet.why):
        words = [t for t, place in enumerate(offsets) if each.covers(place)]
        data.append(
            {
                "first": words[0] if words else 0,
                "last": words[-1] if words else -1,
                "readings": [_reading(sheet.desk.item.text, reading) for reading in each.readings],
                "split": each.splits_words,
                "why": why,
            }
        )
        for lane, reading in zip(lanes, each.readings, strict=True):
            tag_of = {(start, end): tag for start, end, tag in reading}
            for t in words:
                lane[t] = plain_tag(tag_of[offsets[t]]) if offsets[t] in tag_of else "split"
    names = [each.annotator for each in versions]
    left = len(unanswered(sheet.annotation, versions))
    return {"names": names, "lanes": lanes, "disputes": data, "left": left}


def _reading(text: str, words: Sequence[Word]) -> str:
    """Return a version as one line of words and tags; an entity has one tag.

    >>> _reading("New York wins", [(0, 3, "B-LOC"), (4, 8, "I-LOC"), (9, 13, "O")])
    'New York LOC · wins none'
    """
    parts: list[tuple[str, str]] = []
    for start, end, tag in words:
        if is_inside(tag) and parts:
            parts[-1] = (f"{parts[-1][0]} {text[start:end]}", parts[-1][1])
        else:
            parts.append((text[start:end], plain_tag(tag)))
    return " · ".join(f"{words} {name}" for words, name in parts)


def plain_tag(tag: str) -> str:
    """Return a tag as the annotator sees it: the type of an entity, or `none`."""
    return NO_ENTITY if tag == OUTSIDE else "…" if is_inside(tag) else split_tag(tag)[1] or tag


def gaps(text: str, offsets: Offsets) -> list[str]:
    """Return the text between each word and the one before, which is usually whitespace."""
    before = [0, *(end for _, end in offsets[:-1])]
    return [text[a:start] for a, (start, _) in zip(before, offsets, strict=True)]


def ranked(
    marginals: Tensor, tags: Sequence[str], options: Sequence[Choice]
) -> list[list[tuple[int, float]]]:
    """Return the likeliest choices of each word: pairs (index of the choice, probability).

    The probability of a BIO type is the sum of its B- and I- tags; that of "no entity" is O's.
    """
    bio = is_bio(tags)
    of = [split_tag(tag)[1] if bio else tag for tag in tags]
    number = {choice.name: n for n, choice in enumerate(options)}
    rows = []
    for word in marginals.tolist():
        sums = [0.0] * len(options)
        for name, p in zip(of, word, strict=True):
            sums[number[name]] += p
        best = sorted(range(len(sums)), key=lambda n: -sums[n])[:MAX_RANKED]
        rows.append([(n, round(sums[n], 4)) for n in best])
    return rows
