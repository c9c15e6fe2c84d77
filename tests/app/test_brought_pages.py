"""Models of given scores on all pages, with AppTest: what cannot be asked of them is said."""

import numpy as np
import pytest

from crfviz import load_tagger, viterbi
from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.report import as_record, tables_of
from crfviz.exceptions import CrfvizError
from crfviz.taggers.perturbations import occlude
from crfviz.taggers.user_models import new_model
from crfviz.views.formatting import per_cent
from tests.support.app_pages import ROOT, go_to, new_app, opened, stage_of
from tests.support.brought import as_json, understand

UPOS = load_tagger("upos-en").tags
BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
SENTENCES = (["The", "dog", "barks"], ["the", "dog", "barks"], ["Night", "x" * 200, "."])
PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))


def bring(name, tags, *, gold=True):
    generator = np.random.default_rng(5)
    K = len(tags)
    first = np.eye(3, K) * 9  # of each sentence the first word is right
    first[1:] = 0
    sentences = [
        {
            "tokens": words,
            "emissions": (generator.normal(size=(3, K)) + first).tolist(),
            "gold": list(tags[:3]) if gold else None,
        }
        for words in SENTENCES
    ]
    file = as_json(
        tags=tags, transitions=generator.normal(size=(K, K)).tolist(), sentences=sentences
    )
    with new_model(name) as folder:
        understand(file).write(folder)
    return name


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))


def page(script, **params):
    return opened(new_app(), f"pages/{script}", **params)


def test_every_page_works_with_imported_scores():
    app = page("explore.py", model=bring("upos-given", UPOS))
    for script in PAGES:
        go_to(app, f"pages/{script}")
        assert not app.exception, script
        assert not app.error, (script, [one.value for one in app.error])


def test_bio_tags_of_imported_scores_are_detected_and_have_entities():
    name = bring("bio-given", BIO)
    app = page("entities.py", model=name)
    assert not app.info
    assert stage_of(app)["entity"]["label"] in ("PER", "LOC")
    assert "Illegal mass 1 − Z_legal / Z" in {metric.label for metric in app.metric}
    switch = app.toggle(key="no-rules")
    assert (switch.disabled, switch.value) == (True, False)
    assert load_tagger(name).scheme is None


def test_tags_without_begin_have_no_entities():
    app = page("entities.py", model=bring("inside-given", ("O", "I-PER", "I-LOC")))
    assert any("with a B-… that begins an entity" in text.value for text in app.caption)
    assert app.button(key="open_bio").label == "Use ner-en"


def test_perturbed_sentence_is_shown_only_if_it_has_scores():
    name = bring("what-given", UPOS)
    app = page("what-if.py", model=name, **{"v.change": "lower case"})
    assert stage_of(app)["words"] == SENTENCES[1]
    app.button_group(key="view.change").set_value("upper case").run()
    assert "“THE DOG BARKS” is none of them" in app.info[0].value
    assert stage_of(app)["words"] == SENTENCES[0]
    chain = load_tagger(name).potentials(SENTENCES[0])
    assert stage_of(app)["rows"][0]["tags"] == viterbi(chain).path
    app.button(key="open_words").click().run()
    assert app.selectbox(key="model").value == "upos-en"
    assert app.text_input(key="sentence").value == "The dog barks"
    assert not app.info


def test_gold_tags_of_the_file_are_evaluated():
    name = bring("right-given", UPOS)
    app = page("model-errors.py", model=name)
    tagger = load_tagger(name)
    right = sum(
        tagger.tags[k] == UPOS[t]
        for words in SENTENCES
        for t, k in enumerate(viterbi(tagger.potentials(words)).path)
    )
    (facts,) = [text.value for text in app.markdown if "token accuracy" in text.value]
    assert "3 sentences, 9 words" in facts
    assert right >= 3
    assert f"token accuracy **{per_cent(right / 9)}**" in facts


@pytest.mark.parametrize("tags", [BIO, ("B-PER", "O", "B-LOC")])
def test_entities_of_unconstrained_bio_tags_are_evaluated(tags):
    tagger = load_tagger(bring("bio-errors", tags))
    assert tagger.scheme is None
    results = run(tagger, tagger.tagged())
    tables = tables_of(results)
    assert sum(row["entities"] for row in tables["entity_kinds"]) > 0
    assert as_record(results, "f")["viterbi"]["entity_f1"] is not None
    assert len(results.entity_probability) == len(results.entity_right)


def test_excerpts_are_not_offered_for_imported_scores():
    app = page("model-errors.py", model=bring("no-gold-given", UPOS, gold=False))
    assert not app.error
    assert "Choose a file" in app.info[0].value


def test_occlusion_of_imported_scores_is_rejected():
    with pytest.raises(CrfvizError, match="knows only the sentences of its file"):
        occlude(load_tagger(bring("hidden-given", UPOS)), SENTENCES[0])
