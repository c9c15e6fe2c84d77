"""The handout of a lecture: what is on paper, what in the key alone, that it asks for nothing."""

import base64
import re
from html.parser import HTMLParser

import pytest

from crfviz import load_tagger, match
from crfviz.ui.lectures.handout import POLICY, handout
from crfviz.ui.lectures.lecture_store import lecture, lectures, read

ASKED = """
title = "A <b>lecture</b>"
minutes = 3

[[cue]]
page = "viterbi"
model = "textbook/ice-cream"
sentence = "3 1 3"
step = "start"
say = "Day two: {greedy(2)}. <script>alert(1)</script>"
ask = "viterbi(2)"

[[cue]]
model = "textbook/ice-cream"
sentence = "3 1 3"
say = "All of it."

[[cue]]
model = "textbook/ice-cream"
sentence = "3 9 3"
say = "Nine."
"""


class Outside(HTMLParser):
    """Gathers what a page would ask for, and what could run."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "link", "iframe", "object", "b:script"):
            self.found.append(tag)
        for name, value in attributes:
            if name.startswith("on") or (name in ("src", "href") and not value.startswith("data:")):
                self.found.append((tag, name, value))


def pictures(page):
    codes = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", page)
    return [base64.b64decode(code).decode() for code in codes]


def test_covered_answers_are_only_in_the_key():
    page = handout(read(ASKED, "mine.toml"))
    paper, key = page.split('<section class="key">')
    first, second = pictures(paper)
    (shown,) = pictures(key)
    assert "polyline" not in first  # the best path
    assert "polyline" in second
    assert "polyline" in shown
    assert "best(t, k)" in first  # an empty table, to be filled in
    assert "−2.19" not in first
    assert "Day two: " not in paper  # it tells what is asked
    assert "Day two: " in key
    assert 'class="room"' in paper
    assert "expected" not in first
    assert "<b>A: " in key or "<b>B: " in key or "<b>C: " in key
    assert "9" in paper  # the third says why it cannot be drawn


def test_handout_names_the_edits_under_each_picture_that_has_some():
    edited = ASKED.replace('step = "start"', 'step = "start"\nedits = "C.H:-1.5,START.H:2"')
    assert edited != ASKED
    paper = handout(read(edited, "mine.toml")).split('<section class="key">')[0]
    first, second = paper.split("<section>")[1:3]
    assert '<p class="edits">2 edits: C → H −1.50, START → H 2.00</p>' in first
    assert "edits" not in second


def test_handout_picture_follows_the_direction_of_its_cue():
    turned = ASKED.replace('step = "start"', 'step = "start"\nview.direction = "rtl"')
    assert turned != ASKED

    def places(text):
        picture = pictures(handout(read(text, "mine.toml")))[0]
        return [int(x) for x in re.findall(r'<text x="(\d+)" y="20"', picture)]

    assert places(ASKED) == sorted(places(ASKED))
    assert places(turned) == sorted(places(turned), reverse=True)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("emissions", "Emission scores"),
        ("forward-backward", "β(t, k)"),
        ("marginals", "marginals: "),
        ("paths", "5. p = "),
        ("transitions", "transition scores"),
        ("learn", "observed − expected counts"),
    ],
)
def test_each_page_prints_its_own_tables(page, said):
    text = ASKED.split("[[cue]]")[2].replace("model", f'page = "{page}"\nmodel', 1)
    (shown,) = pictures(handout(read(f"title = 'Own'\nminutes = 1\n[[cue]]{text}", "own.toml")))
    assert said in shown


@pytest.mark.parametrize(
    ("page", "options", "said"),
    [
        ("why", 'view.at = "1 C"', ["Why not C at “1”?", "with C at 2", "<td>+1.95</td>"]),
        ("log-space", "", ["exp(a − max)", "float32 without the trick", "α(2, "]),
        ("em", 'view.start = "better"', ["log-likelihood", "p(H | C)", "<td>0</td>"]),
        ("naive", 'view.naive = "2"', ["All 4 paths, best first.", "H H", "Summed one by one"]),
    ],
)
def test_page_tables_are_only_in_the_key_before_the_first_step(page, options, said):
    text = ASKED.split("[[cue]]")[2].replace("model", f'page = "{page}"\n{options}\nmodel', 1)
    head = "title = 'Own'\nminutes = 1\n[[cue]]"
    page = handout(read(f"{head}{text}", "own.toml"))
    shown = page + "".join(pictures(page))
    assert [each for each in said if each not in shown] == []
    stepped = handout(read(f'{head}{text}step = "start"\n', "own.toml"))
    paper, key = stepped.split('<section class="key">')
    assert "<table>" not in paper
    assert "<table>" in key


def test_handout_shows_the_em_iterations_of_its_cue():
    text = ASKED.split("[[cue]]")[2]
    text = text.replace("model", 'page = "em"\nview.iterations = "30"\nmodel', 1)
    page = handout(read(f"title = 'Own'\nminutes = 1\n[[cue]]{text}step = 20\n", "own.toml"))
    assert "<td>20</td>" in page
    assert "<td>21</td>" not in page


@pytest.mark.parametrize("name", sorted(lectures()))
def test_handout_loads_nothing_from_the_network(name):
    page = handout(lecture(name))
    outside = Outside()
    outside.feed(page)
    assert outside.found == []
    assert f'content="{POLICY}"' in page
    assert page.count("<h2>") >= len(lecture(name).cues)
    for svg in pictures(page):
        assert not re.search(r"<script|href|url\(|@import", svg)


def test_names_in_a_handout_are_escaped():
    outside = Outside()
    outside.feed(handout(read(ASKED, "mine.toml")))
    assert outside.found == []


def test_path_under_a_rule_is_in_the_key_where_its_cost_is_asked():
    cue = """
[[cue]]
page = "rules"
model = "textbook/ice-cream"
sentence = "3 1 3"
view.rule = "C C .*"
say = "It costs {rule_cost('C C .*')}."
"""
    asked = f"{cue}ask = \"cost('C C .*')\"\n"
    text = f"title = 'Rules'\nminutes = 1\n{cue}{asked}"
    paper, key = handout(read(text, "rules.toml")).split('<section class="key">')
    plain, hidden = pictures(paper)
    (shown,) = pictures(key)
    chain = load_tagger("textbook/ice-cream").potentials(["3", "1", "3"])
    price = f"{match(chain, 'C C .*').cost:.2f}"
    for picture in (plain, shown):
        assert "under the rule" in picture
        assert picture.count(">C<") > hidden.count(">C<")
    assert price in key
    assert f"costs {price}" in paper  # of the cue that only says it
    assert paper.count(price) == 1


@pytest.mark.parametrize(
    ("ask", "asked", "answer"),
    [
        (
            'answers = ["<H>", "C"], right = 1',
            '<ol type="A"><li>&lt;H&gt;</li><li>C</li></ol>',
            "A: &lt;H&gt;",
        ),
        ('answers = "number", right = 3', "How many?</p><div", "<b>3</b>"),
        ('answers = ["H", "C"]', "<li>H</li><li>C</li>", "How many?</p></section>"),
    ],
)
def test_own_question_is_on_paper_and_its_answer_in_the_key(ask, asked, answer):
    cue = '[[cue]]\npage = "viterbi"\nmodel = "textbook/ice-cream"\nsentence = "3 1 3"\n'
    text = f'title = "Mine"\n{cue}ask = {{text = "How many?", {ask}}}\n'
    paper, key = handout(read(text, "mine.toml")).split('<section class="key">')
    assert asked in paper
    assert answer not in paper
    assert answer in key
