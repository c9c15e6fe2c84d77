"""The explorer without a server, from a file and from a plain web server."""

import re
import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

import crfviz
from crfviz.views.site.folder import write_site
from tests.support.accessibility import violations

MODELS = ("upos-en-contextfree", "textbook/ice-cream")
TYPED = "Time flies like an arrow, they say."


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing of what it serves."""

    def log_message(self, *_):
        """Nobody reads it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A site, made once."""
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, [crfviz.load_tagger(name) for name in MODELS])
    return folder


@pytest.fixture
def served(folder):
    """Its address at a plain web server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def visit(fresh):
    """Opens an address; afterwards nothing was asked for elsewhere, and nothing broke."""
    asked, broken, homes = [], [], []

    def go(address, link=""):
        page = fresh().new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.on("console", lambda said: broken.append(said.text))
        homes.append(address.rpartition("/")[0])
        page.goto(address + link)
        expect(page.locator("[data-stage]")).not_to_have_attribute("data-rev", "0")
        return page

    yield go
    assert all(url.startswith(tuple(homes)) for url in asked if not url.endswith("/favicon.ico"))
    assert not [said for said in broken if "favicon.ico" not in said]


def tag(page, sentence):
    box = page.get_by_role("textbox", name="Sentence")
    box.fill(sentence)
    box.press("Enter")


def assert_tagged_as_by_python(page, sentence):
    tagger = crfviz.load_tagger(MODELS[0])
    words = tagger.split(sentence)
    potentials = tagger.potentials(words)
    expect(page.locator(".word")).to_have_text(words)
    best = [tagger.tags[k] for k in crfviz.viterbi(potentials).path]
    expect(page.locator("[data-row=viterbi]")).to_have_text(best)
    told = re.search(r"log Z (\S+)", page.locator(".identity").inner_text())[1]
    log_z = crfviz.forward_backward(potentials).log_partition
    assert float(told.replace("−", "-")) == pytest.approx(log_z, abs=0.05)


def test_site_on_a_web_server_tags_like_python(visit, served):
    page = visit(served, "?page=marginals")  # the words of a link count behind "?", too
    tag(page, TYPED)
    expect(page).to_have_url(re.compile(r"#model=\S+&sentence=Time\S+&page=marginals$"))
    assert_tagged_as_by_python(page, TYPED)


# The address of what was drawn last is written when the reader has just gone on to another one.
HELD = """() => {
  const [own, held] = [setTimeout, []];
  window.holds = new Promise((tell) => {
    window.setTimeout = (act, ...rest) =>
      act.name === "write" ? tell(held.push(act)) : own(act, ...rest);
  });
  window.letGo = () => {
    window.setTimeout = own;
    held.forEach((act) => act());
  };
}"""
WRITTEN_LATE = "() => addEventListener('popstate', letGo, { once: true })"


def test_site_from_a_file_tags_like_python_and_updates_its_url(visit, folder):
    page = visit((folder / "index.html").as_uri())
    tag(page, TYPED)
    assert_tagged_as_by_python(page, TYPED)
    page.get_by_role("button", name="Transitions").click()
    page.locator('[data-cell="DET,NOUN"]').click()
    page.keyboard.type("-inf")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"&t=DET\.NOUN%3A-inf&page=transitions$"))
    edited = page.url
    page.evaluate(HELD)
    page.go_back()
    expect(page.locator('[data-cell="DET,NOUN"]')).not_to_have_attribute("data-edited", "true")
    page.evaluate("() => holds")
    page.evaluate(WRITTEN_LATE)
    page.go_forward()
    expect(page.locator('[data-cell="DET,NOUN"]')).to_have_attribute("data-edited", "true")
    page.get_by_label("More pages").select_option("why")
    expect(page.get_by_role("heading", name="Why this tag")).to_be_visible()
    expect(page.locator(".elsewhere")).to_contain_text("needs the server")
    page.get_by_label("Model").select_option("textbook/ice-cream")
    expect(page).to_have_url(re.compile("model=textbook%2Fice-cream&sentence=1"))
    page.get_by_role("button", name="Explore").click()
    tag(page, "3 7")
    expect(page.locator(".said")).to_contain_text("no observation “7”")
    page.get_by_label("Examples").select_option(index=1)
    expect(page.locator(".said")).to_contain_text("Days 24 to 31")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    again = visit(edited.partition("#")[0], f"#{edited.partition('#')[2]}")
    expect(again.locator('[data-cell="DET,NOUN"]')).to_have_attribute("data-edited", "true")
    expect(again.locator(".word")).to_have_count(len(crfviz.tokenize(TYPED)))


def test_link_turns_the_columns_and_the_switch_turns_them_back(visit, folder):
    page = visit(
        (folder / "index.html").as_uri(), "#sentence=Time+flies+fast&v.direction=rtl&page=marginals"
    )
    words = page.locator(".word")
    expect(words).to_have_count(3)

    def places():
        return [words.nth(t).bounding_box()["x"] for t in range(3)]

    assert places() == sorted(places(), reverse=True)
    expect(page).to_have_url(re.compile(r"&v\.direction=rtl"))
    page.get_by_role("button", name="View").click()
    page.get_by_label("Direction of the columns").select_option("auto")
    expect(page).not_to_have_url(re.compile("direction"))
    assert places() == sorted(places())


@pytest.mark.rotating
def test_damaged_model_is_reported_and_others_work(fresh, folder, tmp_path):
    site = shutil.copytree(folder, tmp_path / "site")
    script = site / "models" / f"{MODELS[0]}.js"
    text = script.read_text("utf-8")
    script.write_text(text[: len(text) // 2], "utf-8")
    page = fresh().new_page()
    page.goto((site / "index.html").as_uri())
    said, words = page.locator(".said"), page.locator(".word")
    expect(said).to_have_text(re.compile(f"models/{MODELS[0]}.js is not whole"))
    expect(page.get_by_label("Model")).to_have_value(MODELS[1])
    first = crfviz.load_tagger(MODELS[1]).examples()[0]
    expect(words).to_have_text(list(first.tokens))
    tag(page, "1 3")
    expect(words).to_have_text(["1", "3"])
    expect(said).to_have_text("")
    weights = text.rindex('"tagger": "') + 1000
    script.write_text(text[:weights] + text[weights + 4000 :], "utf-8")
    page.get_by_label("Model").select_option(MODELS[0])
    expect(said).to_have_text("The tagger cannot be unpacked: the file is not whole.")
    expect(page.get_by_label("Model")).to_have_value(MODELS[1])
    script.unlink()
    page.get_by_label("Model").select_option(MODELS[0])
    expect(said).to_have_text(re.compile("cannot be read: copy the whole folder"))
    expect(words).to_have_text(["1", "3"])


@pytest.mark.rotating
def test_invalid_link_parts_are_reported_and_valid_ones_applied(visit, folder):
    link = (
        "#model=nope&sentence=Go+on&t=A.B:x,DET.NO:1,DET.NOUN:2&k=0.5&c=0&page=viterbi&step=2&zz=1"
    )
    page = visit((folder / "index.html").as_uri(), link)
    said = page.locator(".said")
    for part in ("the model “nope”", "1 part of t, the first being “A.B:x”", "the part “zz”"):
        expect(said).to_contain_text(part)
    expect(said).to_contain_text("no tag “NO”")
    expect(page.locator("[data-stage]")).to_have_attribute("data-step", "2")
    expect(page).to_have_url(re.compile(r"c=0&k=0\.5&t=DET\.NOUN%3A2&step=2&page=viterbi$"))
    away = page.get_by_role("link", name="Open this in crfviz")
    expect(away).to_have_attribute(
        "href", re.compile(r"/viterbi\?model=\S+&sentence=Go\+on&c=0&k=")
    )
