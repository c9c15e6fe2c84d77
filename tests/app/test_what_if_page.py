"""The page What if, driven with AppTest, against the taggers themselves."""

import pytest

from crfviz import load_tagger, viterbi
from crfviz.chain.edits import Edits
from crfviz.taggers.perturbations import KINDS
from crfviz.ui.panels.what_if import live_with_edits
from crfviz.ui.state.scenario import Scenario
from tests.support.app_pages import button, opened, stage_of

SENTENCE = "Mr Smith went to Paris in 2019 , and the cats sang ."


@pytest.fixture
def page(app):

    def run(model="upos-en", sentence=SENTENCE, **params):
        return opened(app, "pages/what-if.py", model=model, sentence=sentence, **params)

    return run


def test_changed_sentence_can_be_downloaded(page):
    app = page("upos-en-contextfree", **{"v.change": "lower case"})
    assert "Download as HTML" in [each.label for each in app.get("download_button")]
    tagger = load_tagger("upos-en-contextfree")
    edits = Edits({("DET", "NOUN"): 2.5}, constrained=False)
    live = live_with_edits(tagger, Scenario(tagger.name, "mr smith went", edits=edits))
    best = viterbi(edits.apply(tagger.potentials(["mr", "smith", "went"])))
    assert (live.now.viterbi.path, live.now.viterbi.score) == (best.path, best.score)
    assert (live.origin.sentence, live.origin.constrained) == ("mr smith went", False)


@pytest.mark.parametrize("model", ["upos-en", "upos-en-perceptron", "upos-en-hmm"])
def test_upper_case_shows_the_flips_of_the_model(page, model):
    app = page(model, **{"v.change": "upper case"})
    tagger = load_tagger(model)
    words = SENTENCE.split()
    before, after = (
        viterbi(tagger.potentials(sentence)).path
        for sentence in (words, [word.upper() for word in words])
    )
    rows = {row["id"]: row for row in stage_of(app)["rows"]}
    flipped = ["≠" if a != b else "·" for a, b in zip(before, after, strict=True)]
    assert rows["flips"]["texts"] == flipped
    assert (rows["before"]["tags"], rows["viterbi"]["tags"]) == (before, after)
    labels = app.button_group(key="view.change").options
    assert f"upper case · {flipped.count('≠')}" in labels


@pytest.mark.parametrize("kind", KINDS)
def test_every_perturbation_is_applied_by_one_click(page, kind):
    app = page(**{"v.change": kind})
    assert stage_of(app)["words"] != SENTENCE.split()
    assert stage_of(app)["note"].startswith(kind.capitalize())


def test_removed_punctuation_keeps_words_and_tags_aligned(page):
    app = page(**{"v.change": "no punctuation"})
    stage = stage_of(app)
    words = SENTENCE.split()
    path = viterbi(load_tagger("upos-en").potentials(words)).path
    assert "," not in stage["words"]
    rows = {row["id"]: row for row in stage["rows"]}
    assert rows["before"]["tags"] == [
        tag for word, tag in zip(words, path, strict=True) if word not in ",."
    ]


def test_another_draw_gives_another_typo_and_is_in_the_url(page):
    app = page(**{"v.change": "typo"})
    first = stage_of(app)["words"]
    button(app, "Try another").click().run()
    assert stage_of(app)["words"] != first
    assert app.query_params["v.draw"] == "1"


def test_changed_sentence_can_be_used(page):
    app = page(**{"v.change": "upper case"})
    words = stage_of(app)["words"]
    button(app, "Use this sentence").click().run()
    assert app.text_input(key="sentence").value == " ".join(words)


def test_use_button_takes_the_perturbation_of_the_same_run(page):
    app = page()
    app.button_group(key="view.change").set_value("no punctuation").run()
    assert app.query_params["v.change"] == "no punctuation"
    app.button_group(key="view.change").set_value("lower case")
    button(app, "Use this sentence").click().run()
    assert app.text_input(key="sentence").value == SENTENCE.lower()


def test_typed_sentence_is_compared(page):
    app = page()
    app.text_input(key="what-if.own").set_value("Dr Smith went to sunny Paris in 2019 .").run()
    assert app.button_group(key="view.change").value == "your own"
    assert app.query_params["v.own"] == "Dr Smith went to sunny Paris in 2019 ."
    stage = stage_of(app)
    assert " ".join(stage["words"]) == "Dr Smith went to sunny Paris in 2019 ."
    rows = {row["id"]: row for row in stage["rows"]}
    assert rows["word"]["texts"] == ["Mr", "·", "·", "·", "new", "·", "·", "·", "·"]
    path = viterbi(load_tagger("upos-en").potentials(stage["words"])).path
    assert rows["viterbi"]["tags"] == path
    old = viterbi(load_tagger("upos-en").potentials(SENTENCE.split())).path
    assert rows["before"]["tags"] == [*old[:4], path[4], *old[4:7], old[-1]]
    assert rows["before"]["texts"][4] == "new"
    button(app, "Use this sentence").click().run()
    assert app.text_input(key="sentence").value == "Dr Smith went to sunny Paris in 2019 ."
    assert "v.own" not in app.query_params
    assert "Edit the sentence above" in app.info[0].value


def test_typed_observations_are_compared(page):
    app = page("textbook/ice-cream", "2 3 3")
    app.text_input(key="what-if.own").set_value("2 1 3").run()
    assert stage_of(app)["words"] == ["2", "1", "3"]
    app.text_input(key="what-if.own").set_value("2 9 3").run()
    assert not app.exception
    assert "9" in app.info[0].value


def test_chain_of_known_observations_cannot_be_perturbed(page):
    app = page("textbook/ice-cream", "2 3 3")
    assert "knows only" in app.info[0].value
    assert "another change" not in app.info[0].value
    assert not [each for each in app.get("button_group") if each.key == "view.change"]


def test_perturbation_without_a_target_is_reported(page):
    app = page(sentence="a dog barks", **{"v.change": "other number"})
    assert "nothing for “other number”" in app.info[0].value
