"""A checked table in words and as two frames."""

import csv
import io

import numpy as np
import pytest

from crfviz.chain.homework.bugs import example_table, known_bugs
from crfviz.chain.homework.check import check
from crfviz.chain.homework.programs import BACKPOINTERS, KINDS
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from crfviz.text.number_tables import parse_number_table
from crfviz.views.frames.homework import (
    as_text,
    compared,
    how_read,
    likely_bug,
    template,
    verdict,
)
from tests.support.rare_names import rare_chain, seed_of_commit
from tests.support.student import Student
from tests.unit.chain.homework.test_check import random_chain

WORDS = ["a", "b", "c", "d", "e"]


def frames(checked, kind, tags, *, every=True):
    given, right = compared(checked, kind, WORDS, tags, every=every)
    return given.data, right.data


def test_both_tables_are_drawn_with_the_first_wrong_cell_marked():
    chain = random_chain(0)
    table = np.array(Student(chain, transposed=True).table("alpha"))
    checked = check(chain, "alpha", table)
    given, ours = frames(checked, "alpha", chain.tags)
    right = np.array(Student(chain).table("alpha"))
    for k, tag in enumerate(chain.tags):
        for t, word in enumerate(WORDS):
            column = f"{t + 1} {word}"
            assert float(ours.loc[tag, column].replace("−", "-")) == pytest.approx(
                right[t, k], abs=6e-5
            )
            text = given.loc[tag, column]
            assert float(text.strip("✗≠ ").replace("−", "-")) == pytest.approx(
                table[t, k], abs=6e-5
            )
            assert (text[0] in "✗≠") == (t > 0)
    assert [tag for tag in chain.tags if given.loc[tag, "2 b"].startswith("✗")] == ["N"]
    assert "first wrong cell is N at “b” (word 2)" in verdict(checked, "alpha", WORDS, chain.tags)
    assert likely_bug(checked.first_wrong).startswith("Likely bug: transposed matrix.")
    assert "16 of 20 cells differ" in how_read(checked, "alpha")


def test_only_words_near_the_first_wrong_cell_are_drawn():
    chain = random_chain(0, num_tokens=20)
    words = [f"w{t}" for t in range(20)]
    table = np.array(Student(chain).table("alpha"))
    table[15, 1] += 1
    checked = check(chain, "alpha", table)
    given, _ = compared(checked, "alpha", words, chain.tags, every=False)
    assert list(given.data.columns) == [f"{t + 1} w{t}" for t in range(12, 19)]
    given, _ = compared(checked, "alpha", words, chain.tags, every=True)
    assert len(given.data.columns) == 20


def test_padding_has_its_own_columns():
    chain = random_chain(0)
    table = np.array(Student(chain, padding=2).forward())
    checked = check(chain, "alpha", table)
    given, ours = frames(checked, "alpha", chain.tags)
    assert list(given.columns[5:]) == ["6 padding", "7 padding"]
    assert (ours["6 padding"] == ours["5 e"]).all()
    assert "row 6, which is padding" in verdict(checked, "alpha", WORDS, chain.tags)


def test_backpointers_are_shown_as_tag_names():
    chain = random_chain(0)
    pointers = Student(chain).pointers()
    checked = check(chain, "backpointers", pointers)
    given, ours = frames(checked, "backpointers", chain.tags)
    assert given.equals(ours)
    assert ours.loc["V", "3 c"] == chain.tags[pointers[2][1]]
    assert verdict(checked, "backpointers", WORDS, chain.tags) == "Right: all 20 cells."


def test_how_read_describes_orientation_space_and_rounding():
    chain = random_chain(0)
    table = np.exp(Student(chain).forward()).T.round(2)
    said = how_read(check(chain, "alpha", table), "alpha")
    assert said.startswith("Read as: a row per tag, probability space, written to 2 decimals")
    assert said.endswith("α with the emission at t.")


@pytest.mark.parametrize("kind", KINDS)
def test_example_tables_are_read_back_and_their_bugs_recognised(kind):
    chain = random_chain(2, wall=True)
    named = 0
    for bug in known_bugs(kind):
        try:
            table = example_table(chain, kind, bug.name)
        except CrfvizError:
            continue
        text = as_text(table, chain.tags)
        read = parse_number_table(text, names=chain.tags, words=WORDS).values
        wrong = check(chain, kind, read).first_wrong
        assert wrong is not None, bug.name
        named += wrong.bug == bug.name
    assert named >= {"backpointers": 4}.get(kind, 8)
    right = parse_number_table(as_text(example_table(chain, kind), chain.tags), names=chain.tags)
    assert check(chain, kind, right.values).first_wrong is None


def test_example_bug_without_an_effect_is_rejected():
    with pytest.raises(CrfvizError, match="changes nothing here"):
        example_table(random_chain(0), "alpha", "-10000 leaking")
    with pytest.raises(CrfvizError, match="expected a bug of alpha tables"):
        example_table(random_chain(0), "alpha", "sum for max")


def read_as(chain, kind, text):
    names, words = list(chain.tag_names), list(chain.tokens)
    return parse_number_table(text, names=names, words=words, ids=kind == BACKPOINTERS)


def named_chain(tags, words):
    """Return a chain with these tags and words, whose scores the names do not change."""
    dice = np.random.default_rng(7)
    T, K = len(words), len(tags)
    tables = (dice.normal(0, 2, shape) for shape in [(T, K), (K, K), (K,), (K,)])
    return Potentials(*tables, tags=tags, tokens=words)


def filled_in(text, table, names, separator=","):
    """Return a template with numbers in it, as a spreadsheet saves it."""
    rows = list(csv.reader(io.StringIO(text)))
    cells = [
        [names[int(v)] if names and v >= 0 else "" if names else f"{v:.6f}" for v in row]
        for row in table.tolist()
    ]
    rows[1:] = [[row[0], *line] for row, line in zip(rows[1:], cells, strict=True)]
    saved = io.StringIO()
    csv.writer(saved, delimiter=separator).writerows(rows)
    return saved.getvalue()


def transposed(text):
    saved = io.StringIO()
    csv.writer(saved).writerows(zip(*csv.reader(io.StringIO(text)), strict=True))
    return saved.getvalue()


WELL = ["Well", ",", "look", "#", "1", ";", "|", '"']
NAMED = {
    "numerals": ["1", "2", "3"],
    "numerals from zero, reversed": ["2", "1", "0"],
    "quotes": ["''", '"q"', '"', "``"],
    "empty cells": ["nan", "-", "–", "none"],
    "one": ["A"],
    "one numeral": ["1"],
    "corner": ["word", "NN"],
    "commas": [",", "NN", "VB"],
    "features": ["NOUN|Case=Nom|Number=Sing", "VERB|Mood=Ind|Number=Sing|Person=3"],
    "brackets": ["[CLS]", "*", "名词", "''"],
    "blanks": ["B-geo loc", "O", "I-geo loc"],
    "sentinels": ["START", "END", "-1"],
}
CHAINS = {name: named_chain(tags, WELL) for name, tags in NAMED.items()}
CHAINS |= {
    f"rare {n}": rare_chain(seed_of_commit() + n, num_tokens=3 + n, num_tags=1 + n)
    for n in range(8)
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_right_table_is_read_back_for_any_name(chain, kind):
    table = example_table(chain, kind)
    text = as_text(table, chain.tag_names, chain.tag_names if kind == BACKPOINTERS else ())
    read = read_as(chain, kind, text)
    assert read.header == tuple(chain.tag_names)
    assert read.values.shape == table.shape
    assert check(chain, kind, read.values).first_wrong is None


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_filled_template_is_read_back_for_any_name(chain, kind, separator):
    table = example_table(chain, kind)
    names = chain.tag_names if kind == BACKPOINTERS else ()
    empty = template(chain.tokens, chain.tag_names)
    read = read_as(chain, kind, filled_in(empty, table, names, separator))
    assert read.header == tuple(chain.tag_names)
    assert check(chain, kind, read.values).first_wrong is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_table_with_a_row_per_tag_is_read_back_for_any_name(chain, kind):
    table = example_table(chain, kind)
    names = chain.tag_names if kind == BACKPOINTERS else ()
    text = transposed(filled_in(template(chain.tokens, chain.tag_names), table, names))
    read = read_as(chain, kind, text)
    assert read.labels == tuple(chain.tag_names)
    assert check(chain, kind, read.values).first_wrong is None


def test_ids_that_cannot_be_names_are_ids_of_numeral_tags():
    chain = CHAINS["numerals"]
    table = example_table(chain, BACKPOINTERS)
    assert (table == 0).any()  # no tag is called 0
    assert (
        check(
            chain, BACKPOINTERS, read_as(chain, BACKPOINTERS, as_text(table, chain.tags)).values
        ).first_wrong
        is None
    )


def test_cell_with_the_name_of_a_tag_is_a_number_among_scores():
    chain = named_chain(["1", "2"], ["a", "b"])
    read = read_as(chain, "alpha", "word,1,2\na,1,2\nb,2,1")
    assert read.values.tolist() == [[1, 2], [2, 1]]


def pasted(chain, kind, rows):
    text = "\n".join("\t".join(row) for row in rows)
    table = read_as(chain, kind, text)
    return check(chain, kind, table.values, table.units)


@pytest.mark.parametrize("digits", [2, 3])
@pytest.mark.parametrize("kind", ["alpha", "beta", "viterbi"])
def test_cells_with_few_significant_digits_are_right(kind, digits):
    for seed in range(20):
        chain = random_chain(seed)
        chain = Potentials(chain.emissions - 3, chain.transitions, tokens=WORDS, tags=chain.tags)
        first = slice(-1, None) if kind == "beta" else slice(0, 1)  # no rounded number before it
        table = np.exp(example_table(chain, kind))
        rows = [[f"{value:.9g}" for value in row] for row in table]
        rows[first] = [[f"{value:.{digits}g}" for value in row] for row in table[first]]
        assert pasted(chain, kind, rows).first_wrong is None


def test_two_digits_are_right_and_another_second_digit_is_wrong():
    chain = Potentials(np.log([[0.1134, 0.0021]]), np.zeros((2, 2)), tokens=["a"], tags=["A", "B"])
    assert pasted(chain, "alpha", [["0.11", "0.0021"]]).first_wrong is None
    assert pasted(chain, "alpha", [["0.1134", "0.0021"]]).first_wrong is None
    assert check(chain, "alpha", [[0.11, 0.0021]]).first_wrong is None
    assert check(chain, "alpha", [[0.11, 0.0021]]).rounding.text == "2 digits"
    assert pasted(chain, "alpha", [["0.12", "0.0021"]]).first_wrong.tag == 0
    assert pasted(chain, "alpha", [["0.1100", "0.0021"]]).first_wrong.tag == 0


@pytest.mark.parametrize("kind", ["alpha", "beta"])
def test_table_scaled_after_the_first_step_is_named(kind):
    chain = random_chain(3)
    table = np.exp(np.array(example_table(chain, kind)))
    rows = slice(None, -1) if kind == "beta" else slice(1, None)
    table[rows] /= table[rows].sum(1, keepdims=True)
    assert check(chain, kind, table).first_wrong.bug == "scaled from the second word on"


@pytest.mark.parametrize("kind", KINDS)
def test_partial_table_is_checked_as_far_as_it_goes(kind):
    chain = random_chain(1)
    chain = Potentials(chain.emissions, chain.transitions, tokens=WORDS, tags=chain.tags)
    table = example_table(chain, kind)
    rows = [[f"{value:.6f}" for value in row] for row in table]
    for row in rows[:2] if kind == "beta" else rows[3:]:
        row[:] = [""] * len(row)
    checked = pasted(chain, kind, rows)
    assert checked.first_wrong is None
    assert checked.num_empty == 8
    size = 20
    assert verdict(checked, kind, WORDS, chain.tags) == (
        f"Right so far: {size - 8} cells. 8 cells of {size} are empty."
    )
    rows[2][1] = "3.000000" if kind != BACKPOINTERS else str((int(table[2, 1]) + 1) % 4)
    wrong = pasted(chain, kind, rows).first_wrong
    assert (wrong.position, wrong.tag) == (2, 1)
    assert "correct is" not in verdict(
        pasted(chain, kind, rows), kind, WORDS, chain.tags, told=False
    )


def test_number_that_is_not_a_number_is_wrong_and_no_empty_cell():
    chain = random_chain(1)
    chain = Potentials(chain.emissions, chain.transitions, tokens=WORDS, tags=chain.tags)
    rows = [[f"{value:.6f}" for value in row] for row in example_table(chain, "alpha")]
    rows[4][2] = "nan"
    assert pasted(chain, "alpha", rows).first_wrong.position == 4
