"""The elements in apps of somebody else, in Chromium."""

import re
from types import SimpleNamespace

import pytest
import torch
from playwright.sync_api import expect

from tests.support.oracle import best_paths
from tests.support.paths import ROOT

DOCUMENT = ROOT / "docs" / "streamlit.md"
TAGS = ["DET", "ADJ", "NOUN", "VERB"]
CHAIN = """
import crfviz, streamlit as st, torch

st.session_state["runs"] = st.session_state.get("runs", 0) + 1

def chain(seed=1, words=("the", "old", "man", "sails")):
    scores = torch.randn(len(words), 4, generator=torch.Generator().manual_seed(seed)).double()
    tags = ["DET", "ADJ", "NOUN", "VERB"]
    return crfviz.Potentials(scores, torch.eye(4).double(), tags=tags, tokens=list(words))

def say(name, shown):
    best = " ".join(crfviz.viterbi(shown.potentials).names)
    st.text(f"{name}: {best} | {len(shown.edits)} edits | {shown.selected} | step {shown.step}")

"""
ONE = """
say("one", crfviz.st_lattice(chain(), view="transitions", key="k"))
st.text(f"run {st.session_state['runs']}")
"""


@pytest.fixture
def opened(guests, fresh):
    """Open an app; afterwards nothing broke and nothing went elsewhere."""
    errors, before = [], len(guests.server.log())

    def open_app(text, *, stages=1, **options):
        page = fresh(**options).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        guests.open(page, CHAIN + text)
        expect(page.locator("[data-stage]:visible")).to_have_count(stages)
        return page

    yield open_app
    assert not errors
    assert "Traceback" not in guests.server.log()[before:]


def best(*edits, seed=1):
    """The best path of the app's chain, by enumeration, with these transitions changed."""
    scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(seed)).double()
    moves, zeros = torch.eye(4).double(), torch.zeros(4)
    for before, after, score in edits:
        moves[TAGS.index(before), TAGS.index(after)] = score
    chain = SimpleNamespace(emissions=scores, transitions=moves, start=zeros, end=zeros)
    (path,) = best_paths(chain)
    return " ".join(TAGS[tag] for tag in path)


def type_score(page, cell, score, stage="[data-stage]"):
    page.locator(f'{stage} [data-cell="{cell}"]').click()
    page.keyboard.type(score)
    page.keyboard.press("Enter")


def expect_text(page, text):
    expect(page.get_by_text(text, exact=False).first).to_be_visible()


def test_edit_is_returned_to_the_app_after_one_run(opened):
    page = opened(ONE)
    expect_text(page, f"one: {best()} | 0 edits | None | step 0")
    type_score(page, "ADJ,ADJ", "-5")
    after = best(("ADJ", "ADJ", -5.0))
    assert after != best()
    expect_text(page, f"one: {after} | 1 edits")
    expect_text(page, "run 2")
    page.get_by_role("button", name="undo", exact=True).click()
    expect_text(page, f"one: {best()} | 0 edits")
    expect_text(page, "run 3")
    type_score(page, "ADJ,NOUN", "2")
    expect_text(page, "run 4")


def test_hovering_and_keys_outside_cause_no_run(opened):
    page = opened(ONE + "st.text_input('name')\n")
    for cell in page.locator(".tag").all()[:4]:
        cell.hover()
    page.get_by_label("name").click()
    for key in ["v", "ArrowRight", "PageDown", " ", "Home"]:
        page.keyboard.press(key)
    page.mouse.click(5, 300)
    expect_text(page, "run 2")  # of the text field, which was left with another text
    for key in ["v", "e", "ArrowRight", "PageDown", "End"]:
        page.keyboard.press(key)
    page.locator(".node").first.click()
    expect_text(page, "run 3")
    assert "app=" in page.url
    assert page.url.count("=") == 1


def test_clicked_tag_is_selected(opened):
    page = opened('say("one", crfviz.st_lattice(chain(), view="why", key="k"))')
    page.locator('[data-node="2,3"]').click()
    expect_text(page, "(2, 'VERB')")


def test_steps_are_returned(opened):
    page = opened('say("one", crfviz.st_lattice(chain(), view="viterbi", key="k"))')
    for _ in range(3):
        page.get_by_role("button", name="◀", exact=True).click()
    expect_text(page, "step 5")


def test_stages_in_columns_tabs_fragments_and_dialogs_are_independent(opened):
    page = opened(
        """
left, right = st.columns(2)
with left:
    say("left", crfviz.st_lattice(chain(), view="transitions", key="left"))
with right:
    say("right", crfviz.st_lattice(chain(), view="transitions", key="right"))
with st.tabs(["first", "second"])[0]:
    say("tab", crfviz.st_lattice(chain(), view="transitions", key="tab"))

@st.fragment
def part():
    say("fragment", crfviz.st_lattice(chain(), view="transitions", key="fragment"))

part()
st.text(f"run {st.session_state['runs']}")

@st.dialog("A dialog", width="large")
def dialog():
    say("dialog", crfviz.st_lattice(chain(), view="transitions", key="dialog"))

if st.button("Open"):
    dialog()
""",
        stages=4,
    )
    after = best(("ADJ", "ADJ", -5.0))
    for n, name in enumerate(["left", "right", "tab"]):
        type_score(page, "ADJ,ADJ", "-5", f".st-key-{name}")
        expect_text(page, f"{name}: {after} | 1 edits")
        expect_text(page, f"run {n + 2}")
    type_score(page, "ADJ,ADJ", "-5", ".st-key-fragment")
    expect_text(page, f"fragment: {after} | 1 edits")
    expect_text(page, "run 4")  # a fragment runs alone
    page.get_by_role("button", name="Open").click()
    type_score(page, "ADJ,ADJ", "-5", ".st-key-dialog")
    expect_text(page, f"dialog: {after} | 1 edits")


def test_form_sends_edits_on_submit(opened):
    page = opened(
        """
with st.form("f"):
    shown = crfviz.st_lattice(chain(), view="transitions", key="k")
    st.form_submit_button("Send")
say("form", shown)
st.text(f"run {st.session_state['runs']}")
"""
    )
    type_score(page, "ADJ,ADJ", "-5")
    type_score(page, "ADJ,NOUN", "2")
    expect(page.locator('[data-cell="ADJ,NOUN"]')).to_contain_text("2.0")
    expect_text(page, "run 1")
    page.get_by_role("button", name="Send").click()
    expect_text(page, f"form: {best(('ADJ', 'ADJ', -5.0), ('ADJ', 'NOUN', 2.0))} | 2 edits")
    expect_text(page, "run 2")


def test_edits_survive_new_scores_and_are_dropped_with_new_words(opened):
    page = opened(
        """
seed = 2 if st.toggle("scores") else 1
words = ["she", "sells", "sea", "shells"] if st.toggle("words") else ["the", "old", "man", "sails"]
say("one", crfviz.st_lattice(chain(seed, words), view="transitions", key="k"))
"""
    )
    edit = ("ADJ", "ADJ", -5.0)
    type_score(page, "ADJ,ADJ", "-5")
    expect_text(page, f"one: {best(edit)} | 1 edits")
    page.get_by_text("scores", exact=True).click()
    expect_text(page, f"one: {best(edit, seed=2)} | 1 edits")
    page.get_by_text("words", exact=True).click()
    expect_text(page, f"one: {best(seed=2)} | 0 edits")
    expect(page.locator('[data-cell="ADJ,ADJ"]')).to_contain_text("1.0")


def test_read_only_element_selects_by_click_and_rejects_typing(opened):
    page = opened(
        'say("one", crfviz.st_lattice(chain(), view="transitions", editable=False, key="k"))'
    )
    type_score(page, "ADJ,ADJ", "-5")
    page.locator('[data-node="1,2"]').click()
    expect_text(page, f"one: {best()} | 0 edits | (1, 'NOUN')")


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.rotating), "dark"])
def test_stage_follows_the_app_theme_and_adds_no_global_styles(opened, scheme):
    page = opened(ONE, color_scheme=scheme)
    outside = page.locator(".stApp").evaluate("(app) => getComputedStyle(app).backgroundColor")
    ink = page.locator("[data-testid=stText]").first.evaluate("(e) => getComputedStyle(e).color")
    expect(page.locator("[data-stage]")).to_have_css("color", ink)
    bright = int(outside.removeprefix("rgb(").split(",")[0]) > 128
    assert bright == (scheme == "light")
    sheets = page.evaluate(
        "[...document.styleSheets].filter((s) => { try { return [...s.cssRules].some((r) => "
        "r.selectorText?.includes('data-stage')); } catch { return false; } }).length"
    )
    assert sheets == 0


TRANSFORMERS = '''
"""A stand-in with the names of transformers that the document uses; no weights are loaded."""
from types import SimpleNamespace
import torch

LABELS = ["O", "B-PER", "I-PER", "B-LOC"]

class Encoded(dict):
    def word_ids(self):
        return self["words"]

class AutoTokenizer:
    def from_pretrained(name):
        def encode(words, is_split_into_words, return_tensors):
            pieces = [t for t, _ in enumerate(words) for _ in range(2)]
            return Encoded(words=[None, *pieces, None])
        return encode

class AutoModelForTokenClassification:
    def from_pretrained(name):
        def run(words):
            seeds = torch.Generator().manual_seed(1)
            return SimpleNamespace(logits=torch.randn(1, len(words), 4, generator=seeds))
        run.config = SimpleNamespace(id2label=dict(enumerate(LABELS)))
        return run
'''


START = [["VERB"], ["B-LOC"], []]  # tags that are made to come first, in each app


@pytest.mark.parametrize(("number", "stages"), [(0, 1), (1, 1), (2, 2)])
def test_documented_apps_run_and_accept_edits(guests, fresh, number, stages):
    apps = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    assert len(apps) == 3
    assert all(len(app.splitlines()) <= 20 for app in apps)
    (guests.folder / "transformers.py").write_text(TRANSFORMERS)
    page = guests.open(fresh().new_page(), apps[number])
    expect(page.locator("[data-stage]:visible")).to_have_count(stages)
    tags = page.get_by_text("Best path: ").last
    expect(tags).to_be_visible()
    for tag in START[number]:
        type_score(page, f"START,{tag}", "50")
        expect(tags).to_have_text(re.compile(f": {tag} "))
    expect(page.get_by_text("Traceback")).to_have_count(0)


LABELLER = """
words, tags = ["Anna", "Lee", "sings"], ["O", "B-PER", "I-PER"]
logits = [[0.1, 2.0, 0.3], [0.9, 0.2, 0.8], [3.0, 0.1, 0.2]]
potentials = crfviz.Potentials(logits, torch.zeros(3, 3), tags=tags, tokens=words)
"""


def test_labels_reach_the_app_and_keys_outside_do_nothing(opened):
    page = opened(
        LABELLER
        + """
done = crfviz.st_labeller(words, tags, potentials=potentials, key="labels")
st.text(f"Your tags: {' '.join(done.tags)} {done.done} run {st.session_state['runs']}")
""",
        stages=0,
    )
    expect_text(page, "Your tags: B-PER O O False run 1")
    page.keyboard.press("p")  # nothing has the focus
    chips = page.locator("[data-labeller] .chip")
    chips.nth(0).click()
    chips.nth(1).click(modifiers=["Shift"])
    page.keyboard.press("p")
    expect_text(page, "Your tags: B-PER I-PER O False run 2")
    page.keyboard.press("Enter")
    expect_text(page, "Your tags: B-PER I-PER O True run 3")


def test_labeller_element_offers_only_accept_and_undo(opened):
    page = opened(f"{LABELLER}crfviz.st_labeller(words, tags, key='labels')\n", stages=0)
    actions = page.locator("[data-labeller] .actions button")
    assert [each.get_attribute("data-act") for each in actions.all()] == ["accept", "undo"]
    page.locator("[data-labeller] .chip").nth(0).click()
    page.keyboard.press("/")
    page.keyboard.press("PageDown")
    page.keyboard.press("p")
    expect(page.locator("[data-labeller] .chip").nth(0)).to_contain_text("PER")


def test_labeller_in_a_form_waits_for_submit(opened):
    page = opened(
        f"""{LABELLER}
with st.form("f"):
    done = crfviz.st_labeller(words, tags, key="labels")
    st.form_submit_button("Send")
st.text(" ".join(done.tags))
""",
        stages=0,
    )
    page.locator("[data-labeller] .chip").nth(0).click()
    page.keyboard.press("p")
    expect(page.locator("[data-labeller] .note")).to_contain_text("A form answers when")
    page.get_by_role("button", name="Send").click()
    expect_text(page, "B-PER O O")


@pytest.mark.rotating
def test_two_labellers_without_scores_are_independent(opened):
    page = opened(
        """
left, right = st.columns(2)
with left:
    done = crfviz.st_labeller(["they", "walk"], ["NOUN", "VERB"], key="labels")
with right:
    other = crfviz.st_labeller(["a", "b"], ["X", "Y"], key="other")
st.text(f"Your tags: {'+'.join(done.tags)} and {'+'.join(other.tags)}")
""",
        stages=0,
    )
    page.locator(".st-key-labels [data-labeller] .chip").nth(1).click()
    page.keyboard.press("v")
    expect_text(page, "Your tags: +VERB and +")
    page.locator(".st-key-other [data-labeller] .chip").nth(0).click()
    page.keyboard.press("y")
    expect_text(page, "Your tags: +VERB and Y+")
