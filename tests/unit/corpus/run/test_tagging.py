"""What a run of all decoders measures."""

from crfviz.corpus.run import tagging
from crfviz.text.sentences import Sentence
from tests.support.fake_tagger import FakeTagger


def test_what_the_first_call_loads_is_no_decoders_time(monkeypatch):
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
