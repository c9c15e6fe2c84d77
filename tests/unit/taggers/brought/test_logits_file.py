"""Scores without transitions: what a tagger without a CRF returns, in four kinds of files."""

import io
import json

import numpy as np
import pyarrow
import pytest
import safetensors.torch
import torch
from pyarrow import parquet

import crfviz
from crfviz.chain.forward_backward import log_partition
from crfviz.exceptions import FormatError
from crfviz.taggers.brought import files
from tests.support.brought import as_npz, understand

LABELS = ["O", "B-X", "I-X"]
ID2LABEL = {str(number): label for number, label in enumerate(LABELS)}
WORDS = [["an", "old", "dog"], ["it", "barks"]]
LOGITS = [[[0.5, 2, 1], [1, 0, 3], [2, 0.1, 1]], [[0, 1, 2], [3, 1, 0]]]


def padded():
    logits = np.full((2, 3, 3), 7.0)
    for row, scores in zip(logits, LOGITS, strict=True):
        row[: len(scores)] = scores
    return logits, np.array([[1, 1, 1], [1, 1, 0]])


def as_logits_json():
    rows = [{"logits": s, "tokens": w} for s, w in zip(LOGITS, WORDS, strict=True)]
    return "scores.json", json.dumps({"id2label": ID2LABEL, "sentences": rows}).encode()


def as_logits_npz():
    logits, mask = padded()
    tokens = np.array([WORDS[0], [*WORDS[1], ""]])
    return as_npz(logits=logits, attention_mask=mask, tags=np.array(LABELS), tokens=tokens)


def as_logits_safetensors():
    logits, mask = map(torch.tensor, padded())
    texts = {"id2label": json.dumps(ID2LABEL), "tokens": json.dumps([WORDS[0], [*WORDS[1], ""]])}
    tensors = {"logits": logits, "attention_mask": mask}
    return "scores.safetensors", safetensors.torch.save(tensors, texts)


def as_logits_parquet(**more):
    table = pyarrow.table({"logits": LOGITS, "tokens": WORDS, **more})
    buffer = io.BytesIO()
    metadata = {"id2label": json.dumps(ID2LABEL)}
    parquet.write_table(table.replace_schema_metadata(metadata), buffer)
    return "scores.parquet", buffer.getvalue()


FILES = [as_logits_json, as_logits_npz, as_logits_safetensors, as_logits_parquet]


@pytest.mark.parametrize("make", FILES)
def test_logits_without_transitions_become_chains_with_zeros(make):
    found = understand(make())
    assert found.tags == tuple(LABELS)
    assert [list(chain.tokens) for chain in found.sentences] == WORDS
    assert [chain.emissions.tolist() for chain in found.sentences] == LOGITS
    for chain, scores in zip(found.sentences, LOGITS, strict=True):
        assert not chain.transitions.any()
        assert crfviz.viterbi(chain).path == [int(np.argmax(row)) for row in scores]
    assert any("no transitions: zeros" in note for note in found.notes)


def test_pieces_are_joined_by_word_ids():
    sentence = {
        "logits": [[9, 9, 9], [1, 2, 3], [8, 8, 8], [3, 2, 1], [9, 9, 9]],
        "tokens": ["[CLS]", "un", "##do", "it", "[SEP]"],
        "gold": ["O", "B-X", "I-X", "O", "O"],
        "word_ids": [None, 0, 0, 1, None],
        "id2label": ID2LABEL,
    }
    (chain,) = understand(("scores.json", json.dumps(sentence).encode())).sentences
    assert chain.tokens == ("undo", "it")
    assert chain.emissions.tolist() == [[1, 2, 3], [3, 2, 1]]
    scores = json.dumps({**sentence, "tokens": ["undo", "it"], "gold": ["B-X", "O"]})
    (chain,) = understand(("scores.json", scores.encode())).sentences
    assert chain.tokens == ("undo", "it")


def test_probabilities_without_transitions_become_logarithms():
    content = {"emissions": [[0.5, 0.5], [0.1, 0.9]], "probabilities": True}
    found = understand(("scores.json", json.dumps(content).encode()))
    assert found.family == "crf"
    assert not found.unnormalised
    (chain,) = found.sentences
    assert not chain.transitions.any()
    assert chain.emissions[1, 1] == pytest.approx(np.log(0.9))


def test_one_tag_and_one_word_make_a_chain():
    (chain,) = understand(("scores.json", b'{"logits": [[1.5]]}')).sentences
    assert crfviz.viterbi(chain).path == [0]
    assert log_partition(chain) == pytest.approx(1.5)


BAD = {
    "start alone": ({"emissions": [[1, 2]], "start": [0, 1]}, "there are no transitions"),
    "both names": ({"logits": [[1]], "emissions": [[1]]}, "same field"),
    "ids with a hole": ({"logits": [[1, 2]], "id2label": {"0": "A", "2": "B"}}, "id2label"),
    "word ids backwards": ({"logits": [[1], [2]], "word_ids": [1, 0]}, "in order"),
    "too few word ids": ({"logits": [[1], [2]], "word_ids": [0]}, "of each of 2 pieces"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_damaged_logits_are_rejected(content, message):
    with pytest.raises(FormatError, match=message):
        understand(("scores.json", json.dumps(content).encode()))


def test_sentence_without_its_own_transitions_is_left_out():
    rows = [{"emissions": [[1, 2]], "transitions": [[0, 0], [0, 1]]}, {"emissions": [[1, 2]]}]
    found = understand(("scores.json", json.dumps({"sentences": rows}).encode()))
    assert len(found.sentences) == 1
    assert "there are no transitions" in found.left_out[1]


def test_damaged_parquet_or_one_without_scores_is_rejected():
    name, content = as_logits_parquet()
    with pytest.raises(FormatError, match="damaged"):
        understand((name, content[:200]))
    with pytest.raises(FormatError, match="no field 'more'"):
        understand(as_logits_parquet(more=[1, 2]))
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table({"text": ["a"]}), buffer)
    with pytest.raises(FormatError, match="it holds text"):
        understand((name, buffer.getvalue()))


def test_columns_of_parquet_under_other_names_are_chosen():
    buffer = io.BytesIO()
    columns = {"y": LOGITS, "logits": [[[9.0] * 3] * len(words) for words in WORDS], "w": WORDS}
    parquet.write_table(pyarrow.table({**columns, "id": [1, 2]}), buffer)
    file = "scores.parquet", buffer.getvalue()
    assert files.keys_of([file]) == {"emissions": ["y", "logits"], "tokens": ["w"]}
    found = understand(file, keys=(("y", "emissions"), ("w", "tokens")))
    assert [each.emissions.tolist() for each in found.sentences] == LOGITS
    assert [list(each.tokens) for each in found.sentences] == WORDS
    assert "Other columns were chosen in place of id." in found.notes
    assert files.keys_of([as_logits_parquet()]) == {}
