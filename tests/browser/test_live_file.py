"""The live file in Chromium, from file://: it asks for nothing, and can be edited and saved."""

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import expect

import crfviz
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.views.exports.live import PAGES, Live
from crfviz.views.exports.live_page import live_page

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ("These", "look", "<b>fine</b>", "to", "me", ".")
HOSTILE = ("</script><img src=x onerror=alert(1)>", "word")
FIRST_NODES = """
new MutationObserver((_, observer) => {
  window.firstNodes = document.querySelectorAll("[data-node]").length;
  if (window.firstNodes) observer.disconnect();
}).observe(document, { subtree: true, childList: true });
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

    def go(text, *, quiet=True, script="", **options):
        path = tmp_path / "live.html"
        path.write_text(text, "utf-8")
        page = fresh(**options).new_page()
        page.add_init_script(script)
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


def test_live_file_opens_without_a_server_and_edits_are_undone(opened):
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


def test_live_file_is_walked_by_keys_and_explains_cells(opened):
    page = drawn(opened(live_page(Live(chain(), opens="viterbi"), list(PAGES))))
    stage = page.locator("[data-stage]")
    expect(stage).to_have_attribute("data-step", str(2 * len(WORDS)))
    page.keyboard.press("Home")
    expect(stage).to_have_attribute("data-step", "0")
    expect(page.locator(".step-text")).to_have_text("Press → or PageDown to begin.")
    for _ in range(3):
        page.keyboard.press("PageDown")
    expect(stage).to_have_attribute("data-step", "3")
    best = analyse(chain()).best[2, 1].item()
    page.locator('[data-node="2,1"]').click()
    expect(page.locator(".values")).to_have_text(f"best(3, B) = {best:.4f}".replace("-", "−"))
    page.keyboard.press("End")
    page.keyboard.press("PageDown")
    expect(page.get_by_role("button", name="Marginals")).to_have_attribute("aria-current", "page")


def displayed(values, display):
    """A table of logs as `SWEEP_DISPLAYS` show it, computed with torch alone."""
    if display == "normalised":
        values = values - values.logsumexp(dim=1, keepdim=True)
    return values if display == "log" else values.exp()


HAS_NUMBER = """([selector, value]) => {
  const text = document.querySelector(selector)?.getAttribute("aria-valuetext");
  return Math.abs(Number(text ?? NaN) - value) <= 1e-6 * Math.max(1, Math.abs(value));
}"""


@pytest.mark.parametrize(
    "display", ["probability", pytest.param("normalised", marks=pytest.mark.rotating)]
)
def test_numbers_of_the_sweeps_have_the_displays_of_the_app(opened, display):
    page = drawn(opened(live_page(Live(chain(), opens="transitions"), list(PAGES))))
    numbers = page.get_by_label("Numbers", exact=True)
    expect(numbers).to_be_hidden()
    page.locator('[data-cell="A,B"]').click()
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    now = analyse(chain().with_transition("A", "B", 2.5))
    sums = now.forward_backward
    page.get_by_role("button", name="Forward–backward").click()
    expect(numbers).to_have_value("log")
    for chosen in ("log", display):
        numbers.select_option(chosen)
        for name, table in (("alpha", sums.log_alpha), ("beta", sums.log_beta)):
            for t, k in [(0, 0), (2, 3), (5, 1)]:
                cell = f'[data-table={name}][data-t="{t}"][data-k="{k}"]'
                value = displayed(table, chosen)[t, k].item()
                page.wait_for_function(HAS_NUMBER, arg=[cell, value])
    page.locator("[data-page=viterbi]").click()
    expect(numbers).to_have_value("log")
    numbers.select_option(display)
    expect(numbers).to_have_value(display)
    notes = page.locator(".lattice-picture .note-text")
    for largest in displayed(now.best, "normalised").amax(dim=1).tolist():
        if display == "normalised":
            expect(notes.filter(has_text=f"{largest:.2f}").first).to_be_visible()


def test_embedded_model_tags_a_typed_sentence(opened, tmp_path):
    tagger = crfviz.load_tagger("textbook/ice-cream")
    path = tmp_path / "tagging.html"
    crfviz.export_html(tagger, path, sentence="3 1", with_model=True)
    page = drawn(opened(path.read_text("utf-8")))
    box = page.get_by_role("textbox", name="Sentence")
    said = page.locator(".said")
    expect(box).to_have_value("3 1")
    box.fill("1 1 3 2")
    box.press("Enter")
    expect(page.locator(".word")).to_have_text(["1", "1", "3", "2"])
    marginals = crfviz.forward_backward(tagger.potentials(["1", "1", "3", "2"])).marginals
    node = page.locator('[data-node="2,1"]')
    expect(node).to_have_attribute("data-marginal", f"{marginals[2, 1].item():.6f}")
    expect(page.get_by_role("link", name="Open this")).to_have_attribute(
        "href", re.compile("sentence=1\\+1\\+3\\+2")
    )
    for typed, answer in [
        ("1 7", "no observation “7”"),
        ("1 " * 121, "at most 120 words, this sentence has 121"),
        (" ", "no word in it"),
    ]:
        box.fill(typed)
        box.press("Enter")
        expect(said).to_contain_text(answer)
        expect(box).to_have_value(typed)
        expect(page.locator(".word")).to_have_count(4)
    page.get_by_role("button", name="Undo", exact=True).first.click()
    expect(page.locator(".word")).to_have_text(["3", "1"])
    expect(box).to_have_value("3 1")
    page.get_by_role("button", name="Redo", exact=True).first.click()
    expect(box).to_have_value("1 1 3 2")


def test_live_file_without_javascript_shows_its_tables(opened):
    page = opened(live_page(Live(chain()), list(PAGES)), java_script_enabled=False)
    expect(page.get_by_role("heading", name="marginals", exact=True)).to_be_visible()
    expect(page.get_by_text("scripts are switched off")).to_be_visible()


@pytest.mark.parametrize("kept", [0.2, 0.6, 0.97])
def test_truncated_file_shows_an_error_and_keeps_its_tables(opened, kept):
    text = live_page(Live(chain()), list(PAGES))
    page = opened(text[: int(kept * len(text))], quiet=False)
    expect(page.get_by_text("or the file is not whole")).to_be_visible()
    assert page.locator("[data-stage]").count() == 0


def test_largest_chain_is_drawn_and_markup_in_words_is_text(opened):
    tags = [f"T{k}" for k in range(64)]
    potentials = chain(HOSTILE * 60, tags)
    page = drawn(opened(live_page(Live(potentials), list(PAGES)), script=FIRST_NODES))
    expect(page.locator(".word").first).to_have_text(HOSTILE[0])
    expect(page.locator("[data-row=viterbi]")).to_have_count(120)
    expect(page.locator("[data-node]")).to_have_count(120 * 64)
    assert 0 < page.evaluate("firstNodes") < 120 * 32  # the words in sight came first
    marginal = crfviz.forward_backward(potentials).marginals[119, 7].item()
    last = page.locator('[data-node="119,7"]')
    expect(last).to_have_attribute("data-marginal", f"{marginal:.6f}")
    expect(last.locator(".dot")).to_be_visible()


@pytest.mark.parametrize(("scheme", "paper"), [("light", "255, 255, 255"), ("dark", "14, 17, 23")])
def test_live_file_follows_the_system_theme_until_changed(opened, scheme, paper):
    page = drawn(opened(live_page(Live(chain()), list(PAGES)), color_scheme=scheme))
    body = page.locator("body")
    expect(body).to_have_css("background-color", f"rgb({paper})")
    page.get_by_role("button", name="colours: system").click()
    expect(body).to_have_css("background-color", "rgb(255, 255, 255)")
    page.get_by_role("button", name="colours: light").click()
    expect(body).to_have_css("background-color", "rgb(14, 17, 23)")


def test_matrix_numbers_fit_their_cells_in_any_font(opened):
    tags = [f"TAG{k}" for k in range(11)]
    scores = crfviz.Potentials(torch.zeros(6, 11), torch.full((11, 11), -2.8), tags=tags)
    text = live_page(Live(scores, opens="transitions"), list(PAGES))
    page = drawn(opened(text, viewport={"width": 920, "height": 700}))
    cells = page.locator(".matrix .cell")
    expect(cells).not_to_have_count(0)
    wide = "(cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length"
    assert cells.evaluate_all(wide) == 0


def saved(page, kind):
    page.get_by_role("button", name="View", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download as {kind}").click()
    page.get_by_role("button", name="View", exact=True).click()
    return Path(waiting.value.path()).read_bytes()


def test_saved_picture_equals_the_screen(opened):
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


def test_saved_picture_lists_the_edits_below_it(opened):
    first, second = chain().tag_names[:2]
    edits = Edits(transitions={(first, second): -3.0}, emissions={(1, second): 2.0})
    page = drawn(opened(live_page(Live(chain(), edits=edits, opens="transitions"), list(PAGES))))
    picture = ElementTree.fromstring(saved(page, "SVG"))
    last = list(picture.iter(f"{SVG}text"))[-1]
    listed = f"2 edits: {first} → {second} −3.00, 2 “{WORDS[1]}” {second} 2.00"
    assert last.text == listed
    expect(page.locator(".live-edits")).to_have_text(listed)
    assert float(last.get("y")) < float(picture.get("height"))


def test_picture_is_saved_as_a_pdf_page_of_its_size(opened):
    page = drawn(opened(live_page(Live(chain()), list(PAGES))))
    picture, paper = ElementTree.fromstring(saved(page, "SVG")), saved(page, "PDF")
    (box,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", paper)
    assert [*map(float, box)] == [0.75 * int(picture.get(side)) for side in ("width", "height")]
    for word in WORDS:
        assert "".join(f"{ord(letter):04x}" for letter in word).encode() in paper


def test_wide_window_is_printed_completely(opened):
    wide = {"width": 1920, "height": 1080}
    page = drawn(opened(live_page(Live(chain(), opens="transitions"), list(PAGES)), viewport=wide))
    measure = """(event) => {
      dispatchEvent(new Event(event));
      const end = (element) => element.getBoundingClientRect().right;
      const words = [...document.querySelectorAll(".word")].map(end);
      return [Math.max(...words), end(document.querySelector(".live"))];
    }"""
    ends = [page.evaluate(measure, event) for event in ("none", "beforeprint", "afterprint")]
    assert ends[1][1] == 1255  # the zoom of the style sheet makes that the width of a sheet
    assert ends[1][0] < min(ends[0][0], ends[1][1])
    assert ends[2] == ends[0]


def test_saved_picture_draws_the_visible_lattice(opened):
    tags = [f"T{k}" for k in range(14)]
    rare = torch.where(torch.arange(14) < 8, 0.0, -30.0)
    scores = chain(tags=tags)
    folded = crfviz.Potentials(scores.emissions + rare, scores.transitions, tags=tags)
    page = drawn(opened(live_page(Live(folded), list(PAGES))))
    expect(page.locator(".edge[data-folded]")).not_to_have_count(0)
    lines = page.evaluate(
        """() => [...document.querySelectorAll(".lattice-picture path")]
          .filter((path) => getComputedStyle(path).visibility === "visible")
          .map((path) => path.getAttribute("d"))
          .filter(Boolean)"""
    )
    picture = ElementTree.fromstring(saved(page, "SVG"))
    assert [each.get("d") for each in picture.iter(f"{SVG}path") if each.get("d")] == lines
    page.get_by_role("button", name="Forward–backward").click()
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    expect(page.locator(".sum").first).to_be_visible()
    picture = ElementTree.fromstring(saved(page, "SVG"))
    assert any(each.get("stroke-opacity") == "0.55" for each in picture.iter(f"{SVG}path"))


def test_saved_picture_marks_the_edits(opened):
    edited = Edits({("A", "B"): 3.0, ("D", "A"): -4.0}, {(2, "D"): 9.0})
    plain = chain(WORDS[:4])  # few words: there is room for what a tag was
    page = drawn(opened(live_page(Live(plain, edits=edited, opens="transitions"), list(PAGES))))
    picture = ElementTree.fromstring(saved(page, "SVG"))
    texts = list(picture.iter(f"{SVG}text"))
    for sign in "▲▼":
        assert any(each.text == sign for each in texts), sign
    was = [each.text for each in texts if each.get("text-decoration") == "line-through"]
    now, before = analyse(edited.apply(plain)), analyse(plain)
    changed = zip(before.viterbi.path, now.viterbi.path, strict=True)
    assert {"ABCD"[old] for old, new in changed if old != new} <= set(was)
    cell = page.locator('[data-cell="A,B"]').bounding_box()
    stage = page.locator("[data-stage]").bounding_box()
    frames = [each for each in picture.iter(f"{SVG}rect") if each.get("stroke-width") == "2"]
    left, top = (cell[name] - stage[name] + 1 for name in "xy")
    places = [(float(each.get("x")), float(each.get("y"))) for each in frames]
    assert any(place == pytest.approx((left, top), abs=1) for place in places)
    corners = [each.get("points").split()[0] for each in picture.iter(f"{SVG}polygon")]
    tips = [tuple(map(float, corner.split(","))) for corner in corners]
    assert any(tip == pytest.approx((left - 1, top - 1), abs=0.1) for tip in tips)


DECK = """
<iframe src="live.html?embed=stage&page=viterbi" style="width:480px;height:320px"></iframe>
<p id="heard"></p>
<script>
addEventListener("message", ({ data }) => {
  if (data?.crfviz === "key") document.getElementById("heard").textContent += `${data.key} `;
});
</script>
"""


def test_slide_shows_only_the_stage_and_forwards_unused_keys(fresh, tmp_path):
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
