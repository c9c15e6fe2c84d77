"""Models of other libraries on all pages, with typed text; and code that changes under a server."""

import pycrfsuite
import pytest

import crfviz
from crfviz.taggers import plugins
from crfviz.taggers.registry import SHIPPED
from crfviz.text.formats import read_sentences
from crfviz.views.formatting import per_cent
from tests.support.app_pages import ROOT, go_to, new_app, open_at, stage_of

PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))
EXCERPT = list(read_sentences(SHIPPED / "excerpts" / "ewt-dev.conllu"))


def features(words):
    return [
        [f"word={word.lower()}", f"end={word[-2:]}", "capital"][: 2 + word.istitle()]
        for word in words
    ]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A CRF of python-crfsuite, trained on the excerpt."""
    path = str(tmp_path_factory.mktemp("crfsuite") / "model")
    trainer = pycrfsuite.Trainer(params={"max_iterations": 15}, verbose=False)
    for sentence in EXCERPT:
        trainer.append(features(sentence.tokens), sentence.tags)
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return tagger


@pytest.fixture(autouse=True)
def nothing_registered():
    yield
    plugins._registered.clear()


def test_registered_crfsuite_model_is_on_every_page(theirs):
    crfviz.register(crfviz.from_crfsuite(theirs, features), "their-crf")
    app = new_app()
    app.query_params.update(model="their-crf", sentence="Nobody typed this before .")
    app.run()
    paths = {row["id"]: row["tags"] for row in stage_of(app)["rows"]}
    expected = theirs.tag(features(["Nobody", "typed", "this", "before", "."]))
    assert [stage_of(app)["tags"][k] for k in paths["viterbi"]] == expected
    for script in PAGES:
        go_to(app, f"pages/{script}")
        assert not app.exception, script
        assert not app.error, (script, [one.value for one in app.error])


def test_model_errors_counts_the_errors_of_crfsuite(theirs):
    crfviz.register(crfviz.from_crfsuite(theirs, features), "their-crf")
    app = new_app()
    app.query_params.update(model="their-crf")
    open_at(app, "pages/model-errors.py")
    right = sum(
        tag == gold
        for sentence in EXCERPT
        for tag, gold in zip(theirs.tag(features(sentence.tokens)), sentence.tags, strict=True)
    )
    words = sum(len(sentence.tokens) for sentence in EXCERPT)
    (facts,) = [text.value for text in app.markdown if "token accuracy" in text.value]
    assert f"token accuracy **{per_cent(right / words)}**" in facts


def test_hmm_from_tables_is_trained_by_em_and_shown():
    hmm = crfviz.from_hmm(
        [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.8, 0.2], [0.1, 0.9]], ["dry", "wet"], ["L", "H"]
    )
    crfviz.register(hmm, "weather")
    app = new_app()
    app.query_params.update(model="weather", sentence="dry wet wet dry")
    open_at(app, "pages/em.py")
    assert not app.exception
    assert any(
        "p(wet | H)" in button.label.replace("\N{NO-BREAK SPACE}", " ").replace("\\", "")
        for button in app.button
    )
    open_at(app, "pages/models.py")
    assert any("| H | 0.1 | 0.9 |" in text.value for text in app.text)


def test_changed_plugin_is_reloaded_in_the_next_run(tmp_path, monkeypatch):
    code = (
        "from crfviz import Potentials\n"
        "class Mine:\n"
        "    tags = ['A', 'B']\n"
        "    def potentials(self, tokens):\n"
        "        return Potentials([[SCORE, 0.0]] * len(tokens), [[0.0, 0.0], [0.0, 0.0]])\n"
    )
    file = tmp_path / "mine.py"
    monkeypatch.setenv("CRFVIZ_PLUGINS", str(tmp_path))
    app = new_app()
    app.query_params.update(model="mine", sentence="a b")
    for score, path in (("1.0", [0, 0]), ("-2.", [1, 1])):  # as long as each other
        file.write_text(code.replace("SCORE", score))
        app.run()
        assert not app.exception
        (row,) = [row for row in stage_of(app)["rows"] if row["id"] == "viterbi"]
        assert row["tags"] == path
    file.write_text("1 / 0")
    app.run()
    assert not app.exception
    assert "The plug-in mine failed: ZeroDivisionError" in app.error[0].value
