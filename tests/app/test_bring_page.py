"""The page Bring your own, without a browser: what the server allows, and what was brought."""

import numpy as np
import pytest

from crfviz import exceptions
from crfviz.taggers import user_models
from crfviz.taggers.brought import files, parsed_model
from crfviz.taggers.brought.tagger import IMPORTED, ImportedTagger
from crfviz.taggers.plugins import installed_plugins
from crfviz.taggers.registry import FAMILIES
from crfviz.taggers.user_models import new_model, own_models
from crfviz.text.schemes import could_be_bio
from crfviz.ui import cached
from crfviz.ui.panels import bring
from crfviz.views.frames.chains import axis_line, facts_frame
from tests.support.app_pages import go_to, new_app, open_at
from tests.support.brought import DOG, TRANSITIONS, as_json, as_npz, understand
from tests.support.paths import ROOT


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    with new_model("dog") as folder:
        understand(as_json()).write(folder)


def page(**params):
    app = new_app()
    app.query_params.update(params)
    return open_at(app, "pages/bring.py")


@pytest.mark.usefixtures("own")
def test_session_of_a_removed_model_opens_the_default_model():
    app = new_app()
    app.query_params["model"] = "dog"
    app.run()
    assert app.selectbox(key="model").value == "dog"
    go_to(app, "pages/bring.py")
    app.button(key="bring.remove").click().run()
    assert own_models() == []
    assert not app.exception
    app.switch_page("pages/explore.py").run()
    assert not app.exception
    assert app.query_params.get("model", ["upos-en-contextfree"]) == ["upos-en-contextfree"]
    assert "dog" not in app.selectbox(key="model").options


@pytest.mark.usefixtures("own")
def test_brought_model_is_loaded_only_when_used(monkeypatch):
    loaded = []

    def load(folder):
        loaded.append(folder.name)
        return ImportedTagger(folder)

    monkeypatch.setitem(FAMILIES, IMPORTED, load)
    cached.warm_up.clear()
    cached.tagger.clear()
    cached.examples.clear()
    app = new_app().run()
    assert any(each.startswith("dog") for each in app.selectbox(key="model").options)
    for script in ("models", "bring", "entities", "compare"):
        go_to(app, f"pages/{script}.py")
        assert not app.exception
    assert not loaded
    app.selectbox(key="model").set_value("dog").run()
    assert loaded == ["dog"]


@pytest.mark.usefixtures("own")
def test_disabled_uploads_hide_the_model_upload(monkeypatch):
    monkeypatch.setenv("CRFVIZ_UPLOADS", "Off")
    app = page()
    assert "takes no models" in app.info[0].value
    assert not app.get("file_uploader")
    assert "bring.open" in {button.key for button in app.button}
    assert "bring.remove" not in {button.key for button in app.button}


@pytest.mark.parametrize("script", ["homework", "model-errors"])
def test_disabled_uploads_hide_file_uploads(script, monkeypatch):
    monkeypatch.setenv("CRFVIZ_UPLOADS", "off")
    app = new_app()
    app.query_params["v.corpus"] = "file"
    open_at(app, f"pages/{script}.py")
    assert not app.exception
    assert any("takes no files" in caption.value for caption in app.caption)
    assert not app.get("file_uploader")


def test_boundary_tags_question_changes_the_tags(monkeypatch):
    never, zero = -10000.0, [0.0] * 4
    matrix = [[1, 2, never, 3], [4, 5, never, 6], [7, 8, never, 9], [never] * 4]
    tags = ["N", "V", "<START>", "<STOP>"]
    file = as_json({"tags": tags, "transitions": matrix, "sentences": [{"emissions": [zero]}]})
    monkeypatch.setattr(bring, "uploaded_files", lambda: [file])
    app = page()
    question = app.radio(key="bring.boundary.<START>,<STOP>")
    assert (question.label, question.value) == ("What are <START>, <STOP>?", bring.NO_TAGS)
    assert "2: N, V" in understood_tags(app)
    question.set_value(bring.TAGS).run()
    assert not app.exception
    assert "4: N, V, <START>, <STOP>" in understood_tags(app)


def test_keys_of_json_are_picked_and_three_sentences_are_shown(monkeypatch):
    rows = [{"w": [f"a{n}", "b"], "emissions": [[0, 1], [1, 0]]} for n in range(4)]
    file = as_json({"names": ["N", "V"], "all": rows})
    monkeypatch.setattr(bring, "uploaded_files", lambda: [file])
    app = page()
    assert app.error
    for name, key in (("sentences", "all"), ("tags", "names"), ("tokens", "w")):
        box = next(each for each in app.selectbox if each.label == bring.PICKERS[name])
        box.select(key).run()
    assert not app.error
    assert not app.exception
    assert understood_tags(app) == "2: N, V"
    assert any(each.value == "1. a0 b\n2. a1 b\n3. a2 b" for each in app.markdown)
    assert any(each.value.endswith("2 tags; 4 sentences.") for each in app.caption)


def test_arrays_under_other_names_are_picked(monkeypatch):
    arrays = {"scores": np.zeros((2, 3)), "moves": np.eye(3), "names": np.array(["N", "V", "X"])}
    text = np.array(["a", "b"])
    monkeypatch.setattr(bring, "uploaded_files", lambda: [as_npz(**arrays, text=text)])
    app = page()
    assert "There is no array 'scores'" in app.error[0].value
    boxes = {box.label: list(box.options)[1:] for box in app.selectbox}
    assert boxes["Emissions"] == ["scores", "moves"]
    assert boxes["Transitions"] == ["moves"]
    for name, key in (("emissions", "scores"), ("transitions", "moves")):
        next(each for each in app.selectbox if each.label == bring.PICKERS[name]).select(key).run()
    assert not app.error
    assert any("chosen in place of names, text" in each.value for each in app.text)
    for name, key in (("tags", "names"), ("tokens", "text")):
        next(each for each in app.selectbox if each.label == bring.PICKERS[name]).select(key).run()
    assert not app.error
    assert not app.exception
    assert understood_tags(app) == "3: N, V, X"
    assert any(each.value == "1. a b" for each in app.markdown)


def test_arrays_under_usual_names_have_the_line_alone(monkeypatch):
    monkeypatch.setattr(bring, "uploaded_files", lambda: [as_npz(logits=np.zeros((2, 3)))])
    app = page()
    assert not app.error
    assert any(each.value.endswith("3 tags; 1 sentence.") for each in app.caption)
    assert not [box for box in app.selectbox if box.label in bring.PICKERS.values()]


def test_axis_order_is_asked_for_an_ambiguous_batch(monkeypatch):
    mask = np.ones((3, 9), bool)
    mask[1:, 4] = False  # holes, or nine sentences of one and three words
    scores = {"emissions": np.zeros((3, 9, 6)), "transitions": np.zeros((6, 6))}
    monkeypatch.setattr(bring, "uploaded_files", lambda: [as_npz(**scores, mask=mask)])
    app = page()
    question = app.radio(key="bring.axes.False")
    assert question.value == "(T, B, K)"
    assert "9" in understood_of(app, "sentences")
    question.set_value("(B, T, K)").run()
    assert "words first, then padding" in app.error[0].value
    monkeypatch.setattr(bring, "uploaded_files", lambda: [as_npz(**scores)])
    app = page()
    assert app.radio(key="bring.axes.True").value == "(B, T, K)"
    app.radio(key="bring.axes.True").set_value("(T, B, K)").run()
    assert "9" in understood_of(app, "sentences")


def understood_of(app, what):
    return app.dataframe[0].value.set_index("what")["understood"][what]


def understood_tags(app):
    return understood_of(app, "tags")


FASTA = b">chr1 quiet\nATTA\n>chr2 island\nacgcg\nCG\n"


@pytest.mark.parametrize(
    ("model", "opens"), [("upos-en", "textbook/cpg"), ("textbook/cpg", "textbook/cpg")]
)
def test_fasta_sequence_opens_in_the_explorer(model, opens, monkeypatch):
    monkeypatch.setattr(bring, "uploaded_files", lambda: [("two.fasta", FASTA)])
    app = page(model=model)
    assert app.selectbox(key="bring.sequence").options == ["1. chr1 quiet", "2. chr2 island"]
    app.selectbox(key="bring.sequence").set_value("2. chr2 island").run()
    app.button(key="bring.sequence.open").click().run()
    assert not app.exception
    assert app.text_input(key="sentence").value == "ACGCGCG"
    assert app.selectbox(key="model").value == opens


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("two.fasta", b">none\n", "two.fasta: expected a sequence of letters, got none"),
        ("two.fasta", b">a\nAC-1\n", "two.fasta, line 2: expected the letters of a sequence"),
        ("model.pt", b"\x80\x04K\x01.", "model.pt is a pickle, which may hold programs"),
    ],
)
def test_unreadable_file_shows_an_error_and_no_name_field(name, content, message, monkeypatch):
    monkeypatch.setattr(bring, "uploaded_files", lambda: [(name, content)])
    app = page()
    assert message in app.error[0].value
    assert not app.exception
    assert "Use this model" not in {button.label for button in app.button}


def test_unnormalised_rows_are_divided_on_request(monkeypatch):
    scores = {"tags": ["C", "H"], "transitions": [[8, 2], [1, 9]], "emissions": [[0.2, 0.3]]}
    file = as_json({**scores, "probabilities": True})
    monkeypatch.setattr(bring, "uploaded_files", lambda: [file])
    app = page()
    assert "Not every row of probabilities sums to one" in app.warning[0].value
    assert "Use this model" in {button.label for button in app.button}
    app.toggle(key="bring.normalise").set_value(True).run()
    assert not app.warning
    assert not app.exception


@pytest.mark.usefixtures("own")
def test_help_lists_the_upload_limits():
    app = new_app()
    open_at(app, "pages/bring.py")
    said = app.file_uploader(key="bring.files").help
    assert f"At most {parsed_model.MAX_BYTES // 10**6} MB" in said
    assert f"{parsed_model.MAX_TAGS} tags, {parsed_model.MAX_SCORES:,} scores" in said
    document = ROOT.joinpath("docs/bring-your-own.md").read_text("utf-8")
    limits = [
        f"at most {parsed_model.MAX_BYTES // 10**6} MB "
        f"({parsed_model.MAX_UNPACKED // 10**6} MB unpacked)",
        f"{parsed_model.MAX_SCORES:,} scores, {parsed_model.MAX_SENTENCES:,} sentences and "
        f"{parsed_model.MAX_TOKENS:,} words. A sentence has at most {parsed_model.MAX_WORDS:,} "
        f"words, a word {parsed_model.LONGEST_WORD:,} characters",
        f"{parsed_model.MAX_TAGS} tags of {parsed_model.LONGEST_TAG} characters",
        f"a trained model {files.MAX_MEMORY // 10**6} MB",
        f"share {user_models.MAX_BYTES // 10**9} GB of disk",
    ]
    for limit in limits:
        assert limit in " ".join(document.split())


def test_only_one_module_creates_file_uploaders():
    root = ROOT
    modules = [*root.glob("crfviz/**/*.py"), *root.glob("pages/*.py")]
    having = [path.name for path in modules if "st.file_uploader(" in path.read_text("utf-8")]
    assert having == ["widgets.py"]


@pytest.mark.usefixtures("own")
def test_sentence_outside_the_imported_scores_shows_an_error():
    app = new_app()
    app.query_params.update({"model": "dog", "sentence": "A cat"})
    app.run()
    assert "“A cat” is none" in app.error[0].value.replace("\\", "")
    app.text_input(key="sentence").set_value("The dog").run()
    assert not app.error
    assert not app.exception


def test_facts_describe_the_imported_file():
    found = understand(as_json(start=["-inf", 0, 2.5], sentences=[DOG]))
    facts = dict(facts_frame(found).to_numpy())
    assert facts == {
        "files": "Potentials as JSON",
        "scores": "scores of a CRF, in nats",
        "tags": "3: DET, NOUN, VERB",
        "sentences": "1, of 3 words",
        "matrices": "[from, to], one for all steps",
        "transitions": "from -3 to 2",
        "emissions": "from -2 to 3",
        "start": "from 0 to 2.5; 1 of 3 forbidden (-inf)",
        "end": "all 0",
        "rules": "none",
    }
    steps = understand(as_json(sentences=[{**DOG, "transitions": [TRANSITIONS, TRANSITIONS]}]))
    assert (
        dict(facts_frame(steps).to_numpy())["matrices"] == "[from, to], one a step in one sentence"
    )


def test_axis_line_shows_the_direction_of_the_matrix():
    file = as_json(sentences=[DOG])
    assert axis_line(understand(file).sentences[0]) == (
        "Read so that NOUN after DET has 2, the largest between two tags, and DET after NOUN has "
        "0.5."
    )
    assert "DET after NOUN has 2" in axis_line(understand(file, to_from=True).sentences[0])
    one = understand(as_json({"emissions": [[1.0]], "transitions": [[0.0]]}))
    assert axis_line(one.sentences[0]) == ""


def test_single_word_has_no_transitions_to_show():
    word = understand(as_json({"emissions": [[1.0, 2.0]], "transitions": []}))
    assert word.sentences[0].transitions.shape == (0, 2, 2)
    facts = dict(facts_frame(word).to_numpy())
    assert facts["transitions"] == "none: a single word has no step"
    assert axis_line(word.sentences[0]) == ""


@pytest.mark.parametrize(
    ("tags", "are"),
    [("O B-X I-X", True), ("O", False), ("B-X I-X", False), ("O B-X NOUN", False)],
)
def test_bio_tags_are_detected(tags, are):
    assert could_be_bio(tags.split()) == are


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Two plug-ins, one of which fails at every sentence."""
    (tmp_path / "their_plugins.py").write_text(
        "from crfviz import Potentials\n"
        "class Works:\n"
        "    tags = ['A', 'B']\n"
        "    def potentials(self, tokens):\n"
        "        return Potentials([[1.0, 0.0]] * len(tokens), [[0.0, 1.0], [2.0, 0.0]])\n"
        "class Fails(Works):\n"
        "    def potentials(self, tokens):\n"
        "        raise KeyError('weights')\n"
    )
    info = tmp_path / "their_plugins-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-plugins\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[crfviz.taggers]\nWorks = their_plugins:Works\nFails = their_plugins:Fails\n"
        "Nowhere = no_such_module:It\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    installed_plugins.cache_clear()
    yield
    installed_plugins.cache_clear()


@pytest.mark.usefixtures("installed")
def test_missing_plugin_is_logged_once(caplog, monkeypatch):
    monkeypatch.setattr(exceptions, "_logged", set())
    cached.examples.clear()
    for _ in range(3):
        app = new_app()
        app.query_params.update({"model": "Nowhere", "sentence": "a b c"})
        app.run()
        cached.examples.clear()
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    ours = [message for message in said if "Nowhere" in message or "The page" in message]
    assert len(ours) == len(set(ours)) <= 5, ours


@pytest.mark.usefixtures("installed")
def test_plugins_are_listed_and_a_broken_one_shows_an_error():
    app = new_app()
    app.query_params.update({"model": "Works", "sentence": "a b c"})
    app.run()
    assert not app.exception
    assert not app.error
    assert {"Works", "Fails", "Nowhere"} <= set(app.selectbox(key="model").options)
    for name, message in (("Fails", "KeyError"), ("Nowhere", "ModuleNotFoundError")):
        app.selectbox(key="model").set_value(name).run()
        assert not app.exception
        assert f"plug-in {name} failed: {message}" in app.error[0].value.replace("\\", "")
    app.selectbox(key="model").set_value("Works").run()
    assert not app.error
    app.switch_page("pages/models.py").run()
    assert not app.exception
