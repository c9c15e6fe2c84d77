"""The CRF layer: equal to pytorch-crf where that is right, and right where it is not."""

import math
from itertools import product

import pytest
import torch
import torchcrf

from crfviz.chain.crf import CRF
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import (
    CrfvizError,
    EmptySentenceError,
    ScoreError,
    ShapeError,
    UnknownTagError,
)
from tests.support import oracle
from tests.support.close import assert_close

INF = math.inf


def batch(seed=0, B=6, T=7, K=4, dtype=torch.float64):
    """A ragged batch: emissions, tags, mask. The first sentence is full, another has one word."""
    generator = torch.Generator().manual_seed(seed)
    emissions = torch.randn(B, T, K, generator=generator, dtype=dtype)
    tags = torch.randint(K, (B, T), generator=generator)
    lengths = torch.randint(1, T + 1, (B,), generator=generator)
    lengths[0], lengths[-1] = T, 1
    return emissions, tags, torch.arange(T) < lengths[:, None]


def layer(K=4, dtype=torch.float64, seed=1):
    """A CRF with transitions that matter."""
    crf = CRF(K).to(dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return crf


def potentials_of(crf, emissions):
    return Potentials(
        emissions,
        crf.transitions.detach(),
        crf.start_transitions.detach(),
        crf.end_transitions.detach(),
    )


@pytest.mark.parametrize(
    ("dtype", "close"), [(torch.float64, 1e-9), (torch.float32, 1e-4)], ids=["float64", "float32"]
)
@pytest.mark.parametrize("seed", range(5))
def test_loss_gradients_and_paths_equal_pytorch_crf(seed, dtype, close):
    emissions, tags, mask = batch(seed, dtype=dtype)
    peer = torchcrf.CRF(4, batch_first=True).to(dtype)
    peer.load_state_dict(layer(dtype=dtype, seed=seed).state_dict())
    crf = CRF(4).to(dtype)
    crf.load_state_dict(peer.state_dict())  # a checkpoint of pytorch-crf loads as it is

    ours = emissions.clone().requires_grad_()
    theirs = emissions.clone().requires_grad_()
    loss = crf.log_likelihood(ours, tags, mask)
    expected = peer(theirs, tags, mask, reduction="none")
    assert loss.dtype == dtype
    assert_close(loss, expected, rtol=0, atol=close)
    loss.sum().backward()
    expected.sum().backward()
    assert_close(ours.grad, theirs.grad, rtol=0, atol=close)
    for name, parameter in crf.named_parameters():
        gradient = peer.get_parameter(name).grad
        assert_close(parameter.grad, gradient, rtol=0, atol=close)
    assert crf.decode(emissions, mask) == peer.decode(emissions, mask)


@pytest.mark.parametrize("seed", range(10))
def test_batch_equals_its_sentences(seed):
    emissions, tags, mask = batch(seed)
    crf = layer(seed=seed)
    likelihoods = crf.log_likelihood(emissions, tags, mask)
    paths, marginals = crf.decode(emissions, mask), crf.marginals(emissions, mask)
    for i, length in enumerate(mask.sum(-1).tolist()):
        alone = potentials_of(crf, emissions[i, :length])
        tables = forward_backward(alone)
        expected = alone.score(tags[i, :length].tolist()) - tables.log_partition
        assert likelihoods[i].item() == pytest.approx(expected, abs=1e-9)
        assert paths[i] == viterbi(alone).path
        assert_close(marginals[i, :length], tables.marginals, rtol=0, atol=1e-9)
        assert not marginals[i, length:].any()


def test_likelihood_equals_enumeration():
    emissions, tags, _ = batch(T=4)
    crf = layer()
    likelihoods = crf.log_likelihood(emissions, tags)
    for i, path in enumerate(tags.tolist()):
        expected = math.log(oracle.probability(potentials_of(crf, emissions[i]), path))
        assert likelihoods[i].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("padding", [1e6, -INF, INF, math.nan])
def test_padding_changes_no_result(padding):
    emissions, tags, mask = batch()
    padded = torch.where(mask[..., None], emissions, padding)
    padded_tags = torch.where(mask, tags, -100)
    crf = layer()
    before = torch.cat(
        [crf.log_likelihood(emissions, tags, mask), crf.marginals(emissions, mask).flatten()]
    )
    after = torch.cat(
        [crf.log_likelihood(padded, padded_tags, mask), crf.marginals(padded, mask).flatten()]
    )
    assert torch.equal(before, after)
    assert crf.decode(padded, mask) == crf.decode(emissions, mask)
    padded.requires_grad_()
    crf.log_likelihood(padded, padded_tags, mask).sum().backward()
    assert (padded.grad[~mask] == 0).all()
    assert not padded.grad.isnan().any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_forbidden_scores_leave_no_nan_in_any_gradient(dtype):
    """pytorch-crf fails here: clamping one word to one tag makes its gradients NaN."""
    emissions, tags, mask = batch(dtype=dtype)
    tags[mask] = 0
    emissions[:, 0, 1:] = -INF
    emissions[0, 3, 1:] = -INF
    crf = layer(dtype=dtype)
    with torch.no_grad():
        crf.transitions[1, 2] = crf.start_transitions[3] = crf.end_transitions[2] = -INF
    emissions.requires_grad_()
    likelihoods = crf.log_likelihood(emissions, tags, mask)
    likelihoods.sum().backward()
    assert torch.isfinite(likelihoods).all()
    assert torch.isfinite(emissions.grad).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in crf.parameters())
    observed = torch.nn.functional.one_hot(tags, 4) * mask[..., None]
    expected = observed - crf.marginals(emissions, mask)
    assert_close(emissions.grad, expected.detach(), rtol=0, atol=1e-4)


def test_forbidden_tagging_has_likelihood_minus_infinity():
    crf = layer()
    emissions = torch.zeros(2, 3, 4, dtype=torch.float64)
    emissions[0, 1, 2] = -INF
    emissions[1] = -INF
    emissions.requires_grad_()
    likelihoods = crf.log_likelihood(emissions, torch.full((2, 3), 2))
    assert likelihoods.tolist() == [-INF, -INF]
    likelihoods.sum().backward()
    assert not emissions.grad.isnan().any()
    assert not any(parameter.grad.isnan().any() for parameter in crf.parameters())


def test_tied_paths_decode_to_the_lowest_tags():
    crf = CRF(3)
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.zero_()
    assert crf.decode(torch.zeros(2, 4, 3)) == [[0, 0, 0, 0]] * 2


def test_byte_mask_equals_bool_mask():
    emissions, tags, mask = batch()
    expected = layer().log_likelihood(emissions, tags, mask)
    assert torch.equal(layer().log_likelihood(emissions, tags, mask.to(torch.uint8)), expected)


@pytest.mark.parametrize(
    ("error", "message", "change"),
    [
        (
            ShapeError,
            r"emissions must be \(B, T, 4\), got \(6, 7, 3\)",
            {"emissions": torch.zeros(6, 7, 3)},
        ),
        (
            ShapeError,
            r"emissions must be \(B, T, 4\), got \(7, 4\)",
            {"emissions": torch.zeros(7, 4)},
        ),
        (ShapeError, r"mask must be \(6, 7\) .* got \(6, 5\)", {"mask": torch.ones(6, 5).bool()}),
        (ShapeError, r"tags must be \(6, 7\) .* got \(6,\)", {"tags": torch.zeros(6).long()}),
        (EmptySentenceError, "at least one word", {"mask": torch.zeros(6, 7).bool()}),
        (
            EmptySentenceError,
            "at least one word",
            {
                "emissions": torch.zeros(6, 0, 4),
                "tags": torch.zeros(6, 0).long(),
                "mask": torch.ones(6, 0).bool(),
            },
        ),
        (
            ShapeError,
            "words after padding",
            {"mask": torch.tensor([[1, 0, 1, 1, 1, 1, 1]] * 6).bool()},
        ),
        (ScoreError, "got NaN or", {"emissions": torch.full((6, 7, 4), math.nan)}),
        (ScoreError, "got NaN or", {"emissions": torch.full((6, 7, 4), INF)}),
        (UnknownTagError, "tags must be from 0 to 3", {"tags": torch.full((6, 7), 4)}),
        (UnknownTagError, "tags must be from 0 to 3", {"tags": torch.full((6, 7), -1)}),
    ],
)
def test_invalid_input_is_named_in_the_error(error, message, change):
    emissions, tags, mask = batch()
    inputs = {"emissions": emissions, "tags": tags, "mask": mask} | change
    with pytest.raises(error, match=message):
        layer().log_likelihood(**inputs)


def test_crf_without_tags_is_rejected():
    with pytest.raises(CrfvizError, match="at least 1, got 0"):
        CRF(0)


def test_repr_shows_the_number_of_tags():
    assert repr(CRF(3)) == "CRF(num_tags=3)"


def brute_force(crf, emissions, allowed):
    """Log of the share of the paths of one sentence that are allowed, path by path."""
    chain = potentials_of(crf, emissions)
    scores = {
        path: chain.score(list(path))
        for path in product(range(emissions.shape[1]), repeat=len(emissions))
    }
    kept = [s for path, s in scores.items() if all(allowed[t][k] for t, k in enumerate(path))]
    every = math.log(math.fsum(map(math.exp, scores.values())))
    return math.log(math.fsum(map(math.exp, kept))) - every if kept else -INF


@pytest.mark.parametrize("seed", range(5))
def test_partial_likelihood_equals_enumeration(seed):
    emissions, _, mask = batch(seed, B=4, T=4, K=3)
    allowed = torch.rand(4, 4, 3, generator=torch.Generator().manual_seed(seed)) < 0.6
    allowed[1, 0] = False  # no tag is left at a word
    crf = layer(K=3, seed=seed)
    found = crf.partial_log_likelihood(emissions, allowed, mask)
    for i, length in enumerate(mask.sum(-1).tolist()):
        expected = brute_force(crf, emissions[i, :length], allowed[i, :length].tolist())
        assert found[i].item() == pytest.approx(expected, abs=1e-12)


def test_partial_likelihood_of_one_tag_per_word_equals_the_likelihood():
    emissions, tags, mask = batch()
    crf = layer()
    one = torch.nn.functional.one_hot(tags, 4).bool()
    assert_close(
        crf.partial_log_likelihood(emissions, one, mask),
        crf.log_likelihood(emissions, tags, mask),
        rtol=0,
        atol=1e-12,
    )
    everything = torch.ones_like(one)
    assert_close(
        crf.partial_log_likelihood(emissions, everything, mask), torch.zeros(6).double(), atol=1e-12
    )


def test_gradients_of_the_partial_likelihood_pass_gradcheck():
    emissions, _, mask = batch(3, B=3, T=4, K=3)
    allowed = torch.rand(3, 4, 3, generator=torch.Generator().manual_seed(3)) < 0.7
    allowed[..., 0] = True
    crf = layer(K=3)
    names = [name for name, _ in crf.named_parameters()]

    def value(emissions, *parameters):
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(crf, given, (emissions, allowed, mask))

    crf.forward = crf.partial_log_likelihood
    inputs = [emissions.requires_grad_(), *(p.detach().requires_grad_() for p in crf.parameters())]
    assert torch.autograd.gradcheck(value, inputs)
    assert torch.autograd.gradgradcheck(value, inputs)


def test_allowed_tags_of_the_wrong_shape_are_rejected():
    emissions, _, mask = batch()
    with pytest.raises(ShapeError, match=r"allowed must be \(6, 7, 4\).* got \(6, 7\)"):
        layer().partial_log_likelihood(emissions, mask, mask)
