"""From a list of Model errors to its errors, from one to the next, and back to the list."""

from types import SimpleNamespace
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from crfviz.ui.errors import error_navigation
from crfviz.ui.session.session_store import LRUCache
from tests.support.app_pages import new_app, open_at, stage_of

PAGE = "pages/model-errors.py"
FILTER = {"v.tab": "Why", "v.kind": "both"}


@pytest.fixture(scope="module")
def errors():
    """The list of a kind, as the page shows it."""
    app = new_app()
    app.query_params.update({"model": "upos-en", **FILTER})
    open_at(app, PAGE)
    return listed(app)


def listed(app):
    return next(d.value for d in app.dataframe if "p(gold)" in d.value.columns)


def opened(address):
    """A new session at the address that a list has in a row."""
    app = new_app()
    app.query_params.update({k: v[0] for k, v in parse_qs(urlsplit(address).query).items()})
    return app.run()


def named(app, place):
    return [place[0], stage_of(app)["tags"][place[1]]]


def said(app):
    return next(text.value for text in app.main.text if " of " in text.value)


def test_list_shows_the_surrounding_words(errors):
    for around, words, text in zip(
        errors["in its sentence"], errors["words"], errors["text"], strict=True
    ):
        before, marked, after = around.partition(f"[{words}]")
        assert marked
        assert f"{before.strip('… ')} {words} {after.strip('… ')}".strip() in text


def test_error_opens_at_its_wrong_word_and_tag(errors):
    row = errors.iloc[3]
    app = opened(row["explore"])
    shown = stage_of(app)
    assert shown["reference"] == "gold"
    word, tag = named(app, shown["asked"])
    assert (word + 1, tag) == (row["position"], row["predicted"].split()[0])
    first = row["gold"].split()[0]
    word = row["words"].split()[0]
    assert f"“{word}” is {tag} by the model and {first} in gold" in shown["note"]
    assert said(app).startswith(f"4 of {len(errors)}: {row['in its sentence']}")
    app.switch_page("pages/why.py").run()
    assert named(app, stage_of(app)["asked"]) == [row["position"] - 1, first]


def test_next_and_previous_errors_open_in_place(errors):
    app = opened(errors["explore"][0])
    assert app.button(key="list.Previous").disabled
    app.switch_page("pages/why.py").run()
    for place in (1, 2, 1):
        before = int(app.query_params["v.place"][0])
        app.button(key="list.Next" if place > before else "list.Previous").click().run()
        assert app.title[0].value == "Why this tag"
        row = errors.iloc[place]
        word, tag = named(app, stage_of(app)["asked"])
        assert (word + 1, tag) == (row["position"], row["gold"].split()[0])
        assert " ".join(stage_of(app)["words"]) == row["text"]
    app = opened(errors["explore"][len(errors) - 1])
    assert app.button(key="list.Next").disabled


def test_stale_sentence_box_does_not_restore_the_previous_error(errors):
    app = opened(errors["explore"][0])
    old = app.text_input(key="sentence").value
    app.button(key="list.Next").click().run()
    app.text_input(key="sentence").set_value(old)
    app.button(key="list.Next").click().run()
    assert " ".join(stage_of(app)["words"]) == errors["text"][2]
    assert "".join(app.query_params["v.place"]) == "2"


def test_back_returns_to_the_list_with_the_error_marked(errors):
    app = opened(errors["explore"][0])
    app.button(key="list.Next").click().run()
    app.switch_page(PAGE).run()
    assert app.title[0].value == "Model errors"
    assert app.button_group(key="view.tab").value == "Why"
    assert app.selectbox(key="view.kind").value == "both"
    around = listed(app)["in its sentence"]
    assert around[1] == f"▸ {errors['in its sentence'][1]}"
    assert [place for place, text in enumerate(around) if text.startswith("▸")] == [1]


def test_another_sentence_leaves_the_list(errors):
    app = opened(errors["explore"][0])
    app.text_input(key="sentence").set_value("They run .").run()
    assert "v.list" not in app.query_params
    assert not [button for button in app.button if button.label == "Back to the list"]


def test_expired_list_can_be_created_again(errors):
    app = opened(errors["explore"][0].replace("v.list=", "v.list=0"))
    assert "does not have this list" in " ".join(caption.value for caption in app.caption)
    assert not [button for button in app.button if button.label == "Next"]
    app.switch_page(PAGE).run()
    assert not app.exception
    assert len(listed(app)) == len(errors)


def test_row_that_cannot_be_opened_has_no_link(monkeypatch):
    lists = LRUCache(1)
    monkeypatch.setattr(error_navigation, "_lists", lambda: lists)
    monkeypatch.setattr(
        error_navigation,
        "scenario",
        lambda: SimpleNamespace(view={"tab": "Where", "corpus": "own", "at": "1"}),
    )
    rows = [{"words": word} for word in "abc"]
    first, none, third = error_navigation.opened_from(
        rows, ["./?n=a", None, "./?n=c"], {"tab": "Why"}
    )
    assert none is None
    for address, word, place in ((first, "a", "0"), (third, "c", "1")):
        said = dict(parse_qsl(urlsplit(address).query))
        listed = lists.get(said.pop("v.list"))
        assert said == {"n": word, "v.tab": "Why", "v.corpus": "own", "v.place": place}
        assert listed.rows[int(place)] == {"words": word}
        assert listed.addresses[int(place)] == f"./?n={word}"
