"""What a run of all decoders measures."""

import re

import pytest

from crfviz.corpus.run import tagging
from crfviz.corpus.tables.report import as_record, as_text, tables_of
from crfviz.exceptions import FormatError
from crfviz.text.sentences import Sentence
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger
from tests.support.tagged import POS, POS_SENTENCES


def test_warm_up_of_the_first_call_is_not_timed(monkeypatch):
    decode, clock, called = tagging.DECODE["viterbi"], [0.0], []

    def slow_at_first(batch):
        clock[0] += 1.0 if called else 100.0
        called.append(batch)
        return decode(batch)

    monkeypatch.setattr(tagging, "DECODE", {**tagging.DECODE, "viterbi": slow_at_first})
    monkeypatch.setattr(tagging.time, "perf_counter", lambda: clock[0])
    tagger = FakeTagger(["X", "Y"], {"a": {"X": 1.0}})
    results = tagging.run(tagger, [Sentence(("a", "a"), ("X", "Y"))])
    assert results.seconds["viterbi"] == [1.0]


def ruled_tags(pattern, sentence):
    """Tag names of the best path whose initials `re` matches, of the best of all if none does."""
    ranked = [[POS.tags[k] for k in path] for path, _ in oracle.allowed(POS.potentials(sentence))]
    matching = (tags for tags in ranked if re.fullmatch(pattern, "".join(t[0] for t in tags)))
    return next(matching, ranked[0])


@pytest.mark.parametrize(
    ("rule", "letters"),
    [
        ("[^ VERB]* NOUN? VERB .*", "[^V]*N?V.*"),
        ("NOUN .*", "N.*"),
        (". .", ".."),
        (".*", ".*"),
    ],
)
def test_rule_is_scored_as_decoded_by_enumeration(rule, letters):
    results = tagging.run(POS, POS_SENTENCES, rule=rule)
    sentences = [(list(s.tags), s.tokens) for s in POS_SENTENCES]
    ruled = [ruled_tags(letters, words) for _, words in sentences]
    best = [ruled_tags(".*", words) for _, words in sentences]
    assert results.names(results.tags["rule"]) == ruled
    assert results.names(results.tags["viterbi"]) == best
    right = [(r == gold, b == gold) for r, b, (gold, _) in zip(ruled, best, sentences, strict=True)]
    wanted = {
        "pattern": rule,
        "changed": sum(r != b for r, b in zip(ruled, best, strict=True)),
        "repaired": right.count((True, False)),
        "spoilt": right.count((False, True)),
        "unmatched": sum(not re.fullmatch(letters, "".join(t[0] for t in tags)) for tags in ruled),
        "sentence_accuracy": pytest.approx(sum(r for r, _ in right) / len(right), abs=1e-6),
    }
    record = as_record(results, "x")
    assert record["rule"] | wanted == record["rule"]
    row = tables_of(results)["decoders"][-1]
    assert (row["decoder"], row["search_errors"]) == ("Viterbi with the rule", wanted["changed"])
    assert (row["repaired"], row["spoilt"]) == (wanted["repaired"], wanted["spoilt"])
    assert f"changes {wanted['changed']} of {len(ruled)} sentences" in as_text(record)


def test_invalid_rule_is_rejected_before_the_run():
    with pytest.raises(FormatError, match="column 6"):
        tagging.run(POS, iter(()), rule="NOUN (VERB")  # there is no sentence, either
