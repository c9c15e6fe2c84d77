"""Sentences of a paragraph."""

import pytest

from crfviz.text.sentence_ends import split_sentences
from crfviz.text.splitting import BLANKS, CHARACTERS


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("One sentence.", ["One sentence."]),
        ("No mark", ["No mark"]),
        ("I left. You did, too.", ["I left.", "You did, too."]),
        ("Did he?! Yes!!! So", ["Did he?!", "Yes!!!", "So"]),
        ("Mr. Ford has 3.5 m. of it.", ["Mr. Ford has 3.5 m. of it."]),
        ("He said “No.” She left.", ["He said “No.”", "She left."]),
        ('No. "Yes," he said.', ["No.", '"Yes," he said.']),
        ("No. (Yes.) Well", ["No.", "(Yes.)", "Well"]),
        ("One. :) Two.", ["One. :)", "Two."]),
        ("two  blanks.  keep  it", ["two  blanks.  keep  it"]),
        ("a line\nanother one. And", ["a line", "another one.", "And"]),
        ("I like it ... a bit", ["I like it ... a bit"]),
        ("😀! 😀!", ["😀! 😀!"]),
    ],
)
def test_english_text_is_split_into_sentences(text, sentences):
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    ("text", "tokenizer", "sentences"),
    [
        ("Das ist z.B. gut. Am 3. Mai war es so.", "spacy:de", 2),
        ("安娜住在奥斯陆。他走了！真的？", CHARACTERS, 3),
        ("安娜住在奥斯陆。“他走了！”真的？！", "spacy:en", 3),
        ("आप कैसे हैं। ठीक।", BLANKS, 2),
        ("He left. She stayed.", BLANKS, 2),
        ("¡Hola! ¿Qué tal? Bien.", "spacy:es", 3),
        ("هل أنت بخير؟ نعم.", "spacy:ar", 2),
    ],
)
def test_punctuation_of_other_languages_ends_sentences(text, tokenizer, sentences):
    found = split_sentences(text, tokenizer)
    assert len(found) == sentences
    assert "".join("".join(found).split()) == "".join(text.split())
