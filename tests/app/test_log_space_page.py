"""The page Log space and what it writes."""

import math

import numpy as np
import pytest
import torch

from crfviz.chain.demonstrations.log_space import log_sum_exp, padded_batch, underflow
from crfviz.chain.forward_backward import forward_backward
from crfviz.taggers.registry import load_tagger
from crfviz.views.frames.demonstrations import (
    batch_frame,
    batch_note,
    direct_line,
    log_z_frame,
    sum_line,
    term_frame,
    underflow_chart,
    underflow_frame,
    underflow_note,
)
from tests.support import oracle
from tests.support.app_pages import assert_sound, open_at
from tests.support.strategies import random_chain

PAGE = "pages/log-space.py"
MODEL, DAYS = "textbook/ice-cream", "2 3 3 1"
TAGS = ("C", "H")
INF = math.inf


def diary(days=DAYS):
    return load_tagger(MODEL).potentials(days.split())


def test_terms_are_sorted_and_shown_as_logs_and_exponentials():
    frame = term_frame(log_sum_exp(np.array([-120.0, 2.0])), TAGS)
    assert frame["from j"].tolist() == ["H", "C"]
    assert frame["exp(a − max)"].tolist() == pytest.approx([1.0, math.exp(-122)])
    assert frame["exp(a), float32"].tolist() == pytest.approx([math.exp(2), 0.0])
    assert frame["exp(a), float64"].tolist() == pytest.approx([math.exp(2), math.exp(-120)])


@pytest.mark.parametrize(
    ("scores", "precision", "said"),
    [
        ([100.0, 1.0], "float32", "1 of the terms overflow to ∞"),
        ([100.0, 1.0], "float64", "nothing is lost; log = 100.000000"),
        ([-120.0, -121.0], "float32", "every term becomes 0"),
        ([-120.0, 0.0], "float32", "1 of the terms become 0; log = 0.000000"),
        ([-INF, -INF], "float32", "log 0 = −∞"),
    ],
)
def test_direct_sum_line_describes_overflow_and_underflow(scores, precision, said):
    assert said in direct_line(log_sum_exp(np.array(scores)), precision)


def test_sum_line_shows_the_log_of_the_sum():
    expected = 1 + math.log(2)
    assert sum_line(log_sum_exp(np.array([1.0, 1.0]))).endswith(f"= {expected:.6f}")
    assert "nothing arrives" in sum_line(log_sum_exp(np.array([-INF])))


def test_underflow_is_described_and_drawn():
    chain = random_chain(0, 60, 17)
    found = underflow(chain, forward_backward(chain))
    dead = int(np.flatnonzero(found.products == 0)[0])
    assert f"From word {dead + 1} on all 17 products are 0" in underflow_note(found, 17)
    frame = underflow_frame(found, ["w"] * 60)
    assert frame["cells lost"].iloc[-1] == 17
    rows = next(r for r in underflow_chart(found).to_dict()["datasets"].values() if "way" in r[0])
    assert sum(row["way"] == "float32 products" for row in rows) == dead
    assert sum(row["way"] == "log space" for row in rows) == 60


def test_short_sentence_has_no_underflow():
    chain = diary()
    found = underflow(chain, forward_backward(chain))
    assert "No product has become 0 yet" in underflow_note(found, 2)


def test_batch_frame_shows_its_mask_and_repeated_rows():
    chains = [diary(), diary("1 2")]
    batch = padded_batch(chains)
    frame = batch_frame(batch, [DAYS.split(), ["1", "2"]], 1, TAGS).data
    assert frame.loc["2: mask"].tolist() == ["1", "1", "0", "0"]
    assert frame.loc["2: 2 words"].tolist() == ["1", "2", "–", "–"]
    alphas = [text.replace("−", "-") for text in frame.loc["2: α(H)"]]
    assert float(alphas[1]) == pytest.approx(oracle.log_alpha(chains[1], 1, 1), abs=6e-4)
    assert alphas[2] == alphas[3] == f"= {alphas[1]}"
    table = log_z_frame(batch)
    assert table["log Z, batch"].tolist() == pytest.approx(
        [oracle.log_partition(chain) for chain in chains], abs=1e-9
    )
    assert "2 of 8 columns are padding" in batch_note(batch)


def test_sentences_without_a_path_have_no_difference():
    chain = diary()
    blocked = chain.pin({0: 0}).with_emission(0, 0, -INF)
    batch = padded_batch([blocked, diary("1 2")])
    assert torch.isneginf(batch.log_partitions[0])
    assert batch.largest_difference <= 1e-9


@pytest.fixture
def page(app):
    app.query_params.update({"model": MODEL, "sentence": DAYS})
    open_at(app, PAGE)
    return app


def test_cell_can_be_chosen_and_shifted(page):
    assert_sound(page)
    page.selectbox(key="view.lse_word").select("4").run()
    assert_sound(page)
    log_z = oracle.log_partition(diary())
    assert f"{log_z:.6f}".replace("-", "−") in page.text[0].value
    page.button_group(key="view.lse_shift").set_value("-120").run()
    assert "every term becomes 0" in page.text[1].value


@pytest.mark.parametrize("part", ["underflow", "batch"])
@pytest.mark.parametrize("model", [MODEL, "upos-en-perceptron", "ner-en"])
def test_every_part_works_with_every_family(app, model, part):
    app.query_params.update({"model": model, "v.log_space": part, "t": "START.O:1"})
    if model == MODEL:
        app.query_params["sentence"] = DAYS
    open_at(app, PAGE)
    assert_sound(app)
    assert app.dataframe


def test_invalid_batch_text_is_reported_and_kept(page):
    page.button_group(key="view.log_space").set_value("batch").run()
    assert len(page.dataframe[1].value) >= 2
    page.text_area[0].set_value("2 3\n4 x\n\n1").run()
    assert not page.exception
    assert "type some of 1, 2, 3" in page.error[0].value
    assert page.dataframe[1].value["length"].tolist() == [2, 1]
    assert page.text_area[0].value == "2 3\n4 x\n\n1"


def test_batch_follows_the_sentence_until_edited(page):
    page.button_group(key="view.log_space").set_value("batch").run()
    assert page.text_area[0].value.splitlines()[0] == DAYS
    page.text_input(key="sentence").set_value("1 1").run()
    assert page.text_area[0].value.splitlines()[0] == "1 1"
    page.text_area[0].set_value("3").run()
    page.text_input(key="sentence").set_value("2 2").run()
    assert page.text_area[0].value == "3"
    page.text_area[0].set_value("").run()
    assert "Type a sentence on a line of its own." in page.info[0].value
