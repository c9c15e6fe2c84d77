"""Decoding by the cost of errors: the path of least expected cost, and where it flips.

If the true tag is y and a decoder chooses c, the error costs C[y, c]. A path has the expected cost

    risk(c_1 ... c_T) = Σ_t Σ_y p(y_t = y | x) · C[y, c_t]

It is a sum over words, so Viterbi's recursion finds the least of all paths that have a probability:
a transition scores 0, or -inf where it is forbidden. If every error costs 1, this is the expected
number of wrong tags: the path is that of max-marginal decoding, but never a forbidden one.

In BIO and its relatives an error has one of five kinds, each with its cost:

| kind          | true tag | chosen tag                                              |
|---------------|----------|---------------------------------------------------------|
| `miss`        | entity   | `O`                                                     |
| `false_alarm` | `O`      | entity                                                  |
| `wrong_type`  | entity   | entity of another type                                  |
| `cut`         | `I-X`    | `B-X`: the choice begins an entity inside one           |
| `merge`       | `B-X`    | `I-X`: the choice joins two entities                    |

With `E-X` and `S-X` (BILOU: `L-X` and `U-X`), what the choice begins decides as in BIO: `B` and `S`
begin an entity, `I` and `E` do not. If both or neither begin one, its end decides: `cut` if the
choice ends the entity and the true tag does not, else `merge`.

For tags without a scheme there is a family between Viterbi and max-marginal. With a share a from 0
to 1, it takes the path with the largest (1 - a) · score + a · Σ_t p(y_t | x).

Source: Smith, "Linguistic Structure Prediction" (2011), section 5.3, and his lectures (2013), for
costs in decoding; Goel and Byrne, "Minimum Bayes-risk automatic speech recognition" (2000); Lember
and Koloydenko, "Bridging Viterbi and posterior decoding" (JMLR 2014), for the family.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.decoding.viterbi import best_path_of
from crfviz.chain.distribution import TagIds, require_path
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Array, ArrayLike, Potentials, Tag
from crfviz.chain.questions.tipping import Line, intervals_of_lines
from crfviz.chain.validation import as_numbers, require_number
from crfviz.exceptions import CrfvizError, ScoreError, ShapeError
from crfviz.text.files import abbreviate_value
from crfviz.text.schemes import OUTSIDE, entity_scheme

KINDS = ("miss", "false_alarm", "wrong_type", "cut", "merge")
HIGHEST = 10.0  # default end of the values of one cost
_COPY = re.compile(r"·+\d+$")  # how `Potentials.constrained` names the copies of a tag

Costs = Mapping[str, float] | ArrayLike  # of the five kinds, or (K, K)


@dataclass(frozen=True, eq=False, repr=False)
class LeastCost(ShortRepr):
    """The path of least expected cost."""

    path: TagIds  # T tag ids, a list
    names: list[str]  # T tag names
    expected_cost: float  # of `path`, at least 0
    by_word: Tensor  # (T,) expected cost of the tag of each word; sums to `expected_cost`


class CostInterval(NamedTuple):
    """The interval of a cost in which one path is the cheapest; both ends included (ties)."""

    low: float
    high: float  # the next interval begins here
    path: TagIds  # T tag ids, a list
    names: list[str]  # T tag names


def least_cost(potentials: Potentials, costs: Costs) -> LeastCost:
    """Return the path of least expected cost, of all paths that are allowed, in O(T K^2).

    A tie goes to the lowest tag id, as in `viterbi`.

    Args:
        potentials: scores of one sentence.
        costs: (K, K) costs `[true, chosen]`, or the costs by kind: `miss`, `false_alarm`,
            `wrong_type`, `cut` and `merge`; the kinds that are left out cost 1.

    Raises:
        ShapeError: the costs have another shape.
        ScoreError: a cost is negative or not finite.
        CrfvizError: a kind is unknown, or the tags have no entities, as BIO has.

    Example:
        >>> chain = Potentials([[0.5, 0.0, -9.0]], [[0.0] * 3] * 3, tags=["O", "B-PER", "I-PER"])
        >>> least_cost(chain, {}).names, least_cost(chain, {"miss": 3}).names
        (['O'], ['B-PER'])
    """
    table = cost_matrix(potentials.tag_names, costs)
    risks = _marginals(potentials) @ table
    path = cheapest(potentials, risks)
    by_word = risks[np.arange(len(path)), path]
    return LeastCost(
        path=path,
        names=path.names,
        expected_cost=float(by_word.sum()),
        by_word=torch.from_numpy(by_word),
    )


def cost_intervals(
    potentials: Potentials,
    costs: Costs,
    vary: str | tuple[Tag, Tag] = "miss",
    low: float = 0.0,
    high: float = HIGHEST,
) -> list[CostInterval]:
    """Return the intervals of one cost in which each path is the cheapest, from `low` to `high`.

    Each begins where the one before ends. The expected cost of a path is linear in each cost, so
    the break points are exact: `crfviz.chain.questions.tipping`. Inside an interval the path is
    that of `least_cost`. A few O(T K^2) recursions for each interval.

    Args:
        potentials: scores of one sentence.
        costs: as in `least_cost`; its value of the cost that varies is ignored.
        vary: the kind of error whose cost varies, or the tags (true, chosen) of one cell.
        low: the least value, at least 0.
        high: the largest value, at least `low`.

    Raises:
        CrfvizError: as `least_cost`, or `vary`, `low` or `high` is none of these.

    Example:
        >>> chain = Potentials([[0.0, -1.0, -9.0]], [[0.0] * 3] * 3, tags=["O", "B-PER", "I-PER"])
        >>> for low, high, _, names in cost_intervals(chain, {}):
        ...     print(round(low, 3), round(high, 3), names)
        0.0 2.718 ['O']
        2.718 10.0 ['B-PER']
    """
    low = require_number("low", low, at_least=0.0)
    high = require_number("high", high, at_least=low)
    names = potentials.tag_names
    cells = _cells(potentials, vary)
    table = cost_matrix(names, costs)
    marginals = _marginals(potentials)
    fixed, slope = marginals @ np.where(cells, 0.0, table), marginals @ cells.astype(float)

    def solve(value: float) -> TagIds:
        return cheapest(potentials, fixed + value * slope)

    def line(path: Sequence[int]) -> Line:
        words = np.arange(len(path))
        return Line(-float(slope[words, path].sum()), -float(fixed[words, path].sum()))

    found = intervals_of_lines(solve, line, low, high)
    paths = [(each.low, each.high, TagIds(each.path, potentials.tags)) for each in found]
    return [CostInterval(*each, each[-1].names) for each in paths]


def between_intervals(potentials: Potentials) -> list[CostInterval]:
    """Return the intervals of a in the family from Viterbi (0) to max-marginal (1); see above.

    Copies of a tag, as `Potentials.constrained` makes them, have its probability.
    """
    emissions, transitions, start, end = potentials.scores()
    names = np.array(_originals(potentials.tag_names))
    probabilities = _marginals(potentials) @ (names[:, None] == names).astype(float)

    def solve(share: float) -> list[int]:
        scores = (_scaled(scores, 1.0 - share) for scores in (transitions, start, end))
        mixed = _scaled(emissions, 1.0 - share) + share * probabilities
        return best_path_of(mixed, *scores)

    def line(path: Sequence[int]) -> Line:
        score = potentials.score(path)
        right = float(probabilities[np.arange(len(path)), path].sum())
        return Line(right - score, score)

    found = intervals_of_lines(solve, line, 0.0, 1.0)
    paths = [(each.low, each.high, TagIds(each.path, potentials.tags)) for each in found]
    return [CostInterval(*each, each[-1].names) for each in paths]


def expected_errors(marginals: Array, tags: Sequence[str], path: Sequence[int]) -> dict[str, float]:
    """Return the expected number of errors of each kind, if a path of T tag ids is chosen.

    Args:
        marginals: (T, K) probabilities of the true tags.
        tags: K names.
        path: the choice.

    Raises:
        CrfvizError: the tags have no entities, as BIO has.
    """
    chosen = kinds_of_errors(tags)[:, list(path)].T  # (T, K)
    return {kind: float(marginals[chosen == n].sum()) for n, kind in enumerate(KINDS)}


def cost_matrix(tags: Sequence[str], costs: Costs) -> Array:
    """Return (K, K) costs `[true, chosen]` from those of `least_cost`; see there."""
    if isinstance(costs, Mapping):
        if unknown := sorted(set(map(str, costs)) - set(KINDS)):
            raise CrfvizError(f"expected costs of {', '.join(KINDS)}, got {', '.join(unknown)}")
        by_kind = [_cost(kind, costs.get(kind, 1.0)) for kind in KINDS]
        return np.array([*by_kind, 0.0])[kinds_of_errors(tags)]
    table: Array = as_numbers("costs", costs).detach().numpy()
    if table.shape != (len(tags), len(tags)):
        raise ShapeError(
            f"costs must be {(len(tags), len(tags))}, true and chosen tag, got {table.shape}"
        )
    if not (wrong := np.argwhere(~(np.isfinite(table) & (table >= 0.0)))).size:
        return table
    true, chosen = wrong[0].tolist()
    raise ScoreError(
        f"costs[{true}, {chosen}] must be a finite number of at least 0, got {table[true, chosen]}"
    )


def costs_text(costs: Costs) -> str:
    """Return the costs in the form that `parse_costs` reads; a matrix has only a name."""
    if isinstance(costs, Mapping):
        return ",".join(f"{kind}={costs[kind]:g}" for kind in KINDS if kind in costs) or "all=1"
    return "matrix"


def parse_costs(text: str) -> dict[str, float]:
    """Return the costs of a text such as `miss=3,false_alarm=1`; empty for none.

    Raises:
        CrfvizError: a part is not a kind, an equals sign and a number of at least 0.
    """
    costs: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        kind, _, value = (each.strip() for each in part.partition("="))
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if kind not in KINDS or kind in costs or not 0.0 <= number < np.inf:
            raise CrfvizError(
                f"costs must be like miss=3,false_alarm=1, each of {', '.join(KINDS)} at most "
                f"once with a number of at least 0, got {abbreviate_value(part)}"
            )
        costs[kind] = number
    return costs


def kinds_of_errors(tags: Sequence[str]) -> NDArray[np.int64]:
    """Return (K, K) the index in `KINDS` of each error `[true, chosen]`; -1 if there is none.

    Copies of a tag, as `Potentials.constrained` makes them, count as that tag.
    """
    names = _originals(tags)
    if entity_scheme(names) is None:
        raise CrfvizError(
            "expected tags of entities, such as O, B-PER and I-PER, for the costs of "
            f"{', '.join(KINDS)}, got {abbreviate_value(list(tags))}; a (K, K) array of costs "
            "works with any tags"
        )
    return np.array([[_kind(true, chosen) for chosen in names] for true in names])


def _originals(tags: Sequence[str]) -> list[str]:
    """Return the tags without the numbers of copies, as `Potentials.constrained` adds them."""
    stems = [_COPY.sub("", tag) for tag in tags]
    copied = {stem for stem, number in Counter(stems).items() if number > 1} - {*tags}
    return [stem if stem in copied else tag for stem, tag in zip(stems, tags, strict=True)]


def _kind(true: str, chosen: str) -> int:
    if true == chosen:
        return -1
    if OUTSIDE in (true, chosen):
        return KINDS.index("miss" if chosen == OUTSIDE else "false_alarm")
    (before, _, kind), (after, _, other) = true.partition("-"), chosen.partition("-")
    if kind != other:
        return KINDS.index("wrong_type")
    begins = [prefix in "BSU" for prefix in (before, after)]
    ends = [prefix in "ESLU" for prefix in (before, after)]
    true_border, chosen_border = begins if begins[0] != begins[1] else ends
    return KINDS.index("cut" if chosen_border and not true_border else "merge")


def _cost(kind: str, value: object) -> float:
    try:
        return require_number(f"the cost {kind}", value, at_least=0.0)
    except CrfvizError as error:
        raise ScoreError(str(error)) from error


def _cells(potentials: Potentials, vary: str | tuple[Tag, Tag]) -> NDArray[np.bool_]:
    """Return (K, K) the cells `[true, chosen]` that have the cost that varies."""
    if isinstance(vary, str) and vary in KINDS:
        return np.equal(kinds_of_errors(potentials.tag_names), KINDS.index(vary))
    try:
        true, chosen = [] if isinstance(vary, str) else vary
    except (TypeError, ValueError):
        raise CrfvizError(
            f"vary must be one of {', '.join(KINDS)}, or a pair of tags, true and chosen, "
            f"got {abbreviate_value(vary)}"
        ) from None
    cells = np.zeros((potentials.num_tags, potentials.num_tags), dtype=np.bool_)
    cells[np.ix_(_ids(potentials, true), _ids(potentials, chosen))] = True
    return cells


def _ids(potentials: Potentials, tag: Tag) -> list[int]:
    """Return the id of a tag, or those of all its copies."""
    names = _originals(potentials.tag_names)
    return [k for k, name in enumerate(names) if name == tag] or [potentials.tag_id(tag)]


def _marginals(potentials: Potentials) -> Array:
    tables = forward_backward(potentials)
    require_path(tables.log_alpha, tables.log_alpha[-1] + potentials.end)
    return tables.marginals.numpy()


def cheapest(potentials: Potentials, risks: Array) -> TagIds:
    """Return the allowed path with the least sum of expected costs, (T, K); see `least_cost`.

    Raises:
        NoPathError: every path is forbidden.
    """
    emissions, *moves = (_scaled(scores, 0.0) for scores in potentials.scores())
    return TagIds(best_path_of(emissions - risks, *moves), potentials.tags)


def _scaled(scores: Array, factor: float) -> Array:
    """Return scores times a factor of at least 0; what is forbidden stays forbidden."""
    with np.errstate(invalid="ignore"):  # 0 times -inf, replaced
        return np.where(np.isneginf(scores), -np.inf, scores * factor)
