"""Steps of an annotator: set tags, mark entities, split and join words.

Pure functions on pins (position to tag name) and offsets (start and end of each word). Entities are
marked completely: the mark determines their B- and I- tags, so partial entities cannot exist.
"""

from collections.abc import Callable, Mapping

from crfviz.exceptions import ShapeError
from crfviz.text.schemes import OUTSIDE, begin, continues, inside, is_inside, spans, split_tag
from crfviz.text.sentences import Offsets

Pins = Mapping[int, str]


def set_tag(pins: Pins, first: int, last: int, tag: str) -> dict[int, str]:
    return {**pins, **dict.fromkeys(range(first, last + 1), tag)}


def mark_entity(pins: Pins, first: int, last: int, kind: str) -> dict[int, str]:
    """Return the pins with an entity on the words first to last, or with none if `kind` is empty.

    The mark replaces all overlapping entities of the annotator.
    """
    kept, tags = dict(pins), [pins.get(t, "") for t in range(max(pins, default=-1) + 1)]
    for span in spans(tags):
        if span.start <= last and first < span.end:
            for position in range(span.start, span.end):
                del kept[position]
    if not kind:
        return set_tag(kept, first, last, OUTSIDE)
    return {**set_tag(kept, first, last, inside(kind)), first: begin(kind)}


def ends(pins: Pins, length: int) -> list[tuple[int, str]]:
    """Return the cells (position, tag) that are forbidden because a marked entity ends before them.

    The pins are BIO tags of some of the T words.
    """
    return [
        (position + 1, inside(kind))
        for position, tag in sorted(pins.items())
        if (kind := split_tag(tag)[1]) and position + 1 < length and position + 1 not in pins
    ]


def split_word(
    text: str, offsets: Offsets, pins: Pins, word: int, at: int
) -> tuple[Offsets, dict[int, str]]:
    """Return words and pins after splitting one word; other pins stay with their words.

    Both halves of a word in an entity stay in the entity; any other tag of the word is dropped.
    Blanks at the split, a character offset in the word, belong to neither half.

    Raises:
        ShapeError: the word does not exist, or one half would be empty.

    """
    start, end = _place(offsets, word)
    left, right = text[start : start + at].rstrip(), text[start + at : end].lstrip()
    if not (0 < at < end - start and left and right):
        raise ShapeError(f"a word of {end - start} characters cannot be cut at {at}")
    halves = ((start, start + len(left)), (end - len(right), end))
    moved = _moved(pins, lambda position: position + (position > word), without={word})
    prefix, kind = split_tag(pins.get(word, ""))
    if prefix:
        moved[word] = pins[word]
        moved[word + 1] = inside(kind) if kind else OUTSIDE
    return (*offsets[:word], *halves, *offsets[word + 1 :]), moved


def join_words(offsets: Offsets, pins: Pins, word: int) -> tuple[Offsets, dict[int, str]]:
    """Return words and pins after joining a word to the next; other pins stay with their words.

    A tag that both words share is kept.
    """
    start, _ = _place(offsets, word)
    _, end = _place(offsets, word + 1)
    moved = _moved(pins, lambda position: position - (position > word), without={word, word + 1})
    left, right = pins.get(word, ""), pins.get(word + 1, "")
    if left and (left == right or continues(right, left)):
        moved[word] = left
    else:
        rest = word + 1
        while is_inside(moved.get(rest, "")):  # its B- tag was dropped
            del moved[rest]
            rest += 1
    return (*offsets[:word], (start, end), *offsets[word + 2 :]), moved


def _moved(pins: Pins, move: Callable[[int], int], *, without: set[int]) -> dict[int, str]:
    return {move(position): tag for position, tag in pins.items() if position not in without}


def _place(offsets: Offsets, word: int) -> tuple[int, int]:
    if not 0 <= word < len(offsets):
        raise ShapeError(f"the words are 0 to {len(offsets) - 1}, got {word}")
    return offsets[word]
