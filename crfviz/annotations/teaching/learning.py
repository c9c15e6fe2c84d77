"""A trained network goes on learning from a few more sentences: its CRF alone, or all of it.

    network = learn(load_model(tagger.folder), sentences, METHODS["tagger"], report)

`crf` leaves every emission as it is: only the scores of start, end and transitions move. `tagger`
moves all weights, except the embeddings of words that do not occur: they have no gradient, so only
the others are trained, in a vocabulary of their own. Both minimise the loss of training, with its
averaged weights; see `crfviz.corpus.training.optimisation`. Words that the model does not know stay
unknown words: its vocabulary does not grow.

Longer steps or more passes get more of the taught words right and cost more of the others.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from crfviz.corpus.training.feature_crf import partly_tagged
from crfviz.corpus.training.labelled import Corpus, Labelled
from crfviz.corpus.training.optimisation import Run
from crfviz.corpus.training.recipe import Recipe
from crfviz.exceptions import CrfvizError, FormatError, UnknownTagError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.features import key
from crfviz.taggers.neural.network import NUM_SPECIAL, Network
from crfviz.taggers.neural.tagger import NeuralModel, choose_device
from crfviz.text.files import abbreviate
from crfviz.text.sentences import Sentence

CRF_ONLY, WHOLE_TAGGER = "crf", "tagger"
WORDS = "words.weight"  # the embeddings of a network
_SHORT = Recipe(
    batch_sentences=8,
    weight_decay=0.0,  # the weights are to stay where training left them
    warm_up=0.0,
    second_momentum=0.98,
)
METHODS: Mapping[str, Recipe] = {
    CRF_ONLY: replace(
        _SHORT,
        epochs=10,
        learning_rate=0.02,
        word_dropout=0.0,  # the emissions are to be those of the tagger
        drop_characters=0.0,
        drop_inputs=0.0,
        drop_outputs=0.0,
    ),
    WHOLE_TAGGER: replace(_SHORT, epochs=20, learning_rate=5e-4),
}
WHAT = {CRF_ONLY: "transitions, start and end only", WHOLE_TAGGER: "the whole tagger"}


@dataclass(frozen=True)
class Lesson:
    """What is to be taught to which model, and how.

    Raises:
        CrfvizError: a number is out of its range, or there is no such method.
    """

    model: str  # name or folder
    method: str = WHOLE_TAGGER  # a key of METHODS
    name: str = ""  # wanted for the new model; empty: that of the model with "-taught"
    held_out: float = 0.2  # share of the sentences that nothing is learnt from
    epochs: int | None = None  # None: those of the method
    learning_rate: float | None = None  # None: that of the method
    seed: int = 0  # of what is held out, of order and of noise

    def __post_init__(self) -> None:
        checks = {
            f"method must be one of {', '.join(METHODS)}, got {self.method!r}": (
                self.method in METHODS
            ),
            f"held_out must be from 0 to below 1, got {self.held_out}": 0 <= self.held_out < 1,
            f"epochs must be 1 to 1000, got {self.epochs}": (
                self.epochs is None or 1 <= self.epochs <= 1000
            ),
            f"learning_rate must be above 0 and at most 1, got {self.learning_rate}": (
                self.learning_rate is None or 0 < self.learning_rate <= 1
            ),
            f"seed must be 0 to 100000, got {self.seed}": 0 <= self.seed <= 100_000,
        }
        for message, fine in checks.items():
            if not fine:
                raise CrfvizError(message)

    @property
    def recipe(self) -> Recipe:
        """The numbers of the method, or those asked for."""
        recipe = METHODS[self.method]
        return replace(
            recipe,
            seed=self.seed,
            epochs=recipe.epochs if self.epochs is None else self.epochs,
            learning_rate=self.learning_rate or recipe.learning_rate,
        )


def learn(
    stored: NeuralModel,
    sentences: Sequence[Sentence],
    method: str,
    recipe: Recipe,
    report: Callable[[int, int], None],
) -> Network:
    """The network of a model folder after it has learnt from tagged sentences; see `labelled`.

    Args:
        stored: is not changed.
        sentences: with their tags; at least one.
        method: CRF_ONLY or WHOLE_TAGGER.
        recipe: of `METHODS`, or another; architecture and sizes are those of the folder.
        report: told how many steps are done, of how many; what it raises ends the run.
    """
    recipe = replace(recipe, architecture=stored.config.architecture, sizes=stored.config.sizes)
    train = labelled(sentences, stored.config.tags)
    occurring = {key(word) for sentence in train for word in sentence.tokens}
    ids = sorted(i for word, i in stored.vocabulary.word_ids.items() if word in occurring)
    words = tuple(stored.vocabulary.words[i - NUM_SPECIAL] for i in ids)
    vocabulary, rows = replace(stored.vocabulary, words=words), [*range(NUM_SPECIAL), *ids]
    run = Run(recipe, Corpus(train, (), stored.config.tags, (), vocabulary), choose_device())
    weights = stored.network.state_dict()
    for network in (run.network, run.average):
        network.load_state_dict({**weights, WORDS: weights[WORDS][rows]})
    if method == CRF_ONLY:
        run.network.requires_grad_(requires_grad=False)
        run.network.crf.requires_grad_(requires_grad=True)
    total, done = run.num_steps * recipe.epochs, 0

    def count(_: float) -> None:
        nonlocal done
        done += 1
        report(done, total)

    for _ in range(recipe.epochs):
        run.train_epoch(count)
    learnt, taught = run.average.cpu().state_dict(), copy.deepcopy(stored.network)
    learnt[WORDS] = weights[WORDS].index_copy(0, torch.tensor(rows), learnt[WORDS])
    taught.load_state_dict(learnt)
    return taught


def labelled(sentences: Sequence[Sentence], tags: Sequence[str]) -> list[Labelled]:
    """Sentences with the ids of their tags; words that are UNSET may have any.

    Raises:
        FormatError: there is no sentence, or one without words or tags.
        UnknownTagError: a sentence has a tag that is not in `tags`.
    """
    if not sentences:
        raise FormatError("expected at least one finished sentence to learn from, got none")
    ids = {tag: number for number, tag in enumerate(tags)}
    learnt = []
    for number, sentence in enumerate(sentences, start=1):
        if not sentence.tokens or sentence.tags is None:
            raise FormatError(f"sentence {number} to learn from has no words or no tags")
        unknown = sorted(set(sentence.tags) - {*ids, UNSET})
        if unknown:
            raise UnknownTagError(
                f"sentence {number} to learn from has the tag {abbreviate(unknown[0])}; "
                f"the model has {', '.join(tags)}"
            )
        if UNSET in sentence.tags:
            allowed = partly_tagged(sentence, tags).allowed
            some = tuple(allowed.argmax(axis=1).tolist())
            learnt.append(Labelled(sentence.tokens, some, allowed=allowed))
        else:
            learnt.append(Labelled(sentence.tokens, tuple(ids[tag] for tag in sentence.tags)))
    return learnt
