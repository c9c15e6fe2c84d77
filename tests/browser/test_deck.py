"""The deck of docs/slides in reveal.js: a clicker walks a slide, then goes on in the deck."""

import shutil
import tarfile

from playwright.sync_api import expect

import crfviz
from tests.support.paths import ROOT

# Of the package on npm what a deck needs, as it is there.
REVEAL = ROOT / "tests" / "fixtures" / "reveal.js-5.2.1.tgz"


def test_clicker_walks_the_stage_and_then_the_deck(fresh, tmp_path):
    shutil.copy(ROOT / "docs" / "slides" / "deck.html", tmp_path)
    with tarfile.open(REVEAL) as package:
        package.extractall(tmp_path, filter="data")
    tagger = crfviz.load_tagger("textbook/fever")
    crfviz.export_html(tagger, tmp_path / "crfviz.html", sentence="normal cold dizzy")
    page = fresh().new_page()
    broken = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.goto((tmp_path / "deck.html").as_uri())
    first, second = (
        page.frame_locator(f"iframe >> nth={n}").locator("[data-stage]") for n in range(2)
    )
    for step in range(7):
        expect(first).to_have_attribute("data-step", str(step))
        page.keyboard.press("PageDown")
    expect(page.get_by_role("heading", name="What moves")).to_be_visible()
    cell = second.locator('[data-cell="Healthy,Fever"]')
    cell.click()
    page.keyboard.type("0.9")
    page.keyboard.press("Enter")
    expect(cell).to_have_attribute("data-edited", "true")
    page.keyboard.press("PageUp")
    expect(page.get_by_role("heading", name="How the best")).to_be_visible()
    expect(first).to_have_attribute("data-step", "6")
    page.keyboard.press("Escape")
    expect(page.locator(".reveal.overview")).to_have_count(1)
    assert not broken
