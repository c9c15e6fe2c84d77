"""The verdict on an edit, in words."""

from dataclasses import replace

import pytest
import torch

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.chain.questions.gauge import shift_tag, shift_word
from crfviz.views.explanation import explain_edits, verdict
from crfviz.views.frames.chains import leaving_frame
from tests.support.icecream import ice_cream

TRAINED = analyse(ice_cream())


def after(edits):
    return analyse(edits.apply(TRAINED.potentials))


def test_shifting_a_tag_is_reported_as_no_change():
    now = after(shift_tag(TRAINED.potentials, Edits(), "H", 1.0))
    text = verdict(TRAINED, now)
    assert text.startswith("This edit changes nothing: ")
    assert text.endswith("Even log Z is the same.")
    assert explain_edits(TRAINED, now).startswith("This edit changes nothing")


def test_shifting_a_word_reports_the_change_of_log_z():
    now = after(shift_word(TRAINED.potentials, Edits(), 0, -0.5))
    assert verdict(TRAINED, now).endswith("log Z moved by −0.5.")


def test_edit_that_changes_marginals_reports_them():
    chain = ice_cream(first=1)
    text = verdict(TRAINED, analyse(chain))
    assert "p(C at “2”) goes from 0.129 to 0.509" in text or "p(H at “2”) goes from 0.871" in text


def test_unedited_and_impossible_chains_have_verdicts():
    assert verdict(TRAINED, TRAINED).startswith("Nothing is edited yet")
    dead = replace(TRAINED.potentials, start=torch.full((2,), -torch.inf))
    assert "No tag sequence" in verdict(TRAINED, analyse(dead))


def test_leaving_frame_has_start_and_every_tag():
    frame = leaving_frame(TRAINED.potentials, after(Edits({("C", "H"): 0.0})).potentials)
    assert list(frame.index) == ["START", "C", "H"]
    assert frame["as trained"].tolist() == pytest.approx([1, 1, 1])
    assert frame["now"].tolist() == pytest.approx([1, 1.9, 1])
