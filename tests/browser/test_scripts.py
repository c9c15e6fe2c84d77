"""Words in other scripts on the stage: wide characters, letters with marks, emoji sequences."""

import pytest

from crfviz.text.splitting import words_of_text
from crfviz.views.exports.live import PAGES, Live
from crfviz.views.exports.live_page import live_page
from tests.browser.test_live_file import chain, drawn, opened

__all__ = ["opened"]

SIZES = {"phone": (390, 844), "zoomed": (640, 360), "projector": (1280, 720), "hall": (1920, 1080)}
WORDS = {
    "zh": (*words_of_text("安娜住在奥斯陆。", "characters"), "中华人民共和国"),
    "ja": ("彼女", "は", "東京", "に", "住んでいます", "。"),
    "ko": ("저는", "대한민국에", "살아요", "."),
    "th": ("ฉัน", "รักประเทศไทย", "น้ำปู่", "ที่สุด", "กตัญญู"),
    "hi": ("वह", "दिल्ली", "में", "श्रीर्त्स्न्यीं", "।"),
    "vi": ("Ễ", "Nguyễn", "ẪÅ", "được", "."),
    None: ("👨‍👩‍👧‍👦", "🇳🇴", "👍🏽", "🏳️‍🌈", "1️⃣", "ok"),
}
# Of each word: whether it is whole, and how far its letters reach over the top of what is drawn.
MEASURE = """() => {
  const scroller = document.querySelector(".scroller");
  const pen = document.createElement("canvas").getContext("2d");
  return [...scroller.querySelectorAll(".word span")].map((span) => {
    const style = getComputedStyle(span);
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const foot = document.createElement("i");
    foot.style.display = "inline-block";
    span.append(foot);
    const line = foot.getBoundingClientRect().bottom;
    foot.remove();
    const { actualBoundingBoxAscent, actualBoundingBoxDescent } = pen.measureText(span.textContent);
    return {
      text: span.textContent,
      whole: span.scrollWidth <= span.clientWidth + 1,
      over: scroller.getBoundingClientRect().top - (line - actualBoundingBoxAscent),
      under: line + actualBoundingBoxDescent - span.parentElement.getBoundingClientRect().bottom,
      shown: style.overflowY === "visible",
      language: span.parentElement.lang,
    };
  });
}"""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "page", ["explore", pytest.param("forward-backward", marks=pytest.mark.rotating)]
)
@pytest.mark.parametrize("script", WORDS)
def test_words_fit_their_columns_in_every_script(opened, script, page, size):
    width, height = SIZES[size]
    live = Live(chain(WORDS[script]), opens=page)
    shown = opened(live_page(live, list(PAGES)), viewport={"width": width, "height": height})
    drawn(shown)
    for word in shown.evaluate(MEASURE):
        assert word["whole"], word
        assert word["shown"], word
        assert word["over"] <= 1, word
        assert word["under"] <= 4, word
        assert word["language"] == (script if script in ("zh", "ja", "ko") else ""), word


def test_hmm_circle_never_splits_a_character(screen):
    graphs = {"model": "upos-en-hmm", "v.picture": "graphs"}
    screen.open("hmm", sentence="👨‍👩‍👧‍👦🇳🇴👍🏽  e\u0301te\u0301", **graphs)
    texts = screen.page.locator("[data-seen] text").evaluate_all(
        "(all) => all.map((each) => each.textContent)"
    )
    assert texts == ["👨‍👩‍👧‍👦🇳🇴", "e\u0301t"]
