"""The page Homework, driven with AppTest: its box, its file, its examples."""

import io

import numpy as np
import pytest

from crfviz import trace
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.forward_backward import forward_backward
from crfviz.taggers.registry import load_tagger
from crfviz.views.frames.homework import template
from tests.support.app_pages import assert_sound, button, go_to, open_at
from tests.support.student import Student

PAGE = "pages/homework.py"
MODEL, DAYS = "textbook/ice-cream", "2 3 3 1"
MAX_LETTERS = 105  # of a line in 930 pixels


@pytest.fixture
def page(app):
    app.query_params.update({"model": MODEL, "sentence": DAYS})
    open_at(app, PAGE)
    return app


def log_alpha():
    return forward_backward(load_tagger(MODEL).potentials(DAYS.split())).log_alpha.numpy()


def paste(page, text):
    return page.text_area[0].set_value(text).run()


def lines(table):
    return "\n".join(" ".join(map(str, row)) for row in table)


def test_empty_box_asks_for_a_table(page):
    assert_sound(page)
    assert "4 words by 2 tags" in page.info[0].value


def test_expected_table_is_shown_before_the_first_upload(page):
    assert page.text[0].value == "The tags, in this order: C H"
    example = page.code[0].value.splitlines()
    assert example[0].split("\t") == ["word", "C", "H"]
    assert [line.split("\t")[0] for line in example[1:]] == ["1", "2", "3"]
    paste(page, page.code[0].value)
    assert not page.exception
    empty = template(DAYS.split(), ["C", "H"])
    assert empty == "word,C,H\n1 2,,\n2 3,,\n3 3,,\n4 1,,\n"
    paste(page, empty.replace(",,", ",0,0"))
    assert "first wrong cell" in page.error[0].value


def test_filled_template_of_a_sentence_with_separators_is_right(app):
    sentence = 'Well , look ; | # 1 "'
    app.query_params.update({"model": "upos-en-contextfree", "sentence": sentence})
    open_at(app, PAGE)
    tagger = load_tagger("upos-en-contextfree")
    words = tagger.split(sentence)
    table = forward_backward(tagger.potentials(words)).log_alpha.tolist()
    lines = template(words, tagger.tags).splitlines()
    commas = "," * len(tagger.tags)
    rows = [
        line.removesuffix(commas) + "".join(f",{value:.4f}" for value in row)
        for line, row in zip(lines[1:], table, strict=True)
    ]
    paste(app, "\n".join([lines[0], *rows]))
    assert app.success[0].value.startswith("Right")


def test_example_of_many_tags_fits_the_page_width(app):
    app.query_params.update({"model": "upos-en-contextfree", "sentence": "These look fine to me ."})
    open_at(app, PAGE)
    example = app.code[0].value.splitlines()
    assert example[0].split("\t")[:2] == ["word", app.text[0].value.split(": ")[1].split()[0]]
    assert max(len(line.expandtabs(8)) for line in example) <= MAX_LETTERS


@pytest.mark.parametrize("labels", ["", "H C\n"])
@pytest.mark.parametrize("flipped", [False, True])
def test_reordered_tags_are_reported_and_sorted(page, labels, flipped):
    swapped = log_alpha()[:, ::-1]
    if flipped:
        rows = lines(swapped.T).split("\n")
        named = [f"{name} {row}" for name, row in zip("HC", rows, strict=True)]
        paste(page, "\n".join(["tag 2 3 3 1", *named] if labels else rows))
    else:
        paste(page, labels + lines(swapped))
    assert not page.exception
    assert "Your tags stand in another order: H, C." in page.warning[0].value
    assert "arithmetic" not in page.error[0].value  # which is right
    assert not any("α(1, C) =" in text.value for text in page.text)
    button(page, "Put the tags in the model's order").click().run()
    assert page.success[0].value.startswith("Right: all 8 cells")
    assert not page.warning


@pytest.mark.parametrize("kind", ["beta", "viterbi"])
def test_viterbi_and_beta_tables_with_reordered_tags_are_sorted(page, kind):
    analysis = analyse(load_tagger(MODEL).potentials(DAYS.split()))
    table = analysis.best if kind == "viterbi" else analysis.forward_backward.log_beta
    page.button_group(key="view.kind").set_value(kind).run()
    paste(page, lines(table.numpy()[:, ::-1]))
    assert "Your tags stand in another order: H, C." in page.warning[0].value
    button(page, "Put the tags in the model's order").click().run()
    assert page.success[0].value.startswith("Right: all 8 cells")


@pytest.mark.parametrize("labels", ["", "ids", "names"])
def test_backpointers_with_reordered_tags_are_sorted(app, labels):
    sentence = "These look fine to me ."
    app.query_params.update(
        {"model": "upos-en-contextfree", "sentence": sentence, "v.kind": "backpointers"}
    )
    open_at(app, PAGE)
    tagger = load_tagger("upos-en-contextfree")
    pointers = analyse(tagger.potentials(sentence.split())).backpointers.numpy()
    order = np.random.default_rng(1).permutation(len(tagger.tags))
    mine = pointers[:, order]
    if labels == "names":
        cells = [[tagger.tags[k] if k >= 0 else "START" for k in row] for row in mine]
    else:
        place = np.argsort(order)
        cells = [[place[k] if k >= 0 else -1 for k in row] for row in mine]
    header = " ".join(tagger.tags[k] for k in order) + "\n" if labels == "ids" else ""
    app.text_area[0].set_value(header + lines(cells)).run()
    assert not app.exception
    assert "Your tags stand in another order" in app.warning[0].value
    button(app, "Put the tags in the model's order").click().run()
    assert app.success[0].value.startswith("Right")
    assert not app.warning


@pytest.mark.parametrize("decimals", [3, 12])
def test_correct_table_is_accepted(page, decimals):
    paste(page, lines(log_alpha().round(decimals)))
    assert_sound(page)
    assert page.success[0].value.startswith("Right: all 8 cells")


def test_wrong_cell_is_shown_and_the_text_kept(page):
    table = log_alpha()
    table[2, 1] += 1
    text = lines(table.T)
    paste(page, text)
    assert not page.exception
    assert "H at “3” (word 3)" in page.error[0].value
    assert "correct is" not in page.error[0].value
    assert len(page.dataframe) == 1
    page.toggle(key="homework.answers").set_value(True).run()  # the right number on request
    assert "correct is" in page.error[0].value
    assert page.text[0].value.startswith("α(3, H) = e(3, H) + log Σ exp")
    assert len(page.dataframe) == 2
    assert page.query_params["v.answers"] == "shown"
    go_to(page.switch_page("pages/viterbi.py").run(), PAGE)
    assert page.text_area[0].value == text


def test_link_of_a_lecturer_keeps_the_right_numbers_hidden(app):
    app.query_params.update({"model": MODEL, "sentence": DAYS, "v.answers": "hidden"})
    open_at(app, PAGE)
    right = log_alpha()
    assert not any(f"{right[0, 0]:.4f}" in str(frame.value) for frame in app.dataframe)
    assert "the right table" not in app.selectbox(key="view.homework").options
    right[2, 1] += 1
    paste(app, lines(right))
    assert "H at “3” (word 3): you have" in app.error[0].value
    assert "correct is" not in app.error[0].value
    assert not any("α(3, H) =" in text.value for text in app.text)
    assert "Show the right numbers" not in [toggle.label for toggle in app.toggle]
    assert len(app.dataframe) == 1


def test_partial_table_is_checked_as_far_as_it_goes(page):
    rows = template(DAYS.split(), ["C", "H"]).splitlines()
    alpha = log_alpha()
    for t in range(2):
        rows[t + 1] = rows[t + 1].removesuffix(",,") + f",{alpha[t, 0]:.4f},{alpha[t, 1]:.4f}"
    paste(page, "\n".join(rows))
    assert page.info[0].value == "Right so far: 4 cells. 4 cells of 8 are empty."
    paste(page, "\n".join(rows[:3]))  # fewer rows
    assert page.info[0].value == "Right so far: 4 cells. 4 cells of 8 are empty."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n3", "line 2"),
        ("1 2 3\n3 4 5\n6 7 8", "expected a table of 4 words by 2 tags"),
        ("![x](http://a.b) 1\n2 3", "line 1, column 1"),
    ],
)
def test_invalid_table_is_reported_and_the_text_kept(page, text, message):
    paste(page, text)
    assert not page.exception
    assert message in page.error[0].value
    assert "![x](" not in page.error[0].value
    assert page.text_area[0].value == text


def test_examples_fill_the_box(page):
    button(page, "Fill it in").click().run()
    assert page.success
    page.selectbox(key="view.homework").select("max for sum").run()
    button(page, "Fill it in").click().run()
    assert "Likely bug: max for sum" in page.error[0].value
    assert page.query_params["v.homework"] == "max for sum"


def test_fill_button_uses_the_example_chosen_in_the_same_run(page):
    page.selectbox(key="view.homework").select("max for sum")
    button(page, "Fill it in").click().run()
    assert "Likely bug: max for sum" in page.error[0].value


def test_table_is_compared_with_the_edited_chain(page):
    paste(page, lines(log_alpha()))
    page.query_params["t"] = "C.H:-1"
    page.run()
    assert page.success  # the address of a running session is not read again
    page.text_input(key="sentence").set_value("1 3 3 1").run()
    assert page.error


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_uploaded_file_fills_the_box(page, suffix):
    if suffix == "csv":
        data = lines(log_alpha()).encode()
    else:
        buffer = io.BytesIO()
        np.savez(buffer, alpha=log_alpha(), other=np.zeros((2, 2)))
        data = buffer.getvalue()
    page.file_uploader[0].set_value((f"mine.{suffix}", data, "application/octet-stream")).run()
    assert_sound(page)
    assert page.success
    assert page.text_area[0].value
    paste(page, "1 2")
    assert page.text_area[0].value == "1 2"


def test_unreadable_file_leaves_the_box_unchanged(page):
    paste(page, lines(log_alpha()))
    page.file_uploader[0].set_value(("mine.npz", b"\x80\x04", "application/octet-stream")).run()
    assert "pickle" in page.error[0].value
    assert page.success


def upload(page, text):
    page.file_uploader[0].set_value(("trace.json", text.encode(), "application/json")).run()


def traced(**mistakes):
    chain = load_tagger(MODEL).potentials(DAYS.split())
    rows = Student(chain, **mistakes).table("alpha")

    def program(board):
        for t, row in enumerate(rows):
            board.alpha[t] = row

    return trace(program, chain, "alpha").to_json()


def test_trace_is_played_and_closed(page):
    upload(page, traced(no_start=True))
    assert any("This page plays what it wrote." in text.value for text in page.text)
    page.toggle(key="view.twin").set_value(True).run()
    assert_sound(page)
    assert page.dataframe[0].value["write"].tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    button(page, "Close the trace").click().run()
    assert_sound(page)
    assert page.text_area


def test_damaged_trace_is_rejected_with_a_message(page):
    upload(page, traced().replace('"version": 1', '"version": 9'))
    assert "field 'version' must be 1, got 9" in page.error[0].value
    assert page.text_area
