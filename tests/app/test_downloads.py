"""The files of the menu Download, as the page would make them."""

import io

import pandas as pd
import pytest

import crfviz
from crfviz.ui import stage
from tests.support.app_pages import new_app, opened

SENTENCE = "These look fine to me ."


@pytest.fixture
def made(monkeypatch):
    """The functions that make the files of the last run, by label."""
    makers = {}
    monkeypatch.setattr(
        stage, "download", lambda label, make, *_, **__: makers.update({label: make})
    )
    return makers


def read(text):
    return pd.read_csv(io.StringIO(text), index_col=["table", "row"])


def test_numbers_list_the_edits_in_a_row_of_their_own(made):
    opened(new_app(), "pages/marginals.py", model="upos-en", sentence=SENTENCE)
    trained = read(made["Download as CSV"]())
    assert "edits" not in trained.index.get_level_values("table")
    params = {"t": "PRON.VERB:-3", "e": "2.NOUN:2"}
    opened(new_app(), "pages/marginals.py", model="upos-en", sentence=SENTENCE, **params)
    edited = read(made["Download as CSV"]())
    assert edited.loc["edits"].index.tolist() == ["2 edits: PRON → VERB −3.00, 3 “fine” NOUN 2.00"]
    assert edited.loc["edits"].isna().all(axis=None)
    assert list(edited.columns) == list(trained.columns)
    tagger = crfviz.load_tagger("upos-en")
    edits = crfviz.Edits({("PRON", "VERB"): -3.0}, {(2, "NOUN"): 2.0})
    chain = edits.apply(tagger.potentials(tagger.split(SENTENCE)))
    marginals = crfviz.forward_backward(chain).marginals.T.numpy()
    assert edited.loc["marginals"].astype(float).to_numpy() == pytest.approx(marginals, abs=1e-9)
