"""The page Log space in a large window, and its box of words."""

import pytest
from playwright.sync_api import expect

# Whether each row of the table is in sight, and all of it above the lower end of the window.
WHOLE = """() => {
  const rows = document.querySelector(".st-key-terms .dvn-scroller");
  return Boolean(rows) && rows.scrollHeight <= rows.clientHeight + 1
    && rows.getBoundingClientRect().bottom <= innerHeight;
}"""


@pytest.mark.rotating
def test_sum_of_many_terms_uses_the_window_height(watch, fresh):
    hall = watch(fresh(viewport={"width": 1920, "height": 1080}))
    hall.visit("log-space", model="upos-en")
    hall.expect_measured(WHOLE, True)


def test_word_selector_lists_the_words_of_the_next_sentence(screen):
    place = {"v.lse_word": "1"}
    screen.visit("log-space", model="upos-en-contextfree", sentence="These look fine", **place)
    box = screen.page.get_by_role("combobox", name="α at word")
    expect(box).to_have_value("2 look")
    sentence = screen.page.get_by_role("textbox", name="Sentence")
    for text in ("Dogs eat meat", "Cats like fish"):
        sentence.fill(text)
        sentence.press("Enter")
        expect(box).to_have_value(f"2 {text.split()[1]}")
    assert screen.param("v.lse_word") == "1"
