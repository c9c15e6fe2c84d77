"""The page Learn: right tags, the size of a step, and the step as edits that can be undone."""

import math
from dataclasses import replace

import pytest
import torch

from crfviz import viterbi
from crfviz.chain import recursions
from crfviz.chain.edits import Edits
from crfviz.chain.questions.sensitivity import gradient_step
from crfviz.exceptions import CrfvizError
from crfviz.taggers.registry import load_tagger
from crfviz.ui.panels.learning import step_size
from crfviz.ui.state.link import decode
from crfviz.ui.state.link_reader import Models
from tests.support.app_pages import button, open_at

PAGE = "pages/learn.py"
MODEL = "upos-en-contextfree"
WORDS = ["He", "runs", "."]
SENTENCE = " ".join(WORDS)
MARKED = {"sentence": SENTENCE, "r": "1.NOUN"}


def learn(app, **params):
    app.query_params.update({"model": MODEL} | params)
    open_at(app, PAGE)
    assert not app.exception
    return app


def edits_of(app):
    link = decode(
        {
            name: values[0] if isinstance(values, list) else values
            for name, values in app.query_params.items()
        },
        Models([MODEL, "upos-en", "ner-en"], MODEL, lambda _: ""),
    )
    assert not link.ignored
    return link.scenario.edits


def autograd(chain, path):
    """The loss of a path and its gradient, from the recursions alone."""
    weights = [
        table.clone().requires_grad_() for table in (chain.transitions, chain.start, chain.end)
    ]
    score = recursions.path_score(chain.emissions, *weights, torch.tensor(path))
    loss = recursions.log_partition(chain.emissions, *weights) - score
    loss.backward()
    return loss.item(), [weight.grad for weight in weights]


def test_step_edits_equal_autograd_and_undo_restores_them_exactly(app):
    learn(app, **MARKED)
    trained = load_tagger(MODEL).potentials(WORDS)
    path = [trained.tag_id(tag) for tag in ("PRON", "NOUN", "PUNCT")]
    before, gradient = autograd(trained, path)
    button(app, "Take the step").click().run()
    edits = edits_of(app)
    moved = edits.apply(trained)
    for name, slope in zip(("transitions", "start", "end"), gradient, strict=True):
        expected = getattr(trained, name) - 0.5 * slope
        torch.testing.assert_close(getattr(moved, name), expected, atol=1e-6, rtol=0)
    after, gradient = autograd(moved, path)
    assert after < before
    button(app, "Take the step").click().run()
    twice = edits_of(app).apply(trained)
    torch.testing.assert_close(
        twice.transitions, moved.transitions - 0.5 * gradient[0], atol=1e-6, rtol=0
    )
    app.button(key="undo").click().run()
    assert edits_of(app) == edits
    app.button(key="undo").click().run()
    assert edits_of(app) == Edits()
    restored = edits_of(app).apply(trained)
    for name in ("emissions", "transitions", "start", "end"):
        assert torch.equal(getattr(restored, name), getattr(trained, name))
    assert app.query_params["r"] in ("1.NOUN", ["1.NOUN"])


@pytest.mark.parametrize("model", ["upos-en", "ner-en"])
def test_link_after_a_step_on_forty_words_is_complete(app, model):
    sentence = " ".join(["The", "old", "man", "boats", "."] * 8)
    learn(app, model=model, sentence=sentence, **{"v.size": "2"})
    button(app, "Take the step").click().run()
    assert len(edits_of(app)) > 30  # of the 45 scores that BIO allows, and more without a scheme
    assert sum(map(len, app.query_params["m"])) < 2500
    assert any(">Copy link<" in each.proto.body for each in app.get("html"))


@pytest.mark.parametrize(
    ("typed", "size"), [("0.5", 0.5), (" 1,5 ", 1.5), ("−2", -2.0), ("1e-3", 0.001), ("100", 100.0)]
)
def test_typed_step_size_is_parsed(typed, size):
    assert step_size(typed) == size


@pytest.mark.parametrize("typed", ["", "abc", "1.2.3", "nan", "inf", "-inf", "1e999"])
def test_step_size_that_is_not_a_number_is_rejected(typed):
    with pytest.raises(CrfvizError, match=r"Type a number such as 0\.5"):
        step_size(typed)


@pytest.mark.parametrize("typed", ["1e9", "-100.1"])
def test_too_large_step_size_is_rejected(typed):
    with pytest.raises(CrfvizError, match="too large: type a number from -100 to 100"):
        step_size(typed)


@pytest.mark.parametrize("typed", ["abc", "1e9", "![x](http://a.b)"])
def test_invalid_size_is_reported_and_stays_in_its_field(app, typed):
    learn(app, **MARKED)
    app.text_input(key="view.size").set_value(typed).run()
    assert not app.exception
    assert len(app.warning) == 1
    assert button(app, "Take the step").disabled
    assert app.text_input(key="view.size").value == typed
    app.text_input(key="view.size").set_value("1").run()
    assert not app.warning
    assert not button(app, "Take the step").disabled


def test_forbidden_gold_tags_are_reported(app):
    learn(app, model="ner-en", sentence="John runs .", r="0.I-PER")
    assert "gold tags are forbidden" in app.info[0].value
    assert button(app, "Take the step").disabled
    button(app, "Reset gold").click().run()
    assert not app.info
    assert "r" not in app.query_params


def test_pin_that_contradicts_a_gold_tag_is_reported(app):
    learn(app, p="1.VERB", **MARKED)
    assert "drop the pin" in app.info[0].value


def test_step_uses_the_gold_tags_of_an_example(app):
    learn(app, model=MODEL)
    trained = load_tagger(MODEL)
    example = trained.examples()[0]
    chain = trained.potentials(example.text.split())
    path = [chain.tag_id(tag) for tag in example.gold]
    button(app, "Take the step").click().run()
    expected = gradient_step(chain, path, 0.5).potentials
    moved = edits_of(app).apply(chain)
    torch.testing.assert_close(moved.transitions, expected.transitions, atol=1e-6, rtol=0)
    assert math.isfinite(moved.end.sum())


def test_step_uses_the_gold_tags_of_the_same_run(app):
    learn(app, **MARKED)
    chain = load_tagger(MODEL).potentials(WORDS)
    kept = app.session_state["crfviz"]
    kept["scenario"] = replace(kept["scenario"], right={1: "ADV"})  # as an event of the stage does
    button(app, "Take the step").click().run()
    right = [tag if t != 1 else chain.tag_id("ADV") for t, tag in enumerate(viterbi(chain).path)]
    after = gradient_step(chain, right, 0.5).potentials
    assert edits_of(app) == Edits().reaching(chain, after)


def test_unmarked_words_can_be_left_open(app):
    learn(app, **MARKED, **{"v.open": "1"})
    chain = load_tagger(MODEL).potentials(WORDS)
    step = gradient_step(chain, [None, chain.tag_id("NOUN"), None], 0.5)
    button(app, "Take the step").click().run()
    assert not app.exception
    moved = edits_of(app).apply(chain)
    torch.testing.assert_close(moved.transitions, step.potentials.transitions, atol=1e-6, rtol=0)
    app.button(key="undo").click().run()
    button(app, "Reset gold").click().run()
    assert not app.exception
