"""Every cue of every lecture can be read from the last row of a hall."""

import pytest
from playwright.sync_api import expect

from crfviz.ui.lectures.lecture_store import lecture, lectures
from tests.browser.test_lectures import assert_cue_can_be_read
from tests.support.plain_words import assert_plain

ALL_OF_IT = "45-minutes"  # has the cues of the others
CUES = [
    (name, number)
    for name in sorted(lectures().keys() - {ALL_OF_IT})
    for number in range(1, len(lecture(name).cues) + 1)
]


@pytest.mark.parametrize(("name", "number"), CUES)
def test_cue_is_readable_from_the_last_row(screen, name, number):
    screen.page.goto(screen.address("", lecture=name, cue=number))
    expect(screen.page.locator(f"[data-cue='{number}']")).to_be_attached()
    screen.wait({"name": 0, "rev": -1})
    assert_cue_can_be_read(screen, lecture(name).cues[number - 1])
    assert_plain(screen, f"{name}, cue {number}")
