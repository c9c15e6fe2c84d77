import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
import termios

import pytest

from crfviz.__main__ import COMMANDS, main
from crfviz.commands.tag import printable, tagged
from crfviz.taggers.registry import load_tagger
from tests.support.fake_tagger import FakeTagger
from tests.support.tiny_tagger import save_tiny

SENTENCE = "He\tNOUN\nruns\tVERB\n.\tX\n\nRun\tVERB\n!\tX\n"


@pytest.fixture
def model(tmp_path):
    return save_tiny(tmp_path / "tiny")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "test.conll"
    path.write_text(SENTENCE, encoding="utf-8")
    return path


def test_tag_prints_every_decoder_below_the_words(model, capsys):
    assert main(["tag", "He runs to Paris.", "--model", str(model)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["He", "runs", "to", "Paris", "."]
    assert [line[:14].rstrip() for line in lines[1:6]] == [
        "independent",
        "greedy",
        "Viterbi",
        "max-marginal",
        "p(Viterbi tag)",
    ]
    columns = [lines[0].index(word) for word in lines[0].split()]
    for line in lines[1:6]:
        cells = line[14:].split()
        assert len(cells) == 5
        assert all(line[at:].startswith(cell) for at, cell in zip(columns, cells, strict=True))
    assert lines[7].startswith("log p = -")


def test_tag_reads_one_sentence_per_line_from_standard_input(model, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("He runs\n\nRun!\n"))
    assert main(["tag", "--model", str(model)]) == 0
    assert capsys.readouterr().out.count("log p = ") == 2


def test_tag_splits_a_paragraph_into_sentences(model, capsys):
    text = "He runs. She ran. Fine!"
    assert main(["tag", text, "--json", "--model", str(model)]) == 0
    said = capsys.readouterr()
    printed = [json.loads(line) for line in said.out.splitlines()]
    assert [each["text"] for each in printed] == ["He runs.", "She ran.", "Fine!"]
    assert "3 sentences, each by itself; --whole" in said.err
    assert main(["tag", text, "--json", "--whole", "--model", str(model)]) == 0
    said = capsys.readouterr()
    assert [json.loads(line)["text"] for line in said.out.splitlines()] == [text]
    assert not said.err


def test_tag_prints_one_json_object_per_line(model, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("  He’s here\n\nRun!\n"))
    assert main(["tag", "--json", "--model", str(model)]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    tagger = load_tagger(model)
    for text, found in zip(["  He’s here", "Run!"], printed, strict=True):
        expected = tagger.tag(text)
        assert list(found) == ["text", "words", "tags", "probabilities", "offsets"]
        assert found["text"] == text
        assert (found["words"], found["tags"]) == (expected.words, expected.tags)
        assert found["probabilities"] == pytest.approx(expected.probabilities)
        assert [text[start:end] for start, end in found["offsets"]] == found["words"]
    assert main(["tag", "--json", "--file", "x", "--model", str(model)]) == 2
    assert "expected --json or --file, got both" in capsys.readouterr().err


def test_tagging_one_sentence_loads_neither_numba_nor_spacy(model):
    code = (
        "import sys; from crfviz.__main__ import main; "
        f"main(['tag', 'These look fine to me.', '--json', '--model', {str(model)!r}]); "
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    environment = {**os.environ, "CRFVIZ_COMPILED": "on"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    found, loaded = run.stdout.splitlines()
    assert json.loads(found)["words"] == ["These", "look", "fine", "to", "me", "."]
    assert "torch" in loaded.split()
    assert not {"numba", "spacy", "streamlit"} & set(loaded.split())


def _everything_written_to(terminal: int) -> bytes:
    """What a closed terminal still holds: it arrives in pieces, and EIO is its end on Linux."""
    pieces = []
    with contextlib.suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as stream:
        while piece := stream.read(10_000):
            pieces.append(piece)
    return b"".join(pieces)


def test_progress_is_shown_only_on_a_terminal(model, file, capsys, monkeypatch):
    arguments = ["tag", "--file", str(file), "--model", str(model)]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out.count("NOUN") + captured.out.count("VERB") > 0
    assert captured.err.startswith(f"{file}: columns with TAB; words in column 1; tags in ")
    assert captured.err.count("\n") == 1
    end, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    with os.fdopen(terminal, "w") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        assert main(arguments) == 0
    assert b"100%" in _everything_written_to(end)


def test_version_option_prints_the_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert re.fullmatch(r"crfviz \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_bring_adds_a_model_to_the_list(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    scores = {
        "tags": ["O", "B-X"],
        "transitions": [[0, 3], [5, 0]],
        "probabilities": False,
        "sentences": [{"tokens": ["a", "b"], "emissions": [[1, 0], [0, 0]]}, {"tokens": ["c"]}],
    }
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(scores))
    assert main(["bring", str(path), "--to-from", "--bio", "--name", "My own"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("My-own: ")
    assert said.out.endswith(", 2 tags\n")
    assert "sentence 2" in said.err
    tagger = load_tagger("My-own")
    assert tagger.scheme == "BIO"
    assert tagger.potentials(["a", "b"]).transitions.tolist() == [[0, 5], [3, 0]]
    assert main(["bring", str(path)]) == 0
    assert capsys.readouterr().out.startswith("scores: ")
    assert main(["bring", str(tmp_path / "gone.json")]) == 2
    assert "gone.json: cannot be read" in capsys.readouterr().err


def test_invalid_utf8_on_standard_input_is_reported(model, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), encoding="utf-8"))
    assert main(["tag", "--model", str(model)]) == 2
    assert "crfviz: expected UTF-8 text on standard input, got" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", " \t "])
def test_tag_without_a_word_is_rejected(text, model, capsys):
    assert main(["tag", text, "--model", str(model)]) == 2
    assert capsys.readouterr().err == (
        "crfviz: expected a sentence with at least one word, got none\n"
    )


def test_tag_with_an_unknown_model_names_the_model(capsys):
    assert main(["tag", "Hi", "--model", "no-such-model"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("crfviz: ")
    assert "'no-such-model'" in captured.err
    assert "Traceback" not in captured.err


def test_long_sentence_is_wrapped_to_the_terminal_width():
    fake = FakeTagger(["X", "Y"], {"a": {"Y": 1.0}})
    text = tagged(fake, ["a"] * 30, 60)
    rows = text.splitlines()[:-1]
    assert all(len(row) <= 60 for row in rows)
    assert sum(row.startswith("Viterbi ") for row in rows) == 5  # 6 columns of 5 and a gap of 2
    assert sum(row.count("Y") for row in rows if row.startswith("Viterbi ")) == 30


def test_word_wider_than_the_terminal_is_printed():
    fake = FakeTagger(["X"], {})
    assert "w" * 100 in tagged(fake, ["w" * 100, "b"], 40)


def test_wide_characters_keep_the_columns_aligned():
    fake = FakeTagger(["X"], {})
    words, greedy, *_ = tagged(fake, ["日本", "e\u0301", "b"], 80).splitlines()
    assert words.endswith("日本   e\u0301      b")
    assert greedy.endswith("X      X      X")


def test_control_characters_are_escaped():
    assert printable("a\x1b[31m\ud83d\u200b") == r"a\x1b[31m\ud83d\u200b"
    assert "\x1b" not in tagged(FakeTagger(["X"], {}), ["\x1b[31m"], 80)


def test_evaluate_prints_and_writes_json(model, file, tmp_path, capsys):
    out = tmp_path / "figures.json"
    assert main(["evaluate", str(file), "--model", str(model), "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["model"] == "tiny"
    assert record["file"] == f"{tmp_path.name}/test.conll"
    assert (record["sentences"], record["tokens"]) == (2, 5)
    assert set(record) >= {"independent", "left_to_right", "viterbi", "max_marginal", "ece"}
    assert f"{100 * record['viterbi']['token_accuracy']:.2f} (" in printed
    assert not (model / "evaluation.json").exists()


def test_evaluate_scores_answers_by_both_rules(tmp_path, capsys):
    rows = [("Nora", "B-PER", "I-PER"), ("sails", "O", "O"), ("Oslo", "B-LOC", "B-LOC")]
    gold, answers, both = (tmp_path / name for name in ("gold.tsv", "answers.tsv", "both.tsv"))
    gold.write_text("".join(f"{w}\t{g}\n" for w, g, _ in rows), "utf-8")
    answers.write_text("".join(f"{w}\t{a}\n" for w, _, a in rows), "utf-8")
    both.write_text("".join(f"{w}\t{g}\t{a}\n" for w, g, a in rows), "utf-8")
    assert main(["evaluate", str(gold), "--answers", str(answers)]) == 0
    printed, said = capsys.readouterr()
    assert [line.partition(": ")[0] for line in said.splitlines()] == [str(gold), str(answers)]
    assert "tags in column 2; sentences end" in said.replace("the last column", "column 2")
    lines = [line for line in printed.splitlines() if not line.startswith(" ")]
    assert lines[0].startswith("conlleval: accuracy 66.67 %")
    assert lines[0].endswith("F1 100.00 % (2 of 2 and 2)")
    strict = next(line for line in lines if line.startswith("strict"))
    assert strict.endswith("F1 66.67 % (1 of 1 and 2)")
    assert main(["evaluate", str(both), "--answers"]) == 0
    again, said = capsys.readouterr()
    assert (again, said.count(f"{both}: columns with TAB")) == (printed, 2)
    assert main(["evaluate", str(both), "--answers", "--card"]) == 2
    assert "--card is for a model, got --answers" in capsys.readouterr().err


def test_named_columns_hold_for_gold_and_for_answers(tmp_path, capsys):
    rows = [(0, "Nora", "B-PER", "I-PER"), (0, "sails", "O", "O"), (1, "Oslo", "B-LOC", "O")]
    gold, answers, both = (tmp_path / name for name in ("gold.tsv", "answers.tsv", "both.tsv"))
    head = "n\tw\tother\tt"
    for path, column in ((gold, 2), (answers, 3)):
        lines = [f"{row[0]}\t{row[1]}\tO\t{row[column]}" for row in rows]
        path.write_text("\n".join([head, *lines, ""]), "utf-8")
    lines = ["n\tw\tt\tother\tlast", *(f"{n}\t{w}\t{g}\tO\t{a}" for n, w, g, a in rows), ""]
    both.write_text("\n".join(lines), "utf-8")
    named = ["--words", "w", "--tags", "t", "--sentences", "n"]
    assert main(["evaluate", str(gold), "--answers", str(answers), *named]) == 0
    printed, said = capsys.readouterr()
    assert "F1 66.67 % (1 of 1 and 2)" in printed
    for path in (gold, answers):
        line = f"{path}: columns with TAB; words in column 2 (w); tags in column 4 (t); "
        assert f"{line}sentences end where n changes; " in said
    assert said.count("2 sentences") == 2
    assert main(["evaluate", str(both), "--answers", *named]) == 0
    again, said = capsys.readouterr()
    assert again == printed
    assert "tags in column 3 (t)" in said
    assert "tags in column 5 (last)" in said


def test_file_without_a_named_column_is_refused_by_its_name(tmp_path, capsys):
    gold, answers = tmp_path / "gold.tsv", tmp_path / "answers.jsonl"
    gold.write_text("w\tt\tu\nNora\tB-PER\tO\nsails\tO\tO\n\n", "utf-8")
    answers.write_text('{"tokens": ["Nora", "sails"], "u": ["B-PER", "O"]}\n', "utf-8")
    for files, wrong in (((gold, answers), answers), ((answers, gold), answers)):
        first, second = map(str, files)
        assert main(["evaluate", first, "--answers", second, "--words", "w", "--tags", "t"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"crfviz: {wrong}, line 1: ")
        assert "found tokens: " in line
    assert main(["evaluate", str(gold), "--answers", "--words", "w", "--tags", "u"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("the same column; name another with --tags")


def test_questions_and_losses_name_the_flags(tmp_path, capsys, monkeypatch):
    path, out = tmp_path / "open.tsv", tmp_path / "out.jsonl"
    path.write_text("Ida\tB-PER\tO\nruns\tO\tB-X\n\n", "utf-8")
    assert main(["convert", str(path), str(out)]) == 2
    said = capsys.readouterr().err
    assert "name them with --words, --tags (a column or its number) and --sentences (a " in said
    assert "tags=" not in said
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path}/annotations.db")
    assert main(["annotations", "new", "doc", str(path), "--tags", "B-PER,B-X,O"]) == 2
    said = capsys.readouterr().err
    assert "--words, --column (a column or its number)" in said
    row = "1\tIda\t_\tPROPN\t_\t_\t_\t_\t_\tNER=B-PER\n"
    path.write_text(row, "utf-8")
    assert main(["convert", str(path), str(out)]) == 0
    assert "entities in MISC (NER) were left out; --tags NER reads them" in capsys.readouterr().err


def test_evaluate_writes_a_self_contained_report(model, file, tmp_path):
    report, figures = tmp_path / "report.html", tmp_path / "figures.json"
    options = ["--report", str(report), "--json", str(figures)]
    assert main(["evaluate", str(file), "--model", str(model), *options]) == 0
    text, record = report.read_text(encoding="utf-8"), json.loads(figures.read_text())
    assert "<h2>Label errors</h2>" in text
    assert not re.search(r"<(script|link|img|iframe)[^>]*\s(src|href)=.http", text)
    assert sum(record["errors"]["by_kind"].values()) == record["errors"]["total"] > 0
    assert len(record["tables"]["errors"]) == record["errors"]["total"]
    worst = record["tables"]["suspects"][0]
    assert worst["p_gold"] == min(row["p_gold"] for row in record["tables"]["errors"])


def test_unwritable_report_is_reported(model, file, tmp_path, capsys):
    folder = tmp_path / "folder"
    folder.mkdir()
    assert main(["evaluate", str(file), "--model", str(model), "--report", str(folder)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_evaluate_adds_a_rule_as_a_decoder(model, file, tmp_path, capsys):
    out, report = tmp_path / "figures.json", tmp_path / "report.html"
    options = ["--rule", "NOUN .*", "--json", str(out), "--report", str(report)]
    assert main(["evaluate", str(file), "--model", str(model), *options]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["rule"]["pattern"] == "NOUN .*"
    assert "seconds" not in record["rule"]
    said = f"The rule NOUN .* changes {record['rule']['changed']} of 2 sentences"
    assert said in capsys.readouterr().out
    assert said in report.read_text(encoding="utf-8")


def test_evaluate_writes_figures_into_the_model_card(model, file, capsys):
    arguments = ["evaluate", str(file), "--model", str(model), "--card", "--label"]
    assert main([*arguments, "one"]) == 0
    assert main([*arguments, "two"]) == 0
    capsys.readouterr()
    records = json.loads((model / "evaluation.json").read_text(encoding="utf-8"))
    assert list(records) == ["one", "two"]
    card = (model / "README.md").read_text(encoding="utf-8")
    assert "On one: 2 sentences, 5 words" in card
    assert "On two: 2 sentences, 5 words" in card


def test_evaluate_maps_types_and_folds_handles(tmp_path, capsys):
    model = save_tiny(tmp_path / "ner", tags=("O", "B-PER", "I-PER"), scheme="BIO")
    tweets = tmp_path / "tweets.conll"
    tweets.write_text("@\tB-person\nbob\tB-person\nAnn\tB-person\nTV\tB-product\n", "utf-8")
    out = tmp_path / "figures.json"
    arguments = ["evaluate", str(tweets), "--model", str(model), "--json", str(out)]
    assert main([*arguments, "--fold-handles", "--map", "person=PER"]) == 0
    assert "sentences that break BIO" in capsys.readouterr().out
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["tokens"] == 3
    assert record["file"].endswith("/tweets.conll, handles folded, types mapped")
    assert record["viterbi"]["entity_f1"] is not None
    assert record["viterbi"]["invalid_bio"] == 0
    assert main(arguments) == 2
    assert "got B-person, B-product; --map renames" in capsys.readouterr().err


TYPES = "Ann\tB-person\nLee\tI-person\n\nTV\tB-product\nOslo\tB-place\n"


@pytest.mark.parametrize("command", ["evaluate", "train", "lexicon"])
@pytest.mark.parametrize(
    ("content", "pairs", "message"),
    [
        (TYPES, ["Persons=PER"], "has one of its types ('Persons': near are 'person')"),
        (TYPES, ["x=PER,y=PER"], "('x': there are 'person', 'place', 'product'; 'y': there are"),
        (TYPES, ["person=PER", "plaze=PER"], "has the type 'plaze'; near are 'place', which would"),
        ("a\tNOUN\n", ["person=PER"], "has one of its types ('person': there are none)"),
    ],
)
def test_type_map_without_a_matching_word_is_rejected(
    command, content, pairs, message, tmp_path, capsys
):
    file, folder = tmp_path / "some.conll", tmp_path / "ner"
    file.write_text(content, encoding="utf-8")
    save_tiny(folder, tags=("O", "B-PER", "I-PER"), scheme="BIO")
    there = sorted(tmp_path.rglob("*"))
    options = {
        "evaluate": [str(file), "--model", str(folder)],
        "train": ["--train", str(file), "--dev", str(file), "--out", str(tmp_path / "new")],
        "lexicon": [str(folder), "--train", str(file)],
    }
    assert main([command, *options[command], "--map", *pairs]) == 2
    said = capsys.readouterr().err
    assert f"--map: no word in {file} " in said
    assert message in said
    assert sorted(tmp_path.rglob("*")) == there


def test_type_map_with_some_unused_types_is_noted(tmp_path, capsys):
    file, folder = tmp_path / "some.conll", tmp_path / "ner"
    file.write_text(TYPES, encoding="utf-8")
    save_tiny(folder, tags=("O", "B-PER", "I-PER"), scheme="BIO")
    pairs = ["person=PER", "group=PER", "PER=PER"]
    assert main(["lexicon", str(folder), "--train", str(file), "--map", *pairs]) == 0
    said = capsys.readouterr().err
    assert f"no word in {file} has the type 'group', 'PER'; 'place', 'product' become O" in said


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a\tNOUN\nb\n", [], "line 2: expected word TAB tag"),
        ("", [], "expected at least one tagged sentence, got none"),
        ("a\t_\n", [], "line 1: expected tags to compare with, got none"),
        ("a\tNOUN\n", ["--format", "conllu"], "expected 10 columns"),
        ("a\tNOUN\n", ["--map", "x"], "expected entity types as OLD=NEW"),
        ("a\tNOUN\n", ["--rule", "NOUN +*"], "column 7: '*' follows another repeat"),
        ("a\tNOUN\n", ["--json", "/no/such/folder/x"], "/no/such/folder/x: cannot be written"),
    ],
)
def test_evaluate_reports_invalid_input(content, options, message, model, tmp_path, capsys):
    path = tmp_path / "bad.conll"
    path.write_text(content, encoding="utf-8")
    assert main(["evaluate", str(path), "--model", str(model), *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_evaluate_of_a_missing_file_is_reported(model, tmp_path, capsys):
    assert main(["evaluate", str(tmp_path / "none"), "--model", str(model)]) == 2
    assert "expected a file to read" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert f"usage: crfviz {command}" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["fly"]])
def test_unknown_command_shows_the_usage(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "usage: crfviz" in capsys.readouterr().err


def test_textbook_chain_splits_at_blanks(capsys):
    assert main(["tag", "2 3 3", "--model", "textbook/ice-cream"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split() == ["2", "3", "3"]
    assert "not probabilities" not in printed


def test_unknown_observation_is_reported_without_a_traceback(capsys):
    assert main(["tag", "2 4", "--model", "textbook/ice-cream"]) == 2
    assert "type some of 1, 2, 3" in capsys.readouterr().err


def test_perceptron_values_are_called_scores(capsys):
    assert main(["tag", "He runs", "--model", "upos-en-perceptron"]) == 0
    assert "scores, not probabilities" in capsys.readouterr().out


def test_evaluating_a_textbook_chain_rejects_card(tmp_path, capsys):
    path = tmp_path / "days.conll"
    path.write_text("2\tH\n1\tC\n", encoding="utf-8")
    assert main(["evaluate", str(path), "--model", "textbook/ice-cream", "--card"]) == 2
    assert "--card is for model folders" in capsys.readouterr().err
    assert main(["evaluate", str(path), "--model", "textbook/ice-cream"]) == 0
    assert "1 sentences, 2 words" in capsys.readouterr().out
