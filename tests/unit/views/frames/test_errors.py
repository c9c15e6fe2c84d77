import re

import pytest

from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.report import full_record, tables_of
from crfviz.text.sentences import Sentence
from crfviz.views.figures.offline import html_report
from crfviz.views.frames.errors import ABOUT, error_frame, formats
from tests.support.fake_tagger import FakeTagger

TAGGER = FakeTagger(["X", "Y"], {"a": {"X": 1.0}, "<script>x()</script>": {"Y": 1.0}})
SENTENCES = [Sentence(("a", "a"), ("X", "Y")), Sentence(("<script>x()</script>",), ("X",))]


@pytest.fixture(scope="module")
def tables():
    return tables_of(run(TAGGER, SENTENCES))


def test_shares_are_in_per_cent_with_their_interval(tables):
    frame = error_frame(tables["decoders"])
    assert frame["token accuracy, %"].tolist()[0] == pytest.approx(100 / 3)
    assert re.fullmatch(r"\d+\.\d to \d+\.\d", frame["token accuracy, 95 %"][0])
    assert formats(frame)["token accuracy, %"] == "{:.2f}"


def test_counts_are_shown_as_counts(tables):
    frame = error_frame(tables["tags"])
    assert frame["right"].tolist() == [1, 0]
    assert frame["gold"].tolist() == [2, 1]
    weights = [{"from": "X", "to": "Y", "errors": 1, "share": 0.5, "share_so_far": 0.5}]
    assert list(error_frame(weights).columns) == ["from", "to", "runs", "of all, %", "so far, %"]


def test_empty_table_gives_an_empty_frame():
    assert error_frame([]).empty


def test_every_table_has_a_title(tables):
    assert tables.keys() <= ABOUT.keys()


def test_words_are_escaped_in_the_report(tables):
    text = html_report(full_record(run(TAGGER, SENTENCES), "<b>f</b>", tables), tables)
    assert "&lt;script&gt;x()&lt;/script&gt;" in text
    assert "<script>x()" not in text
    assert "<b>f</b>" not in text


def test_run_without_errors_gives_a_report():
    results = run(TAGGER, [Sentence(("a",), ("X",))])
    tables = tables_of(results)
    assert "None." in html_report(full_record(results, "f", tables), tables)
