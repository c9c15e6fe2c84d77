"""Precision and recall of entities along the dial of one cost, by decoding for the least cost."""

from collections.abc import Iterable, Mapping, Sequence

from crfviz.chain.questions.costs import cheapest, cost_matrix
from crfviz.corpus.metrics import entity_counts, totals
from crfviz.corpus.run.sets import Judged
from crfviz.corpus.table import Table, TableRow
from crfviz.text.schemes import BIO, entity_scheme

VALUES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0)


def cost_curve(
    judged: Sequence[Judged],
    tags: Sequence[str],
    costs: Mapping[str, float],
    vary: str,
    values: Iterable[float] = VALUES,
) -> Table:
    """Return a row per value of one cost: precision, recall and F1 of all entities.

    Precision is None where no entity is predicted.

    Raises:
        CrfvizError: the tags have no entities, or a cost is invalid.
    """
    return [_point(judged, tags, {**costs, vary: value}, value) for value in values]


def _point(
    judged: Sequence[Judged], tags: Sequence[str], costs: Mapping[str, float], value: float
) -> TableRow:
    table = cost_matrix(tags, costs)
    paths = [cheapest(each.chain, each.marginals @ table) for each in judged]
    gold = [[tags[tag] for tag in each.gold] for each in judged]
    guess = [[tags[tag] for tag in path] for path in paths]
    counts = totals(entity_counts(gold, guess, entity_scheme(tags) or BIO)).values()
    right, predicted, in_gold = (sum(column) for column in zip(*counts, strict=True))
    return {
        "value": value,
        "precision": right / predicted if predicted else None,
        "recall": right / max(1, in_gold),
        "f1": 2 * right / max(1, predicted + in_gold),
        "predicted": predicted,
    }
