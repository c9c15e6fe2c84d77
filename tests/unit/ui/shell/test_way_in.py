"""The pages in their groups, and the glossary that they share."""

import re

import pytest

from crfviz.ui.shell.glossary import GLOSSARY, linked, terms_panel
from crfviz.views.contents import ENTRIES


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_each_page_has_a_short_description_with_glossary_terms(entry):
    assert entry.answers[-1].isalpha()
    assert len(entry.answers) <= 85  # one line of the page
    assert not set(entry.answers) & set("αβΣ∂")
    assert set(entry.terms) <= GLOSSARY.keys()
    assert len(set(entry.terms)) == len(entry.terms)


@pytest.mark.parametrize("term", GLOSSARY)
def test_glossary_entry_has_two_sentences_and_a_formula(term):
    entry = GLOSSARY[term]
    assert len(re.findall(r"[.](?= [A-Z0]|$)", entry.text)) == 2, entry.text
    assert entry.formula
    assert any(term in page.terms for page in ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_terms_panel_lists_each_term_once_with_the_page_terms_first(entry):
    listed = re.findall(r'data-term="([^"]+)"', terms_panel(entry.terms))
    assert listed[: len(entry.terms)] == list(entry.terms)
    assert sorted(listed) == sorted(GLOSSARY)


def test_greek_letters_are_html_text():
    assert all("<" not in text for text in re.split(r"<[^<>]+>", terms_panel(())))


def test_terms_in_a_sentence_become_buttons():
    shown = linked("Is Viterbi <best> for p and paths?", ["p", "path", "Viterbi", "Z"])
    text = re.sub(r"<div.*", "", shown)
    assert re.sub(r"<[^<>]+>", "", text) == "Is Viterbi &lt;best&gt; for p and paths?"
    assert re.findall(r'popovertarget="([^"]+)">(\w+)', text) == [
        ("crfviz-term-0", "Viterbi"),
        ("crfviz-term-1", "p"),
        ("crfviz-term-2", "paths"),
    ]
    assert re.findall(r'<div id="([^"]+)" popover.*?data-term="(\w+)"', shown) == [
        ("crfviz-term-0", "Viterbi"),
        ("crfviz-term-1", "p"),
        ("crfviz-term-2", "path"),
    ]
