"""What an evaluation says in five sentences, and its most instructive errors.

The sentences answer: how good is it, what is missed most, which step stands behind most errors,
which wrong answer is the surest, what to try. Each names the numbers that it rests on, all of them
from the tables of `crfviz.corpus.tables.report`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from crfviz.corpus.counts.run_counts import GOLD_TAG
from crfviz.corpus.table import Table, TableRow

MAX_WORDS = 16  # of a sentence that is listed as an error to look at
Tables = Mapping[str, Table]


def findings(record: Mapping[str, Any], tables: Tables) -> list[str]:
    """Return five sentences on a full record (`report.full_record`) and its tables.

    A file of predictions has no scores, so the third and the fourth sentence say so. Without a
    wrong word there is only the first.
    """
    good = _how_good(record)
    if not record["errors"]["words"]:
        return [good, "No word is wrong."]
    return [
        good,
        _missed_most(tables["tags"], tables["confusion"]),
        _step(tables, record["errors"]["total"]),
        _surest([*tables["errors"], *tables.get("suspects", ())]),
        _to_try(tables),
    ]


def instructive(errors: Table, most: int = 10) -> Table:
    """Return up to `most` rows of the table of errors, of as many kinds as possible.

    The most frequent pair of gold and predicted tags comes first, then the next one; of each pair
    the answer that the model is surest of. Second answers follow once every pair had its turn.
    Sentences of more than 16 words are left out: their pictures would be unreadable.
    """
    of_pair: dict[tuple[str, str], Table] = defaultdict(list)
    for row in errors:
        of_pair[str(row["gold"]), str(row["predicted"])].append(row)
    ordered = sorted(of_pair.values(), key=lambda rows: -len(rows))
    short = [
        sorted((row for row in rows if _length(row) <= MAX_WORDS), key=lambda row: -_sureness(row))
        for rows in ordered
    ]
    rounds = zip_longest(*short)
    return [row for one in rounds for row in one if row is not None][:most]


def _length(row: TableRow) -> int:
    return len(str(row["text"]).split(" "))


def _sureness(row: TableRow) -> float:
    return float(row.get("p_predicted") or 0.0)


def _how_good(record: Mapping[str, Any]) -> str:
    scores = record["viterbi"]
    right = (
        f"{_share(scores['token_accuracy'])} of {_count(record['tokens'], 'word')} and "
        f"{_share(scores['sentence_accuracy'])} of {_count(record['sentences'], 'sentence')} "
        "are right"
    )
    if scores["entity_f1"] is None:
        return f"{right[0].upper()}{right[1:]}."
    low, high = scores["entity_f1_interval"]
    return (
        f"Entity F1 is {_share(scores['entity_f1'])} (95 % interval {100 * low:.1f} to "
        f"{100 * high:.1f}); {right}."
    )


def _missed_most(tags: Table, confusion: Table) -> str:
    worst = max(tags, key=lambda row: _number(row, "gold") - _number(row, "right"))
    tag, gold = worst["tag"], _number(worst, "gold")
    wrong = [row for row in confusion if row["gold"] == tag and row["predicted"] != tag]
    instead = max(wrong, key=lambda row: _number(row, "words"))
    return (
        f"Missed most is {tag}: {gold - _number(worst, 'right'):,.0f} of its {gold:,.0f} words get "
        f"another tag, most often {instead['predicted']} ({_number(instead, 'words'):,.0f})."
    )


def _step(tables: Tables, total: int) -> str:
    if "weights" not in tables:
        return "A file of predictions has no scores, so no step can be blamed."
    if not tables["weights"]:
        return f"No step is to blame: emissions decide all {total:,} runs of wrong words."
    first = tables["weights"][0]
    return (
        f"The step {first['from']} → {first['to']} is behind {_number(first, 'errors'):,.0f} of "
        f"{total:,} runs of wrong words; no other step is behind more."
    )


def _surest(errors: Table) -> str:
    if "p_predicted" not in errors[0]:
        return "A file of predictions has no probabilities, so no wrong answer is the surest."
    row = max(errors, key=_sureness)
    return (
        f"The surest wrong answer is {row['predicted']} for “{row['words']}” in “{row['around']}” "
        f"(sentence {row['sentence']}): probability {_sureness(row):.3g}, gold {row['gold']} has "
        f"{_number(row, 'p_gold'):.2g}."
    )


def _to_try(tables: Tables) -> str:
    kinds = {str(row["kind"]): _number(row, "errors") for row in tables.get("kinds", ())}
    total = sum(kinds.values())
    if kinds.get("constraint", 0.0) > total / 2:
        return (
            f"Try the gold tags first: in {kinds['constraint']:,.0f} of {total:,.0f} runs of wrong "
            "words they break the rules of the tags."
        )
    if kinds.get("transition", 0.0) > total / 2:
        return (
            f"Try other transitions: they alone decide {kinds['transition']:,.0f} of {total:,.0f} "
            "runs of wrong words (`evaluate --fit-transitions` fits them)."
        )
    slices = tables["slices"]
    words = sum(_number(row, "words") for row in slices if row["dimension"] == _dimension(slices))
    wrong = sum(_number(row, "wrong") for row in slices if row["dimension"] == _dimension(slices))
    worse = [
        row
        for row in slices
        if row["dimension"] != GOLD_TAG and _number(row, "words_right_high") < 1 - wrong / words
    ]
    if not worse:
        return (
            "Try more tagged sentences of every kind: no part of the file is clearly worse than "
            "the whole."
        )
    part = max(worse, key=lambda row: _number(row, "wrong"))
    return (
        f"Try more tagged sentences with {part['dimension']} “{part['part']}”: "
        f"{_number(part, 'wrong'):,.0f} of {wrong:,.0f} wrong words are there, among "
        f"{_share(_number(part, 'words') / words)} of all words."
    )


def _dimension(slices: Sequence[TableRow]) -> object:
    return slices[0]["dimension"]  # the parts of any dimension make up the file


def _number(row: TableRow, name: str) -> float:
    return float(row[name] or 0)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"
