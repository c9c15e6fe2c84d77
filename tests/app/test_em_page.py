"""The page EM: iterations by steps, starts, and the count behind a number."""

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM

from tests.support.app_pages import assert_sound, button, open_at
from tests.support.icecream import DIARY

PAGE = "pages/em.py"
MODEL = "textbook/ice-cream"
DAYS = " ".join(DIARY)


def opened(app, **params):
    app.query_params.update({"model": MODEL, "sentence": DAYS, **params})
    open_at(app, PAGE)
    assert_sound(app)
    return app


def labels(app):
    every = [button for button in app.button if str(button.key).startswith("em.")]
    return {
        button.key: button.label.replace("\N{NO-BREAK SPACE}", " ").replace("\\", "")
        for button in every
    }


def test_em_page_opens_at_the_start_with_the_numbers_of_the_model(app):
    opened(app)
    assert labels(app)["em.transition 0 1"] == "p(H | C) 0.100"
    assert labels(app)["em.emission 0 0"] == "p(1 | C) 0.700"
    assert len(labels(app)) == 14
    assert app.slider[0].value == 0
    assert any("“C then H”" in caption.value for caption in app.caption)


def test_iterations_equal_hmmlearn(app):
    # Umbrellas have no END, as hmmlearn.
    seen = "umbrella umbrella none umbrella"
    opened(app, model="textbook/umbrella", sentence=seen, step="3", **{"v.twin": "1"})
    history = app.dataframe[-1].value
    assert list(history.index) == [0, 1, 2, 3]
    model = CategoricalHMM(2, n_iter=3, tol=-np.inf, init_params="")
    model.n_features = 2
    first = history.iloc[0]
    names = list(history.columns)[1:]
    model.startprob_ = first[names[:2]].to_numpy()
    rows = first[names[2:]].to_numpy().reshape(2, 4)
    model.transmat_, model.emissionprob_ = rows[:, :2].copy(), rows[:, 2:].copy()
    symbols = [names[4].startswith(f"p({word} ") for word in seen.split()]
    model.fit(np.array([[0 if is_first else 1] for is_first in symbols]))
    assert history["log-likelihood"][:3].tolist() == pytest.approx(list(model.monitor_.history))
    after = history.iloc[3][names[2:]].to_numpy().reshape(2, 4)
    np.testing.assert_allclose(after[:, :2], model.transmat_, atol=1e-6)
    np.testing.assert_allclose(after[:, 2:], model.emissionprob_, atol=1e-6)


def test_chosen_number_shows_its_count_and_days(app):
    opened(app, step="2", **{"v.twin": "1"})
    app.button(key="em.emission 1 2").click().run()
    assert_sound(app)
    counts, days = app.dataframe[0].value, app.dataframe[1].value
    assert days.columns[0] == "H with 3"
    seen = np.array([day == "3" for day in DIARY])
    np.testing.assert_allclose(days["H with 3"], np.where(seen, days["H"], 0.0))
    assert days["H with 3"].sum() == pytest.approx(counts.loc["p(3 | H)", "expected count"])
    total = f"the expected count of “H with 3”, {days['H with 3'].sum():.3f} in all"
    assert any(total in each.value for each in (*app.caption, *app.text, *app.markdown))
    assert app.query_params["v.count"] == "emission 1 2"


def test_slider_changes_the_step(app):
    opened(app)
    app.slider[0].set_value(5).run()
    assert_sound(app)
    assert app.query_params["step"] == "5"
    assert "▲" in labels(app)["em.emission 1 1"]


def test_symmetric_start_never_changes(app):
    opened(app, step="11", **{"v.start": "symmetric", "v.twin": "1"})
    history = app.dataframe[-1].value
    assert len(history) == 12
    np.testing.assert_allclose(history, np.tile(history.iloc[0], (12, 1)), atol=1e-9)
    assert not any("▲" in label or "▼" in label for label in labels(app).values())


def test_model_without_learnable_numbers_shows_the_diary(app):
    opened(app, model="upos-en-contextfree", sentence="They walk .")
    assert any("This is Eisner's ice-cream diary" in each.value for each in app.caption)
    assert len(labels(app)) == 14
    assert app.query_params["sentence"] == "They walk ."
    button(app, "Open the ice-cream diary").click().run()
    assert_sound(app)
    assert not any("This is Eisner's" in each.value for each in app.caption)
    assert app.query_params["sentence"] == DAYS
