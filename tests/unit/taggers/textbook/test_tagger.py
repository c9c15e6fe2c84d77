"""The textbook chains against what the textbooks say, and their files against bad input."""

import json
import math

import numpy as np
import pytest
import torch
from hmmlearn.hmm import CategoricalHMM

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward, normalise
from crfviz.exceptions import EmptySentenceError, ModelError, UnknownObservationError
from crfviz.taggers.registry import SHIPPED, load_tagger
from crfviz.taggers.textbook import ConditionalMarkov, TextbookTagger
from tests.support.close import assert_close
from tests.support.icecream import DIARY, ice_cream

FILES = sorted((SHIPPED / "textbook").glob("*.json"))


def chain(name, text):
    return load_tagger(f"textbook/{name}").potentials(text.split())


def names(name, text):
    tagger = load_tagger(f"textbook/{name}")
    return [tagger.tags[tag] for tag in viterbi(tagger.potentials(text.split())).path]


def test_ice_cream_chain_equals_the_spreadsheet():
    ours, known = chain("ice-cream", " ".join(DIARY)), ice_cream()
    for part in ("emissions", "transitions", "start", "end"):
        assert_close(getattr(ours, part), getattr(known, part), atol=1e-12, rtol=0)


def test_fever_chain_has_the_published_numbers():
    potentials = chain("fever", "normal cold dizzy")
    best = viterbi(potentials)
    assert names("fever", "normal cold dizzy") == ["Healthy", "Healthy", "Fever"]
    assert math.exp(best.score) == pytest.approx(0.01512, abs=1e-12)
    # The table of the article: 0.3, 0.04; 0.084, 0.027; 0.00588, 0.01512.
    expected = [0.3, 0.04, 0.084, 0.027, 0.00588, 0.01512]
    assert torch.exp(best.best).flatten().tolist() == pytest.approx(expected, abs=1e-12)


def test_umbrella_chain_filters_and_smooths_as_in_the_book():
    two = forward_backward(chain("umbrella", "umbrella umbrella"))
    filtered = normalise(two.log_alpha)[:, 0].tolist()
    assert filtered == pytest.approx([0.818, 0.883], abs=5e-4)
    assert two.marginals[0, 0].item() == pytest.approx(0.883, abs=5e-4)
    assert torch.exp(two.log_beta[0]).tolist() == pytest.approx([0.69, 0.41], abs=1e-12)


def test_umbrella_of_five_days_has_the_path_of_the_book():
    days = "umbrella umbrella none umbrella umbrella"
    assert names("umbrella", days) == ["rain", "rain", "dry", "rain", "rain"]
    five = forward_backward(chain("umbrella", days))
    smoothed = [0.8673, 0.8204, 0.3075, 0.8204, 0.8673]
    assert five.marginals[:, 0].tolist() == pytest.approx(smoothed, abs=5e-5)


@pytest.mark.parametrize(
    ("path", "probability"), [("FFFBBBBBFFF", 2.66e-6), ("FFFBBBFFFFF", 3.54e-6)]
)
def test_casino_chain_scores_the_paths_of_the_book(path, probability):
    potentials = chain("casino", " ".join("THTHHHTHTTH"))
    assert math.exp(potentials.score(list(path))) == pytest.approx(probability, rel=3e-3)


@pytest.mark.parametrize("word", ["r o b", "r i b"])
def test_label_bias_chain_ignores_the_letter(word):
    potentials = chain("label-bias", word)
    assert names("label-bias", word) == ["r1", "i", "b1"]
    assert viterbi(potentials).probability == pytest.approx(0.75, abs=1e-12)
    assert forward_backward(potentials).log_partition == pytest.approx(0, abs=1e-12)
    assert potentials.transitions.shape == (2, 6, 6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("the fish walk", "DET NOUN VERB"), ("the walk", "DET NOUN"), ("dog walk", "NOUN VERB")],
)
def test_determiner_noun_verb_chain_is_solved_by_hand(text, expected):
    """p(the fish walk, DET NOUN VERB) = .7 .6 · .9 .3 · .5 .4 · .2 = 0.004536."""
    assert names("determiner-noun-verb", text) == expected.split()
    best = math.exp(viterbi(chain("determiner-noun-verb", "the fish walk")).score)
    assert best == pytest.approx(0.004536, abs=1e-12)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_chain_has_a_card_and_examples(file):
    tagger = TextbookTagger(file)
    assert tagger.name == f"textbook/{file.stem}"
    assert tagger.card().startswith("# ")
    assert "Source: " in tagger.card()
    assert all(f"| {tag} |" in tagger.card() for tag in tagger.tags)
    assert tagger.examples()
    assert tagger.probabilistic


# Durbin et al. (1998), section 3.1: p(next letter | letter) inside and outside of an island.
ISLAND = [
    [0.180, 0.274, 0.426, 0.120],
    [0.171, 0.368, 0.274, 0.188],
    [0.161, 0.339, 0.375, 0.125],
    [0.079, 0.355, 0.384, 0.182],
]
OCEAN = [
    [0.300, 0.205, 0.285, 0.210],
    [0.322, 0.298, 0.078, 0.302],
    [0.248, 0.246, 0.298, 0.208],
    [0.177, 0.239, 0.292, 0.292],
]
STAYS = {"+": 0.998, "-": 0.9995}


def cpg_by_hand():
    """The eight states from the book's tables: p(from, to) by names."""
    sides = {"+": ISLAND, "-": OCEAN}
    return {
        (a + side, b + other): STAYS[side] * p / sum(row)
        if side == other
        else (1 - STAYS[side]) / 4
        for side, table in sides.items()
        for a, row in zip("ACGT", table, strict=True)
        for b, p in zip("ACGT", row, strict=True)
        for other in sides
    }


def test_cpg_chain_has_the_tables_of_the_book():
    tagger = load_tagger("textbook/cpg")
    for (before, after), p in cpg_by_hand().items():
        j, k = tagger.tags.index(before), tagger.tags.index(after)
        assert tagger.chain.transitions[j, k] == pytest.approx(p, abs=1e-9)
    assert len(tagger.tags) == 8


def test_cpg_chain_equals_hmmlearn_on_ten_thousand_letters():
    """log Z, the best path and all posteriors; islands are drawn from the chain itself."""
    tagger = load_tagger("textbook/cpg")
    model = CategoricalHMM(8, implementation="log")
    model.startprob_ = tagger.chain.start
    model.transmat_ = tagger.chain.transitions
    model.emissionprob_ = tagger.chain.emissions
    model.n_features = 4
    letters, _ = model.sample(10_000, random_state=3)
    potentials = tagger.potentials(tagger.split("".join("ACGT"[n] for n in letters[:, 0])))
    tables, best = forward_backward(potentials), viterbi(potentials)
    log_z, posteriors = model.score_samples(letters)
    score, path = model.decode(letters)
    assert tables.log_partition == pytest.approx(log_z, rel=1e-10)
    assert np.abs(tables.marginals.numpy() - posteriors).max() < 1e-9
    assert best.score == pytest.approx(score, rel=1e-12)
    assert best.path == path.tolist()
    assert {tagger.tags[k][1] for k in best.path} == {"+", "-"}


def test_text_is_split_only_at_blanks():
    assert load_tagger("textbook/ice-cream").split(" 2 3,5\t3 ") == ["2", "3,5", "3"]


def test_single_letter_observations_need_no_blanks():
    assert load_tagger("textbook/cpg").split("AC GT\nA") == ["A", "C", "G", "T", "A"]
    assert load_tagger("textbook/umbrella").split("none umbrella") == ["none", "umbrella"]


def test_unknown_observation_error_lists_the_known_ones():
    with pytest.raises(UnknownObservationError, match=r"'4' \(number 2\): type some of 1, 2, 3"):
        chain("ice-cream", "2 4")
    with pytest.raises(EmptySentenceError, match="at least one observation"):
        chain("ice-cream", "")


GOOD = {
    "title": "Two",
    "about": "Two states.",
    "source": "made up",
    "family": "hmm",
    "states": ["A", "B"],
    "observations": ["x", "y"],
    "start": [0.5, 0.5],
    "transitions": [[0.5, 0.5], [1, 0]],
    "end": None,
    "emissions": [[1, 0], [0.25, 0.75]],
    "examples": [],
}


def test_chain_file_is_loaded_by_path(tmp_path):
    path = tmp_path / "two.json"
    path.write_text(json.dumps(GOOD))
    assert load_tagger(path).potentials(["y", "x"]).emissions[0, 0] == -torch.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"start": [0.5, 0.6]},
            r"'start' must sum to 1, got 1\.1; divided .* \[0\.4545, 0\.5455\]",
        ),
        ({"transitions": [[0.5, 0.4], [1, 0]]}, "'transitions', row 'A', must sum to 1, got 0.9"),
        ({"end": [0.5, 0]}, "'transitions and end', row 'A', must sum to 1, got 1.5"),
        ({"emissions": [[1, 0], [-0.5, 1.5]]}, "'emissions', row 'B', must hold probabilities"),
        ({"emissions": [[1, math.nan], [0, 1]]}, "must hold probabilities from 0 to 1, got nan"),
        ({"emissions": [[1, 10**400], [0, 1]]}, "'emissions' must be a list of numbers"),
        ({"emissions": [[1, math.inf], [0, 1]]}, "must hold probabilities from 0 to 1, got inf"),
        ({"emissions": [[1], [1]]}, r"'emissions' must be \(2, 2\) .* got \(2, 1\)"),
        ({"transitions": [[1], [0.5, 0.5]]}, "'transitions' must be a list of numbers"),
        ({"start": ["a", "b"]}, "'start' must be a list of numbers"),
        ({"start": None}, "'start' must be a list of numbers"),
        ({"states": ["A", "A"]}, "'states' must not repeat a name"),
        ({"observations": ["x y", "z"]}, "'observations' must hold no blanks, got 'x y'"),
        ({"family": "crf"}, "'family' must be 'hmm' or 'memm', got 'crf'"),
        ({"family": "memm"}, "'start' must have the keys x, y"),
        ({"title": " "}, "'title' must be a text"),
        ({"examples": {}}, "'examples' must be a list"),
        ({"examples": [{"tokens": ["x"]}]}, "example 1: field 'text' must be a text"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_invalid_field_is_named_with_its_file(tmp_path, change, message):
    path = tmp_path / "two.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(ModelError, match=rf"two\.json.*{message}"):
        load_tagger(str(path))


def test_conditional_chain_validates_each_row(tmp_path):
    path = tmp_path / "two.json"
    rows = {"x": [[0.5, 0.5], [1, 0]], "y": [[0.5, 0.5], [0.2, 0.2]]}
    start = {"x": [1, 0], "y": [0, 1]}
    path.write_text(json.dumps({**GOOD, "family": "memm", "start": start, "transitions": rows}))
    with pytest.raises(ModelError, match=r"'transitions\.y', row 'B', must sum to 1, got 0\.4"):
        load_tagger(path)


def test_conditional_transition_depends_on_the_next_word():
    start = np.array([[0.5, 0.5], [0.9, 0.1]])
    transitions = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.2, 0.8], [0.3, 0.7]]])
    chain = ConditionalMarkov(("A", "B"), ("x", "y"), start, transitions)
    found = chain.potentials([1, 0, 1], ["y", "x", "y"])
    assert_close(found.start, torch.tensor([0.9, 0.1]).double().log())
    assert_close(found.transitions, torch.tensor(transitions).log())
