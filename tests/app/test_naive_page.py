"""The page Naive way and what it writes."""

import math

import pytest
import torch

from crfviz.chain.demonstrations.naive import enumerate_paths
from crfviz.chain.potentials import Potentials
from crfviz.taggers.registry import load_tagger
from crfviz.views.frames.demonstrations import (
    listing_note,
    path_frame,
    refusal,
    running_chart,
    seconds,
    sum_note,
)
from tests.support import oracle
from tests.support.app_pages import assert_sound, open_at

PAGE = "pages/naive.py"
MODEL, DAYS = "textbook/ice-cream", "2 3 3 1"


def diary():
    return load_tagger(MODEL).potentials(DAYS.split())


def test_path_list_equals_enumeration():
    frame = path_frame(enumerate_paths(diary()), ("C", "H"))
    expected = oracle.allowed(diary())
    assert frame["score"].tolist() == pytest.approx([score for _, score in expected], abs=1e-9)
    assert frame["path"].tolist()[0] == " ".join("CH"[k] for k in expected[0][0])
    assert frame["running sum / Z"].iloc[-1] == pytest.approx(1.0, abs=1e-12)


def test_running_sum_ends_at_z():
    found = enumerate_paths(diary())
    data = running_chart(found).to_dict()["datasets"]
    curve = next(rows for rows in data.values() if "paths" in rows[0])
    assert curve[-1]["paths"] == 16
    assert curve[-1]["share"] == pytest.approx(1.0, abs=1e-12)
    assert curve[0]["share"] == pytest.approx(
        math.exp(oracle.best_score(diary()) - oracle.log_partition(diary()))
    )


def test_note_has_the_enumerated_and_the_recursive_sum():
    note = sum_note(enumerate_paths(diary()))
    assert note.count(f"{oracle.log_partition(diary()):.9f}".replace("-", "−")) == 2


def test_fully_forbidden_chain_has_sum_zero():
    found = enumerate_paths(Potentials(torch.zeros(2, 2), torch.full((2, 2), -math.inf)))
    assert sum_note(found) == "All 4 paths are forbidden: Z is 0 both ways."
    assert listing_note(found) == "All 4 paths, best first."
    assert running_chart(found).to_dict()


@pytest.mark.parametrize(
    ("value", "text"), [(1.25, "1.2 s"), (0.0163, "16.3 ms"), (4.7e-5, "47 µs")]
)
def test_seconds_are_formatted_briefly(value, text):
    assert seconds(value) == text


def test_too_many_tags_for_one_word_are_rejected():
    potentials = Potentials(torch.zeros(2, 3), torch.zeros(3, 3))
    assert "even one word" in refusal(potentials, 0)
    assert "3^2 = 9 paths" in refusal(potentials, 1)


def test_naive_page_counts_and_lists_paths(app):
    app.query_params.update({"model": MODEL, "sentence": DAYS})
    open_at(app, PAGE)
    assert_sound(app)
    assert [metric.value for metric in app.metric[:2]] == ["16", "16"]
    assert len(app.dataframe[0].value) == 16
    app.selectbox(key="view.naive").select("2").run()
    assert [metric.value for metric in app.metric[:2]] == ["4", "8"]


def test_long_sentence_is_rejected_and_its_beginning_shown(app):
    app.query_params.update({"model": "upos-en", "sentence": "These look fine to me ."})
    open_at(app, PAGE)
    assert_sound(app)
    assert "17^6 = 24,137,569 paths" in app.info[0].value.replace("\\", "")
    assert app.metric[0].value == "83,521"
    assert len(app.dataframe[0].value) == 55


def test_forbidden_edit_removes_a_path(app):
    app.query_params.update({"model": MODEL, "sentence": "2 3", "t": "C.H:-inf"})
    open_at(app, PAGE)
    assert_sound(app)
    assert "Forbidden: 1." in app.text[0].value
