"""The tally of a corpus is the same whatever parts it was counted in."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfviz.corpus.counts.exact import UNIT, added, fixed
from crfviz.corpus.counts.run_counts import CountedRun, as_json, count_run, from_json, merge
from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.evaluation import compare_runs, merge_comparisons
from crfviz.corpus.tables.report import full_record, tables_of
from tests.support.tagged import NER, NER_SENTENCES, POS, POS_SENTENCES

CORPORA = {"pos": (POS, POS_SENTENCES * 2), "ner": (NER, NER_SENTENCES * 2)}
RULE = ". .+"  # a sentence of one word does not match it
MAX_ENTRIES = 3  # of every list, so that they are cut


def timeless(tally):
    return replace(tally, batches=[], seconds={})


def parts_of(sentences, cuts):
    ends = sorted({min(cut, len(sentences)) for cut in cuts} | {len(sentences)})
    starts = [0, *ends[:-1]]
    return [sentences[a:b] for a, b in zip(starts, ends, strict=True) if a < b]


@pytest.fixture(scope="module", autouse=True)
def one_at_a_time():
    """Scores of a sentence may differ in the last bit by those that are scored with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crfviz.corpus.run.tagging.SENTENCES_AT_ONCE", 1)
        yield


@pytest.fixture(scope="module")
def whole(one_at_a_time):  # noqa: ARG001 - a fixture
    return {
        (name, most): count_run(run(tagger, sentences, rule=RULE, most_kept=most))
        for name, (tagger, sentences) in CORPORA.items()
        for most in (MAX_ENTRIES, 1000)
    }


@settings(max_examples=min(20, settings.default.max_examples), deadline=None)
@given(
    cuts=st.lists(st.integers(1, 10), max_size=4),
    name=st.sampled_from(sorted(CORPORA)),
    most=st.sampled_from([MAX_ENTRIES, 1000]),
)
def test_merged_tally_of_any_parts_equals_the_whole(whole, cuts, name, most):
    tagger, sentences = CORPORA[name]
    tallies = [
        from_json(as_json(count_run(run(tagger, part, rule=RULE, most_kept=most))))
        for part in parts_of(sentences, cuts)
    ]
    assert timeless(merge(tallies)) == timeless(whole[name, most])


@pytest.mark.parametrize("name", CORPORA)
def test_tables_of_merged_tallies_equal_those_of_one_run(whole, name):
    tagger, sentences = CORPORA[name]
    both = merge(count_run(run(tagger, part, rule=RULE)) for part in parts_of(sentences, [3, 7]))
    found = CountedRun(tagger, replace(both, most=1000))
    tables = tables_of(found)
    one = tables_of(CountedRun(tagger, whole[name, 1000]))
    for table in (tables["decoders"], one["decoders"]):
        for row in table:
            row.pop("microseconds")
    assert tables == one
    record = full_record(found, "file", tables)
    assert record["sentences"] == len(sentences)
    assert record["errors"]["total"] == len(tables["errors"])


def test_merged_comparison_of_parts_equals_the_whole():
    lazy = type(POS)(POS.tags, {"run": {"VERB": 1.0}})
    sentences = POS_SENTENCES * 2

    def comparison(part):
        return compare_runs(run(POS, part), run(lazy, part), part, most=3)

    whole = comparison(sentences)
    for cut in range(1, len(sentences)):
        halves = comparison(sentences[:cut]), comparison(sentences[cut:])
        assert merge_comparisons(*halves, sentences=cut, most=3) == whole


@given(st.lists(st.floats(-1000, 1000), min_size=2, max_size=30), st.integers(1, 29))
def test_fixed_point_sums_do_not_depend_on_the_parts(values, cut):
    numbers = np.array(values)
    assert fixed(numbers[:cut]) + fixed(numbers[cut:]) == fixed(numbers[::-1])
    assert fixed(numbers) / UNIT == pytest.approx(sum(values), abs=1e-9)


def test_added_joins_counts_with_different_keys():
    assert added({"a": [1], "b": {"x": 2}}, {"b": {"x": 1, "y": 1}}) == {
        "a": [1],
        "b": {"x": 3, "y": 1},
    }
