"""Questions before the answer is shown: what is covered, a wrong answer and a right one, keys."""

import pytest
from playwright.sync_api import expect

from crfviz.views.quiz.selection import next_question
from tests.support.accessibility import assert_accessible
from tests.support.screen import chain

ASKED = "[data-question]"
RIGHT = f"{ASKED} [data-right=true]"
SIZES = """(all) => all.map((one) =>
  [one.offsetHeight, parseFloat(getComputedStyle(one).fontSize)])"""


def wrong_of(found):
    return next(i for i in range(len(found.choices)) if i != found.right)


def test_wrong_answer_names_its_mistake_and_the_right_one_is_accepted(screen):
    now = chain().analysis
    first = next_question(now, now, "explore")
    screen.open()
    screen.page.get_by_text("Ask me", exact=True).click()
    question = screen.page.locator(ASKED)
    expect(question).to_contain_text(first.text)
    expect(question.locator("[data-choice]")).to_have_count(len(first.choices))
    place = f"[data-row=viterbi][data-t='{first.ask.word - 1}']"
    expect(screen.page.locator(place)).to_have_count(0)  # covered: not on the page
    expect(screen.page.locator("[data-best=true]")).to_have_count(0)
    download = screen.page.get_by_role("button", name="Download")
    expect(download).to_be_disabled()  # such a file would tell

    screen.press("h")
    expect(question.get_by_role("status")).to_contain_text(first.hint)
    wrong = wrong_of(first)
    with screen.redraw():
        screen.press(str(wrong + 1))
    expect(screen.page.locator(RIGHT)).to_contain_text(first.choices[first.right].text)
    told = question.get_by_role("status")
    expect(told).to_contain_text(first.choices[wrong].why)
    expect(told).to_contain_text(first.choices[first.right].why)
    expect(screen.page.locator(place)).to_have_count(1)
    expect(download).to_be_enabled()
    screen.expect_param("v.said", first.choices[wrong].text)
    assert_accessible(screen, "a question")

    second = next_question(now, now, "explore", first.ask)
    screen.press("q")
    expect(question).to_contain_text(second.text)
    screen.reload()
    expect(question).to_contain_text(second.text)
    question.locator("[data-choice]").nth(second.right).click()
    expect(told).to_contain_text(f"Right: {second.choices[second.right].text}")

    def check():
        sizes = question.locator("button:visible").evaluate_all(SIZES)
        assert sizes
        assert all(height >= 24 and letters >= 14 for height, letters in sizes)

    screen.eventually(check)


@pytest.mark.rotating
def test_typed_answer_is_accepted_and_cells_keep_their_digits(screen):
    now = chain().analysis
    found = next_question(now, now, "transitions")
    screen.open("transitions", **{"v.ask": "1"})
    question = screen.page.locator(ASKED)
    expect(question).to_contain_text(found.text)
    screen.type_score(screen.cell("DET", "NOUN"), "1")
    screen.expect_edits(1)
    screen.rest()  # a redraw takes what is typed
    expect(screen.page.locator(RIGHT)).to_have_count(0)
    question.get_by_label("Type the answer").fill("perhaps")
    question.get_by_label("Type the answer").press("Enter")
    expect(question.get_by_role("status")).to_contain_text("“perhaps” is none of the answers")
    answer = question.locator("[data-choice]").first.inner_text().split()[-1]
    question.get_by_label("Type the answer").fill(f" {answer.upper()} ")
    question.get_by_label("Type the answer").press("Enter")
    expect(screen.page.locator(RIGHT)).to_have_count(1)


@pytest.mark.rotating
def test_invalid_question_in_the_url_is_reported(screen):
    screen.open(**{"v.ask": "1", "v.asked": "viterbi(99)"})
    screen.wait_for_text("There is no such question: expected a word that occurs once")
    expect(screen.page.locator(ASKED)).to_be_visible()
