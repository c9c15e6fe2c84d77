"""The page Paths: what the link says is drawn, and a bad link does no harm."""

import pytest

from tests.support.app_pages import button, opened, stage_of

PAGE = "pages/paths.py"
SENTENCE = "Old dogs see the boat ."


def paths(app, **params):
    return opened(app, PAGE, **{"sentence": SENTENCE} | params)


def option(app, name):
    value = app.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def press(app, label):
    button(app, label).click().run()


def test_number_of_paths_is_in_the_link(app):
    paths(app, **{"v.k": "50"})
    assert app.slider(key="view.k").value == 50
    app.slider(key="view.k").set_value(3).run()
    assert option(app, "v.k") == "3"


def test_samples_are_drawn_and_cleared(app):
    paths(app, **{"v.paths": "samples", "v.seed": "7"})
    for label, drawn in (("Draw 1", "1"), ("Draw 10", "11"), ("Draw 100", "111")):
        press(app, label)
        assert option(app, "v.n") == drawn
    press(app, "Start again")
    assert option(app, "v.n") is None
    assert option(app, "v.seed") == "7"


def test_number_of_samples_is_limited(app):
    paths(app, **{"v.paths": "samples", "v.n": "1999"})
    press(app, "Draw 10")
    assert option(app, "v.n") == "2000"
    assert button(app, "Draw 1").disabled


@pytest.mark.parametrize(
    "options",
    [
        {"v.k": "0"},
        {"v.k": "fifty"},
        {"v.k": "9999999999999999999999"},
        {"v.paths": "samples", "v.n": "-1", "v.seed": "x"},
        {"v.paths": "samples", "v.n": "1e9", "v.seed": "99999999999999999999999"},
        {"v.paths": "reach", "v.nudge": "99 NOUN", "v.nudge_by": "inf"},
        {"v.paths": "reach", "v.nudge": "x", "v.nudge_by": "nan"},
        {"v.paths": "reach", "v.nudge": "1 NOWHERE", "v.nudge_by": "much"},
        {"v.paths": "everything"},
    ],
    ids=str,
)
def test_invalid_link_options_are_ignored(app, options):
    paths(app, **options)


@pytest.mark.parametrize("show", ["best", "samples", "reach"])
@pytest.mark.parametrize("sentence", ["Go", "Old dogs see the boat ."])
def test_tables_are_available_for_every_view(app, show, sentence):
    paths(app, **{"sentence": sentence, "v.paths": show, "v.twin": "1", "v.n": "3"})
    assert len(app.dataframe) >= 1


@pytest.mark.parametrize("show", ["best", "samples", "reach"])
def test_without_an_allowed_path_a_note_is_shown(app, show):
    paths(app, model="ner-en", sentence="Go", p="0.I-PER", **{"v.paths": show})
    assert stage_of(app)["note"].startswith("No tag sequence is allowed")
