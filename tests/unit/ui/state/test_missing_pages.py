"""Addresses without a page lead to one that exists."""

import pytest

from crfviz.ui.state.missing_pages import no_such_page, page_instead
from crfviz.views.contents import ENTRIES


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_existing_path_is_not_redirected(entry):
    assert page_instead(entry.path, "k=0.5") is None
    assert page_instead(f"{entry.path}/", "") is None


@pytest.mark.parametrize(
    ("path", "query", "address"),
    [
        ("explore", "", "./"),
        ("Explore", "sentence=He+runs", "./?sentence=He+runs"),
        ("explore/", "", "../"),
        ("why-this-tag", "at=1", "./why?at=1"),
        ("nowhere", "", "./?missing=nowhere"),
        ("a/b", "k=0.5", "../?k=0.5&missing=a%2Fb"),
        ("<b>", "missing=x", "./?missing=%3Cb%3E"),
    ],
)
def test_unknown_path_redirects_and_keeps_the_query(path, query, address):
    assert page_instead(path, query) == address


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("entitys", "There is no page “entitys”. Did you mean Entities?"),
        ("zzz", "There is no page “zzz”. All pages are listed on the left."),
    ],
)
def test_message_names_similar_pages(path, message):
    assert no_such_page(path) == message
