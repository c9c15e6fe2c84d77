"""Below the picture: why a word has its tag, and ways on where all decoders agree."""

import re
from urllib.parse import parse_qsl

import pytest

from crfviz.chain.questions.conditioning import why_not
from crfviz.taggers.registry import load_tagger
from crfviz.views.formatting import score
from tests.support import oracle
from tests.support.app_pages import assert_sound, new_app, opened

CHAIN = ["explore", "emissions", "transitions", "forward-backward", "viterbi", "marginals"]
ICE, DAYS = "textbook/ice-cream", "2 3 3 1"


def html_of(app, mark):
    return [each.proto.body for each in app.get("html") if mark in each.proto.body]


@pytest.mark.parametrize("page", CHAIN)
def test_clicked_word_is_explained_with_its_rival(app, page):
    app = opened(app, f"pages/{page}.py", model=ICE, sentence=DAYS, **{"v.word": "1"})
    (panel,) = html_of(app, "data-why")
    chain = load_tagger(ICE).potentials(DAYS.split())
    paths = oracle.allowed(chain)
    best = paths[0][0]
    other = next(path for path, _ in paths if path[1] != best[1])
    tags = load_tagger(ICE).tags
    assert 'data-why="1"' in panel
    assert f"is {tags[best[1]]}</b>" in panel
    assert f"<b>{tags[other[1]]}</b>" in panel
    answer = why_not(chain, 1, other[1])
    assert f"together +{score(answer.gap)} nats" in panel
    href = re.search(r'href="([^"]*)"', panel)[1].replace("&amp;", "&")
    assert href.startswith("why?")
    assert dict(parse_qsl(href.partition("?")[2]))["v.word"] == "1"


@pytest.mark.parametrize("value", ["", "9", "x", "-1"])
def test_no_word_opens_no_panel(app, value):
    params = {"v.word": value} if value else {}
    app = opened(app, "pages/viterbi.py", model=ICE, sentence=DAYS, **params)
    assert not html_of(app, "data-why")


def test_page_why_opens_at_the_word_explained_elsewhere(app):
    app = opened(app, "pages/why.py", model=ICE, sentence=DAYS, **{"v.word": "2"})
    assert [each.label for each in app.button if " at word 3" in each.label]


def test_links_part_decoders_that_agree(app):
    app = opened(app, "pages/explore.py", model="upos-en", sentence="He runs .")
    (text,) = html_of(app, "data-closest")
    queries = [
        dict(parse_qsl(query.replace("&amp;", "&")))
        for query in re.findall(r'href="\?([^"]*)"', text)
    ]
    assert [set(query) - {"sentence", "model"} for query in queries][1] == set()
    assert queries[0]["sentence"] == "He runs ."
    assert len(re.split(",", queries[0].get("t", "") or queries[0].get("e", ""))) == 1


@pytest.mark.parametrize("which", [0, 1], ids=["closest", "example"])
def test_linked_state_has_decoders_that_differ(app, which):
    first = opened(app, "pages/explore.py", model="upos-en", sentence="He runs .")
    (text,) = html_of(first, "data-closest")
    query = re.findall(r'href="\?([^"]*)"', text)[which].replace("&amp;", "&")
    app = opened(new_app(), "pages/explore.py", **dict(parse_qsl(query)))
    assert_sound(app)
    assert not html_of(app, "data-closest")
    assert not html_of(app, "data-example")
