"""The rules by which the state of a lecture changes."""

from dataclasses import FrozenInstanceError, replace

import pytest

from crfviz.chain.edits import END, START, Edits
from crfviz.ui.state.link import for_words
from crfviz.ui.state.scenario import (
    MAX_CHARACTERS,
    MAX_HISTORY,
    Changes,
    History,
    Scenario,
    for_tags,
    with_sentence,
)

MOVES = Edits({("A", "B"): 1.0, (START, "C"): 2.0, ("A", END): 3.0})
BOTH = replace(MOVES, emissions={(0, "A"): 1.0, (1, "C"): 2.0}, strength=0.5)
SCENARIO = Scenario(
    "tiny",
    "Run !",
    BOTH,
    pins={0: "A", 1: "C"},
    right={0: "B", 1: "D"},
    view={"rows": "gold"},
    step=2,
)


def test_scenario_is_immutable():
    with pytest.raises(FrozenInstanceError):
        SCENARIO.step = 3


def test_new_sentence_keeps_transitions_and_view_and_drops_positions():
    after = with_sentence(SCENARIO, "He runs .")
    assert after == Scenario(
        "tiny", "He runs .", replace(BOTH, emissions={}), view={"rows": "gold"}
    )


def test_same_sentence_drops_nothing():
    assert with_sentence(SCENARIO, "Run !") == SCENARIO


def test_sentence_is_one_clean_line_of_limited_length():
    after = with_sentence(SCENARIO, "a\nb\0" + "x" * MAX_CHARACTERS)
    assert after.sentence.startswith("a b x")
    assert len(after.sentence) == MAX_CHARACTERS


def test_new_model_drops_only_unknown_tags():
    after, unknown = for_tags(SCENARIO, ["A", "B"])
    assert after.edits == Edits({("A", "B"): 1.0, ("A", END): 3.0}, {(0, "A"): 1.0}, 0.5)
    assert after.pins == {0: "A"}
    assert after.right == {0: "B"}
    assert unknown == ["C", "D"]


def test_changes_of_missing_words_are_dropped_with_a_message():
    after, (message,) = for_words(SCENARIO, 1)
    assert after.edits == replace(BOTH, emissions={(0, "A"): 1.0})
    assert after.pins == {0: "A"}
    assert after.right == {0: "B"}
    assert message == "The sentence has 1 word: 1.C:2, 1.C, 1.D in the link is dropped."
    assert for_words(SCENARIO, 2) == (SCENARIO, [])


def test_transitions_to_start_and_from_end_are_dropped():
    wrong = Scenario("tiny", "", Edits({("A", START): 1.0, (END, "A"): 1.0}))
    assert for_tags(wrong, ["A"])[0].edits == Edits()


def test_undo_and_redo_return_the_same_steps():
    one, two, three = (Changes(Edits(strength=strength)) for strength in (0.1, 0.2, 0.3))
    history = History().pushed(one).pushed(two)
    changes, history = history.undone(three)
    assert changes == two
    changes, history = history.undone(changes)
    assert changes == one
    changes, history = history.redone(changes)
    changes, history = history.redone(changes)
    assert changes == three
    assert history == History((one, two), ())


def test_history_without_steps_stays_where_it_is():
    now = Changes(Edits(strength=0.1))
    assert History().undone(now) == History().redone(now) == (now, History())


def test_new_edit_clears_the_redo_steps():
    _, history = History().pushed(Changes()).undone(Changes(MOVES))
    assert history.future == (Changes(MOVES),)
    assert history.pushed(Changes(BOTH)).future == ()


def test_history_keeps_fifty_steps():
    history = History()
    for step in range(60):
        history = history.pushed(Changes(Edits(strength=step / 100)))
    assert len(history.past) == MAX_HISTORY
    assert history.past[-1] == Changes(Edits(strength=0.59))


def test_history_for_another_sentence_has_no_empty_steps():
    words = Changes(replace(MOVES, emissions={(0, "A"): 1.0}), {0: "A"}, {1: "A"})
    history = History((Changes(), words, Changes(MOVES)))
    assert history.mapped(Changes.without_positions, Changes(MOVES)).past == (Changes(),)


def test_history_drops_edits_of_tags_unknown_to_the_new_model():
    unknown, known = Changes(Edits({("A", "C"): 1.0})), Changes(Edits({("A", "B"): 1.0}), {0: "B"})
    history = History((unknown, known))
    assert history.mapped(lambda each: each.for_tags(["A", "B"]), Changes()).past == (
        Changes(),
        known,
    )
