"""Twice as long a text takes twice as long to read, for every pattern and every reader.

A pattern that goes back and forth over a text stops the server for everybody, and four times as
long for twice as much.
"""

import ast
import gc
import importlib
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest

import crfviz
from crfviz.annotations.files.importing import read_items
from crfviz.exceptions import CrfvizError
from crfviz.text import tokenizer
from crfviz.text.files import decoded_with_notes, outside
from crfviz.text.formats import parse_sentences
from crfviz.text.number_tables import parse_number_table
from crfviz.text.sentences import joined, located
from crfviz.text.tokenizer import given_words, tokenize
from crfviz.ui.panels.cards import card_body, card_summary
from crfviz.ui.state.link import decode
from crfviz.ui.state.link_reader import Models
from crfviz.ui.words import plain, quote

MAX_GROWTH = 2.5  # times as long for twice as much
ENOUGH = 0.01  # seconds that can be measured
LONGEST = 60_000  # characters; what is still done in no time then is done in time
TRIES = 3

HARD = {
    "digits": ("1,", "1", "x"),
    "number": ("", "1", "e"),
    "decimals": ("0.", "1", "x"),
    "blanks": ("[", " ", "x"),
    "lines": ("[", "\n", "x"),
    "line ends": ("", "\r", "x"),
    "brackets": ("", "[", "x"),
    "braces": ("", '{"a":', "x"),
    "closing": ("[", ") ", "x"),
    "minus": ("[", "- ", "x"),
    "far minus": ("[[-", " ", "x"),
    "kinds": ("[", "dtype=", "x"),
    "far kinds": ("[1, dtype", " ", "x"),
    "comments": ("", "<!--", "x"),
    "open comment": ("<!--", "a", "x"),
    "code": ("", "`", "x"),
    "headings": ("", "# Figures\n", "x"),
    "signs": ("# ", "#", "x"),
    "dots": ("", "a.", "!"),
    "hyphens": ("", "1-", "x"),
    "hyphened": ("1", "-1a", "!"),
    "handles": ("", "@", " "),
    "addresses": ("", "http", "://"),
    "underlines": ("", "_1", "x"),
    "quotes": ("", '"', "x"),
    "commas": ("", ",", "x"),
    "columns": ("a\tX", "\tb", "\n"),
    "rows": ("", "a\tX\n", ""),
    "sentences": ("", "a\tX\n\n", ""),
    "words": ("", "dog ", "."),
    "word": ("", "a", ""),
    "brackets in a word": ("", "(", "a"),
    "percent": ("", "%D8", "x"),
    "ampersands": ("", "a&", "="),
    "objects": ('{"tokens": [', '"a",', '"b"]}'),
    "elements": ("[", '{"text": "a"},', "]"),
    "numbers in a list": ("[[", "1,", "1]]"),
}  # fmt: skip

MATCHED = {  # patterns that are only ever tried from the beginning of a text
    "crfviz.corpus.shards.cluster.ADDRESS": "fullmatch",
    "crfviz.corpus.shards.shard.NAME": "fullmatch",
    "crfviz.text.fields.JSON_START": "match",
    "crfviz.text.fields.JSON_LIST": "match",
    "crfviz.text.readers.finding._MARKUP": "match",
    "crfviz.text.readers.corpora._UNIT": "fullmatch",
    "crfviz.text.readers.inline.ENTITY": "fullmatch",
    "crfviz.text.readers.kinds.ENTITY": "fullmatch",
    "crfviz.text.readers.roles._WITH_SCORE": "fullmatch",
    "crfviz.text.readers.kinds._RANGE": "fullmatch",
    "crfviz.text.readers.finding._PUBTATOR": "match",
    "crfviz.text.readers.rows._RELATION": "fullmatch",
    "crfviz.text.readers.kinds._ATTRIBUTE": "fullmatch",
    "crfviz.text.readers.ends._NUMBERED": "fullmatch",
    "crfviz.text.readers.rows._OPENED": "match",
    "crfviz.text.readers.rows._BRACKETED": "fullmatch",
    "crfviz.text.cells._NUMBER": "fullmatch",
    "crfviz.text.cells._DECIMAL_COMMA": "match",
    "crfviz.taggers.brought.scores_file._NUMBERED": "fullmatch",
    "crfviz.text.tokenizer.HYPHENED": "match",
    "crfviz.views.site.folder._FILE": "fullmatch",
    "crfviz.chain.pattern_syntax._PLAIN": "fullmatch",
}


PACKAGES = sorted(path.parent.name for path in Path(crfviz.__path__[0]).glob("*/__init__.py"))


def patterns(package):
    """Every compiled pattern of the modules in a part of crfviz, by the name of its constant."""
    found = {}
    root = Path(crfviz.__path__[0])
    for file in sorted(root.rglob("*.py")):
        names = file.relative_to(root.parent).with_suffix("").parts
        apart = file.stem in ("__init__", "__main__") or "kernels" in names  # which need Numba
        if (names[1] if names[1] in PACKAGES else "") != package or "migrations" in names or apart:
            continue
        module = importlib.import_module(".".join(names))
        for constant, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                found.setdefault(value, f"{module.__name__}.{constant}")
    return {name: pattern for pattern, name in found.items()}


def seconds(work, text):
    """Of this thread, without the collection of garbage, which looks at all there is."""
    gc.disable()
    try:
        started = time.thread_time()
        work(text)
        return time.thread_time() - started
    finally:
        gc.enable()


def growth(work, make):
    """How much longer twice as much takes, where it takes long enough to be measured."""
    size = 2000
    while seconds(work, make(size)) < ENOUGH:
        size *= 2
        if size > LONGEST:
            return 0.0
    text, twice = make(size), make(2 * size)
    return min(seconds(work, twice) for _ in range(TRIES)) / min(
        seconds(work, text) for _ in range(TRIES)
    )


def check(work):
    for name, (start, unit, end) in HARD.items():
        for _ in range(TRIES):  # the machine may have something else to do
            grown = growth(work, lambda size, s=start, u=unit, e=end: s + u * (size // len(u)) + e)
            if grown <= MAX_GROWTH:
                break
        else:
            pytest.fail(f"twice as many {name} take {grown:.1f} times as long")


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_patterns_match_in_linear_time(package, subtests):
    for name, pattern in patterns(package).items():
        how = MATCHED.get(name)
        with subtests.test(name):
            check(getattr(pattern, how) if how else lambda text, p=pattern: p.sub("", text))


def test_every_pattern_is_a_compiled_module_constant():
    for path in Path(crfviz.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used = node.value.id == "re" and node.attr in (*dir(re.compile("")), "subn")
                assert not used, f"{path}, line {node.lineno}: re.{node.attr}"


def understood(read):
    def work(text):
        with suppress(CrfvizError):
            read(text)

    return work


MODELS = Models(("fake",), "fake", lambda _: "The dog barks")
READERS = {
    "number tables": parse_number_table,
    "tagged corpora": lambda text: parse_sentences(text, told=lambda _: None),
    "imports": lambda text: read_items(text.encode(), "file"),
    "imports of text": lambda text: read_items(text.encode(), "file", "text"),
    "imports of JSON": lambda text: read_items(text.encode(), "file", "spacy"),
    "line ends": lambda text: decoded_with_notes(text.encode(), "file"),
    "words": tokenize,
    "given words": given_words,
    "links": lambda text: decode(
        dict.fromkeys(("t", "e", "p", "m", "k", "sentence"), text), MODELS
    ),
    "cards": lambda text: (card_body(text), card_summary(text), outside(text, "a", "b")),
    "messages": lambda text: (plain(text), quote(text)),
    "places of words": lambda text: located(text.split(), text),
    "joined words": lambda text: joined(text.split()),
}


@pytest.mark.parametrize("name", READERS)
def test_readers_run_in_linear_time(name, monkeypatch):
    # Short plain texts go without spaCy, ten times as fast: twice as long is no fair comparison.
    monkeypatch.setattr(tokenizer, "MAX_PLAIN", 0)
    check(understood(READERS[name]))
