"""What is behind the errors of a corpus: totals by kind, by pair of tags and by transition.

Kinds are those of `crfviz.chain.questions.triage`. An error is put down to a transition if its kind
is transition, both or constraint: to the step that speaks most against gold, by the move that the
best path makes there (too strong) and the move that gold makes there (too weak, or forbidden).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from crfviz.chain.questions.triage import KINDS
from crfviz.chain.weights import Move
from crfviz.corpus.run.errors import Error
from crfviz.corpus.table import Row, Table
from crfviz.text.sentences import Sentence

OF_TRANSITIONS = ("transition", "both", "constraint")  # kinds that are put down to a step


@dataclass
class ErrorTotals:
    """Counts of errors, as they come."""

    errors: Counter[str] = field(default_factory=Counter)  # by kind
    words: Counter[str] = field(default_factory=Counter)  # wrong ones, by the kind of their error
    pairs: dict[tuple[str, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )  # words by gold and predicted tag, by kind
    moves: dict[tuple[Move, Move], list[float]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0.0])
    )  # chosen and gold move: errors put down to them, and the sum of their step gaps

    @property
    def total(self) -> int:
        """All errors."""
        return self.errors.total()

    def add(self, error: Error) -> None:
        """Count one more."""
        kind = error.triage.kind
        self.errors[kind] += 1
        self.words[kind] += len(error.gold)
        for pair in zip(error.gold, error.predicted, strict=True):
            self.pairs[pair][kind] += 1
        if kind in OF_TRANSITIONS:
            cell = self.moves[error.chosen_move, error.gold_move]
            cell[0] += 1
            cell[1] += error.step_gap


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
    rows: Table = []
    so_far = 0
    for (chosen, gold), (number, gap) in sorted(
        totals.moves.items(), key=lambda item: (-item[1][0], item[0])
    ):
        so_far += int(number)
        rows.append(
            {
                "chosen": " → ".join(chosen),
                "gold": " → ".join(gold),
                "errors": int(number),
                "share": number / totals.total,
                "share_so_far": so_far / totals.total,
                "step_gap": gap / number,
            }
        )
    return rows


def weight_table(totals: ErrorTotals) -> Table:
    """Errors by the single weight that is too strong at their step, most first."""
    counts: Counter[Move] = Counter()
    for (chosen, _), (number, _) in totals.moves.items():
        counts[chosen] += int(number)
    rows: Table = []
    so_far = 0
    for (before, after), number in counts.most_common():
        so_far += number
        rows.append(
            {
                "from": before,
                "to": after,
                "errors": number,
                "share": number / totals.total,
                "share_so_far": so_far / totals.total,
            }
        )
    return rows


def error_table(errors: Sequence[Error], sentences: Mapping[int, Sentence]) -> Table:
    """One row for each error, with the words; sentences and positions count from 1."""
    return [_row(error, sentences[error.sentence].tokens) for error in errors]


def suspicion(error: Error) -> tuple[float, ...]:
    """Errors in the order in which gold should be looked at have rising keys: least probable first.

    Where the model is sure of something else, either the model or the annotator is wrong.
    """
    return error.gold_probability, -error.predicted_probability, error.sentence, error.first


def conll(errors: Sequence[Error], sentences: Mapping[int, Sentence]) -> str:
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
