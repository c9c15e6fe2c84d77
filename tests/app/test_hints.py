"""Hints walked in the app: what a sentence names is on the page, in the state in which it is shown.

Each walk opens a page in the state of a hint, by a link, and finds the control that the hint names.
On every page walked, the quoted names in texts that ask for something must be labels of controls or
titles of pages, and a model or sentence “above” must have its box.
"""

import re

import pytest

from crfviz.annotations.files.importing import read_items
from crfviz.annotations.settings import Settings
from crfviz.annotations.store.store import open_store
from crfviz.taggers.registry import load_tagger
from crfviz.ui import cached
from crfviz.ui.annotate import documents
from crfviz.ui.panels import bring
from crfviz.ui.tour import STOPS
from crfviz.views.contents import ENTRIES
from tests.support.app_pages import new_app, open_at
from tests.support.brought import as_json

TEXTS = ("markdown", "caption", "info", "error", "warning", "success", "text")
CONTROLS = (
    *("button", "text_input", "text_area", "selectbox", "multiselect", "toggle", "radio", "slider"),
    *("number_input", "button_group", "file_uploader", "download_button", "expander", "popover"),
)
TITLES = {name for entry in ENTRIES for name in (entry.title, entry.tab) if name}
NAMED = re.compile("“([A-Z][^”…]{2,40})”")
ASKS = re.compile(r"\b([Ss]witch|[Cc]hoose|[Pp]ress|[Cc]lick|[Uu]se|menu|[Aa]nswer with)\b")
MODEL_ABOVE = re.compile(r"odel (that has them |above)|above, such as|another model")
NER, UPOS, DAYS = "ner-en", "upos-en", "textbook/ice-cream"
SENTENCE = "Maria met Milan in Milan ."


def texts(app):
    return [each.value for kind in TEXTS for each in getattr(app, kind)]


def names(app):
    """Labels and options of all controls."""
    found = set()
    for kind in CONTROLS:
        for each in app.get(kind):
            found.add(getattr(each, "label", "") or getattr(each.proto, "label", ""))
            found.update(map(str, getattr(each, "options", ()) or ()))
    return found


def assert_grounded(app, quoted=()):
    """Every control that a text of the page names is there; `quoted` are words of the reader."""
    labels = names(app) | TITLES | set(quoted)
    for text in texts(app):
        for name in NAMED.findall(text) if ASKS.search(text) else ():
            assert any(label.startswith(name) for label in labels), (name, text)
        if MODEL_ABOVE.search(text):
            assert any(box.key == "model" for box in app.selectbox), text
        if "box above" in text:
            assert any(box.key == "sentence" for box in app.text_input), text


def walked(script, says, controls=(), **params):
    app = new_app()
    app.query_params.update({name.replace("__", "."): value for name, value in params.items()})
    open_at(app, script)
    assert not app.exception
    assert any(says in text for text in texts(app)), texts(app)
    for control in controls:
        assert any(name.startswith(control) for name in names(app)), (control, names(app))
    assert_grounded(app, [params.get("sentence", ""), *params.get("sentence", "").split()])
    return app


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path}/annotations.db")
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    documents.store.clear()
    yield
    documents.store.clear()


WALKED = [entry for entry in ENTRIES if entry.path not in ("lectures", "guides")]


@pytest.mark.parametrize("entry", WALKED, ids=lambda entry: entry.path or "explore")
@pytest.mark.parametrize("model", [UPOS, DAYS])
def test_names_in_the_texts_of_every_page_are_there(entry, model):
    sentence = "3 1 3" if model == DAYS else SENTENCE
    app = new_app()
    app.query_params.update({"model": model, "sentence": sentence})
    open_at(app, entry.script)
    assert not app.exception
    assert_grounded(app, [sentence, *sentence.split(), *load_tagger(model).tags])


@pytest.mark.parametrize("script", ["viterbi", "marginals", "what-if", "why", "learn", "risk"])
def test_page_without_a_sentence_has_the_box_that_it_names(script):
    walked(f"pages/{script}.py", "Type a sentence in the box above", model=UPOS, sentence=" ")


def test_change_that_cannot_be_computed_names_the_other_changes_and_the_model():
    said = walked(
        "pages/what-if.py",
        "another model above",
        ["Your own change"],
        model=DAYS,
        sentence="3 1 3",
    )
    assert said.text_input(key="sentence").value == "3 1 3"


def test_rule_without_a_path_names_the_box_of_rules():
    walked("pages/rules.py", "Choose another rule", model=NER, sentence="Milan", v__rule="O{9}")


def test_switches_that_the_reading_of_files_names_are_beside_it(monkeypatch):
    table = {"emissions": [[0.2, 0.9, 0.1]], "transitions": [[0.5, 0.5, 0.2]] * 3}
    file = as_json({**table, "tags": ["O", "B-LOC", "I-LOC"], "probabilities": True})
    monkeypatch.setattr(bring, "uploaded_files", lambda: [file])
    app = walked("pages/bring.py", "or switch on “Divide rows by their sum”")
    assert_grounded(app)
    assert {"Divide rows by their sum", "BIO rules"} <= names(app)


def test_unanswered_question_is_above_the_button_that_waits_for_it(monkeypatch):
    monkeypatch.setattr(bring, "uploaded_files", lambda: [as_json({"emissions": [[20, 80]]})])
    app = new_app()
    open_at(app, "pages/bring.py")
    (use,) = (each for each in app.button if each.label == "Use this model")
    assert use.disabled
    assert use.help == "Answer the question above first."
    (asked,) = (each for each in app.radio if "look like percentages" in each.label)
    assert asked.options == [bring.SHARES, bring.NATS]
    asked.set_value(bring.SHARES).run()
    (use,) = (each for each in app.button if each.label == "Use this model")
    assert not use.disabled


def test_em_names_a_model_that_is_a_hidden_markov_model(monkeypatch):
    others = [name for name in cached.models() if name != DAYS]
    monkeypatch.setattr(cached, "models", lambda: others)
    app = walked("pages/em.py", "Choose one above, such as", model=UPOS, sentence=SENTENCE)
    (said,) = (each.value for each in app.info if "such as" in each.value)
    named = said.replace("\\", "").rpartition("such as ")[2].removesuffix(".")
    assert named in others
    runs = new_app()
    runs.query_params.update({"model": named, "sentence": cached.examples(named)[0].text})
    open_at(runs, "pages/em.py")
    assert not any("hidden Markov model." in each.value for each in runs.info)
    monkeypatch.setattr(cached, "models", lambda: [UPOS, NER])
    walked("pages/em.py", "This server has none.", model=UPOS, sentence=SENTENCE)


def test_model_errors_of_unknown_tags_names_the_picker_above():
    app = walked("pages/model-errors.py", "", ["Matrix as a table"], model=UPOS)
    assert any(box.key == "model" for box in app.selectbox)


def test_editor_without_a_cue_names_the_entry_of_the_menu_share():
    app, other = new_app(), new_app()
    open_at(app, "pages/lectures.py")
    assert any("“Add to lecture”, in the menu Share of other pages" in text for text in texts(app))
    open_at(other, "pages/explore.py")
    assert "Add to lecture" in names(other)


def test_last_stop_of_the_tour_names_the_switch_on_the_left():
    assert any("“Ask me” on the left" in stop.task for stop in STOPS)
    app = new_app()
    open_at(app, "pages/explore.py")
    assert "Ask me" in [each.label for each in app.sidebar.toggle]


def opened(document, part, **params):
    app = new_app()
    key = next(each.key for each in documents.store().documents() if each.name == document)
    app.query_params.update({"v.by": "anna", "v.doc": key, "v.part": part, **params})
    open_at(app, "pages/annotate.py")
    assert not app.exception
    return app


def test_training_of_a_document_with_own_tags_names_pickers_that_are_there():
    with open_store() as store:
        own = Settings(tags=("O", "B-TOWN", "I-TOWN"))
        store.add("towns", read_items(b"Dogs run .\n", "towns").items, settings=own)
    app = opened("towns", "learn", model=UPOS)
    assert any("Choose a model above" in text for text in texts(app)), texts(app)
    assert_grounded(app)
