"""Model errors in the browser: every tab, filter, link, upload and download."""

import re
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import TimeoutError as Timeout
from playwright.sync_api import expect

from tests.support.accessibility import assert_accessible
from tests.support.screen import PATIENCE, PAUSE, TRIES, Screen

TAGGED = "He\tPRON\nruns\tVERB\n.\tSYM\n\nThese\tPRON\nlook\tVERB\nfine\tADJ\n.\tPUNCT\n"

# The grid is a canvas: the mouse tells whether there is a link.
OVER_LINK = """([x, y]) => {
  const under = document.elementFromPoint(x, y);
  return under && getComputedStyle(under).cursor === "pointer";
}"""


def upload(screen, text, name="mine.conll"):
    screen.page.wait_for_function("crfviz.swept()")  # the page before may have such a box, too
    screen.page.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": text.encode()}]
    )


def confirm(screen):
    screen.page.get_by_role("button", name="Use these sentences").click()


def says(screen, text):
    expect(screen.page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)


@contextmanager
def explorer_of(screen, title, column=0):
    """The explorer that the first row of a table opens, by a click on one of its links."""
    page = screen.page
    grid = page.get_by_text(title).first.locator(
        "xpath=following::*[@data-testid='stDataFrame'][1]"
    )
    for _ in range(TRIES):  # the grid draws late, and looks for a link when the mouse moves
        grid.scroll_into_view_if_needed()
        box = grid.bounding_box()
        x, y = box["x"] + 25 + 97 * column, box["y"] + 55
        page.mouse.move(x, y - 5)
        page.mouse.move(x, y)
        with suppress(Timeout):
            page.wait_for_function(OVER_LINK, arg=[x, y], timeout=PAUSE)
            with page.context.expect_page(timeout=20 * PAUSE) as opened:
                page.mouse.click(x, y)
            break
    explorer = opened.value
    expect(explorer.locator("h1", has_text="Explore")).to_be_visible(timeout=PATIENCE)
    yield explorer
    explorer.close()
    page.bring_to_front()


TABS = {
    "Accuracy": ["Wrong words by gold and predicted tag", "Each tag by Viterbi"],
    "Calibration": ["Expected calibration error", "Words right among the surest"],
    "Decoders": ["Every decoder on the same sentences", "among the k best"],
    "Risk": ["Gold in calibrated sets, by length", "Gold in calibrated sets, by corpus"],
    "Slices": ["Slices of the corpus, largest gain first"],
    "Causes": [
        "Runs of wrong words by what is to blame",
        "Transition weights too strong",
        "Errors (71 of 71)",
    ],
    "Label errors": ["Gold tags to review, least probable first"],
    "Compare models": ["First upos-en, second"],
}
CHARTS = {"Accuracy": 1, "Calibration": 2, "Decoders": 1}


@pytest.mark.rotating
def test_every_tab_opens_and_a_second_click_keeps_it(screen):
    screen.visit("model-errors", model="upos-en", **{"v.tab": "Why"})
    for tab, texts in TABS.items():
        button = screen.page.get_by_role("radio", name=tab, exact=True)
        button.click()
        for text in texts:
            says(screen, text)
        charts = screen.page.locator("[data-testid=stVegaLiteChart]")
        expect(charts).to_have_count(CHARTS.get(tab, 0), timeout=PATIENCE)
        for chart in charts.all():
            drawn = chart.locator("svg, canvas").first
            expect(drawn).to_be_visible(timeout=PATIENCE)
        button.click()
        says(screen, texts[0])
        expect(button).to_be_checked(timeout=PATIENCE)


def test_filtered_error_opens_in_the_explorer(screen):
    view = {"v.tab": "Why", "v.kind": "transition"}
    screen.visit("model-errors", model="upos-en", **view)
    says(screen, "of 71)")
    with explorer_of(screen, "of 71)") as explorer:
        expect(explorer.get_by_text("not the gold tag")).to_be_visible(timeout=PATIENCE)
        wrong = explorer.locator(".node[data-wrong]")
        expect(wrong.first).to_be_attached()
        listed = Screen(explorer, screen.app)
        listed.wait({"name": 0, "rev": -1})  # a button is heard of by its key after it is drawn
        for key, place in ("j", 2), ("j", 3), ("k", 2):
            with listed.redraw():
                listed.press(key)
            expect(explorer.locator(".st-key-listed")).to_contain_text(f"{place} of 5")
        expect(explorer.locator(".word[data-asked]")).to_be_in_viewport()
        explorer.keyboard.press("b")
        expect(explorer.locator("h1", has_text="Model errors")).to_be_visible()
        expect(explorer.get_by_text("Errors (5 of 71)")).to_be_in_viewport()
        listed.expect_param("v.place", "1")


@pytest.mark.rotating
def test_list_reopens_at_the_last_visited_row(screen):
    """The last of a long list: the table is scrolled there, and the page to the table."""
    screen.visit("model-errors", model="upos-en", **{"v.tab": "Why"})
    says(screen, "Errors (71 of 71)")
    with explorer_of(screen, "Errors (71 of 71)") as explorer:
        address = explorer.url
    screen.load(
        "model-errors", address.replace("/?", "/model-errors?").replace("place=0", "place=70")
    )
    screen.page.wait_for_function(
        """() => {
          const list = document.querySelector(".st-key-row-errors-70");
          const scroller = list?.querySelector(".dvn-scroller");
          return scroller?.scrollTop > 0 && list.getBoundingClientRect().top < innerHeight;
        }"""
    )


@pytest.mark.rotating
def test_long_list_is_shown_completely_on_request(screen):
    view = {"v.corpus": "file", "v.tab": "Why"}
    screen.visit("model-errors", model="upos-en", **view)
    upload(screen, "the\tNOUN\n\n" * 150)
    confirm(screen)
    says(screen, "Errors (150 of 150)")
    says(screen, "Only these 100 are sorted")
    screen.page.get_by_text("all 150 rows").click()
    expect(screen.page.get_by_text("The first 100;")).to_have_count(0, timeout=PATIENCE)
    screen.expect_param("v.all_errors", "1")


@pytest.mark.rotating
def test_tab_and_filter_are_in_the_url(screen):
    screen.visit("model-errors", model="upos-en")
    screen.page.get_by_role("radio", name="Slices").click()
    says(screen, "Slices of the corpus")
    screen.expect_param("v.tab", "Where")
    screen.page.get_by_role("radio", name="gold tag").first.click()
    says(screen, "Slices by gold tag")
    screen.expect_param("v.part", "gold tag")
    crossed = screen.page.locator(".st-key-view-cross")
    crossed.get_by_role("radio", name="capitalisation").click()
    screen.expect_param("v.cross", "capitalisation")
    says(screen, "Slices by gold tag and capitalisation")


@pytest.mark.rotating
def test_confusion_matrix_cell_lists_its_errors(screen):
    screen.visit("model-errors", model="upos-en")
    cell = screen.page.locator('[aria-label*="gold: NOUN"][aria-label*="predicted: PROPN"]').last
    cell.click()
    says(screen, "Errors: NOUN as PROPN")


def test_cell_and_its_errors_are_reached_by_keyboard(screen):
    screen.visit("model-errors", model="upos-en")
    screen.pick(screen.page.get_by_role("combobox", name="Errors of a cell"), "NOUN as PROPN")
    says(screen, "Errors: NOUN as PROPN")
    screen.expect_param("v.cell", "NOUN PROPN")
    switch = screen.page.locator(".st-key-view-plain_errors input")
    switch.focus()
    screen.press(" ")
    first = screen.page.locator(".crfviz-plain a").first
    expect(first).to_have_accessible_name(re.compile("open explore: .*NOUN, PROPN"))
    assert_accessible(screen, "a list by keyboard")
    first.focus()
    screen.press("Enter")
    screen.expect_title("Explore")
    expect(screen.page.locator(".st-key-listed")).to_contain_text("gold NOUN, predicted PROPN")


@pytest.mark.rotating
def test_uploaded_file_is_evaluated_and_kept_between_pages(screen):
    screen.visit("model-errors", model="upos-en", **{"v.corpus": "file"})
    says(screen, "Choose a file")
    upload(screen, TAGGED)
    confirm(screen)
    says(screen, "2 sentences, 7 words")
    screen.follow("Models")
    screen.follow("Model errors")
    says(screen, "2 sentences, 7 words")


@pytest.mark.rotating
def test_unknown_tags_are_mapped_by_the_user(screen):
    screen.visit("model-errors", model="ner-en", **{"v.corpus": "file"})
    upload(screen, "Ann\tB-being\nruns\tO\n")
    confirm(screen)
    says(screen, "Tags that ner-en does not have")
    says(screen, "to one of the model")
    screen.pick(screen.page.get_by_role("combobox", name="being (1 word) counts as"), "PER")
    says(screen, "1 sentence, 2 words")


@pytest.mark.rotating
def test_run_can_be_stopped_and_restarted(screen):
    screen.visit("model-errors", model="upos-en", **{"v.corpus": "file"})
    upload(screen, "".join(f"Dog{n}\tNOUN\nruns\tVERB\n.\tPUNCT\n\n" for n in range(9000)))
    confirm(screen)
    screen.page.get_by_role("button", name="Stop").click()
    says(screen, "The run was stopped")
    expect(screen.page.locator("[data-testid=stDataFrame]")).to_have_count(0)
    screen.page.get_by_role("button", name="Run", exact=True).click()
    expect(screen.page.get_by_role("button", name="Stop")).to_be_visible(timeout=PATIENCE)
    screen.page.get_by_role("button", name="Stop").click()
    says(screen, "The run was stopped")


@pytest.mark.rotating
def test_link_scrolls_to_the_wrong_word_even_if_the_style_sheet_is_late(screen):
    page, held = screen.page, []
    page.route(re.compile(r"/stage\.css"), lambda route: held.append(route))
    words = ["the"] * 60
    view = {"v.at": "55 DET", "v.rows": "viterbi"}
    screen.visit("", model="upos-en", sentence="  ".join(words), **view)
    cell = page.locator("[data-row=viterbi][data-t='55']")
    expect(cell).to_be_attached(timeout=PATIENCE)
    assert held
    expect(cell).to_be_hidden()  # nobody sees it unstyled
    for route in held:
        route.continue_()
    expect(cell).to_be_in_viewport(timeout=PATIENCE)
    expect(cell).to_be_visible()


# Whether a table of the tab before was ever to be seen beside the bar of a run.
STALE = """(old) => {
  window.runs ??= [];
  const look = () => {
    const main = document.querySelector("[data-testid=stMain]").innerText;
    if (/\\d of 150 sentences/.test(main)) window.runs.push(main.includes(old));
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.rotating
def test_tables_of_the_previous_tab_disappear_during_a_run(screen):
    view = {"v.tab": "Why", "v.against": "upos-en-perceptron-greedy"}
    screen.visit("model-errors", model="upos-en", **view)
    says(screen, "Runs of wrong words by what is to blame")
    screen.page.evaluate(STALE, "Runs of wrong words by what is to blame")
    screen.page.get_by_role("radio", name="Compare models").click()
    says(screen, "First upos-en, second upos-en-perceptron-greedy")
    screen.page.get_by_role("radio", name="Accuracy").click()
    says(screen, "Each tag by Viterbi")
    screen.page.evaluate(STALE, "Each tag by Viterbi")
    screen.choose("model", "upos-en-hmm")
    says(screen, "upos-en-hmm on 150 sentences")
    runs = screen.page.evaluate("window.runs")
    assert runs
    assert not any(runs)


# Titles of tables, and what saves one, that lie under the buttons of a table.
COVERED = """() => {
  const boxes = (name) => [...document.querySelectorAll(`[data-testid=stMain] ${name}`)]
    .map((e) => ({ text: e.textContent, box: e.getBoundingClientRect() }));
  const bars = boxes("[data-testid=stDataFrame] [data-testid=stElementToolbarButtonContainer]");
  const titles = boxes(":is(p strong, [data-testid=stButton] p, [data-testid=stDownloadButton] p)");
  const across = (a, b) => a.left < b.right && b.left < a.right;
  const meet = (a, b) => across(a, b) && a.top < b.bottom && b.top < a.bottom;
  const covered = titles.filter(({ box }) => bars.some((bar) => meet(bar.box, box)));
  return { bars: bars.length > 0, covered: covered.map(({ text }) => text) };
}"""


@pytest.mark.rotating
def test_all_downloads_work_on_a_phone_and_tables_cover_no_heading(watch, fresh):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    screen = watch(fresh(**phone))
    screen.visit("model-errors", model="upos-en", **{"v.tab": "How wrong"})
    says(screen, "Wrong words by gold and predicted tag")
    screen.expect_measured(COVERED, {"bars": True, "covered": []})
    starts = {
        "Report (HTML)": "<!DOCTYPE html>",
        "Errors (CoNLL)": "",
        "Fix list (CSV)": "sentence",
    }
    for label, start in starts.items():
        with screen.page.expect_download() as download:
            screen.page.get_by_role("button", name=label).click()
        text = download.value.path().read_text(encoding="utf-8")
        assert text.startswith(start)
        assert len(text) > 1000


def test_predicted_tags_are_compared_with_those_of_the_model(screen):
    words, theirs = "Oslo is in Norway", "0.B-PER,1.O,2.O,3.B-LOC"
    screen.open(sentence=words, model="ner-en", **{"v.theirs": theirs})
    rows = screen.read().rows
    assert rows["theirs"] == ["B-PER", "O", "O", "B-LOC"]
    assert rows["viterbi"] == ["B-LOC", "O", "O", "B-LOC"]
    cells = screen.page.locator("[data-row=theirs]")
    expect(cells.nth(0)).to_have_attribute("data-differs", "true")
    expect(cells.nth(1)).not_to_have_attribute("data-differs", "true")
    assert "differ at 1 of 4 words: “Oslo” B-LOC ≠ B-PER." in screen.read().note
    screen.type_sentence("Oslo is in Sweden")
    assert "theirs" not in screen.read().rows


def test_second_file_of_predictions_is_evaluated(screen):
    screen.visit("model-errors", model="ner-en", **{"v.corpus": "file"})
    upload(screen, "Oslo\tB-LOC\nis\tO\n.\tO\n", name="gold.conll")
    confirm(screen)
    says(screen, "on gold.conll")
    screen.page.get_by_role("button", name="Predictions of another tagger").click()
    screen.page.locator(".st-key-errors-answers input[type=file]").set_input_files(
        [
            {
                "name": "out.conll",
                "mimeType": "text/plain",
                "buffer": b"Oslo\tB-PER\nis\tO\n.\tO\n",
            }
        ]
    )
    confirm(screen)
    says(screen, "predictions in out.conll")
    says(screen, "entity F1")
