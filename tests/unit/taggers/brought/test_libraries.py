"""Chains seen of real small models: flair, Stanza, TorchCRF and EDS-NLP, against their own numbers.

The libraries come without what they need (`tests.support.peers`). flair's SequenceTagger and
Stanza's NERTagger are the real ones, with random weights. Of EDS-NLP the layer is the real one; the
component around it does not load alone, so a class of the same name and attributes is here.
"""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

import crfviz
from crfviz import FormatError, forward_backward, viterbi, watch
from tests.support import oracle
from tests.support.brought import as_npz, understand
from tests.support.peers import load, load_file

PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-9)]
LENGTHS = [4, 2, 3]
MASK = torch.tensor([[t < n for t in range(4)] for n in LENGTHS])
WORDS = [["dog", "barks"], ["The", "dog", "barks", "."], ["barks", "dog", "."]]


def randomise(module, dtype, seed=3, scale=1.0):
    torch.manual_seed(seed)
    module.to(dtype).eval().requires_grad_(False)
    for weights in module.parameters():
        keep = weights <= -1000
        weights.copy_(torch.where(keep, weights, torch.randn_like(weights) * scale))
    return module


def scores_of(*shape, dtype=torch.float64, seed=5):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed)) * 2


def require_equal(seen, log_partitions, within):
    """The library's own sums and paths, and those of enumeration."""
    assert len(seen.potentials) == len(log_partitions)
    for chain, path, theirs in zip(seen.potentials, seen.theirs, log_partitions, strict=True):
        assert forward_backward(chain).log_partition == pytest.approx(float(theirs), rel=within)
        assert oracle.log_partition(chain) == pytest.approx(float(theirs), rel=within)
        assert path == viterbi(chain).path
        assert tuple(path) in oracle.best_paths(chain)


@pytest.mark.parametrize(("dtype", "within"), PRECISIONS)
def test_torchcrf_chains_have_its_paths_and_likelihoods(dtype, within):
    layer = randomise(load("TorchCRF").CRF(3, use_gpu=False), dtype)
    h = scores_of(3, 4, 3, dtype=dtype)
    with watch(layer, tags=["A", "B", "C"]) as seen:
        likelihoods = layer(h, torch.zeros(3, 4, dtype=torch.long), MASK)
        paths = layer.viterbi_decode(h, MASK)
    assert seen.theirs == paths
    require_equal(seen, layer._compute_denominator_log_likelihood(h, MASK), within)
    whole = seen.potentials[0]  # of shorter ones its likelihood leaves an emission out
    own = whole.score([0] * 4) - oracle.log_partition(whole)
    assert likelihoods[0].item() == pytest.approx(own, rel=within)
    assert seen.notes == []


def test_torchcrf_decodes_the_first_words_of_a_mask_with_holes():
    layer = randomise(load("TorchCRF").CRF(3, use_gpu=False), torch.float64)
    mask = torch.tensor([[True, False, True, True]])
    wrong = 0
    for seed in range(8):
        h = scores_of(1, 4, 3, seed=seed)
        with watch(layer) as seen:
            (path,) = layer.viterbi_decode(h, mask)
        (chain,) = seen.potentials
        theirs = layer._compute_denominator_log_likelihood(h, mask).item()
        assert oracle.log_partition(chain) == pytest.approx(theirs)
        assert seen.theirs == [path]
        assert seen.notes[0].startswith("sentence 1: the mask has holes at 2;")
        if path != viterbi(chain).path:
            wrong += 1
            assert seen.notes[1].endswith(
                "decodes as many positions as there are words, masked or not."
            )
    assert wrong > 2


@pytest.fixture
def flair_tagger(tmp_path, monkeypatch):
    monkeypatch.setenv("FLAIR_CACHE_ROOT", str(tmp_path))
    module, data = load("flair.models.sequence_tagger_model"), load("flair.data")
    words, tags = data.Dictionary(add_unk=True), data.Dictionary(add_unk=False)
    for word in sorted({word for sentence in WORDS for word in sentence}):
        words.add_item(word)
    for tag in ("DET", "NOUN", "VERB", "PUNCT"):
        tags.add_item(tag)
    embeddings = load("flair.embeddings").OneHotEmbeddings(words, embedding_length=5)
    options = {"hidden_size": 6, "rnn_layers": 1, "allow_unk_predictions": False}
    return module.SequenceTagger(embeddings, tags, tag_type="pos", **options)


def flair_sentences():
    return [load("flair.data").Sentence(words) for words in WORDS]


@pytest.mark.parametrize(("dtype", "within"), PRECISIONS)
def test_flair_chains_have_its_paths_and_scores(flair_tagger, dtype, within):
    tagger, sentences = randomise(flair_tagger, dtype), flair_sentences()
    embed = tagger._make_padded_tensor_for_batch  # flair embeds in float32
    tagger._make_padded_tensor_for_batch = lambda given: (
        embed(given)[0],
        embed(given)[1].to(dtype),
    )
    with watch(tagger) as seen:
        tagger.predict(sentences, mini_batch_size=2)
    assert [list(chain.tokens) for chain in seen.potentials] == sorted(WORDS, key=len)[::-1]
    assert {chain.tags for chain in seen.potentials} == {("DET", "NOUN", "VERB", "PUNCT")}
    assert seen.notes == ["flair passes the longest sentence first: compare the words."]
    predicted = {s.to_original_text(): [t.get_label("pos").value for t in s] for s in sentences}
    for chain, path in zip(seen.potentials, seen.theirs, strict=True):
        assert [chain.tags[tag] for tag in path] == predicted[" ".join(chain.tokens)]
    require_equal(seen, list(flair_log_partitions(tagger, seen.potentials)), within)


def flair_log_partitions(tagger, chains):
    """By flair's loss, which is log Z minus the score of the right path."""
    for chain in chains:
        sentence = load("flair.data").Sentence(list(chain.tokens))
        gold = torch.zeros(chain.num_tokens, dtype=torch.long)  # DET is tag 0 in both
        scores = tagger.forward(*tagger._prepare_tensors([sentence]))
        yield tagger.loss_function(scores, gold).item() + chain.score(gold.tolist())


@pytest.mark.parametrize("keep", [None, False, True])
def test_flair_scores_from_a_file_do_not_end_in_stop(flair_tagger, keep):
    tagger, sentence = randomise(flair_tagger, torch.float64), flair_sentences()[1]
    tagger._make_padded_tensor_for_batch = partial(widened, tagger._make_padded_tensor_for_batch)
    features, lengths, matrix = tagger.forward(*tagger._prepare_tensors([sentence]))
    tags = tagger.label_dictionary.get_items()
    emissions = (features - matrix)[0, :, :, 0].numpy()  # theirs are (B, T, to, from)
    emissions[-1, tags.index("<STOP>")] = 9  # a network scores it like any other tag
    file = as_npz(
        emissions=emissions,
        transitions=matrix.numpy(),
        tags=np.array(tags),
        tokens=np.array(WORDS[1]),
    )
    found = understand(file, to_from=True, keep_boundary_tags=keep)
    assert found.boundary_tags == ("<START>", "<STOP>")
    (chain,) = found.sentences
    if keep:
        assert chain.tags == tuple(tags)
        assert viterbi(chain).names[-1] == "<STOP>"
        assert "<START>, <STOP> kept as tags of words, which a path can pass." in found.notes
        return
    theirs, _ = tagger.viterbi_decoder.decode((features, lengths, matrix), False, [sentence])
    assert viterbi(chain).names == [name for name, _ in theirs[0]]
    assert chain.tags == ("DET", "NOUN", "VERB", "PUNCT")
    assert tuple(viterbi(chain).path) in oracle.best_paths(chain)
    (log_partition,) = flair_log_partitions(tagger, [chain])
    assert forward_backward(chain).log_partition == pytest.approx(log_partition, abs=1e-9)
    assert found.notes[0].startswith("<START>, <STOP> left out as tags")


def widened(make, given):
    names, tensor = make(given)
    return names, tensor.double()


def test_flair_scores_in_the_wrong_direction_are_rejected(flair_tagger):
    crf = randomise(flair_tagger, torch.float64).crf
    tags = np.array(flair_tagger.label_dictionary.get_items())
    file = as_npz(emissions=np.zeros((2, 6)), transitions=crf.transitions.numpy(), tags=tags)
    with pytest.raises(FormatError, match=r"transposed matrix.*to_from=True"):
        understand(file)
    assert understand(file, keep_boundary_tags=True).tags == tuple(tags)


def test_flair_in_training_has_chains_without_paths(flair_tagger):
    sentences = sorted(flair_sentences(), key=len, reverse=True)
    for sentence in sentences:
        for token in sentence:
            token.add_label("pos", "NOUN")
    flair_tagger.train()
    with watch(flair_tagger) as seen:
        flair_tagger.forward_loss(sentences)
    assert [len(chain.tokens) for chain in seen.potentials] == [4, 3, 2]
    assert seen.theirs == [None] * 3
    assert seen.notes[:2] == [
        "The model is in training mode: with dropout, scores change. Call eval() first.",
        "Gradients are on: the scores here are copies without them.",
    ]


def test_flair_words_belong_to_the_call_they_were_prepared_for(flair_tagger):
    tagger = randomise(flair_tagger, torch.float32)
    one, other = (tagger._prepare_tensors([each]) for each in flair_sentences()[:2])
    with watch(tagger) as seen:
        prepared = tagger._prepare_tensors(flair_sentences()[2:])
        tagger.forward(*other)
        tagger.forward(*prepared)
        tagger.forward(*one)
    assert [chain.tokens for chain in seen.potentials] == [None, tuple(WORDS[2]), None]
    assert [chain.num_tokens for chain in seen.potentials] == [4, 3, 2]


def test_flair_lengths_are_dropped_after_the_model_call(flair_tagger):
    tagger = randomise(flair_tagger, torch.float32)
    prepared = tagger._prepare_tensors(flair_sentences()[:1])
    with watch(tagger) as seen:
        tagger.forward(*prepared)
        tagger.crf(torch.zeros(1, 3, 6))
        with pytest.raises(RuntimeError):
            tagger.forward(prepared[0][..., 1:], prepared[1])  # too few features
        tagger.crf(torch.zeros(1, 3, 6))
    assert [chain.num_tokens for chain in seen.potentials] == [2, 3, 3]
    assert seen.theirs[1:] == [None, None]


def test_flair_layer_alone_treats_padding_as_words(flair_tagger):
    layer = randomise(flair_tagger, torch.float32).crf
    with watch(layer) as seen:
        layer(torch.zeros(1, 3, 6))
    assert seen.potentials[0].tags is None
    assert (seen.potentials[0].num_tokens, seen.potentials[0].num_tags) == (3, 4)
    assert seen.notes == [
        "Padding counts as words: watch the SequenceTagger, which has the lengths."
    ]
    layer.transitions.zero_()
    with pytest.raises(FormatError, match=r"CRF of flair: .*<START>.*-1000 or less, got 0 and 0"):
        watch(layer)


ARGUMENTS = {  # of Stanza's tagger
    **dict.fromkeys(("dropout", "word_dropout", "locked_dropout", "char_dropout", "momentum"), 0.0),
    **dict.fromkeys(("char_rec_dropout", "rec_dropout"), 0.0),
    **dict.fromkeys(("charlm", "bert_model"), None),
    **dict.fromkeys(("use_peft", "bert_finetune", "emb_finetune_known_only"), False),
    "char": True,
    "lowercase": True,
    "optim": "sgd",
    "lr": 0.1,
    "shorthand": "en_tiny",
    "word_emb_dim": 4,
    "char_emb_dim": 3,
    "char_hidden_dim": 4,
    "hidden_dim": 5,
    "num_layers": 1,
    "char_num_layers": 1,
    "sample_train": 1.0,
}


class Document:
    """What Stanza's loader asks for: word, tag, several tags."""

    def __init__(self, several):
        self.several = several

    def get(self, *_, **__):
        sentences = [["Nokia/B-ORG", "fell/O"], ["Maria/B-PER", "lives/O", "in/O", "Oslo/B-LOC"]]
        pairs = [[word.split("/") for word in sentence] for sentence in sentences]
        return [[[w, k, (k, k[0]) if self.several else None] for w, k in row] for row in pairs]


def stanza_trainer(*, several=False):
    training = load("stanza.models.ner.data").DataLoader(Document(several), 8, dict(ARGUMENTS))
    trainer = load("stanza.models.ner.trainer").Trainer(
        dict(ARGUMENTS), training.vocab, device="cpu"
    )
    loader = load("stanza.models.ner.data").DataLoader(
        Document(several), 8, dict(ARGUMENTS), vocab=training.vocab, evaluation=True
    )
    return trainer, loader


PADDING_TAGS = ("<PAD>", "<UNK>", "<EMPTY>", "<ROOT>")


@pytest.mark.parametrize(("dtype", "within"), PRECISIONS)
def test_stanza_chains_have_its_paths_and_scores(dtype, within):
    trainer, loader = stanza_trainer()
    randomise(trainer.model, dtype)
    batch = loader[0]
    batch[4][0, 1] = 2  # <EMPTY>: no gold tag, so that its mask is true at a word
    with torch.no_grad(), watch(trainer) as seen:
        tags = trainer.predict(batch)
    words = [("Maria", "lives", "in", "Oslo"), ("Nokia", "fell")]
    assert [chain.tokens for chain in seen.potentials] == words
    names = (*PADDING_TAGS, "B-ORG", "O", "B-PER", "B-LOC")
    assert {chain.tags for chain in seen.potentials} == {names}
    assert seen.notes == ["Stanza passes the longest sentence first: compare the words."]
    assert [len(each) for each in tags] == [2, 4]  # in the order of the document
    layer = trainer.model.crits[0]
    own = [
        layer.crf_log_norm(
            torch.as_tensor(chain.emissions).to(dtype)[None],
            torch.zeros(1, chain.num_tokens, dtype=torch.bool),
            None,
        )
        for chain in seen.potentials
    ]
    require_equal(seen, own, within)


def test_stanza_with_two_tag_sets_has_two_chains_per_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    trainer, loader = stanza_trainer(several=True)
    randomise(trainer.model, torch.float32)
    with torch.no_grad(), watch(trainer.model) as seen:
        trainer.predict(loader[0])
    assert [chain.tags[4:] for chain in seen.potentials[::2]] == [
        ("B-ORG", "O", "B-PER", "B-LOC"),
        ("B", "O"),
    ]
    tagger = seen.bring("mine", label="crits.1")
    assert tagger.tags == (*PADDING_TAGS, "B", "O")
    assert viterbi(tagger.potentials(["Nokia", "fell"])).path == seen.theirs[3]


def test_stanza_layer_alone_treats_padding_as_words():
    layer = randomise(load("stanza.models.common.crf").CRFLoss(3), torch.float32)
    with watch(layer) as seen:
        layer(torch.zeros(1, 2, 3), torch.tensor([[False, True]]), torch.zeros(1, 2).long())
    assert seen.theirs == [None]
    assert seen.notes == ["Padding counts as words: watch the NERTagger, which has the lengths."]


class TrainableNerCrf(nn.Module):
    """EDS-NLP's component in short: same name, attributes and calls; its layer is real."""

    def __init__(self, labels, window, *, learnable=True):
        super().__init__()
        self.labels, self.window = labels, window
        self.crf = load_file("edsnlp/pipes/trainable/layers/crf.py").MultiLabelBIOULDecoder(
            1, with_start_end_transitions=window < 1, learnable_transitions=learnable
        )

    def forward(self, scores, mask):
        return self.crf.decode(scores, mask)


@pytest.mark.parametrize("window", [0, 40], ids=["whole sentences", "windows"])
@pytest.mark.parametrize(("dtype", "within"), PRECISIONS)
def test_eds_nlp_chains_have_its_paths_and_scores(window, dtype, within):
    tagger = randomise(TrainableNerCrf(["drug", "dose"], window), dtype)
    scores, mask = scores_of(2, 4, 2, 5, dtype=dtype), torch.ones(2, 4, dtype=torch.bool)
    with watch(tagger) as seen:
        paths = tagger(scores, mask)
    names = [("O", *(f"{kind}-{label}" for kind in "IBLU")) for label in tagger.labels]
    assert [chain.tags for chain in seen.potentials] == [names[0], names[0], names[1], names[1]]
    assert seen.theirs == paths.permute(2, 0, 1).flatten(0, 1).tolist()
    target = torch.zeros_like(scores).bool()
    target[..., 0] = True  # O everywhere, the score of which is added to the loss
    losses = tagger.crf(scores.clone(), mask, target).T.flatten()
    gold = [chain.score([0] * 4) for chain in seen.potentials]
    require_equal(seen, [loss + score for loss, score in zip(losses, gold, strict=True)], within)
    no_words = "EDS-NLP passes no words to its layer: set seen.words, in the order of the chains."
    note = "A chain is a window of 40 words, which may overlap."
    assert seen.notes == ([note, no_words] if window else [no_words])
    seen.words = [["a", "b", "c", "d"]] * 2  # of the chains of each label
    assert no_words not in seen.notes


def test_eds_nlp_marginals_overwrite_scores_after_they_are_recorded():
    tagger = randomise(TrainableNerCrf(["drug"], 0), torch.float64)
    scores = scores_of(1, 3, 1, 5)
    before = scores.clone()
    with watch(tagger) as seen:
        marginals = tagger.crf.marginal(scores, torch.ones(1, 3).bool())
    assert not torch.equal(scores, before)
    (chain,) = seen.potentials
    assert torch.equal(torch.as_tensor(chain.emissions), before[0, :, 0])
    ours = torch.as_tensor(forward_backward(chain).marginals)
    own = marginals[0, :, 0].softmax(-1)  # they come without their sum
    torch.testing.assert_close(own, ours, atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ([2], "leaves the first of two words at tag 0"),
        ([5, 3], "goes on through 2 positions of padding"),
    ],
    ids=["two words", "padding"],
)
def test_wrong_eds_nlp_paths_are_noted(lengths, said):
    tagger = randomise(TrainableNerCrf(["drug"], 40, learnable=False), torch.float64)
    mask = torch.tensor([[t < n for t in range(lengths[0])] for n in lengths])
    wrong = 0
    for seed in range(20):
        scores = scores_of(*mask.shape, 1, 5, seed=seed)
        with watch(tagger) as seen:
            tagger(scores, mask)
        last = seen.potentials[-1]
        best = viterbi(last).path
        assert tuple(best) in oracle.best_paths(last)
        if seen.theirs[-1] != best:
            wrong += 1
            assert seen.notes[-1].startswith(f"sentence {len(lengths)}: the path of EDS-NLP has ")
            assert seen.notes[-1].endswith(f", because EDS-NLP {said}.")
        assert seen.theirs[:-1] == [viterbi(c).path for c in seen.potentials[:-1]]
    assert wrong > 2


def test_plain_eds_nlp_layer_has_its_own_tags():
    module = load_file("edsnlp/pipes/trainable/layers/crf.py")
    forbidden = torch.tensor([[False, True, False], [False] * 3, [False] * 3])
    layer = randomise(module.LinearChainCRF(forbidden), torch.float64)
    with watch(layer, tags=["a", "b", "c"]) as seen:
        paths = layer.decode(scores_of(2, 3, 3), torch.ones(2, 3).bool())
    assert seen.potentials[0].transitions[0, 1] == -torch.inf
    assert seen.potentials[0].tags == ("a", "b", "c")
    assert seen.theirs == paths.tolist() == [viterbi(c).path for c in seen.potentials]
    with watch(layer) as seen:
        layer.decode(scores_of(2, 3, 3), torch.ones(2, 3).bool())
    assert seen.potentials[0].tags is None


def test_layer_named_crf_without_a_path_is_not_read_as_flair():
    class CRF(nn.Module):
        def __init__(self):
            super().__init__()
            self.transitions = nn.Parameter(torch.full((4, 4), -10000.0))
            self.tagset_size = 2

        def forward(self, features):
            return features.sum()

    layer = CRF()
    with watch(layer) as seen:
        layer(torch.zeros(1, 3, 4))
    with pytest.raises(crfviz.FormatError, match=r"square parameters are transitions \(4, 4\)"):
        seen.potentials  # noqa: B018 - it searches
