"""The page Annotate with AppTest: sentences in, what is wrong with them, export, removal."""

import json
import sqlite3
from dataclasses import replace
from itertools import product

import pytest
import streamlit as st
from sqlalchemy import create_engine

from crfviz.annotations import labelling
from crfviz.annotations.curation import times_of
from crfviz.annotations.files.exporting import render
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.labelling import Desk
from crfviz.annotations.records import CURATED, Annotation, Curation
from crfviz.annotations.settings import Settings
from crfviz.annotations.store import database
from crfviz.annotations.store.store import Store, open_store
from crfviz.annotations.teaching import propose, teach
from crfviz.annotations.teaching.jobs import Job, Jobs
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import document_tagger
from crfviz.taggers.registry import load_tagger
from crfviz.ui.annotate import add, documents, learning, reading
from tests.app.test_app import button
from tests.support.app_pages import open_at

PAGE = "pages/annotate.py"
MODEL = "upos-en-contextfree"
BROKEN = "Dogs\tNOUN\nrun\tVERB\n\nThree\tcolumns\tare NOUN\nbut\n\nStop\tVERB\n"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path}/annotations.db")
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    documents.store.clear()
    with open_store() as opened:
        yield opened
    documents.store.clear()


@pytest.fixture
def page(app, store):  # noqa: ARG001 - a fixture
    app.query_params.update({"model": MODEL, "v.by": "anna"})
    return open_at(app, PAGE)


def open_part(page, part, document=None):
    """A part of the page; with a document, after it was chosen."""
    if document:
        with open_store() as store:
            (key,) = [d.key for d in store.documents() if d.name == document]
        page.run().selectbox(key="view.doc").set_value(key).run()
    return page.button_group(key="view.part").set_value(part).run()


def texts(page):
    kinds = ("markdown", "caption", "info", "error", "warning", "success")
    return "\n".join(element.value for kind in kinds for element in getattr(page, kind))


def errors(page):
    return "\n".join(element.value for element in page.error)


def word_table(page):
    (table,) = [e.proto.body for e in page.get("html") if "order=disputed" in e.proto.body]
    return table


def upload(page, name, content):
    return page.file_uploader(key="annotate.upload").upload(name, content, "text/plain").run()


def finish(store, document, who, changes=()):
    """Accept every sentence of a document, with some tags set."""
    tagger = load_tagger(MODEL)
    for item in store.items(document):
        desk = Desk(item, who, tagger, "v1")
        annotation = labelling.begin(desk)
        for position, tag in changes:
            annotation = labelling.correct(desk, annotation, position, position, tag)
        store.save(labelling.accept(annotation), tagger.tags)


def test_empty_store_asks_for_sentences(page):
    assert not page.exception
    assert page.text_area(key="draft.annotate.paste")
    assert page.sidebar.text_input(key="view.by").value == "anna"


def test_pasted_lines_become_a_document(page, store):
    page.text_area(key="draft.annotate.paste").set_value("Dogs run.\n\nStop!\n").run()
    assert "plain text, a sentence a line**: 2 sentences" in texts(page)
    assert store.documents() == []
    button(page, "Add 2 sentences").click().run()
    assert not page.exception
    assert [item.tokens for item in store.items("Dogs run .")] == [
        ("Dogs", "run", "."),
        ("Stop", "!"),
    ]


def test_line_of_several_sentences_can_be_split(page, store):
    paragraph = "Dogs run. Mr. Ford stops!\nStop!"
    page.text_area(key="draft.annotate.paste").set_value(paragraph).run()
    assert "plain text, a sentence a line**: 3 sentences" in texts(page)
    assert store.documents() == []
    (way,) = (each for each in page.segmented_control if each.label == "Sentences")
    assert way.value == "sentences"
    way.select("lines").run()
    assert "plain text, a sentence a line**: 2 sentences" in texts(page)
    (way,) = (each for each in page.segmented_control if each.label == "Sentences")
    way.select("sentences").run()
    button(page, "Add 3 sentences").click().run()
    assert not page.exception
    (document,) = store.documents()
    assert [item.text for item in store.items(document.name)] == [
        "Dogs run.",
        "Mr. Ford stops!",
        "Stop!",
    ]


def test_interrupted_run_stores_sentences_in_the_next_run(page, store, monkeypatch):
    known, ended = add._known_documents, []

    def ends_once(*given):
        if added().wanted and not ended:
            ended.append(True)
            st.rerun()
        return known(*given)

    def added():
        return add.session_value("added", add.Added)

    page.text_area(key="draft.annotate.paste").set_value("Dogs run.\n").run()
    monkeypatch.setattr(add, "_known_documents", ends_once)
    button(page, "Add 1 sentence").click().run()
    assert ended
    assert [item.tokens for item in store.items("Dogs run .")] == [("Dogs", "run", ".")]


def test_pasting_stored_sentences_offers_a_choice(page, store):
    store.add("dogs", _items("Dogs run.", "Stop!"))
    open_part(page.run(), "add")
    page.text_area(key="draft.annotate.paste").set_value("Dogs run.\nStop!\n").run()
    assert "The sentences of **dogs** are in the store already" in texts(page)
    assert "**0 annotations** to add" not in texts(page)
    button(page, "Open the stored document").click().run()
    assert not page.exception
    assert [each.name for each in store.documents()] == ["dogs"]
    assert "The 2 sentences of “dogs” are already stored" in page.toast[0].value
    open_part(page, "add")
    assert "already stored" not in texts(page)
    page.text_area(key="draft.annotate.paste").set_value("Dogs run.\nStop!").run()
    page.button_group(key="view.joined").set_value("separate").run()
    button(page, "Add 2 sentences").click().run()
    assert [each.name for each in store.documents()] == ["dogs", "Dogs run ."]


def test_broken_file_lists_its_lines_and_stores_nothing_unconfirmed(page, store):
    upload(page, "dogs.conll", BROKEN.encode())
    assert "CoNLL columns" in texts(page)
    assert "line 5" in texts(page)
    assert "1 sentence cannot be added" in texts(page)
    assert store.documents() == []
    page.button_group(key="view.tags_are").set_value("reference").run()
    button(page, "Add 2 good sentences").click().run()
    assert [item.gold for item in store.items("dogs.conll")] == [("NOUN", "VERB"), ("VERB",)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "bad.txt has no sentence to add"),
        (b"PK\x03\x04\x14\0\6\0", "Office document or ZIP archive; save it as plain text"),
        (b"\x89PNG\r\n\x1a\n\0", "a picture; save it as plain text"),
        (b"\xff\xfeD\x00\x00", "UTF-16"),
        (b"Dogs\tNOUN\nr\x81n\tVERB\n", "UTF-8"),
        (b"Dogs\tNOUN\nrun\tKVITTER\n", "KVITTER"),
        (b'{"tokens": ["a"], "tags": []}\n', "line 1"),
    ],
    ids=["empty", "Word", "PNG", "UTF-16", "not UTF-8", "unknown tag", "no tags"],
)
def test_invalid_files_are_reported(page, content, says):
    upload(page, "bad.txt", content)
    assert not page.exception
    if b"KVITTER" in content:  # finished work would keep the tags of the file
        page.button_group(key="view.tags_are").set_value("reference").run()
    assert says in texts(page)
    if content[:1] in (b"", b"P", b"\x89", b"\xff"):  # nothing can be labelled
        assert "view.tagset" not in [each.key for each in page.button_group]


def test_preview_does_not_take_label_studio_for_spacy(page):
    mark = {"start": 0, "end": 4, "labels": ["PER"]}
    task = {"data": {"text": "Anna ran"}, "annotations": [{"result": [{"value": mark}]}]}
    upload(page, "tasks.json", json.dumps([task]).encode())
    assert "is read as **JSON**: 1 sentence, 1 with gold tags" in texts(page)


def test_preview_shows_format_scheme_and_first_gold_tags(page):
    upload(page, "mine.bio", b"Anna I-PER\nin O\nOslo I-LOC\nBergen B-LOC\n")
    assert "is read as **CoNLL columns**: 1 sentence, 1 with gold tags in BIO" in texts(page)
    assert "entities begin with I- (IOB1): read as BIO" in texts(page)
    (table,) = [frame.value for frame in page.dataframe]
    assert table["gold tags"].tolist() == ["B-PER · O · B-LOC · B-LOC"]
    (key,) = [
        each.key for each in page.button_group if (each.key or "").startswith("annotate.format")
    ]
    page.button_group(key=key).set_value("text").run()
    assert "is read as **plain text, a sentence a line**: 4 sentences" in texts(page)


def test_tags_unknown_to_the_model_are_reported_once_and_can_be_mapped(page, store):
    content = "\n\n".join(["Dogs\tNN\nrun\tVERB", "Cats\tNN\nsleep\tVBP", "Stop\tVERB"])
    upload(page, "dogs.conll", content.encode())
    page.button_group(key="view.tags_are").set_value("reference").run()
    page.button_group(key="view.tagset").set_value("model").run()
    assert texts(page).count("expected one of the tags") == 1
    assert "'NN' (2 words), 'VBP' (1 word): the gold tags of 2 sentences" in texts(page)
    boxes = {box.label.split()[0]: box for box in page.selectbox if "counts as" in box.label}
    boxes["NN"].set_value("NOUN").run()
    assert "'VBP' (1 word): the gold tags of 1 sentence" in texts(page)
    button(page, "Add 3 sentences").click().run()
    assert [i.gold for i in store.items("dogs.conll")] == [("NOUN", "VERB"), None, ("VERB",)]


def test_entity_type_is_mapped_once_for_begin_and_inside_tags(app, store):
    app.query_params.update({"model": "ner-en", "v.by": "anna"})
    page = open_at(app, PAGE)
    content = "Ann\tB-person\nLee\tI-person\nran\tO\n\nRome\tB-geo\n\nTea\tB-drink\n"
    upload(page, "people.conll", content.encode())
    page.button_group(key="view.tags_are").set_value("reference").run()
    page.button_group(key="view.tagset").set_value("model").run()
    for word, kind in {"person (2 words)": "PER", "geo (1 word)": "LOC"}.items():
        (box,) = [box for box in page.selectbox if box.label == f"{word} counts as"]
        box.set_value(kind).run()
    button(page, "Add 3 sentences").click().run()
    gold = [item.gold for item in store.items("people.conll")]
    assert gold == [("B-PER", "I-PER", "O"), ("B-LOC",), None]


def test_export_offers_the_filtered_sentences(page, store):
    name = store.add("dogs", _items("Dogs run .", "Stop !"))
    finish(store, name, "anna")
    open_part(page, "export", name)
    assert "Download 2 annotated sentences" in [each.label for each in page.get("download_button")]
    page.selectbox(key="view.state").set_value("open").run()
    assert "No sentence fits" in texts(page)


def test_export_offers_only_formats_that_hold_the_tags(page, store):
    name = store.add("dogs", _items("Dogs run ."))
    finish(store, name, "anna")
    open_part(page, "export", name)
    page.selectbox(key="view.format").set_value("parquet").run()
    assert [each.label for each in page.get("download_button")] == ["Download 1 annotated sentence"]
    page.selectbox(key="view.format").set_value("doccano").run()
    assert "doccano with spans holds entities such as B-PER" in texts(page)
    assert not page.get("download_button")


def test_open_version_does_not_disagree_with_a_finished_one(page, store):
    name = store.add("dogs", _items("Dogs run ."))
    finish(store, name, "anna")
    ((_, said),) = store.annotations()
    other = ("X", *said.final[1:])
    store.save(replace(said, annotator="ben", final=other, state="open", revision=0))
    open_part(page, "export", name)
    page.selectbox(key="view.state").set_value("done and begun").run()
    assert [each.label for each in page.get("download_button")] == ["Download 1 annotated sentence"]
    assert "disagree" not in texts(page)


def test_second_annotator_is_merged_into_the_document(page, store):
    name = store.add("dogs", _items("Dogs run home .", "Stop them !"))
    finish(store, name, "anna")
    pairs = [(item, replace(said, annotator="ben")) for item, said in store.annotations()]
    open_part(page, "add", name)
    upload(page, "ben.jsonl", render(pairs, "jsonl").encode())
    assert "sentences of **dogs** are in the store" in texts(page)
    assert "**2 annotations** to add, 0 already stored, 0 in conflict" in texts(page)
    button(page, "Add 2 annotations").click().run()
    assert not page.exception
    assert store.annotators(name) == ["anna", "ben"]
    assert [document.name for document in store.documents()] == ["dogs"]


def test_agreement_of_two_annotators_is_shown(page, store):
    name = store.add("dogs", _items("Dogs run home .", "Stop them !"))
    open_part(page, "agreement", name)
    assert "two annotators" in texts(page)
    finish(store, name, "anna", [(0, "NOUN"), (1, "VERB")])
    finish(store, name, "ben", [(0, "VERB"), (1, "VERB")])
    page.run()
    assert not page.exception
    assert page.metric[0].label == "Cohen's κ"
    assert page.metric[1].value == "71.4 %"  # 5 of 7 words
    assert "2 words with two tags" in texts(page)
    assert "Both corrected a model's proposals" in texts(page)


def test_agreement_by_tag_has_no_entity_f1_of_tags_inside_and_outside(page, store, goods):
    label_own(store, 3)
    for item in store.items(goods)[:3]:
        said = ("B-WARE", "O", "O")
        store.save(Annotation(item.id, "ben", item.offsets, said, said, state="done"), OWN.tags)
    open_part(page, "agreement", goods)
    (table,) = [frame.value for frame in page.dataframe]
    found = dict(zip(table["tag"], table["entity F1"], strict=True))
    assert found["O"] == ""
    assert float(found["B-WARE"]) >= 0


def test_agreement_omits_proposals_of_documents_without_a_model(page, store, goods):
    label_own(store, 3)
    for item in store.items(goods)[:3]:
        said = ("O",) * 3
        store.save(Annotation(item.id, "ben", item.offsets, said, said, state="done"), OWN.tags)
    open_part(page, "agreement", goods)
    assert "that both finished" in texts(page)
    assert "proposals" not in texts(page)


def test_agreement_marks_settled_words(page, store):
    name = store.add("dogs", _items("Dogs run home .", "Stop them !"))
    finish(store, name, "anna", [(0, "NOUN"), (1, "VERB")])
    finish(store, name, "ben", [(0, "VERB"), (1, "VERB")])
    open_part(page, "agreement", name)
    assert "2 words with two tags" in texts(page)
    assert "settled" not in texts(page) + word_table(page)
    (first, _) = store.items(name)
    said = store.annotation(first.id, "anna")
    curation = Curation("carl", times_of(store.versions(first.id)))
    answer = replace(said, annotator=CURATED, curation=curation, revision=0, created=None)
    store.save(replace(answer, final=("X", *said.final[1:])))
    page.run()
    assert "2 words with two tags**, 1 settled" in texts(page)
    assert ">settled as<" in word_table(page)
    rows = word_table(page).split("<tr")
    assert [">X<" in row for row in rows if ">NOUN<" in row] == [True, False]
    finish(store, name, "dora", [(0, "PRON")])  # the answer was made without this version
    page.run()
    assert "settled" not in texts(page) + word_table(page)


def test_annotators_named_like_columns_are_compared(page, store):
    name = store.add("dogs", _items("Dogs run home ."))
    finish(store, name, "word", [(0, "NOUN")])
    finish(store, name, "text", [(0, "VERB")])
    open_part(page, "agreement", name)
    cells = ("Dogs", "NOUN", "VERB", "Dogs run home .")
    assert all(f">{cell}<" in word_table(page) for cell in cells)


def test_export_and_learn_leave_out_unsettled_sentences(page, store):
    name = store.add("dogs", _items("Dogs run home .", "Stop them !"))
    finish(store, name, "anna", [(1, "VERB")])
    finish(store, name, "ben", [(1, "VERB")])
    (first, _) = store.items(name)
    said = store.annotation(first.id, "ben")
    said = store.save(replace(said, final=("X", *said.final[1:])))
    open_part(page, "export", name)
    assert "disagree about **1 of 2 sentences**" in texts(page)
    assert [each.label for each in page.get("download_button")] == ["Download 1 annotated sentence"]
    page.toggle(key="view.versions").set_value(True).run()
    assert "Download 4 annotated" in page.get("download_button")[0].label
    open_part(page, "learn")
    assert "1 finished sentence;" in texts(page)
    page.selectbox(key="view.teacher").set_value("ben").run()
    assert "2 finished sentences;" in texts(page)
    curation = Curation("carl", times_of(store.versions(first.id)))
    store.save(replace(said, annotator=CURATED, curation=curation, revision=0, created=None))
    page.selectbox(key="view.teacher").set_value("all annotators").run()
    assert "2 finished sentences;" in texts(page)
    open_part(page, "export")
    page.toggle(key="view.versions").set_value(False).run()
    assert "Download 2 annotated" in page.get("download_button")[0].label
    assert "disagree" not in texts(page)


def test_disagreements_are_settled_at_the_desk(page, store):
    name = store.add("dogs", _items("Dogs run home .", "Stop them !"))
    finish(store, name, "anna", [(0, "NOUN"), (1, "VERB")])
    finish(store, name, "ben", [(0, "VERB"), (1, "VERB")])
    open_part(page, "agreement", name)
    assert any("order=disputed" in each.proto.body for each in page.get("html"))
    assert button(page, "Settle 2 disagreements")
    open_part(page, "label")
    page.selectbox(key="view.order").set_value("disputed").run()
    assert not page.exception
    assert "0 of 2 disagreements settled" in page.get("progress")[0].proto.text


def test_export_reports_mixed_tags_of_an_older_document(page, store):
    items = _items("Dogs run home .", "Stop them !")
    said = [
        Annotation(n, "anna", each.offsets, tags, tags, state="done", model=model)
        for n, (each, tags, model) in enumerate(
            zip(items, (("NOUN",) * 4, ("B-ORG", "O", "O")), ("upos-en", "ner-en"), strict=True)
        )
    ]
    name = store.add("dogs", items, labelled=said)
    open_part(page, "export", name)
    assert "would mix tags of different models" in texts(page)
    assert "(NOUN)" in texts(page)
    assert "(B-ORG)" in texts(page)


def test_model_errors_evaluates_labelled_sentences(page, store):
    name = store.add("dogs", _items("Dogs run home .", "Stop them !"))
    page.switch_page("pages/model-errors.py").run()
    page.button_group(key="view.corpus").set_value("labelled").run()
    assert "choose a document" in texts(page)
    page.selectbox(key="view.doc").set_value(store.documents()[0].key).run()
    assert "No sentence of dogs is done yet" in texts(page)
    finish(store, name, "anna", [(0, "X")])
    page.run()
    assert not page.exception
    assert "dogs, labelled by all annotators" in texts(page)
    finish(store, name, "ben", [(0, "NOUN")])
    page.run()
    assert "disagree about **2 of 2 sentences**" in texts(page)
    assert "dogs, labelled by" not in texts(page)


def test_import_of_another_annotator_is_rejected_with_a_login(page, store, monkeypatch):
    name = store.add("dogs", _items("Dogs run ."))
    finish(store, name, "anna")
    content = render(store.annotations(name), "jsonl").encode()
    monkeypatch.setattr(add, "is_login_required", lambda: True)
    monkeypatch.setattr(add, "annotator", lambda: "mallory@example.org")
    open_part(page, "add", name)
    upload(page, "again.jsonl", content)
    assert "“anna” labelled it" in page.error[0].value.replace("\\", "")
    assert not [each for each in page.button if each.key == "annotate.keep"]
    monkeypatch.setattr(add, "annotator", lambda: "anna")
    page.run()
    assert not page.error
    assert [each for each in page.button if each.key == "annotate.keep"]


@pytest.mark.parametrize("part", ["add", "learn", "export"])
def test_disabled_uploads_hide_adding_teaching_and_removing(page, store, monkeypatch, part):
    name = store.add("dogs", _items("Dogs run ."))
    finish(store, name, "anna")
    monkeypatch.setenv("CRFVIZ_UPLOADS", "off")
    open_part(page, part, name)
    assert not page.exception
    assert ("takes no" in texts(page)) is (part != "export")
    assert not page.get("file_uploader")
    assert not page.text_area
    assert {"Teach", "Remove"}.isdisjoint(each.label for each in page.button)


@pytest.mark.parametrize("wanted", ["dogs", "two  blanks", "a\ttab.txt "])
def test_removal_requires_the_document_name(page, store, wanted):
    name = store.add(wanted, _items("Dogs run ."))
    finish(store, name, "anna")
    open_part(page, "export", name)
    assert button(page, "Remove").disabled
    page.text_input(key="annotate.sure").set_value(" ".join(name.split())).run()
    button(page, "Remove").click().run()
    assert store.documents() == []


def test_removed_document_can_be_added_again(page, store):
    for _ in range(2):
        open_part(page.run(), "add")
        upload(page, "dogs.txt", b"Dogs run .\n")
        next(each for each in page.button if each.label.startswith("Add 1 sent")).click().run()
        assert not page.exception
        (document,) = store.documents()
        open_part(page, "export")
        page.text_input(key="annotate.sure").set_value(document.name).run()
        button(page, "Remove").click().run()
        assert store.documents() == []


@pytest.mark.parametrize("table", ["crfviz_documents", "crfviz_annotations"])
def test_unreadable_store_shows_an_error_and_a_retry(page, store, tmp_path, table):
    store.add("dogs", _items("Dogs run ."))
    (document,) = store.documents()
    engine = create_engine(f"sqlite:///{tmp_path}/annotations.db")
    with engine.begin() as connection:
        connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO gone")
    page.run()
    if table == "crfviz_annotations":
        page.button(key=f"annotate.open.{document.key}").click().run()
    assert not page.exception
    assert page.error
    assert button(page, "Try again")
    with engine.begin() as connection:
        connection.exec_driver_sql(f"ALTER TABLE gone RENAME TO {table}")
    engine.dispose()
    button(page, "Try again").click().run()
    assert not page.error


def test_sentence_the_model_cannot_score_shows_an_error_and_can_be_skipped(app, store):
    store.add("dogs", _items("Dogs run .", "1 2 3"))
    (document,) = store.documents()
    app.query_params.update({"model": "textbook/ice-cream", "v.by": "anna"})
    app.query_params["v.doc"] = document.key
    open_at(app, PAGE)
    assert not app.exception
    assert "Sentence 1: Choose another model" in texts(app)
    assert button(app, "Try again")
    button(app, "Next").click().run()
    assert not app.error
    assert app.query_params["v.item"] == str(store.item_ids("dogs")[1])


def test_document_list_is_shown_if_none_is_chosen(page, store):
    names = [store.add(name, _items("Dogs run .")) for name in ("dogs", "cats  and\tmore")]
    finish(store, names[0], "anna")
    page.run()
    assert "Choose a document" in texts(page)
    assert "1 sentence\n1 done, 0 begun by you" in texts(page)
    assert MODEL in texts(page)
    assert not page.main.get("bidi_component")
    button(page, "cats and more").click().run()
    assert page.main.get("bidi_component")
    assert page.button_group(key="view.part").value == "label"


def test_opening_a_document_selects_its_model(page, store):
    name = store.add("dogs", _items("Dogs run ."))
    finish(store, name, "anna")
    page.selectbox(key="model").set_value("ner-en").run()
    open_part(page, "label", name)
    assert page.selectbox(key="model").value == MODEL
    page.selectbox(key="model").set_value("ner-en").run()
    assert "dogs is labelled with the 17 tags of upos-en-contextfree: ADJ, ADP" in texts(page)
    button(page, f"Use {MODEL}").click().run()
    assert "17 tags" not in texts(page)


def test_document_of_a_missing_model_keeps_its_tags(page, store):
    name = store.add("dogs", _items("Dogs run ."))
    (item,) = store.items(name)
    gone = Annotation(item.id, "anna", item.offsets, ("A",) * 3, ("A",) * 3, model="gone")
    store.save(gone, ("A", "B"))
    open_part(page, "label", name)
    assert "labelled with the 2 tags of gone: A, B" in texts(page)
    assert "gone is not available here: choose a model with the same tags" in texts(page)


def _items(*sentences):
    from crfviz.annotations.files.importing import read_items

    return read_items("\n".join(sentences).encode(), "dogs").items


def test_sentences_are_stored_only_by_a_click_on_the_current_text(page, store):
    page.text_area(key="draft.annotate.paste").set_value("One.\nTwo.").run()
    page.text_area(key="draft.annotate.paste").set_value("Other.\nSentences.")
    button(page, "Add 2 sentences").click().run()
    page.text_area(key="draft.annotate.paste").set_value("One.\nTwo.").run()
    assert store.documents() == []


def test_waiting_teaching_job_shows_its_queue_position(page, store, monkeypatch):
    jobs = Jobs()
    monkeypatch.setattr(Job, "run", lambda _: None)  # both wait for ever
    monkeypatch.setattr(learning, "jobs", lambda: jobs)
    monkeypatch.setattr(learning, "visitor", lambda: "me")
    jobs.start("Teach first", print, visitor="other")
    store.add("notes", read_items(b"Dogs run.", "notes").items)
    finish(store, "notes", "anna")
    open_part(page, "learn", "notes")
    button(page, "Teach").click().run()
    assert page.get("progress")[0].proto.text == (
        f"Teach {MODEL}: waiting for another job on this server …"
    )
    assert button(page, "Teach").disabled
    button(page, "Cancel").click().run()
    assert [job.status.state for job in jobs.all] == ["cancelled", "waiting"]


def test_model_that_cannot_be_trained_further_names_one_that_can(page, store):
    store.add("notes", read_items(b"Dogs run.", "notes").items)
    page.run().selectbox(key="model").set_value("upos-en-perceptron").run()
    open_part(page, "learn", "notes")
    (said,) = (info.value for info in page.info if "trained further" in info.value)
    named = said.replace("\\", "").partition("above, such as ")[2].removesuffix(".")
    assert teach.teachable(load_tagger(named))


def test_teaching_uses_the_choices_of_the_same_run(page, store, monkeypatch):
    taught = []

    def start(_jobs, *what, **_by):
        taught.append(what)

    monkeypatch.setattr(learning.teach, "start_teaching", start)
    store.add("notes", read_items(b"Dogs run.", "notes").items)
    finish(store, "notes", "anna")
    finish(store, "notes", "ben", [(0, "VERB")])
    open_part(page, "learn", "notes")
    page.selectbox(key="view.teacher").set_value("anna").run()
    page.text_input(key="teach.name").set_value("mine")
    page.selectbox(key="view.method").select("crf")
    page.selectbox(key="view.teacher").select("ben")
    button(page, "Teach").click().run()
    ((lesson, sentences),) = taught
    assert (lesson.name, lesson.method) == ("mine", "crf")
    assert [sentence.tags[0] for sentence in sentences] == ["VERB"]


def test_example_tweets_open_under_a_model_of_entities(page, store):
    assert page.caption
    page.button(key="annotate.tweets").click().run()
    assert not page.exception
    (document,) = store.documents()
    assert document.sentences == 10
    assert page.button_group(key="view.part").value == "label"
    assert page.selectbox(key="model").value == "ner-en"
    assert page.main.get("bidi_component")
    open_part(page, "add").button(key="annotate.tweets").click().run()
    assert not page.exception
    assert len(store.documents()) == 1  # the same sentences are not stored twice
    assert page.button_group(key="view.part").value == "label"


def test_file_keeps_its_own_tags(page, store):
    content = "Der\tO\nrote\tB-FARBE\nHut\tB-WARE\n\nBlaue\tB-FARBE\nHose\tB-WARE\n"
    upload(page, "waren.conll", content.encode())
    assert page.button_group(key="view.tagset").value == "file"
    assert "2 sentences, 2 with gold tags" in texts(page)
    page.button_group(key="view.tags_are").set_value("reference").run()
    button(page, "Add 2 sentences").click().run()
    assert not page.exception
    (document,) = store.documents()
    assert document.tags == ("O", "B-FARBE", "I-FARBE", "B-WARE", "I-WARE")
    assert [item.gold for item in store.items("waren.conll")] == [
        ("O", "B-FARBE", "B-WARE"),
        ("B-FARBE", "B-WARE"),
    ]


def test_tags_of_a_file_are_finished_work_unless_said_otherwise(page, store):
    content = "Der\tO\nrote\tB-FARBE\nHut\tB-WARE\n\nBlaue\tB-FARBE\nHose\tB-WARE\n"
    upload(page, "waren.conll", content.encode())
    (box,) = (each for each in page.text_input if each.label == "of the annotator")
    assert box.value == "anna"
    box.set_value("ben").run()
    button(page, "Add 2 sentences").click().run()
    assert not page.exception
    said = store.annotations("waren.conll", "ben", "done")
    assert [each.final for _, each in said] == [("O", "B-FARBE", "B-WARE"), ("B-FARBE", "B-WARE")]
    assert store.items("waren.conll")[0].gold is None


def own(page, tags, text="Die rote Jacke\nEin blauer Hut"):
    page.text_area(key="draft.annotate.paste").set_value(text).run()
    page.button_group(key="view.tagset").set_value("own").run()
    return page.text_input(key="draft.annotate.tags").set_value(tags).run()


def test_sentences_are_labelled_with_typed_tags(page, store):
    own(page.run(), "WARE, FARBE=a")
    page.color_picker(key="annotate.colour.new.WARE").set_value("#a0b1c2").run()
    button(page, "Add 2 sentences").click().run()
    assert not page.exception
    (document,) = store.documents()
    assert document.name == "Die rote Jacke"
    assert document.tags == ("O", "B-WARE", "I-WARE", "B-FARBE", "I-FARBE")
    assert document.settings.keys == {"FARBE": "a"}
    assert document.settings.colours == {"WARE": "#A0B1C2"}
    assert document.model == ""


@pytest.mark.parametrize(
    ("tags", "says"),
    [
        ("WARE, ware", "each tag once, got WARE and ware"),
        (", ".join(f"T{n}" for n in range(200)), "expected 1 to 60 tags, got 200"),
        ("FARBE DUNKEL", "without blanks"),
        ("<b>", r"got '\<b\>'"),
        ("WARE=1", "expected a letter from a to z as key"),
        ("WARE=a, FARBE=a", "got 'a' for WARE and FARBE"),
    ],
)
def test_invalid_typed_tags_are_reported_and_the_text_stays(page, store, tags, says):
    own(page.run(), tags)
    assert not page.exception
    assert says in texts(page)
    assert page.text_area(key="draft.annotate.paste").value.startswith("Die rote Jacke")
    assert "annotate.keep" not in [each.key for each in page.button]
    assert store.documents() == []


OWN = Settings(("O", "B-WARE", "I-WARE", "B-FARBE", "I-FARBE"))


def label_own(store, number):
    """Finish sentences of a document with tags of its own, as somebody would at the desk."""
    (document,) = store.documents()
    tagger = document_tagger(document.tags, None)
    for item in store.items(document.name)[:number]:
        desk = Desk(item, "anna", tagger, "")
        annotation = labelling.correct(desk, labelling.begin(desk), 1, 1, "FARBE")
        annotation = labelling.correct(desk, annotation, 2, 2, "WARE")
        store.save(labelling.accept(annotation), tagger.tags)


@pytest.fixture
def goods(store):
    pairs = product(("rote", "blaue", "graue"), ("Jacke", "Hose", "Tasche", "Bluse"))
    items = _items(*(f"Die {colour} {thing}" for colour, thing in pairs))
    return store.add("Waren", items, settings=OWN)


def test_document_can_be_renamed_and_its_keys_changed(page, store, goods):
    label_own(store, 2)
    open_part(page, "settings", goods)
    (key,) = [each.key for each in store.documents()]
    page.text_input(key=f"annotate.rename.{key}").set_value("Katalog")
    page.text_input(key=f"annotate.retag.{key}").set_value("WARE=k, FARBE, NEU")
    button(page, "Save").click().run()
    assert not page.exception
    (document,) = store.documents()
    assert (document.name, document.settings.keys) == ("Katalog", {"WARE": "k"})
    assert document.tags == (*OWN.tags, "B-NEU", "I-NEU")
    page.text_input(key=f"annotate.retag.{key}").set_value("WARE, NEU")
    button(page, "Save").click().run()
    assert "'B-FARBE' is in use in 2 annotated sentences" in errors(page)
    assert store.documents()[0].tags == document.tags


def test_renaming_a_document_leaves_tags_with_commas_unchanged(page, store):
    settings = Settings((",", "a=b", "NOUN|Case=Nom"), keys={",": "k"})
    name = store.add("Signs", _items("One , two"), settings=settings)
    open_part(page, "settings", name)
    (document,) = store.documents()
    page.text_input(key=f"annotate.rename.{document.key}").set_value("Commas")
    button(page, "Save").click().run()
    assert not page.exception
    (document,) = store.documents()
    assert (document.name, document.settings) == ("Commas", settings)


def test_name_of_another_document_is_rejected(page, store, goods):
    other = store.add("Autos", _items("Das rote Auto"))
    open_part(page, "settings", goods)
    (document,) = [each for each in store.documents() if each.name == goods]
    page.text_input(key=f"annotate.rename.{document.key}").set_value(other)
    page.text_input(key=f"annotate.retag.{document.key}").set_value("WARE=k, FARBE")
    button(page, "Save").click().run()
    assert "a name that no document has, got 'Autos'" in errors(page)
    assert document in store.documents()


def test_saving_settings_keeps_a_newly_trained_model(page, store, goods):
    open_part(page, "settings", goods)
    (document,) = store.documents()
    store.change(goods, replace(OWN, model="mine"))
    page.text_input(key=f"annotate.retag.{document.key}").set_value("WARE=k, FARBE")
    button(page, "Save").click().run()
    assert store.documents()[0].settings == replace(OWN, model="mine", keys={"WARE": "k"})


def test_model_tags_are_fixed_and_their_keys_can_be_changed(page, store):
    store.add("dogs", _items("Dogs run ."))
    finish(store, "dogs", "anna")
    open_part(page, "settings", "dogs")
    (key,) = [each.key for each in store.documents()]
    box = page.text_input(key=f"annotate.retag.{key}")
    box.set_value(box.value.replace("PROPN", "PROPN=o"))
    button(page, "Save").click().run()
    assert store.documents()[0].settings.keys == {"PROPN": "o"}
    page.text_input(key=f"annotate.retag.{key}").set_value("NOUN, VERB")
    button(page, "Save").click().run()
    assert f"the tags of dogs are those of {MODEL}" in errors(page)


@pytest.mark.usefixtures("forked_workers")
def test_model_is_trained_by_itself_after_every_ten_finished_sentences(page, store, goods):
    label_own(store, 9)
    open_part(page, "label", goods)
    assert "From 10 finished sentences on" in texts(page)
    assert not learning.jobs().about(f"propose {store.documents()[0].key}")
    (item,) = store.items(goods, 9, 1)
    tagger = document_tagger(OWN.tags, None)
    store.save(labelling.accept(labelling.begin(Desk(item, "anna", tagger, ""))), tagger.tags)
    jobs = Jobs()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "jobs", lambda: jobs)
        page.run()
        assert not page.exception
        (job,) = jobs.all
        assert job.title == "Train waren-crf"
        assert job.wait(600).state == "done"
        page.run()
        assert not page.exception
        assert page.selectbox(key="model").value == "waren-crf"
        assert "% of the words right" in texts(page)
        assert jobs.all == [job]  # once for ten sentences
        open_part(page, "learn", goods)
        assert "**waren-crf**: " in texts(page)
        page.text_input(key="propose.name").set_value("Meine Waren")
        button(page, "Train now").click().run()
        assert jobs.all[0].wait(600).state == "done"
    assert store.documents()[0].model == "Meine-Waren"
    made = propose.last_proposer(store.documents()[0])
    assert [number for number, _ in made.earlier] == [10]  # what the earlier one reached stays


def test_training_waits_for_unsettled_sentences(page, store, goods, monkeypatch):
    label_own(store, 12)
    for item in store.items(goods)[:3]:
        said = ("O",) * 3
        store.save(Annotation(item.id, "ben", item.offsets, said, said, state="done"), OWN.tags)
    jobs = Jobs()
    monkeypatch.setattr(learning, "jobs", lambda: jobs)
    monkeypatch.setattr(Job, "run", lambda _: None)
    open_part(page, "label", goods)
    assert jobs.all == []
    assert "3 disagreements to settle first" in texts(page)
    (first, *_) = store.items(goods)
    made_of = Curation("cleo", times_of(store.versions(first.id)))
    answer = replace(store.annotation(first.id, "anna"), annotator=CURATED, revision=0)
    store.save(replace(answer, curation=made_of), OWN.tags)
    page.run()
    assert len(jobs.all) == 1


def test_learn_shows_held_out_sentences_and_a_single_tag_warning(page, store):
    store.add("notes", read_items(b"Dogs\nCats\nBirds", "notes").items)
    finish(store, "notes", "anna", [(0, "NOUN")])
    store.add("more", _items(*(f"Dogs run {n}" for n in range(10))))
    finish(store, "more", "anna", [(0, "NOUN"), (1, "VERB")])
    open_part(page, "learn", "notes")
    assert "3 finished sentences; too few to hold some out" in texts(page)
    assert "All words of these sentences have the tag NOUN" in texts(page)
    open_part(page, "learn", "more")
    assert "10 finished sentences; 2 held out" in texts(page)
    assert "All words" not in texts(page)


def test_teaching_result_is_hidden_from_another_annotator(page, store, monkeypatch):
    jobs = Jobs()
    monkeypatch.setattr(Job, "run", lambda _: None)
    monkeypatch.setattr(learning, "jobs", lambda: jobs)
    monkeypatch.setattr(learning, "visitor", lambda: "me")
    store.add("notes", read_items(b"Dogs run.", "notes").items)
    finish(store, "notes", "anna")
    open_part(page, "learn", "notes")
    button(page, "Teach").click().run()
    button(page, "Cancel").click().run()
    assert "cancelled; nothing was saved" in texts(page)
    page.selectbox(key="view.teacher").set_value("anna").run()
    assert "cancelled; nothing was saved" not in texts(page)


def test_model_without_the_document_tags_cannot_be_taught(page, store, goods):
    label_own(store, 3)
    open_part(page, "learn", goods)
    assert f"{MODEL} lacks the tags O, B-WARE, I-WARE and 2 more of Waren" in texts(page)
    assert "Teach" not in [each.label for each in page.button]


def test_failed_settings_save_is_reported_and_stays_visible(
    page, store, goods, tmp_path, monkeypatch
):
    open_part(page, "settings", goods)
    (key,) = [each.key for each in store.documents()]
    monkeypatch.setattr(database, "WAIT", 0.05)
    documents.store.clear()  # opened again, it waits no longer than that
    other = sqlite3.connect(tmp_path / "annotations.db", isolation_level=None)
    page.run()
    other.execute("BEGIN IMMEDIATE")
    page.text_input(key=f"annotate.retag.{key}").set_value("WARE=k, FARBE")
    button(page, "Save").click().run()
    assert not page.exception
    assert "another program keeps it locked" in errors(page)
    assert not page.toast
    page.text_input(key=f"annotate.rename.{key}").set_value("Katalog").run()
    assert "another program keeps it locked" in errors(page)  # until the next try
    other.execute("ROLLBACK")
    other.close()
    assert store.documents()[0].settings == OWN
    assert page.text_input(key=f"annotate.retag.{key}").value == "WARE=k, FARBE"
    button(page, "Save").click().run()
    assert not errors(page)
    (document,) = store.documents()
    assert (document.name, document.settings.keys) == ("Katalog", {"WARE": "k"})


def test_rejection_disappears_when_its_inputs_are_reset(page, store, goods):
    open_part(page, "settings", goods)
    (key,) = [each.key for each in store.documents()]
    page.text_input(key=f"annotate.retag.{key}").set_value("WARE, WARE")
    button(page, "Save").click().run()
    assert "expected each tag once" in errors(page)
    open_part(page, "export")
    assert not errors(page)
    open_part(page, "settings")
    assert not errors(page)


@pytest.mark.parametrize("part", ["learn", "export"])
def test_server_errors_are_shown_beside_their_input(page, store, monkeypatch, part):
    def refuse(*_, **__):
        raise CrfvizError("there is no room for it")

    monkeypatch.setattr(teach, "start_teaching", refuse)
    monkeypatch.setattr(Store, "remove", refuse)
    store.add("dogs", _items("Dogs run ."))
    finish(store, "dogs", "anna")
    open_part(page, part, "dogs")
    if part == "learn":
        page.text_input(key="teach.name").set_value("mine")
        button(page, "Teach").click().run()
        assert page.text_input(key="teach.name").value == "mine"
    else:
        page.text_input(key="annotate.sure").set_value("dogs").run()
        button(page, "Remove").click().run()
    assert "there is no room for it" in errors(page)
    assert not page.toast


def test_preview_uses_the_chosen_tokenizer_and_the_document_stores_it(page, store):
    open_part(page, "add")
    page.text_area(key="draft.annotate.paste").set_value("Das ist z.B. gut.").run()
    box = page.selectbox(key="view.splitting")
    assert (box.label, box.value) == ("Words are split as in", "spacy:en")
    assert page.dataframe[0].value.iloc[0, 0] == "Das · ist · z. · B. · gut · ."
    box.set_value("spacy:de").run()
    assert page.dataframe[0].value.iloc[0, 0] == "Das · ist · z.B. · gut · ."
    page.button(key="annotate.keep").click().run()
    assert not page.exception
    (document,) = store.documents()
    assert document.settings.tokenizer == "spacy:de"
    assert store.items(document.name)[0].tokens == ("Das", "ist", "z.B.", "gut", ".")
    open_part(page, "settings", document.name)
    box = page.selectbox(key=f"annotate.resplit.{document.key}")
    assert box.value == "spacy:de"
    box.set_value("characters")
    button(page, "Save").click().run()
    assert store.documents()[0].settings.tokenizer == "characters"


@pytest.mark.parametrize(
    "content",
    [b"Cats run once.\nStop once!", b"Dogs\tNOUN\nran\tVERB\n\nOnce\tADV\n"],
    ids=["text", "tags"],
)
def test_file_whose_tags_fit_is_read_once(page, monkeypatch, content):
    readings = []
    monkeypatch.setattr(
        reading, "read_items", lambda *a, **k: readings.append(k) or read_items(*a, **k)
    )
    open_part(page, "add")
    upload(page, "once.txt", content)
    button(page, "Add 2 sentences")
    assert len(readings) == 1


def test_words_of_a_column_file_are_not_split(page):
    open_part(page, "add")
    upload(page, "rows.conll", b"z.\tX\nB.\tX\n\n")
    assert "view.splitting" not in [box.key for box in page.selectbox]


def test_name_is_asked_once_where_others_have_labelled(page, store):
    name = store.add("dogs", _items("Dogs run .", "Stop !"))
    open_part(page, "label", name)
    assert "annotate.who" not in [each.key for each in page.text_input]
    finish(store, name, "ben")
    page.run()
    assert "ben labelled this document already" in texts(page)
    page.text_input(key="annotate.who").set_value("cleo")
    button(page, "Label under this name").click().run()
    assert not page.exception
    assert page.sidebar.text_input(key="view.by").value == "cleo"
    assert "annotate.who" not in [each.key for each in page.text_input]


def paris_of_two_types(store):
    """Store a document in which anna has tagged one name as LOC and as PER; return its name."""
    own = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    items = _items("Paris", "Paris")
    said = [
        Annotation(n, "anna", item.offsets, (tag,), (tag,), {0: tag}, "done")
        for n, (item, tag) in enumerate(zip(items, ("B-LOC", "B-PER"), strict=True))
    ]
    return store.add("towns", items, labelled=said, settings=Settings(own))


def test_names_and_types_with_blanks_have_buttons_of_their_own(page, store):
    """The name “a” of type “b c” beside the name “a b” of type “c”."""
    own = ("O", "B-b c", "I-b c", "B-c", "I-c")
    marks = [("a", "b c"), ("a", "c"), ("a b", "b c"), ("a b", "c")]
    items = _items(*(name for name, _ in marks))
    said = []
    for n, (item, (_, kind)) in enumerate(zip(items, marks, strict=True)):
        tags = tuple(f"{'I' if t else 'B'}-{kind}" for t in range(len(item.offsets)))
        said.append(Annotation(n, "anna", item.offsets, tags, tags, dict(enumerate(tags)), "done"))
    open_part(page, "agreement", store.add("blanks", items, labelled=said, settings=Settings(own)))
    assert not page.exception
    assert [each.label for each in page.button if each.label.startswith("All ")] == [
        "All b c",
        "All c",
    ] * 2


def test_names_of_two_types_are_settled_or_accepted(page, store):
    name = paris_of_two_types(store)
    open_part(page, "agreement", name)
    assert "1 name under different types" in texts(page)
    assert "LOC in [1]" in texts(page)
    button(page, "Right as it is").click().run()
    assert not page.exception
    assert "under different types" not in texts(page)
    assert store.documents()[0].settings.right_names == ("Paris",)


def test_name_is_settled_in_all_sentences_in_one_step_and_back(page, store):
    """Own versions change; sentences of others get a curated answer; other disputes stay."""
    own = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    items = _items("Paris", "Paris", "Paris", "Paris Bonn", "Paris")
    rows = [
        (0, "anna", "B-LOC"),
        (1, "anna", "B-PER"),
        (2, "ben", "B-PER"),
        (3, "anna", "B-LOC B-LOC"),
        (3, "ben", "B-PER O"),
        (4, "anna", "B-PER"),
        (4, "ben", "O"),
    ]
    said = []
    for n, who, tags in rows:
        tags = tuple(tags.split())
        pins = dict(enumerate(tags))
        said.append(Annotation(n, who, items[n].offsets, tags, tags, pins, "done"))
    name = store.add("towns", items, labelled=said, settings=Settings(own))

    def versions():
        return {
            (item.position, each.annotator): (each.final, each.state)
            for item, each in store.annotations(name)
        }

    before = versions()
    open_part(page, "agreement", name)
    button(page, "All LOC").click().run()
    assert not page.exception
    assert "Paris is LOC in 3 more sentences. 2 sentences with other disagreements" in texts(page)
    after = versions()
    assert after[1, "anna"] == (("B-LOC",), "done")
    assert after[2, "ben"] == before[2, "ben"]
    assert after[2, CURATED] == (("B-LOC",), "done")
    assert after[3, CURATED][0][0] == "B-LOC"
    assert after[3, CURATED][1] == "open"
    assert (4, CURATED) not in after
    (curated,) = [each for item, each in store.annotations(name, CURATED) if item.position == 2]
    assert curated.curation.by == "anna"
    page.button(key="agreement.undo").click().run()
    assert not page.exception
    undone = versions()
    assert {place: undone[place] for place in before} == before
    assert {undone[place][1] for place in undone.keys() - before.keys()} == {"open"}
    assert "1 name under different types" in texts(page)


def test_undo_of_a_settled_name_does_not_overwrite_later_changes(page, store):
    name = paris_of_two_types(store)
    open_part(page, "agreement", name)
    button(page, "All PER").click().run()
    ((_, first), _) = store.annotations(name, "anna")
    assert first.final == ("B-PER",)
    changed = store.save(replace(first, seconds=5.0))
    page.button(key="agreement.undo").click().run()
    assert "Nothing was overwritten" in errors(page)
    assert store.annotations(name, "anna")[0][1] == changed


def test_own_tags_are_offered_before_sentences_are_pasted(page, store):
    page.run().button_group(key="view.tagset").set_value("own").run()
    page.text_input(key="draft.annotate.tags").set_value("WARE, FARBE").run()
    page.text_area(key="draft.annotate.paste").set_value("Die rote Jacke\n").run()
    button(page, "Add 1 sentence").click().run()
    assert store.documents()[0].tags == ("O", "B-WARE", "I-WARE", "B-FARBE", "I-FARBE")
