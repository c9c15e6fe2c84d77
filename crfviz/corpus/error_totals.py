"""What is behind the errors of a corpus: totals by kind, by pair of tags and by transition.

Kinds are those of `crfviz.chain.triage`. An error is put down to a transition if its kind is
transition, both or constraint: to the step that speaks most against gold, by the move that the best
path makes there (too strong) and the move that gold makes there (too weak, or forbidden).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from crfviz.chain.triage import KINDS
from crfviz.corpus.errors import Error
from crfviz.corpus.tables import Row, Table
from crfviz.text.sentences import Sentence

OF_TRANSITIONS = ("transition", "both", "constraint")  # kinds that are put down to a step


def kind_table(errors: Sequence[Error]) -> Table:
    """Errors and wrong words of each kind, all kinds in order."""
    counts = Counter(error.triage.kind for error in errors)
    words = Counter(dict.fromkeys(KINDS, 0))
    for error in errors:
        words[error.triage.kind] += len(error.gold)
    return [
        {
            "kind": kind,
            "errors": counts[kind],
            "words": words[kind],
            "share": counts[kind] / max(1, len(errors)),
        }
        for kind in KINDS
    ]


def pair_table(errors: Sequence[Error]) -> Table:
    """Wrong words by gold and predicted tag, most first, with the kinds of their errors."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for error in errors:
        for pair in zip(error.gold, error.predicted, strict=True):
            counts[pair][error.triage.kind] += 1
    total = sum(kinds.total() for kinds in counts.values())
    return [
        {
            "gold": gold,
            "predicted": predicted,
            "words": kinds.total(),
            "share": kinds.total() / total,
            **{kind: kinds[kind] for kind in KINDS},
        }
        for (gold, predicted), kinds in sorted(counts.items(), key=lambda item: -item[1].total())
    ]


def transition_table(errors: Sequence[Error]) -> Table:
    """Errors by the transition that is behind them, most first; see the module.

    `share` is that of all errors, `share_so_far` that of this row and those before it; `step_gap`
    is the mean of what the step said for the wrong move, in nats, None where gold's is forbidden.
    """
    behind: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for error in errors:
        if error.triage.kind in OF_TRANSITIONS:
            behind[(*error.chosen_move, *error.gold_move)].append(error.step_gap)
    rows: Table = []
    so_far = 0
    for move, gaps in sorted(behind.items(), key=lambda item: (-len(item[1]), item[0])):
        so_far += len(gaps)
        rows.append(
            {
                "chosen": " → ".join(move[:2]),
                "gold": " → ".join(move[2:]),
                "errors": len(gaps),
                "share": len(gaps) / len(errors),
                "share_so_far": so_far / len(errors),
                "step_gap": sum(gaps) / len(gaps),
            }
        )
    return rows


def weight_table(errors: Sequence[Error]) -> Table:
    """Errors by the single weight that is too strong at their step, most first."""
    counts = Counter(e.chosen_move for e in errors if e.triage.kind in OF_TRANSITIONS)
    rows: Table = []
    so_far = 0
    for (before, after), number in counts.most_common():
        so_far += number
        rows.append(
            {
                "from": before,
                "to": after,
                "errors": number,
                "share": number / len(errors),
                "share_so_far": so_far / len(errors),
            }
        )
    return rows


def error_table(errors: Sequence[Error], sentences: Sequence[Sentence]) -> Table:
    """One row for each error, with the words; sentences and positions count from 1."""
    return [_row(error, sentences[error.sentence].tokens) for error in errors]


def suspects(errors: Sequence[Error]) -> list[Error]:
    """The errors in the order in which gold should be looked at: least probable gold first.

    Where the model is sure of something else, either the model or the annotator is wrong.
    """
    return sorted(errors, key=lambda e: (e.gold_probability, -e.predicted_probability, e.sentence))


def conll(errors: Sequence[Error], sentences: Sequence[Sentence]) -> str:
    """The sentences with errors as CoNLL columns: word, gold tag, predicted tag, kind.

    Words that are right have `_` for a kind. Columns are separated by TAB.
    """
    found: dict[int, list[Error]] = defaultdict(list)
    for error in errors:
        found[error.sentence].append(error)
    return "".join(
        "".join(f"{line}\n" for line in _lines(sentences[number], wrong)) + "\n"
        for number, wrong in sorted(found.items())
    )


def _lines(sentence: Sentence, errors: Sequence[Error]) -> Iterator[str]:
    tags = sentence.tags or ()
    predicted, kinds = list(tags), ["_"] * len(tags)
    for error in errors:
        predicted[error.first : error.last + 1] = error.predicted
        kinds[error.first : error.last + 1] = [error.triage.kind] * len(error.gold)
    for cells in zip(sentence.tokens, tags, predicted, kinds, strict=True):
        yield "\t".join(cells)


def _row(error: Error, words: Sequence[str]) -> Row:
    return {
        "sentence": error.sentence + 1,
        "position": error.first + 1,
        "words": " ".join(words[error.first : error.last + 1]),
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
