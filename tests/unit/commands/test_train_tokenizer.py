"""A model splits what is typed as its training files are split."""

import json

import pytest

import crfviz
from crfviz.__main__ import main
from crfviz.exceptions import ModelError

CHINESE = [("安娜", "住在", "奥斯陆", "。"), ("今天", "下雨", "。"), ("我", "不去", "挪威", "。")]


def as_columns(sentences):
    """A character a word: names and other words in turn, as BMES writes them."""
    rows = []
    for words in sentences:
        for number, word in enumerate(words):
            kind = "PER" if number == 0 else "OTH"
            marks = ["S"] if len(word) == 1 else ["B", *"M" * (len(word) - 2), "E"]
            rows += [f"{letter}\t{mark}-{kind}" for letter, mark in zip(word, marks, strict=True)]
        rows.append("")
    return "\n".join(rows) + "\n"


def train(tmp_path, content, *more, name="columns.conll"):
    file, out = tmp_path / name, tmp_path / "mine"
    file.write_text(content, "utf-8")
    options = ["--family", "perceptron", "--train", str(file), "--out", str(out), "--epochs", "2"]
    return main(["train", *options, *more]), out


def tokenizer_in(folder):
    return json.loads((folder / "config.json").read_text("utf-8")).get("tokenizer")


def test_model_trained_on_single_characters_splits_into_characters(tmp_path, capsys):
    status, out = train(tmp_path, as_columns(CHINESE * 10))
    assert status == 0
    assert tokenizer_in(out) == "characters"
    assert "characters: 100.0% of the words" in capsys.readouterr().err
    tagger = crfviz.load_tagger(out)
    assert tagger.split("安娜住在奥斯陆。") == list("安娜住在奥斯陆。")
    assert len(tagger.tag("安娜去挪威。").tags) == 6


def test_model_trained_on_a_treebank_splits_by_its_language(tmp_path, capsys):
    """The recipe of the documents: a CoNLL-U file of any treebank becomes a tagger."""
    rows = []
    for number, good in enumerate(("gut", "neu", "alt", "rot", "klein", "lang")):
        words = [("Das", "PRON"), ("ist", "AUX"), ("z.B.", "ADV"), (good, "ADJ"), (".", "PUNCT")]
        rows += [f"# sent_id = {number}", f"# text = Das ist z.B. {good}."]
        for at, (word, tag) in enumerate(words, start=1):
            last = "SpaceAfter=No" if word == good else "_"
            rows.append(f"{at}\t{word}\t_\t{tag}\t_\t_\t0\t_\t_\t{last}")
        rows.append("")
    status, out = train(tmp_path, "\n".join(rows) + "\n", name="de.conllu")
    assert status == 0
    assert tokenizer_in(out) == "spacy:de"
    assert crfviz.load_tagger(out).split("Das ist z.B. gut.") == ["Das", "ist", "z.B.", "gut", "."]
    assert "spacy:de: 100.0%" in capsys.readouterr().err


def test_tokenizer_option_is_used_and_a_poor_fit_is_warned(tmp_path, capsys):
    status, out = train(tmp_path, as_columns(CHINESE * 10), "--tokenizer", "blanks")
    assert (status, tokenizer_in(out)) == (0, "blanks")
    assert crfviz.load_tagger(out).split("安娜 住在") == ["安娜", "住在"]
    status, _ = train(tmp_path, "ab\tX\ncdef\tY\n\nab-c1d\tX\nx.y,z\tY\n\n" * 5)
    assert status == 0
    status, _ = train(tmp_path, as_columns(CHINESE), "--tokenizer", "letters")
    assert status != 0
    assert "expected a tokenizer such as spacy:de" in capsys.readouterr().err


def test_unknown_tokenizer_in_a_model_is_rejected(tmp_path):
    _, out = train(tmp_path, as_columns(CHINESE * 10))
    config = out / "config.json"
    content = json.loads(config.read_text("utf-8")) | {"tokenizer": "letters"}
    config.write_text(json.dumps(content), "utf-8")
    with pytest.raises(ModelError, match="'tokenizer': expected a tokenizer such as"):
        crfviz.load_tagger(out)


def test_shipped_models_split_by_english_rules():
    tagger = crfviz.load_tagger("upos-en")
    assert tagger.tokenizer == "spacy:en"
    assert tagger.split("I can't.") == ["I", "ca", "n't", "."]


def test_text_files_are_split_by_the_tokenizer_of_the_model(tmp_path, capsys):
    _, model = train(tmp_path, as_columns(CHINESE * 10))
    text = "安娜住在奥斯陆。"
    spans = json.dumps({"text": text, "entities": [[0, 2, "PER"]]}, ensure_ascii=False)
    for name, content in {"a.txt": text, "a.jsonl": spans}.items():
        file = tmp_path / name
        file.write_text(f"{content}\n", "utf-8")
        capsys.readouterr()
        assert main(["tag", "--model", str(model), "--file", str(file)]) == 0
        assert json.loads(capsys.readouterr().out)["tokens"] == list(text)
