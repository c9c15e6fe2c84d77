"""Entities about which gold and the model disagree, the surest disagreement first.

An entity that only the model has speaks against gold as far as it is probable, one that only gold
has as far as it is not:

    doubt = p(entity | words) of a predicted entity, 1 - p(entity | words) of a gold one

with the exact probability of the whole entity, type and both boundaries
(`crfviz.chain.entities.probability`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from crfviz.chain.entities.probability import entity_probability
from crfviz.chain.potentials import Potentials
from crfviz.corpus.table import Table
from crfviz.text.schemes import Span, spans
from crfviz.text.sentences import Sentence


@dataclass(frozen=True)
class EntitySuspect:
    """One entity that is on one side only."""

    sentence: int  # from 0
    span: Span
    in_gold: bool  # else it is predicted
    probability: float  # of the entity, by the model

    @property
    def doubt(self) -> float:
        """How sure the model is that gold is wrong here, in [0, 1]."""
        return 1.0 - self.probability if self.in_gold else self.probability

    @property
    def order(self) -> tuple[float, ...]:
        """Rises from the first suspect to the last."""
        return -self.doubt, self.sentence, self.span.start, float(self.in_gold)


@dataclass(frozen=True)
class JudgedEntities:
    """The entities of one sentence."""

    predicted: list[tuple[float, bool]]  # probability, and whether gold has it
    suspects: list[EntitySuspect]


def judge_entities(
    chain: Potentials, best: Sequence[int], gold: Sequence[int], sentence: int = 0
) -> JudgedEntities:
    """Every entity of the best path with its probability, and those that are on one side only.

    Args:
        chain: scores of the sentence, with BIO tags.
        best: T tag ids, its best path.
        gold: T tag ids.
        sentence: its number, to be kept with the suspects.
    """
    found, right = (spans([chain.tag_names[tag] for tag in path]) for path in (best, gold))
    predicted = [(_probability(chain, span), span in right) for span in found]
    suspects = [
        EntitySuspect(sentence, span, False, p)
        for span, (p, is_right) in zip(found, predicted, strict=True)
        if not is_right
    ]
    suspects += [
        EntitySuspect(sentence, span, True, _probability(chain, span))
        for span in right
        if span not in found
    ]
    return JudgedEntities(predicted, suspects)


def entity_suspect_table(
    suspects: Sequence[EntitySuspect], sentences: Mapping[int, Sentence]
) -> Table:
    """One row for each; sentences and positions count from 1."""
    return list(_rows(suspects, sentences))


def _rows(
    suspects: Sequence[EntitySuspect], sentences: Mapping[int, Sentence]
) -> Iterator[dict[str, str | int | float | None]]:
    for suspect in suspects:
        words, span = sentences[suspect.sentence].tokens, suspect.span
        yield {
            "sentence": suspect.sentence + 1,
            "position": span.start + 1,
            "words": " ".join(words[span.start : span.end]),
            "type": span.type,
            "only_in": "gold" if suspect.in_gold else "prediction",
            "p_entity": suspect.probability,
            "doubt": suspect.doubt,
            "text": " ".join(words),
        }


def _probability(chain: Potentials, span: Span) -> float:
    return entity_probability(chain, span.type, span.start, span.end - 1)
