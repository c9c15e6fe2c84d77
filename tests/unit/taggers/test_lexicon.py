"""What a tagger was trained on: words with their tags, and the longest sentence."""

import json
from collections import defaultdict

import pytest

from crfviz.__main__ import main
from crfviz.corpus.counts.run_counts import IN_TRAINING, dimensions_of
from crfviz.corpus.run.results import SEEN
from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.errors import slice_table
from crfviz.corpus.tables.report import full_record, notes, tables_of
from crfviz.exceptions import CrfvizError, ModelError
from crfviz.taggers.lexicon import LEXICON_FILE, build_lexicon, read_lexicon, write_lexicon
from crfviz.taggers.registry import SHIPPED, list_taggers, load_tagger
from crfviz.text.sentences import Sentence
from tests.support.fake_tagger import FakeTagger

TRAINED = [Sentence(("The", "run", "1"), ("DET", "NOUN", "NUM")), Sentence(("Run",), ("VERB",))]


@pytest.fixture
def tagger(tmp_path):
    write_lexicon(tmp_path, build_lexicon(TRAINED))
    return FakeTagger(["DET", "NOUN", "NUM", "VERB", "X"], {"the": {"DET": 1}}, folder=tmp_path)


def test_written_lexicon_is_read_back(tmp_path):
    lexicon = build_lexicon(
        [*TRAINED, Sentence(("“", '"', "a\\b", "],"), ("X", "Y Z", "Y Z", "X"))]
    )
    write_lexicon(tmp_path, lexicon)
    assert read_lexicon(tmp_path) == lexicon
    assert lexicon.tags_of("RUN") == {"NOUN", "VERB"}
    assert lexicon.tags_of("7") == {"NUM"}  # digits are alike to a tagger
    assert lexicon.tags_of("jump") == frozenset()
    assert lexicon.longest == 4


def test_folder_without_a_lexicon_is_read(tmp_path):
    assert read_lexicon(tmp_path) is None


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '{"format": 1, "longest": "x", "words": {}}',
        '{"format": 1, "longest": 1, "words": {"X": null}}',
    ],
)
def test_malformed_lexicon_is_named_in_the_error(tmp_path, content):
    (tmp_path / LEXICON_FILE).write_text(content)
    with pytest.raises(ModelError, match=r"lexicon\.json"):
        read_lexicon(tmp_path)


def test_words_are_sliced_by_their_tags_in_training(tagger):
    gold = [
        Sentence(("the", "run", "run", "Oslo"), ("DET", "VERB", "NUM", "X")),
        Sentence(("2", "the"), ("NUM", "X")),
    ]
    found = run(tagger, gold)
    assert IN_TRAINING in dimensions_of(found)
    words = {row[IN_TRAINING]: row["words"] for row in slice_table(found, [IN_TRAINING])}
    known = defaultdict(set)
    for sentence in TRAINED:
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            known[word.lower().replace("1", "0")].add(tag)
    counts = dict.fromkeys(SEEN, 0)
    for sentence in gold:
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            tags = known.get(word.lower().replace("2", "0"))
            counts[SEEN[2 if not tags else 0 if tag in tags else 1]] += 1
    assert words == counts == {SEEN[0]: 3, SEEN[1]: 2, SEEN[2]: 1}


def test_slice_by_training_needs_a_lexicon():
    found = run(FakeTagger(["X"], {}), [Sentence(("a",), ("X",))])
    assert IN_TRAINING not in dimensions_of(found)
    with pytest.raises(CrfvizError, match=r"no lexicon\.json"):
        slice_table(found, [IN_TRAINING])


def test_sentences_longer_than_in_training_are_noted(tagger):
    found = run(tagger, [Sentence(("the",) * 4, ("DET",) * 4), Sentence(("the",), ("DET",))])
    record = full_record(found, "file", tables_of(found))
    assert record["longer_than_trained"] == {"longest_trained": 3, "sentences": 1}
    assert any("1 of 2 sentences are longer" in note for note in notes(record))


@pytest.mark.parametrize("name", [n for n in list_taggers() if not n.startswith("textbook/")])
def test_shipped_models_have_a_small_lexicon_of_their_tags(name):
    path = SHIPPED / name / LEXICON_FILE
    assert path.stat().st_size <= 1_000_000
    lexicon = read_lexicon(SHIPPED / name)
    tags = set().union(*lexicon.words.values())
    assert tags == set(load_tagger(name).tags)
    assert 50 < lexicon.longest < 300


def test_lexicon_command_writes_the_file_and_requires_a_model(tmp_path, capsys):
    train = tmp_path / "train.conll"
    train.write_text("The\tDET\nrun\tNOUN\n")
    assert main(["lexicon", str(tmp_path), "--train", str(train)]) == 2
    assert "config.json: the file is missing" in capsys.readouterr().err
    (tmp_path / "config.json").write_text('{"tags": ["DET", "X"]}')
    assert main(["lexicon", str(tmp_path), "--train", str(train)]) == 2
    assert "(DET, X), got 'NOUN': were other files" in capsys.readouterr().err
    assert not (tmp_path / LEXICON_FILE).exists()
    (tmp_path / "config.json").write_text('{"tags": ["DET", "NOUN"]}')
    assert main(["lexicon", str(tmp_path), "--train", str(train)]) == 0
    assert json.loads((tmp_path / LEXICON_FILE).read_text())["longest"] == 2
