"""How Model errors and Annotate show the reading of a file, and the pickers that change it."""

import io
import json

import pyarrow
import pytest
from pyarrow import parquet

from crfviz.annotations.store.store import open_store
from crfviz.ui.annotate import documents
from crfviz.ui.reading_panel import LABELS
from tests.support.app_pages import button, new_app, open_at
from tests.unit.text.readers.test_layers_of_tags import ALL as DOCBIN
from tests.unit.text.readers.test_layers_of_tags import MARKS, POS, TEXT, brat, docbin

ERRORS = "pages/model-errors.py"
# two columns of entities: no evidence for one of them
OPEN = b"Anna\tB-PER\tO\nruns\tO\tO\n\nOslo\tB-LOC\tB-PER\nwins\tO\tO\n"
SURE = b"He\tPRON\nruns\tVERB\n\nDogs\tNOUN\nbark\tVERB\n\nIt\tPRON\nrains\tVERB\n\nI\tPRON\n"


def upload(app, content, name="mine.conll", key="errors.upload"):
    app.file_uploader(key=key).upload(name, content, "text/plain").run()
    assert not app.exception
    return app


@pytest.fixture
def errors(app):
    app.query_params.update({"model": "upos-en", "v.corpus": "file"})
    return open_at(app, ERRORS)


def texts(app):
    return "\n".join(each.value for each in (*app.caption, *app.markdown))


def pick(app, label, value):
    next(each for each in app.selectbox if each.label == label).select(value).run()
    assert not app.exception
    return app


def test_nothing_is_evaluated_before_the_user_confirms(errors):
    upload(errors, SURE)
    assert "words in column 1" in texts(errors)
    assert "1. He/PRON runs/VERB\n2. Dogs/NOUN bark/VERB\n3. It/PRON rains/VERB" in texts(errors)
    assert "I/PRON" not in texts(errors).replace("It/PRON", "")
    assert "on mine.conll" not in texts(errors)
    assert "v.file" not in errors.query_params
    button(errors, "Use these sentences").click().run()
    assert "on mine.conll: 4 sentences, 7 words" in texts(errors)
    assert not any(each.label == "Use these sentences" for each in errors.button)


def test_pickers_show_each_column_with_values(errors):
    upload(errors, SURE)
    boxes = {box.label: list(box.options) for box in errors.selectbox}
    columns = ["1: He, runs", "2: PRON, VERB"]
    assert boxes["Words"] == boxes["Tags"] == ["as read", *columns]
    ends = ["as read", "blank lines", "restart of a numbering", *columns]
    assert boxes["Sentences end at"] == ends


def test_refused_text_links_to_the_guide(errors):
    upload(errors, b"It rains today.\n", "mine.txt")
    (refusal,) = errors.error
    assert refusal.value.endswith("JSONL or another format of [the guide](guides?v.guide=files)")


def test_certain_reading_is_changed_and_kept_in_the_link(errors):
    upload(errors, b"1\tHe\tPRON\tX\n2\truns\tVERB\tX\n1\tI\tPRON\tX\n")
    pick(errors, "Words", "2")
    pick(errors, "Tags", "3")
    pick(errors, "Sentences end at", "restart")
    assert "1. He/PRON runs/VERB\n2. I/PRON" in texts(errors)
    button(errors, "Use these sentences").click().run()
    assert "on mine.conll: 2 sentences, 3 words" in texts(errors)
    link = dict(errors.query_params)
    again = new_app()
    again.query_params.update(link)
    open_at(again, ERRORS)
    assert "on mine.conll: 2 sentences, 3 words" in texts(again)


def test_confirmed_file_asks_again_after_another_choice(errors):
    upload(errors, SURE)
    button(errors, "Use these sentences").click().run()
    pick(errors, "Sentences end at", "1")
    assert "on mine.conll" not in texts(errors)
    assert button(errors, "Use these sentences")
    pick(errors, "Sentences end at", "")  # as confirmed
    assert "on mine.conll: 4 sentences" in texts(errors)


def test_choice_does_not_hold_for_another_file(errors):
    upload(errors, SURE)
    pick(errors, "Sentences end at", "1")
    upload(errors, SURE.replace(b"He", b"She"))
    assert {box.value for box in errors.selectbox if box.label == "Sentences end at"} == {""}


def test_refused_file_is_answered_with_the_pickers(errors):
    upload(errors, OPEN)
    assert "several columns may have the tags" in errors.error[0].value
    assert not any(each.label == "Use these sentences" for each in errors.button)
    pick(errors, "Tags", "2")
    assert not errors.error
    assert "1. Anna/B-PER runs/O\n2. Oslo/B-LOC wins/O" in texts(errors).replace("\\", "")


def test_question_names_the_pickers_below_it(errors):
    upload(errors, OPEN)
    asked = errors.error[0].value
    assert asked.endswith("choose the column of the words, of the tags and of the sentences below")
    assert "tags=" not in asked
    shown = [each.type for each in errors.main if each.type in ("error", "selectbox")]
    assert shown[shown.index("error") + 1 :] == ["selectbox"] * len(LABELS)


def test_loss_names_the_picker(errors):
    rows = "1\tIda\t_\tX\t_\t_\t_\t_\t_\tNER=B-PER\n"
    upload(errors, rows.encode(), "mine.conllu")
    assert "NER under “Tags” reads them" in texts(errors)
    assert "tags=" not in texts(errors)


def test_layers_of_a_docbin_are_picked(errors):
    upload(errors, DOCBIN, "mine.spacy")
    assert "tags in ents" in texts(errors)
    labels = [box.label for box in errors.selectbox if box.label in LABELS]
    assert labels == ["Tags"]
    (box,) = (box for box in errors.selectbox if box.label == "Tags")
    assert list(box.options)[:3] == ["as read", "ents: LOC, PER", "pos: ADP, PROPN, PUNCT"]
    pick(errors, "Tags", "2")
    assert "tags in pos" in texts(errors)
    assert "1. Ida/PROPN Berg/PROPN" in texts(errors)
    button(errors, "Use these sentences").click().run()
    assert "on mine.spacy: 1 sentence" in texts(errors)


def test_nested_entities_of_brat_are_picked(errors):
    upload(errors, brat((TEXT, MARKS)), "mine.zip")
    assert "1. The/O University/B-ORG" in texts(errors)
    pick(errors, "Tags", "2")
    assert "tags in inner" in texts(errors)
    assert "1. The/O University/O of/O Oslo/B-LOC" in texts(errors)


def test_file_with_one_layer_has_the_line_alone(errors):
    upload(errors, docbin(pos=POS), "mine.spacy")
    assert "tags in pos" in texts(errors)
    assert not [box for box in errors.selectbox if box.label in LABELS]


def test_keys_of_json_are_picked(errors):
    lines = [{"words": ["He", "runs"], "a": ["PRON", "VERB"], "b": ["X", "Y"]}] * 2
    upload(errors, "\n".join(map(json.dumps, lines)).encode(), "mine.jsonl")
    pick(errors, "Tags", "2")
    assert "1. He/PRON runs/VERB" in texts(errors)


def test_entities_in_misc_are_picked(errors):
    rows = ("He\tO", "met\tO", "Ida\tB-PER")
    lines = [
        f"{n}\t{word}\t_\tX\t_\t_\t_\t_\t_\tNER={tag}"
        for n, (word, tag) in enumerate((row.split("\t") for row in rows), start=1)
    ]
    upload(errors, "\n".join(lines).encode(), "mine.conllu")
    assert "entities in MISC (NER) were left out" in texts(errors)
    pick(errors, "Tags", "11")
    assert "1. He/O met/O Ida/B-PER" in texts(errors)


def test_columns_of_parquet_are_picked(errors):
    file = io.BytesIO()
    rows = {"w": [["He", "runs"]] * 2, "a": [["PRON", "VERB"]] * 2, "b": [["X", "Y"]] * 2}
    parquet.write_table(pyarrow.table(rows), file)
    upload(errors, file.getvalue(), "mine.parquet")
    pick(errors, "Words", "1")
    pick(errors, "Tags", "2")
    assert "1. He/PRON runs/VERB" in texts(errors)


def test_predictions_are_shown_before_they_are_used(errors):
    upload(errors, SURE)
    button(errors, "Use these sentences").click().run()
    upload(errors, SURE.replace(b"bark\tVERB", b"bark\tNOUN"), "out.conll", "errors.answers")
    assert "2. Dogs/NOUN bark/NOUN" in texts(errors)
    assert "on mine.conll" not in texts(errors)
    button(errors, "Use these sentences").click().run()
    assert "predictions in out.conll" in texts(errors)
    assert not any(each.label == "Use these sentences" for each in errors.button)


@pytest.fixture
def annotate(app, tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path}/annotations.db")
    documents.store.clear()
    app.query_params.update({"model": "ner-en", "v.by": "anna"})
    yield open_at(app, "pages/annotate.py")
    documents.store.clear()


def stored():
    with open_store() as store:
        return [item for each in store.documents() for item in store.items(each.name)]


def test_refused_file_is_answered_on_annotate_and_then_stored(annotate):
    upload(annotate, OPEN, key="annotate.upload")
    assert "several columns may have the tags" in annotate.error[0].value
    pick(annotate, "Tags", "2")
    assert not annotate.error
    assert "words in column 1; tags in column 2" in texts(annotate)
    assert stored() == []
    roles = next(each for each in annotate.button_group if each.label == "The tags of the file are")
    roles.set_value("reference").run()
    button(annotate, "Add 2 sentences").click().run()
    assert [item.gold for item in stored()] == [("B-PER", "O"), ("B-LOC", "O")]


def test_layer_of_a_docbin_is_picked_on_annotate(annotate):
    annotate.query_params["model"] = "upos-en"
    upload(annotate, DOCBIN, "mine.spacy", key="annotate.upload")
    assert "tags in ents" in texts(annotate)
    pick(annotate, "Tags", "2")
    assert "tags in pos" in texts(annotate)
    assert stored() == []


def test_certain_reading_is_changed_on_annotate(annotate):
    upload(annotate, b"1\tAnna\tB-PER\n2\truns\tO\n1\tOslo\tB-LOC\n\n", key="annotate.upload")
    button(annotate, "Add 2 sentences")
    pick(annotate, "Sentences end at", "blank")
    button(annotate, "Add 1 sentence").click().run()
    assert [item.tokens for item in stored()] == [("Anna", "runs", "Oslo")]


def test_pasted_text_has_no_pickers(annotate):
    annotate.text_area[0].input("Anna runs .").run()
    assert not [each for each in annotate.selectbox if each.label in ("Words", "Tags")]
