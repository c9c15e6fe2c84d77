"""The page Words and pieces, driven with AppTest, against the library and pytorch-crf."""

import math

import pytest
import torch
import torchcrf

import crfviz
from crfviz.chain.edits import Edits
from tests.support.app_pages import opened, stage_of

SENTENCE = "My old bed got tossed in a dumpster ."


@pytest.fixture
def page(app):
    def run(**params):
        return opened(app, "pages/pieces.py", **{"model": "upos-en", "sentence": SENTENCE} | params)

    return run


def rows_of(app):
    return {row["id"]: row for row in stage_of(app)["rows"]}


def chain(edits=None, sentence=SENTENCE):
    potentials = crfviz.load_tagger("upos-en").potentials(sentence.split())
    return (edits or Edits()).apply(potentials)


def decoded_by_pytorch_crf(read):
    """The path under a mask with holes, and the log-likelihood of the first-piece path."""
    pieces = read.all.potentials
    layer = torchcrf.CRF(pieces.num_tags, batch_first=True).double().requires_grad_(False)
    layer.transitions.copy_(pieces.transitions)
    layer.start_transitions.copy_(pieces.start)
    layer.end_transitions.copy_(pieces.end)
    mask = torch.tensor([[t in read.starts for t in range(pieces.num_tokens)]])
    tags = torch.tensor([[read.first.path[word] for word in read.places]])
    emissions = pieces.emissions[None]
    return layer.decode(emissions, mask)[0], layer(emissions, tags, mask).item()


@pytest.mark.parametrize("entries", [8000, 1000, 250])
@pytest.mark.parametrize("edits", [None, Edits({("VERB", "VERB"): 3.0})])
def test_rows_figures_and_words_equal_the_library(page, entries, edits):
    app = page(**{"v.vocabulary": str(entries), **({"t": "VERB.VERB:3"} if edits else {})})
    read, rows = crfviz.pieces(chain(edits), entries=entries), rows_of(app)
    assert stage_of(app)["words"] == list(read.all.potentials.tokens)
    assert rows["all"]["tags"] == read.all.path
    assert rows["holes"]["tags"] == read.holes.path
    path, likelihood = decoded_by_pytorch_crf(read)
    for name, tags in (("first", crfviz.viterbi(chain(edits)).path), ("pytorch_crf", path)):
        own = [tag for tag in rows[name]["tags"] if tag >= 0]
        assert own == tags
    figures = app.dataframe[0].value
    readings = read.first, read.all, read.holes
    assert figures["log Z"].tolist()[:3] == [reading.log_partition for reading in readings]
    assert figures["best score"].tolist()[:3] == [reading.best.score for reading in readings]
    assert figures["log Z"].iloc[3] == crfviz.forward_backward(chain(edits)).log_partition
    assert figures["best score"].iloc[3] == pytest.approx(chain(edits).score(path))
    exact = math.log(read.first.best.probability)
    note = app.markdown[-1].value.replace("\\", "").replace("−", "-")
    assert f"it takes {likelihood:.4f}, not {exact:.4f}" in note


def test_inner_steps_are_the_transitions_of_the_path(page):
    rows = rows_of(page(**{"v.vocabulary": "8000"}))
    read = crfviz.pieces(chain())
    names = chain().tag_names
    for name in ("all", "holes"):
        path, titles = getattr(read, name).path, rows[f"{name}_steps"]["titles"]
        for t, title in enumerate(titles):
            moves = f"{names[path[t - 1]]} → {names[path[t]]} "
            assert title.startswith(moves) if t and t not in read.starts else title == ""
            if title:
                score = float(title.split()[-1].replace("−", "-"))
                expected = chain().transitions[path[t - 1], path[t]].item()
                assert score == pytest.approx(expected, abs=5e-5)


def test_largest_splitting_vocabulary_is_the_default(page):
    app = page(sentence="These look fine to me .")
    assert stage_of(app)["words"] == ["The", "##se", "look", "fin", "##e", "to", "me", "."]
    assert "v.vocabulary" not in app.query_params
    app.segmented_control(key="view.vocabulary").set_value("8000").run()
    assert app.query_params["v.vocabulary"] == "8000"
    assert stage_of(app)["words"] == ["These", "look", "fine", "to", "me", "."]
    assert app.dataframe[0].value["log Z"].nunique() == 1


@pytest.mark.parametrize("reading", ["all", "holes"])
def test_lattice_shows_the_chosen_reading(page, reading):
    data = stage_of(page(**{"v.pieces": reading}))
    expected = getattr(crfviz.pieces(chain()), reading)
    assert data["panels"]["main"] == ["strips", "lattice"]
    assert data["results"]["path"] == expected.path
    assert data["results"]["log_partition"] == expected.log_partition


def test_tables_equal_the_picture(page):
    table = page(**{"v.twin": "1"}).dataframe[-1].value
    read = crfviz.pieces(chain())
    names = chain().tag_names
    assert table.loc["all pieces"].tolist() == [names[k] for k in read.all.path]
    assert table.loc["first pieces"].tolist()[4:8] == ["VERB", "–", "–", "ADP"]
    assert table.loc["inner steps, all pieces"].iloc[5].startswith("VERB → VERB")


def test_transitions_per_step_are_rejected_and_whole_words_shown(page):
    app = page(model="upos-en-perceptron")
    assert "its own matrix" in app.info[0].value
    assert stage_of(app)["words"] == SENTENCE.split()


def test_without_a_path_the_readings_have_dashes(page):
    app = page(model="ner-en", sentence="Nokia Oyj", p="0.I-PER", **{"v.twin": "1"})
    assert rows_of(app)["first"]["tags"] is None
    assert app.dataframe[0].value["log Z"].tolist() == [-math.inf] * 3
    assert set(app.dataframe[-1].value.loc["all pieces"]) == {"–"}


def test_long_sentence_is_cut_to_whole_words_that_fit(page):
    words = ["unbelievable", "tokenization"] * 30
    app = page(sentence=" ".join(words), **{"v.vocabulary": "250"})
    data, read = stage_of(app), crfviz.pieces(chain(sentence=" ".join(words)), entries=250)
    whole = [w for w in range(60) if read.places.index(w) + read.places.count(w) <= 120]
    assert data["words"] == list(read.all.potentials.tokens)[: sum(w in whole for w in read.places)]
    assert any(f"The first {len(whole)} of 60 words" in each.value for each in app.caption)
