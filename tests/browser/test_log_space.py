"""The page Log space in the browser: one sum, products that die out, a typed batch."""

import pytest
from playwright.sync_api import expect

MODEL, DAYS = "textbook/ice-cream", "2 3 3 1"


def test_the_three_parts_a_sum_that_survives_and_a_typed_batch(screen):
    screen.visit("log-space", model=MODEL, sentence=DAYS)
    screen.wait_for_text("nothing is lost")
    screen.page.get_by_role("radio", name="−800").click()
    screen.wait_for_text("float64 without the trick")
    expect(screen.page.get_by_text("every term becomes 0")).to_have_count(2)
    screen.expect_param("v.lse_shift", "-800")
    screen.page.get_by_role("radio", name="α that underflows").click()
    expect(screen.page.locator("[data-testid=stVegaLiteChart]")).to_be_visible()
    screen.page.get_by_role("radio", name="a padded batch").click()
    box = screen.page.locator("textarea")
    expect(box).to_be_visible()
    box.fill(f"{DAYS}\n1 2")
    box.press("Control+Enter")
    screen.wait_for_text("A batch of 2 × 4 × 2 numbers, 2 of 8 columns are padding.")


# Whether each row of the table is in sight, and all of it above the lower end of the window.
WHOLE = """() => {
  const rows = document.querySelector(".st-key-terms .dvn-scroller");
  return Boolean(rows) && rows.scrollHeight <= rows.clientHeight + 1
    && rows.getBoundingClientRect().bottom <= innerHeight;
}"""


@pytest.mark.rotating
def test_a_sum_of_many_terms_is_as_high_as_the_window_lets_it(watch, fresh):
    hall = watch(fresh(viewport={"width": 1920, "height": 1080}))
    hall.visit("log-space", model="upos-en")
    hall.expect_measured(WHOLE, True)
