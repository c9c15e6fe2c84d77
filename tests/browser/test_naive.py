"""The naive way in the browser."""

from playwright.sync_api import expect

from tests.support.screen import chain


def test_the_sum_of_all_paths_is_z_and_fewer_words_have_fewer_paths(screen):
    screen.visit("naive", model="textbook/ice-cream", sentence="2 3 3 1")
    log_z = chain("textbook/ice-cream", "2 3 3 1").analysis.forward_backward.log_partition
    screen.wait_for_text(f"Summed one by one: log Z = {log_z:.9f}".replace("-", "−"))
    metrics = screen.page.locator("[data-testid=stMetricValue]")
    expect(metrics.first).to_have_text("16")
    expect(screen.page.locator("[data-testid=stVegaLiteChart]")).to_be_visible()
    screen.choose("view-naive", "2")
    expect(metrics.first).to_have_text("4")
    screen.expect_param("v.naive", "2")
