"""Names of tags, words, files, models, documents and people are text on every page, never markup.

Streamlit reads most of what it shows as Markdown, in which a name such as the one below loads a
picture from a server of somebody's own: everybody who looks at the page would be counted there.
"""

import json
import re
from itertools import chain

import pytest
from streamlit.testing.v1.element_tree import Block

from crfviz.annotations.store.store import open_store
from crfviz.ui import cached
from crfviz.ui.annotate import documents
from crfviz.ui.words import plain
from crfviz.views.contents import ENTRIES
from tests.support.app_pages import new_app, open_at
from tests.support.marked_names import ANNOTATORS, CORPUS, FILE, MARK, TAGS, WORDS, marked_places

LOADS = re.compile(r"(?<!\\)!(?<!\\)\[[^\]\\]*\](?<!\\)\(http")
PLAIN = {  # what Streamlit shows as it is: by kind of element, the fields
    "Selectbox": {"options", "value", "raw_value", "default"},
    "TextInput": {"value", "default", "placeholder"},
    "TextArea": {"value", "default", "placeholder"},
    "Text": {"body"},
    "Html": {"body"},  # no Markdown; that its names are escaped, the tests of its makers hold
    "Code": {"code_text"},
    "BidiComponent": {"json", "mixed", "arrow_data"},
    "VegaLiteChart": {"spec"},
    "FileUploader": {"placeholder"},
    "Arrow": {"columns"},  # names and kinds of columns, as JSON
    "PageLink": {"query_string", "page"},
    "LinkButton": {"url"},
    "DownloadButton": {"url"},
}
# Buttons that remove what is looked at, or lead to other boxes than those that a click would set.
ELSEWHERE = (
    "Remove",
    "Remove for good",
    "Teach",
    "Label ten real tweets",
    "Edit a copy",
    "Handout",
)
# These two leave the model or the page whose names are looked at.
ELSEWHERE += ("Open the ice-cream HMM", "Back to marked")
EVERYWHERE = {"id", "element_id", "user_key", "form_id", "deferred_file_id"}  # never shown


def strings(message, kind=""):
    """Every text of a protobuf message that Streamlit would read as Markdown."""
    kind = kind or type(message).__name__
    for field, value in message.ListFields():
        if field.name in EVERYWHERE | PLAIN.get(type(message).__name__, set()):
            continue
        values = list(value) if field.is_repeated and not hasattr(value, "items") else [value]
        for each in values:
            place = f"{type(message).__name__}.{field.name}"
            if place == "Dataframe.columns":  # names are text, help is Markdown
                yield from ((place, each.get("help") or "") for each in json.loads(value).values())
            elif isinstance(each, str):
                yield place, each
            elif hasattr(each, "ListFields"):
                yield from strings(each)


def nodes(node):
    yield node
    if isinstance(node, Block):
        for child in node.children.values():
            yield from nodes(child)


def loading(app):
    """Where on the screen a name of ours would load its picture."""
    shown = (node.proto for node in nodes(app._tree) if getattr(node, "proto", None) is not None)
    return [(place, text[:90]) for place, text in chain(*map(strings, shown)) if LOADS.search(text)]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A model, documents, people and a file that are all named so."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in marked_places(tmp_path_factory.mktemp("names")).items():
            patch.setenv(name, value)
        documents.store.clear()
        yield
        cached.tagger.clear()
        documents.store.clear()


VIEWS = {
    "pages/annotate.py": [{"v.part": part} for part in ("label", "add", "export", "agreement")]
    + [{"v.doc": ""}],
    "pages/model-errors.py": [
        {"v.corpus": "labelled", "v.tab": tab}
        for tab in ("How wrong", "Where", "Why", "Is it the gold?", "Two models")
    ],
    "pages/entities.py": [{"model": "marked-bio"}, {}],
}
OPENED = [(entry.script, view) for entry in ENTRIES for view in VIEWS.get(entry.script, [{}])]


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("script", "view"), OPENED, ids=[f"{s}{list(v.values())}" for s, v in OPENED]
)
def test_names_are_never_markup_on_a_page(script, view):
    app = opened(script, view)
    clicked = [each.label for each in app.button[:12] if not each.disabled]
    for label in clicked:  # what a click says, too
        if label in ELSEWHERE:
            continue
        if not any(each.label == label for each in app.button):  # the last click led away
            app = opened(script, view)
        next(each for each in app.button if each.label == label).click().run()
        assert not app.exception
        assert loading(app) == []


def opened(script, view):
    app = new_app()
    app.query_params.update(
        {"model": "marked", "sentence": "  ".join(WORDS), "v.by": ANNOTATORS[0], "v.twin": "1"}
    )
    with open_store() as store:
        document = next(one for one in store.documents() if "leak.invalid" in one.name)
    app.query_params.update({"v.doc": document.key, **view})
    open_at(app, script)
    assert not app.exception
    assert loading(app) == []
    return app


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("script", "view"),
    [
        ("pages/model-errors.py", {"v.corpus": "file"}),
        ("pages/model-errors.py", {"v.corpus": "file", "model": "upos-en"}),  # of other tags
        ("pages/annotate.py", {"v.part": "add"}),
        ("pages/homework.py", {}),
        ("pages/bring.py", {}),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "content", [CORPUS, CORPUS.replace("\t", "\t\t "), MARK], ids=["good", "odd", "bad"]
)
def test_file_contents_are_never_markup(script, view, content):
    app = new_app()
    app.query_params.update({"model": "marked", "sentence": "  ".join(WORDS), **view})
    open_at(app, script)
    app.file_uploader[0].upload(FILE, content.encode(), "text/plain").run()
    assert not app.exception
    assert loading(app) == []
    if confirm := [each for each in app.button if each.label == "Use these sentences"]:
        confirm[0].click().run()
        assert not app.exception
        assert loading(app) == []


def test_markup_check_detects_loading_elements():
    assert LOADS.search(MARK)
    assert LOADS.search(f"a {TAGS[0]} b")
    assert not LOADS.search(plain(TAGS[0]))
