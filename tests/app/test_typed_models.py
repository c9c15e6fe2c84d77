"""Models that are typed or pasted on the page Bring, and its question about probabilities."""

import json

import pytest

from crfviz.ui.panels import bring
from tests.support.app_pages import new_app, open_at
from tests.support.brought import as_json
from tests.support.paths import ROOT

LIKE = {"emissions": [[0.2, 0.8], [0.5, 0.5]], "transitions": [[0.9, 0.1], [0.3, 0.7]]}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))


def page(**options):
    app = new_app()
    app.query_params.update({f"v.{name}": value for name, value in options.items()})
    return open_at(app, "pages/bring.py")


def question_of(app):
    return next(radio for radio in app.radio if "take logarithms?" in radio.label)


def emissions_of(app):
    return app.dataframe[0].value.set_index("what")["understood"]["emissions"]


@pytest.mark.parametrize(
    ("answer", "emissions"),
    [(bring.LOGARITHMS, "from -1.609 to -0.2231"), (bring.NATS, "from 0.2 to 0.8")],
)
def test_uploaded_probabilities_wait_for_an_answer(answer, emissions, monkeypatch):
    monkeypatch.setattr(bring, "uploaded_files", lambda: [as_json(LIKE)])
    app = page()
    assert question_of(app).value is None
    assert app.button(key="bring.use").disabled
    question_of(app).set_value(answer).run()
    assert question_of(app).value == answer
    assert not app.button(key="bring.use").disabled
    assert emissions_of(app) == emissions


def type_all(app, **texts):
    boxes = {**{box.key: box for box in app.text_area}, **{box.key: box for box in app.text_input}}
    for name, text in texts.items():
        boxes[f"draft.bring.{name}"].set_value(text)
    return app.run()


def test_typed_tables_are_asked_about_and_used():
    app = page(way="tables")
    assert not app.get("file_uploader")
    type_all(app, tags="N V", words="dogs bark", transitions="0.9 0.1\n0.3 0.7")
    assert "bring.use" not in {button.key for button in app.button}
    type_all(app, emissions="0.2 0.8\n0.5 0.5", start="0.5 0.5")
    question_of(app).set_value(bring.LOGARITHMS).run()
    facts = app.dataframe[0].value.set_index("what")["understood"]
    assert facts["tags"] == "2: N, V"
    assert facts["start"] == "all -0.6931"
    assert not app.button(key="bring.use").disabled


def test_factors_are_a_choice_in_the_link_and_an_error_loses_nothing():
    app = page(way="tables", numbers="factors")
    type_all(app, emissions="2 8\n-5 1", transitions="9 1\n3 7")
    assert "factors exp(score) are 0 or more, got -5" in app.error[0].value
    texts = {box.key: box.value for box in app.text_area}
    assert texts["draft.bring.transitions"] == "9 1\n3 7"
    type_all(app, emissions="2 8\n5 1")
    assert not app.error
    assert emissions_of(app) == "from 0 to 2.079"


def test_pasted_textbook_chain_is_a_model():
    app = page(way="text")
    text = (ROOT / "models/textbook/fever.json").read_text(encoding="utf-8")
    type_all(app, text=text)
    assert not app.error
    assert app.dataframe[0].value.set_index("what")["understood"]["tags"] == "2: Healthy, Fever"
    assert not app.button(key="bring.use").disabled


@pytest.mark.parametrize("way", ["tables", "text"])
def test_example_fills_the_boxes(way):
    app = page(way=way)
    next(button for button in app.button if button.label.startswith("Fill in")).click().run()
    assert not app.error
    assert not app.button(key="bring.use").disabled


def test_example_and_kinds_stay_beside_an_error(monkeypatch):
    wrong = ("mine.json", json.dumps({"emission": [[1]]}).encode())
    monkeypatch.setattr(bring, "uploaded_files", lambda: [wrong])
    app = page()
    assert "there is no field" in app.error[0].value
    assert bring.EXAMPLE in [code.value for code in app.code]
