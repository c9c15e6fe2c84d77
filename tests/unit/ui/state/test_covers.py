"""What is switched off, as page options: old links mean what they meant, new ones say the rest."""

import pytest

from crfviz.ui.state import scenario as covers
from crfviz.ui.state.scenario import (
    EVERY_ROW,
    OTHERS,
    USUAL_ROWS,
    covered,
    wanted_rows,
    with_covered,
)


def test_nothing_is_covered_by_default():
    assert covered({}) == []
    assert wanted_rows(EVERY_ROW) == list(USUAL_ROWS)


def test_rows_option_of_old_links_covers_the_others():
    assert covered({"rows": "greedy.viterbi"}) == ["left_to_right", "max_marginal", "gold"]
    assert covered({"rows": "none"}) == list(USUAL_ROWS)


@pytest.mark.parametrize(
    "parts", [[], ["gold"], ["path"], ["viterbi", "note", "score"], [*USUAL_ROWS, *OTHERS]], ids=str
)
def test_covered_parts_are_read_back_and_other_options_kept(parts):
    view = with_covered({"twin": "1", "rows": "gold", "hide": "note"}, parts)
    assert covered(view) == parts
    assert view["twin"] == "1"
    assert set(view) == {"twin"} | ({"rows"} if set(parts) - set(OTHERS) else set()) | (
        {"hide"} if set(parts) & set(OTHERS) else set()
    )


def test_unknown_covered_parts_are_ignored():
    assert covered({"hide": "rubbish.path", "rows": EVERY_ROW}) == ["path"]


def test_optional_row_is_drawn_only_if_chosen(monkeypatch):
    monkeypatch.setattr(covers, "USUAL_ROWS", ["greedy", "viterbi"])
    monkeypatch.setattr(covers, "EVERY_ROW", "greedy.viterbi")
    assert covered({}) == []
    lecture = with_covered({}, ["greedy"])
    assert lecture == {"rows": "viterbi"}
    chosen = with_covered({"rows": "greedy.viterbi.gold"}, ["greedy"])
    assert chosen == {"rows": "viterbi.gold"}
