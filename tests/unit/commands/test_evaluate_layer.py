"""`evaluate --fit-transitions`: what a CRF layer would add, as text and as JSON."""

import json

import pytest

import crfviz
from crfviz.__main__ import main
from tests.support.paths import ROOT

EXCERPT = ROOT / "models" / "excerpts" / "ewt-dev.conllu"
MODEL = "upos-en-contextfree"


def written(path, sentences):
    rows = (
        "".join(f"{word}\t{tag}\n" for word, tag in zip(each.tokens, each.tags, strict=True))
        for each in sentences
    )
    path.write_text("\n".join(rows), "utf-8")
    return path


def test_fit_transitions_figures_equal_plain_counts(tmp_path, capsys):
    sentences = crfviz.read_sentences(EXCERPT)[:40]
    path, out = written(tmp_path / "some.conll", sentences), tmp_path / "figures.json"
    options = ["--model", MODEL, "--fit-transitions", "--json", str(out), "--shard-bytes", "2000"]
    assert main(["evaluate", str(path), *options]) == 0
    printed = capsys.readouterr().out
    figures = json.loads(out.read_text("utf-8"))["fit_transitions"]

    tagger = crfviz.load_tagger(MODEL)
    right = words = 0
    for each in sentences:
        rows = tagger.potentials(each.tokens).emissions.tolist()
        best = [tagger.tags[row.index(max(row))] for row in rows]
        right += sum(a == b for a, b in zip(best, each.tags, strict=True))
        words += len(each.tokens)
    share = figures["independent"]["token_accuracy"]
    assert share == pytest.approx(right / words, abs=1e-6)
    gained = figures["fitted"]["token_accuracy"] - share
    assert figures["difference"] == pytest.approx(gained, abs=2e-6)
    low, high = figures["difference_interval"]
    assert low <= figures["difference"] <= high
    assert figures["independent"]["entity_f1"] is None
    points = [100 * figures["difference"], 100 * low, 100 * high]
    answer = "adds {:.1f} points of token accuracy ({:.1f} to {:.1f}).".format(*points)
    assert f"On these 40 sentences a CRF layer {answer}" in printed
    repaired = f"It repairs words in {figures['repaired']} sentences"
    assert f"{repaired} and spoils some in {figures['spoiled']}." in printed
    assert (figures["measure"], figures["verdict"]) == ("token accuracy", "adds")
    assert figures["token_accuracy_difference"] == figures["difference"]
    ends = [100 * end for end in figures["fitted"]["token_accuracy_interval"]]
    fitted = 100 * figures["fitted"]["token_accuracy"]
    assert "{:.2f} ({:.1f} to {:.1f})".format(fitted, *ends) in printed


def test_fit_transitions_figures_are_optional(tmp_path, capsys):
    path = written(tmp_path / "some.conll", crfviz.read_sentences(EXCERPT)[:6])
    out = tmp_path / "figures.json"
    assert main(["evaluate", str(path), "--model", MODEL, "--json", str(out)]) == 0
    assert "fit_transitions" not in json.loads(out.read_text("utf-8"))
    assert "CRF layer" not in capsys.readouterr().out


def test_fit_transitions_of_entities_includes_bio_rules(capsys):
    path = ROOT / "models" / "excerpts" / "btc-dev.conll"
    assert main(["evaluate", str(path), "--model", "ner-en", "--fit-transitions"]) == 0
    printed = capsys.readouterr().out
    assert "rules of BIO alone" in printed
    before, _, after = printed.partition("Transitions fitted on the emissions, 5 folds")
    f1 = [part.split("independent")[1].split() for part in (before, after)]
    assert f1[0][8] == f1[1][4]  # independent F1, by `evaluate` and here


def test_too_few_sentences_to_fit_are_rejected(tmp_path, capsys):
    path = written(tmp_path / "few.conll", crfviz.read_sentences(EXCERPT)[:3])
    assert main(["evaluate", str(path), "--model", MODEL, "--fit-transitions"]) == 2
    assert "takes at least 5 tagged sentences, got 3" in capsys.readouterr().err
    assert main(["evaluate", "-", "--model", MODEL, "--fit-transitions"]) == 2
    assert "expected a file, got standard input" in capsys.readouterr().err
