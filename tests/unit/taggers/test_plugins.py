"""Taggers of other people: of installed packages, of the setting, and registered ones."""

import importlib
import logging
import sys
from types import SimpleNamespace

import pytest

from crfviz import exceptions
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.corpus.shards.model_reference import model_reference
from crfviz.exceptions import EmptySentenceError, ModelError
from crfviz.taggers import plugins as plugin_module
from crfviz.taggers.conversions import from_hmm
from crfviz.taggers.folder import version_of
from crfviz.taggers.plugins import installed_plugins, plugin_version
from crfviz.taggers.registry import list_taggers, load_tagger, register

MODULE = '''
from crfviz import Potentials
from crfviz.taggers.examples import Example


class Vowels:
    """Tags words by their first letter. Made for a test."""

    tags = ["VOWEL", "OTHER"]

    def potentials(self, tokens):
        emissions = [[float(word[0] in "aeiou"), 0.5] for word in tokens]
        return Potentials(emissions, [[0.0, 0.0], [0.0, 0.0]])


class Full(Vowels):
    tags = ("O", "B-X", "I-X")
    scheme = "BIO"
    family = "perceptron"
    examples = ["an apple", Example("a b", ("a", "b"), "claim", "given")]
    card = "# Full\\n\\nSays all."

    def split(self, text):
        return text.split("|")

    def potentials(self, tokens):
        return Potentials([[0.0, 0.0, 1.0]] * len(tokens), [[0.0] * 3] * 3, tags=self.tags)


class Dice(Vowels):
    observations = [1, 2]


instance = Vowels()


def factory():
    return Vowels()


class NoTags:
    def potentials(self, tokens):
        return None


class NoPotentials(NoTags):
    tags = ["A"]


class Twice(NoPotentials):
    tags = ["A", "A"]


class Numbers(NoPotentials):
    tags = [1, 2]


class Raises(Vowels):
    def __init__(self):
        raise RuntimeError("no licence")


class RaisesLater(Vowels):
    def potentials(self, tokens):
        return 1 / 0


class Wide(Vowels):
    tags = ["A", "B", "C"]


class OddFamily(Vowels):
    family = "oracle"
'''
GOOD = ("Vowels", "Full", "Dice", "instance", "factory")
BROKEN = {
    "NoTags": "has no 'tags'",
    "NoPotentials": "must return crfviz.Potentials, got NoneType",
    "Twice": "tags must have different names",
    "Numbers": "tags must be non-empty strings",
    "Raises": "The plug-in Raises failed: RuntimeError: no licence",
    "RaisesLater": "The plug-in RaisesLater failed: ZeroDivisionError",
    "Wide": "the tags A, B, C were expected, got",
    "OddFamily": "family must be one of",
    "Missing": "The plug-in Missing failed: AttributeError",
    "upos-en": None,
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one entry point for each class of the module."""
    (tmp_path / "their_taggers.py").write_text(MODULE)
    info = tmp_path / "their_taggers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-taggers\nVersion: 1.0\n")
    points = [f"{name} = their_taggers:{name}" for name in (*GOOD, *BROKEN) if name != "upos-en"]
    points.append("upos-en = their_taggers:Vowels")
    points.append("nowhere = no_such_module:Vowels")
    (info / "entry_points.txt").write_text("\n".join(["[crfviz.taggers]", *points]) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    installed_plugins.cache_clear()
    monkeypatch.setattr(exceptions, "_logged", set())
    yield
    installed_plugins.cache_clear()
    sys.modules.pop("their_taggers", None)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("name", ["Vowels", "instance", "factory"])
def test_object_with_tags_and_potentials_is_a_tagger(name):
    assert name in list_taggers()
    tagger = load_tagger(name)
    assert (tagger.name, tagger.tags, tagger.family) == (name, ("VOWEL", "OTHER"), "crf")
    chain = tagger.potentials(["an", "ox", "bit"])
    assert (chain.tags, chain.tokens) == (tagger.tags, ("an", "ox", "bit"))
    assert viterbi(chain).path == [0, 0, 1]
    assert tagger.split("it's") == ["it", "'s"]
    assert tagger.potentials_batch([["a"], ["b", "c"]])[1].num_tokens == 2
    assert tagger.examples() == []
    assert "Tags words by their first letter." in tagger.card()
    assert (tagger.probabilistic, tagger.observations, tagger.scheme) == (True, None, None)
    assert tagger.reads("anything")
    with pytest.raises(EmptySentenceError):
        tagger.potentials([])


@pytest.mark.usefixtures("package")
def test_optional_tagger_members_are_used():
    full = load_tagger("Full")
    assert (full.family, full.probabilistic, full.scheme) == ("perceptron", False, "BIO")
    assert full.split("x y|z") == ["x y", "z"]
    assert [example.text for example in full.examples()] == ["an apple", "a b"]
    assert full.card() == "# Full\n\nSays all."
    assert viterbi(full.potentials(["a", "b"])).path == [1, 2]  # no I-X at the start
    assert viterbi(full.potentials(["a", "b"], constrained=False)).path == [2, 2]
    dice = load_tagger("Dice")
    assert (dice.observations, dice.split("1 2")) == (("1", "2"), ["1", "2"])
    assert dice.reads("2 1")
    assert not dice.reads("3")


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(("name", "message"), [item for item in BROKEN.items() if item[1]])
def test_broken_plugin_raises_a_message_and_others_still_load(name, message, caplog):
    assert {name, *GOOD} <= set(list_taggers())
    with pytest.raises(ModelError, match=message), caplog.at_level(logging.WARNING):
        load_tagger(name).potentials(["a", "b"])
    if "failed" in message:
        assert "Traceback" in caplog.text


@pytest.mark.usefixtures("package")
def test_missing_module_raises_a_model_error():
    with pytest.raises(ModelError, match="nowhere failed: ModuleNotFoundError"):
        load_tagger("nowhere")


@pytest.mark.usefixtures("package")
def test_log_has_one_traceback_per_reason(caplog):
    for name in ("nowhere", "Raises", "nowhere", "Raises", "nowhere"):
        with pytest.raises(ModelError):
            load_tagger(name)
    broken = load_tagger("RaisesLater")
    for _ in range(3):
        with pytest.raises(ModelError):
            broken.potentials(["a"])
    assert [record.message for record in caplog.records] == [
        f"The plug-in {name} failed" for name in ("nowhere", "Raises", "RaisesLater")
    ]
    assert caplog.text.count("Traceback (most recent call last)") >= 3


@pytest.mark.usefixtures("package")
def test_plugin_cannot_replace_a_shipped_model():
    assert len(load_tagger("upos-en").tags) == 17
    assert list_taggers().count("upos-en") == 1


def vowels(tag="VOWEL"):
    return MODULE.partition("class Full")[0].replace("VOWEL", tag)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of files that CRFVIZ_PLUGINS names, and a module that it names."""
    files = tmp_path / "files"
    files.mkdir()
    (tmp_path / "their_module.py").write_text(vowels())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CRFVIZ_PLUGINS", f"their_module:Vowels, {files}")
    yield files
    sys.modules.pop("their_module", None)


def test_plugins_setting_names_objects_and_folders(folder):
    (folder / "by_class.py").write_text(vowels("V"))
    (folder / "_helper.py").write_text("1 / 0")
    (folder / "by-variable.py").write_text(
        "import crfviz\ntagger = crfviz.from_hmm([1.0], [[1.0]], [[0.5, 0.5]], ['a', 'b'], ['S'])"
    )
    assert {"Vowels", "by_class", "by-variable"} <= set(list_taggers())
    assert "_helper" not in list_taggers()
    assert load_tagger("Vowels").tag("an ox bit").tags == ["VOWEL", "VOWEL", "OTHER"]
    assert load_tagger("by_class").tag("an ox bit").tags == ["V", "V", "OTHER"]
    hmm = load_tagger("by-variable")
    assert (hmm.name, hmm.family, hmm.tag("b a").tags) == ("by-variable", "hmm", ["S", "S"])


def test_changed_plugin_code_is_reloaded(folder):
    file, module = folder / "mine.py", folder.parent / "their_module.py"
    for name, path in (("mine", file), ("Vowels", module)):
        versions = []
        for tag in ("ONE", "TWO"):  # of one length and within a second, as an editor saves them
            path.write_text(vowels(tag))
            versions.append((plugin_version(name), version_of(load_tagger(name))))
            assert load_tagger(name).tags == (tag, "OTHER")
            assert plugin_version(name) == versions[-1][0]
        assert len(set(versions)) == 2
        assert len({digest for _, digest in versions}) == 2
    file.unlink()
    assert "mine" not in list_taggers()
    with pytest.raises(ModelError, match="no tagger is called 'mine'"):
        load_tagger("mine")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("tags = ['A']", "expected a variable `tagger` or one class with `potentials`, got 0"),
        (MODULE, "expected a variable `tagger` or one class with `potentials`, got 11 such"),
        ("def broken(", "The plug-in mine failed: SyntaxError"),
        ("tagger = 3", "mine: the object of .*mine.py has no 'tags'"),
        ("import no_such_module", "The plug-in mine failed: ModuleNotFoundError"),
    ],
)
def test_file_without_a_tagger_is_rejected(folder, code, message):
    (folder / "mine.py").write_text(code)
    assert "mine" in list_taggers()
    with pytest.raises(ModelError, match=message):
        load_tagger("mine")
    (folder / "mine.py").write_text(vowels())
    assert load_tagger("mine").tag("an").tags == ["VOWEL"]


def test_plugin_of_a_missing_module_raises_a_model_error(monkeypatch):
    monkeypatch.setenv("CRFVIZ_PLUGINS", "no_such_module.at_all:Vowels")
    assert "Vowels" in list_taggers()
    assert plugin_version("Vowels") == ""
    with pytest.raises(ModelError, match="The plug-in Vowels failed: ModuleNotFoundError"):
        load_tagger("Vowels")


@pytest.fixture
def registered():
    """What a test registers is gone after it."""
    yield
    plugin_module._registered.clear()


class Case:
    """Tags words by their case."""

    tags = ("UPPER", "lower")

    def potentials(self, tokens):
        emissions = [[float(word.isupper()), 0.5] for word in tokens]
        return Potentials(emissions, [[0.0, 0.0], [0.0, 0.0]])


@pytest.mark.usefixtures("registered")
def test_registered_tagger_can_be_loaded():
    for given, name in ((Case, "Case"), (Case(), "Case")):
        made = register(given)
        assert made.tag("AN ox").tags == ["UPPER", "lower"]
        assert name in list_taggers()
        assert load_tagger(name).tag("AN ox") == made.tag("AN ox")
    hmm = from_hmm([1.0], [[1.0]], [[0.5, 0.5]], ["a", "b"], ["S"])
    assert register(hmm).name == "hmm"
    assert register(hmm, "dice").name == "dice"
    assert hmm.name == "hmm"
    assert load_tagger("dice").chain is hmm.chain
    assert version_of(load_tagger("dice")) != version_of(load_tagger("hmm"))
    shipped = register(load_tagger("upos-en-hmm"), "copy")
    assert version_of(shipped) == version_of(load_tagger("upos-en-hmm"))


@pytest.mark.usefixtures("registered")
def test_later_registration_replaces_an_earlier_one():
    register(Case())
    before = plugin_version("Case")
    other = Case()
    other.tags = ("UP", "low")
    register(other)
    assert load_tagger("Case").tags == ("UP", "low")
    assert plugin_version("Case") != before


@pytest.mark.usefixtures("registered", "package")
def test_invalid_registration_is_rejected():
    for name in ("upos-en", "textbook/ice-cream", "Vowels"):
        with pytest.raises(ModelError, match=f"'{name}' is the name of another model"):
            register(Case(), name)
    for name in ("", " ", 3):
        with pytest.raises(ModelError, match="a tagger needs a name"):
            register(Case(), name)
    with pytest.raises(ModelError, match="has no 'tags'"):
        register(SimpleNamespace(potentials=None), "nothing")
    with pytest.raises(ModelError, match=r"int: the object of crfviz\.register has no 'tags'"):
        register(3)
    assert not {"nothing", "int"} & set(list_taggers())


def test_package_plugins_load_and_a_failing_package_is_rejected(tmp_path, monkeypatch):
    for name, code in (("fine_package", ""), ("failing_package", "raise RuntimeError('no')")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(code)
        (tmp_path / name / "base.py").write_text(vowels())
        (tmp_path / name / "mine.py").write_text("from .base import Vowels as Mine")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CRFVIZ_PLUGINS", "fine_package.mine:Mine,failing_package.mine:Mine")
    assert "Mine" in list_taggers()
    with pytest.raises(ModelError, match="The plug-in Mine failed: RuntimeError: no"):
        load_tagger("Mine")
    monkeypatch.setenv("CRFVIZ_PLUGINS", "fine_package.mine:Mine")
    assert load_tagger("Mine").tag("an").tags == ["VOWEL"]


def test_shards_of_changed_plugin_code_are_not_reused(folder):
    references = []
    for tag in ("ONE", "TWO"):
        (folder / "mine.py").write_text(vowels(tag))
        references.append(model_reference("mine"))
        assert references[-1].load().tags[0] == tag
    assert references[0] != references[1]
    assert model_reference("upos-en-hmm").code == ""
