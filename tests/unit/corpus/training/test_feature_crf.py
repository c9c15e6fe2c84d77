"""The CRF over features against CRFsuite, and its gradient against enumeration."""

import json
from itertools import pairwise, product
from math import exp
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from crfviz.__main__ import main
from crfviz.chain.forward_backward import forward_backward
from crfviz.corpus.training.cross_validation import cross_validated
from crfviz.corpus.training.feature_crf import (
    PartlyTagged,
    fit_feature_crf,
    fit_sentences,
    partly_tagged,
)
from crfviz.corpus.training.perceptron import PerceptronRecipe, fit_perceptron
from crfviz.exceptions import CrfvizError, ModelError, UnknownTagError
from crfviz.taggers.perceptron import PerceptronTagger, feature_texts, save_perceptron
from crfviz.taggers.registry import load_tagger
from crfviz.taggers.storage import HISTORY_FILE, WEIGHTS_FILE, read_arrays, write_arrays
from crfviz.taggers.tagger import CRF
from crfviz.text.sentences import Sentence

TAGS = ("FARBE", "WARE", "X")
SENTENCES = [
    Sentence(tuple(words.split()), tuple(tags.split()))
    for words, tags in (
        ("Der rote Schuh", "X FARBE WARE"),
        ("ein blauer Hut", "X FARBE WARE"),
        ("Hut in Rot", "WARE X FARBE"),
        ("das rote", "X FARBE"),
        ("Schuhe", "WARE"),
    )
]
RIDGE = 0.3


def marginals_of_crfsuite(folder, words):
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    names = {"c1": 0.0, "c2": RIDGE / 2, "epsilon": 1e-9, "delta": 1e-12}
    trainer.set_params(names | {"feature.possible_states": 1, "feature.possible_transitions": 1})
    for sentence in SENTENCES:
        trainer.append(attributes(sentence.tokens), sentence.tags)
    trainer.train(f"{folder}/model")
    tagger = pycrfsuite.Tagger()
    tagger.open(f"{folder}/model")
    tagger.set(attributes(words))
    return [[tagger.marginal(tag, t) for tag in TAGS] for t in range(len(words))]


def attributes(words):
    """CRFsuite has no scores of start and end: they are attributes of the outer words."""
    rows = [feature_texts(words, t) for t in range(len(words))]
    return [
        [*row, *["START"] * (t == 0), *["END"] * (t == len(words) - 1)]
        for t, row in enumerate(rows)
    ]


@pytest.mark.parametrize("words", [("Der", "Hut"), ("rote", "Schuhe", "in", "Blau")])
def test_marginals_equal_crfsuite(tmp_path, words):
    tagger = PerceptronTagger(tmp_path, fit_feature_crf(*partial(SENTENCES), ridge=RIDGE))
    mine = forward_backward(tagger.potentials(words)).marginals
    assert mine.numpy() == pytest.approx(np.array(marginals_of_crfsuite(tmp_path, words)), abs=2e-3)


def partial(sentences):
    return [partly_tagged(sentence, TAGS) for sentence in sentences], TAGS


def test_training_on_partial_tags_reaches_a_zero_gradient():
    half = PartlyTagged(("rote", "Hut"), np.array([[True, True, False], [True] * 3]))
    sentences = [partly_tagged(SENTENCES[0], TAGS), half]
    model = fit_feature_crf(sentences, TAGS, ridge=RIDGE)
    tagger = PerceptronTagger(Path("trained"), model)
    slopes = np.zeros((3, 3))
    for sentence in sentences:
        chain = tagger.potentials(sentence.tokens)
        T = len(sentence.tokens)
        weights = {path: exp(chain.score(list(path))) for path in product(range(3), repeat=T)}
        free = {
            path: weight
            for path, weight in weights.items()
            if all(sentence.allowed[t, tag] for t, tag in enumerate(path))
        }
        for paths, sign in ((free, 1), (weights, -1)):
            for path, weight in paths.items():
                for before, after in pairwise(path):
                    slopes[before, after] += sign * weight / sum(paths.values())
    assert slopes == pytest.approx(RIDGE * model.transitions, abs=3e-3)


def test_saved_feature_crf_is_restored_with_its_family(tmp_path):
    trained = fit_sentences(SENTENCES, TAGS)
    save_perceptron(tmp_path / "mine", trained)
    tagger = load_tagger(tmp_path / "mine")
    assert (tagger.family, tagger.probabilistic, tagger.tags) == (CRF, True, TAGS)
    words = ("Der", "rote", "Hut")
    before = PerceptronTagger(tmp_path, trained).potentials(words)
    after = tagger.potentials(words)
    assert after.emissions.numpy() == pytest.approx(before.emissions.numpy(), abs=5e-3)
    weights = tmp_path / "mine" / WEIGHTS_FILE
    arrays = read_arrays(weights)
    write_arrays(weights, arrays | {"features.values": arrays["features.values"].astype("int16")})
    with pytest.raises(ModelError, match="must be int8 or float16, got int16"):
        load_tagger(tmp_path / "mine")


def test_training_accepts_tags_absent_from_the_data():
    model = fit_perceptron(PerceptronRecipe(), SENTENCES, (*TAGS, "SELTEN"))
    assert model.tags == (*TAGS, "SELTEN")
    with pytest.raises(UnknownTagError, match="expected one of FARBE, WARE, got the tag 'X'"):
        fit_perceptron(PerceptronRecipe(), SENTENCES, TAGS[:2])
    with pytest.raises(UnknownTagError, match="expected one of FARBE, WARE, got the tag 'X'"):
        fit_sentences(SENTENCES, TAGS[:2])


def test_cross_validation_tags_each_sentence_with_a_model_not_trained_on_it():
    seen = []

    def fit(sentences):
        seen.append({sentence.tokens for sentence in sentences})
        return fit_sentences(sentences, TAGS)

    found = cross_validated([*SENTENCES, SENTENCES[0]], fit)
    assert (len(seen), found.num_sentences) == (5, 6)
    every = {sentence.tokens for sentence in SENTENCES}
    assert sorted(tokens for each in seen for tokens in every - each) == sorted(every)
    assert [len(each) for each in seen] == [4] * 5
    assert found.entity_f1 is None
    assert found.words.low < found.words.value < found.words.high
    with pytest.raises(CrfvizError, match="two different sentences"):
        cross_validated([SENTENCES[0]] * 3, fit)


def test_exception_in_the_progress_callback_stops_training():
    def stop(_):
        raise KeyboardInterrupt

    for fit in (
        lambda: fit_feature_crf(*partial(SENTENCES), stop),
        lambda: fit_perceptron(PerceptronRecipe(epochs=200), SENTENCES, TAGS, stop),
    ):
        with pytest.raises(KeyboardInterrupt):
            fit()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "train.conll"
    rows = [
        "".join(f"{w}\t{t}\n" for w, t in zip(s.tokens, s.tags, strict=True)) for s in SENTENCES
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


FAMILIES = [["perceptron"], ["hmm"], ["crf", "--architecture", "features"]]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[-1])
def test_train_command_needs_no_dev_file_and_accepts_extra_tags(tmp_path, file, family):
    asked = ["train", "--family", *family, "--train", str(file)]
    assert main([*asked, "--out", str(tmp_path / "a"), "--tags", "X,WARE,FARBE,SELTEN"]) == 0
    assert load_tagger(tmp_path / "a").tags == ("X", "WARE", "FARBE", "SELTEN")
    record = json.loads((tmp_path / "a" / HISTORY_FILE).read_text(encoding="utf-8"))
    if family != ["hmm"]:
        assert record["cross_validation"]["num_sentences"] == 5
    assert main([*asked, "--out", str(tmp_path / "b"), "--dev", str(file)]) == 0
    record = json.loads((tmp_path / "b" / HISTORY_FILE).read_text(encoding="utf-8"))
    assert "cross_validation" not in record


def test_extra_tags_of_the_train_command_are_quoted_as_in_csv(tmp_path, file, capsys):
    asked = ["train", "--family", "hmm", "--train", str(file), "--out", str(tmp_path / "a")]
    assert main([*asked, "--tags", ",,X,WARE,FARBE"]) == 2
    assert "a comma stands in double quotes" in capsys.readouterr().err
    assert main([*asked, "--tags", '",",X,WARE,FARBE']) == 0
    assert load_tagger(tmp_path / "a").tags == (",", "X", "WARE", "FARBE")


def test_train_command_requires_dev_for_networks_and_declared_tags(tmp_path, file, capsys):
    asked = ["train", "--train", str(file), "--out", str(tmp_path / "a")]
    assert main(asked) == 2
    assert "a network needs --dev" in capsys.readouterr().err
    assert main([*asked, "--family", "hmm", "--tags", "X,WARE"]) == 2
    assert "tag 'FARBE' is in the train files but not in --tags" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()
