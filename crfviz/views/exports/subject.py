"""What an export is of: scores, or a tagger with a sentence."""

from collections.abc import Sequence
from pathlib import Path

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from crfviz.taggers.registry import SHIPPED
from crfviz.taggers.tagger import HMM, MEMM, Tagger
from crfviz.text.files import abbreviate_value
from crfviz.views.exports.live import Live, Origin

What = Potentials | Tagger


def live_of(what: What, sentence: str | Sequence[str] | None) -> Live:
    """Scores as they are, or those of a tagger for a sentence.

    Args:
        what: potentials, best with their words, or a tagger.
        sentence: for a tagger its sentence, as typed or as words; None for potentials.

    Raises:
        CrfvizError: it is neither, or the sentence is missing, empty, or one too many.
    """
    if isinstance(what, Potentials):
        if sentence is not None:
            raise CrfvizError("potentials are of one sentence already: expected no other one")
        return Live(what)
    if not hasattr(what, "potentials"):
        raise CrfvizError(f"expected Potentials or a tagger, got {abbreviate_value(what)}")
    if sentence is None:
        raise CrfvizError('a tagger needs a sentence, such as sentence="These look fine to me."')
    words = what.split(sentence) if isinstance(sentence, str) else list(sentence)
    typed = sentence if isinstance(sentence, str) else " ".join(words)
    return Live(
        what.potentials(words),
        origin=origin_of(what, typed) if what.split(typed) == words else Origin(),
        probabilistic=what.probabilistic,
        of_probabilities=what.family in (HMM, MEMM),
        gold=_gold(what, words),
    )


def origin_of(tagger: Tagger, sentence: str, *, constrained: bool = True) -> Origin:
    """What a file says of its model: nothing of one that only this machine has."""
    if not Path(tagger.folder).resolve().is_relative_to(SHIPPED):
        return Origin()
    return Origin(tagger.name, sentence, constrained)


def _gold(tagger: Tagger, words: Sequence[str]) -> list[int] | None:
    """Tag ids of the right tags, where the sentence is an example of the tagger's."""
    for example in tagger.examples():
        known = example.gold and all(tag in tagger.tags for tag in example.gold)
        if known and tagger.split(example.text) == list(words):
            return [tagger.tags.index(tag) for tag in example.gold or ()]
    return None
