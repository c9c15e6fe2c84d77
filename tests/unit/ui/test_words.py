"""User words in messages stay words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.ui import words
from crfviz.ui.state import link, link_reader, scenario, snapshots
from crfviz.ui.state.event_parser import RefusedError
from crfviz.ui.state.scenario import MAX_CHARACTERS, Scenario, with_sentence
from crfviz.ui.words import clean, plain, quote


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2 edits of single words went.", "2 edits of single words went."),
        ("![x](http://a.b/c.png)", r"!\[x\](http\://a.b/c.png)"),
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("**bold** _it_ `code` ~~no~~", r"\*\*bold\*\* \_it\_ \`code\` \~\~no\~\~"),
        (":red[x] :smile: a: b", r"\:red\[x\] \:smile: a: b"),
        ("$x$ &amp; www.a.b a@b.c", r"\$x\$ \&amp; www\.a.b a\@b.c"),
        ("# no heading", r"\# no heading"),
        ("- no list", r"\- no list"),
        ("1. no list", r"1\. no list"),
        ("two\nlines", "two lines"),
        ("a \\ b", r"a \\ b"),
    ],
)
def test_plain_escapes_markdown(text, shown):
    assert plain(text) == shown


@given(st.text())
def test_every_markdown_character_is_escaped(text):
    left = re.sub(r"\\[\\`*_\[\]<>$~|&{}@:.#+=)-]", "", plain(text))
    assert not re.search(r"[\\`*_\[\]<>$~|&{}@\n]", left)


@given(st.text())
def test_plain_loses_only_white_space(text):
    assert re.sub(r"\\(.)", r"\1", plain(text)) == " ".join(text.split())


@given(st.text(st.characters()))
def test_clean_removes_control_characters_and_surrogates(text):
    cleaned = clean(text)
    assert "\n" not in cleaned
    assert "\0" not in cleaned
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned


def test_long_text_is_cut_before_cleaning(monkeypatch):
    cleaned = []

    def count(text):
        cleaned.append(len(text))
        return clean(text)

    for module in (words, scenario, link_reader, snapshots):
        monkeypatch.setattr(module, "clean", count)
    long = "worded " * 1_000_000
    quote(long)
    assert len(with_sentence(Scenario("m", ""), long).sentence) == MAX_CHARACTERS
    read = link.decode({"sentence": long}, link.Models(("m",), "m", lambda _: ""))
    assert len(read.scenario.sentence) == MAX_CHARACTERS
    assert read.ignored
    with pytest.raises(RefusedError, match="at most 40 fit"):
        snapshots.Snapshots().saved(long, Scenario("m", ""))
    assert max(cleaned) == MAX_CHARACTERS


def test_quote_shortens_long_text():
    assert quote("x" * 40) == f"“{'x' * 40}”"
    assert quote("x" * 41) == f"“{'x' * 39}…”"
    assert quote("a\nb") == "“a b”"
