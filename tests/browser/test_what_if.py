"""What if in the browser: one click a change."""

from playwright.sync_api import expect

from tests.support.screen import PATIENCE

SENTENCE = "Mr Smith went to Paris in 2019 , and the three cats sang ."


def word(screen, text):
    return screen.page.locator("[data-stage]").get_by_text(text, exact=True).first


def test_a_click_changes_the_sentence_and_the_address(screen):
    screen.visit("what-if", model="upos-en", sentence=SENTENCE)
    screen.page.get_by_role("radio", name="lower case").click()
    expect(word(screen, "smith")).to_be_visible(timeout=PATIENCE)
    screen.expect_param("v.change", "lower case")
    screen.page.get_by_role("radio", name="upper case").click()
    expect(word(screen, "SMITH")).to_be_visible(timeout=PATIENCE)
