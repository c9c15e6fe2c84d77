"""Taggers in JavaScript against Python's: the same scores, the same tags, the same words."""

import gzip
import json
import random
import shutil
from base64 import b64decode, b64encode
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import crfviz
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.corpus.training.feature_crf import fit_sentences
from crfviz.exceptions import CrfvizError
from crfviz.taggers.features import form, key, shape, spelling
from crfviz.taggers.neural.tagger import NeuralTagger, load_model, save_model
from crfviz.taggers.perceptron import save_perceptron
from crfviz.taggers.storage import WEIGHTS_FILE, write_tokenizer
from crfviz.text.formats import read_sentences
from crfviz.text.splitting import LANGUAGES, PATTERNS, affix_rules_of, splitter
from crfviz.text.tokenizer import given_words, tokenize
from crfviz.views.site import packing
from crfviz.views.site.packing import javascript, tagger_payload, tokenizer_rules
from tests.support import node
from tests.support.fake_tagger import FakeTagger
from tests.support.paths import EXCERPT

WEB = Path(packing.__file__).with_name("web")
RECURSIONS = WEB.parents[1] / "stage" / "web" / "recursions.js"
SENTENCES = read_sentences(EXCERPT)
LARGEST = 6_000_000  # bytes of a payload that were wanted
ODD = (
    "I İstanbul ΣΑΣ @bob a@b.org http://t.co/1 www.x.org don’t 😀 “ “” 3.5 ٣ x² ½ 漢字 Ǆ "
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaing"
)

SCORES = """
  const text = (value) => value === -Infinity ? "forbidden" : value;
  const results = [];
  for (const { payload, sentences } of told) {
    const tagger = await readTagger(payload);
    results.push(sentences.map((words) => {
      const { T, K, ...tables } = tagger.score(words);
      const path = viterbi({ T, K, ...tables }).path;
      for (const name in tables) tables[name] = Array.from(tables[name], text);
      return { path, ...tables };
    }));
  }
  return results;
"""


def scored(folder, *asked):
    """What the browser's taggers say: of each tagger its sentences, as chains and paths."""
    told = [
        {"payload": tagger_payload(tagger), "sentences": list(map(list, sentences))}
        for tagger, sentences in asked
    ]
    modules = {WEB / "tagger.js": "readTagger", RECURSIONS: "viterbi"}
    return node.run(folder, modules, SCORES, told)


def read(table):
    return np.array([-np.inf if value == "forbidden" else value for value in table])


def agree(chain, found, emissions, rest=1e-12):
    """The scores of Python and those of the browser."""
    for name in ("emissions", "transitions", "start", "end"):
        close = emissions if name == "emissions" else rest
        expected = getattr(chain, name).numpy().ravel()
        np.testing.assert_allclose(read(found[name]), expected, atol=close, rtol=0, err_msg=name)


def test_browser_scores_and_tags_equal_python(tmp_path):
    names = ("upos-en", "upos-en-contextfree", "upos-en-hmm", "upos-en-perceptron", "ner-en")
    sentences = [sentence.tokens for sentence in SENTENCES[:12]] + [ODD.split(), ["."]]
    tags = sorted({tag for sentence in SENTENCES[:12] for tag in sentence.tags})
    save_perceptron(tmp_path / "features", fit_sentences(SENTENCES[:12], tags))
    taggers = [crfviz.load_tagger(name) for name in (*names, tmp_path / "features")]
    asked = [(tagger, sentences) for tagger in taggers]
    for (tagger, _), answers in zip(asked, scored(tmp_path, *asked), strict=True):
        for chain, found in zip(tagger.potentials_batch(sentences), answers, strict=True):
            agree(chain, found, emissions=1e-4)
            assert found["path"] == list(viterbi(chain).path)


def test_textbook_chains_are_bitwise_equal_in_the_browser(tmp_path):
    names = [name for name in crfviz.list_taggers() if name.startswith("textbook/")]
    taggers = [crfviz.load_tagger(name) for name in names]
    asked = [
        (tagger, [tagger.observations * 2, tagger.observations[::-1], tagger.observations[:1]])
        for tagger in taggers
    ]
    for (tagger, sentences), answers in zip(asked, scored(tmp_path, *asked), strict=True):
        for words, found in zip(sentences, answers, strict=True):
            agree(tagger.potentials(words), found, emissions=0, rest=0)


def test_browser_splits_and_classifies_words_as_python(tmp_path):
    texts = [sentence.text for sentence in SENTENCES] + odd_texts(600)
    words = sorted({token.text for text in texts for token in tokenize(text)})
    body = """
      const tokens = told.texts.map(readTokenizer(told.rules));
      const see = (word) => [form(word), key(word), shape(word), spelling(word).join("")];
      const seen = told.words.map(see);
      return { tokens, seen, given: told.texts.map(givenWords) };
    """
    modules = {
        WEB / "tokenizer.js": "readTokenizer, givenWords",
        WEB / "features.js": "form, key, shape, spelling",
    }
    told = {"rules": tokenizer_rules(), "texts": texts, "words": words}
    found = node.run(tmp_path, modules, body, told)
    for text, tokens, given in zip(texts, found["tokens"], found["given"], strict=True):
        assert tokens == [
            {"text": t.text, "start": units(text[: t.start]), "end": units(text[: t.end])}
            for t in tokenize(text)
        ]
        assert given == given_words(text)
    for word, seen in zip(words, found["seen"], strict=True):
        assert seen == [form(word), key(word), shape(word), spelling(word)]


@pytest.mark.parametrize("name", PATTERNS)
def test_browser_splits_characters_and_blanks_as_python(tmp_path, name):
    texts = [
        "安娜住在Oslo 12。",
        "👩‍👩‍👧🇳🇴👍🏽!",
        "हिन्दी e\u0301a Nguyễn",
        "น้ำ 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        *odd_texts(300),
    ]
    rules = {"pattern": javascript(PATTERNS[name])}
    body = "return told.texts.map(readTokenizer(told.rules));"
    found = node.run(
        tmp_path, {WEB / "tokenizer.js": "readTokenizer"}, body, {"rules": rules, "texts": texts}
    )
    assert found == [placed(name, text) for text in texts]


def test_browser_splits_other_languages_as_spacy(tmp_path):
    told, expected = [], []
    for code in LANGUAGES:
        name = f"spacy:{code}"
        sentences = import_module(f"spacy.lang.{code}.examples").sentences if code != "en" else []
        words = [word for sentence in sentences for word in sentence.split()]
        texts = [*sentences, *odd_texts(60, name, words)]
        told.append({"rules": tokenizer_rules(name), "texts": texts})
        expected.append([placed(name, text) for text in texts])
    body = "return told.map(({ rules, texts }) => texts.map(readTokenizer(rules)));"
    found = node.run(tmp_path, {WEB / "tokenizer.js": "readTokenizer"}, body, told)
    for code, each, own in zip(LANGUAGES, found, expected, strict=True):
        assert each == own, code


def placed(name, text):
    """The words of a text with their places in UTF-16 units."""
    return [
        {"text": t.text, "start": units(text[: t.start]), "end": units(text[: t.end])}
        for t in splitter(name)(text)
    ]


def test_language_needing_more_than_patterns_is_rejected(tmp_path):
    folder = tmp_path / "other"
    shutil.copytree(crfviz.load_tagger("upos-en-hmm").folder, folder)
    write_tokenizer(folder, "spacy:zh")
    with pytest.raises(CrfvizError, match=r"other splits typed texts as in spacy:zh, which only"):
        tagger_payload(crfviz.load_tagger(folder))
    for name in ("characters", "spacy:fr"):
        write_tokenizer(folder, name)
        assert tagger_payload(crfviz.load_tagger(folder))


def odd_texts(count, name="spacy:en", words=()):
    """Texts of what tokenizers stumble over, put together at random."""
    chosen = random.Random(0)
    exceptions = ["".join(words) for words in affix_rules_of(name).exceptions]
    pieces = [*exceptions, *5 * words] + 20 * [
        *"aZ9.,;:!?-—'\"()[]{}<>/*+=_~@#$%éß中ж°²£€😀\u200d\ufe0f\ufeff\x1c\u2028\ud83d",
        *(
            "http://x.org/a?b",
            "a@b.com",
            "10km",
            "e-mail",
            "and/or",
            "aujourd'hui",
            "z.B.",
            "l’été",
            "👩🏽",
            "🇩🇪",
            " ",
            " ",
            "  ",
            "\n",
        ),
    ]
    texts = ["".join(chosen.choices(pieces, k=chosen.randint(1, 9))) for _ in range(count)]
    return [*texts, f"{'x' * 250} ok {'(!' * 150} http://{'a' * 300}", "😀" * 150, "😀" * 201]


def units(text):
    """Its length where JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize("name", ["upos-en", "ner-en"])  # the largest
def test_tagger_payload_is_small_base64(name):
    payload = tagger_payload(crfviz.load_tagger(name))
    assert len(payload) <= LARGEST
    assert payload.isascii()
    assert payload.strip("=").replace("+", "0").replace("/", "0").isalnum()


def test_tagger_without_javascript_support_is_rejected():
    with pytest.raises(CrfvizError, match="'fake' cannot go into a file"):
        tagger_payload(FakeTagger(("A", "B"), {}))


def test_weight_outside_half_precision_is_rejected(tmp_path):
    model = load_model(crfviz.load_tagger("upos-en-contextfree").folder)
    word, folder = model.vocabulary.words[0], tmp_path / "odd"
    with torch.no_grad():
        model.network.crf.transitions[0, 1] = -60000.0
        model.network.words.weight[2, :3] = torch.tensor([6e-8, -3e-5, 20000.0])  # two subnormals
    save_model(folder, model)
    tagger = NeuralTagger(folder)
    (found,) = scored(tmp_path, (tagger, [[word, "a"]]))[0]
    agree(tagger.potentials([word, "a"]), found, emissions=0.02)
    weights = load_file(folder / WEIGHTS_FILE)
    weights["words.weight"] = weights["words.weight"].float() * 4
    save_file(weights, folder / WEIGHTS_FILE)
    with pytest.raises(CrfvizError, match=r"at most 65504 in size, got 80000 in words\.weight"):
        tagger_payload(NeuralTagger(folder))


def repacked(payload, change=dict, arrays=slice(None)):
    """The payload with another header, and some bytes of its arrays."""
    plain = gzip.decompress(b64decode(payload))
    end = 4 + int.from_bytes(plain[:4], "little")
    header = json.loads(plain[4:end])
    change(header)
    told = json.dumps(header).encode()
    whole = len(told).to_bytes(4, "little") + told + plain[end:][arrays]
    return b64encode(gzip.compress(whole)).decode()


def test_damaged_tagger_payload_is_rejected_with_a_message(tmp_path):
    payload = tagger_payload(crfviz.load_tagger("upos-en-contextfree"))
    middle = len(payload) // 2
    letter = "B" if payload[middle] == "A" else "A"

    def gzipped(content):
        return b64encode(gzip.compress(content)).decode()

    damaged = {
        "cut off": payload[:middle],
        "one letter changed": payload[:middle] + letter + payload[middle + 1 :],
        "nothing": "",
        "three bytes": gzipped(b"abc"),
        "no header": gzipped(b"\xff\xff\x00\x00{"),
        "no JSON": gzipped(b"\x01\x00\x00\x00{"),
        "no arrays": repacked(payload, arrays=slice(0)),
        "arrays cut off": repacked(payload, arrays=slice(-1)),
        "an array is missing": repacked(payload, lambda header: header["arrays"].pop(3)),
        "no list of arrays": repacked(payload, lambda header: header.pop("arrays")),
        "no words": repacked(payload, lambda header: header.pop("words")),
    }
    others = {
        "newer": repacked(payload, lambda header: header.update(format=2)),
        "unknown kind": repacked(payload, lambda header: header.update(kind="toString")),
    }
    body = """
      const ask = (text) => readTagger(text).then(() => "fine", wordsOf);
      globalThis.reportError = () => null;
      return Promise.all(told.map(ask));
    """
    modules = {WEB / "tagger.js": "readTagger, wordsOf"}
    asked = [*damaged.values(), *others.values()]
    said = dict(zip([*damaged, *others], node.run(tmp_path, modules, body, asked), strict=True))
    assert {said[name] for name in damaged} == {
        "The tagger cannot be unpacked: the file is not whole."
    }, said
    assert {said[name] for name in others} == {
        "The tagger is of another version of crfviz than this page."
    }, said


def test_truncated_or_unusable_tagger_is_rejected_with_a_message(tmp_path):
    payload = tagger_payload(crfviz.load_tagger("textbook/fever"))
    body = """
      const answers = [];
      const ask = async (what) => {
        answers.push(await what().then(() => "fine", (error) => error.message));
      };
      await ask(() => readTagger(told.slice(0, told.length / 2)));
      await ask(() => readTagger("ä"));
      await ask(() => readTagger(btoa("no gzip")));
      const tagger = await readTagger(told);
      await ask(async () => tagger.score([]));
      await ask(async () => tagger.score(["dizzy", "unheard-of"]));
      globalThis.DecompressionStream = undefined;
      await ask(() => readTagger(told));
      return answers;
    """
    cut, no_text, no_gzip, empty, unknown, old = node.run(
        tmp_path, {WEB / "tagger.js": "readTagger"}, body, payload
    )
    assert cut == no_text == no_gzip == "The tagger cannot be unpacked: the file is not whole."
    assert empty == "A sentence needs at least one word."
    assert unknown.startswith("textbook/fever has no observation “unheard-of”: type some of ")
    assert old == "This browser is too old to unpack the tagger; one of 2023 or newer can."
