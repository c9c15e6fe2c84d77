"""Pictures as LaTeX and tables: the edits of their scores are listed below."""

import csv

import pytest

import crfviz
from crfviz.chain.edits import Edits
from crfviz.taggers.registry import load_tagger
from crfviz.views.exports.live import Live
from crfviz.views.exports.tikz import PICTURES, tikz_of


@pytest.mark.parametrize("picture", PICTURES)
def test_picture_of_a_screen_lists_its_edits(picture):
    chain = load_tagger("textbook/ice-cream").potentials(["3", "1", "3"])
    edits = Edits(transitions={("C", "H"): -3.0}, emissions={(1, "H"): float("-inf")})
    edited, trained = tikz_of(Live(chain, edits=edits), picture), tikz_of(Live(chain), picture)
    last = edited.splitlines()[-3]
    for part in ("2 edits: C", r"\ensuremath{-}3.00", r"\infty"):
        assert part in last
    assert "% 2 edits: C → H −3.00, 2 “1” H −∞" in edited.splitlines()
    assert "edits" not in trained


EDITS = Edits(transitions={("C", "H"): -3.0}, emissions={(1, "H"): 0.5})
LISTED = "2 edits: C → H −3.00, 2 “1” H 0.50"


def ice_cream():
    return load_tagger("textbook/ice-cream").potentials(["3", "1", "3"])


@pytest.mark.parametrize("table", ["marginals", "transitions", "decoders"])
@pytest.mark.parametrize("end", ["csv", "md", "tex"])
def test_exported_table_has_the_edited_numbers_and_lists_the_edits(end, table, tmp_path):
    plain, edited = tmp_path / f"plain.{end}", tmp_path / f"edited.{end}"
    crfviz.export_table(EDITS.apply(ice_cream()), plain, table=table)
    crfviz.export_table(ice_cream(), edited, table=table, edits=EDITS)
    numbers, listed = plain.read_text("utf-8"), edited.read_text("utf-8")
    assert "edit" not in numbers
    if end == "csv":  # the same rows and columns; the corner has the list
        rows, others = (list(csv.reader(text.splitlines())) for text in (listed, numbers))
        assert rows[0][0] == LISTED
        assert [["", *rows[0][1:]], *rows[1:]] == others
    elif end == "md":
        assert listed == f"{numbers}\n{LISTED}\n"
    else:
        below = listed.splitlines()[-2]
        assert below.startswith(r"\multicolumn{")
        assert r"C \ensuremath{\to} H \ensuremath{-}3.00" in below
        assert "".join(line for line in listed.splitlines() if line != below) == "".join(
            numbers.splitlines()
        )


def test_exported_picture_draws_and_lists_edits(tmp_path):
    plain, edited = tmp_path / "plain.tex", tmp_path / "edited.tex"
    crfviz.export_tikz(EDITS.apply(ice_cream()), plain, picture="sweeps")
    crfviz.export_tikz(ice_cream(), edited, picture="sweeps", edits=EDITS)
    more = [line for line in edited.read_text("utf-8").splitlines() if "2 edits" in line]
    assert more[0] == f"% {LISTED}"
    assert len(more) == 2
    rest = [line for line in edited.read_text("utf-8").splitlines() if line not in more]
    assert rest == plain.read_text("utf-8").splitlines()


@pytest.mark.parametrize("edits", ["C → H", {"C": 1}, Edits(transitions={("C", "X"): 1.0})])
def test_edits_that_do_not_fit_are_refused(edits, tmp_path):
    for export in (crfviz.export_tikz, crfviz.export_table):
        with pytest.raises(crfviz.CrfvizError):
            export(ice_cream(), tmp_path / "a.tex", edits=edits)
