"""A lecture of one's own on the page Lectures: collected, ordered, mended, undone, carried."""

from dataclasses import replace

import pytest

from crfviz.ui.lectures.draft import EMPTY, Draft, moved, with_screen, without
from crfviz.ui.lectures.lecture import MAX_CUES
from crfviz.ui.lectures.lecture_store import read, to_link_name, to_toml
from crfviz.ui.state.event_parser import RefusedError
from crfviz.ui.state.scenario import MAX_HISTORY, Scenario
from crfviz.views.quiz.own import OwnQuestion
from tests.support.app_pages import new_app, open_at

SENTENCE = "3 1 3"
ICE_CREAM = "textbook/ice-cream"


def cue_of(app):
    return app.session_state["crfviz"]["lecture.draft"].cue


def lecture_of(app):
    return app.session_state["crfviz"]["lecture.draft"].lecture


def add(app, page):
    app = open_at(app, f"pages/{page}.py")
    return app.button(key="add_screen").click().run()


@pytest.fixture
def app():
    app = new_app()
    app.query_params.update(
        {"model": ICE_CREAM, "sentence": SENTENCE, "t": "H.H:2", "v.rows": "viterbi"}
    )
    app.run()
    for page in ("viterbi", "transitions", "marginals"):
        add(app, page)
    return open_at(app, "pages/lectures.py")


def test_lecture_saved_in_the_browser_is_restored_in_a_new_session(app):
    kept = app.session_state["crfviz"]
    text, lecture = kept["lecture.text"], lecture_of(app)
    assert text == to_link_name(lecture)
    other = new_app()
    other.query_params["model"] = ICE_CREAM
    other.run()
    assert other.session_state["crfviz"].get("lecture.text") is None
    for broken in ("~nothing", "title = "):
        other.session_state["crfviz"]["lecture.told"] = broken
        open_at(other, "pages/lectures.py")
        assert not other.exception
        assert other.session_state["crfviz"]["lecture.text"] == ""
    other.session_state["crfviz"]["lecture.told"] = text
    open_at(other, "pages/lectures.py")
    assert lecture_of(other) == lecture
    app.session_state["crfviz"]["lecture.told"] = to_link_name(replace(lecture, title="Another"))
    app.run()
    assert lecture_of(app) == lecture


def test_lecture_is_collected_from_screens_and_changes_can_be_undone(app):
    assert [cue.page for cue in lecture_of(app).cues] == ["viterbi", "transitions", "marginals"]
    assert cue_of(app).scenario.edits.transitions == {("H", "H"): 2.0}
    states = [lecture_of(app)]

    def did(step):
        step.run()
        assert not app.exception
        assert lecture_of(app) != states[-1]
        states.append(lecture_of(app))

    did(app.button(key="own.up").click())
    assert [cue.page for cue in lecture_of(app).cues] == ["viterbi", "marginals", "transitions"]
    did(app.text_area(key="own.say").input("Hot: {marginal(1, 'H')}"))
    did(app.text_input(key="own.ask").input("viterbi(2)"))
    did(app.pills(key="own.cover").set_value(["gold", "lattice"]))
    did(app.toggle(key="own.below").set_value(True))
    assert cue_of(app).scenario.view["below"] == "1"
    did(app.text_input(key="own.title").input("Ice cream"))
    did(app.number_input(key="own.minutes").set_value(4))
    did(app.button(key="own.drop").click())
    did(app.button(key="change.greedy").click())
    for before in reversed(states[:-1]):
        app.button(key="own.undo").click().run()
        assert lecture_of(app) == before
    for after in states[1:]:
        app.button(key="own.redo").click().run()
        assert lecture_of(app) == after


def test_invalid_cue_text_is_rejected_and_stays_in_its_field(app):
    before = lecture_of(app)
    app.text_area(key="own.say").input("{viterbi(}").run()
    assert lecture_of(app) == before
    assert ["Expected an expression" in error.value for error in app.error] == [True]
    assert app.text_area(key="own.say").value == "{viterbi(}"
    app.text_area(key="own.say").input("{viterbi(2)}").run()
    assert cue_of(app).say == "{viterbi(2)}"


def test_link_plays_its_embedded_lecture(app):
    name = to_link_name(lecture_of(app))
    player = new_app()
    player.query_params.update({"lecture": name, "cue": "2"})
    player.run()
    assert not player.exception
    assert player.title[0].value == "Transitions"
    assert player.query_params == {"lecture": name, "cue": "2"}


def test_link_without_a_valid_lecture_is_reported():
    player = new_app()
    player.query_params.update({"lecture": "~" + "x" * 5000})
    player.run()
    assert not player.exception
    assert player.title[0].value == "Explore"
    (told,) = [toast.value for toast in player.toast]
    assert "This link has no lecture" in told
    assert len(told) < 200


def test_saved_lecture_is_loaded_unchanged():
    made = with_screen(
        EMPTY, "viterbi", Scenario(ICE_CREAM, SENTENCE, view={"by": "me", "at": "1 H"})
    )
    once = read(to_toml(made), "lecture.toml")
    assert once.cues[0].scenario.view == {"at": "1 H"}
    assert read(to_toml(once), "lecture.toml") == once


def test_cues_move_within_the_list_and_their_number_is_limited():
    lecture = EMPTY
    for page in ("a", "b", "c"):
        lecture = with_screen(lecture, page, Scenario(ICE_CREAM, SENTENCE))
    pages = "".join(cue.page for cue in lecture.cues)
    assert pages == "abc"
    assert "".join(cue.page for cue in moved(lecture, 0, 2).cues) == "bca"
    assert "".join(cue.page for cue in moved(lecture, 0, -1).cues) == "abc"
    assert "".join(cue.page for cue in without(lecture, 1).cues) == "ac"
    full = replace(lecture, cues=lecture.cues[:1] * MAX_CUES)
    with pytest.raises(RefusedError, match="at most"):
        with_screen(full, "a", Scenario(ICE_CREAM, SENTENCE))
    draft = Draft()
    for count in range(MAX_HISTORY + 5):
        draft = draft.after(with_screen(draft.lecture, str(count), Scenario(ICE_CREAM, SENTENCE)))
    assert len(draft.history.past) == MAX_HISTORY


def test_own_question_is_made_field_by_field_and_nothing_typed_is_lost(app):
    app.button_group(key="own.by").set_value("own").run()
    app.text_input(key="own.text").input("Which day was hot?").run()
    app.text_area(key="own.choices").input("the first").run()
    assert [error.value for error in app.error] == ["Expected two to six answers, got 1"]
    assert cue_of(app).ask == ""
    app.button(key="own.cue.0").click().run()
    app.button(key="own.cue.2").click().run()
    app.button(key="own.up").click().run()  # the cue keeps what was typed on its new place
    assert app.text_input(key="own.text").value == "Which day was hot?"
    assert app.text_area(key="own.choices").value == "the first"
    app.text_area(key="own.choices").input("the first\nall of them").run()
    app.selectbox(key="own.right_choice").set_value("all of them").run()
    assert not app.error
    assert not app.exception
    made = OwnQuestion("Which day was hot?", ("the first", "all of them"), "", "all of them")
    assert cue_of(app).ask == made
    text = to_toml(lecture_of(app))
    line = 'ask = {text = "Which day was hot?", answers = ["the first", "all of them"], right = 2}'
    assert line in text
    assert read(text, "lecture.toml").cues[1].ask == made

    app.button_group(key="own.answers").set_value("number").run()
    app.text_input(key="own.right").input("many").run()
    assert [error.value for error in app.error] == ["Expected a number as right, got “many”"]
    app.text_input(key="own.right").input("3").run()
    assert cue_of(app).ask == OwnQuestion("Which day was hot?", (), "number", "3")


def test_unknown_tag_in_a_question_is_reported_beside_its_field(app):
    app.text_input(key="own.ask").input("alpha(1, 'X')").run()
    assert [error.value for error in app.error] == ["There is no tag “X”"]
    assert app.text_input(key="own.ask").value == "alpha(1, 'X')"


def test_problems_of_an_opened_file_stay_on_the_page(app):
    text = to_toml(lecture_of(app)).replace("[[cue]]", "[[cue]]\nask = 'How many?'", 1)
    uploader = app.file_uploader(key="own.upload")
    uploader.upload("mine.toml", text.encode(), "application/toml").run()
    for _ in range(2):
        (warning,) = [each.value for each in app.warning]
        warning = warning.replace("\\", "")
        assert "Left out: lecture.toml:5: expected a question" in warning
        assert "ask = {text" in warning
        app.run()
