"""The page Lectures and the player without a browser: lists, broken files, cues that cannot be."""

from dataclasses import replace

import pytest

from crfviz.ui.lectures import player
from crfviz.ui.lectures.lecture_store import SHIPPED, lecture
from crfviz.ui.session.session_store import STORE_KEY
from crfviz.ui.state.link_text import step_text
from crfviz.ui.words import plain
from tests.support.app_pages import assert_sound, new_app, open_at, payloads

MINE = """
title = "Mine"
minutes = 3

[[cue]]
model = "textbook/ice-cream"
sentence = "3 9 3"
say = "Nine is {viterbi(2)}."

[[cue]]
page = "viterbi"
model = "textbook/ice-cream"
sentence = "3 1 3"
edits = "H.H:2"
say = "Hot: {p('viterbi')}, before {trained.p('viterbi')}."

[[cue]]
page = "nowhere"
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_LECTURES", str(tmp_path))
    (tmp_path / "mine.toml").write_text(MINE, "utf-8")
    (tmp_path / "broken.toml").write_text("title = ", "utf-8")


def play(**params):
    app = new_app()
    app.query_params.update(params)
    return app.run()


def said(app):
    return [toast.value for toast in app.toast]


@pytest.mark.usefixtures("mine")
def test_page_lists_lectures_and_their_problems():
    app = open_at(new_app(), "pages/lectures.py")
    assert not app.exception
    titles = [text.value for text in app.markdown]
    for name in ["mine", *(path.stem for path in SHIPPED.glob("*.toml"))]:
        assert any(lecture(name).title in title for title in titles), name
    assert [error.value for error in app.error] == [
        "broken.toml\\:1: expected TOML (Invalid value (at end of document))"
    ]
    assert "mine.toml\\:18: there is no page" in app.warning[0].value


@pytest.mark.usefixtures("mine")
def test_cue_that_cannot_be_drawn_shows_its_error_and_the_next_one_plays():
    app = play(lecture="mine")
    assert not app.exception
    assert app.error
    assert any("mine.toml\\:5" in text for text in said(app))
    app = play(lecture="mine", cue="2")
    assert not app.exception
    assert not app.error
    assert app.query_params == {"lecture": "mine", "cue": "2"}
    assert app.title[0].value == "Viterbi"


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("cue", "nearest"), [("0", "1"), ("99", "2"), ("x", "1"), ("1e3", "1"), ("9" * 20, "1")]
)
def test_invalid_cue_number_shows_the_nearest_cue(cue, nearest):
    app = play(lecture="mine", cue=cue)
    assert not app.exception
    assert app.query_params["cue"] == nearest
    assert any("There is no cue" in text for text in said(app))


def test_reload_returns_to_the_step_of_the_cue():
    app = play(lecture="viterbi", cue="2", step="3")
    assert app.session_state[STORE_KEY]["scenario"].step == 3
    assert app.query_params == {"lecture": "viterbi", "cue": "2", "step": "3"}
    app = play(lecture="viterbi", cue="2", step="x")
    own = lecture("viterbi").cues[1].scenario
    assert app.session_state[STORE_KEY]["scenario"].step == own.step
    assert any("Ignored the step “x”" in text for text in said(app))
    assert app.query_params["step"] == step_text(own.step)


def test_another_sentence_drops_the_step_of_the_cue():
    app = play(lecture="viterbi", cue="2", step="3")
    app.session_state[STORE_KEY]["scenario"] = replace(
        app.session_state[STORE_KEY]["scenario"], sentence="They run .", step=0
    )
    app.run()
    assert app.query_params == {"lecture": "viterbi", "cue": "2"}


def test_stale_cue_in_the_url_does_not_return_to_the_previous_cue():
    app = play(lecture="greedy", cue="3")
    app.query_params["cue"] = "2"  # the browser has not heard of the new cue yet
    app.run()
    assert app.query_params["cue"] == "3"
    assert app.session_state[STORE_KEY]["scenario"].sentence == "Please book a table for two ."


def test_lecture_opened_again_after_a_page_shows_the_cue_in_the_url():
    app = play(lecture="viterbi", cue="3")
    app.query_params.clear()
    app.run()
    assert "lecture" not in app.query_params
    app.query_params.update(lecture="viterbi", cue="2")
    app.run()
    assert app.query_params["cue"] == "2"


def test_page_without_a_lecture_in_its_url_does_not_ask_the_player(monkeypatch):
    asked = []
    monkeypatch.setattr(player, "play", lambda *_: bool(asked.append(True)))
    app = new_app()
    app.run()
    assert_sound(app)
    assert asked == []
    app.query_params["lecture"] = "viterbi"
    app.run()
    assert asked == [True]


def test_missing_lecture_opens_the_explorer():
    app = play(lecture="nothing", cue="2")
    assert not app.exception
    assert app.title[0].value == "Explore"
    assert any("There is no lecture “nothing”" in text for text in said(app))
    assert "lecture" not in app.query_params


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ("viterbi(9)", "mine.toml:4: expected a word that occurs once, or its number from 1 to 3"),
        ("log_z()", "mine.toml:4: “log_z()” has no single right answer here, so it is not asked."),
    ],
)
def test_question_without_an_answer_is_reported_and_the_cue_plays(
    tmp_path, monkeypatch, ask, message
):
    monkeypatch.setenv("CRFVIZ_LECTURES", str(tmp_path))
    cue = f'page = "viterbi"\nmodel = "textbook/ice-cream"\nsentence = "3 1 3"\nask = "{ask}"'
    (tmp_path / "mine.toml").write_text(f'title = "Mine"\nminutes = 3\n\n[[cue]]\n{cue}', "utf-8")
    app = play(lecture="mine", cue="1")
    assert not app.exception
    assert any(plain(message) in each for each in said(app)), said(app)
    assert app.title[0].value == "Viterbi"


@pytest.mark.usefixtures("mine")
def test_cue_says_which_scores_are_edited():
    app = play(lecture="mine", cue="2")
    (bar,) = payloads(app, "say")
    assert bar["edits"] == "1 edit: H → H 2.00"
    (bar,) = payloads(play(lecture="mine", cue="1"), "say")
    assert bar["edits"] == ""
