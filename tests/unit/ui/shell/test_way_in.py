"""The pages in their groups, and the glossary that they share."""

import re

import pytest

from crfviz.ui.shell.glossary import GLOSSARY, button
from crfviz.views.contents import ENTRIES


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_a_page_answers_one_plain_question_in_words_that_are_explained(entry):
    assert entry.answers.endswith("?")
    assert len(entry.answers) <= 85  # one line of the page
    assert not set(entry.answers) & set("αβΣ∂")
    assert set(entry.terms) <= GLOSSARY.keys()
    assert len(set(entry.terms)) == len(entry.terms)


@pytest.mark.parametrize("term", GLOSSARY)
def test_an_entry_has_two_sentences_and_a_formula(term):
    entry = GLOSSARY[term]
    assert len(re.findall(r"[.](?= [A-Z0]|$)", entry.text)) == 2, entry.text
    assert entry.formula
    assert any(term in page.terms for page in ENTRIES)


def test_the_letters_are_text_in_html():
    assert "p(y_t = k) &lt; 0.01" in button("folded", 0)
