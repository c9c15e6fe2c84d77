"""From finished sentences to a new model: learn, measure before and after, save.

    taught = teach(Lesson(model="upos-en"), finished(store.annotations(state="done")), report)
    load_tagger(taught.name)

The new model is a folder of its own among the models that people bring, with a card that says from
what it was taught; a model that is there is never written over. Part of the sentences is held out:
nothing is learnt from them, they show whether others gain, too. So do the shipped excerpts, where
one has the tags of the model. A sentence that occurs twice is on one side with both. Of sentences
with words that are UNSET the other words are learnt; nothing is measured on them.

The temperature of the model is kept: fitted again on the shipped excerpt, it calibrated worse.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.teaching.gains import TAUGHT, Gain, Taught, card_of, gain
from crfviz.annotations.teaching.jobs import Job, Jobs
from crfviz.annotations.teaching.learning import Lesson, labelled, learn
from crfviz.exceptions import FormatError, ModelError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.examples import EXAMPLES_FILE, holds, write_examples
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.lexicon import build_lexicon, read_lexicon, write_lexicon
from crfviz.taggers.neural.tagger import NeuralModel, NeuralTagger, load_model, save_model
from crfviz.taggers.registry import EXCERPTS, excerpt_for, list_taggers, load_tagger, read_excerpt
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.user_models import free_name, new_model
from crfviz.text.formats import render_sentences
from crfviz.text.schemes import repair
from crfviz.text.sentences import Sentence, words_at

RECORD_FILE = "teaching.json"
LEARNING = 0.7  # share of the time, about; the rest is measuring

Announce = Callable[[float, str], None]  # share done in [0, 1], and what is done now; may raise


def teachable(tagger: Tagger) -> bool:
    """Whether a model can learn more: a network with a CRF."""
    return isinstance(tagger, NeuralTagger)


def finished(pairs: Sequence[tuple[Item, Annotation]]) -> list[Sentence]:
    """What can be learnt from: the sentences that are done, with their final tags.

    Where two annotators finished a sentence both count: see `annotations.curation`.
    """
    return [
        Sentence(words_at(item.text, annotation.offsets), annotation.final)
        for item, annotation in pairs
        if annotation.state == "done" and annotation.offsets
    ]


def teach(lesson: Lesson, sentences: Sequence[Sentence], report: Announce) -> Taught:
    """Let a model learn from tagged sentences, and save it as a new one.

    What `report` raises ends all, and nothing is left behind.

    Raises:
        FormatError: there is no sentence, or one without words or tags.
        UnknownTagError: a sentence has a tag that the model has not.
        ModelError: there is no such model, it cannot learn, or nothing can be written.
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
    labelled(sentences, tagger.tags)  # checked before anything is held out
    partly = [sentence for sentence in sentences if UNSET in (sentence.tags or ())]
    done = [sentence for sentence in sentences if UNSET not in (sentence.tags or ())]
    held_out, taught = hold_out(done, lesson.held_out, lesson.seed)
    stored = load_model(tagger.folder)
    everything = [*taught, *partly]
    network = learn(stored, everything, lesson.method, lesson.recipe, _learning(report))
    name = free_name(lesson.name or f"{tagger.name}-taught", list_taggers())
    with new_model(name) as folder:
        save_model(folder, NeuralModel(stored.config, stored.vocabulary, network))
        after = NeuralTagger(folder)
        groups = {TAUGHT: taught, "held out": held_out, **shipped_excerpt(tagger, sentences)}
        result = Taught(
            name=name,
            folder=str(folder.parent / name),
            model=tagger.name,
            method=lesson.method,
            num_sentences=len(taught),
            num_begun=len(partly),
            gains=tuple(_measured(groups, tagger, after, report)),
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
    """A share of the sentences, drawn at random and rounded down, and all others.

    Sentences with the same words stay together, so that nothing is tested that was learnt.
    """
    distinct = list(dict.fromkeys(sentence.tokens for sentence in sentences))
    drawn = set(random.Random(seed).sample(distinct, int(share * len(distinct))))
    held_out = [sentence for sentence in sentences if sentence.tokens in drawn]
    return held_out, [sentence for sentence in sentences if sentence.tokens not in drawn]


def start_teaching(
    jobs: Jobs, lesson: Lesson, sentences: Sequence[Sentence], *, visitor: str = "", about: str = ""
) -> Job:
    """Teach in a process beside the app; the result of the job is a `Taught`."""
    try:
        render_sentences(sentences, "jsonl").encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"a sentence to learn from is no UTF-8 text ({error})") from error
    title, work = f"Teach {Path(lesson.model).name}", partial(teach, lesson, sentences)
    return jobs.start(title, work, visitor=visitor, about=about)


def _learning(report: Announce) -> Callable[[int, int], None]:
    return lambda step, steps: report(LEARNING * step / steps, f"learning, step {step} of {steps}")


def shipped_excerpt(tagger: Tagger, known: Sequence[Sentence]) -> dict[str, list[Sentence]]:
    """The excerpt that has the tags of a tagger, without sentences that were annotated."""
    path = excerpt_for(tagger.tags)
    if path is None:
        return {}
    words = {sentence.tokens for sentence in known}
    return {EXCERPTS[path]: [s for s in read_excerpt(path) if s.tokens not in words]}


def _measured(
    groups: dict[str, list[Sentence]], before: Tagger, after: Tagger, report: Announce
) -> Iterator[Gain]:
    for number, (name, sentences) in enumerate(groups.items()):
        report(LEARNING + (1 - LEARNING) * number / len(groups), f"measuring: {name}")
        if sentences:
            yield gain(name, sentences, before, after)


def _describe(folder: Path, lesson: Lesson, before: Tagger, after: Tagger, taught: Taught) -> None:
    """Write the card, the record, and those examples whose claims still hold."""
    recipe = json.loads(lesson.recipe.as_json())
    record = {**asdict(taught), "held_out": lesson.held_out, "recipe": recipe}
    text = json.dumps(record, indent=2, ensure_ascii=False)
    (folder / RECORD_FILE).write_text(f"{text}\n", encoding="utf-8")
    (folder / CARD_FILE).write_text(card_of(taught, lesson, before), encoding="utf-8")
    examples = [each for each in before.examples() if holds(each, after.potentials(each.tokens))]
    if examples:
        write_examples(folder / EXAMPLES_FILE, examples)
