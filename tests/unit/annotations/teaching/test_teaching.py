"""What a tagger can learn from, and what is held out; tests/app/test_teaching.py trains."""

from dataclasses import replace

import pytest
import torch

from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.teaching import teach as teaching
from crfviz.annotations.teaching.gains import Taught, gain, got_worse
from crfviz.annotations.teaching.teach import Lesson, finished, hold_out, teach, teachable
from crfviz.exceptions import CrfvizError, FormatError, ModelError, UnknownTagError
from crfviz.taggers.registry import EXCERPTS, load_tagger
from crfviz.text.sentences import Sentence
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger
from tests.support.tiny_tagger import save_tiny

SENTENCES = [
    Sentence(("He", "runs", "to", "Paris"), ("NOUN", "VERB", "X", "NOUN")),
    Sentence(("Run", "!"), ("VERB", "X")),
    Sentence(("dogs", "run"), ("NOUN", "VERB")),
]


@pytest.fixture
def tiny(tmp_path):
    return save_tiny(tmp_path / "tiny")


def quiet(*_):
    pass


def path_probability(tagger, sentence):
    chain = tagger.potentials(sentence.tokens)
    return oracle.probability(chain, [tagger.tags.index(tag) for tag in sentence.tags])


def test_shipped_excerpt_excludes_taught_sentences():
    tagger = load_tagger("upos-en-contextfree")
    ((name, every),) = teaching.shipped_excerpt(tagger, []).items()
    ((_, left),) = teaching.shipped_excerpt(tagger, every[:3]).items()
    taught = {sentence.tokens for sentence in every[:3]}
    assert name in EXCERPTS.values()
    assert left == [sentence for sentence in every if sentence.tokens not in taught]
    assert len(left) < len(every)


def test_held_out_sentences_are_not_taught():
    sentences = [Sentence((str(n), "x"), ("A", "B")) for n in range(20)]
    held_out, taught = hold_out([*sentences, *sentences[:5]], 0.25, seed=1)
    assert len({s.tokens for s in held_out}) == 5
    assert not {s.tokens for s in held_out} & {s.tokens for s in taught}
    assert len(held_out) + len(taught) == 25
    assert hold_out(sentences, 0.25, seed=2)[0] != held_out
    assert hold_out(sentences[:3], 0.2, seed=1) == ([], sentences[:3])


def test_only_finished_sentences_are_taught():
    item = Item("He runs", ((0, 2), (3, 7)))
    tags = {"proposed": ("X", "X"), "final": ("NOUN", "VERB")}
    done = Annotation(1, "anna", item.offsets, state="done", **tags)
    split = Annotation(
        1, "ben", ((0, 2), (3, 6), (6, 7)), ("X",) * 3, ("NOUN", "VERB", "X"), state="done"
    )
    pairs = [(item, done), (item, replace(done, state="open")), (item, split)]
    assert finished(pairs) == [
        Sentence(("He", "runs"), ("NOUN", "VERB")),
        Sentence(("He", "run", "s"), ("NOUN", "VERB", "X")),
    ]


def test_gain_counts_corrected_and_broken_words():
    sentences = [Sentence(("a", "b"), ("X", "Y")), Sentence(("c",), ("Y",))]
    before = FakeTagger(["X", "Y"], {"a": {"X": 1.0}, "b": {"X": 2.0}, "c": {"Y": 1.0}})
    after = FakeTagger(["X", "Y"], {"a": {"X": 1.0}, "b": {"Y": 2.0}, "c": {"X": 0.5}})
    found = gain("all", sentences, before, after)
    assert (found.num_sentences, found.num_words, found.righted, found.broken) == (2, 3, 1, 1)
    assert found.before.words.value == found.after.words.value == pytest.approx(2 / 3)
    assert found.before.sentences.value == found.after.sentences.value == 0.5
    for tagger, score in ((before, found.before), (after, found.after)):
        by_hand = [path_probability(tagger, sentence) for sentence in sentences]
        assert score.log_likelihood == pytest.approx(torch.tensor(by_hand).log().sum() / 3)


def test_tag_missing_in_the_model_is_named_in_the_error(tiny):
    with pytest.raises(UnknownTagError, match=r"sentence 2 .* tag 'ADV'; the model has NOUN, VERB"):
        teach(Lesson(str(tiny)), [SENTENCES[0], Sentence(("so",), ("ADV",))], quiet)


@pytest.mark.parametrize(
    "sentences", [[], [Sentence(("He",), None)]], ids=["no sentence", "no tags"]
)
def test_teaching_without_sentences_is_rejected(tiny, sentences):
    with pytest.raises(FormatError, match="to learn from"):
        teach(Lesson(str(tiny)), sentences, quiet)


def test_only_networks_can_be_taught():
    hmm = load_tagger("upos-en-hmm")
    assert not teachable(hmm)
    with pytest.raises(ModelError, match="upos-en-hmm cannot be taught: only networks with a CRF"):
        teach(Lesson("upos-en-hmm"), SENTENCES, quiet)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("method", "all"),
        ("held_out", 1.0),
        ("held_out", float("nan")),
        ("epochs", 0),
        ("learning_rate", 0.0),
        ("learning_rate", 2.0),
        ("seed", -1),
    ],
)
def test_lesson_number_out_of_range_is_named_in_the_error(name, value):
    with pytest.raises(CrfvizError, match=f"{name} must be"):
        Lesson("tiny", **{name: value})


def test_worse_model_is_reported():
    sentences = [Sentence(("a", "b"), ("X", "Y")), Sentence(("c",), ("Y",))]
    good = FakeTagger(["X", "Y"], {"a": {"X": 1.0}, "b": {"Y": 2.0}, "c": {"Y": 1.0}})
    bad = FakeTagger(["X", "Y"], {"a": {"X": 1.0}, "b": {"X": 2.0}, "c": {"Y": 1.0}})
    taught = gain("taught", sentences, bad, good)
    for before, after, worse in ((good, bad, True), (bad, good, False), (good, good, False)):
        held_out = gain("held out", sentences, before, after)
        said = got_worse(Taught("new", "", "old", "crf", 2, (taught, held_out), 1.0))
        assert said == ("accuracy 100.0 → 66.7 % on 2 sentences (held out)" if worse else "")
