"""EM in the browser: iterations by keys, and in the link."""

from playwright.sync_api import expect

from tests.support.icecream import DIARY

MODEL, DAYS = "textbook/ice-cream", " ".join(DIARY)


def test_keys_step_through_iterations_and_update_the_link(screen):
    screen.visit("em", model=MODEL, sentence=DAYS)
    screen.wait_for_text("The start: log-likelihood −41.5378 nats")
    screen.page.keyboard.press("ArrowRight")
    screen.wait_for_text("Iteration 1: log-likelihood")
    screen.page.keyboard.press("ArrowRight")
    screen.expect_param("step", "2")
    expect(screen.page.get_by_role("slider", name="Iteration")).to_have_value("2")
