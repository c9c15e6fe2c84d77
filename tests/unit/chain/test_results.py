"""Results name their tags, and their texts fit a screen, whatever the size of the chain."""

import copy
import json
import pickle

import pytest
import torch

import crfviz
from crfviz.chain.distribution import Path, TagIds
from tests.support import oracle

TAGS = ("A", "B", "C")


def chain(num_tokens=4, num_tags=3, seed=0, **names):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    tables = normal(num_tokens, num_tags), normal(num_tags, num_tags)
    return crfviz.Potentials(*tables, normal(num_tags), normal(num_tags), **names)


def paths_of(potentials):
    generator = torch.Generator().manual_seed(1)
    return {
        "viterbi": crfviz.viterbi(potentials).path,
        "independent": crfviz.greedy(potentials),
        "left to right": crfviz.greedy(potentials, "left_to_right"),
        "max-marginal": crfviz.max_marginal(potentials),
        "second": crfviz.k_best(potentials, 2)[1].tags,
        "sample": crfviz.sample(potentials, 1, generator)[0].tags,
        "rule": crfviz.match(potentials, f".* {potentials.tag_names[1]} .*").path,
        "why not": crfviz.why_not(potentials, 0, 1).path,
    }


@pytest.mark.parametrize("seed", range(5))
def test_result_paths_are_lists_of_ids_with_names(seed):
    potentials = chain(seed=seed, tags=TAGS)
    best = max(oracle.paths(potentials).items(), key=lambda item: item[1])[0]
    for how, path in paths_of(potentials).items():
        assert isinstance(path, list)
        assert all(type(tag) is int for tag in path)
        assert path.names == ["ABC"[tag] for tag in path], how
        assert json.loads(json.dumps(path)) == list(path)
        # S301: our own
        for same in (copy.copy(path), copy.deepcopy(path), pickle.loads(pickle.dumps(path))):  # noqa: S301
            assert (same, same.names) == (path, path.names)
    found = crfviz.viterbi(potentials)
    assert found.path == list(best)
    assert found.names == ["ABC"[tag] for tag in best]
    for path in crfviz.k_best(potentials, 3):
        assert path.names == ["ABC"[tag] for tag in path.tags]


def test_unnamed_tags_are_named_by_their_ids():
    for path in paths_of(chain()).values():
        assert path.names == list(map(str, path))
    assert Path([2, 0], 0.0, 1.0).names == ["2", "0"]
    assert TagIds([1], ("A", "B")).names == ["B"]


def results(potentials):
    path = crfviz.viterbi(potentials).path
    yield from (potentials, crfviz.viterbi(potentials), crfviz.forward_backward(potentials))
    yield from (crfviz.k_best(potentials, 1)[0], crfviz.match(potentials, "x0* .*"))
    yield from (crfviz.why_not(potentials, 0, 0), crfviz.expected_counts(potentials))
    yield crfviz.gradient_step(potentials, path, 0.1)
    yield from (crfviz.influence(potentials, 0), crfviz.soft_forward(potentials, 1.0))
    yield crfviz.padded_batch([potentials, potentials.first_words(2)])
    yield crfviz.underflow(potentials, crfviz.forward_backward(potentials))
    yield crfviz.enumerate_paths(potentials.first_words(2))


def test_repr_of_any_result_fits_a_screen():
    names = tuple(f"x{k}" for k in range(40))
    small, large = chain(tags=TAGS), chain(300, 40, tags=names, tokens=["w" * 200] * 300)
    for potentials in (small, large):
        for result in results(potentials if potentials is large else chain(tags=("x0", "b", "c"))):
            text = repr(result)
            assert len(text) < 1000  # half of 25 lines
            assert text.startswith(f"{type(result).__name__}(")
            assert "tensor(" not in text
    assert "log_alpha=<table 300 x 40>" in repr(crfviz.forward_backward(large))
    assert "path=[" in repr(crfviz.viterbi(small))
    step = crfviz.baum_welch([0.5, 0.5], [[0.5, 0.5]] * 2, [[0.5, 0.5], [0.1, 0.9]], [[0, 1]], 1)[0]
    assert "counts=MarkovCounts(start=<table 2>" in repr(step)
    assert (
        len(repr(crfviz.load_tagger("textbook/ice-cream").tag("1 2 3 " * 200))) < 1000
    )  # half of 25 lines


@pytest.mark.parametrize(
    ("export", "name"),
    [(crfviz.export_html, "a.html"), (crfviz.export_table, "a.md"), (crfviz.export_tikz, "a.tex")],
)
def test_exports_return_the_written_path(export, name, tmp_path):
    potentials = chain(tags=TAGS, tokens=list("abcd"))
    for given in (tmp_path / name, str(tmp_path / name)):
        written = export(potentials, given)
        assert written == tmp_path / name
        assert written.stat().st_size > 0
