"""The page Model errors, driven with AppTest, and its parts that need no page."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from crfviz.corpus.run.tagging import run
from crfviz.corpus.table import rounded
from crfviz.corpus.tables.evaluation import comparison_tables
from crfviz.corpus.tables.report import as_record
from crfviz.exceptions import FormatError
from crfviz.taggers.registry import EXCERPTS, SHIPPED, load_tagger
from crfviz.text.files import decoded
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence
from crfviz.ui.errors import runs
from crfviz.ui.errors.error_analysis import links_of
from crfviz.ui.errors.files import Source, require_gold
from crfviz.ui.errors.questions import PANELS
from crfviz.ui.errors.source import excerpt_of, renamed
from crfviz.ui.session import scheduling as turns
from crfviz.views.figures.charts import confusion_chart, tag_of_key
from tests.support.app_pages import button, open_at

SCRIPT = "pages/model-errors.py"


def open_page(app, **params):
    app.query_params.update(params)
    return open_at(app, SCRIPT)


@pytest.mark.parametrize(
    ("edits", "said"),
    [({}, []), ({"t": "NOUN.VERB:2", "k": "0.5"}, ["Your 2 edits of this model's scores"])],
)
def test_page_says_that_edits_do_not_count(app, edits, said):
    open_page(app, model="upos-en", **edits)
    captions = [caption.value for caption in app.caption if "do not count" in caption.value]
    assert [caption.partition(" do not")[0] for caption in captions] == said


@pytest.mark.parametrize("model", ["upos-en", "ner-en"])
@pytest.mark.parametrize("tab", list(PANELS))
def test_every_tab_of_model_errors_is_drawn(app, model, tab):
    open_page(app, model=model, **{"v.tab": tab})
    assert not app.exception
    assert not app.error
    if (model, tab) == ("ner-en", "Two models"):
        assert "other tags than ner-en" in "".join(caption.value for caption in app.caption)
        assert app.selectbox(key="view.against").value != model
    else:
        assert app.dataframe


def test_entity_scheme_table_shows_scores_first(app):
    open_page(app, model="ner-en", **{"v.tab": "How wrong"})
    drawn = next(frame for frame in app.dataframe if "scheme" in frame.value)
    order = list(drawn.proto.column_order)
    assert order[:4] == ["scheme", "precision, %", "recall, %", "F1, %"]
    assert sorted(order) == sorted(drawn.value.columns)
    assert not any("scheme" in frame.value for column in app.columns for frame in column.dataframe)


def test_two_models_without_results_are_run_in_sequence(app, monkeypatch):
    monkeypatch.setattr(runs, "_digest", lambda tagger, *_: f"nobody-ran-{tagger.name}")
    open_page(app, model="upos-en", **{"v.tab": "Two models"})
    assert not app.error
    assert len(app.dataframe) == 2


def test_two_models_are_compared(app):
    params = {"v.tab": "Two models", "v.against": "upos-en-hmm", "v.kind_of": "loss"}
    open_page(app, model="upos-en", **params)
    first, second = (load_tagger(name) for name in ("upos-en", "upos-en-hmm"))
    sentences = read_sentences(SHIPPED / "excerpts" / "ewt-dev.conllu")
    tables = comparison_tables(run(first, sentences), run(second, sentences), sentences)
    shown, listed = (frame.value for frame in app.dataframe)
    assert shown["wins"].tolist() == [row["wins"] for row in tables["models"]]
    assert shown["p (McNemar)"].tolist() == [row["p"] for row in tables["models"]]
    losses = [row["sentence"] for row in tables["disagreements"] if row["kind"] == "loss"]
    assert listed["sentence"].tolist() == losses
    for name in ("upos-en", "upos-en-hmm"):
        assert all(f"model={name}&" in link or "model" not in link for link in listed[name])


def one_person(tags):
    """At most one PER, over the tags of `ner-en`; and the same for `re`, a letter a tag."""
    letters = {tag: "pqo"[["B-PER", "I-PER"].index(tag) if "PER" in tag else 2] for tag in tags}
    return "[^ B-PER I-PER]* (B-PER I-PER* [^ B-PER I-PER]*)?", letters, "o*(pq*o*)?"


def test_rule_is_evaluated_as_a_decoder(app):
    rule, letters, pattern = one_person(load_tagger("ner-en").tags)
    open_page(app, model="ner-en", **{"v.tab": "What the CRF buys", "v.rule": rule})
    tagger = load_tagger("ner-en")
    sentences = excerpt_of(tagger).sentences
    results = run(tagger, sentences, rule=rule)
    for tags in results.names(results.tags["rule"]):
        assert re.fullmatch(pattern, "".join(letters[tag] for tag in tags))
    record = as_record(results, "x")
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Entity F1"] == f"{100 * record['rule']['entity_f1']:.2f} %"
    assert shown["Sentences spoilt"] == str(record["rule"]["spoilt"])
    assert "Viterbi with the rule" in set(app.dataframe[0].value["decoder"])


def test_invalid_rule_is_reported_and_stays_in_its_field(app):
    open_page(app, model="upos-en", **{"v.tab": "What the CRF buys", "v.rule": "NOUN .*"})
    bad = "NOUN ( " + 1000 * "VERB "
    app.text_input(key="rule").set_value(bad).run()
    assert "Column 1001: a rule may have at most 1,000 characters" in "".join(
        each.value for each in app.warning
    )
    assert app.text_input(key="rule").value == bad
    assert app.query_params["v.rule"] == "NOUN .*"
    assert len(app.metric) == 4  # of the rule that is still in force
    app.text_input(key="rule").set_value("").run()
    # a fit of another test may have left its verdict on this tab
    assert not any("rule" in each.value for each in app.warning)
    assert not app.metric
    assert "v.rule" not in app.query_params


def test_error_list_can_be_filtered_by_kind(app):
    open_page(app, model="upos-en", **{"v.tab": "Why", "v.kind": "near tie"})
    frame = next(d.value for d in app.dataframe if "p(gold)" in d.value.columns)
    assert set(frame["kind"]) == {"near tie"}
    assert (frame["gap, nats"] < 0.1).all()


def test_stopped_run_is_reported_and_can_be_started(app, monkeypatch):
    monkeypatch.setattr(runs, "_digest", lambda *_: "a-run-that-was-stopped")
    open_page(app, model="upos-en", **{"v.stopped": "a-run-that-was-stopped"})
    assert "stopped" in app.info[0].value
    assert not app.dataframe
    button(app, "Run").click().run()
    assert app.dataframe


def test_full_queue_is_reported_and_the_run_can_be_repeated(app, monkeypatch):
    monkeypatch.setattr(runs, "_digest", lambda *_: "a-run-that-finds-no-room")
    monkeypatch.setenv("CRFVIZ_LIMITS", "line=1")
    monkeypatch.setattr(turns.JOB_QUEUE, "_queue", [turns.Ticket("somebody else", before=0)])
    open_page(app, model="upos-en")
    assert "queue of this server is full" in app.info[0].value
    assert not app.dataframe
    monkeypatch.delenv("CRFVIZ_LIMITS")
    turns.JOB_QUEUE._queue.clear()
    button(app, "Run").click().run()
    assert app.dataframe


def test_textbook_chain_asks_for_a_file(app):
    open_page(app, model="textbook/ice-cream")
    assert not app.exception
    assert "Choose a file" in app.info[0].value


@pytest.mark.parametrize("path", EXCERPTS)
def test_excerpts_have_150_tagged_sentences(path):
    sentences = read_sentences(SHIPPED / path)
    assert len(sentences) == 150
    assert all(sentence.tags for sentence in sentences)


def test_excerpt_is_chosen_by_the_tags_of_the_tagger():
    assert "EWT" in excerpt_of(load_tagger("upos-en")).name
    assert "Twitter" in excerpt_of(load_tagger("ner-en")).name
    assert excerpt_of(load_tagger("textbook/ice-cream")) is None


def test_error_about_missing_gold_names_the_file():
    with pytest.raises(FormatError, match=r"a\.txt holds no sentence"):
        require_gold(Source("a.txt", "0", []))
    with pytest.raises(FormatError, match=r"a\.txt: sentence 2 has no gold tags"):
        require_gold(Source("a.txt", "0", [Sentence(("a",), ("X",)), Sentence(("b",))]))
    with pytest.raises(FormatError, match=r"a\.txt, line 2: expected UTF-8"):
        decoded(b"a\tX\n\xe9\tX\n", name="a.txt")


def test_tags_are_renamed_by_the_mapping():
    sentences = renamed([Sentence(("a", "b"), ("X", "Y"))], {"X": "Z"})
    assert sentences[0].tags == ("Z", "Y")


def test_error_link_opens_its_words_with_all_gold_tags():
    tagger = load_tagger("upos-en")
    sentences = [
        Sentence(("I", "saw", "the", "pic's", "."), ("PRON", "VERB", "DET", "NOUN", "X")),
        Sentence(("He", "runs", "."), ("PRON", "VERB", "SYM")),
    ]
    found = run(tagger, sentences)
    last = {
        error.sentence: link
        for error, link in zip(found.log.first, links_of(found)["errors"], strict=True)
    }
    params = {name: values[0] for name, values in parse_qs(urlsplit(last[1]).query).items()}
    assert params == {
        "model": "upos-en",
        "sentence": "He runs .",
        "r": "0.PRON,1.VERB,2.SYM",
        "v.at": "2 SYM",
    }
    assert parse_qs(urlsplit(last[0]).query)["sentence"] == ["I  saw  the  pic's  ."]


def test_explorer_shows_the_gold_tags_of_a_link(app):
    app.query_params.update(
        {"model": "upos-en", "sentence": "He  runs  .", "r": "0.PRON,1.VERB,2.SYM"}
    )
    app.run()
    app.toggle(key="view.twin").set_value(True).run()
    frame = app.dataframe[0].value
    assert frame.loc["gold"].tolist() == ["PRON", "VERB", "SYM"]


def test_confusion_matrix_shows_errors_and_is_clickable():
    rows = [
        {"gold": "X", "predicted": "X", "words": 9},
        {"gold": "X", "predicted": "Y", "words": 2},
    ]
    spec = confusion_chart(rounded(rows), ["X", "Y", "Z"]).to_dict()
    (data,) = spec["datasets"].values()
    assert data == [{"gold": "X", "predicted": "Y", "words": 2}]
    assert [param["name"] for param in spec["params"]] == ["cell"]


def test_tag_that_vega_cannot_keep_as_a_key_has_another_name_in_the_chart():
    rows = [{"gold": "__proto__", "predicted": "any", "words": 2}]
    spec = confusion_chart(rows, ["any", "__proto__"]).to_dict()
    domain = spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert "__proto__" not in domain
    assert [tag_of_key(key) for key in domain] == ["any", "__proto__"]


def test_confusion_matrix_is_readable_on_light_and_dark_pages():
    rows = [{"gold": "X", "predicted": "Y", "words": 2}]
    cells, numbers, _ = confusion_chart(rows, ["X", "Y"]).to_dict()["layer"]
    assert max(cells["encoding"]["fillOpacity"]["scale"]["range"]) <= 0.5
    assert numbers["mark"]["color"] == "currentColor"


def test_long_names_in_the_confusion_matrix_keep_their_ends():
    rows = [{"gold": "B-a-long-name-one", "predicted": "B-a-long-name-two", "words": 1}]
    spec = confusion_chart(rows, ["B-a-long-name-one", "B-a-long-name-two"]).to_dict()
    for side in ("x", "y"):
        axis = spec["layer"][0]["encoding"][side]["axis"]
        assert "slice(datum.label, -8)" in axis["labelExpr"]
    assert {"field": "gold", "type": "nominal"} in spec["layer"][0]["encoding"]["tooltip"]


def test_handles_are_joined_on_request(app):
    import crfviz.ui.errors.files as sources

    text = b"@\tB-PER\nbob\tI-PER\nruns\tO\n\nHi\tO\n"
    digest = sources.read_upload("tweets.conll", text).digest
    open_page(app, model="ner-en", **{"v.corpus": "file", "v.file": digest})
    assert any("2 sentences, 4 words" in text.value for text in app.markdown)
    app.checkbox(key="view.fold").check().run()
    assert any("handles folded" in text.value for text in app.markdown)
    assert any("2 sentences, 3 words" in text.value for text in app.markdown)
    assert app.query_params["v.fold"] == ["1"] or app.query_params["v.fold"] == "1"


def test_page_names_the_file_of_its_results(app):
    import crfviz.ui.errors.files as sources

    digest = sources.read_upload("mine.conll", b"He\tPRON\nruns\tVERB\n").digest
    open_page(app, model="upos-en", **{"v.corpus": "file", "v.file": digest})
    assert "The results are from mine.conll" in " ".join(c.value for c in app.caption)


def test_folding_handles_is_offered_only_for_models_with_such_a_tag(app):
    import crfviz.ui.errors.files as sources

    text = b"Meet\tVERB\n@\tADP\nnoon\tNOUN\n"
    digest = sources.read_upload("notes.conll", text).digest
    open_page(app, model="upos-en", **{"v.corpus": "file", "v.file": digest})
    assert not app.exception
    assert not app.checkbox


def test_long_sentences_and_missing_links_are_reported(app):
    import crfviz.ui.errors.files as sources

    words = [*["the"] * 121, "@@"]
    lines = "\n".join(f"{word}\tVERB" for word in words)
    digest = sources.read_upload("long.conll", f"{lines}\n\nNew York\tVERB\n".encode()).digest
    open_page(app, model="upos-en", **{"v.corpus": "file", "v.file": digest})
    captions = " ".join(caption.value for caption in app.caption)
    assert "1 sentence of more than 120 words" in captions
    assert "1 error without a link" in captions


def test_entities_of_another_scheme_are_mapped_and_evaluated(app):
    text = b"Anna U-PERSON\nlives O\nin O\nNew B-GPE\nYork L-GPE\n. O\n\nIt O\nrains O\n"
    import crfviz.ui.errors.files as sources

    digest = sources.read_upload("mine.bilou", text).digest
    open_page(app, model="ner-en", **{"v.corpus": "file", "v.file": digest, "v.tab": "How wrong"})
    boxes = {box.label: box.value for box in app.selectbox if "counts as" in box.label}
    assert boxes == {"GPE (2 words) counts as": "LOC", "PERSON (1 word) counts as": "PER"}
    assert not app.error
    assert not app.exception
    assert app.dataframe


def test_overlapping_spans_are_reported_as_left_out(app):
    text = b'{"text": "Anna Berg ran", "label": [[0, 9, "PER"], [5, 9, "LOC"]]}\n'
    import crfviz.ui.errors.files as sources

    digest = sources.read_upload("overlap.jsonl", text).digest
    open_page(app, model="ner-en", **{"v.corpus": "file", "v.file": digest})
    assert "overlapping spans were left out" in "".join(each.value for each in app.warning)
    assert not app.exception
