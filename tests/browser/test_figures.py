"""Figures for slides and papers, opened by a browser without our fonts, rsvg-convert and LaTeX."""

import io
import re
import shutil
import struct
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import expect

SVG = "{http://www.w3.org/2000/svg}"
SENTENCE = "Dogs bark loudly ."
STEP = "The best path, read back along the backpointers."
OVERLAPS = """(step) => {
  const texts = [...document.querySelectorAll("text")].map((each) => [
    each.textContent.trim(),
    each.getBoundingClientRect(),
  ]);
  const [, own] = texts.find(([text]) => text === step);
  const hits = ({ left, right, top, bottom }) =>
    left < own.right && right > own.left && top < own.bottom && bottom > own.top;
  return texts.filter(([text, box]) => text !== step && hits(box)).map(([text]) => text);
}"""


def saved(screen, kind):
    page = screen.page
    page.get_by_role("button", name="Download", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download as {kind}", exact=True).click()
    page.keyboard.press("Escape")
    return Path(waiting.value.path()).read_bytes()


def texts_of(picture):
    return ["".join(each.itertext()) for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def read_words(pdf, tmp_path):
    """Return the words of a PDF, as another program reads them."""
    file = tmp_path / "figure.pdf"
    file.write_bytes(pdf)
    run = subprocess.run(["pdftotext", "-raw", file, "-"], capture_output=True, check=True)
    return " ".join(run.stdout.decode().split())


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)}")


@pytest.fixture
def walked(screen):
    """The last step of Viterbi on a dark screen, with controls, hints and a panel."""
    screen.open("viterbi", sentence=SENTENCE, **{"v.theme": "dark"})
    expect(screen.page.locator(".step-text")).to_have_text(STEP)
    return screen


def test_figure_is_light_with_a_margin_and_without_controls(walked):
    picture = ElementTree.fromstring(saved(walked, "SVG"))
    paper = picture.find(f"{SVG}rect")
    assert paper.get("fill") == "#ffffff"
    box = [float(number) for number in picture.get("viewBox").split()]
    assert box[:2] == [-16, -16]
    assert [float(paper.get(side)) for side in ("x", "y", "width", "height")] == box
    inks = {each.get("fill") for each in picture.iter(f"{SVG}text")}
    assert not any(bright(ink) for ink in inks)
    texts = texts_of(ElementTree.tostring(picture))
    assert STEP in texts
    every = " ".join(texts)
    for control in ("/ 6", "nodes:", "PageDown", "View", "Play", "click", "drag"):
        assert control not in every


def bright(colour):
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 150


def test_screen_keeps_its_dark_colours_after_saving(walked):
    colour = "getComputedStyle(crfviz.stage()).color"
    before = walked.page.evaluate(colour)
    saved(walked, "SVG")
    assert walked.page.evaluate(colour) == before


def test_figure_keeps_its_blanks_in_another_font(walked, fresh, tmp_path):
    picture = saved(walked, "SVG")
    file = tmp_path / "figure.svg"
    changed = re.sub(rb'font-family="[^"]*"', b'font-family="monospace"', picture)
    file.write_bytes(changed)
    page = fresh().new_page()
    page.goto(file.as_uri())
    lines = page.locator("text").all_text_contents()
    assert STEP in [line.strip() for line in lines]
    overlaps = page.evaluate(OVERLAPS, STEP)
    assert overlaps == []


@needs("rsvg-convert", "pdftotext")
def test_words_are_read_from_the_figure_in_another_program(walked, tmp_path):
    picture = saved(walked, "SVG")
    run = subprocess.run(
        ["rsvg-convert", "--format=pdf"], input=picture, capture_output=True, check=True
    )
    words = read_words(run.stdout, tmp_path)
    assert STEP in words
    for word in SENTENCE.split():
        assert word in words


def test_png_is_twice_as_large(walked):
    picture = ElementTree.fromstring(saved(walked, "SVG"))
    width, height = struct.unpack(">II", saved(walked, "PNG")[16:24])
    assert (width, height) == (2 * int(picture.get("width")), 2 * int(picture.get("height")))


@needs("pdftoppm", "pdftotext")
def test_pdf_is_one_page_with_the_picture_and_its_words(walked, tmp_path):
    picture = ElementTree.fromstring(saved(walked, "SVG"))
    pdf = saved(walked, "PDF")
    (box,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert [*map(float, box)] == [0.75 * int(picture.get(side)) for side in ("width", "height")]
    assert len(re.findall(rb"/Type /Page\b", pdf)) == 1
    words = read_words(pdf, tmp_path)
    assert STEP in words
    for text in texts_of(ElementTree.tostring(picture)):  # also −, ∞ and Greek letters
        assert " ".join(text.split()) in words
    command = ["pdftoppm", "-r", "192", "-png", "-singlefile", "figure.pdf", "figure"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    pages = [tmp_path / "figure.png", io.BytesIO(saved(walked, "PNG"))]
    printed, drawn = (Image.open(each).convert("L").reduce(4) for each in pages)
    assert printed.size == drawn.size
    assert ImageStat.Stat(ImageChops.difference(printed, drawn)).mean[0] < 6  # of 255; blank: 18


@needs("lualatex", "pdftotext")
@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("transitions", "START"),
        pytest.param("viterbi", SENTENCE, marks=pytest.mark.rotating),
        pytest.param("forward-backward", "log α", marks=pytest.mark.rotating),
    ],
)
def test_latex_of_the_menu_compiles_and_shows_the_words(screen, tmp_path, page, expected):
    screen.open(page, sentence=SENTENCE)
    file = tmp_path / "crfviz.tex"
    file.write_bytes(saved(screen, "LaTeX"))
    command = ["lualatex", "-interaction=batchmode", "-halt-on-error", file.name]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    words = read_words(file.with_suffix(".pdf").read_bytes(), tmp_path)
    assert expected in words.replace("𝛼", "α")
    assert "NOUN" in words


def test_menu_has_three_parts(screen):
    screen.open("viterbi", sentence=SENTENCE)
    screen.page.get_by_role("button", name="Download", exact=True).click()
    menu = screen.page.locator("[data-testid=stPopoverBody]")
    expect(menu.locator("[data-testid=stCaptionContainer]")).to_have_text(
        ["Figure", "Numbers", "Code"]
    )
    expect(menu.get_by_role("button")).to_have_text(
        [
            re.compile(rf"(Download as )?{kind}$")
            for kind in ("SVG", "PNG", "PDF", "LaTeX", "HTML", "CSV", "Python")
        ]
    )
