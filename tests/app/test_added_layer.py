"""Model errors: what a CRF layer would add, the sentences it changes, and the model with it."""

from dataclasses import replace
from itertools import pairwise, product
from urllib.parse import parse_qs, urlsplit

import pytest
import torch

import crfviz
from crfviz.chain.potentials import Potentials
from crfviz.corpus.tables.layer_gain import LayerGain, changed_table, layer_gain, sample_of
from crfviz.corpus.training.transitions import FittedTransitions
from crfviz.text.sentences import Sentence
from crfviz.ui import cached
from crfviz.ui.errors import added_layer
from crfviz.ui.errors.added_layer import fitted_edits, without_transitions
from crfviz.ui.session import scheduling as turns
from crfviz.ui.state.link import decode
from crfviz.ui.state.link_reader import Models
from tests.support.app_pages import new_app, open_at

PAGE = "pages/model-errors.py"
DECODERS = {"v.tab": "What the CRF buys"}


@pytest.fixture(scope="module")
def measured():
    """The page after a click on the button."""
    app = new_app()
    app.query_params.update({"model": "upos-en", **DECODERS})
    open_at(app, PAGE)
    return fit(app)


def fit(app):
    app.button(key=next(b.key for b in app.button if b.label == "Fit transitions")).click().run()
    return app


def table_with(app, column):
    return next(frame.value for frame in app.dataframe if column in frame.value)


def gains(app):
    boxes = [*app.success, *app.warning, *app.info]
    return [box.value for box in boxes if "a CRF layer" in box.value]


def opened(address):
    app = new_app()
    app.query_params.update({k: v[0] for k, v in parse_qs(urlsplit(address).query).items()})
    return app.run()


def test_page_figures_equal_the_library(measured):
    assert not measured.exception
    tagger = crfviz.load_tagger("upos-en")
    sentences = tagger.tagged() or crfviz.read_sentences("models/excerpts/ewt-dev.conllu")
    chains = tagger.potentials_batch([each.tokens for each in sentences])
    gain = crfviz.crf_gain(chains, [each.tags for each in sentences])
    kinds = {"adds": "success", "loses": "warning", "cannot tell": "info"}
    assert str(gain) in [box.value for box in getattr(measured, kinds[gain.verdict])]
    changes = table_with(measured, "more words right")
    assert sorted(changes["sentence"]) == sorted(n + 1 for n in gain.repaired + gain.spoiled)
    assert set(changes[changes["change"] == "repaired"]["sentence"] - 1) == set(gain.repaired)
    for _, row in changes.iterrows():
        each, path = sentences[row["sentence"] - 1], gain.paths[row["sentence"] - 1]
        rows = chains[row["sentence"] - 1].emissions.tolist()
        alone = [tagger.tags[scores.index(max(scores))] for scores in rows]
        fitted = [tagger.tags[tag] for tag in path]
        more = sum(
            (b == right) - (a == right)
            for a, b, right in zip(alone, fitted, each.tags, strict=True)
        )
        assert row["more words right"] == more
        t = row["position"] - 1
        assert (row["gold"], row["independent tag"], row["fitted tag"]) == (
            each.tags[t],
            alone[t],
            fitted[t],
        )
        assert f"[{each.tokens[t]}]" in row["in its sentence"]


@pytest.mark.parametrize(
    ("difference", "interval", "kind", "text"),
    [
        (0.011, (0.002, 0.02), "success", "a CRF layer adds 1.1 points"),
        (-0.105, (-0.15, -0.06), "warning", "a CRF layer loses 10.5 points"),
        (0.004, (-0.002, 0.01), "info", "we cannot tell whether a CRF layer adds"),
        (-0.004, (-0.01, 0.0), "info", "the difference is −0.4 points"),
    ],
)
def test_box_has_the_colour_of_the_verdict(app, monkeypatch, difference, interval, kind, text):
    fitted = added_layer._fitted

    def with_interval(*arguments):
        layer = fitted(*arguments)
        gain = replace(layer.gain, difference=difference, interval=interval)
        return replace(layer, gain=gain)

    monkeypatch.setattr(added_layer, "_fitted", with_interval)
    monkeypatch.setattr(added_layer, "MAX_WORDS_FITTED", 300)
    monkeypatch.setattr(
        added_layer, "FIT", replace(added_layer.FIT, name=f"layer gain of {difference}")
    )
    app.query_params.update({"model": "upos-en", **DECODERS})
    fit(open_at(app, PAGE))
    (box,) = gains(app)
    assert text in box
    assert box in [each.value for each in getattr(app, kind)]


def test_links_have_the_paths_of_the_list(measured):
    changes = table_with(measured, "more words right")
    tagger = crfviz.load_tagger("upos-en")
    models = Models(["upos-en"], "upos-en", lambda _: "")
    for _, row in changes.iterrows():
        for column in ("fitted", "zero"):
            params = {k: v[0] for k, v in parse_qs(urlsplit(row[column]).query).items()}
            linked = decode(params, models)
            assert not linked.ignored
            words = cached.words("upos-en", linked.scenario.sentence)
            chain = linked.scenario.edits.apply(tagger.potentials(words))
            best = tagger.tags[crfviz.viterbi(chain).path[row["position"] - 1]]
            assert best == row["fitted tag" if column == "fitted" else "independent tag"]


def test_fitted_link_opens_with_its_edits(measured):
    app = opened(table_with(measured, "more words right")["fitted"][0])
    assert not app.exception
    assert not app.warning
    assert any("323 edits" in caption.value for caption in app.caption)  # 17 * 17 + 2 * 17


@pytest.mark.parametrize("scale", [0.4, 2.5])
def test_fitted_edits_reproduce_the_fitted_path(scale):
    generator = torch.Generator().manual_seed(0)
    tags = ("A", "B", "C")
    tables = [torch.randn(shape, generator=generator).double() for shape in ((3, 3), (3,), (3,))]
    fitted = FittedTransitions(*tables, scale, 0.01)
    edits = fitted_edits(fitted, tags, None)
    other = torch.randn(3, 3, generator=generator).double()
    chain = Potentials(torch.randn(5, 3, generator=generator).double(), other, tags=tags)
    steps, start, end = (table.tolist() for table in tables)
    rows = (chain.emissions * scale).tolist()

    def score(path):
        moves = sum(steps[a][b] for a, b in pairwise(path))
        words = sum(row[tag] for row, tag in zip(rows, path, strict=True))
        return start[path[0]] + words + moves + end[path[-1]]

    best = max(product(range(3), repeat=5), key=score)
    assert crfviz.viterbi(edits.apply(chain)).path == list(best)
    assert fitted_edits(FittedTransitions(*tables, -1.0, 0.01), tags, None) is None


@pytest.mark.parametrize("forbidden", [False, True])
def test_zero_edits_leave_only_emissions(forbidden):
    steps = torch.tensor([[0.5, -2.0], [1.0, -torch.inf if forbidden else 3.0]]).double()
    chain = Potentials(torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]]), steps, tags=("A", "B"))
    edits = without_transitions(chain, None)
    assert crfviz.viterbi(edits.apply(chain)).path == [0, 1, 1]
    assert not without_transitions(Potentials(chain.emissions, torch.zeros(2, 2)), None)


def test_sample_has_at_most_the_given_number_of_words():
    sentences = [Sentence(("a",) * n, ("X",) * n) for n in (3, 1, 4, 1, 5, 9, 2, 6)]
    kept = sample_of(sentences, 12)
    assert kept == sorted(set(kept))
    assert 0 < sum(len(sentences[n].tokens) for n in kept) <= 12
    assert sample_of(sentences, 100) == list(range(8))


def test_large_file_is_sampled_with_a_note(app, monkeypatch):
    monkeypatch.setattr(added_layer, "MAX_WORDS_FITTED", 400)
    monkeypatch.setattr(added_layer, "FIT", replace(added_layer.FIT, name="layer gain of a sample"))
    app.query_params.update({"model": "upos-en", **DECODERS})
    fit(open_at(app, PAGE))
    assert any("at most 400 words are fitted" in caption.value for caption in app.caption)
    assert "of 150" in "".join(caption.value for caption in app.caption)


def test_full_queue_is_reported(app, monkeypatch):
    monkeypatch.setattr(
        added_layer, "FIT", replace(added_layer.FIT, name="layer gain with a full queue")
    )
    app.query_params.update({"model": "upos-en", **DECODERS})
    open_at(app, PAGE)
    monkeypatch.setenv("CRFVIZ_LIMITS", "line=1")
    monkeypatch.setattr(turns.JOB_QUEUE, "_queue", [turns.Ticket("somebody else", before=0)])
    fit(app)
    assert "queue of this server is full" in app.info[0].value
    assert not gains(app)


@pytest.mark.usefixtures("measured")
def test_fitted_model_is_stored_with_its_gold_tags(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    app = new_app()
    app.query_params.update({"model": "upos-en", **DECODERS})
    open_at(app, PAGE)  # the result is cached
    app.text_input(key="layer.name").set_value("my fit")
    app.button(key="layer.keep").click().run()
    assert not app.exception
    kept = crfviz.load_tagger("my-fit")
    assert len(kept.tagged()) == 150
    tagger = crfviz.load_tagger("upos-en")
    sentence = kept.tagged()[0]
    emissions = tagger.potentials(sentence.tokens).emissions
    chain = kept.potentials(sentence.tokens)
    scales = chain.emissions / emissions
    assert torch.allclose(scales, scales[0, 0].expand_as(scales))
    assert "my-fit" in app.query_params["model"]


@pytest.mark.usefixtures("measured")
def test_servers_without_uploads_store_no_model(monkeypatch):
    monkeypatch.setenv("CRFVIZ_UPLOADS", "off")
    app = new_app()
    app.query_params.update({"model": "upos-en", **DECODERS})
    open_at(app, PAGE)
    assert gains(app)
    assert not [b for b in app.button if b.label == "Keep as a model"]


def test_too_few_sentences_are_rejected():
    tagger = crfviz.load_tagger("upos-en")
    few = crfviz.read_sentences("models/excerpts/ewt-dev.conllu")[:4]
    with pytest.raises(crfviz.CrfvizError, match="at least 5 tagged sentences, got 4"):
        layer_gain(tagger, few)


def test_changed_sentence_counts_by_its_net_change():
    sentences = [Sentence(("a", "b", "c"), ("X", "Y", "X"))]
    gain = type("Gain", (), {"repaired": (0,), "spoiled": (), "paths": ((0, 1, 1),)})
    row = changed_table(LayerGain(gain, None, ((1, 0, 0),)), sentences, ("X", "Y"))[0]
    assert (row["position"], row["more_right"], row["around"]) == (1, 1, "[a] b c")
