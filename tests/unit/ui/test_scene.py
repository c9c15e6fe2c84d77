"""Gold tags and chosen rows of a scene."""

from types import SimpleNamespace

import pytest

from crfviz.ui import cached, scene
from crfviz.ui.state.scenario import Scenario
from crfviz.views.strips.decoders import USUAL_ROWS
from tests.support.tiny_tagger import save_tiny

TEXT = "He runs !"


@pytest.fixture
def model(tmp_path, monkeypatch):
    save_tiny(tmp_path / tmp_path.name)
    monkeypatch.setenv("CRFVIZ_MODELS", str(tmp_path))
    return tmp_path.name


@pytest.fixture
def gold(monkeypatch):
    def set_gold(tags):
        example = SimpleNamespace(text=TEXT, claim="They differ.", gold=tags)
        monkeypatch.setattr(cached, "examples", lambda _model: [example])

    return set_gold


@pytest.fixture
def rows(monkeypatch):
    def choose(value):
        monkeypatch.setattr(scene, "view_option", lambda _name, default: value or default)

    choose("")
    return choose


@pytest.mark.usefixtures("rows")
def test_an_example_brings_its_gold_tags_and_its_claim(model, gold):
    gold(("X", "VERB", "NOUN"))
    built = scene.scene_of(Scenario(model, TEXT))
    assert built.gold == [2, 1, 0]
    assert scene.example_of(built.scenario).claim == "They differ."
    assert built.rows == USUAL_ROWS
    assert not built.edited
    assert built.now is built.trained


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("tags", [None, ("X", "VERB", "DET")], ids=["none", "unknown tag"])
def test_without_gold_there_is_no_gold_row(model, gold, tags):
    gold(tags)
    built = scene.scene_of(Scenario(model, TEXT))
    assert built.gold is None
    assert built.rows == ("greedy", "left_to_right", "viterbi", "max_marginal")


@pytest.mark.usefixtures("rows")
def test_another_sentence_is_no_example(model, gold):
    gold(("X", "VERB", "NOUN"))
    built = scene.scene_of(Scenario(model, TEXT + " !"))
    assert built.gold is None
    assert scene.example_of(built.scenario) is None


def test_rows_are_drawn_in_their_order_and_unknown_ones_are_left_out(model, gold, rows):
    gold(None)
    rows("viterbi.greedy.rubbish.gold")
    assert scene.scene_of(Scenario(model, TEXT)).rows == ("greedy", "viterbi")
    rows("none")
    assert scene.scene_of(Scenario(model, TEXT)).rows == ()


@pytest.mark.usefixtures("rows")
def test_pins_alone_make_a_scene_edited(model, gold):
    gold(None)
    built = scene.scene_of(Scenario(model, TEXT, pins={0: "X"}))
    assert built.edited
    assert built.now.viterbi.path[0] == 2
