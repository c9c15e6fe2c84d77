"""The frame of the app, driven with AppTest over all pages."""

import logging
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from crfviz.chain.decoding.analysis import greedy
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.edits import Edits
from crfviz.taggers.registry import load_tagger
from crfviz.ui import cached, scene
from crfviz.ui.session import components
from crfviz.ui.session.session_store import STORE_KEY
from crfviz.ui.shell import frame, sidebar
from crfviz.ui.state.scenario import BEFORE_FIRST
from crfviz.ui.tour import GREETING
from crfviz.views.contents import ENTRIES, GROUPS, VIEW, page_of, view_in
from crfviz.views.stage.payload_types import Payload
from tests.support.app_pages import (
    HOME,
    assert_sound,
    button,
    go_to,
    open_at,
    payloads,
    stage_of,
)
from tests.support.payload_types import faults
from tests.unit.ui.state.test_old_links import OLD

SCRIPTS = [entry.script for entry in ENTRIES]
ON_A_SENTENCE = [entry.script for entry in ENTRIES if entry.sentence]  # in the sidebar
CONTEXT_FREE, FULL = "upos-en-contextfree", "upos-en"
IMAGE = "![x](http://tracker.example/x.png)"
OF_WINDOWS = [
    f"pages/{name}.py"
    for name in ("explore", "emissions", "transitions", "forward-backward", "viterbi", "marginals")
]


@pytest.fixture
def broken_model(tmp_path, monkeypatch):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text('{"architecture": ', encoding="utf-8")
    monkeypatch.setenv("CRFVIZ_MODELS", str(tmp_path))
    return "broken"


@pytest.mark.parametrize(
    ("script", "order"),
    [(HOME, ["page", "sidebar"]), ("pages/model-errors.py", ["sidebar", "page"])],
)
def test_links_stand_beside_long_work_and_after_a_picture(app, monkeypatch, script, order):
    drawn = []
    monkeypatch.setattr(frame, "run", lambda: drawn.append("page"))
    monkeypatch.setattr(sidebar, "sidebar", lambda *_: drawn.append("sidebar"))
    open_at(app, script)
    assert drawn == order


@pytest.fixture(autouse=True)
def declared_payloads(monkeypatch):
    """Let a page fail that sends its stage anything but what is declared."""

    def checked(stage, data):
        assert faults(data, Payload) == []
        return answer(stage, data)

    answer = components.answer
    monkeypatch.setattr(components, "answer", checked)


def markdown_of(app):
    """All text that Streamlit reads as markdown, labels included."""
    kinds = ("markdown", "caption", "info", "error", "warning", "success", "toast", "title")
    texts = [element.value for kind in kinds for element in getattr(app, kind)]
    widgets = [*app.button, *app.selectbox, *app.text_input, *app.toggle, *app.button_group]
    return texts + [widget.label for widget in widgets if hasattr(widget, "label")]


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_page_runs_from_a_cold_start(app, script):
    open_at(app, script)
    assert_sound(app)
    entry = next(entry for entry in ENTRIES if entry.script == script)
    page = page_of(entry.path)
    assert app.title[0].value == page.title
    if page.views:
        assert app.button_group(key="view.view").value == entry.path


def test_first_screen_shows_the_best_model_on_an_example_that_needs_viterbi(app):
    app.run()
    assert app.selectbox(key="model").value == FULL
    sentence = app.text_input(key="sentence").value
    assert app.query_params == {}
    tagger = load_tagger(FULL)
    example = next(example for example in tagger.examples() if example.text == sentence)
    potentials = tagger.potentials(example.tokens)
    path = [tagger.tags[k] for k in viterbi(potentials).path]
    assert path == list(example.gold)
    assert path != [tagger.tags[k] for k in greedy(potentials)]


def test_greeting_stays_until_its_three_things_are_done(app):
    assert greeting_of(app.run()) == {"greeting": GREETING, "done": [], "shows": True}
    app.text_input(key="sentence").set_value("He runs .").run()
    assert greeting_of(app)["done"] == ["typed"]
    app.switch_page("pages/emissions.py").run()
    app.session_state[STORE_KEY]["scenario"] = replace(
        app.session_state[STORE_KEY]["scenario"], edits=Edits(transitions={("DET", "NOUN"): 1.0})
    )
    app.switch_page(HOME).run()
    assert greeting_of(app)["done"] == ["edited", "typed"]
    assert greeting_of(app)["shows"]
    for word in ("1", ""):  # what was done stays done
        open_word(app, word)
        app.run()
        assert greeting_of(app)["done"] == sorted(GREETING)
        assert not greeting_of(app)["shows"]


def open_word(app, word):
    before = app.session_state[STORE_KEY]["scenario"]
    view = {**before.view, "word": word} if word else {}
    app.session_state[STORE_KEY]["scenario"] = replace(before, view=view)


def greeting_of(app):
    return payloads(app, "greeting")[0]


@pytest.mark.parametrize("params", [{"k": "0.5"}, {"sentence": "He runs ."}], ids=["k", "sentence"])
def test_link_without_a_model_opens_the_default_model(app, params):
    app.query_params.update(params)
    app.run()
    assert app.selectbox(key="model").value == FULL
    assert app.query_params == params


def test_missing_page_opens_explore_and_suggests_similar_pages(app):
    app.query_params["missing"] = "vitrebi"
    app.run()
    assert_sound(app)
    assert app.title[0].value == "Explore"
    assert app.toast[0].value == "There is no page “vitrebi”. Did you mean Viterbi?"
    assert app.query_params == {}


def test_model_picker_marks_the_lesson_model(app):
    picker = app.run().selectbox(key="model")
    label = next(option for option in picker.options if option.startswith(CONTEXT_FREE))
    assert "for lessons: no word sees its neighbours" in label
    picker.set_value(CONTEXT_FREE).run()
    assert app.selectbox(key="model").value == CONTEXT_FREE


@pytest.mark.parametrize("script", ON_A_SENTENCE)
def test_every_page_opens_from_a_link(app, script):
    app.query_params.update({"sentence": "He runs .", "t": "DET.NOUN:-2", "step": "1"})
    open_at(app, script)
    assert_sound(app)
    assert app.text_input(key="sentence").value == "He runs ."
    assert app.button(key="reset").disabled is False
    assert not app.toast


@pytest.mark.parametrize("page", ["compare", "entities", "homework"])
def test_old_link_opens_its_page_unchanged(app, page):
    old = next(old for old in OLD["links"] if old["page"] == page)
    app.query_params.update(parse_qsl(old["link"], keep_blank_values=True))
    open_at(app, f"pages/{page}.py")
    assert_sound(app)
    assert not app.toast
    assert not app.warning
    assert app.text_input(key="sentence").value == old["scenario"]["sentence"]
    shown = {VIEW: page} if view_in(page) else {}
    assert sorted(app.query_params.items()) == sorted([*shown.items(), *parse_qsl(old["link"])])


def test_typed_sentence_survives_page_changes_and_is_in_the_url(app):
    app.run()
    for sentence in ("He runs .", "She ran .", "They run ."):
        app.text_input(key="sentence").set_value(sentence).run()
        assert app.query_params == {"sentence": sentence}
    app.switch_page("pages/marginals.py").run()
    assert app.text_input(key="sentence").value == "They run ."
    assert app.query_params == {"sentence": "They run ."}


def test_first_of_several_sentences_is_drawn_and_others_are_offered(app):
    app.run()
    text = "He runs. She ran. She ran."
    app.text_input(key="sentence").set_value(text).run()
    assert_sound(app)
    for number, sentence in enumerate(["He runs.", "She ran.", "She ran."], start=1):
        assert app.text_input(key="sentence").value == sentence
        assert f"Sentence {number} of 3." in [each.value for each in app.caption]
        if number < 3:
            app.button(key="typed.Next sentence").click().run()
    assert not [each for each in app.button if each.key == "typed.Next sentence"]
    app.button(key="typed.All as one").click().run()
    assert app.text_input(key="sentence").value == text
    app.text_input(key="sentence").set_value(f"{text} Fine.").run()
    assert app.text_input(key="sentence").value == f"{text} Fine."
    app.text_input(key="sentence").set_value("He runs.").run()
    assert not [each for each in app.caption if each.value.startswith(("Sentence ", "All "))]


def test_several_sentences_of_a_link_are_not_split(app):
    app.query_params["sentence"] = "He runs. She ran."
    app.run()
    assert_sound(app)
    assert app.text_input(key="sentence").value == "He runs. She ran."


def test_model_picker_keeps_the_sentence(app):
    app.query_params["sentence"] = "He runs ."
    app.run().selectbox(key="model").select(CONTEXT_FREE).run()
    assert_sound(app)
    assert app.query_params == {"sentence": "He runs .", "model": CONTEXT_FREE}


def test_another_tag_set_drops_edits_with_a_message(app):
    app.query_params["t"] = "DET.NOUN:-2"
    app.run().selectbox(key="model").select("ner-en").run()
    assert_sound(app)
    assert "t" not in app.query_params
    assert "ner-en has no tag “DET”, “NOUN”" in app.toast[0].value


def test_example_gallery_sets_sentence_and_model(app):
    app.run()
    gallery = app.selectbox(key="example")
    assert gallery.value is None  # it is a list to choose from: the caption says what is shown
    chosen = next(label for label in gallery.options if label.startswith(f"{CONTEXT_FREE}: "))
    gallery.select(chosen).run()
    assert_sound(app)
    assert app.selectbox(key="model").value == CONTEXT_FREE
    example = cached.examples(CONTEXT_FREE)[0]
    assert app.text_input(key="sentence").value == example.text
    assert chosen.startswith(f"{CONTEXT_FREE}: {example.text} – ")
    assert app.selectbox(key="example").value is None
    claim = chosen.partition(" – ")[2]
    assert claim in [caption.value.replace("\\", "") for caption in app.caption]


def test_edits_are_counted_undone_redone_and_reset(app):
    app.query_params.update({"t": "DET.NOUN:-2,PRON.VERB:1", "k": "0.5"})
    open_at(app, "pages/transitions.py")
    captions = [caption.value for caption in app.caption]
    assert "**3 edits**" in captions
    assert "CRF strength 0.5" in captions
    assert app.button(key="undo").disabled
    app.button(key="reset").click().run()
    assert app.query_params == {}
    app.button(key="undo").click().run()
    assert app.query_params == {"t": "DET.NOUN:-2,PRON.VERB:1", "k": "0.5"}
    app.button(key="redo").click().run()
    assert app.query_params == {}
    assert app.button(key="reset").disabled


def test_hidden_rows_survive_page_changes_and_are_in_the_url(app):
    app.query_params["v.rows"] = "viterbi.gold"
    app.run().switch_page("pages/transitions.py").run()
    assert_sound(app)
    assert app.query_params == {"v.rows": "viterbi.gold"}
    covered = ["greedy", "left_to_right", "max_marginal"]
    assert [part for part in stage_of(app)["covered"] if part in covered] == covered


def test_invalid_url_parts_are_reported(app):
    app.query_params.update({"t": f"DET.NOUN:1,{IMAGE}", "k": "high", "model": IMAGE})
    app.run()
    assert_sound(app)
    assert app.query_params == {"t": "DET.NOUN:1"}
    assert len(app.toast) == 3
    assert app.toast[2].value == "1 more not shown."
    assert not [text for text in markdown_of(app) if IMAGE in text]


@pytest.mark.parametrize("script", ON_A_SENTENCE)
@pytest.mark.parametrize(
    "sentence",
    [pytest.param("", id="empty"), pytest.param("   ", id="blank", marks=pytest.mark.rotating)],
)
def test_empty_sentence_asks_for_a_sentence(app, script, sentence):
    app.query_params.update({"sentence": sentence, "t": "DET.NOUN:-2"})
    open_at(app, script)
    assert_sound(app)
    assert [info.value for info in app.info] == [
        "Type a sentence in the box above, then press Enter."
    ]
    assert app.query_params["t"] == "DET.NOUN:-2"


@pytest.mark.parametrize("script", ON_A_SENTENCE)
@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("the " * 40, id="one word repeated", marks=pytest.mark.rotating),
        pytest.param(f"<script>alert(1)</script> {IMAGE} **bold** :red[x] $x$", id="markup"),
        pytest.param("one", id="one word", marks=pytest.mark.rotating),
        pytest.param("👩‍🔬 likes 🍕🍕 🇩🇪 !", id="emoji", marks=pytest.mark.rotating),
        pytest.param("هذا اختبار قصير للكلمات .", id="right to left", marks=pytest.mark.rotating),
        pytest.param("x" * 4000, id="one long word", marks=pytest.mark.rotating),
    ],
)
def test_any_sentence_is_drawn_and_never_read_as_markdown(app, script, sentence):
    app.query_params.update({"sentence": sentence, "v.twin": "1"})
    open_at(app, script)
    assert_sound(app)
    assert app.text_input(key="sentence").value == sentence
    unsafe = [IMAGE, "**bold**", ":red[x]", "<script>"]
    assert not [text for text in markdown_of(app) for part in unsafe if part in text]


@pytest.mark.parametrize("script", ON_A_SENTENCE)
def test_long_sentence_is_drawn_as_a_window_or_cut_with_a_note(app, script):
    app.query_params.update({"model": CONTEXT_FREE, "sentence": "word " * 200})  # LSTMs take long
    app.query_params.update({"v.from": "70", "v.twin": "1"})
    open_at(app, script)
    assert_sound(app)
    captions = [caption.value for caption in app.caption]
    cut = "The first 120 of 200 words are drawn." in captions
    assert cut == (script not in OF_WINDOWS)
    if not cut and app.dataframe:
        tables = [table.value for table in app.dataframe]
        assert any(next(iter(table.columns)) == "71 word" for table in tables)


def test_sentence_over_15000_characters_is_cut_with_a_message(app):
    app.run().text_input(key="sentence").set_value("lorems " * 2860).run()
    assert_sound(app)
    assert len(app.text_input(key="sentence").value) == 15_000
    assert "cut after 15,000 characters" in app.toast[0].value


def test_broken_model_shows_an_error_and_can_be_left(app, broken_model):
    app.run().selectbox(key="model").select(broken_model).run()
    assert not app.exception
    assert "config.json" in app.error[0].value
    app.selectbox(key="model").select(FULL).run()
    assert_sound(app)


def test_removed_model_folder_shows_an_error(app, broken_model, monkeypatch):
    app.run().selectbox(key="model").select(broken_model).run()
    monkeypatch.delenv("CRFVIZ_MODELS")
    app.run()
    assert not app.exception
    assert "no tagger is called 'broken'" in app.error[0].value
    assert app.selectbox(key="model").value == broken_model


def test_models_page_shows_a_broken_model_beside_the_others(app, broken_model):
    open_at(app, "pages/models.py")
    assert not app.exception
    assert [tab.label for tab in app.tabs][:2] == [FULL, CONTEXT_FREE]
    assert broken_model in [tab.label for tab in app.tabs]
    assert "config.json" in app.error[0].value


@pytest.mark.parametrize("script", [entry.script for entry in ENTRIES if entry.model])
def test_without_any_model_each_page_shows_an_error(app, script, monkeypatch):
    monkeypatch.setattr(cached, "list_taggers", list)
    monkeypatch.setattr(cached, "DEFAULT_MODEL", "none-of-these")
    open_at(app, script)
    assert not app.exception
    said = [message.value for message in [*app.error, *app.info]]
    assert any("There is no model" in text for text in said)


def test_unexpected_error_shows_a_message_and_keeps_the_sidebar(app, monkeypatch, caplog):
    def fail(_scenario, *, windows):
        assert windows
        raise RuntimeError("secret detail")

    monkeypatch.setattr(scene, "scene_of", fail)
    with caplog.at_level(logging.ERROR, logger="crfviz"):
        app.run()
    assert not app.exception
    message = app.error[0].value
    assert "could not be drawn" in message
    assert "secret detail" not in message
    number = message.partition("log id ")[2][:8]
    assert number in caplog.text
    assert "secret detail" in caplog.text
    monkeypatch.undo()
    app.text_input(key="sentence").set_value("He runs .").run()
    assert_sound(app)


@pytest.mark.parametrize(("script", "step"), [("marginals", 0), ("forward-backward", BEFORE_FIRST)])
def test_page_opens_at_its_first_step_only_after_the_next_key(app, script, step):
    go_to(app, f"pages/{script}.py")
    app.session_state[STORE_KEY]["turn"] = "next"  # as the stage asks, after the last step
    app.run()
    app.switch_page("pages/viterbi.py").run()
    assert_sound(app)
    assert app.session_state[STORE_KEY]["scenario"].step == step


def test_links_on_the_left_are_those_of_all_pages(app):
    app.run()
    links = next(each.proto.body for each in app.sidebar.get("html") if "<a" in each.proto.body)
    assert re.findall('href="(.*?)">(.*?)</a>', links) == [
        (page.path or "./", page.title) for group in GROUPS.values() for page in group
    ]
    assert re.findall("<details open><summary>(.*?)<", links) == ["Follow the chain"]


@pytest.mark.parametrize(
    "model",
    [
        "upos-en-perceptron",
        "textbook/ice-cream",
        pytest.param("upos-en-hmm", marks=pytest.mark.rotating),
        pytest.param("textbook/label-bias", marks=pytest.mark.rotating),
    ],
)
def test_every_page_works_with_every_family(app, model):
    app.query_params["model"] = model
    app.run()
    for script in ON_A_SENTENCE:
        go_to(app, script)
        assert_sound(app)
        assert app.selectbox(key="model").value == model
        assert app.query_params["model"] == model


@pytest.mark.parametrize(
    ("model", "word"),
    [
        ("upos-en-perceptron", "Hi"),
        pytest.param("textbook/ice-cream", "3", marks=pytest.mark.rotating),
        pytest.param("textbook/label-bias", "r", marks=pytest.mark.rotating),
    ],
)
def test_every_page_works_with_a_single_word(app, model, word):
    app.query_params.update({"model": model, "sentence": word})
    app.run()
    for script in ON_A_SENTENCE:
        go_to(app, script)
        assert_sound(app)


def test_unknown_observation_shows_an_error(app):
    app.query_params.update({"model": "textbook/ice-cream", "sentence": "2 4"})
    app.run()
    assert not app.exception
    assert "type some of 1, 2, 3" in app.error[0].value


def test_gauge_shift_changes_nothing_and_can_be_undone(app):
    app.query_params.update({"model": "textbook/ice-cream", "sentence": "2 3 3 1"})
    open_at(app, "pages/hmm.py")
    button(app, "Shift the tag").click().run()
    assert_sound(app)
    assert "START.C" in app.query_params["t"]
    assert "This edit changes nothing" in stage_of(app)["note"]
    button(app, "Shift the word").click().run()
    assert "log Z moved by +1" in stage_of(app)["note"]
    app.button(key="undo").click().run()
    app.button(key="undo").click().run()
    assert "Nothing is edited yet" in stage_of(app)["note"]


@pytest.mark.parametrize("what", ["word", "tag"])
def test_gauge_shift_uses_the_choices_of_the_same_run(app, what):
    app.query_params.update({"model": "textbook/ice-cream", "sentence": "2 3 3 1"})
    open_at(app, "pages/hmm.py")
    edits = []
    for early in (False, True):
        app.button_group(key="view.shift").set_value("2")
        app.selectbox(key=f"view.shift_{what}").set_value({"word": "1", "tag": "H"}[what])
        if not early:
            app.run()
        button(app, f"Shift the {what}").click().run()
        edits.append({name: app.query_params.get(name) for name in ("t", "e")})
        app.button(key="undo").click()
        app.button_group(key="view.shift").set_value("1")
        app.selectbox(key=f"view.shift_{what}").set_value({"word": "0", "tag": "C"}[what]).run()
    assert edits[0] == edits[1]
    assert any(edits[0].values())
