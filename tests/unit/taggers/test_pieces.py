"""Chains over the pieces of a tagger's words: the first pieces are the chain over the words."""

import itertools

import pytest
import torch
import torchcrf

import crfviz
from crfviz import forward_backward, load_tagger, pieces, viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from crfviz.taggers.features import EMAIL, HANDLE, URL, fold
from crfviz.taggers.pieces import LARGEST, VOCABULARY, split_chain, vocabulary
from crfviz.taggers.registry import read_excerpt

SENTENCES = [list(each.tokens) for each in read_excerpt("excerpts/ewt-dev.conllu")]


@pytest.mark.parametrize("model", ["upos-en", "upos-en-contextfree", "ner-en", "upos-en-hmm"])
def test_chain_of_first_pieces_equals_the_word_chain(model):
    for words in itertools.islice(SENTENCES, 0, None, 15):
        chain = load_tagger(model).potentials(words)
        read = pieces(chain)
        for name in ("emissions", "transitions", "start", "end"):
            first = getattr(read.first.potentials, name)
            assert torch.equal(torch.as_tensor(first), torch.as_tensor(getattr(chain, name)))
        assert read.first.log_partition == forward_backward(chain).log_partition
        assert read.first.path == viterbi(chain).path


def test_each_piece_has_the_emissions_of_its_word():
    chain = load_tagger("upos-en").potentials(["Tokenization", "is", "unbelievable"])
    split, word_ids = split_chain(chain)
    assert split.tokens == (
        "To",
        "##ke",
        "##n",
        "##ization",
        "is",
        "un",
        "##bel",
        "##ie",
        "##vable",
    )
    assert word_ids == [0] * 4 + [1] + [2] * 4
    assert split.emissions.tolist() == [chain.emissions[t].tolist() for t in word_ids]
    assert pieces(chain).all.potentials.tokens == split.tokens
    assert pieces(chain, entries=250).first.log_partition == pieces(chain).first.log_partition
    assert len(pieces(chain, entries=250).all.words) > 9


def test_piece_vocabulary_is_small_and_contains_no_address():
    listed = VOCABULARY.read_text("utf-8").split()
    assert VOCABULARY.stat().st_size <= 100_000
    assert len(set(listed)) == len(listed) == LARGEST
    assert vocabulary() == set(listed)
    plain = [piece.removeprefix("##") for piece in listed]
    assert not [piece for piece in plain if fold(piece) in (EMAIL, HANDLE, URL)]
    assert max(sum(c.isdigit() for c in piece) for piece in plain) <= 4
    letters = {c for piece in plain[1:] for c in piece}
    assert letters <= {*plain[1:250]}


def test_chain_that_cannot_be_split_is_rejected_with_the_reason():
    with pytest.raises(CrfvizError, match="no words to split: give word_ids or mask"):
        pieces(Potentials([[0.0]], [[0.0]]))
    chain = load_tagger("textbook/label-bias").potentials(["r", "o", "b"])
    with pytest.raises(CrfvizError, match="its own matrix"):
        pieces(chain)
    assert pieces(chain, [0, 1, 2]).first.path == viterbi(chain).path
    with pytest.raises(CrfvizError, match="entries must be at least 1, got 0"):
        pieces(load_tagger("upos-en").potentials(["a"]), entries=0)


def test_watched_layer_shows_a_mask_with_holes():
    """As of a Hugging Face model: special tokens around, later pieces masked."""
    word_ids = [None, 0, 0, 1, 2, 2, 2, 3, None, None]
    torch.manual_seed(4)
    layer = torchcrf.CRF(5, batch_first=True).eval().requires_grad_(False)
    layer.transitions.mul_(20)
    emissions = torch.randn(1, len(word_ids), 5)
    with crfviz.watch(layer) as seen:
        layer.decode(emissions, torch.tensor([[True] * 9 + [False]]))
    chain = seen.potentials[0]
    read = pieces(chain, word_ids[:9])
    mask = torch.tensor([[True, False, True, True, False, False, True]])
    assert read.pytorch_crf.tags == layer.decode(emissions[:, 1:8], mask)[0]
    assert read.pytorch_crf.tags != read.first.path
    alone = emissions[:, 1:8][mask][None]  # the pieces that the mask leaves, without holes
    assert read.first.path == layer.decode(alone, torch.ones(1, 4, dtype=torch.bool))[0]
    every = torch.ones(1, 7, dtype=torch.bool)
    assert read.all.path == layer.decode(emissions[:, 1:8], every)[0]
    zeroed = emissions[:, 1:8] * mask[..., None]
    assert read.holes.path == layer.decode(zeroed, every)[0]
    with crfviz.watch(layer) as holed:
        layer.decode(emissions[:, 1:8], mask)
    assert viterbi(holed.potentials[0]).path == read.first.path
