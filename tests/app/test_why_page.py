"""The page Why this tag: pins, and where an emission comes from."""

import pytest

from crfviz import attribute, condition, load_tagger, viterbi
from tests.support.app_pages import assert_sound, button, open_at, stage_of

PAGE = "pages/why.py"
WORDS = ["My", "old", "bed", "got", "tossed", "in", "a", "dumpster", "."]


def opened(app, model, at="3 VERB"):
    app.query_params.update(
        {"model": model, "sentence": " ".join(WORDS), "v.at": at, "v.twin": "1"}
    )
    open_at(app, PAGE)
    assert_sound(app)
    return [text.value for text in app.text]


def table(app):
    return next(frame.value for frame in app.dataframe if list(frame.value.index) == ["nats"])


def test_words_behind_an_emission_are_named(app):
    texts = opened(app, "upos-en")
    found = attribute(load_tagger("upos-en"), WORDS, 3, "AUX", "VERB")
    (note,) = [text for text in texts if text.startswith("At “got” (word 4)")]
    assert f"because of “tossed” +{found.words[4]:.2f}" in note
    numbers = [float(cell.replace("−", "-")) for cell in table(app).loc["nats"]]
    assert numbers[:9] == pytest.approx(found.words.tolist(), abs=1e-3)
    assert sum(numbers[:10]) == pytest.approx(numbers[10], abs=1e-3)


def test_other_words_contribute_nothing_without_context(app):
    opened(app, "upos-en-contextfree", at="7 VERB")
    cells = table(app).loc["nats"]
    place = int(app.selectbox(key="view.because").value)
    assert [cell for t, cell in enumerate(cells[:9]) if t != place] == ["0.0000"] * 8


def test_perceptron_features_are_listed(app):
    texts = opened(app, "upos-en-perceptron")
    (note,) = [text for text in texts if text.startswith("Largest features: ")]
    assert "shape=lower −9.52" in note


def test_model_without_a_network_is_reported(app):
    opened(app, "upos-en-hmm")
    assert any("without a network" in caption.value for caption in app.caption)
    assert not [frame for frame in app.dataframe if list(frame.value.index) == ["nats"]]


def test_tag_can_be_pinned_or_forbidden_and_undone(app):
    trained = load_tagger("upos-en-contextfree").potentials(["These", "look", "fine"])
    question = {"model": "upos-en-contextfree", "sentence": "These look fine", "v.at": "1 NOUN"}
    app.query_params.update(question)
    open_at(app, PAGE)
    best = rows_of(app)["viterbi"]
    button(app, "Pin NOUN at word 2").click().run()
    price = condition(trained, {1: "NOUN"}).probability
    assert any(f"P(pins | x) = {price:.4f}" in text.value for text in app.text)
    assert app.query_params["p"] == "1.NOUN"
    assert rows_of(app)["viterbi"] == viterbi(trained.pin({1: "NOUN"})).path
    button(app, "Unpin all").click().run()
    assert rows_of(app)["viterbi"] == best
    button(app, "Forbid NOUN at word 2").click().run()
    assert app.query_params["e"] == "1.NOUN:-inf"
    app.button(key="undo").click().run()
    assert_sound(app)
    assert app.query_params == question


def rows_of(app):
    return {row["id"]: row["tags"] for row in stage_of(app)["rows"]}
