"""Calibrated sets: thresholds by plain sorting, promised rates by measuring, files of a folder."""

import json
import math
import os
import random
from fractions import Fraction
from pathlib import Path

import pytest

import crfviz
from crfviz.__main__ import main
from crfviz.chain.potentials import Potentials
from crfviz.corpus.tables.coverage import LEVELS, calibrate, coverage, read_calibrations
from crfviz.exceptions import CrfvizError, FormatError, ModelError, UnknownTagError
from crfviz.text.sentences import Sentence
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger
from tests.support.paths import ROOT
from tests.support.tiny_tagger import save_tiny

EXCERPT = ROOT / "models" / "excerpts" / "ewt-dev.conllu"
CORPUS = Path(os.environ.get("CRFVIZ_DATA", "nowhere")) / "ud-english-ewt" / "test.conllu"
TAGS = ("A", "B", "C")
VOCABULARY = {f"w{n}": {tag: random.Random(n * 7 + k).gauss(0, 1.5) for k, tag in enumerate(TAGS)}
              for n in range(12)}  # fmt: skip
TAGGER = FakeTagger(TAGS, VOCABULARY, {("A", "B"): 1.0, ("B", "B"): -1.0, ("C", "A"): 0.5})


def drawn(number, seed, tagger=TAGGER, longest=6):
    """Draw sentences whose gold path has the probability that the tagger says, by enumeration."""
    lot = random.Random(seed)
    sentences = []
    for _ in range(number):
        words = [lot.choice(sorted(VOCABULARY)) for _ in range(lot.randint(1, longest))]
        chain = tagger.potentials(words)
        paths = oracle.allowed(chain)
        (path, _), *_ = lot.choices(paths, [math.exp(score - paths[0][1]) for _, score in paths])
        sentences.append((words, [tagger.tags[tag] for tag in path]))
    return sentences


def ids(tags):
    return tuple(TAGS.index(tag) for tag in tags)


def distances(sentences):
    """Return the score of the best path minus that of gold, by enumeration."""
    chains = [(TAGGER.potentials(words), ids(tags)) for words, tags in sentences]
    return [oracle.best_score(chain) - oracle.paths(chain)[gold] for chain, gold in chains]


def gold_marginals(sentences):
    rows = []
    for words, tags in sentences:
        marginals = oracle.marginals(TAGGER.potentials(words))
        rows.append([marginals[cell] for cell in enumerate(ids(tags))])
    return rows


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_distance_is_the_conformal_rank(level):
    sentences = drawn(60, seed=1)
    found = calibrate(TAGGER, sentences, level)
    rank = math.ceil(61 * Fraction(str(level)))
    assert found.threshold == pytest.approx(sorted(distances(sentences))[rank - 1], abs=1e-9)
    assert (found.level, found.of, found.sentences) == (level, "sentences", 60)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_marginal_is_the_largest_that_controls_the_risk(level):
    sentences = drawn(60, seed=2)
    rows = gold_marginals(sentences)

    def controlled(least):
        risk = sum(sum(p < least - 1e-12 for p in row) / len(row) for row in rows)
        return (risk + 1) / 61 <= 1 - level + 1e-12

    values = sorted(p for row in rows for p in row)
    expected = max(value for value in values if controlled(value))
    found = calibrate(TAGGER, sentences, level, of="words")
    assert found.threshold == pytest.approx(expected, abs=1e-9)
    assert not controlled(expected + 1e-6)


@pytest.mark.parametrize("of", ["sentences", "words"])
@pytest.mark.parametrize("level", [0.7, 0.9])
def test_coverage_counts_what_the_sets_hold(level, of):
    sentences = drawn(50, seed=3)
    calibration = calibrate(TAGGER, drawn(50, seed=4), level, of)
    found = coverage(calibration, TAGGER, sentences)
    shares, sizes, abstained = [], [], 0
    for words, tags in sentences:
        sets, gold = calibration.sets(TAGGER.potentials(words)), ids(tags)
        within = [tag in kept for tag, kept in zip(gold, sets.tags, strict=True)]
        if of == "words":
            shares.append(sum(within) / len(within))
            sizes += [len(kept) for kept in sets.tags]
            continue
        abstained += sets.abstains
        shares.append(float(sets.abstains or gold in [tuple(path.tags) for path in sets.paths]))
        sizes += [] if sets.abstains else [len(sets.paths)]
    assert found.share == pytest.approx(sum(shares) / 50, abs=1e-6)
    assert found.mean_size == pytest.approx(sum(sizes) / len(sizes), abs=1e-9)
    assert (found.abstained, found.sentences) == (abstained, 50)
    low, high = found.interval
    assert low < found.share < high
    assert sum(row["sentences"] for row in found.by_length) == 50
    assert [row["length"] for row in found.by_length] == ["1 to 5", "6 to 10"]
    mean = sum(row["share"] * row["sentences"] for row in found.by_length) / 50
    assert mean == pytest.approx(found.share, abs=1e-6)


@pytest.mark.parametrize(("of", "level"), [("sentences", 0.85), ("words", 0.95)])
def test_promised_rate_holds_on_new_sentences(of, level):
    shares = []
    for seed in range(10):
        sentences = drawn(200, seed=100 + seed)
        calibration = calibrate(TAGGER, sentences[1::2], level, of)
        shares.append(coverage(calibration, TAGGER, sentences[::2]).share)
    # 10 runs of 100 sentences each, from thresholds of 100 each: a standard deviation of
    # sqrt(0.85 · 0.15 · (1/100 + 1/100) / 10) = 1.6 points for sentences, less for words
    assert level - 0.05 <= sum(shares) / 10 <= level + 0.06


def test_set_that_cannot_be_listed_abstains_and_counts_as_covered():
    flat = FakeTagger(TAGS, {}, {})  # all paths tie
    sentences = [(["w"] * 5, ["C"] * 5)] * 20 + [(["w"], ["A"])] * 20
    calibration = calibrate(flat, sentences, 0.9)
    assert calibration.threshold == 0.0
    found = coverage(calibration, flat, sentences)
    assert (found.share, found.abstained, found.mean_size) == (1.0, 20, 3.0)
    assert calibration.sets(flat.potentials(["w"] * 5)).abstains


@pytest.mark.parametrize(
    ("level", "needed"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99), (0.7, 3)]
)
@pytest.mark.parametrize("of", ["sentences", "words"])
def test_too_few_sentences_are_refused_with_the_number_needed(level, needed, of):
    sentences = drawn(needed, seed=5)
    assert calibrate(TAGGER, sentences, level, of).sentences == needed
    match = f"level of {level} needs at least {needed} gold sentences, got {needed - 1}"
    with pytest.raises(CrfvizError, match=match if needed > 1 else "at least one tagged sentence"):
        calibrate(TAGGER, sentences[1:], level, of)


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 90, math.nan, "0.9", None], ids=str)
def test_wrong_level_is_refused(level):
    with pytest.raises(CrfvizError, match="level must be"):
        calibrate(TAGGER, drawn(20, seed=6), level)


def test_wrong_unit_and_wrong_gold_are_refused():
    with pytest.raises(CrfvizError, match="of must be one of sentences, words, got 'tags'"):
        calibrate(TAGGER, drawn(20, seed=6), of="tags")
    with pytest.raises(UnknownTagError, match="got D"):
        calibrate(TAGGER, [(["w"], ["D"])] * 20)
    with pytest.raises(FormatError, match="expected tags"):
        calibrate(TAGGER, [Sentence(("w",), None)] * 20)


def test_forbidden_gold_is_refused():
    walled = FakeTagger(TAGS, {}, {("A", "B"): -math.inf})
    gold = [(["w", "w"], ["A", "B"])] * 5 + [(["w", "w"], ["A", "A"])] * 15
    assert calibrate(walled, gold, 0.5).threshold == 0.0
    for of in ("sentences", "words"):
        with pytest.raises(CrfvizError, match=f"no set of {of} reaches a level of 0.9: too many"):
            calibrate(FakeTagger(TAGS, {"w": {"B": -math.inf}}, {}), gold, 0.9, of)


def test_gold_may_be_sentences_or_a_file():
    tagger = crfviz.load_tagger("upos-en-contextfree")
    sentences = crfviz.read_sentences(EXCERPT)
    by_file = crfviz.calibrate(tagger, EXCERPT, 0.9)
    assert by_file == crfviz.calibrate(tagger, sentences, 0.9)
    assert by_file == crfviz.calibrate(tagger, str(EXCERPT), 0.9)
    assert crfviz.coverage(by_file, tagger, EXCERPT).share >= 0.9


@pytest.mark.parametrize(("of", "level"), [("words", 0.95), ("sentences", 0.85)])
@pytest.mark.parametrize("first", [0, 1])
def test_coverage_of_every_second_sentence_of_the_english_web_treebank(first, of, level):
    if not CORPUS.exists():
        pytest.skip("CRFVIZ_DATA does not name the folder of the corpora")
    tagger, sentences = crfviz.load_tagger("upos-en"), crfviz.read_sentences(CORPUS)
    calibration = calibrate(tagger, sentences[1 - first :: 2], level, of)
    share = coverage(calibration, tagger, sentences[first::2]).share
    assert level - 0.025 <= share <= level + 0.03


def test_command_prints_and_writes_coverage(tmp_path, capsys):
    out = tmp_path / "figures.json"
    options = ["--model", "upos-en-contextfree", "--calibrate", str(EXCERPT), "--level", "0.85"]
    assert main(["evaluate", str(EXCERPT), *options, "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    table = printed.partition("Sets calibrated on excerpts/ewt-dev.conllu: ")[2].splitlines()[2:5]
    assert [line.split("  ")[0] for line in table] == [
        "sets of",
        "paths of sentences",
        "tags of words",
    ]
    assert all(line[table[0].index("covered") - 2 :].startswith("  ") for line in table)
    tagger = crfviz.load_tagger("upos-en-contextfree")
    rows = json.loads(out.read_text("utf-8"))["tables"]["sets"]
    for of in ("sentences", "words"):
        calibration = calibrate(tagger, EXCERPT, 0.85, of)
        expected = coverage(calibration, tagger, EXCERPT)
        row = next(row for row in rows if (row["of"], row["length"]) == (of, "all"))
        assert row["covered"] == pytest.approx(expected.share, abs=1e-6)
        assert row["mean_size"] == pytest.approx(expected.mean_size, abs=1e-6)
        (line,) = (line for line in table if f" of {of} " in line)
        assert " 85 " in line
        assert line.endswith(f"{expected.abstained:,} of {expected.sentences:,}")
        assert f" {100 * expected.share:.2f} (" in line
        assert f" {expected.mean_size:.2f} {'paths' if of == 'sentences' else 'tags'} " in line


def test_shards_do_not_change_the_coverage(tmp_path):
    outputs = []
    for size in ("2000000", "3000"):
        out = tmp_path / f"{size}.json"
        options = ["--model", "upos-en-hmm", "--calibrate", str(EXCERPT), "--json", str(out)]
        assert main(["evaluate", str(EXCERPT), *options, "--shard-bytes", size]) == 0
        outputs.append(json.loads(out.read_text("utf-8"))["tables"]["sets"])
    assert outputs[0] == outputs[1]


def test_level_needs_a_file_to_calibrate(capsys):
    assert main(["evaluate", str(EXCERPT), "--model", "upos-en-hmm", "--level", "0.8"]) > 0
    assert "--level needs --calibrate FILE" in capsys.readouterr().err


def written(path, sentences):
    path.write_text(
        "\n\n".join(
            "\n".join(f"{word}\t{tag}" for word, tag in zip(words, tags, strict=True))
            for words, tags in sentences
        ),
        "utf-8",
    )
    return path


def test_card_writes_the_calibrations_of_a_folder(tmp_path, capsys):
    folder = save_tiny(tmp_path / "tiny", tags=TAGS)
    dev = written(tmp_path / "dev.conll", drawn(40, seed=7))
    test = written(tmp_path / "test.conll", drawn(30, seed=8))
    tagger = crfviz.load_tagger(str(folder))
    for file in (test, dev):
        options = ["--model", str(folder), "--calibrate", str(dev), "--card"]
        assert main(["evaluate", str(file), *options]) == 0
    capsys.readouterr()
    found = read_calibrations(folder)
    assert found.file == f"{tmp_path.name}/dev.conll"
    levels = [level for level in LEVELS if level <= 97]  # 40 sentences are too few for 98 %
    for of in ("sentences", "words"):
        assert [level for unit, level in found.calibrations if unit == of] == levels
        assert found.at(of, 90) == calibrate(tagger, dev, 0.9, of)
    for file in (test, dev):
        rows = found.coverage[f"{tmp_path.name}/{file.name}"]
        row = next(each for each in rows if (each["of"], each["level"]) == ("sentences", 0.9))
        expected = coverage(found.at("sentences", 90), tagger, file)
        assert row["covered"] == pytest.approx(expected.share, abs=1e-6)


def test_training_calibrates_on_dev_and_replaces_the_old_file(tmp_path, capsys):
    train = written(tmp_path / "train.conll", drawn(80, seed=9))
    dev = written(tmp_path / "dev.conll", drawn(40, seed=10))
    options = ["--family", "hmm", "--train", str(train), "--out", str(tmp_path / "model")]
    assert main(["train", *options, "--dev", str(dev)]) == 0
    found = read_calibrations(tmp_path / "model")
    tagger = crfviz.load_tagger(str(tmp_path / "model"))
    assert found.at("words", 90) == calibrate(tagger, dev, 0.9, "words")
    assert found.coverage == {}
    more = written(tmp_path / "more.conll", drawn(30, seed=11))
    assert main(["train", *options[:2], "--train", str(more), *options[4:]]) == 0
    assert read_calibrations(tmp_path / "model") is None
    capsys.readouterr()


@pytest.mark.parametrize("content", ["[]", "{}", '{"file": 1, "sentences": "x"}'])
def test_broken_file_of_a_folder_is_refused(tmp_path, content):
    (tmp_path / "calibration.json").write_text(content, "utf-8")
    with pytest.raises(ModelError, match=r"calibration\.json"):
        read_calibrations(tmp_path)


def test_folder_without_calibration_has_none(tmp_path):
    assert read_calibrations(tmp_path) is None


def test_sets_are_those_of_the_potentials():
    chain = Potentials([[1.0, 0.0]], [[0.0, 0.0]] * 2)
    found = crfviz.Calibration(0.9, "sentences", 1.0, 9).sets(chain)
    assert [path.tags for path in found.paths] == [[0], [1]]
