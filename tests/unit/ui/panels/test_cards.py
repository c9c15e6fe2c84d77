"""What the app knows of a model folder: its card as text, its figures, what is wrong with it."""

import pytest

from crfviz.exceptions import ModelError
from crfviz.taggers.folder import FolderTagger
from crfviz.ui import cached
from crfviz.ui.panels import cards
from crfviz.ui.panels.cards import card_body, card_summary

CARD = """# upos-en

Tags words with parts of speech. Trained on EWT.
One line more.

<!-- figures: written by a program -->

On a file:

| decoder | words |

<!-- end of figures -->
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    tagger = FolderTagger(tmp_path / "tiny", ("A", "B"), None)
    tagger.folder.mkdir()

    def load(name):
        if name != "tiny":
            raise ModelError(f"{name}/config.json: the file is missing")
        return tagger

    monkeypatch.setattr(cached, "tagger", load)
    monkeypatch.setattr(cached, "models", lambda: ["tiny", "broken"])
    return tagger.folder


@pytest.mark.usefixtures("folder")
def test_folder_without_card_and_figures_has_an_empty_card():
    tiny, broken = cards.cards()
    assert (tiny.text, tiny.evaluations, tiny.problem) == ("", {}, None)
    assert broken.problem == "broken/config.json: the file is missing"
    assert cards.summary("tiny") == ""
    assert cards.summary("broken") == ""


def test_model_card_is_read(folder):
    (folder / "README.md").write_text("# tiny\n\nKnows two tags. Really.", encoding="utf-8")
    assert cards.cards()[0].text == "Knows two tags. Really."
    assert cards.summary("tiny") == "Knows two tags."


def test_only_shipped_cards_are_trusted(folder, monkeypatch):
    assert not cards.cards()[0].ours
    monkeypatch.setattr(cards, "SHIPPED", folder.parent)
    assert cards.cards()[0].ours


@pytest.mark.parametrize(
    ("name", "content"),
    [("README.md", b"\xff\xfe\xff"), ("evaluation.json", b"[1, 2"), ("evaluation.json", b"[1]")],
    ids=["no text", "cut off", "no evaluations"],
)
def test_unreadable_file_is_reported_as_a_problem(folder, name, content):
    (folder / name).write_bytes(content)
    tiny = cards.cards()[0]
    assert tiny.problem
    assert cards.summary("tiny") == ""


def test_unreadable_comparison_is_logged_once(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(cards, "SHIPPED", tmp_path)
    for _ in range(2):
        assert cards.comparison() is None
    assert [record.getMessage().rsplit("/", 1)[-1] for record in caplog.records] == [
        "comparison.json cannot be read"
    ]


def test_card_is_shown_without_title_and_comments():
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
def test_summary_is_the_first_sentence_of_the_card(card, summary):
    assert card_summary(card) == summary


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"rows": []}', '{"rows": [{}]}'])
def test_invalid_report_omits_the_comparison(tmp_path, monkeypatch, content):
    path = tmp_path / cards.COMPARISON_FILE
    path.parent.mkdir()
    path.write_text(content)
    monkeypatch.setattr(cards, "SHIPPED", tmp_path)
    assert cards.comparison() is None
