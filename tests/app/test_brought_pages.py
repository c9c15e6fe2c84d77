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
from tests.support.app_pages import ROOT, new_app, opened, stage_of
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


def test_every_page_stands():
    app = page("explore.py", model=bring("upos-given", UPOS))
    for script in PAGES:
        app.switch_page(f"pages/{script}").run()
        assert not app.exception, script
        assert not app.error, (script, [one.value for one in app.error])


def test_bio_is_told_from_the_tags_and_its_entities_are_asked_about():
    name = bring("bio-given", BIO)
    app = page("entities.py", model=name)
    assert not app.info
    assert stage_of(app)["entity"]["label"] in ("PER", "LOC")
    assert "Illegal mass 1 − Z_legal / Z" in {metric.label for metric in app.metric}
    switch = app.toggle(key="no-rules")
    assert (switch.disabled, switch.value) == (True, False)
    assert load_tagger(name).scheme is None


def test_tags_that_begin_no_entity_are_not_said_to_mark_single_words():
    app = page("entities.py", model=bring("inside-given", ("O", "I-PER", "I-LOC")))
    assert any("with a B-… that begins an entity" in text.value for text in app.caption)
    assert app.button(key="open_bio").label == "Use ner-en"


def test_a_changed_sentence_of_the_file_is_shown_and_others_are_said():
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


def test_right_tags_of_the_file_count():
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
def test_entities_of_bio_tags_count_without_the_rules(tags):
    tagger = load_tagger(bring("bio-errors", tags))
    assert tagger.scheme is None
    results = run(tagger, tagger.tagged())
    tables = tables_of(results)
    assert sum(row["entities"] for row in tables["entity_kinds"]) > 0
    assert as_record(results, "f")["viterbi"]["entity_f1"] is not None
    assert len(results.entity_probability) == len(results.entity_right)


def test_no_tagged_sentences_are_offered_that_it_has_no_scores_for():
    app = page("model-errors.py", model=bring("no-gold-given", UPOS, gold=False))
    assert not app.error
    assert "Choose a file" in app.info[0].value


def test_no_word_of_a_file_can_be_hidden():
    with pytest.raises(CrfvizError, match="knows only the sentences of its file"):
        occlude(load_tagger(bring("hidden-given", UPOS)), SENTENCES[0])
