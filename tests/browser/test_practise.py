"""The page Practise: exercises played to their end, with clicks, keys and touch."""

import re
from ast import literal_eval

import pytest
from playwright.sync_api import expect

import crfviz
from crfviz.ui.lectures.lecture_store import read, to_link_name
from tests.support.browser import PROJECTOR
from tests.support.screen import assert_equal

PHONE = {"width": 390, "height": 844}


def opened(screen, task, size=PROJECTOR):
    screen.page.set_viewport_size(size)
    page = screen.visit("practise", do=f"{task.kind}.{task.seed}").page
    page.locator('[data-exercise][data-step="0"]').wait_for()
    page.locator('[data-node="0,0"]').wait_for(state="attached")
    return page


def node(page, t, k):
    return page.locator(f'[data-node="{t},{k}"]')


def answer(page, step):
    """Give the right answer to a step with the pointer and the field."""
    page.locator(f'[data-ask="{step.kind}"]').wait_for()
    page.wait_for_function("crfviz.rests()")  # the lattice stays in its place
    if step.kind == "value":
        page.locator("[data-answer]").fill(f"{step.answer:.2f}")
        page.locator("[data-answer]").press("Enter")
    elif step.kind == "read":
        for cell in step.answer:
            node(page, *cell).click()
        page.locator("[data-submit]").click()
    elif step.kind == "write":
        node(page, *step.answer).click()
    else:
        node(page, step.cell[0] - (step.kind == "pointer"), step.answer).click()


def link_of(text):
    return to_link_name(read(text, "mine.toml"))


def wait_for_step(page, n):
    page.locator(f'[data-exercise][data-step="{n}"]').wait_for()


@pytest.mark.parametrize(
    ("size", "kind"),
    [
        pytest.param(PROJECTOR, "viterbi", id="projector-viterbi"),
        pytest.param(PHONE, "alpha", id="phone-alpha"),
        pytest.param(PHONE, "beta", id="phone-beta"),
        pytest.param(PROJECTOR, "alpha", id="projector-alpha", marks=pytest.mark.rotating),
        pytest.param(PROJECTOR, "beta", id="projector-beta", marks=pytest.mark.rotating),
        pytest.param(PHONE, "viterbi", id="phone-viterbi", marks=pytest.mark.rotating),
    ],
)
def test_right_answers_lead_to_the_full_score_without_scrolling(screen, kind, size):
    task = crfviz.exercise(kind, 7)
    page = opened(screen, task, size)
    for n, step in enumerate(task.steps):
        answer(page, step)
        wait_for_step(page, n + 1)
        assert page.locator("[data-verdict]").get_attribute("data-verdict") == "right"
        if n == 3:
            page.reload()
            wait_for_step(page, 4)
            node(page, 0, 0).wait_for(state="attached")
    page.locator("[data-exercise][data-done]").wait_for()
    every = len(task.steps)
    page.locator(f'[data-score="{every}/{every}"]').wait_for()
    if kind != "viterbi":  # the sweep ends with Z, beside the lattice
        expect(node(page, *task.steps[-1].cell)).to_have_text(
            task.arithmetic_of_z.rpartition("= ")[2]
        )
    if size is PROJECTOR:
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= 720
    page.get_by_role("button", name="Watch it").click()
    screen.expect_title("Viterbi" if kind == "viterbi" else "Forward–backward")
    page.locator('.stepper[data-step="0"]').wait_for()
    screen.eventually(lambda: assert_equal(screen.params()["model"], f"exercise/{kind}.7"))
    expect(page.locator("[data-stage] .word span")).to_have_text(list(task.potentials.tokens))


def test_wrong_value_is_named_shown_after_two_and_undone(screen):
    task = crfviz.exercise("viterbi", 7)
    page = opened(screen, task)
    t, k = task.steps[0].cell
    forgotten = float(task.potentials.emissions[t, k])
    for text in (f"{forgotten}", "99"):
        page.locator("[data-answer]").fill(text)
        page.locator("[data-answer]").press("Enter")
        wrong = page.locator('[data-verdict="wrong"]')
        mistake = "start forgotten" if text != "99" else ""
        selector = f'[data-mistake="{mistake}"]' if mistake else ":not([data-mistake])"
        page.locator(f'[data-verdict="wrong"]{selector}').wait_for()
        expect(wrong).to_contain_text("Try again")
    page.get_by_role("button", name="Show me").click()
    wait_for_step(page, 1)
    assert node(page, t, k).get_attribute("data-value") == f"{task.steps[0].answer:.6f}"
    page.locator("[data-exercise]").focus()
    page.keyboard.press("Control+z")
    wait_for_step(page, 0)


def test_keys_alone_answer_every_step(screen):
    task = crfviz.exercise("viterbi", 3)
    page = opened(screen, task)

    def go_to(t, k):
        page.keyboard.press("ArrowRight")
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
            page.keyboard.press("ArrowUp")
        for key, times in (("ArrowRight", t), ("ArrowDown", k)):
            for _ in range(times):
                page.keyboard.press(key)

    for n, step in enumerate(task.steps):
        page.locator(f'[data-ask="{step.kind}"]').wait_for()
        if step.kind == "value":
            page.locator("[data-answer]").focus()
            page.keyboard.type(f"{step.answer:g}")
        elif step.kind == "read":
            page.locator("[data-exercise]").focus()
            for cell in step.answer:
                go_to(*cell)
                page.keyboard.press("Space")
        else:
            page.locator("[data-exercise]").focus()
            before = step.kind == "pointer"
            go_to(*(step.answer if step.kind == "write" else (step.cell[0] - before, step.answer)))
        page.keyboard.press("Enter")
        wait_for_step(page, n + 1)
    page.locator("[data-exercise][data-done]").wait_for()


def test_typed_text_of_any_kind_is_graded_and_repeated_in_the_line(screen):
    task = crfviz.exercise("alpha", 7)
    page = opened(screen, task)
    for text in ('1"2', "3\u2028\t 5", "\\", "½;½", "9" * 5000):
        page.locator("[data-answer]").fill(text)
        page.locator("[data-answer]").press("Enter")
        page.locator('[data-verdict="wrong"]').wait_for()
        page.get_by_role("button", name="Submit").wait_for()
        expect(page.locator("[data-answer]")).to_have_value("")
    page.get_by_role("button", name="Show me").click()
    wait_for_step(page, 1)
    for n, step in enumerate(task.steps[1:], start=1):
        answer(page, step)
        wait_for_step(page, n + 1)
    every = len(task.steps)
    page.locator(f'[data-score="{every - 1}/{every}"]').wait_for()
    name, seed, tries = re.fullmatch(
        r"crfviz\.exercise\((.*?), (\d+)\)\.replay\((.*)\)\.score",
        page.locator("[data-exercise] code").text_content(),
    ).groups()
    repeated = crfviz.exercise(literal_eval(name), int(seed)).replay(literal_eval(tries))
    assert (repeated.step, repeated.score) == (every, every - 1)


LOSE = """
window.resends = [window.setTimeout, WebSocket.prototype.send];
window.setTimeout = (act, time, ...rest) =>
  time >= 3000 ? 0 : resends[0].call(window, act, time, ...rest);
WebSocket.prototype.send = () => {};
"""
RESTORE = "[window.setTimeout, WebSocket.prototype.send] = resends"


def test_lost_answer_is_sent_again_by_the_next_one(screen):
    task = crfviz.exercise("viterbi", 7)
    page = opened(screen, task)
    page.wait_for_function("crfviz.rests()")
    page.evaluate(LOSE)
    page.locator("[data-answer]").fill(f"{task.steps[0].answer:g}")
    page.locator("[data-answer]").press("Enter")
    expect(page.locator("[data-answer]")).to_have_value("")
    page.evaluate(RESTORE)
    page.locator("[data-answer]").fill("1")
    page.locator("[data-answer]").press("Enter")
    wait_for_step(page, 1)
    page.locator('[data-verdict="right"]').wait_for()


LECTURE = """
title = "An exercise"
minutes = 5

[[cue]]
page = "practise"
view.do = "alpha.7"
say = "Now you."

[[cue]]
page = "viterbi"
say = "And so on."
"""


def test_cue_of_a_lecture_is_an_exercise(screen):
    task = crfviz.exercise("alpha", 7)
    screen.page.set_viewport_size(PROJECTOR)
    page = screen.page
    page.goto(screen.address("", lecture=link_of(LECTURE), cue="1"))
    page.locator('[data-cue="1"]').wait_for()
    for n, step in enumerate(task.steps):
        node(page, 0, 0).wait_for(state="attached")
        answer(page, step)
        wait_for_step(page, n + 1)
    page.locator("[data-exercise][data-done]").wait_for()
    page.keyboard.press("PageDown")
    page.locator('[data-cue="2"]').wait_for()


def test_unknown_exercise_says_what_was_expected(screen):
    page = screen.visit("practise", do="gamma.1").page
    page.get_by_text("There is no exercise “gamma.1”").wait_for()
    page.locator('[data-exercise][data-step="0"]').wait_for()


def test_homework_is_a_view_of_practise(screen):
    page = screen.visit("homework", **{"v.kind": "beta"}).page
    page.get_by_text("or an example").first.wait_for()
    assert page.locator("[data-exercise]").count() == 0
