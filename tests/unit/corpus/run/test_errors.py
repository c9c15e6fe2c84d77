"""What is kept of the errors of a large file, and what is only counted."""

import random

import pytest

from crfviz.corpus.run.errors import judge_entities
from crfviz.corpus.run.results import Smallest
from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.report import full_record, notes, tables_of
from crfviz.text.sentences import Sentence
from crfviz.views.figures.offline import html_report
from tests.support import oracle
from tests.support.tagged import NER, NER_SENTENCES, POS, POS_SENTENCES

BOUNDED = 2


def test_smallest_items_are_kept_in_order():
    numbers = random.Random(0).choices(range(50), k=1000)
    kept = Smallest(7, key=lambda pair: (pair[0],))
    for place, number in enumerate(numbers):
        kept.add((number, place))
    assert kept.items() == sorted(((n, i) for i, n in enumerate(numbers)))[:7]


@pytest.fixture
def few():
    """A run that keeps two errors of many."""
    return run(POS, POS_SENTENCES * 20, most_kept=BOUNDED)


def test_all_errors_are_counted_and_few_are_listed(few):
    every = run(POS, POS_SENTENCES * 20)
    few_tables, tables = tables_of(few), tables_of(every)
    for name in tables:
        if name not in ("errors", "suspects", "decoders"):  # decoders have times
            assert few_tables[name] == tables[name]
    assert few_tables["errors"] == tables["errors"][:BOUNDED]
    assert few_tables["suspects"] == tables["suspects"][:BOUNDED]
    assert len(few.log.sentences) <= 8 * BOUNDED < len(every.log.sentences)


def test_number_of_unlisted_errors_is_noted(few):
    tables = tables_of(few)
    record = full_record(few, "many.conll", tables)
    assert record["errors"]["listed"] == BOUNDED < record["errors"]["total"]
    (note,) = notes(record)
    assert f"All {record['errors']['total']} errors are counted. Listed are the first 2" in note
    assert note in html_report(record, tables)


def test_run_reads_batches_and_releases_correct_sentences(monkeypatch):
    monkeypatch.setattr("crfviz.corpus.run.tagging.SENTENCES_AT_ONCE", 256)
    alive = []

    class Fresh:
        def __iter__(self):
            for number in range(300):
                alive.append(number)
                yield Sentence(("Dogs",), ("NOUN",))

    done = []
    found = run(POS, Fresh(), lambda *progress: done.append((*progress, len(alive) - 300)))
    assert done == [(256, 300, 256), (300, 300, 300)]
    assert found.num_sentences == 300
    assert found.log.sentences == {}


def test_entity_suspects_have_the_probability_of_enumeration():
    ranked = run(NER, NER_SENTENCES).log.entity_suspects
    assert {suspect.in_gold for suspect in ranked} == {True, False}
    doubts = [suspect.doubt for suspect in ranked]
    assert doubts == sorted(doubts, reverse=True)
    for suspect in ranked:
        chain = NER.potentials(NER_SENTENCES[suspect.sentence].tokens)
        tags = [f"B-{suspect.span.type}", f"I-{suspect.span.type}"]
        first, rest = (NER.tags.index(tag) for tag in tags)
        span = suspect.span
        wanted = (first, *[rest] * (span.end - span.start - 1))
        mass = sum(
            oracle.probability(chain, path)
            for path, _ in oracle.allowed(chain)
            if path[span.start : span.end] == wanted and path[span.end : span.end + 1] != (rest,)
        )
        assert suspect.probability == pytest.approx(mass, abs=1e-9)
        assert suspect.doubt == pytest.approx(1 - mass if suspect.in_gold else mass, abs=1e-9)


def test_correct_entities_are_not_suspects():
    chain = NER.potentials(["Ann", "runs"])
    path = [NER.tags.index(tag) for tag in ("B-PER", "O")]
    judged = judge_entities(chain, path, path)
    assert judged.suspects == []
    assert [right for _, right in judged.predicted] == [True]
