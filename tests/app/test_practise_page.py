"""The page Practise without a browser: its chain on other pages, and exercises in lectures."""

import crfviz
from crfviz.ui.lectures.lecture_store import lecture
from tests.support.app_pages import new_app, open_at, payloads

LECTURE = """
title = "An exercise"
minutes = 5

[[cue]]
page = "practise"
view.do = "viterbi.7"
say = "Now you."

[[cue]]
page = "viterbi"
model = "exercise/viterbi.7"
say = "The best path is {viterbi()}."
"""


def play(tmp_path, monkeypatch, **params):
    monkeypatch.setenv("CRFVIZ_LECTURES", str(tmp_path))
    (tmp_path / "mine.toml").write_text(LECTURE, "utf-8")
    app = new_app()
    app.query_params.update({"lecture": "mine", **params})
    return app.run()


def test_cue_of_a_lecture_is_an_exercise(tmp_path, monkeypatch):
    app = play(tmp_path, monkeypatch, cue="1")
    assert not app.exception
    assert lecture("mine").problems == ()
    (shown,) = payloads(app, "tries")
    assert (shown["id"], shown["step"]) == ("viterbi.7", 0)
    (bar,) = payloads(app, "say")
    assert bar["say"] == "Now you."


def test_cue_plays_the_chain_of_an_exercise(tmp_path, monkeypatch):
    app = play(tmp_path, monkeypatch, cue="2")
    assert not app.exception
    assert not app.error
    (stage,) = payloads(app)
    assert stage["words"] == list(crfviz.exercise("viterbi", 7).potentials.tokens)


def test_link_shows_the_chain_of_an_exercise_on_other_pages():
    app = new_app()
    app.query_params.update({"model": "exercise/beta.3"})
    open_at(app, "pages/forward-backward.py")
    assert not app.exception
    assert not app.error
    assert app.selectbox(key="model").value == "exercise/beta.3"
    assert app.text_input(key="sentence").value == "we can fish"
