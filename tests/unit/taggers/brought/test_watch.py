"""What is seen of a running model: chains, paths and notes, against pytorch-crf and enumeration."""

import pytest
import spacy
import torch
import torchcrf
from torch import nn

import crfviz
from crfviz import FormatError, ScoreError, ShapeError, forward_backward, viterbi, watch
from crfviz.taggers.brought import adapters
from crfviz.taggers.registry import list_taggers
from tests.support import oracle

TAGS = ["DET", "NOUN", "VERB"]
WORDS = [["The", "dog", "barks", "."], ["Night", "falls"], ["Time", "flies", "fast"]]
MASK = torch.tensor([[t < len(words) for t in range(4)] for words in WORDS])
HOLED = torch.tensor([[True, False, True, True], [True, True, False, False], [True] * 4])


class Tagger(nn.Module):
    """A network with a CRF on top, as people write it."""

    def __init__(self, layer):
        super().__init__()
        self.scores = nn.Linear(5, 3)
        self.crf = layer

    def forward(self, features, mask, gold=None):
        emissions = self.scores(features)
        loss = None if gold is None else -self.crf(emissions, gold, mask)
        return loss, self.crf.decode(emissions, mask)


def random_layer(seed=7):
    torch.manual_seed(seed)
    layer = torchcrf.CRF(3, batch_first=True).double().eval().requires_grad_(False)
    for weights in layer.parameters():
        nn.init.normal_(weights)
    return layer


@pytest.fixture
def layer():
    return random_layer()


@pytest.fixture
def emissions():
    return torch.randn(3, 4, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


@pytest.fixture
def tagger(layer):
    return Tagger(layer.float()).eval().requires_grad_(False)


@pytest.fixture
def features():
    return torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("batch_first", [False, True], ids=["time first", "batch first"])
@pytest.mark.parametrize(("dtype", "within"), [(torch.float32, 1e-5), (torch.float64, 1e-9)])
def test_chains_and_paths_equal_pytorch_crf(layer, emissions, batch_first, dtype, within):
    layer.to(dtype).batch_first = batch_first
    given = (emissions.to(dtype), MASK)
    turned = given if batch_first else [each.transpose(0, 1) for each in given]
    with watch(layer, TAGS, WORDS) as seen:
        decoded = layer.decode(*turned)
    log_z = layer._compute_normalizer(*[each.transpose(0, 1) for each in given])
    assert seen.theirs == decoded == [viterbi(chain).path for chain in seen.potentials]
    assert [list(chain.tokens) for chain in seen.potentials] == WORDS
    assert {chain.tags for chain in seen.potentials} == {tuple(TAGS)}
    for chain, theirs in zip(seen.potentials, log_z.tolist(), strict=True):
        assert forward_backward(chain).log_partition == pytest.approx(theirs, rel=within)
        assert oracle.log_partition(chain) == pytest.approx(theirs, rel=within)
        assert tuple(viterbi(chain).path) in oracle.best_paths(chain)
    assert seen.notes == []


def test_loss_and_decoding_of_one_batch_are_recorded_once(tagger, features):
    gold = torch.zeros(3, 4, dtype=torch.long)
    with watch(tagger, tags=TAGS) as seen:
        loss, paths = tagger(features, MASK, gold)
        _, again = tagger(features[:1], mask=MASK[:1])
    assert seen.theirs == paths + again
    chains = seen.potentials[:3]
    likelihoods = (
        chain.score([0] * chain.num_tokens) - forward_backward(chain).log_partition
        for chain in chains
    )
    assert -loss.item() == pytest.approx(sum(likelihoods), rel=1e-5)
    assert [chain.num_tokens for chain in seen.potentials] == [4, 2, 3, 4]


def test_repeated_batch_is_recorded_twice(layer, emissions):
    with watch(layer) as seen:
        layer.decode(emissions, MASK)
        layer.decode(emissions, MASK)
        layer(emissions, torch.zeros(3, 4, dtype=torch.long), MASK)
    assert len(seen.potentials) == len(seen.theirs) == 6
    assert None not in seen.theirs


def test_equal_scores_with_another_mask_are_a_new_batch(layer, emissions):
    with watch(layer) as seen:
        layer(emissions, torch.zeros(3, 4, dtype=torch.long), MASK)
        layer.decode(emissions, torch.ones_like(MASK))
    assert [chain.num_tokens for chain in seen.potentials] == [4, 2, 3, 4, 4, 4]
    assert seen.theirs[:3] == [None] * 3


def test_without_a_mask_all_positions_are_words(emissions):
    layer = crfviz.CRF(3).double().eval().requires_grad_(False)
    seen = watched(layer, emissions)
    assert [chain.num_tokens for chain in seen.potentials] == [4, 4, 4]
    assert seen.theirs == [viterbi(chain).path for chain in seen.potentials]


@pytest.mark.parametrize("part", ["whole", "layer"])
def test_training_mode_of_the_model_or_layer_is_noted(tagger, features, part):
    tagger.training, tagger.crf.training = part == "whole", part == "layer"
    with watch(tagger) as seen:
        tagger(features, MASK)
    assert [note.split(":")[0] for note in seen.notes] == ["The model is in training mode"]


def test_without_decoding_chains_have_no_paths(layer, emissions):
    with watch(layer) as seen:
        layer(emissions, torch.zeros(3, 4, dtype=torch.long), MASK, reduction="none")
    assert len(seen.potentials) == 3
    assert seen.theirs == [None] * 3


def test_crfviz_layer_is_recognised(emissions):
    layer = crfviz.CRF(3).double().eval()
    with torch.no_grad(), watch(layer) as seen:
        likelihood = layer.log_likelihood(emissions, torch.zeros_like(MASK).long(), MASK)
        paths = layer.decode(emissions, MASK)
    assert seen.theirs == paths
    scores = [c.score([0] * c.num_tokens) - oracle.log_partition(c) for c in seen.potentials]
    assert likelihood.tolist() == pytest.approx(scores)


@pytest.mark.parametrize("fails", [False, True])
def test_layer_is_restored_after_the_block(layer, emissions, fails):
    before = dict(vars(layer))
    every = torch.ones_like(MASK)
    with watch(layer) as outer:
        one = vars(layer)["decode"]
        assert one.__doc__ == torchcrf.CRF.decode.__doc__
        with pytest.raises(RuntimeError) if fails else watch(layer) as inner, watch(layer):
            layer.decode(emissions, every)
            if fails:
                raise RuntimeError
        assert vars(layer)["decode"] is one
    assert vars(layer) == before
    assert len(outer.potentials) == 3
    if not fails:
        assert len(inner.potentials) == 3
    layer.decode(emissions, every)
    assert len(outer.potentials) == 3


def test_nested_block_records_once(layer, emissions):
    seen = watch(layer)
    with seen, seen:
        layer.decode(emissions, MASK)
    assert len(seen.potentials) == 3
    assert "decode" not in vars(layer)


def test_empty_sentence_is_left_out(emissions):
    layer = crfviz.CRF(3).double().eval().requires_grad_(False)
    # ARG005: as `CRF.decode` has them
    layer.decode = lambda emissions, mask: [[0], [], [1, 2]]  # noqa: ARG005
    mask = torch.tensor([[True] + [False] * 3, [False] * 4, [True, True, False, False]])
    seen = watched(layer, emissions, mask)
    assert [chain.num_tokens for chain in seen.potentials] == [1, 2]
    assert seen.theirs == [[0], [1, 2]]
    assert seen.notes[0] == "A sentence without a word was left out."


def test_library_errors_propagate_and_record_nothing(layer):
    with watch(layer) as seen, pytest.raises(ValueError, match="expected last dimension"):
        layer.decode(torch.zeros(1, 2, 9))
    with watch(layer), pytest.raises(TypeError):
        layer.decode()
    assert seen.potentials == []
    assert seen.notes == [
        "No call of decode, forward, log_likelihood, marginals was seen. Call the model inside of "
        "the with block."
    ]


def test_later_changes_of_weights_do_not_change_recorded_chains(layer, emissions):
    seen = watched(layer, emissions, MASK)
    expected = [oracle.log_partition(chain) for chain in watched(layer, emissions, MASK).potentials]
    emissions.zero_()
    layer.transitions.zero_()
    assert [oracle.log_partition(chain) for chain in seen.potentials] == expected


def watched(layer, *given, **options):
    with watch(layer, **options) as seen:
        layer.decode(*given)
    return seen


def test_holes_in_a_mask_are_closed_and_pytorch_crf_paths_are_noted():
    """Its log Z joins the words that are left; its path goes through the holes."""
    wrong = 0
    for seed in range(10):
        layer = random_layer(seed)
        emissions = torch.randn(3, 4, 3, dtype=torch.float64) * 3
        seen = watched(layer, emissions, HOLED)
        joined = seen.potentials[0]
        assert torch.equal(torch.as_tensor(joined.emissions), emissions[0, [0, 2, 3]])
        log_z = layer._compute_normalizer(emissions.transpose(0, 1), HOLED.T)
        for chain, theirs in zip(seen.potentials, log_z.tolist(), strict=True):
            assert oracle.log_partition(chain) == pytest.approx(theirs)
        assert seen.notes[0] == (
            "sentence 1: the mask has holes at 2; the chain joins the 3 words that are left."
        )
        best = viterbi(joined).path
        assert seen.theirs == layer.decode(emissions, HOLED)
        assert len(seen.notes) == 1 + (seen.theirs[0] != best)
        if seen.theirs[0] != best:
            wrong += 1
            assert seen.notes[1].startswith("sentence 1: the path of pytorch-crf has ")
            assert seen.notes[1].endswith(
                " less, because pytorch-crf follows backpointers of masked positions."
            )
    assert wrong > 2


def test_training_gradients_and_half_precision_are_noted(layer, emissions):
    layer.train().requires_grad_(True)
    with watch(layer) as seen:
        layer(emissions.requires_grad_(), torch.zeros(3, 4, dtype=torch.long), MASK).backward()
    assert emissions.grad is not None
    assert [note.split(":")[0] for note in seen.notes] == [
        "The model is in training mode",
        "Gradients are on",
    ]
    assert not any(chain.emissions.requires_grad for chain in seen.potentials)
    layer.half().eval().requires_grad_(False)
    seen = watched(layer, emissions.detach().half(), MASK)
    assert seen.notes[0].startswith("The scores are float16, which has 2 or 3 digits")
    assert seen.theirs == [list(oracle.allowed(chain)[0][0]) for chain in seen.potentials]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_scores_on_a_gpu_are_copied(layer, emissions):
    here = watched(layer, emissions, MASK)
    there = watched(layer.cuda(), emissions.cuda(), MASK.cuda())
    assert there.theirs == here.theirs
    assert there.notes == ["The scores are on cuda:0: they were copied to the CPU."]
    for one, other in zip(here.potentials, there.potentials, strict=True):
        assert torch.equal(torch.as_tensor(one.emissions), torch.as_tensor(other.emissions))


def test_transformer_tags_are_read_from_its_config(tagger, features):
    tagger.config = type("Config", (), {"id2label": {"2": "C", "0": "A", "1": "B"}})()
    with watch(tagger) as seen:
        tagger(features, MASK)
    assert seen.potentials[0].tags == ("A", "B", "C")
    tagger.config.id2label = {0: "A"}
    with watch(tagger) as seen:
        tagger(features, MASK)
    assert seen.potentials[0].tags is None


def test_more_than_ten_transformer_tags_keep_their_order():
    model = nn.Sequential(crfviz.CRF(12)).eval().requires_grad_(False)
    model.config = type("Config", (), {"id2label": {str(k): f"T{k}" for k in range(12)}})()
    with watch(model) as seen:
        model[0].decode(torch.zeros(1, 1, 12))
    assert seen.potentials[0].tags == tuple(f"T{k}" for k in range(12))


def test_several_layers_need_a_label_to_be_brought(layer, emissions, tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    both = nn.ModuleDict({"pos": layer, "chunk": random_layer(8)}).eval()
    with watch(both, TAGS, WORDS) as seen:
        for one in both.values():
            one.decode(emissions, MASK)
    assert len(seen.potentials) == 6
    assert [chain.tokens for chain in seen.potentials[:3]] == [tuple(words) for words in WORDS]
    with pytest.raises(FormatError, match=r"chain for each of pos, chunk.*label='pos'"):
        seen.bring("mine")
    tagger = seen.bring("mine", label="chunk")
    assert viterbi(tagger.potentials(WORDS[0])).path == seen.theirs[3]


def test_watched_chains_can_be_brought(layer, emissions, tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    with watch(layer, TAGS, WORDS) as seen:
        pass
    with pytest.raises(FormatError, match=r"no sentences to add. No call of decode"):
        seen.bring("mine")
    with seen:
        layer.decode(emissions, HOLED)
    seen.words = [["The", "barks", "."], ["Night", "falls"], ["Time", "flies", "very", "fast"]]
    tagger = seen.bring("mine")
    assert "mine" in list_taggers()
    assert tagger.tags == tuple(TAGS)
    for words, chain in zip(seen.words, seen.potentials, strict=True):
        assert oracle.paths(tagger.potentials(words)) == oracle.paths(chain)
    assert "the mask has holes" in tagger.card()


def test_words_of_the_wrong_length_can_be_replaced(layer, emissions):
    seen = watched(layer, emissions, MASK, words=WORDS[:2])
    with pytest.raises(ShapeError, match=r"sentence 3: expected 3 words .* got 0.*2 sentences"):
        seen.potentials  # noqa: B018 - it searches
    seen.words = [WORDS[0], ["Night"], WORDS[2]]
    with pytest.raises(ShapeError, match=r"sentence 2: expected 2 words .* got 1: \['Night'\]"):
        seen.potentials  # noqa: B018 - it searches
    seen.words = WORDS
    assert [list(chain.tokens) for chain in seen.potentials] == WORDS
    assert watched(layer, emissions[1:2, :2], MASK[1:2, :2], words=WORDS[1]).potentials[
        0
    ].tokens == (
        "Night",
        "falls",
    )


def test_invalid_scores_are_rejected_with_their_cell(layer, emissions):
    emissions[1, 3] = torch.nan  # padding
    assert len(watched(layer, emissions, MASK).potentials) == 3
    emissions[1, 1, 2] = torch.nan
    with pytest.raises(ScoreError, match=r"sentence 2: emissions\[1, 2\] must be"):
        watched(layer, emissions, MASK).potentials  # noqa: B018 - it searches


class Odd(nn.Module):
    """A layer of nobody: its matrix is [to, from], its mask true at padding."""

    def __init__(self):
        super().__init__()
        self.matrix = nn.Parameter(torch.tensor([[1.0, -2.0], [0.5, 0.0]]))

    def best(self, scores, padding):
        return (scores.argmax(-1) * 0 + ~padding).tolist()


def read_odd(layer, given):
    return {
        "emissions": given["scores"],
        "transitions": layer.matrix.T,
        "mask": ~given["padding"],
        "tags": ["a", "b"],
    }


@pytest.fixture
def no_adapters(monkeypatch):
    monkeypatch.setattr(adapters, "_registered", {})


@pytest.mark.usefixtures("no_adapters")
def test_adapter_for_another_layer_can_be_registered():
    layer, padding = Odd(), torch.tensor([[False, False], [False, True]])
    crfviz.register_adapter("Odd", read_odd, methods=["best"])
    with watch(nn.Sequential(layer).eval()) as seen:
        layer.best(torch.zeros(2, 2, 2), padding)
    two, one = seen.potentials
    assert (two.tags, two.num_tokens, one.num_tokens) == (("a", "b"), 2, 1)
    assert two.transitions.tolist() == [[1.0, 0.5], [-2.0, 0.0]]
    assert seen.theirs == [[1, 1], [1]]
    assert seen.notes[0] == (
        "sentence 1: the path of Odd has b at word 1, the best path a: theirs scores 1 less."
    )
    crfviz.register_adapter("Odd", lambda *_: {"tags": ["a"]}, methods=["best"])
    with watch(layer), pytest.raises(FormatError, match="emissions and transitions, got tags"):
        layer.best(torch.zeros(2, 2, 2), padding)


@pytest.mark.usefixtures("no_adapters")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"emissions": 3}, r"Odd: emissions must be \(B, T, K\), got \(\)"),
        ({"emissions": torch.zeros(2, 2)}, r"emissions must be \(B, T, K\), got \(2, 2\)"),
        ({"mask": [True, False]}, r"mask must be \(2, 2\) to match the emissions, got \(2,\)"),
        ({"words": [["a"]]}, "expected the words of 2 sentences, got 1"),
        ({"emissions": "abc"}, "Odd: emissions must be numbers"),
        ({"scores": 1}, "Odd: there is no field 'scores'; known: "),
    ],
)
def test_result_of_a_registered_adapter_is_validated(changes, said):
    layer, padding = Odd(), torch.tensor([[False, False], [False, True]])
    crfviz.register_adapter("Odd", lambda *given: {**read_odd(*given), **changes}, methods=["best"])
    with watch(layer), pytest.raises(crfviz.CrfvizError, match=said):
        layer.best(torch.zeros(2, 2, 2), padding)


def test_repr_shows_layers_and_number_of_sentences(layer, emissions):
    assert repr(watch(layer)) == "Watch(CRF of pytorch-crf, 0 sentences)"
    both = nn.ModuleDict({"pos": layer, "chunk": crfviz.CRF(3)}).eval().requires_grad_(False)
    with watch(both) as seen:
        layer.decode(emissions, MASK)
    assert repr(seen) == "Watch(CRF of pytorch-crf, CRF of pytorch-crf, 3 sentences)"


class Fixed(nn.Module):
    """A layer that says [1, 1] to everything, in a list or a tensor."""

    def decode(self, emissions, length=2):
        return torch.ones(len(emissions), 2).long() if length == 2 else [[1] * length]


NEVER = -torch.inf


@pytest.mark.usefixtures("no_adapters")
@pytest.mark.parametrize(
    ("transitions", "length", "said"),
    [
        ([[0.0, 0.0], [0.0, 0.0]], 2, "has 1 at word 1, the best path 0: theirs ties with it."),
        ([[0.0, 0.0], [0.0, -1e-7]], 2, "has 1 at word 1, the best path 0: theirs ties with it."),
        ([[0.0, 1.0], [0.0, 0.5]], 2, "has 1 at word 1, the best path 0: theirs scores 0.5 less."),
        ([[NEVER, 0.0], [0.0, NEVER]], 2, "has 1 at word 2, the best path 0: theirs is forbidden."),
        ([[NEVER, NEVER], [NEVER, NEVER]], 2, "is forbidden, and so is every other."),
        ([[0.0, 0.0], [0.0, 0.0]], 3, "has 3 tags for 2 words."),
        ([[0.0, 0.0], [0.0, 1.0]], 2, None),
    ],
)
def test_paths_that_are_not_best_are_noted(transitions, length, said):
    layer = Fixed().eval()
    crfviz.register_adapter(
        "Fixed", lambda _, given: {"emissions": given["emissions"], "transitions": transitions}
    )
    with watch(layer) as seen:
        layer.decode(torch.zeros(1, 2, 2), length)
    assert seen.theirs == [[1] * length]
    assert seen.notes == ([f"sentence 1: the path of Fixed {said}"] if said else [])


@pytest.mark.usefixtures("no_adapters")
def test_registered_adapter_overrides_a_built_in_one(layer, emissions):
    def read(_, given):
        return {"emissions": given["emissions"], "transitions": torch.zeros(3, 3)}

    crfviz.register_adapter("CRF", read)
    assert not watched(layer, emissions, MASK).potentials[0].transitions.any()


def stripped(layer):
    del layer.transitions
    return layer


def without(layer, name, value=None):
    delattr(layer, name)
    setattr(layer, name, value)
    return layer


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: nn.Sequential(nn.Linear(2, 3)), r"CRF layer of pytorch-crf.*'Linear, Sequential'"),
        (lambda: torchcrf.CRF, "torch.nn.Module, .* got the class CRF"),
        (lambda: "upos-en", "torch.nn.Module, .* got str"),
        (lambda: spacy.blank("en"), "English of spaCy is not a linear chain"),
        (lambda: spacy.blank("en").add_pipe("beam_ner"), "spaCy is not a linear chain"),
        (
            lambda: stripped(random_layer()),
            "got 'CRF' with the parameters start_.*, end_transitions",
        ),
        (lambda: without(random_layer(), "transitions"), "tensor transitions, got NoneType"),
        (lambda: without(random_layer(), "transitions", torch.zeros(3)), r"\(K, K\), got \(3,\)"),
    ],
)
def test_module_without_a_chain_is_rejected(make, said):
    with pytest.raises(crfviz.CrfvizError, match=said):
        watch(make())


def test_tags_that_do_not_fit_the_layer_are_rejected(layer):
    with pytest.raises(
        ShapeError, match=r"CRF of pytorch-crf: expected 3 tags .* \(3, 3\), got 2: \['A', 'B'\]"
    ):
        watch(nn.Sequential(layer), tags=["A", "B"])
