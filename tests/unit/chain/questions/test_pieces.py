"""Three readings of word pieces against enumeration, and holes in a mask against pytorch-crf."""

import itertools
import math

import numpy as np
import pytest
import torch
import torchcrf
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.pieces import read_pieces
from crfviz.exceptions import CrfvizError, EmptySentenceError, NoPathError, ShapeError
from tests.support.strategies import chains, random_chain

PAIR = Potentials([[0.0, 1.0]] * 4, [[0.0, 0.5], [1.0, 0.0]], tags=["A", "B"], tokens=list("abcd"))


@st.composite
def split_chains(draw):
    """A chain, and the word of each position."""
    chain = draw(chains(max_tokens=5, max_tags=3))
    inside = draw(st.lists(st.booleans(), min_size=chain.num_tokens, max_size=chain.num_tokens))
    words = [0]
    for joined in inside[1:]:
        words.append(words[-1] + (not joined))
    return chain, words


def enumerated(chain, words, *, kept=None, scored=None):
    """The score of every path: over the positions `kept`, with emissions at those `scored`."""
    every = range(len(words))
    kept, scored = every if kept is None else kept, every if scored is None else scored
    emissions, start, end = (t.tolist() for t in (chain.emissions, chain.start, chain.end))
    scores = []
    for path in itertools.product(range(len(start)), repeat=len(kept)):
        score = start[path[0]] + end[path[-1]]
        for place, t in enumerate(kept):
            score += emissions[t][path[place]] if t in scored else 0.0
            if place:
                score += chain.step(t - 1).tolist()[path[place - 1]][path[place]]
        scores.append(score)
    return scores


def begun(words):
    return [t for t, word in enumerate(words) if t == 0 or words[t - 1] != word]


def log_sum(scores):
    best = max(scores)
    return (
        best
        if best == -math.inf
        else best + math.log(math.fsum(math.exp(s - best) for s in scores))
    )


@given(split_chains())
def test_each_piece_reading_equals_enumeration(case):
    chain, words = case
    starts = begun(words)
    read = read_pieces(chain, words)
    for reading, scores in (
        (read.first, enumerated(chain, words, kept=starts)),
        (read.all, enumerated(chain, words)),
        (read.holes, enumerated(chain, words, scored=starts)),
    ):
        assert reading.log_partition == pytest.approx(log_sum(scores), abs=1e-9)
        if max(scores) == -math.inf:
            with pytest.raises(NoPathError):
                _ = reading.path
        else:
            assert reading.best.score == pytest.approx(max(scores), abs=1e-9)
            assert len(reading.path) == len(reading.words)


def peer(chain):
    """The CRF layer of pytorch-crf with the scores of a chain."""
    layer = torchcrf.CRF(chain.num_tags, batch_first=True).double().requires_grad_(False)
    layer.transitions.copy_(chain.transitions)
    layer.start_transitions.copy_(chain.start)
    layer.end_transitions.copy_(chain.end)
    return layer


@pytest.mark.parametrize("seed", range(60))
def test_mask_with_holes_equals_pytorch_crf(seed):
    generator = np.random.default_rng(seed)
    num_pieces, num_tags = int(generator.integers(1, 12)), int(generator.integers(1, 5))
    chain = random_chain(seed, num_pieces, num_tags)
    if seed % 3 == 0 and num_tags > 1:  # as under BIO: a step that no path may take
        chain = chain.with_transition(0, 1, -math.inf)
    mask = generator.random(num_pieces) < 0.6
    mask[0] = True
    read, layer = read_pieces(chain, mask=mask), peer(chain)
    emissions, holed = chain.emissions[None], torch.from_numpy(mask)[None]
    path = read.pytorch_crf
    assert path.tags == layer.decode(emissions, holed)[0]
    assert path.score <= read.first.best.score
    z = layer._compute_normalizer(emissions.transpose(0, 1), holed.T)
    assert read.first.log_partition == pytest.approx(z.item(), abs=1e-9)
    for _ in range(5):
        tags = generator.integers(0, num_tags, num_pieces)
        theirs = layer(emissions, torch.from_numpy(tags)[None], holed, reduction="none").item()
        ours = read.pytorch_crf_log_likelihood(tags.tolist())
        assert ours == pytest.approx(theirs, abs=1e-9, nan_ok=True)


def test_mask_without_holes_is_correct_in_pytorch_crf():
    read = read_pieces(random_chain(3, 6, 4), range(6))
    assert read.pytorch_crf == read.first.best
    expected = math.log(read.first.best.probability)
    assert read.pytorch_crf_log_likelihood(read.first.path) == pytest.approx(expected)


def test_pytorch_crf_log_likelihood_with_holes_can_exceed_0():
    chain = Potentials([[0.0, 0.0]] * 3, [[0.0, 5.0], [0.0, 0.0]], tags=["A", "B"])
    read = read_pieces(chain, [0, 0, 1])
    assert read.first.log_partition == pytest.approx(math.log(3 + math.exp(5)))
    wrong = read.pytorch_crf_log_likelihood(["B", "A", "B"])  # pays A → B, not B → B
    assert wrong == pytest.approx(5 - read.first.log_partition)
    chain = chain.with_end("A", 9.0)  # B at the last word, but position 1 ends
    assert read_pieces(chain, [0, 0, 1]).pytorch_crf_log_likelihood([1, 0, 1]) > 0


@given(split_chains())
def test_inner_steps_join_pieces_of_one_word(case):
    chain, words = case
    read = read_pieces(chain, words)
    for reading in (read.all, read.holes, read.first):
        if reading.log_partition == -math.inf:
            continue
        path = reading.path
        expected = [
            (t, (path[t - 1], path[t]), reading.potentials.step(t - 1)[path[t - 1], path[t]].item())
            for t in range(1, len(path))
            if reading.words[t] == reading.words[t - 1]
        ]
        assert [(s.position, s.tags, s.score) for s in reading.inner_steps] == expected
    assert read.first.log_partition == -math.inf or read.first.inner_steps == []


@pytest.mark.parametrize("per_step", [False, True])
def test_special_tokens_and_padding_are_left_out(per_step):
    chain = random_chain(5, 7, 3)
    if per_step:
        steps = np.random.default_rng(1).normal(size=(6, 3, 3))
        chain = Potentials(chain.emissions, steps, chain.start, chain.end)
    read = read_pieces(chain, [None, 4, 4, 5, 7, None, None])
    inner = Potentials(
        chain.emissions[1:5],
        chain.transitions[1:4] if per_step else chain.transitions,
        chain.start,
        chain.end,
    )
    expected = read_pieces(inner, [0, 0, 1, 2])
    assert read.all.words == [4, 4, 5, 7]
    assert read.first.words == [4, 5, 7]
    for name in ("first", "all", "holes"):
        mine, other = getattr(read, name), getattr(expected, name)
        assert (mine.path, mine.log_partition) == (other.path, other.log_partition)


@pytest.mark.parametrize("of", [list, np.array, torch.tensor])
def test_mask_is_equivalent_to_word_ids(of):
    read = read_pieces(PAIR, mask=of([False, True, False, True]))
    assert read.all.words == [0, 0, 1]
    assert read.starts == [0, 2]
    assert read.first.potentials.tokens == ("b", "d")
    assert read.holes.potentials.emissions.tolist() == [[0.0, 1.0], [0.0, 0.0], [0.0, 1.0]]
    ids = read_pieces(PAIR, of([0, 0, 1, 1]) if of is not list else [0, 0, 1, 1])
    assert ids.all.words == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"word_ids": [0, 0, 1]}, "word_ids must have 4 pieces, got 3"),
        ({"mask": [True]}, "mask must have 4 pieces, got 1"),
        ({"word_ids": [0, 1, 0, 1]}, "never fall.* got 0 at piece 2"),
        ({"word_ids": [-1, 0, 1, 2]}, "got -1 at piece 0"),
        ({"word_ids": [0, 1, 2, 2.5]}, "got 2.5 at piece 3"),
        ({"word_ids": [True, False, True, True]}, "got True at piece 0"),
        ({"word_ids": 4}, "word_ids must be a list, got 4"),
        ({"word_ids": [0, None, 1, None]}, "piece 1 belongs to no word but is between words"),
        ({"mask": [[True] * 4]}, "mask must be \\(P,\\)"),
        ({"mask": [1, 2, 0, 1]}, "mask must be \\(P,\\)"),
        ({"mask": ["yes"] * 4}, "mask must be numbers"),
        ({"mask": [math.nan] * 4}, "mask must be \\(P,\\)"),
    ],
)
def test_mask_or_word_ids_of_the_wrong_shape_are_rejected(arguments, message):
    with pytest.raises(ShapeError, match=message):
        read_pieces(PAIR, **arguments)


def test_pieces_without_a_word_or_with_both_mask_and_ids_are_rejected():
    with pytest.raises(EmptySentenceError, match="at least one piece"):
        read_pieces(PAIR, [None] * 4)
    with pytest.raises(EmptySentenceError, match="at least one piece"):
        read_pieces(PAIR, mask=[False] * 4)
    with pytest.raises(CrfvizError, match="one of both"):
        read_pieces(PAIR, [0] * 4, mask=[True] * 4)
    with pytest.raises(CrfvizError, match="one of both"):
        read_pieces(PAIR)


def test_pytorch_crf_path_raises_where_words_have_no_path():
    read = read_pieces(PAIR.pin({0: "A"}).with_start("A", -math.inf), [0, 0, 1, 1])
    for ask in (lambda: read.pytorch_crf, lambda: read.pytorch_crf_log_likelihood([0, 0, 0, 0])):
        with pytest.raises(NoPathError):
            ask()
