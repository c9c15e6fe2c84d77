"""The counted HMM: its probabilities against counts done by hand, its folder, and hmmlearn."""

import json
import math

import numpy as np
import pytest
import torch
from hmmlearn.hmm import CategoricalHMM

from crfviz.__main__ import main
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.corpus.training.hmm import HmmRecipe, count
from crfviz.exceptions import ModelError
from crfviz.taggers.hmm import (
    ANY,
    Events,
    HmmTagger,
    Smoothing,
    class_names,
    estimate,
    load_hmm,
    parent,
    save_hmm,
)
from crfviz.taggers.storage import read_arrays, write_arrays
from crfviz.taggers.textbook import HiddenMarkov
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence
from tests.support.paths import EXCERPT

SENTENCES = [
    Sentence(("the", "dog", "runs"), ("D", "N", "V")),
    Sentence(("the", "walk"), ("D", "N")),
    Sentence(("dogs", "walk"), ("N", "V")),
]
RECIPE = HmmRecipe(rare=1, least_class=1, smoothing=Smoothing(2.0, 0.5, 0.1))


@pytest.fixture
def folder(tmp_path):
    save_hmm(tmp_path / "tiny", count(("D", "N", "V"), SENTENCES, RECIPE))
    return tmp_path / "tiny"


def test_every_distribution_of_a_real_corpus_sums_to_one():
    sentences = read_sentences(EXCERPT)
    tags = tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))
    stored = count(tags, sentences, HmmRecipe())
    chain = estimate(tags, stored.events, stored.counts, stored.smoothing)
    np.testing.assert_allclose(chain.emissions.sum(axis=1), 1, atol=1e-12)
    leaving = chain.transitions.sum(axis=1) + chain.end
    np.testing.assert_allclose(leaving, 1, atol=1e-12)
    assert (chain.emissions > 0).all()


def test_transitions_are_counted_and_smoothed(folder):
    chain = HmmTagger(folder).potentials(["the", "dog"])
    # D is followed by N twice and by nothing else; c is added to D, N, V and the end.
    assert chain.transitions[0, 1].item() == pytest.approx(math.log(2.1 / 2.4), abs=1e-12)
    assert chain.end[1].item() == pytest.approx(math.log(1.1 / 3.4), abs=1e-12)
    assert chain.start[0].item() == pytest.approx(math.log(2.1 / 3.3), abs=1e-12)


def test_known_word_is_smoothed_with_its_class():
    """p(t | walk) = (count + b p(t | class)) / (count + b), turned round by Bayes' rule."""
    stored = count(("D", "N", "V"), SENTENCES, RECIPE)
    chain = estimate(stored.tags, stored.events, stored.counts, stored.smoothing)
    words, classes = stored.events.words, stored.events.classes
    seen = {"dog": "N", "dogs": "N", "runs": "V"}  # once each: the rare words
    by_class = {}
    for name in classes:
        rows = [tag for word, tag in seen.items() if name in class_names(word)]
        counts = [rows.count(tag) for tag in "DNV"]
        if name == ANY:
            by_class[name] = [(n + 0.1) / (len(rows) + 0.3) for n in counts]
        else:
            above = parent(name)
            while above not in by_class:
                above = parent(above)
            pairs = zip(counts, by_class[above], strict=True)
            by_class[name] = [(n + 2.0 * p) / (len(rows) + 2.0) for n, p in pairs]
    own = {"the": (2, 0, 0), "walk": (0, 1, 1), "dog": (0, 1, 0), "dogs": (0, 1, 0)}
    own["runs"] = (0, 0, 1)

    def special(word):
        return next(name for name in reversed(class_names(word)) if name in by_class)

    joint = []
    for word in words:
        total, prior = sum(own[word]), by_class[special(word)]
        shares = [(n + 0.5 * p) / (total + 0.5) for n, p in zip(own[word], prior, strict=True)]
        joint.append([total / 10 * share for share in shares])  # 7 words and 3 seen once
    once = [sum(special(word) == name for word in seen) + 0.5 for name in classes]
    for name, weight in zip(classes, once, strict=True):
        joint.append([3 / 10 * weight / sum(once) * p for p in by_class[name]])
    expected = np.array(joint) / np.sum(joint, axis=0)
    np.testing.assert_allclose(chain.emissions.T, expected, atol=1e-12)


def test_unknown_word_is_scored_by_its_ending(folder):
    tagger = HmmTagger(folder)
    known = set(load_hmm(folder).events.classes)
    assert "lower -uns" in known
    one, other = (tagger.potentials([word]).emissions for word in ("guns", "puns"))
    assert torch.equal(one, other)
    assert not torch.equal(one, tagger.potentials(["XXX"]).emissions)


def test_word_known_in_lower_case_keeps_its_scores(folder):
    tagger = HmmTagger(folder)
    one, other = (tagger.potentials([word]).emissions for word in ("The", "the"))
    assert torch.equal(one, other)


def test_word_classes_are_ordered_from_general_to_specific():
    assert class_names("Doing") == [ANY, "title", "title -g", "title -ng", "title -ing"]
    assert [parent(name) for name in class_names("Doing")][1:] == class_names("Doing")[:-1]
    events = Events(("a",), (ANY, "title", "title -ing"))
    assert events.classes[events.word_class("Going")] == "title -ing"
    assert events.classes[events.word_class("Gone")] == "title"
    assert events.classes[events.word_class("gone")] == ANY


def test_loaded_hmm_equals_the_counted_one(folder):
    stored, counted = load_hmm(folder), count(("D", "N", "V"), SENTENCES, RECIPE)
    assert stored.events.words == counted.events.words
    assert stored.smoothing == counted.smoothing
    for name, table in vars(counted.counts).items():
        np.testing.assert_array_equal(getattr(stored.counts, name), table)


def test_retraining_removes_figures_of_the_previous_model(tmp_path, capsys):
    out, small, large = tmp_path / "mine", tmp_path / "small.conll", tmp_path / "large.conll"
    small.write_text("The\tD\ndog\tN\n", encoding="utf-8")
    large.write_text("The\tD\ndog\tN\nruns\tV\n", encoding="utf-8")

    def train(file):
        options = ["--family", "hmm", "--train", str(file), "--dev", str(file), "--out", str(out)]
        assert main(["train", *options]) == 0
        return capsys.readouterr().err

    train(small)
    assert json.loads((out / "training.json").read_text())["dev"] == 1.0
    (out / "README.md").write_text("# Mine\n\nA text.\n", encoding="utf-8")
    assert main(["evaluate", str(small), "--model", str(out), "--card", "--label", "few"]) == 0
    capsys.readouterr()
    assert "another model" not in train(small)  # it is the same once more
    assert (out / "evaluation.json").exists()
    said = train(large)
    assert f"{out}: another model was replaced; its figures are removed (`evaluate --card`" in said
    assert "README.md still describes it: update its text" in said
    card = (out / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Mine\n\nA text.\n")
    assert "On few" not in card
    assert not (out / "evaluation.json").exists()
    assert main(["evaluate", str(large), "--model", str(out), "--card", "--label", "all"]) == 0
    assert "On all" in (out / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("config.json", {"smoothing": {"classes": 1}}, "'smoothing' must have the keys"),
        (
            "config.json",
            {"smoothing": {"classes": 0, "words": 1, "transitions": 1}},
            "'smoothing.classes' must be a positive number, got 0",
        ),
        ("vocabulary.json", {"words": ["a", "a"]}, "'words' must not repeat a name"),
        ("vocabulary.json", {"words": ["a"]}, r"'word_classes'|'words' must be uint"),
        ("vocabulary.json", {"classes": ["lower"]}, "begins with an empty text"),
        (
            "vocabulary.json",
            {"classes": ["", "lower -s", "lower"]},
            "must list 'lower' before 'lower -s'",
        ),
    ],
)
def test_invalid_field_is_named_in_the_error(folder, file, change, message):
    path = folder / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ModelError, match=message):
        load_hmm(folder)


def test_missing_word_class_is_named_in_the_error(folder):
    path = folder / "model.safetensors"
    arrays = read_arrays(path)
    write_arrays(path, {**arrays, "word_classes": arrays["word_classes"] + np.uint32(99)})
    with pytest.raises(ModelError, match="'word_classes' must be below"):
        load_hmm(folder)


@pytest.mark.parametrize("seed", range(4))
def test_likelihood_posteriors_and_path_equal_hmmlearn(seed):
    """A model without END, for hmmlearn knows none."""
    generator = np.random.default_rng(seed)
    start, steps, says = (
        generator.dirichlet(np.ones(n), size=m) for n, m in ((3, 1), (3, 3), (4, 3))
    )
    steps[1] = [0.3, 0.7, 0.0]  # a forbidden step
    chain = HiddenMarkov(tuple("abc"), tuple("wxyz"), start[0], steps, None, says)
    observed = generator.integers(0, 4, size=20).tolist()
    potentials = chain.potentials(observed, [chain.observations[o] for o in observed])
    peer = CategoricalHMM(n_components=3)
    peer.startprob_, peer.transmat_, peer.emissionprob_ = start[0], steps, says
    column = np.array(observed)[:, None]
    tables = forward_backward(potentials)
    assert tables.log_partition == pytest.approx(peer.score(column), abs=1e-9)
    np.testing.assert_allclose(tables.marginals, peer.predict_proba(column), atol=1e-9)
    score, path = peer.decode(column)
    assert viterbi(potentials).score == pytest.approx(score, abs=1e-9)
    assert viterbi(potentials).path == path.tolist()
