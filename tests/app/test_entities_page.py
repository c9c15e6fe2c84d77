"""The page Entities, driven with AppTest."""

import re
from functools import partial

import pytest

from crfviz import load_tagger
from crfviz.chain.questions.entities import illegal_mass
from tests.support.app_pages import opened, stage_of

SENTENCE = "The University of Oxford is in England ."


@pytest.fixture
def page(app):
    app.query_params.update({"model": "ner-en", "sentence": SENTENCE})

    return partial(opened, app, "pages/entities.py")


def test_illegal_mass_switch_and_note_equal_the_library(page):
    app = page()
    chain = load_tagger("ner-en").potentials(SENTENCE.split(), constrained=False)
    mass = illegal_mass(chain)
    shown = {metric.label: metric.value for metric in app.metric}
    assert float(shown["Illegal mass 1 − Z_legal / Z"]) == pytest.approx(mass, abs=6e-6)
    assert shown["Words changed"] == "0"
    assert any(f"{100 * mass:.2f} % of the probability" in text.value for text in app.markdown)
    app.toggle(key="constrained").set_value(False).run()
    assert app.query_params["c"] == "0"
    assert {metric.label: metric.value for metric in app.metric} == shown


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("1 99 ORG", "Words 2 to 100 are no span of this sentence"),
        ("3 1 ORG", "the first cannot come after the last"),
        ("1 3 MISC", "has no entity type “MISC”: it knows LOC, ORG, PER"),
        ("<b>", "expected “1 3 LOC”"),
    ],
)
def test_invalid_entity_is_reported_and_the_first_one_shown(page, wanted, message):
    app = page(**{"v.entity": wanted})
    warning = re.sub(r"\\(.)", r"\1", app.warning[0].value)
    assert message in warning


@pytest.mark.parametrize(("at", "span"), [("6 B-LOC", ("LOC", 6, 6)), ("2 I-ORG", ("ORG", 1, 3))])
def test_opened_error_is_the_entity_shown(page, at, span):
    gold = "0.O,1.B-ORG,2.I-ORG,3.I-ORG,4.O,5.O,6.B-LOC,7.O"
    panel = stage_of(page(**{"r": gold, "v.at": at}))["entity"]
    assert (panel["label"], panel["first"], panel["last"]) == span


def test_model_without_entities_shows_an_example_and_a_way_back(page):
    own = {"model": "upos-en", "sentence": "They run ."}
    app = page(**own)
    assert app.selectbox(key="model").value == "upos-en"
    assert app.text_input(key="sentence").value == own["sentence"]
    note = next(text.value for text in app.caption if "has no entities" in text.value)
    assert "ner-en" in note.replace("\\", "")
    example = load_tagger("ner-en").examples()[0]
    words = stage_of(app)["words"]
    assert words == list(example.tokens)
    assert app.metric
    app.toggle(key="constrained").set_value(False).run()
    assert not app.exception
    assert app.selectbox(key="model").value == "ner-en"
    assert app.text_input(key="sentence").value == example.text
    assert app.toggle(key="constrained").value is False
    app.button(key="back_from_example").click().run()
    assert app.title[0].value == "Explore"
    assert app.selectbox(key="model").value == "upos-en"
    assert app.text_input(key="sentence").value == own["sentence"]


def test_example_button_selects_the_example_model(page):
    app = page(model="upos-en", sentence="They run .")
    app.button(key="open_bio").click().run()
    assert app.selectbox(key="model").value == "ner-en"
    assert not [text for text in app.caption if "has no entities" in text.value]
    assert app.button(key="back_from_example").label == "Back to upos-en"


def test_chain_without_a_legal_path_is_reported(page):
    app = page(p="0.I-ORG")
    said = [text.value for text in app.markdown]
    assert any("No legal tag sequence is allowed" in text for text in said)
