"""Tables of an error analysis against enumeration, seqeval, scikit-learn and SciPy."""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from seqeval.metrics import f1_score
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from crfviz.corpus.counts.exact import doubts_of
from crfviz.corpus.counts.run_counts import count_run, dimensions_of
from crfviz.corpus.metrics import mcnemar
from crfviz.corpus.run.results import EVERY_DECODER
from crfviz.corpus.run.tagging import run
from crfviz.corpus.table import as_csv
from crfviz.corpus.tables.accuracy import coverage_table
from crfviz.corpus.tables.errors import conll, slice_table
from crfviz.corpus.tables.report import full_record, tables_of
from crfviz.text.sentences import Sentence
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger
from tests.support.tagged import NER, NER_SENTENCES, POS, POS_SENTENCES, viterbi_tags


@pytest.fixture(scope="module")
def pos():
    return run(POS, POS_SENTENCES)


@pytest.fixture(scope="module")
def ner():
    return run(NER, NER_SENTENCES)


def flat(sentences):
    return [tag for sentence in sentences for tag in sentence.tags]


@pytest.mark.parametrize("case", [(POS, POS_SENTENCES), (NER, NER_SENTENCES)], ids=["pos", "ner"])
def test_run_probabilities_equal_enumeration(case):
    tagger, sentences = case
    found = run(tagger, sentences)
    start = 0
    for number, sentence in enumerate(sentences):
        chain = tagger.potentials(sentence.tokens)
        gold = tuple(tagger.tags.index(tag) for tag in sentence.tags)
        scores, total = oracle.paths(chain), oracle.log_partition(chain)
        marginals = oracle.marginals(chain)
        best = oracle.best_score(chain)
        assert found.path_probability[number] == pytest.approx(math.exp(best - total), abs=1e-9)
        assert found.gold_log_probability[number] == pytest.approx(scores[gold] - total, abs=1e-9)
        ranked = [path for path, _ in oracle.allowed(chain)][:8]
        rank = ranked.index(gold) if gold in ranked else -1
        assert found.gold_rank[number] == rank
        for t, tag in enumerate(gold):
            largest = max(marginals.get((t, k), 0.0) for k in range(len(tagger.tags)))
            assert found.token_probability[start + t] == pytest.approx(largest, abs=1e-9)
            assert found.gold_probability[start + t] == pytest.approx(
                marginals.get((t, tag), 0.0), abs=1e-9
            )
        start += len(gold)


def test_error_probabilities_equal_enumeration(pos):
    assert len(pos.log.first) >= 3
    for error in pos.log.first:
        chain = POS.potentials(POS_SENTENCES[error.sentence].tokens)
        for tags, p in (
            (error.gold, error.gold_probability),
            (error.predicted, error.predicted_probability),
        ):
            wanted = tuple(POS.tags.index(tag) for tag in tags)
            mass = sum(
                oracle.probability(chain, path)
                for path, _ in oracle.allowed(chain)
                if path[error.first : error.last + 1] == wanted
            )
            assert p == pytest.approx(mass, abs=1e-9)


def test_move_of_an_error_is_its_largest_step():
    found = run(POS, [Sentence(("Dogs", "run"), ("NOUN", "VERB"))]).log.first[0]
    assert (found.chosen_move, found.gold_move) == (("NOUN", "NOUN"), ("NOUN", "VERB"))
    assert found.step_gap == pytest.approx(0.9, abs=1e-12)
    assert found.triage.kind == "both"  # 0.8 from the words, 0.9 from the step
    assert found.triage.gap == pytest.approx(1.7, abs=1e-12)


def test_forbidden_gold_is_a_constraint_fault(ner):
    kinds = {error.sentence: error.triage.kind for error in ner.log.first}
    assert kinds[4] == "constraint"
    assert list(kinds.values()).count("constraint") == 1
    assert ner.gold_log_probability[4] == -math.inf


def test_tag_scores_equal_scikit_learn(pos):
    gold = flat(POS_SENTENCES)
    guess = [t for tags in viterbi_tags(POS, POS_SENTENCES) for t in tags]
    wanted = precision_recall_fscore_support(gold, guess, labels=POS.tags, zero_division=0)
    rows = {row["tag"]: row for row in tables_of(pos)["tags"]}
    for k, tag in enumerate(POS.tags):
        for column, name in enumerate(("precision", "recall", "f1")):
            value, low, high = (rows[tag][name + end] for end in ("", "_low", "_high"))
            assert value == pytest.approx(wanted[column][k], abs=1e-12)
            assert low <= value <= high
    assert count_run(pos).confusion == confusion_matrix(gold, guess, labels=POS.tags).tolist()


def test_entity_scores_equal_seqeval(ner):
    gold = [list(sentence.tags) for sentence in NER_SENTENCES[:4]]
    rows = tables_of(run(NER, NER_SENTENCES[:4]))
    strict = next(row for row in rows["entity_schemes"] if row["scheme"] == "strict")
    assert strict["f1"] == pytest.approx(
        f1_score(gold, viterbi_tags(NER, NER_SENTENCES[:4])), abs=1e-12
    )
    kinds = {row["kind"]: row["entities"] for row in tables_of(ner)["entity_kinds"]}
    assert kinds["right"] == strict["correct"]


def test_each_kind_of_entity_error_is_counted():
    tagger = FakeTagger(
        ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"],
        {"P": {"B-PER": 9.0}, "p": {"I-PER": 9.0}, "L": {"B-LOC": 9.0}, "o": {"O": 9.0}},
        scheme="BIO",
    )
    sentences = [
        Sentence(("P", "o"), ("B-PER", "O")),  # right
        Sentence(("P", "o"), ("B-LOC", "O")),  # wrong type
        Sentence(("P", "p", "o"), ("B-PER", "O", "O")),  # wrong boundary
        Sentence(("P", "p", "o"), ("B-LOC", "O", "O")),  # both
        Sentence(("o", "o"), ("B-LOC", "I-LOC")),  # missed
        Sentence(("L", "o"), ("O", "O")),  # spurious
        Sentence(("L", "o"), ("O", "O")),
    ]
    kinds = tables_of(run(tagger, sentences))["entity_kinds"]
    assert [row["entities"] for row in kinds] == [1, 1, 1, 1, 1, 2]


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (2, 8), (8, 2), (40, 60), (300, 412)])
def test_mcnemar_p_value_equals_scipy(b, c):
    wanted = binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(wanted, rel=1e-9)


def test_mcnemar_counts_words_against_viterbi(pos):
    rows = {row["decoder"]: row for row in tables_of(pos)["decoders"]}
    gold, best = flat(POS_SENTENCES), [t for s in viterbi_tags(POS, POS_SENTENCES) for t in s]
    chains = [POS.potentials(s.tokens) for s in POS_SENTENCES]
    paths = [tuple(row.index(max(row)) for row in c.emissions.tolist()) for c in chains]
    alone = [POS.tags[k] for path in paths for k in path]
    triples = list(zip(gold, alone, best, strict=True))
    row = rows["independent"]
    assert row["only_this"] == sum(g == a != v for g, a, v in triples)
    assert row["only_viterbi"] == sum(g == v != a for g, a, v in triples)
    assert rows["Viterbi"]["search_errors"] == rows["beam of 4"]["search_errors"] == 0
    worse = sum(
        oracle.paths(chain)[path] < oracle.best_score(chain) - 1e-9
        for chain, path in zip(chains, paths, strict=True)
    )
    assert row["search_errors"] == worse > 0


def test_oracle_accuracy_never_decreases(pos):
    rows = tables_of(pos)["oracle"]
    shares = [row["sentences"] for row in rows]
    assert shares == sorted(shares)
    assert shares[0] == next(
        row["sentences"] for row in tables_of(pos)["decoders"] if row["decoder"] == "Viterbi"
    )


@pytest.mark.parametrize(
    "dimensions",
    [[name] for name in dimensions_of(run(POS, POS_SENTENCES[:1]))] + [["gold tag", "position"]],
)
def test_slices_partition_all_words_and_errors(pos, dimensions):
    rows = slice_table(pos, dimensions)
    gold, guess = flat(POS_SENTENCES), [t for s in viterbi_tags(POS, POS_SENTENCES) for t in s]
    wrong = sum(a != b for a, b in zip(gold, guess, strict=True))
    assert sum(row["words"] for row in rows) == len(gold)
    assert sum(row["wrong"] for row in rows) == wrong
    assert sum(row["win"] for row in rows) == pytest.approx(wrong / len(gold), abs=1e-12)
    wins = [row["win"] for row in rows]
    assert wins == sorted(wins, reverse=True)


def test_slices_contain_the_words_they_name(pos):
    counts = {row["gold tag"]: row["words"] for row in slice_table(pos, ["gold tag"])}
    assert counts == Counter(flat(POS_SENTENCES))
    positions = {row["position"]: row["words"] for row in slice_table(pos, ["position"])}
    assert positions == {"first": 4, "last": 4, "inner": 5, "only": 1}
    shapes = {row["capitalisation"]: row["words"] for row in slice_table(pos, ["capitalisation"])}
    assert shapes == {"title": 3, "lower": 11}


def test_table_totals_are_consistent(pos):
    tables = tables_of(pos)
    assert sum(row["errors"] for row in tables["kinds"]) == len(pos.log.first)
    wrong = int((~pos.right("viterbi")).sum())
    assert sum(row["words"] for row in tables["kinds"]) == wrong
    assert sum(row["words"] for row in tables["tag_pairs"]) == wrong
    of_steps = sum(e.triage.kind in ("transition", "both", "constraint") for e in pos.log.first)
    assert of_steps > 0
    for name in ("transitions", "weights"):
        assert sum(row["errors"] for row in tables[name]) == of_steps
        assert tables[name][-1]["share_so_far"] == pytest.approx(of_steps / len(pos.log.first))


def test_suspects_are_sorted_by_gold_probability(pos):
    order = [error.gold_probability for error in pos.log.suspects]
    assert order == sorted(order)
    assert len(order) == len(pos.log.first)


def test_calibration_counts_every_word_once(pos, ner):
    for found in (pos, ner):
        tables = tables_of(found)
        kinds = {row["of"]: row["predictions"] for row in tables["ece"]}
        for kind, number in kinds.items():
            rows = [row for row in tables["calibration"] if row["of"] == kind]
            assert sum(row["count"] for row in rows) == number
            gaps = [row["count"] * abs(row["confidence"] - row["right"]) for row in rows]
            ece = next(row["ece"] for row in tables["ece"] if row["of"] == kind)
            assert ece == pytest.approx(sum(gaps) / number, abs=1e-12)
    assert kinds["entities"] == sum(
        tag.startswith("B-") for tags in viterbi_tags(NER, NER_SENTENCES) for tag in tags
    )


def test_entity_probabilities_equal_enumeration(ner):
    expected = []
    for sentence in NER_SENTENCES:
        chain = NER.potentials(sentence.tokens)
        best = oracle.allowed(chain)[0][0]
        names = [NER.tags[k] for k in best]
        starts = [t for t, tag in enumerate(names) if tag.startswith("B-")]
        for t in starts:
            stop = t + 1
            while stop < len(names) and names[stop].startswith("I-"):
                stop += 1
            inside = NER.tags.index(f"I-{names[t][2:]}")
            expected.append(
                sum(
                    oracle.probability(chain, path)
                    for path, _ in oracle.allowed(chain)
                    if path[t:stop] == best[t:stop] and path[stop : stop + 1] != (inside,)
                )
            )
    assert ner.entity_probability.tolist() == pytest.approx(expected, abs=1e-9)


def test_coverage_contains_the_most_certain_words(pos):
    right = pos.tags["max_marginal"] == pos.gold
    doubts = 1 - pos.token_probability
    for row in tables_of(pos)["coverage"]:  # words that are nearly as sure may go in any order
        last = sorted(doubts)[row["words"] - 1]
        before, near = doubts < last / 1.01, abs(doubts - last) <= 0.01 * last
        sure, among = int(right[before].sum()), row["words"] - int(before.sum())
        least = sure + max(0, among - int((near & ~right).sum()))
        most = sure + min(among, int((near & right).sum()))
        assert least - 1e-9 <= row["words_right"] * row["words"] <= most + 1e-9
        assert 1 - row["least_marginal"] == pytest.approx(last, rel=0.01)
    assert row["words"] == len(right)


def test_coverage_of_many_words_approximates_the_exact_order():
    dice = np.random.default_rng(3)
    sure = 1 - dice.random(5000) ** 6
    right = dice.random(5000) < sure
    doubts, least = doubts_of(sure, right)
    tally = replace(count_run(run(POS, POS_SENTENCES)), doubts=doubts, least=least)
    tally.size["words"] = 5000
    exact, doubt = right[np.argsort(-sure)], np.sort(1 - sure)
    for row in coverage_table(tally):
        assert row["words_right"] == pytest.approx(exact[: row["words"]].mean(), abs=3e-4)
        assert 1 - row["least_marginal"] == pytest.approx(doubt[row["words"] - 1], rel=0.01)


def test_record_is_plain_json_and_keeps_its_old_keys(ner):
    record = full_record(ner, "x", tables_of(ner))
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert {"viterbi", "max_marginal", "independent", "left_to_right", "ece"} <= record.keys()
    assert record["errors"]["by_kind"]["constraint"] == 1
    assert sum(record["errors"]["by_kind"].values()) == record["errors"]["total"]


def test_runs_without_errors_or_only_with_errors_have_tables():
    tables = tables_of(run(POS, [Sentence(("Dogs",), ("NOUN",))]))
    assert tables["errors"] == tables["transitions"] == tables["tag_pairs"] == []
    assert [row["errors"] for row in tables["kinds"]] == [0] * 5
    tables = tables_of(run(POS, [Sentence(("to",), ("VERB",))]))
    assert [row["words_right"] for row in tables["slices"]] == [0.0] * 4


def test_errors_are_exported_as_conll(pos):
    text = conll(pos.log.first, pos.log.sentences)
    blocks = text.strip("\n").split("\n\n")
    assert blocks[0].splitlines() == ["Dogs\tNOUN\tNOUN\t_", "run\tVERB\tNOUN\tboth"]
    assert len(blocks) == len({error.sentence for error in pos.log.first})


def test_run_can_be_interrupted():
    def stop(done, total):
        raise KeyboardInterrupt(f"{done} of {total}")

    with pytest.raises(KeyboardInterrupt, match="5 of 5"):
        run(POS, POS_SENTENCES, stop)


def test_csv_has_all_columns(pos):
    lines = as_csv(tables_of(pos)["decoders"]).splitlines()
    assert lines[0].startswith("decoder,words_right,words_right_low,words_right_high,sentences")
    assert len(lines) == 1 + len(EVERY_DECODER)
    assert as_csv([]) == ""
