"""Snapshots and the page Compare, driven with AppTest."""

import re

import pytest
import torch

from crfviz import Potentials, forward_backward, match, viterbi
from crfviz.chain.questions.rules import analyse_match
from crfviz.taggers.registry import list_taggers, load_tagger
from tests.support.app_pages import opened, payloads

EDIT = "DET.NOUN:-2"


@pytest.fixture
def page(app):

    def run(**params):
        return opened(app, "pages/compare.py", **{"model": "upos-en-contextfree"} | params)

    return run


def sound(app):
    assert not app.exception
    assert not app.error


def said(app):
    texts = [*app.markdown, *app.info, *app.warning, *app.caption, *app.toast]
    return re.sub(r"\\(.)", r"\1", "\n".join(text.value for text in texts))


def save(app, name):
    app.text_input(key="snapshot.name").set_value(name).run()
    sound(app)


def test_compare_opens_with_trained_against_now(page):
    app = page(t=EDIT)
    assert app.selectbox(key="view.a").value == "trained"
    assert app.selectbox(key="view.b").value == "now"
    assert "A and B are the same" not in said(app)
    assert "B − A** log Z " in said(app)
    app.button(key="reset").click().run()
    assert app.selectbox(key="view.b").value != "now"
    assert "A and B are the same" not in said(app)


def test_snapshot_can_be_saved_compared_renamed_deleted_and_restored(page):
    app = page(t=EDIT)
    save(app, "soft <b>noun</b>")
    assert app.text_input(key="snapshot.name").value == ""
    app.selectbox(key="view.b").set_value("snapshot soft <b>noun</b>").run()
    app.button(key="reset").click().run()
    sound(app)
    assert app.query_params["v.b"] == "snapshot soft <b>noun</b>"
    assert "DET.NOUN" in app.query_params["s.soft <b>noun</b>"]
    assert "A and B are the same" not in said(app)
    app.text_input(key="snapshot.rename").set_value("softer").run()
    sound(app)
    assert app.query_params["v.b"] == "snapshot softer"
    assert "s.softer" in app.query_params
    app.button(key="snapshot.delete").click().run()
    sound(app)
    assert "There is no “softer” to compare with" in said(app)
    app.button(key="snapshot.undo").click().run()
    sound(app)
    assert "There is no" not in said(app)
    assert app.selectbox(key="view.b").value == "snapshot softer"


@pytest.mark.parametrize("press", ["load", "delete"])
def test_snapshot_button_uses_the_choice_of_the_same_run(page, press):
    app = page(t=EDIT)
    save(app, "edited")
    app.button(key="reset").click().run()
    save(app, "plain")
    app.selectbox(key="snapshot.chosen").select("edited")
    app.button(key=f"snapshot.{press}").click().run()
    sound(app)
    assert ("t" in app.query_params) == (press == "load")
    assert app.selectbox(key="snapshot.chosen").options == (
        ["edited", "plain"] if press == "load" else ["plain"]
    )


def test_snapshot_of_a_link_is_compared(page):
    query = "model=upos-en-contextfree&sentence=He+runs+.&t=DET.NOUN%3A-2"
    app = page(**{"v.a": "snapshot mine", "s.mine": query})
    assert app.selectbox(key="view.a").value == "snapshot mine"
    assert "now was made on another sentence; here it is on this one." in said(app)


def test_loading_a_snapshot_restores_its_state_and_can_be_undone(page):
    app = page(t=EDIT)
    save(app, "soft")
    app.button(key="reset").click().run()
    assert "t" not in app.query_params
    app.button(key="snapshot.load").click().run()
    sound(app)
    assert app.query_params["t"] == EDIT
    app.button(key="undo").click().run()
    assert "t" not in app.query_params


def test_loading_a_snapshot_restores_its_model_and_sentence(page):
    app = page(t=EDIT)
    save(app, "soft")
    app.selectbox(key="model").select("ner-en").run()
    app.text_input(key="sentence").set_value("Paris is big .").run()
    app.button(key="snapshot.load").click().run()
    sound(app)
    assert app.selectbox(key="model").value == "upos-en-contextfree"
    assert app.text_input(key="sentence").value == "These look fine to me ."
    assert app.query_params["t"] == EDIT


@pytest.mark.parametrize(
    ("name", "message"),
    [("x" * 41, "at most 40 fit"), ("  ", "needs a name"), ("soft", "called “soft” already")],
)
def test_invalid_snapshot_name_is_reported_and_stays_in_its_field(page, name, message):
    app = page()
    save(app, "soft")
    save(app, name)
    assert message in said(app)
    assert app.text_input(key="snapshot.name").value == name
    assert app.selectbox(key="snapshot.chosen").options == ["soft"]


def test_edits_of_another_sentence_are_dropped_with_a_note(page):
    app = page(e="1.NOUN:9", p="0.DET")
    save(app, "words")
    app.text_input(key="sentence").set_value("He runs .").run()
    app.selectbox(key="view.a").set_value("now").run()
    app.selectbox(key="view.b").set_value("snapshot words").run()
    sound(app)
    assert "“words” was made on another sentence; here it is on this one" in said(app)
    assert "without 1 edit and 1 pin of its own words" in said(app)


def test_both_sides_are_compared_under_the_rule(page):
    rule, words = "[^ VERB]* VERB VERB .*", "These look fine to me ."
    app = page(**{"sentence": words, "t": EDIT, "v.rule": rule})
    sound(app)
    trained = load_tagger("upos-en-contextfree").potentials(words.split())
    before = analyse_match(trained, rule)
    after = analyse_match(trained.with_transition("DET", "NOUN", -2.0), rule)
    for name, side in (("A", before), ("B", after)):
        line = re.search(rf"{name}\*\* log Z (\S+) .* entropy (\S+)", said(app))
        expected = [side.forward_backward.log_partition, side.entropy]
        assert [float(each) for each in line.groups()] == pytest.approx(expected, abs=0.006)
    rows = {row["id"]: row["tags"] for row in payloads(app)[0]["rows"]}
    assert rows["viterbi_a"] == match(trained, rule).path
    assert payloads(app)[0]["note"] == "Only paths that match the rule count."
    app.selectbox(key="view.b").set_value("model ner-en").run()
    sound(app)
    assert "The rule does not fit the tags of both sides: all paths count." in said(app)
    assert payloads(app)[0]["results"]["log_partition"] == pytest.approx(
        forward_backward(trained).log_partition, abs=1e-9
    )


def test_models_with_other_tags_are_drawn_without_differences(page):
    app = page(**{"v.b": "model ner-en"})
    assert "has 17 tags and ner-en 7, none the same" in said(app)
    assert "so nothing is subtracted" in said(app)
    assert len(payloads(app)) == 2
    app.selectbox(key="view.b").set_value("model upos-en").run()
    sound(app)
    assert "two scales" in said(app)
    assert "nothing is subtracted" not in said(app)
    app.button_group(key="view.pair").set_value("lattices").run()
    sound(app)
    assert app.query_params["v.pair"] == "lattices"
    assert len(payloads(app)) == 2


def test_snapshot_without_a_sentence_is_compared_on_the_other_sentence(page):
    app = page(sentence="")
    save(app, "blank")
    app.text_input(key="sentence").set_value("He runs .").run()
    app.selectbox(key="view.a").set_value("snapshot blank").run()
    sound(app)
    assert "“blank” was made on another sentence" in said(app)


def test_unknown_side_is_reported(page):
    app = page(**{"v.a": "snapshot <i>gone</i>"})
    assert "There is no “<i>gone</i>” to compare with" in said(app)


def test_unnormalised_scores_are_labelled(page):
    names = [name for name in list_taggers() if not load_tagger(name).probabilistic]
    if not names:
        pytest.skip("every model here gives probabilities")
    app = page(**{"v.b": f"model {names[0]}"})
    assert f"{names[0]} was not trained to give probabilities" in said(app)


def test_comparison_without_edits_opens_with_a_pair_that_differs(page):
    app = page(model="upos-en")
    assert app.selectbox(key="view.b").value == "alone"
    assert "v.b" not in app.query_params
    assert "the same" not in said(app)
    app.selectbox(key="view.b").set_value("now").run()
    sound(app)
    assert app.query_params["v.b"] == "now"
    assert "A and B are the same on this sentence" in said(app)


def test_comparison_opens_with_a_model_if_transitions_decide_nothing(page):
    words = "These look fine to me ."
    app = page(model="upos-en", sentence=words)
    own, other = (load_tagger(name) for name in ("upos-en", "upos-en-contextfree"))
    chain = own.potentials(words.split())
    alone = Potentials(chain.emissions, torch.zeros_like(chain.transitions))
    assert viterbi(alone).path == viterbi(chain).path
    assert viterbi(other.potentials(words.split())).path != viterbi(chain).path
    assert app.selectbox(key="view.b").value == "model upos-en-contextfree"
