"""A checked table in words and as two frames."""

import numpy as np
import pytest

from crfviz.chain.homework.bugs import example_table, known_bugs
from crfviz.chain.homework.check import check
from crfviz.chain.homework.programs import KINDS
from crfviz.exceptions import CrfvizError
from crfviz.text.number_tables import parse_number_table
from crfviz.views.frames.homework import as_text, compared, how_read, likely_bug, verdict
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
