"""Token classifiers without a CRF layer, watched while they run."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

import crfviz
from crfviz.exceptions import FormatError, ScoreError, ShapeError

LABELS = {2: "I-PER", 0: "O", 1: "B-PER"}  # in no order
PIECES = torch.tensor([[7, 1, 2, 3, 8], [7, 4, 5, 8, 0]])
MASK = (PIECES != 0).long()
WORD_IDS = [[None, 0, 0, 1, None], [None, 0, 1, None, None]]


class Encoder(nn.Module):
    """Attention with a square parameter that is no table of tags."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 6)
        self.square = nn.Parameter(torch.randn(6, 6))

    def forward(self, input_ids):
        return self.embedding(input_ids) @ self.square


class Classifier(nn.Module):
    """What transformers calls a model for token classification."""

    def __init__(self, labels=LABELS, returns=lambda logits: SimpleNamespace(logits=logits)):
        super().__init__()
        torch.manual_seed(0)
        self.config = SimpleNamespace(id2label=labels)
        self.encoder = Encoder()
        self.classifier = nn.Linear(6, len(labels))
        self.returns = returns

    def forward(self, input_ids=None, attention_mask=None, labels=None, **others):
        del attention_mask, labels, others  # they are for the recorder
        return self.returns(self.classifier(self.encoder(input_ids)))


def watched(model, *args, **given):
    model.eval()
    with torch.no_grad(), crfviz.watch(model) as seen:
        model(*args, **given)
    return seen


def logits_of(model):
    table = (model.encoder.embedding.weight @ model.encoder.square) @ model.classifier.weight.T
    return (table + model.classifier.bias).detach().double()[PIECES]


RETURNS = {
    "object": lambda logits: SimpleNamespace(logits=logits),
    "mapping": lambda logits: {"loss": None, "logits": logits},
    "tuple": lambda logits: (torch.tensor(0.5), logits),
}


@pytest.mark.parametrize("returns", RETURNS.values(), ids=RETURNS)
def test_logits_under_the_mask_become_chains_with_transitions_of_0(returns):
    model = Classifier(returns=returns)
    seen = watched(model, PIECES, attention_mask=MASK)
    logits = logits_of(model)
    for row, (chain, length) in enumerate(zip(seen.potentials, (5, 4), strict=True)):
        assert chain.tags == ("O", "B-PER", "I-PER")
        torch.testing.assert_close(chain.emissions, logits[row, :length], rtol=1e-6, atol=1e-6)
        assert not any(table.any() for table in (chain.transitions, chain.start, chain.end))
        best = crfviz.viterbi(chain).path
        assert best == logits[row, :length].argmax(1).tolist()
        assert crfviz.constraint_effect(chain).free == best
    assert seen.theirs == [None, None]
    assert "no CRF layer" in seen.notes[0]
    assert any("crfviz.constraint_effect" in note for note in seen.notes)
    assert any("Each piece counts as a word" in note for note in seen.notes)


def test_words_have_the_scores_of_their_first_pieces():
    model = Classifier()
    seen = watched(model, PIECES, attention_mask=MASK)
    assert [chain.num_tokens for chain in seen.potentials] == [5, 4]
    seen.word_ids = WORD_IDS
    seen.words = [["Anna", "sings"], ["Ben", "too"]]
    logits = logits_of(model)
    for row, (chain, firsts) in enumerate(zip(seen.potentials, ([1, 3], [1, 2]), strict=True)):
        assert chain.tokens == tuple(seen.words[row])
        torch.testing.assert_close(chain.emissions, logits[row, firsts], rtol=1e-6, atol=1e-6)
    assert not any("piece" in note or "holes" in note for note in seen.notes)
    seen.word_ids = [[0], [0]]
    with pytest.raises(ShapeError, match="sentence 1: expected word_ids of 5 pieces, got 1"):
        seen.potentials  # noqa: B018 - it reads


def test_positions_labelled_minus_100_are_not_words():
    labels = torch.tensor([[-100, 1, -100, 0, -100], [-100] * 5])
    seen = watched(Classifier(), PIECES, attention_mask=MASK, labels=labels)
    assert [chain.num_tokens for chain in seen.potentials] == [2]
    assert "sentence 2 has no word and was left out." in seen.notes
    assert not any("Each piece" in note for note in seen.notes)


def test_watched_classifier_is_brought_and_its_output_is_unchanged(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    model = Classifier()
    model.eval()
    with torch.no_grad():
        before = model(PIECES).logits
        with crfviz.watch(model, words=[["Anna", "sings"], ["Ben", "too"]]) as seen:
            during = model(PIECES, MASK).logits
        assert "forward" not in vars(model)
        torch.testing.assert_close(before, during, rtol=0, atol=0)
    seen.word_ids = WORD_IDS
    tagger = seen.bring("watched")
    chain = tagger.potentials(["Anna", "sings"])
    torch.testing.assert_close(chain.emissions, seen.potentials[0].emissions, check_dtype=False)


def test_methods_are_restored_after_an_error():
    model = Classifier()
    with pytest.raises(IndexError), crfviz.watch(model):
        model(torch.tensor([[99]]))
    assert "forward" not in vars(model)


def test_training_mode_half_precision_and_nan_are_noted():
    model = Classifier(returns=lambda logits: SimpleNamespace(logits=logits.half()))
    with crfviz.watch(model) as seen:
        model(PIECES)
    notes = " ".join(seen.notes)
    assert "training mode" in notes
    assert "float16" in notes or "half" in notes
    nan = Classifier(returns=lambda logits: SimpleNamespace(logits=logits * torch.nan))
    with pytest.raises(ScoreError, match="sentence 1"):
        watched(nan, PIECES).potentials  # noqa: B018 - it reads


DECLINED = {
    "sentences": (lambda logits: SimpleNamespace(logits=logits[:, 0]), r"\(2, 3\). A tagger of wo"),
    "no logits": (lambda logits: SimpleNamespace(states=logits), "has no tensor “logits”"),
    "integers": (lambda logits: SimpleNamespace(logits=logits.long()), "has no tensor “logits”"),
    "other width": (lambda logits: SimpleNamespace(logits=logits[..., :2]), r"\(2, 5, 2\)"),
}


@pytest.mark.parametrize(("returns", "message"), DECLINED.values(), ids=DECLINED)
def test_output_without_scores_of_words_is_rejected(returns, message):
    seen = watched(Classifier(returns=returns), PIECES)
    with pytest.raises(FormatError, match=message):
        seen.potentials  # noqa: B018 - it reads
    assert len(seen.notes) == 1


def test_scores_beyond_the_limit_are_noted_and_not_reported_as_no_call(monkeypatch):
    monkeypatch.setattr("crfviz.taggers.brought.classifier.MAX_BYTES", 8 * 30)  # of one call
    model = Classifier()
    with torch.no_grad(), crfviz.watch(model.eval()) as seen:
        model(PIECES)
        model(PIECES)
    assert [chain.num_tokens for chain in seen.potentials] == [5, 5]
    assert any("Later calls are not recorded" in note for note in seen.notes)
    monkeypatch.setattr("crfviz.taggers.brought.classifier.MAX_BYTES", 8 * 29)
    with pytest.raises(FormatError, match="The call is too large"):
        watched(model, PIECES).potentials  # noqa: B018 - it reads


def test_model_without_a_recorded_call_has_a_note():
    with crfviz.watch(Classifier()) as seen:
        pass
    assert seen.potentials == []
    assert "No call of the model was seen" in seen.notes[0]
    assert "token classifier" in repr(seen)


def test_labels_with_a_missing_id_are_rejected():
    with pytest.raises(FormatError, match="id2label"):
        crfviz.watch(Classifier(labels={0: "O", 2: "X"}))


def test_classifier_with_a_square_table_of_its_tags_is_searched_for_a_chain():
    model = Classifier()
    model.transitions = nn.Parameter(torch.randn(3, 3))
    seen = watched(model, PIECES)
    with pytest.raises(FormatError, match="No chain was found"):
        seen.potentials  # noqa: B018 - it searches
    with pytest.raises(FormatError, match="token classifier"):
        seen.word_ids = WORD_IDS
