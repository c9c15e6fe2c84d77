"""Views of a page: their tabs, their addresses, and the cues of lectures that name them."""

import pytest

from crfviz.ui.lectures.lecture import read_lecture
from crfviz.ui.lectures.lecture_store import to_toml
from crfviz.ui.state.link_reader import Models
from crfviz.views.contents import ENTRIES, PAGES, page_of, view_in
from tests.support.app_pages import assert_sound, go_to, new_app, open_at

VIEWS = [entry for entry in ENTRIES if view_in(entry.path)]
MODELS = Models(["textbook/ice-cream"], "textbook/ice-cream", lambda _: "2 3 3 1")


def tab(app):
    return app.button_group(key="view.view")


@pytest.mark.parametrize("entry", VIEWS, ids=lambda entry: entry.path)
def test_address_opens_a_view_and_its_tabs_lead_back(app, entry):
    page = page_of(entry.path)
    app.query_params["v.rows"] = "viterbi"
    open_at(app, entry.script)
    assert_sound(app)
    assert app.title[0].value == page.title
    assert tab(app).value == entry.path
    assert app.query_params == {"view": entry.path, "v.rows": "viterbi"}
    assert not app.toast
    tab(app).set_value(page.path).run()
    assert_sound(app)
    assert app.query_params == {"v.rows": "viterbi"}
    tab(app).set_value(entry.path).run()
    assert app.query_params == {"view": entry.path, "v.rows": "viterbi"}


def test_another_view_starts_without_the_step_of_the_last(app):
    app.query_params.update({"step": "3", "tour": "1"})
    open_at(app, "pages/forward-backward.py")
    tab(app).set_value("naive").run()
    assert app.query_params == {"view": "naive", "tour": "1"}


def test_another_page_opens_at_its_first_view(app):
    open_at(app, "pages/paths.py")
    app.switch_page("pages/viterbi.py").run()
    assert "view" not in app.query_params
    go_to(app, "pages/marginals.py")
    assert tab(app).value == "marginals"


@pytest.mark.parametrize(
    ("page", "named", "shown", "said"),
    [
        ("hmm", "hmm-as-crf", "hmm", []),
        ("forward-backward", "forward-backward", "forward-backward", []),
        (
            "forward-backward",
            "paths",
            "forward-backward",
            [
                "Forward–backward has no view “paths”: expected one of forward-backward, naive, "
                "log-space."
            ],
        ),
    ],
)
def test_other_names_of_a_view_are_understood_or_reported(page, named, shown, said):
    app = new_app()
    app.query_params["view"] = named
    open_at(app, f"pages/{page}.py")
    assert_sound(app)
    assert tab(app).value == shown
    assert [toast.value for toast in app.toast] == said
    assert app.query_params == {}


def test_every_page_with_views_has_each_once():
    names = [entry.path for entry in ENTRIES]
    assert len(names) == len(set(names))
    assert len(PAGES) + len(VIEWS) == len(ENTRIES)


@pytest.mark.parametrize(
    ("lines", "page"),
    [
        ('page = "naive"', "naive"),
        ('page = "hmm-as-crf"', "hmm"),
        ('page = "forward-backward"\nview = "log-space"', "log-space"),
        ('page = "marginals"\nview.view = "paths"\nview.paths = "samples"', "paths"),
        ('page = "hmm"\nview = "em"', "em"),
    ],
)
def test_cue_names_a_view_by_itself_or_beside_its_page(lines, page):
    pages = [entry.path for entry in ENTRIES]

    def read(text):
        return read_lecture(text, "own.toml", MODELS, lambda _: ("C", "H"), pages, None)

    lecture = read(f'title = "Own"\n[[cue]]\n{lines}\nsentence = "2 3"\nsay = "Now."')
    assert lecture.problems == ()
    assert lecture.cues[0].page == page
    assert "view" not in lecture.cues[0].scenario.view
    assert read(to_toml(lecture)).cues[0].page == page


def test_cue_with_a_view_of_another_page_is_reported():
    text = 'title = "Own"\n[[cue]]\npage = "viterbi"\nview = "naive"\nsay = "Now."'
    pages = [entry.path for entry in ENTRIES]
    lecture = read_lecture(text, "own.toml", MODELS, lambda _: ("C", "H"), pages, None)
    assert lecture.problems == ("own.toml:4: expected a view of viterbi; got “naive”",)
    assert lecture.cues[0].page == "viterbi"
