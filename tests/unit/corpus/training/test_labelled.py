"""Entity types that a network learns nothing from: `--map OLD=?`."""

import pytest

from crfviz.__main__ import main
from crfviz.corpus.training.labelled import Sources, collate, read_corpus, read_train_and_dev
from crfviz.corpus.training.recipe import RECIPES

ROWS = "Anna\tB-person\nwon\tO\nthe\tB-award\nPrize\tI-award\n\nBergen\tB-?\nwon\tO\n"
TYPES = {"person": "PER", "award": "?"}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "train.bio"
    path.write_text(ROWS)
    return path


def test_words_of_an_unsure_type_allow_every_tag_and_others_their_own(path):
    corpus = read_corpus(Sources((path,), (), types=TYPES), RECIPES["bilstm"])
    assert corpus.tags == ("O", "B-PER", "I-PER")
    batch = collate(corpus.train, corpus.vocabulary)
    assert batch.allowed[0].sum(dim=1).tolist() == [1, 1, 3, 3]
    assert batch.tags[0].tolist() == [1, 0, 0, 0]
    assert corpus.train[1].allowed is None


def test_type_that_is_called_so_is_a_type(path):
    types = {"person": "PER", "?": "LOC"}
    *_, tags = read_train_and_dev(Sources((path,), (), types=types))
    assert tags == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    *_, tags = read_train_and_dev(Sources((path,), ()))
    assert {"B-?", "B-award"} < set(tags)


@pytest.mark.parametrize("family", ["perceptron", "hmm"])
def test_other_families_refuse_unsure_types(path, tmp_path, capsys, family):
    options = ["--family", family, "--train", str(path), "--out", str(tmp_path / "model")]
    assert main(["train", *options, "--map", "person=PER", "award=?"]) == 2
    assert "--map OLD=? is for networks alone" in capsys.readouterr().err
