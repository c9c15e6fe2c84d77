"""What is kept between runs equals what is computed afresh."""

from dataclasses import replace
from threading import Barrier, Event, Thread
from types import SimpleNamespace

import pytest
import torch

from crfviz.chain.edits import START, Edits
from crfviz.chain.questions.tipping import strength_intervals
from crfviz.exceptions import CrfvizError, ModelError, UnknownTagError
from crfviz.ui import cached
from crfviz.ui.state.scenario import MAX_STRENGTH, MAX_WORDS, Scenario
from crfviz.views.strips.what_if import ruler
from tests.support.tiny_tagger import save_tiny

CLASS, PATIENCE = 200, 60.0  # visitors, seconds
EDITS = Edits({("NOUN", "VERB"): -torch.inf, (START, "X"): 0.1 + 0.2}, {(1, "X"): 2.5}, 0.5)


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A small model of its own name, so that nothing kept by another test is found."""
    save_tiny(tmp_path / tmp_path.name)
    monkeypatch.setenv("CRFVIZ_MODELS", str(tmp_path))
    return tmp_path.name


def test_trained_chain_equals_the_model_output(model):
    trained = cached.trained(Scenario(model, "He runs !", EDITS))
    expected = cached.tagger(model).potentials(["He", "runs", "!"])
    assert torch.equal(trained.potentials.emissions, expected.emissions)
    assert torch.equal(trained.potentials.transitions, expected.transitions)


def test_edited_chain_has_exactly_the_edits_and_pins(model):
    now = cached.edited(Scenario(model, "He runs !", EDITS, pins={0: "NOUN", 7: "X"}))
    trained = cached.tagger(model).potentials(["He", "runs", "!"])
    expected = EDITS.apply(trained).pin({0: "NOUN"})
    for part in ("emissions", "transitions", "start", "end"):
        assert torch.equal(getattr(now.potentials, part), getattr(expected, part))
    assert now.viterbi.path[0] == 0


def test_cached_ruler_uses_the_edited_and_pinned_chain(model):
    scenario = Scenario(model, "He runs !", EDITS, pins={0: "VERB"})
    trained = cached.tagger(model).potentials(["He", "runs", "!"])
    now = EDITS.apply(trained).pin({0: "VERB"})
    for move in [("VERB", "X"), ("NOUN", "VERB"), (START, "VERB")]:  # the second is edited itself
        assert cached.ruler(scenario, move) == ruler(now, trained, move)


def test_tipping_points_of_a_window_use_all_words(model, monkeypatch):
    words = ["He", "runs", "!"] * 60
    edits, pins = Edits({("VERB", "NOUN"): 2.0}, {(150, "X"): 2.5}), {170: "VERB"}
    scenario = Scenario(model, " ".join(words), edits, pins)
    trained = cached.tagger(model).potentials(words)
    now = edits.apply(trained).pin(pins)
    assert len(words) > MAX_WORDS
    assert cached.ruler(scenario, ("VERB", "X")) == ruler(now, trained, ("VERB", "X"))
    expected = strength_intervals(trained, edits=edits, pins=pins)
    assert cached.strength_pieces(scenario) == expected
    monkeypatch.setattr(cached, "MAX_NODES", 179 * trained.num_tags)
    with pytest.raises(CrfvizError, match="expected a shorter sentence, got 180 words"):
        cached.ruler(scenario, ("X", "VERB"))
    assert cached.ruler(replace(scenario, sentence="He runs !"), ("X", "VERB")).pieces


def test_concurrent_requests_compute_a_chain_once(model, monkeypatch):
    """Whoever comes while it is computed waits for that."""
    scored, analysed, goes_on = [], [], Event()
    tagger, all_there = cached.tagger(model), Barrier(CLASS + 1)
    potentials, analyse = tagger.potentials, cached.analyse

    def score(*args, **named):
        scored.append(1)
        goes_on.wait(PATIENCE)
        return potentials(*args, **named)

    def analyse_it(chain):
        analysed.append(1)
        return analyse(chain)

    monkeypatch.setattr(tagger, "potentials", score)
    monkeypatch.setattr(cached, "analyse", analyse_it)
    seen = []

    def visit():
        all_there.wait(PATIENCE)
        seen.append(cached.edited(Scenario(model, "He runs !", EDITS)))

    visitors = [Thread(target=visit, daemon=True) for _ in range(CLASS)]
    for visitor in visitors:
        visitor.start()
    all_there.wait(PATIENCE)
    goes_on.set()
    for visitor in visitors:
        visitor.join(PATIENCE)
    assert (len(scored), len(analysed), len(seen)) == (1, 1, CLASS)
    assert all(each is seen[0] for each in seen)


def test_edit_of_an_unknown_tag_is_rejected(model):
    with pytest.raises(UnknownTagError, match="'DET'"):
        cached.edited(Scenario(model, "He runs !", Edits({("DET", "X"): 1.0})))


def test_constraints_can_be_disabled(tmp_path, monkeypatch):
    name = tmp_path.name
    save_tiny(tmp_path / name, tags=("O", "B-PER", "I-PER"), scheme="BIO")
    monkeypatch.setenv("CRFVIZ_MODELS", str(tmp_path))
    bound = cached.edited(Scenario(name, "He runs !"))
    free = cached.edited(Scenario(name, "He runs !", Edits(constrained=False)))
    assert bound.potentials.start[2] == -torch.inf
    assert free.potentials.start[2] > -torch.inf


def test_only_displayed_words_are_scored(model):
    long = Scenario(model, "run " * 200)
    assert cached.trained(long).potentials.num_tokens == MAX_WORDS
    assert len(cached.words(model, long.sentence)) == 200


def test_model_without_examples_opens_with_a_fallback_sentence(model):
    assert cached.examples(model) == []
    assert cached.first_sentence(model) == cached.FALLBACK_SENTENCE


def test_broken_model_has_no_examples_and_fails_when_loaded(tmp_path, monkeypatch):
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "config.json").write_text("{", encoding="utf-8")
    monkeypatch.setenv("CRFVIZ_MODELS", str(tmp_path))
    assert "cut" in cached.models()
    assert cached.examples("cut") == []
    with pytest.raises(ModelError, match=r"config\.json"):
        cached.tagger("cut")


def test_lesson_model_is_listed_first(monkeypatch):
    monkeypatch.setattr(cached, "list_taggers", lambda: ["a", cached.LESSON_MODEL, "z"])
    assert cached.models() == [cached.LESSON_MODEL, "a", "z"]
    monkeypatch.setattr(cached, "list_taggers", lambda: ["a", "z"])
    assert cached.default_model(cached.models()) == "a"


def test_model_with_too_many_tags_is_rejected(monkeypatch):
    wide = SimpleNamespace(tags=[f"T{k}" for k in range(201)])
    monkeypatch.setattr(cached, "load_tagger", lambda _: wide)
    with pytest.raises(ModelError, match="201 tags; the pages draw at most 200"):
        cached.tagger("too wide")


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_strength_intervals_use_edits_and_pins(model, strength, monkeypatch):
    sentence = "He runs !"
    chain = cached.potentials(model, sentence, constrained=True).scale_transitions(40.0)
    monkeypatch.setattr(cached, "potentials", lambda *_, **__: chain)
    first, second = chain.tag_names[:2]
    edits = Edits({(first, second): 2.5}, {(1, second): -1.0}, strength=strength)
    pins = {0: first}
    found = cached.strength_pieces(Scenario(model, sentence, edits, pins))
    expected = strength_intervals(chain, MAX_STRENGTH, edits=edits, pins=pins)
    assert found == expected
    assert len(found) > 1
