"""Taggers made from models of other libraries, against these libraries themselves."""

import itertools
import random
from types import SimpleNamespace

import numpy as np
import pycrfsuite
import pytest
from hmmlearn.hmm import CategoricalHMM

import crfviz
from crfviz import FormatError, ModelError, ShapeError, UnknownObservationError
from tests.support import oracle

TAGS = ["A", "B", "C"]
WORDS = ["an", "ox", "Bit", "me", "no", "Yes"]


def features(words):
    """Attributes in every form that python-crfsuite takes."""
    rows = []
    for t, word in enumerate(words):
        rows.append(
            {
                "bias": True,
                "word": word,
                "length": np.float32(len(word)),
                "ends": {word[-1:], word[-2:]},
                "before": {"word": words[t - 1] if t else "START"},
            }
        )
    return rows


def train(path, **parameters):
    generator = random.Random(3)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=parameters, verbose=False)
    for _ in range(60):
        words = generator.choices(WORDS, k=generator.randint(1, 6))
        tags = [TAGS[(len(w) + t * generator.randint(0, 1)) % 3] for t, w in enumerate(words)]
        trainer.append(features(words), tags)
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


@pytest.fixture(scope="module", params=[{}, {"feature.possible_transitions": 1, "c2": 1e-4}])
def trained(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("crfsuite") / "model.crfsuite"
    return train(path, max_iterations=40, **request.param), path


def ways(theirs, path):
    """The same tagger from everything that holds the model."""
    wrapped = SimpleNamespace(modelfile=SimpleNamespace(name=str(path)), tagger_=theirs)
    made = [crfviz.from_crfsuite(given, features) for given in (theirs, path, str(path), wrapped)]
    by_word = crfviz.from_crfsuite(path, lambda words, t, pad=0: features(words)[t + pad])
    return [*made, by_word]


def test_crfsuite_model_tags_like_crfsuite(trained):
    theirs, path = trained
    for ours in ways(theirs, path):
        generator = random.Random(5)
        for length in (1, 2, 5, 12):
            words = generator.choices([*WORDS, "never", "seen"], k=length)
            found = ours.tag(" ".join(words))
            theirs.set(features(words))
            assert (found.words, found.tags) == (words, theirs.tag())
            expected = [theirs.marginal(tag, t) for t, tag in enumerate(found.tags)]
            assert found.probabilities == pytest.approx(expected, abs=1e-10)
            best = crfviz.viterbi(ours.potentials(words))
            assert best.probability == pytest.approx(theirs.probability(found.tags), rel=1e-9)


def test_scores_from_a_crfsuite_object_equal_those_of_its_file(trained):
    theirs, path = trained
    words = [*WORDS, "never"]
    from_object, from_file = (
        crfviz.from_crfsuite(m, features).potentials(words) for m in (theirs, path)
    )
    assert from_file.tags == tuple(theirs.labels())
    for part in ("emissions", "transitions"):
        ours, exact = (getattr(chain, part).numpy() for chain in (from_object, from_file))
        assert np.abs(ours - exact).max() < 1e-5
        difference = ours - exact
        assert np.ptp(difference, axis=None if part == "transitions" else 1).max() < 1e-10


def test_extreme_crfsuite_weights_are_read_from_the_rounded_dump():
    labels = ["A", "B"]
    info = SimpleNamespace(transitions={("A", "B"): -900.25}, state_features={("x", "A"): 800.5})
    theirs = SimpleNamespace(
        info=lambda: info,
        labels=lambda: labels,
        set=lambda _: None,
        marginal=lambda label, _: float(label == "A"),
        probability=lambda pair: 0.0 if pair == ["A", "B"] else 1 / 3,
    )
    chain = crfviz.from_crfsuite(theirs, lambda words: [["x"]] * len(words)).potentials(["a", "b"])
    assert chain.emissions.tolist() == [[800.5, 0.0]] * 2
    assert chain.transitions.tolist() == [[0.0, -900.25], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: [{}], "attributes of 2 words, got 1"),
        (lambda _: 1 / 0, "features of crfsuite failed: ZeroDivisionError"),
        (lambda _: [["a"], [3]], "word 2: the attributes of a word must be"),
        (lambda _: [["a"], {"b": object()}], "word 2: the attribute 'b' must be"),
        (lambda _: [["a"], {"b": float("nan")}], "word 2: the attribute 'b' must be"),
    ],
)
def test_invalid_feature_functions_are_rejected(trained, function, message):
    tagger = crfviz.from_crfsuite(trained[1], function)
    with pytest.raises((ModelError, FormatError), match=message):
        tagger.potentials(["an", "ox"])


def test_object_that_is_not_a_crfsuite_model_is_rejected(trained, tmp_path):
    unfitted = SimpleNamespace(modelfile=SimpleNamespace(name=None))
    for wrong in (3, unfitted, object()):
        with pytest.raises(FormatError, match="expected a pycrfsuite"):
            crfviz.from_crfsuite(wrong, features)
    with pytest.raises(ModelError, match=r"Reading the pycrfsuite\.Tagger failed: "):
        crfviz.from_crfsuite(pycrfsuite.Tagger(), features)
    with pytest.raises(FormatError, match="No such file"):
        crfviz.from_crfsuite(tmp_path / "gone", features)
    (tmp_path / "text").write_text("text")
    with pytest.raises(FormatError, match="damaged"):
        crfviz.from_crfsuite(tmp_path / "text", features)
    with pytest.raises(FormatError, match="features must be a function, got 'word'"):
        crfviz.from_crfsuite(trained[1], "word")


START, MOVES = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]
SAYS, SYMBOLS = [[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]], ["normal", "cold", "dizzy"]


def test_hmm_equals_hmmlearn():
    theirs = CategoricalHMM(2)
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = map(np.array, (START, MOVES, SAYS))
    ours = crfviz.from_hmm(
        theirs.startprob_, theirs.transmat_, theirs.emissionprob_, SYMBOLS, ["Healthy", "Fever"]
    )
    text = "normal cold dizzy dizzy normal"
    seen = np.array([[SYMBOLS.index(word)] for word in text.split()])
    found = ours.tag(text)
    log_joint, path = theirs.decode(seen)
    assert found.tags == [ours.tags[k] for k in path]
    assert "Fever" in found.tags
    posterior = theirs.predict_proba(seen)
    assert found.probabilities == pytest.approx(posterior[range(5), path], abs=1e-12)
    chain = ours.potentials(found.words)
    assert crfviz.forward_backward(chain).log_partition == pytest.approx(theirs.score(seen))
    assert crfviz.viterbi(chain).score == pytest.approx(log_joint)
    assert ours.family == "hmm"
    assert "| Healthy | 0.5 | 0.4 | 0.1 |" in ours.card()
    assert ours.reads("cold cold")
    assert not ours.reads("cold feet")


def test_hmm_may_have_end_scores_and_unnamed_states():
    moves, end = [[0.5, 0.25], [0.5, 0.5]], [0.25, 0.0]
    tagger = crfviz.from_hmm(
        start=START, transitions=moves, emissions=SAYS, symbols=range(3), end=end
    )
    found = tagger.tag("0 2 1")
    assert tagger.tags == ("0", "1")
    assert found.tags[-1] == "0"  # the other state never ends
    scores = {
        path: START[path[0]]
        * np.prod([SAYS[k][w] for k, w in zip(path, (0, 2, 1), strict=True)])
        * np.prod([moves[a][b] for a, b in itertools.pairwise(path)])
        * end[path[-1]]
        for path in oracle.paths(tagger.potentials(found.words))
    }
    best = max(scores, key=scores.get)
    assert found.tags == [str(k) for k in best]
    mass = sum(p for path, p in scores.items() if path[0] == best[0]) / sum(scores.values())
    assert found.probabilities[0] == pytest.approx(mass)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"start": [0.6, 0.6]}, ModelError, "'start'"),
        ({"start": [0.6, 0.3, 0.1]}, ModelError, "'start' must be \\(2,\\)"),
        ({"transitions": [[1, 0]]}, ModelError, "'transitions' must be"),
        ({"emissions": [[0.5, 0.5]] * 2}, ModelError, "'emissions' must be \\(2, 3\\)"),
        ({"emissions": "many"}, ShapeError, "emissions must be numbers"),
        ({"emissions": 1.0}, ModelError, "must be"),
        ({"symbols": ["a", "b b", "c"]}, ModelError, "symbols must have .*, got 'b b'"),
        ({"symbols": ["a", "a", "c"]}, ModelError, "symbols must have .*, got the same name twice"),
        ({"states": ["A", ""]}, ModelError, "states must have"),
    ],
)
def test_invalid_hmm_is_rejected(changed, error, message):
    given = {"start": START, "transitions": MOVES, "emissions": SAYS, "symbols": SYMBOLS}
    with pytest.raises(error, match=message):
        crfviz.from_hmm(**(given | changed))


def test_unknown_symbol_is_named_in_the_error():
    with pytest.raises(UnknownObservationError, match="hmm has no observation 'feet'"):
        crfviz.from_hmm(START, MOVES, SAYS, SYMBOLS).tag("cold feet")


def test_attributes_sum_to_the_emission_and_name_their_words(trained):
    theirs, path = trained
    words = ["no", "ox", "strange", "an"]
    for tagger in ways(theirs, path):
        for position, tag, rival in itertools.product(range(4), TAGS, TAGS):
            if tag == rival:
                continue
            found = crfviz.attribute(tagger, words, position, tag, rival)
            weights = theirs.info().state_features
            known = features(words)[position]
            plain = {f"word:{known['word']}": 1, "length": known["length"], "bias": 1}
            plain |= {f"before:word:{known['before']['word']}": 1}
            plain |= {f"ends:{each}": 1 for each in known["ends"]}
            expected = {
                name: value * (weights.get((name, tag), 0) - weights.get((name, rival), 0))
                for name, value in plain.items()
                if any((name, each) in weights for each in TAGS)
            }
            assert dict(found.features) == pytest.approx(expected, abs=1e-5)
            own = sum(value for name, value in expected.items() if name[:2] in ("wo", "le", "en"))
            before = sum(value for name, value in expected.items() if name.startswith("before"))
            assert found.words[position] == pytest.approx(own, abs=1e-5)
            start = position == 0
            assert found.baseline == pytest.approx(
                expected.get("bias", 0) + before * start, abs=1e-5
            )
            assert not start or found.words[1:].tolist() == [0, 0, 0]
            assert start or found.words[position - 1] == pytest.approx(before, abs=1e-5)
            assert found.words.sum() + found.baseline == pytest.approx(found.gap, abs=1e-9)
