"""Every page, opened cold by its address, shows the library's numbers."""

from collections import Counter

import pytest
import torch

from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.distribution import sample
from crfviz.chain.edits import Edits
from crfviz.chain.forward_backward import normalise
from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.views.strips.grids import SWEEP_DISPLAYS
from tests.support.screen import (
    MODEL,
    STAGES,
    TITLES,
    assert_lattice,
    assert_matrix,
    assert_rows,
    assert_table,
    chain,
    named,
)

LONGER = "The committee will present its report to the board on Monday ."
EDITS = Edits(transitions={("DET", "NOUN"): -3.25}, emissions={(1, "ADJ"): 7.5}, strength=0.5)
EDITED = {"t": "DET.NOUN:-3.25", "e": "1.ADJ:7.5", "k": "0.5"}


@pytest.mark.parametrize("path", TITLES, ids=list(TITLES.values()))
def test_page_draws_cold_by_its_address(screen, path):
    screen.visit(path)
    if path in STAGES:
        screen.wait({"name": 0, "rev": -1})
        assert_rows(screen.read(), chain())
    assert screen.params().keys() <= {"model", "sentence"}


def test_the_bare_address_draws_an_example_where_the_decoders_differ(screen):
    screen.page.goto(screen.app.url)
    screen.wait({"name": 0, "rev": -1})
    shown = screen.read()
    assert_rows(shown, chain("upos-en", " ".join(shown.words)))
    assert shown.rows["viterbi"] == shown.rows["gold"]
    assert shown.rows["greedy"] != shown.rows["viterbi"]
    assert screen.params() == {}


@pytest.mark.parametrize("edits", [None, EDITS], ids=["trained", "edited"])
def test_explore_shows_rows_lattice_and_identity(screen, edits):
    expected = chain(MODEL, LONGER, edits)
    shown = screen.open("", sentence=LONGER, **(EDITED if edits else {})).read()
    assert list(shown.rows) == ["greedy", "left_to_right", "viterbi", "max_marginal"]
    assert_rows(shown, expected)
    assert_lattice(shown, expected)
    score = expected.analysis.viterbi.score
    log_partition = expected.analysis.forward_backward.log_partition
    for value in (score, log_partition, score - log_partition):
        assert f"{value:.2f}".replace("-", "−") in shown.identity


@pytest.mark.parametrize("edits", [None, EDITS], ids=["trained", "edited"])
def test_transitions_shows_the_matrix_beside_rows_and_lattice(screen, edits):
    expected = chain(MODEL, LONGER, edits)
    shown = screen.open("transitions", sentence=LONGER, **(EDITED if edits else {})).read()
    assert_rows(shown, expected)
    assert_lattice(shown, expected)
    assert_matrix(shown, expected)
    assert {"START,DET", "DET,NOUN", "PUNCT,END"} <= shown.cells.keys()
    if edits:
        trained = chain(MODEL, LONGER)
        path = trained.analysis.viterbi.path
        assert shown.rows["viterbi_trained"] == named(path, trained.tags)


@pytest.mark.parametrize("display", ["score", "softmax", "rank"])
def test_emissions_shows_each_display(screen, display):
    expected = chain(MODEL, LONGER, EDITS)
    options = {} if display == "score" else {"v.emissions": display}
    shown = screen.open("emissions", sentence=LONGER, **EDITED, **options).read()
    emissions = expected.analysis.potentials.emissions
    order = emissions.argsort(dim=1, descending=True, stable=True)
    tables = {
        "score": ("emissions", emissions),
        "softmax": ("softmax", torch.softmax(emissions, dim=1)),
        "rank": ("rank", order.argsort(dim=1) + 1),
    }
    assert_table(shown, *tables[display])
    assert_rows(shown, expected)


def test_forward_backward_shows_both_tables_and_z_at_every_word(screen):
    expected = chain(MODEL, LONGER, EDITS)
    tables = expected.analysis.forward_backward
    screen.open("forward-backward", sentence=LONGER, **EDITED)
    shown = screen.read()
    assert_table(shown, "alpha", tables.log_alpha)
    assert_table(shown, "beta", tables.log_beta)
    log_z = f"{tables.log_partition:.4f}".replace("-", "−")
    assert shown.rows["log_z"] == [log_z] * len(expected.words)
    with screen.redraw():
        screen.page.get_by_role("radio", name=SWEEP_DISPLAYS["normalised"]).click()
    normalised = normalise(tables.log_alpha)
    screen.eventually(lambda: assert_table(screen.read(), "alpha", normalised))


def test_viterbi_shows_every_backpointer(screen):
    expected = chain(MODEL, LONGER, EDITS)
    end = {"step": str(2 * len(expected.words)), "v.nodes": "marginals"}
    shown = screen.open("viterbi", sentence=LONGER, **EDITED, **end).read()
    assert_lattice(shown, expected)
    assert_rows(shown, expected)


def test_marginals_shows_tags_paths_and_samples(screen):
    expected = chain(MODEL, LONGER, EDITS)
    shown = screen.open("marginals", sentence=LONGER, **EDITED).read()
    assert_table(shown, "marginals", expected.analysis.forward_backward.marginals)
    for rank, path in enumerate(k_best(expected.analysis.potentials, 5), start=1):
        assert shown.rows[f"best_{rank}"] == named(path.tags, expected.tags)
    samples = [row for name, row in shown.rows.items() if name.startswith("sample_")]
    drawn = sample(expected.analysis.potentials, 10, torch.Generator().manual_seed(0))
    assert len(drawn) == 10
    times = Counter(tuple(named(path.tags, expected.tags)) for path in drawn).most_common()
    assert samples == [list(path) for path, _ in times]
    assert all(set(row) <= set(expected.tags) for row in samples)


def test_models_names_every_model(screen):
    screen.visit("models")
    for name in list_taggers():
        screen.wait_for_text(name)


@pytest.mark.parametrize("model", list_taggers())
def test_every_model_draws_its_numbers(screen, model):
    textbook = load_tagger(model).observations is not None
    sentence = load_tagger(model).examples()[0].text if textbook else LONGER
    expected = chain(model, sentence)
    shown = screen.open("", sentence=sentence, model=model).read()
    assert_rows(shown, expected)
    assert_lattice(shown, expected)
