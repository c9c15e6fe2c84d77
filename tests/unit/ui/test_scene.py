"""Gold tags and chosen rows of a scene."""

from types import SimpleNamespace

import pytest

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.ui import cached, scene
from crfviz.ui.state.scenario import Scenario
from crfviz.views.strips.decoders import USUAL_ROWS
from tests.support.close import assert_close
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
def test_example_scene_has_gold_tags_and_a_claim(model, gold):
    gold(("X", "VERB", "NOUN"))
    built = scene.scene_of(Scenario(model, TEXT))
    assert built.gold == [2, 1, 0]
    assert scene.example_of(built.scenario).claim == "They differ."
    assert built.rows == USUAL_ROWS
    assert not built.edited
    assert built.now is built.trained


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("tags", [None, ("X", "VERB", "DET")], ids=["none", "unknown tag"])
def test_without_gold_tags_there_is_no_gold_row(model, gold, tags):
    gold(tags)
    built = scene.scene_of(Scenario(model, TEXT))
    assert built.gold is None
    assert built.rows == ("greedy", "left_to_right", "viterbi", "max_marginal")


@pytest.mark.usefixtures("rows")
def test_other_sentence_is_not_an_example(model, gold):
    gold(("X", "VERB", "NOUN"))
    built = scene.scene_of(Scenario(model, TEXT + " !"))
    assert built.gold is None
    assert scene.example_of(built.scenario) is None


@pytest.mark.usefixtures("rows")
def test_pins_alone_make_a_scene_edited(model, gold):
    gold(None)
    built = scene.scene_of(Scenario(model, TEXT, pins={0: "X"}))
    assert built.edited
    assert built.now.viterbi.path[0] == 2


@pytest.mark.usefixtures("rows")
def test_window_starts_at_its_first_word(model, gold, monkeypatch):
    gold(None)
    monkeypatch.setattr(scene, "number_option", lambda _name, _default, _least, most: most)
    words = [f"w{n}" for n in range(150)]
    marked = dict.fromkeys(range(30, 150), "VERB")
    edits = Edits({}, {(149, "VERB"): 3.0, (2, "VERB"): 1.0})
    view = {"at": "31 VERB", "cell": "29 VERB", "chosen": "150 VERB"}
    state = Scenario(model, " ".join(words), edits, right=marked, view=view)
    built = scene.scene_of(state, windows=True)
    assert (built.first, built.total_words, list(built.words)) == (30, 150, words[30:])
    assert built.windowed
    assert built.gold == [built.tags.index("VERB")] * 120
    assert built.numbered(stop=1) == {0: "31 w30"}
    verb = built.tags.index("VERB")
    assert [built.place(name) for name in view] == [(1, verb), None, None]
    whole = analyse(edits.apply(cached.tagger(model).potentials(words)))
    assert built.now.sentence.forward_backward.log_partition == pytest.approx(
        whole.forward_backward.log_partition, abs=1e-9
    )
    assert_close(
        built.now.forward_backward.marginals, whole.forward_backward.marginals[30:], atol=1e-9
    )
    cut = scene.scene_of(state)
    assert (cut.first, list(cut.words), cut.windowed) == (0, words[:120], False)
