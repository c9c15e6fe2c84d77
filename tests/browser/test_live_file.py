"""The live file in Chromium, from file://: it asks for nothing, and its numbers are Python's."""

import math
import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

import crfviz
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, data
from crfviz.views.exports.page import live_page
from tests.browser.accessibility import FOUND, WCAG

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ("These", "look", "<b>fine</b>", "to", "me", ".")
HOSTILE = ("</script><img src=x onerror=alert(1)>", "word")
EVENTS = [
    {"seq": 1, "kind": "transition", "from": "A", "to": "B", "score": 1.25},
    {"seq": 2, "kind": "transition", "from": "START", "to": "C", "score": None},
    {"seq": 3, "kind": "emission", "position": 2, "tag": "D", "score": -0.5},
    {"seq": 4, "kind": "strength", "value": 0.5},
    {"seq": 5, "kind": "transition", "from": "D", "to": "END", "score": 9},
    {"seq": 6, "kind": "undo"},
]
EDITS = Edits({("A", "B"): 1.25, ("START", "C"): -math.inf}, {(2, "D"): -0.5}, 0.5)
ANSWER = """
(given) => {
  %s
  const [told, events] = given;
  const local = new %s.Local(told, { turned: () => null, beyond: () => null });
  local.take(events);
  local.open("forward-backward");
  const { results, note, rows } = local.payload();
  const text = (value) => (value === -Infinity ? "forbidden" : value);
  const names = ["alpha", "beta", "best", "marginals"];
  const tables = Object.fromEntries(names.map((name) => [name, Array.from(results[name], text)]));
  const { logPartition, score, path } = results;
  return { ...tables, logPartition, score, path, note, sums: rows[0].texts, query: local.query() };
}
"""


def chain(words=WORDS, tags="ABCD", seed=3):
    generator = torch.Generator().manual_seed(seed)
    shape = len(words), len(tags)
    return crfviz.Potentials(
        2 * torch.randn(*shape, generator=generator),
        torch.randn(shape[1], shape[1], generator=generator),
        torch.randn(shape[1], generator=generator),
        torch.randn(shape[1], generator=generator),
        tags=list(tags),
        tokens=words,
    )


@pytest.fixture
def opened(fresh, tmp_path):
    """Opens a page's text as a file; afterwards nothing else was asked for, and nothing broke."""
    asked, broken = [], []

    def go(text, *, quiet=True, **options):
        path = tmp_path / "live.html"
        path.write_text(text, "utf-8")
        page = fresh(**options).new_page()
        page.on("request", lambda request: asked.append(request.url))
        if quiet:
            page.on("pageerror", lambda error: broken.append(str(error)))
            page.on("console", lambda said: broken.append(said.text))
        page.goto(path.as_uri())
        return page

    yield go
    assert all(url.startswith("file://") and url.endswith("live.html") for url in asked)
    assert not broken


def drawn(page):
    expect(page.locator("[data-stage]")).not_to_have_attribute("data-rev", "0")
    return page


def assert_marginals(page, potentials):
    marginals = crfviz.forward_backward(potentials).marginals
    for t, k in [(0, 0), (2, 3), (5, 1)]:
        node = page.locator(f'[data-node="{t},{k}"]')
        expect(node).to_have_attribute("data-marginal", f"{marginals[t, k].item():.6f}")


def test_every_number_is_pythons_within_1e_9(chromium):
    code = bundle.bundled(bundle.OWN / "local.js")
    last = re.findall(r"^const (m\d+) =", code, re.MULTILINE)[-1]
    page = chromium.new_page()
    told = data(Live(chain()), list(PAGES))
    answers = page.evaluate(ANSWER % (code, last), [told, EVENTS])
    page.close()
    expected = analyse(EDITS.apply(chain()))
    sweeps = expected.forward_backward
    for name, table in [
        ("alpha", sweeps.log_alpha),
        ("beta", sweeps.log_beta),
        ("best", expected.best),
        ("marginals", sweeps.marginals),
    ]:
        got = [-math.inf if value == "forbidden" else value for value in answers[name]]
        assert got == pytest.approx(table.flatten().tolist(), abs=1e-9), name
    assert answers["logPartition"] == pytest.approx(sweeps.log_partition, abs=1e-9)
    assert answers["score"] == pytest.approx(expected.viterbi.score, abs=1e-9)
    assert answers["path"] == expected.viterbi.path
    assert answers["note"].startswith(f"log Z from α {sweeps.log_partition:.9f}".replace("-", "−"))
    assert answers["sums"] == [f"{sweeps.log_partition:.4f}".replace("-", "−")] * len(WORDS)
    assert answers["query"] == "k=0.5&t=A.B%3A1.25%2CSTART.C%3A-inf&e=2.D%3A-0.5"


def test_it_opens_by_itself_edits_and_takes_back(opened):
    page = drawn(opened(live_page(Live(chain()), list(PAGES))))
    assert_marginals(page, chain())
    expect(page.locator("[data-row=greedy]")).to_have_count(len(WORDS))
    page.get_by_role("button", name="Transitions").click()
    page.locator('[data-cell="A,B"]').click()
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    assert_marginals(page, chain().with_transition("A", "B", 2.5))
    page.keyboard.press("Control+z")
    assert_marginals(page, chain())
    page.get_by_role("button", name="Redo", exact=True).first.click()
    assert_marginals(page, chain().with_transition("A", "B", 2.5))
    cell = page.locator('[data-cell="B,A"]').bounding_box()
    x, y = cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 50, steps=3)
    page.mouse.up()
    expect(page.locator('[data-cell="B,A"]')).to_have_attribute("data-edited", "true")
    expect(page.locator("[data-stage]")).to_have_attribute("data-source", "live")


def test_it_is_walked_by_keys_and_explains_cells(opened):
    page = drawn(opened(live_page(Live(chain(), opens="viterbi"), list(PAGES))))
    stage = page.locator("[data-stage]")
    expect(stage).to_have_attribute("data-step", "0")
    expect(page.locator(".step-text")).to_have_text("Press → or PageDown to begin.")
    for _ in range(3):
        page.keyboard.press("PageDown")
    expect(stage).to_have_attribute("data-step", "3")
    best = analyse(chain()).best[2, 1].item()
    page.locator('[data-node="2,1"]').click()
    expect(page.locator(".values")).to_have_text(f"best(3) = {best:.4f}".replace("-", "−"))
    page.keyboard.press("End")
    page.keyboard.press("PageDown")
    expect(page.get_by_role("button", name="Marginals")).to_have_attribute("aria-current", "page")


def test_without_scripts_its_tables_are_read(opened):
    page = opened(live_page(Live(chain()), list(PAGES)), java_script_enabled=False)
    expect(page.get_by_role("heading", name="marginals", exact=True)).to_be_visible()
    expect(page.get_by_text("scripts are switched off")).to_be_visible()


@pytest.mark.parametrize("kept", [0.2, 0.6, 0.97])
def test_a_file_cut_off_says_so_and_keeps_its_tables(opened, kept):
    text = live_page(Live(chain()), list(PAGES))
    page = opened(text[: int(kept * len(text))], quiet=False)
    expect(page.get_by_text("or the file is not whole")).to_be_visible()
    assert page.locator("[data-stage]").count() == 0


def test_the_largest_is_drawn_and_words_with_markup_are_text(opened):
    tags = [f"T{k}" for k in range(64)]
    page = drawn(opened(live_page(Live(chain(HOSTILE * 60, tags)), list(PAGES))))
    expect(page.locator(".word").first).to_have_text(HOSTILE[0])
    expect(page.locator("[data-row=viterbi]")).to_have_count(120)


@pytest.mark.parametrize(("scheme", "paper"), [("light", "255, 255, 255"), ("dark", "14, 17, 23")])
def test_its_colours_are_the_systems_until_somebody_chooses(opened, scheme, paper):
    page = drawn(opened(live_page(Live(chain()), list(PAGES)), color_scheme=scheme))
    body = page.locator("body")
    expect(body).to_have_css("background-color", f"rgb({paper})")
    page.get_by_role("button", name="colours: system").click()
    expect(body).to_have_css("background-color", "rgb(255, 255, 255)")
    page.get_by_role("button", name="colours: light").click()
    expect(body).to_have_css("background-color", "rgb(14, 17, 23)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(opened, scheme):
    page = drawn(opened(live_page(Live(chain()), list(PAGES)), color_scheme=scheme))
    page.evaluate(AXE_SCRIPT)
    for shown in PAGES.values():
        page.get_by_role("button", name=shown.title, exact=True).first.click()
        assert page.evaluate(FOUND, WCAG) == [], shown.title


def saved(page, kind):
    page.get_by_role("button", name="show …").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"save as {kind}").click()
    page.get_by_role("button", name="show …").click()
    return Path(waiting.value.path()).read_bytes()


def test_a_picture_is_saved_as_it_is_on_the_screen(opened):
    page = drawn(opened(live_page(Live(chain(), opens="transitions"), list(PAGES))))
    picture = ElementTree.fromstring(saved(page, "SVG"))
    texts = ["".join(each.itertext()) for each in picture.iter(f"{SVG}text")]
    assert set(WORDS) <= set(texts)
    weights = [f"{value:.1f}".replace("-", "−") for value in chain().transitions.flatten().tolist()]
    assert all(weight.replace("−0.0", "0.0") in texts for weight in weights)
    names = {each.tag.removeprefix(SVG) for each in picture.iter()}
    assert not names & {"script", "foreignObject", "image", "style"}
    assert not re.search(r"color\(|var\(|url\(h", ElementTree.tostring(picture, "unicode"))
    width, height = struct.unpack(">II", saved(page, "PNG")[16:24])
    assert (width, height) == (2 * int(picture.get("width")), 2 * int(picture.get("height")))


DECK = """
<iframe src="live.html?embed=stage&page=viterbi" style="width:480px;height:320px"></iframe>
<p id="heard"></p>
<script>
addEventListener("message", ({ data }) => {
  if (data?.crfviz === "key") document.getElementById("heard").textContent += `${data.key} `;
});
</script>
"""


def test_on_a_slide_the_stage_is_alone_and_hands_on_the_keys_it_does_not_use(fresh, tmp_path):
    (tmp_path / "live.html").write_text(live_page(Live(chain()), list(PAGES)), "utf-8")
    (tmp_path / "deck.html").write_text(DECK, "utf-8")
    page = fresh().new_page()
    page.goto((tmp_path / "deck.html").as_uri())
    slide = page.frame_locator("iframe")
    stage = slide.locator("[data-stage]")
    expect(stage).to_have_attribute("data-step", "0")
    expect(slide.get_by_role("button", name="Transitions")).to_be_hidden()
    stage.click(position={"x": 5, "y": 60})
    page.keyboard.press("PageDown")
    expect(stage).to_have_attribute("data-step", "1")
    page.keyboard.press("End")
    expect(stage).to_have_attribute("data-step", str(2 * len(WORDS)))
    page.keyboard.press("PageDown")
    page.keyboard.press("Escape")
    expect(page.locator("#heard")).to_have_text("PageDown Escape")
    expect(stage).to_have_attribute("data-step", str(2 * len(WORDS)))
