"""Further training of a network on finished sentences, with measurements, as a new model.

    taught = teach(Lesson(model="upos-en"), finished(store.annotations(state="done")), report)
    load_tagger(taught.name)

The method `crf` trains only the scores of start, end and transitions, and keeps all emissions.
`tagger` trains all weights except the embeddings of absent words, which have no gradient. Both
minimise the training loss, with averaged weights; see `crfviz.corpus.training.optimisation`.
Unknown words stay unknown: the vocabulary does not grow. Larger steps or more epochs correct more
of the taught words, and break more of the others.

The new model is stored among the user models, with a card that describes its training; existing
models are never overwritten. The effect on new sentences is measured on held-out sentences, and on
a shipped excerpt with the model's tags. Equal sentences are all held out, or all taught. Sentences
with UNSET words are used for training, but not for measurement.

The temperature of the model is kept: fitted again on the shipped excerpt, it calibrated worse.
"""

import copy
import json
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import torch

from crfviz.annotations.records import Pair
from crfviz.annotations.teaching.gains import TAUGHT, Taught, gain, gains_table
from crfviz.annotations.teaching.jobs import Job, Jobs
from crfviz.chain.engine.compiled import long_work
from crfviz.corpus.tables.card import BEGIN, END
from crfviz.corpus.training.feature_crf import partly_tagged
from crfviz.corpus.training.labelled import Corpus, Labelled
from crfviz.corpus.training.optimisation import Run
from crfviz.corpus.training.recipe import Recipe
from crfviz.exceptions import CrfvizError, FormatError, ModelError, UnknownTagError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.examples import EXAMPLES_FILE, holds, write_examples
from crfviz.taggers.features import key
from crfviz.taggers.folder import CARD_FILE, version_of
from crfviz.taggers.lexicon import build_lexicon, read_lexicon, write_lexicon
from crfviz.taggers.neural.network import NUM_SPECIAL, Network
from crfviz.taggers.neural.tagger import (
    NeuralModel,
    NeuralTagger,
    choose_device,
    load_model,
    save_model,
)
from crfviz.taggers.registry import EXCERPTS, excerpt_for, list_taggers, load_tagger, read_excerpt
from crfviz.taggers.storage import read_tokenizer, write_json, write_tokenizer
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.user_models import free_name, new_model
from crfviz.text.files import abbreviate, outside
from crfviz.text.formats import render_sentences
from crfviz.text.schemes import repair
from crfviz.text.sentences import Sentence, words_at

RECORD_FILE = "teaching.json"
LEARNING = 0.7  # approximate share of the time; the rest is measurement
_TITLE = re.compile(r"\A# .*\n")
_HEADING = re.compile(r"^#+ Figures\s+\Z", re.MULTILINE)
_LEVEL = re.compile(r"^(#+ )", re.MULTILINE)
CRF_ONLY, WHOLE_TAGGER = "crf", "tagger"
WORDS = "words.weight"  # the embeddings of a network
_SHORT = Recipe(
    batch_sentences=8,
    weight_decay=0.0,  # the weights should stay near the trained ones
    warm_up=0.0,
    second_momentum=0.98,
)
METHODS: Mapping[str, Recipe] = {
    CRF_ONLY: replace(
        _SHORT,
        epochs=10,
        learning_rate=0.02,
        word_dropout=0.0,  # the emissions should stay those of the tagger
        drop_characters=0.0,
        drop_inputs=0.0,
        drop_outputs=0.0,
    ),
    WHOLE_TAGGER: replace(_SHORT, epochs=20, learning_rate=5e-4),
}
WHAT = {CRF_ONLY: "transitions, start and end only", WHOLE_TAGGER: "the whole tagger"}

# share done in [0, 1], and the current activity; may raise to stop
Announce = Callable[[float, str], None]


@dataclass(frozen=True)
class Lesson:
    """Settings of one teaching run.

    Raises:
        CrfvizError: a number is out of range, or the method is unknown.
    """

    model: str  # name or folder
    method: str = WHOLE_TAGGER  # a key of METHODS
    name: str = ""  # name of the new model; empty for that of the model with "-taught"
    held_out: float = 0.2  # share of held-out sentences
    epochs: int | None = None  # None for the method's default
    learning_rate: float | None = None  # None for the method's default
    seed: int = 0  # seed of the held-out sample, the order and the noise

    def __post_init__(self) -> None:
        epochs, rate, known = self.epochs, self.learning_rate, self.method in METHODS
        checks = {
            f"method must be one of {', '.join(METHODS)}, got {self.method!r}": known,
            f"held_out must be from 0 to below 1, got {self.held_out}": 0 <= self.held_out < 1,
            f"epochs must be 1 to 1000, got {epochs}": epochs is None or 1 <= epochs <= 1000,
            f"learning_rate must be above 0 and at most 1, got {rate}": (
                rate is None or 0 < rate <= 1
            ),
            f"seed must be 0 to 100000, got {self.seed}": 0 <= self.seed <= 100_000,
        }
        for message, fine in checks.items():
            if not fine:
                raise CrfvizError(message)

    @property
    def recipe(self) -> Recipe:
        """The recipe of the method, with the requested numbers."""
        recipe = METHODS[self.method]
        return replace(
            recipe,
            seed=self.seed,
            epochs=recipe.epochs if self.epochs is None else self.epochs,
            learning_rate=self.learning_rate or recipe.learning_rate,
        )


@long_work()
def learn(
    stored: NeuralModel,
    sentences: Sequence[Sentence],
    method: str,
    recipe: Recipe,
    report: Callable[[int, int], None],
) -> Network:
    """Return the network of a model folder, trained further on tagged sentences; see `labelled`.

    Args:
        stored: the model folder, which is not changed.
        sentences: at least one, with tags.
        method: CRF_ONLY or WHOLE_TAGGER.
        recipe: one of `METHODS` or another; architecture and sizes are replaced by the folder's.
        report: called with the finished steps and their total; may raise to stop.
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
    """Return sentences with tag ids; UNSET words allow all tags.

    Raises:
        FormatError: there is no sentence, or one without words or tags.
        UnknownTagError: `tags` lacks a tag of a sentence.
    """
    if not sentences:
        raise FormatError("expected at least one finished sentence to learn from, got none")
    learnt = []
    for number, sentence in enumerate(sentences, start=1):
        if not sentence.tokens or sentence.tags is None:
            raise FormatError(f"sentence {number} to learn from has no words or no tags")
        unknown = sorted(set(sentence.tags) - {*tags, UNSET})
        if unknown:
            raise UnknownTagError(
                f"sentence {number} to learn from has the tag {abbreviate(unknown[0])}; "
                f"the model has {', '.join(tags)}"
            )
        allowed = partly_tagged(sentence, tags).allowed
        some = tuple(allowed.argmax(axis=1).tolist())  # the only allowed tag, unless UNSET
        unset = UNSET in sentence.tags
        learnt.append(Labelled(sentence.tokens, some, allowed=allowed if unset else None))
    return learnt


def teachable(tagger: Tagger) -> bool:
    """Return whether a model can be trained further; only networks with a CRF can."""
    return isinstance(tagger, NeuralTagger)


def finished(pairs: Sequence[Pair]) -> list[Sentence]:
    """Return the finished sentences with their final tags.

    If two annotators finished a sentence, both count: see `annotations.curation`.
    """
    return [
        Sentence(words_at(item.text, annotation.offsets), annotation.final)
        for item, annotation in pairs
        if annotation.state == "done" and annotation.offsets
    ]


def teach(lesson: Lesson, sentences: Sequence[Sentence], report: Announce) -> Taught:
    """Train a model further on tagged sentences, and save it as a new model.

    An exception of `report` aborts the training without leaving files.

    Raises:
        FormatError: there is no sentence, or one without words or tags.
        UnknownTagError: the model lacks a tag of a sentence.
        ModelError: the model does not exist, cannot be trained, or cannot be written.
    """
    started = time.monotonic()
    tagger = load_tagger(lesson.model)
    if not teachable(tagger):
        raise ModelError(
            f"{tagger.name} cannot be taught: only networks with a CRF can, "
            f"and it is of the family {tagger.family}"
        )
    if tagger.scheme:
        sentences = [replace(s, tags=tuple(repair(s.tags or ()))) for s in sentences]
    labelled(sentences, tagger.tags)  # validates before sentences are held out
    partly = [sentence for sentence in sentences if UNSET in (sentence.tags or ())]
    done = [sentence for sentence in sentences if UNSET not in (sentence.tags or ())]
    held_out, taught = hold_out(done, lesson.held_out, lesson.seed)
    stored = load_model(tagger.folder)

    def told(step: int, steps: int) -> None:
        report(LEARNING * step / steps, f"learning, step {step} of {steps}")

    network = learn(stored, [*taught, *partly], lesson.method, lesson.recipe, told)
    name = free_name(lesson.name or f"{tagger.name}-taught", list_taggers())
    with new_model(name) as folder:
        save_model(folder, NeuralModel(stored.config, stored.vocabulary, network))
        write_tokenizer(folder, read_tokenizer(tagger.folder))
        after = NeuralTagger(folder)
        groups = {TAUGHT: taught, "held out": held_out, **shipped_excerpt(tagger, sentences)}
        gains = []
        for number, (group, members) in enumerate(groups.items()):
            report(LEARNING + (1 - LEARNING) * number / len(groups), f"measuring: {group}")
            if members:
                gains.append(gain(group, members, tagger, after))
        result = Taught(
            name=name,
            folder=str(folder.parent / name),
            model=tagger.name,
            method=lesson.method,
            num_sentences=len(taught),
            num_begun=len(partly),
            gains=tuple(gains),
            seconds=round(time.monotonic() - started, 2),
        )
        _describe(folder, lesson, tagger, after, result)
        known = read_lexicon(tagger.folder)
        if known is not None:
            write_lexicon(folder, known.joined(build_lexicon(taught)))
        report(1.0, f"saving {name}")
    return result


def hold_out(
    sentences: Sequence[Sentence], share: float, seed: int
) -> tuple[list[Sentence], list[Sentence]]:
    """Return a random share of the sentences, rounded down, and all others.

    Sentences with the same words stay together, so that no taught sentence is held out.
    """
    distinct = list(dict.fromkeys(sentence.tokens for sentence in sentences))
    drawn = set(random.Random(seed).sample(distinct, int(share * len(distinct))))
    held_out = [sentence for sentence in sentences if sentence.tokens in drawn]
    return held_out, [sentence for sentence in sentences if sentence.tokens not in drawn]


def start_teaching(
    jobs: Jobs, lesson: Lesson, sentences: Sequence[Sentence], *, visitor: str = "", about: str = ""
) -> Job:
    """Teach in a separate process; the result of the job is a `Taught`."""
    try:
        render_sentences(sentences, "jsonl").encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"a sentence to learn from is no UTF-8 text ({error})") from error
    title, work = f"Teach {Path(lesson.model).name}", partial(teach, lesson, sentences)
    return jobs.start(title, work, visitor=visitor, about=about)


def shipped_excerpt(tagger: Tagger, known: Sequence[Sentence]) -> dict[str, list[Sentence]]:
    """Return the excerpt with the tags of a tagger, without sentences that were annotated."""
    path = excerpt_for(tagger.tags)
    if path is None:
        return {}
    words = {sentence.tokens for sentence in known}
    return {EXCERPTS[path]: [s for s in read_excerpt(path) if s.tokens not in words]}


def _describe(folder: Path, lesson: Lesson, before: Tagger, after: Tagger, taught: Taught) -> None:
    recipe = json.loads(lesson.recipe.as_json())
    record = {**asdict(taught), "held_out": lesson.held_out, "recipe": recipe}
    write_json(folder / RECORD_FILE, record)
    (folder / CARD_FILE).write_text(_card(taught, lesson, before), encoding="utf-8")
    examples = [each for each in before.examples() if holds(each, after.potentials(each.tokens))]
    if examples:
        write_examples(folder / EXAMPLES_FILE, examples)


def _card(taught: Taught, lesson: Lesson, base: Tagger) -> str:
    recipe = lesson.recipe
    parts = [
        f"# {taught.name}",
        f"`{base.name}` after it has learnt from {taught.num_sentences:,} annotated sentences. "
        "Written by `python -m crfviz teach`.",
        gains_table(taught.gains),
        "In brackets: 95 % intervals (Wilson; of F1: bootstrap over sentences). Nothing was learnt "
        "from the sentences held out; what is measured on the taught ones is how well they were "
        "learnt, not how good the model is.",
        "## How",
        f"- Taught: {WHAT[lesson.method]} (`--method {lesson.method}`), {recipe.epochs} passes, "
        f"learning rate {recipe.learning_rate:g}, seed {lesson.seed}. `teaching.json` holds all "
        "numbers.\n"
        f"- From: `{base.name}`, version {version_of(base)}. Its words, its tags "
        "and its temperature are kept.",
        "## Licence",
        f"The weights come from those of `{base.name}`: what the card below says about data and "
        "licence holds here, too. The annotated sentences belong to whoever has them; of them only "
        "the words are in this folder, with their tags in `lexicon.json`.",
        f"## The card of {base.name}",
        _quoted(base.card()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _quoted(card: str) -> str:
    *before, last = outside(card, BEGIN, END)
    body = "".join([*(_HEADING.sub("", piece) for piece in before), last])
    return _LEVEL.sub(r"#\1", _TITLE.sub("", body)).strip()
