"""The page Log space in a large window."""

import pytest

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
