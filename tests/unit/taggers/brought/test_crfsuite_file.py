"""CRFsuite models against python-crfsuite: each trains one here and is then asked itself."""

import json
import random
import struct

import numpy as np
import pycrfsuite
import pytest
from safetensors.numpy import load_file, save_file

from crfviz import attribute
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.exceptions import FormatError, ModelError
from crfviz.taggers.brought.crfsuite_file import read_crfsuite
from crfviz.taggers.brought.features_file import FEATURES_FILE
from crfviz.taggers.brought.tagger import ImportedTagger
from tests.support.brought import as_json, as_zip, understand

TAGS = ["DET", "NOUN", "VERB", "B-ÄÖ"]
WITHIN = 1e-6


def attributes(word, generator):
    """Every way of writing attributes that python-crfsuite knows."""
    return {
        "bias": True,
        "never": False,
        "word": word,
        "length": len(word) / 3,
        "parts": [word[:1], word[-1:], word[:1]],
        "neighbours": {"left": {"noise": generator.random()}, "ü:x": generator.choice("xyz")},
    }


def corpus(seed, sentences):
    """Sentences, tags that depend on word and place, in both forms of attributes."""
    generator = random.Random(seed)
    made = []
    for number in range(sentences):
        words = ["".join(generator.choices("abcé", k=generator.randint(1, 3))) for _ in range(7)]
        words = words[: generator.randint(1, 7)]
        tags = [TAGS[(len(w) + t + generator.randint(0, 1)) % 4] for t, w in enumerate(words)]
        rows = [attributes(word, generator) for word in words]
        if number % 3 == 0:
            rows = [[f"word:{w}", "bias", f"parts:{w[0]}", f"parts:{w[0]}"] for w in words]
        made.append((words, rows, tags))
    return made


@pytest.fixture(scope="module", params=["lbfgs", "l2sgd", "ap", "pa", "arow"])
def trained(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("crfsuite") / f"{request.param}.crfsuite"
    trainer = pycrfsuite.Trainer(algorithm=request.param, verbose=False)
    for _, rows, tags in corpus(1, 80):
        trainer.append(rows, tags)
    trainer.set_params({"max_iterations": 5})
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger, path.read_bytes()


def as_jsonl(sentences, **drop):
    lines = [{"tokens": w, "attributes": rows, "gold": tags} for w, rows, tags in sentences]
    lines = [{k: v for k, v in line.items() if k not in drop} for line in lines]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return "attributes.jsonl", text.encode()


def unlike(sentences):
    """The sentences whose words no earlier one has."""
    return list({tuple(words): (words, rows, tags) for words, rows, tags in sentences}.values())


def test_paths_probabilities_and_marginals_equal_crfsuite(trained):
    tagger, data = trained
    sentences = unlike(corpus(2, 40))
    found = understand(("model.crfsuite", data), as_jsonl(sentences, gold=1))
    assert set(found.tags) == set(tagger.labels()) == set(TAGS)
    for (_, rows, tags), chain in zip(sentences, found.sentences, strict=True):
        best = viterbi(chain)
        theirs = tagger.tag(rows)
        assert chain.score(theirs) == pytest.approx(best.score, abs=WITHIN)  # a tie may differ
        if not best.ties:
            assert [found.tags[k] for k in best.path] == theirs
        ours = forward_backward(chain)
        for path in (theirs, tags):
            tagger.set(rows)
            probability = np.exp(chain.score(path) - ours.log_partition)
            assert probability == pytest.approx(tagger.probability(path), abs=WITHIN)
        for t in range(len(rows)):
            for k, tag in enumerate(found.tags):
                assert ours.marginals[t, k].item() == pytest.approx(
                    tagger.marginal(tag, t), abs=WITHIN
                )


def test_weights_are_more_precise_than_the_dump_and_agree_with_it(trained):
    tagger, data = trained
    model, dump = read_crfsuite(data), tagger.info()
    for (source, target), weight in dump.transitions.items():
        ours = model.transitions[model.labels.index(source), model.labels.index(target)]
        assert ours == pytest.approx(weight, abs=1e-6)
    for (name, label), weight in dump.state_features.items():
        row = model.features.row(model.attributes[name], len(model.labels))
        ours = row[model.labels.index(label)]
        assert ours == pytest.approx(weight, abs=1e-6)
    features = np.count_nonzero(model.features.weights) + np.count_nonzero(model.transitions)
    assert features >= sum(
        weight != 0 for weight in [*dump.transitions.values(), *dump.state_features.values()]
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("crfsuite") / "small.crfsuite"
    trainer = pycrfsuite.Trainer(verbose=False)
    for _, rows, tags in corpus(3, 10):
        trainer.append(rows, tags)
    trainer.set_params({"max_iterations": 5})
    trainer.train(str(path))
    return path.read_bytes()


def test_unknown_attributes_are_counted(model):
    found = understand(
        ("m", model), ("a", b'{"attributes": [["bias", "nothing"], {"bias": 2.5}]}\n\n')
    )
    assert found.notes[0] == "1 of 3 attributes are not in the model: they say nothing."
    first, second = found.sentences[0].emissions
    assert second.tolist() == pytest.approx((2.5 * first).tolist(), abs=1e-12)


@pytest.mark.parametrize("end", [4, 20, 47, 60, 0.3, 0.6])
def test_truncated_model_is_rejected(model, end):
    cut = model[: end if isinstance(end, int) else int(end * len(model))]
    with pytest.raises(FormatError, match="CRFsuite model is damaged"):
        read_crfsuite(cut)
    with pytest.raises(FormatError, match="CRFsuite model is damaged"):
        read_crfsuite(cut[:4] + struct.pack("<I", len(cut)) + cut[8:])


def test_unsupported_model_kind_is_rejected(model):
    with pytest.raises(FormatError, match=r"first-order CRFsuite model .* version 101"):
        read_crfsuite(model[:12] + struct.pack("<I", 101) + model[16:])
    huge = model[:20] + struct.pack("<2I", 2**31, 2**31) + model[28:]
    with pytest.raises(FormatError, match="2147483648 labels"):
        read_crfsuite(huge)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"attributes": "bias"}', "line 1: expected a JSON object such as"),
        ('{"attributes": [', "line 1: expected a JSON object such as"),
        ('{"attributes": [7]}', "attributes of a word must be a list of names or an object"),
        ('{"attributes": [{"a": NaN}]}', "attribute 'a' must be a finite number"),
        ('{"attributes": [{"a": null}]}', "attribute 'a' must be a finite number"),
        ('{"attributes": [["bias"]], "tags": []}', "no field 'tags'; known: attributes"),
        ('{"attributes": [["bias"]], "tokens": "a"}', "“tokens” must be a list of strings"),
        ('{"attributes": [["bias"]], "tokens": ["a", "b"]}', "expected 1 tokens to match"),
        ('{"attributes": []}', r"line 1: expected a sentence of at least one word"),
        ('{"attributes": [' + '{"a":' * 25 + "1" + "}" * 25 + "]}", "inside of 20 others"),
    ],
)
def test_invalid_attributes_are_rejected(model, line, message):
    with pytest.raises(FormatError, match=message):
        understand(("m", model), ("a", line.encode()))


def test_line_that_is_not_an_object_is_left_out_and_named(model):
    left_out = understand(("m", model), ("a", b'{"attributes": [["bias"]]}\n[1]')).left_out
    assert "line 2: expected a JSON object such as" in " ".join(left_out)


def test_model_without_attributes_and_attributes_without_model_are_rejected(model):
    with pytest.raises(FormatError, match="A CRFsuite model says nothing without"):
        understand(("m", model))
    with pytest.raises(FormatError, match="Attributes say nothing without"):
        understand(("a", b'{"attributes": [["bias"]]}'))
    with pytest.raises(FormatError, match="CRFsuite model and JSON do not belong together"):
        understand(("m", model), as_json())


def weights_of(tagger, rows, tag, rival):
    """What each attribute of a word adds to the gap between two labels, by CRFsuite's own dump."""
    weights = tagger.info().state_features
    added = {}
    for name, value in rows.items():
        gap = weights.get((name, tag), 0.0) - weights.get((name, rival), 0.0)
        if any((name, label) in weights for label in tagger.labels()):
            added[name] = value * gap
    return added


@pytest.fixture
def brought(trained, tmp_path):
    """The first sentences of a model that was brought, as a tagger, with their attributes."""
    sentences = [
        (words, [{"bias": 2.0, f"word:{word}": 1.0, "of nobody": 3.0} for word in words], tags)
        for words, _, tags in unlike(corpus(2, 12))
    ]
    found = understand(("model.crfsuite", trained[1]), as_jsonl(sentences))
    found.write(tmp_path)
    return ImportedTagger(tmp_path), sentences


def test_contributions_of_a_brought_model_are_its_weights(trained, brought):
    tagger, sentences = brought
    for words, rows, _ in sentences:
        for position, row in enumerate(rows):
            found = attribute(tagger, words, position, "NOUN", "VERB")
            expected = weights_of(trained[0], row, "NOUN", "VERB")
            assert dict(found.features) == pytest.approx(expected, abs=4 * WITHIN)
            assert found.words[position] == pytest.approx(found.gap, abs=1e-9)
            assert found.baseline == 0
            assert np.count_nonzero(np.delete(found.words, position)) == 0


def test_repeated_attributes_contribute_once_with_their_sum(trained, tmp_path):
    words, row = ["a", "b"], ["bias", "word:a", "bias"]
    found = understand(("m.crfsuite", trained[1]), as_jsonl([(words, [row, []], ["NOUN"] * 2)]))
    found.write(tmp_path)
    tagger = ImportedTagger(tmp_path)
    expected = weights_of(trained[0], {"bias": 2, "word:a": 1}, "NOUN", "VERB")
    features = dict(attribute(tagger, words, 0, "NOUN", "VERB").features)
    assert features == pytest.approx(expected, abs=4 * WITHIN)
    assert attribute(tagger, words, 1, "NOUN", "VERB").features == ()


def test_brought_model_keeps_its_features_in_a_zip(brought, tmp_path):
    tagger, sentences = brought
    found = understand(as_zip({f.name: f.read_bytes() for f in tmp_path.iterdir()}))
    (tmp_path / "again").mkdir()
    found.write(tmp_path / "again")
    words = sentences[0][0]
    first, second = (
        attribute(each, words, 0, "NOUN", "VERB").features
        for each in (tagger, ImportedTagger(tmp_path / "again"))
    )
    assert first == second


@pytest.mark.parametrize("damage", ["other values", "ids out of range", "no names"])
def test_damaged_features_are_rejected_with_the_file_name(brought, tmp_path, damage):
    tagger, sentences = brought
    path = tmp_path / FEATURES_FILE
    arrays = load_file(path)
    if damage == "other values":
        arrays["values"] = arrays["values"] + 1
    elif damage == "ids out of range":
        arrays["ids"] = arrays["ids"] + 1000
    else:
        del arrays["names"]
    save_file(arrays, path)
    with pytest.raises(ModelError, match=FEATURES_FILE):
        attribute(tagger, sentences[0][0], 0, "NOUN", "VERB")


def test_scores_without_features_name_the_files_to_bring(tmp_path):
    understand(as_json()).write(tmp_path)
    with pytest.raises(ModelError, match=r"only the scores.*\.crfsuite.*\.jsonl.*from_crfsuite"):
        attribute(ImportedTagger(tmp_path), ["The", "dog", "barks"], 0, "NOUN", "VERB")
