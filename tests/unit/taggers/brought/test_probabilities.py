"""Numbers that look like probabilities are a question; textbook chains are read as they are."""

import json
import math

import numpy as np
import pytest
import safetensors.numpy

import crfviz
from crfviz.commands.bring import add_arguments, main
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.registry import load_tagger, store_model
from crfviz.taggers.tagger import CRF, HMM
from tests.support.brought import as_json, as_npz, understand
from tests.support.paths import ROOT

LIKE = {"emissions": [[0.2, 0.8], [0.5, 0.5]], "transitions": [[0.9, 0.1], [0.3, 0.7]]}
ASKED = "these look like probabilities: take logarithms?"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "models"))


def as_safetensors(content):
    tensors = {name: np.array(table) for name, table in content.items()}
    return "scores.safetensors", safetensors.numpy.save(tensors)


@pytest.mark.parametrize(
    "file",
    [
        as_json(LIKE),
        as_npz(**LIKE),
        as_safetensors(LIKE),
        as_json({"emissions": LIKE["emissions"]}),
        as_json({"emissions": LIKE["emissions"], "transitions": [[0, 0], [0, 0]]}),
        as_json({**LIKE, "emissions": [[0.2, 0.1], [0.5, 0.9]], "start": [0.5, 0.5]}),
        as_json({**LIKE, "transitions": [[0.8, 0.1], [0.3, 0.6]], "end": [0.1, 0.1]}),
        as_json({"emissions": [[0.33, 0.33, 0.33], [0.17, 0.17, 0.67]]}),
        as_json({"emissions": [[0.2, 0.1]], "transitions": [[0.9, 0.3], [0.1, 0.7]]}),
        as_json({"sentences": [{"emissions": LIKE["emissions"]}, {"emissions": [[0.1, 0.9]]}]}),
    ],
    ids=[
        "json",
        "npz",
        "safetensors",
        "softmax",
        "zeros",
        "hmm",
        "end",
        "rounded",
        "turned",
        "sentences",
    ],
)
def test_rows_that_sum_to_one_are_a_question_until_it_is_answered(file):
    found = understand(file)
    assert found.question.endswith(ASKED)
    with pytest.raises(FormatError, match=r"take logarithms\? Answer with Reading"):
        store_model(found, "asked")
    scores = understand(file, probabilities=False)
    logs = understand(file, probabilities=True)
    assert scores.question == logs.question == ""
    assert scores.family == CRF
    for one, other in zip(scores.sentences, logs.sentences, strict=True):
        np.testing.assert_allclose(one.emissions.log().numpy(), other.emissions.numpy())
        if one.transitions.any():
            np.testing.assert_allclose(one.transitions.log().numpy(), other.transitions.numpy())
        else:
            assert not other.transitions.any()


PERCENT = {"emissions": [[20, 80], [50, 50]], "transitions": [[90, 10], [30, 70]]}
OF_PERCENT = "these look like percentages: divide by 100 and take logarithms?"
LOGS = {name: np.log(np.array(table) / 100) for name, table in PERCENT.items()}


@pytest.mark.parametrize(
    ("file", "emissions", "transitions"),
    [
        (as_json(PERCENT), LOGS["emissions"], LOGS["transitions"]),
        (as_npz(**PERCENT), LOGS["emissions"], LOGS["transitions"]),
        (
            as_safetensors({name: np.array(table, float) for name, table in PERCENT.items()}),
            LOGS["emissions"],
            LOGS["transitions"],
        ),
        (as_json({"emissions": PERCENT["emissions"]}), LOGS["emissions"], np.zeros((2, 2))),
        (
            as_json({"emissions": [[33, 33, 33], [17, 17, 67]]}),
            np.log([[0.33] * 3, [0.17, 0.17, 0.67]]),
            np.zeros((3, 3)),
        ),
        (
            as_json({**PERCENT, "emissions": [[20, 10], [50.5, 90]], "start": [50, 50]}),
            np.log([[0.2, 0.1], [0.505, 0.9]]),
            LOGS["transitions"],
        ),
        (
            as_json({**PERCENT, "transitions": [[80, 10], [30, 60]], "end": [10, 10]}),
            LOGS["emissions"],
            np.log([[0.8, 0.1], [0.3, 0.6]]),
        ),
        (
            as_json({"emissions": PERCENT["emissions"], "transitions": LIKE["transitions"]}),
            LOGS["emissions"],
            LOGS["transitions"],
        ),
        (
            as_json({"emissions": [[0.5, 0.9]], "transitions": PERCENT["transitions"]}),
            np.log([[0.5, 0.9]]),
            LOGS["transitions"],
        ),
    ],
    ids=["json", "npz", "safetensors", "softmax", "rounded", "hmm", "end", "one-of-two", "words"],
)
def test_rows_that_sum_to_100_are_a_question_about_percentages(file, emissions, transitions):
    found = understand(file)
    assert found.question.endswith(OF_PERCENT)
    with pytest.raises(FormatError, match=r"take logarithms\? Answer with Reading"):
        store_model(found, "asked")
    given = understand(file, probabilities=False)
    assert given.question == ""
    assert given.sentences[0].emissions.max() > 0.89
    logs = understand(file, probabilities=True)
    assert logs.question == ""
    assert "The percentages are divided by 100." in logs.notes
    np.testing.assert_allclose(logs.sentences[0].emissions.numpy(), emissions)
    np.testing.assert_allclose(logs.sentences[0].transitions.numpy(), transitions)


def test_percentages_give_the_same_model_as_their_probabilities():
    percent = understand(as_json({**PERCENT, "start": [40, 60]}), probabilities=True)
    shares = understand(as_json({**LIKE, "start": [0.4, 0.6]}), probabilities=True)
    assert percent.family == shares.family == HMM
    for one, other in zip(percent.sentences[0].scores(), shares.sentences[0].scores(), strict=True):
        np.testing.assert_allclose(one, other)


def test_file_that_says_probabilities_may_hold_percentages():
    said = understand(as_json({**PERCENT, "probabilities": True}))
    assert said.question == ""
    assert said.unnormalised == ()
    np.testing.assert_allclose(said.sentences[0].emissions.numpy(), LOGS["emissions"])


@pytest.mark.parametrize(
    "file",
    [
        as_json({**PERCENT, "probabilities": False}),
        as_json({**PERCENT, "transitions": [[90, 40], [30, 90]], "emissions": [[20, 30]]}),
        as_json({"emissions": [[100], [100]], "transitions": [[100]]}),
        as_json({"emissions": [[100, 0], [0, 100]], "transitions": [[0, 0], [0, 0]]}),
        as_json({**PERCENT, "start": [-1, 2]}),
        as_json({**PERCENT, "transitions": [[150, -50], [0, 1]]}),
    ],
    ids=["no", "sums", "one-tag", "indicators", "negative", "scores"],
)
def test_no_question_about_percentages_where_nothing_suggests_them(file):
    assert understand(file).question == ""


def test_emissions_alone_that_sum_to_100_beside_scores_are_noted():
    found = understand(as_json({**PERCENT, "transitions": [[1.5, -0.5], [0.0, 0.2]]}))
    assert "The rows of emissions sum to 100, but other numbers are no percentages" in str(
        found.notes
    )


def test_library_asks_about_percentages_and_takes_the_answer(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(PERCENT))
    with pytest.raises(CrfvizError, match="these look like percentages"):
        crfviz.bring(file)
    read = crfviz.bring(file, reading=crfviz.Reading(probabilities=True))
    assert read.potentials(["1", "2"]).emissions[0, 0] == math.log(0.2)


@pytest.mark.parametrize(
    "file",
    [
        as_json({**LIKE, "probabilities": False}),
        as_json({**LIKE, "probabilities": True}),
        as_npz(**LIKE, probabilities=False),
        as_json({**LIKE, "start": [0.0, "-inf"]}),
        as_json({**LIKE, "transitions": [[1.5, -0.5], [0.0, 0.0]]}),
        as_json({"emissions": [[0.2, 0.7], [0.5, 0.5]], "transitions": [[0.9, 0.4], [0.3, 0.7]]}),
        as_json({"emissions": [[1.0], [1.0]], "transitions": [[1.0]]}),
        as_json({"emissions": [[1, 0], [0, 1]], "transitions": [[0, 0], [0, 0]]}),
    ],
    ids=["no", "yes", "npz", "forbidden", "negative", "sums", "one-tag", "indicators"],
)
def test_no_question_where_the_file_answers_or_nothing_suggests_it(file):
    assert understand(file).question == ""


def test_emissions_alone_that_sum_to_one_beside_scores_are_noted():
    found = understand(as_json({**LIKE, "transitions": [[1.5, -0.5], [0.0, 0.2]]}))
    assert "The rows of emissions sum to one, but" in found.notes[0]


def test_library_and_command_line_ask_and_take_the_answer(tmp_path, capsys):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(LIKE))
    with pytest.raises(CrfvizError, match="these look like probabilities"):
        crfviz.bring(file)
    read = crfviz.bring(file, reading=crfviz.Reading(probabilities=True))
    assert read.potentials(["1", "2"]).emissions[0, 0] == math.log(0.2)
    assert read.family == HMM

    def run(*words):
        from argparse import ArgumentParser

        parser = ArgumentParser()
        add_arguments(parser)
        return main(parser.parse_args([str(file), *words]))

    with pytest.raises(CrfvizError, match="--no-probabilities they are scores"):
        run()
    assert run("--probabilities", "--name", "logs") == 0
    assert run("--no-probabilities", "--name", "nats") == 0
    assert "nats: Potentials as JSON, 2 tags" in capsys.readouterr().out
    assert load_tagger("nats").potentials(["1", "2"]).emissions[0, 0] == 0.2
    assert load_tagger("logs").potentials(["1", "2"]).emissions[0, 0] == math.log(0.2)


CHAINS = sorted(path for path in (ROOT / "models/textbook").glob("*.json"))


@pytest.mark.parametrize("path", CHAINS, ids=lambda path: path.stem)
def test_every_textbook_chain_is_brought_as_it_is(path):
    mine, theirs = crfviz.bring(path, name="mine"), load_tagger(f"textbook/{path.stem}")
    assert mine.name == "mine"
    for each in theirs.examples():
        one, other = mine.potentials(each.tokens), theirs.potentials(each.tokens)
        assert one.emissions.tolist() == other.emissions.tolist()
        assert one.transitions.tolist() == other.transitions.tolist()
        assert one.end.tolist() == other.end.tolist()
    assert mine.family == theirs.family
    assert mine.card() == theirs.card()
    assert load_tagger("mine").examples() == theirs.examples()


def test_chain_needs_only_its_numbers(tmp_path):
    chain = json.loads((ROOT / "models/textbook/ice-cream.json").read_text())
    bare = {name: chain[name] for name in ("states", "observations", "start", "transitions", "end")}
    file = tmp_path / "bare.json"
    file.write_text(json.dumps({**bare, "emissions": chain["emissions"]}))
    tagger = crfviz.bring(file)
    assert tagger.tag("1 3 3").tags == load_tagger("textbook/ice-cream").tag("1 3 3").tags
    file.write_text(json.dumps({**bare, "emissions": [[0.7, 0.2, 0.2], [0.1, 0.2, 0.7]]}))
    with pytest.raises(FormatError, match=r"field 'emissions'.*must sum to 1"):
        crfviz.bring(file)
    file.write_text(json.dumps(bare))
    with pytest.raises(FormatError, match="field 'emissions'"):
        crfviz.bring(file)
