"""Model cards as text, and measured figures as tables."""

import pandas as pd
import pytest

from crfviz.corpus.tables.decoders import TITLES
from crfviz.ui.panels.cards import card_body, card_summary
from crfviz.views.figures.models import (
    MEASURES,
    evaluation_frame,
    evaluation_table,
)

CARD = """# upos-en

Tags words with parts of speech. Trained on EWT.
One line more.

<!-- figures: written by a program -->

On a file:

| decoder | words |

<!-- end of figures -->
"""


def decoder(accuracy, *, f1=None, invalid=None):
    scores = {"invalid_bio": invalid}
    for measure, value in zip(MEASURES, (accuracy, accuracy / 2, f1), strict=True):
        scores[measure] = value
        scores[f"{measure}_interval"] = None if value is None else [value - 0.01, value + 0.01]
    return scores


def record(**decoders):
    return {"sentences": 7, "tokens": 50, "ece": 0.0125, **decoders}


TAGS = record(
    independent=decoder(0.9),
    left_to_right=decoder(0.91),
    viterbi=decoder(0.95),
    max_marginal=decoder(0.96),
)
SPANS = record(
    independent=decoder(0.8, f1=0.4, invalid=12),
    left_to_right=decoder(0.81, f1=0.5, invalid=3),
    viterbi=decoder(0.85, f1=0.6, invalid=0),
    max_marginal=decoder(0.86, f1=0.61, invalid=1),
)
EVALUATIONS = {"upos": {"ewt/test": TAGS}, "ner": {"btc/test": SPANS, "uner/test": SPANS}}


def test_a_card_is_shown_without_its_title_and_without_comments():
    body = card_body(CARD)
    assert body.startswith("Tags words with parts of speech.")
    assert "<!--" not in body
    assert "| decoder | words |" in body


@pytest.mark.parametrize(
    ("card", "summary"),
    [
        (CARD, "Tags words with parts of speech."),
        ("# bare", ""),
        ("", ""),
        ("# t\n\n## Section\n\nText.", ""),
        ("# t\n\n<!-- figures -->\n\nOn a file: 7 sentences.", ""),
        ("no title. Second.", "no title."),
        ("# t\n\nbroken over\ntwo lines! Next.", "broken over two lines!"),
    ],
    ids=["card", "bare", "empty", "section", "figures only", "no title", "two lines"],
)
def test_the_summary_is_the_first_sentence_that_somebody_wrote(card, summary):
    assert card_summary(card) == summary


def test_the_frame_has_a_row_for_each_model_file_and_decoder():
    frame = evaluation_frame(EVALUATIONS)
    assert len(frame) == 3 * len(TITLES)
    row = frame[(frame["file"] == "btc/test") & (frame["decoder"] == "Viterbi")].iloc[0]
    assert row["model"] == "ner"
    assert row["token_accuracy"] == 0.85
    assert row["entity_f1"] == 0.6
    assert row["entity_f1_low"] == pytest.approx(0.59)
    assert row["entity_f1_high"] == pytest.approx(0.61)
    assert row["invalid_bio"] == 0
    assert row["ece"] == 0.0125


def test_what_was_not_measured_is_nan():
    frame = evaluation_frame({"upos": {"ewt/test": TAGS}})
    assert frame["entity_f1"].isna().all()
    assert frame["entity_f1_low"].isna().all()
    assert frame["invalid_bio"].isna().all()


def test_nothing_measured_is_an_empty_frame_with_the_same_columns():
    frame = evaluation_frame({"upos": {}})
    assert frame.empty
    assert list(frame.columns) == list(evaluation_frame(EVALUATIONS).columns)
    assert evaluation_table(frame).empty


def test_people_read_per_cent_and_whole_counts():
    table = evaluation_table(evaluation_frame(EVALUATIONS))
    viterbi = table[(table["file"] == "uner/test") & (table["decoder"] == "Viterbi")].iloc[0]
    assert viterbi["words right, %"] == pytest.approx(85.0)
    assert viterbi["sentences right, %"] == pytest.approx(42.5)
    assert viterbi["entity F1, %"] == pytest.approx(60.0)
    assert viterbi["ECE, %"] == pytest.approx(1.25)
    assert pd.api.types.is_integer_dtype(table["break BIO"])


def test_columns_without_a_number_are_left_out():
    table = evaluation_table(evaluation_frame({"upos": {"ewt/test": TAGS}}))
    assert "entity F1, %" not in table
    assert "break BIO" not in table
    assert "words right, %" in table
