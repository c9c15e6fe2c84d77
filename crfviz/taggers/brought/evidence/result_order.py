"""Order of sentences: that of the model's results, where these can be compared.

A model may sort a batch before its layer gets it, call the layer twice, or change the paths of the
layer. Each is compared with the result of the outermost call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.evidence.agreement import tags_of
from crfviz.taggers.brought.evidence.matches import Match, are_alike, is_returned
from crfviz.taggers.brought.evidence.places import Sentence, is_rectangular, lengths_in, rows_of
from crfviz.taggers.brought.evidence.readings import LayerReading
from crfviz.taggers.brought.recorder import IDS, Call, Slot

MAX_NAMED = 8  # sentences in a message


@dataclass
class Ordered:
    """Sentences in the order of the model's results."""

    sentences: list[Sentence]
    remarks: list[str]  # what could not be compared


@dataclass(frozen=True)
class _Aligned:
    """The sentences of a call beside one result of it."""

    order: list[int]  # the sentence of each returned path
    paths: list[list[int]]  # the returned paths, in the reading's tags
    num_equal: int  # returned paths that the layer found
    doubtful: list[int]  # positions where another sentence has the same path


def ordered(match: Match, calls: Sequence[Call]) -> Ordered:
    """Return the sentences of a match in the order of the model's results.

    A path that the model returns in the place of its layer's replaces it.

    Raises:
        FormatError: the model returned more paths than there are sentences.
    """
    by_call = {number: list(each) for number, each in groupby(match.sentences, lambda s: s.call)}
    slots = {slot for call in calls for slot in call.paths if is_returned(slot, call)}
    candidates = [
        found
        for slot in sorted(slots)
        for turned in (False, True)
        if (found := _aligned(match.reading, by_call, calls, slot, turned=turned))
    ]
    best = max(candidates, key=_share, default={})
    kept, remarks = list[Sentence](), dict[str, None]()
    silent = 0
    for call in calls:
        part = by_call.get(call.number, [])
        if not part:
            silent += bool(call.scores) and any(is_returned(slot, call) for slot in call.paths)
            continue
        if call.number in best:
            aligned = best[call.number]
            if aligned.doubtful:
                named = _named(len(kept) + each for each in aligned.doubtful)
                remarks[
                    f"The model returns its paths in another order than its layer, and {named} "
                    "have the same path: compare their words."
                ] = None
            part = [
                replace(part[number], path=path)
                for number, path in zip(aligned.order, aligned.paths, strict=True)
            ]
        remarks |= dict.fromkeys(_by_length(part, call))
        kept += part
    if silent:
        remarks[
            f"{silent} of {len(calls)} calls have no sentence here: their scores or paths were not "
            "seen."
        ] = None
    return Ordered(kept, list(remarks))


def _share(found: dict[int, _Aligned]) -> tuple[float, bool]:
    """Return the share of returned paths that the layer found, and whether order was kept."""
    total = sum(len(each.paths) for each in found.values())
    in_order = all(each.order == sorted(each.order) for each in found.values())
    return sum(each.num_equal for each in found.values()) / total, in_order


def _aligned(
    reading: LayerReading,
    by_call: dict[int, list[Sentence]],
    calls: Sequence[Call],
    slot: Slot,
    *,
    turned: bool,
) -> dict[int, _Aligned]:
    """Return the calls beside a result with paths; empty if it is none of these sentences."""
    found: dict[int, _Aligned] = {}
    for call in calls:
        part = by_call.get(call.number)
        if part is None or not is_returned(slot, call) or slot not in call.paths:
            continue
        rows = list(rows_of(call.paths[slot]))[turned]
        aligned = _beside(reading, part, rows)
        if aligned is None:
            return {}
        found[call.number] = aligned
    total = sum(len(each.paths) for each in found.values())
    equal = sum(each.num_equal for each in found.values())
    return found if 2 * equal > total else {}


def _beside(
    reading: LayerReading, sentences: Sequence[Sentence], rows: Sequence[list[int]]
) -> _Aligned | None:
    """Return the sentences beside the returned paths of a call; None if they do not fit."""
    is_padded = is_rectangular(rows)

    def read(row: list[int], sentence: Sentence) -> list[int] | None:
        return tags_of(reading, row, len(sentence.path), is_padded=is_padded)

    if len(rows) == len(sentences):
        paths = [read(row, each) for row, each in zip(rows, sentences, strict=True)]
        same = [path == each.path for path, each in zip(paths, sentences, strict=True)]
        whole = [path for path in paths if path is not None]
        if len(whole) == len(paths) and all(same):
            return _Aligned(list(range(len(rows))), whole, sum(same), [])
    order: list[int] = []
    doubtful: list[int] = []
    for position, row in enumerate(rows):
        fit = [n for n, each in enumerate(sentences) if read(row, each) == each.path]
        fit = [n for n in fit if n not in order] or fit
        longest = max((len(sentences[n].path) for n in fit), default=0)
        best = [n for n in fit if len(sentences[n].path) == longest][:1]
        order += best
        # a shorter path fits as well where the rest of the row is padding
        others = [n for n in fit if len({*row[len(sentences[n].path) : longest]}) < 2]
        if any(not are_alike(reading, sentences[best[0]], sentences[n]) for n in others):
            doubtful.append(position)
    if not all(any(are_alike(reading, sentences[n], s) for n in order) for s in sentences):
        return _changed(reading, sentences, rows)
    if len(rows) > len(sentences):
        raise FormatError(
            f"The model returned {len(rows)} paths in a call, and the scores of only "
            f"{len(sentences)} of these sentences were seen. Call crfviz.register_adapter before."
        )
    if len(order) < len(rows) or (len(rows) == len(sentences) and len({*order}) < len(order)):
        return _changed(reading, sentences, rows)
    return _Aligned(order, [sentences[n].path for n in order], len(order), doubtful)


def _changed(
    reading: LayerReading, sentences: Sequence[Sentence], rows: Sequence[list[int]]
) -> _Aligned | None:
    """Return the sentences beside paths in their order, some of which the model has changed."""
    if len(rows) != len(sentences):
        return None
    is_padded = is_rectangular(rows)
    pairs = list(zip(rows, sentences, strict=True))
    paths = [tags_of(reading, row, len(s.path), is_padded=is_padded) for row, s in pairs]
    whole = [path for path in paths if path is not None]
    if len(whole) < len(paths):
        return None
    equal = sum(path == each.path for path, each in zip(whole, sentences, strict=True))
    return _Aligned(list(range(len(rows))), whole, equal, [])


def _by_length(sentences: Sequence[Sentence], call: Call) -> Iterator[str]:
    """Yield remarks where the arguments of a call have other lengths than its sentences."""
    lengths = [len(each.path) for each in sentences]
    for slot in (*call.masks, *call.lengths):
        if slot[0] != call.method or slot[1].startswith("result"):
            continue
        given = lengths_in(call, slot, len(sentences))
        if given is None or given == lengths:
            continue
        if sorted(given) == sorted(lengths):
            yield (
                "The layer gets the sentences of a batch in another order than the model: compare "
                "their words."
            )
        is_longer = all(ours >= theirs for ours, theirs in zip(lengths, given, strict=True))
        if is_longer and len(set(lengths)) == 1 and not slot[1].endswith(IDS):
            count = sum(ours > theirs for ours, theirs in zip(lengths, given, strict=True))
            yield f"{count} of {len(lengths)} sentences end with padding, which the layer decodes."


def _named(numbers: Iterator[int]) -> str:
    said = [str(number + 1) for number in numbers]
    return f"sentences {', '.join(said[:MAX_NAMED])}{' …' * (len(said) > MAX_NAMED)}"
