"""Entities counted: those that are right, by decoder and sentence, and by the schemes of SemEval.

| scheme  | an entity counts as correct if                              |
|---------|-------------------------------------------------------------|
| strict  | type and both ends agree                                    |
| exact   | both ends agree, whatever the type                          |
| partial | it overlaps one in gold (half a point if the ends disagree) |
| type    | it overlaps one in gold of the same type                    |

nervaluate counts the schemes. Entities are read strictly, as `crfviz.text.schemes.spans` does.

Source: SemEval 2013, task 9.1 (Segura-Bedmar et al.), for the schemes.
"""

from collections import Counter
from collections.abc import Sequence

from nervaluate import Evaluator

from crfviz.text.schemes import spans, split_tag

SCHEMES = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
SENTENCES_AT_ONCE = 2000  # nervaluate keeps the place of every entity

Tags = Sequence[Sequence[str]]  # names, of every sentence


def scheme_counts(gold: Tags, guess: Tags, tags: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many entities are right, and wrong in each way, by scheme; `tags` are those there are."""
    totals = {name: Counter(dict.fromkeys(COUNTS, 0)) for name in SCHEMES.values()}
    labels = sorted({kind for tag in tags if (kind := split_tag(tag)[1])})
    for start in range(0, len(gold), SENTENCES_AT_ONCE):
        group = slice(start, start + SENTENCES_AT_ONCE)
        sides = [[_entities(names) for names in side[group]] for side in (gold, guess)]
        overall = Evaluator(*sides, tags=labels, loader="dict").evaluate()["overall"]
        for theirs, ours in SCHEMES.items():
            totals[ours].update({name: getattr(overall[theirs], name) for name in COUNTS})
    return {name: {count: total[count] for count in COUNTS} for name, total in totals.items()}


def _entities(tags: Sequence[str]) -> list[dict[str, str | int]]:
    return [{"label": s.type, "start": s.start, "end": s.end - 1} for s in spans(tags)]
