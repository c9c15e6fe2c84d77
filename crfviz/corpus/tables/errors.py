"""What is behind the errors of a corpus: by kind, by pair of tags and by transition, and lists.

Kinds are those of `crfviz.chain.questions.triage`; what is put down to a transition, and how, says
`crfviz.corpus.run.results`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from crfviz.chain.questions.triage import KINDS
from crfviz.chain.weights import Move
from crfviz.corpus.run.errors import EntitySuspect, Error
from crfviz.corpus.run.results import ErrorTotals
from crfviz.corpus.table import Table
from crfviz.text.sentences import Sentence


def kind_table(totals: ErrorTotals) -> Table:
    """Errors and wrong words of each kind, all kinds in order."""
    return [
        {
            "kind": kind,
            "errors": totals.errors[kind],
            "words": totals.words[kind],
            "share": totals.errors[kind] / max(1, totals.total),
        }
        for kind in KINDS
    ]


def pair_table(totals: ErrorTotals) -> Table:
    """Wrong words by gold and predicted tag, most first, with the kinds of their errors."""
    total = sum(kinds.total() for kinds in totals.pairs.values())
    return [
        {
            "gold": gold,
            "predicted": predicted,
            "words": kinds.total(),
            "share": kinds.total() / total,
            **{kind: kinds[kind] for kind in KINDS},
        }
        for (gold, predicted), kinds in sorted(
            totals.pairs.items(), key=lambda item: -item[1].total()
        )
    ]


def transition_table(totals: ErrorTotals) -> Table:
    """Errors by the transition that is behind them, most first; see the module.

    `share` is that of all errors, `share_so_far` that of this row and those before it; `step_gap`
    is the mean of what the step said for the wrong move, in nats, infinite where gold's is
    forbidden.
    """
    moves = sorted(totals.moves.items(), key=lambda item: (-item[1][0], item[0]))
    shares = _shares([int(number) for _, (number, _) in moves], totals)
    return [
        {
            "chosen": " → ".join(chosen),
            "gold": " → ".join(gold),
            **cells,
            "step_gap": gap / number,
        }
        for ((chosen, gold), (number, gap)), cells in zip(moves, shares, strict=True)
    ]


def weight_table(totals: ErrorTotals) -> Table:
    """Errors by the single weight that is too strong at their step, most first."""
    counts: Counter[Move] = Counter()
    for (chosen, _), (number, _) in totals.moves.items():
        counts[chosen] += int(number)
    moves = counts.most_common()
    shares = _shares([number for _, number in moves], totals)
    return [
        {"from": before, "to": after, **cells}
        for ((before, after), _), cells in zip(moves, shares, strict=True)
    ]


def around(words: Sequence[str], first: int, last: int, beside: int = 3) -> str:
    """Some words in brackets, with those beside them.

    >>> around("so we walked home slowly in the rain".split(), 4, 4)
    '… we walked home [slowly] in the rain'
    """
    before, after = words[:first], words[last + 1 :]
    parts = [
        *["…"][: len(before) > beside],
        *before[-beside:],
        f"[{' '.join(words[first : last + 1])}]",
        *after[:beside],
        *["…"][: len(after) > beside],
    ]
    return " ".join(parts)


def error_table(errors: Sequence[Error], sentences: Mapping[int, Sentence]) -> Table:
    """One row for each error, with the words; sentences and positions count from 1."""
    return [
        {
            "sentence": error.sentence + 1,
            "position": error.first + 1,
            "words": " ".join(words[error.first : error.last + 1]),
            "around": around(words, error.first, error.last),
            "gold": " ".join(error.gold),
            "predicted": " ".join(error.predicted),
            "kind": error.triage.kind,
            "gap": error.triage.gap,
            "emission_gap": error.triage.emission_gap,
            "transition_gap": error.triage.transition_gap,
            "emission_change": error.triage.emission_change,
            "transition_change": error.triage.transition_change,
            "p_gold": error.gold_probability,
            "p_predicted": error.predicted_probability,
            "text": " ".join(words),
        }
        for error in errors
        for words in [sentences[error.sentence].tokens]
    ]


def entity_suspect_table(
    suspects: Sequence[EntitySuspect], sentences: Mapping[int, Sentence]
) -> Table:
    """One row for each; sentences and positions count from 1."""
    return [
        {
            "sentence": suspect.sentence + 1,
            "position": suspect.span.start + 1,
            "words": " ".join(words[suspect.span.start : suspect.span.end]),
            "around": around(words, suspect.span.start, suspect.span.end - 1),
            "type": suspect.span.type,
            "only_in": "gold" if suspect.in_gold else "prediction",
            "p_entity": suspect.probability,
            "doubt": suspect.doubt,
            "text": " ".join(words),
        }
        for suspect in suspects
        for words in [sentences[suspect.sentence].tokens]
    ]


def conll(errors: Sequence[Error], sentences: Mapping[int, Sentence]) -> str:
    """The sentences with errors as CoNLL columns: word, gold tag, predicted tag, kind.

    Words that are right have `_` for a kind. Columns are separated by TAB.
    """
    by_sentence: dict[int, list[Error]] = defaultdict(list)
    for error in errors:
        by_sentence[error.sentence].append(error)
    return "".join(
        "".join(f"{line}\n" for line in _lines(sentences[number], wrong)) + "\n"
        for number, wrong in sorted(by_sentence.items())
    )


def _lines(sentence: Sentence, errors: Sequence[Error]) -> Iterator[str]:
    tags = sentence.tags or ()
    predicted, kinds = list(tags), ["_"] * len(tags)
    for error in errors:
        predicted[error.first : error.last + 1] = error.predicted
        kinds[error.first : error.last + 1] = [error.triage.kind] * len(error.gold)
    for cells in zip(sentence.tokens, tags, predicted, kinds, strict=True):
        yield "\t".join(cells)


def _shares(numbers: Sequence[int], totals: ErrorTotals) -> Table:
    """Cells of each row for its number of errors, and of the rows so far."""
    return [
        {"errors": number, "share": number / totals.total, "share_so_far": so_far / totals.total}
        for number, so_far in zip(numbers, accumulate(numbers), strict=True)
    ]
