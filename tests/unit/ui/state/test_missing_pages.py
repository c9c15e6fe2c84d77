"""Addresses without a page lead to one that exists."""

import pytest

from crfviz.ui.state.missing_pages import no_such_page, page_instead
from crfviz.views.contents import ENTRIES, PAGES, page_of, view_in


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_existing_path_is_not_redirected(page):
    assert page_instead(page.path, "k=0.5") is None
    assert page_instead(f"{page.path}/", "") is None


@pytest.mark.parametrize(
    "entry", [each for each in ENTRIES if view_in(each.path)], ids=lambda entry: entry.path
)
def test_former_path_of_a_view_opens_the_view_with_all_parameters(entry):
    page = page_of(entry.path).path
    assert page_instead(entry.path, "") == f"./{page}?view={entry.path}"
    expected = f"../{page}?k=0.5&t=A.B%3A1&v.rows=viterbi&view={entry.path}"
    assert page_instead(f"{entry.path}/", "k=0.5&t=A.B%3A1&v.rows=viterbi") == expected


@pytest.mark.parametrize(
    ("path", "query", "address"),
    [
        ("explore", "", "./"),
        ("Explore", "sentence=He+runs", "./?sentence=He+runs"),
        ("explore/", "", "../"),
        ("why-this-tag", "at=1", "./why?at=1"),
        ("hmm-as-crf", "k=0.5", "./hmm?k=0.5"),
        ("naive-way", "view=paths", "./forward-backward?view=naive"),
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
