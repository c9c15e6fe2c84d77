"""Strips and words about hidden words say what the numbers say."""

import math

from crfviz.views.strips.why import (
    Watched,
    occlusion_frame,
    occlusion_note,
    occlusion_rows,
)

PATH = [0, 1, 0]
HIDDEN_PATHS = [[1, 1, 0], [0, 0, 1], [0, 1, 0]]


def watched(change, *, position=0, tag=1, path=PATH, hidden=HIDDEN_PATHS):
    return Watched(position, tag, change, path, hidden, ("the", "old", "the"), ("A", "B"))


def test_bars_are_shares_of_the_largest_change():
    moved, tags = occlusion_rows(watched([0.5, -2.0, 0.0]))
    assert (moved.label, tags.label) == ("hidden: B", "tags changed")
    assert moved.texts == ["+0.50", "−2.00", "0"]
    assert moved.shares == [0.25, -1.0, 0.0]
    assert moved.titles[1] == "without “old” −2.0000 nats"


def test_zero_and_infinite_changes_can_be_drawn():
    moved, _ = occlusion_rows(watched([0.0, 0.0, 0.0]))
    assert (moved.texts, moved.shares) == (["0"] * 3, [0.0] * 3)
    moved, _ = occlusion_rows(watched([math.inf, -math.inf, 0.001]))
    assert (moved.texts, moved.shares) == (["+∞", "−∞", "0.00"], [1.0, -1.0, 1.0])


def test_changed_tags_are_counted_and_listed():
    _, tags = occlusion_rows(watched([0.0, 1.0, 0.0]))
    assert tags.texts == ["1", "2", "·"]
    assert tags.titles[1] == "without “old”: 2 “old” B → A, 3 “the” A → B"
    assert tags.titles[2] == ""


def test_without_a_path_no_tag_changes():
    nothing = watched([0.0] * 3, path=None, hidden=[None] * 3)
    assert occlusion_rows(nothing)[1].texts == ["·"] * 3
    one = watched([0.0] * 3, hidden=[None, *HIDDEN_PATHS[1:]])
    assert occlusion_rows(one)[1].texts == ["·", "2", "·"]


def test_note_names_the_other_word_with_the_largest_effect():
    assert occlusion_note(watched([-3.0, 2.0, -2.5], tag=0)) == (
        "Hiding “the” (word 1) lowers its A score by 3.00. Of the others “the” (word 3) matters "
        "most (−2.50): without it no decoded tag changes."
    )
    assert occlusion_note(watched([-3.0, 2.0, 0.0])).endswith(
        "“old” (word 2) matters most (+2.00): without it 2 “old” B → A, 3 “the” A → B."
    )


def test_note_reports_that_other_words_change_nothing():
    assert occlusion_note(watched([0.0, 2.0, 0.0], position=1)) == (
        "Hiding “old” (word 2) raises its B score by 2.00; hiding others changes nothing."
    )


def test_frame_has_a_row_per_hidden_word():
    frame = occlusion_frame(watched([-1.0, 0.0, 0.5]))
    assert frame["hidden word"].tolist() == ["1 the", "2 old", "3 the"]
    assert frame["emission moves by"].tolist() == [-1.0, 0.0, 0.5]
    assert frame["tags that change"].tolist() == [
        "1 “the” A → B",
        "2 “old” B → A, 3 “the” A → B",
        "",
    ]
