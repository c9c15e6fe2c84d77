"""Every page shows the numbers of the public functions of its recipe, on random chains."""

import base64
import re
import zlib

import numpy as np
import pytest

import crfviz
from crfviz.annotations.files.importing import read_items
from crfviz.taggers import plugins
from crfviz.taggers.registry import SHIPPED
from crfviz.views.contents import ENTRIES
from tests.app.test_annotate_page import finish, open_part, page, store  # noqa: F401 - fixtures
from tests.support.app_pages import button, new_app, opened, payloads
from tests.support.paths import ROOT

BIO = ("O", "B-X", "I-X", "B-Y", "I-Y")
SENTENCES = [
    "one two three four",
    pytest.param("Some other words", marks=pytest.mark.rotating),
    pytest.param("a b a b a", marks=pytest.mark.rotating),
]


class Random:
    """Scores drawn by the sentence and a seed: no two chains are alike."""

    def __init__(self, tags=BIO, seed=0):
        self.tags, self.seed = tags, seed

    def potentials(self, tokens):
        K, words = len(self.tags), " ".join(tokens).encode()
        own = np.random.default_rng([self.seed, zlib.crc32(words)])
        shared = np.random.default_rng(self.seed)
        emissions = 2 * own.normal(size=(len(tokens), K))
        return crfviz.Potentials(emissions, shared.normal(size=(K, K)), *shared.normal(size=(2, K)))


@pytest.fixture(autouse=True)
def random_taggers(monkeypatch):
    """Two taggers of the same tags in the list of models."""
    monkeypatch.setattr(plugins, "_registered", {})
    crfviz.register(Random(), "random")
    crfviz.register(Random(seed=1), "another")


class Shown:
    """A page on a sentence, with its tables."""

    def __init__(self, script, sentence, **options):
        params = {"model": "random", "sentence": sentence, "v.twin": "1"}
        params |= {f"v.{name}": value for name, value in options.items()}
        self.app = opened(new_app(), f"pages/{script}.py", **params)
        self.tagger = crfviz.load_tagger("random")
        self.words = self.tagger.split(sentence)
        self.chain = self.tagger.potentials(self.words)
        self.frames = [frame.value for frame in self.app.dataframe]

    @property
    def payload(self):
        return payloads(self.app, "results")[0]

    def row(self, name):
        return next(row for row in self.payload["rows"] if row["id"] == name)["tags"]

    def metric(self, label):
        return next(each.value for each in self.app.metric if each.label.startswith(label))


def grid(frame, rows=BIO):
    """A table with a row per tag, as (T, K)."""
    return frame.loc[list(rows)].to_numpy(dtype=float).T


def close(shown, computed):
    np.testing.assert_allclose(np.asarray(shown, dtype=float), np.asarray(computed), atol=1e-9)


def explore(sentence):
    shown = Shown("explore", sentence)
    for name, path in crfviz.analyse(shown.chain).paths.items():
        assert shown.row(name) == path
    close(grid(shown.frames[1]), crfviz.forward_backward(shown.chain).marginals)


def emissions(sentence):
    shown = Shown("emissions", sentence)
    close(grid(shown.frames[1]), shown.chain.emissions)
    position, tag = shown.payload["asked"]
    change = crfviz.occlude(shown.tagger, shown.words).change(position, tag)
    close(shown.frames[2]["emission moves by"], change)


def transitions(sentence):
    shown = Shown("transitions", sentence)
    intervals = crfviz.strength_intervals(shown.chain)
    low = [each.low for each in intervals[1:]]
    marks = [value for value, _ in shown.payload["marks"]]
    close(marks, [value for value in low if value <= max(marks, default=0)])
    close(shown.frames[2].loc[list(BIO), list(BIO)], shown.chain.transitions)


def forward_backward(sentence):
    shown, tables = Shown("forward-backward", sentence), None
    tables = crfviz.forward_backward(shown.chain)
    close(grid(shown.frames[1]), tables.log_alpha)
    close(grid(shown.frames[2]), tables.log_beta)
    close(shown.payload["results"]["log_partition"], tables.log_partition)


def viterbi(sentence):
    shown = Shown("viterbi", sentence)
    best = crfviz.viterbi(shown.chain)
    assert shown.row("viterbi") == best.path
    assert [shown.payload["tags"][tag] for tag in best.path] == best.names
    close(shown.payload["results"]["score"], best.score)


def marginals(sentence):
    shown = Shown("marginals", sentence)
    tables = crfviz.forward_backward(shown.chain)
    close(grid(shown.frames[1]), tables.marginals)
    close(
        shown.frames[2]["probability"],
        tables.edge_marginals[0].flatten().sort(descending=True)[0][:10],
    )


def why(sentence):
    shown = Shown("why", sentence)
    flips = crfviz.smallest_flips(shown.chain, 10)
    close(shown.frames[0]["change"], [flip.change for flip in flips])
    position, tag = shown.payload["asked"]
    answer = crfviz.why_not(shown.chain, position, tag)
    close(shown.payload["terms"]["emissions"], answer.emission_terms)


def what_if(sentence):
    shown = Shown("what-if", sentence, change="upper case")
    changed = crfviz.what_if(shown.tagger, shown.words, "upper case")
    flips, moved = shown.frames
    assert list(flips["tag now"]) == [BIO[now] for _, now in changed.flips.values()]
    close(moved["change"], [each.change for each in changed.moved()])
    same = crfviz.what_if(shown.tagger, shown.words, [word.upper() for word in shown.words])
    assert same.flips == changed.flips


def entities(sentence):
    shown = Shown("entities", sentence)
    entity = shown.payload["entity"]
    span = entity["first"], entity["last"], entity["label"]
    close(entity["probability"], crfviz.entity_probability(shown.chain, *span))
    shortcuts = crfviz.entity_shortcuts(shown.chain, *span)
    close(
        [each["value"] for each in entity["shortcuts"]],
        [shortcuts.mean, shortcuts.product, shortcuts.minimum],
    )
    close(shown.metric("Illegal mass"), round(crfviz.illegal_mass(shown.chain), 5))
    assert shown.metric("Words changed") == str(len(crfviz.constraint_effect(shown.chain).changed))


def rules(sentence):
    shown = Shown("rules", sentence, rule="[^ B-X]* B-X .*")
    found = crfviz.match(shown.chain, "[^ B-X]* B-X .*")
    close(grid(shown.frames[1]), found.marginals)
    close(shown.metric("P(rule)"), float(f"{found.probability:.4g}"))


def paths(sentence):
    shown = Shown("paths", sentence)
    best = [row["tags"] for row in shown.payload["rows"] if row["tags"]]
    assert len(best) == 10
    assert best == [path.tags for path in crfviz.k_best(shown.chain, 10)]


def compare(sentence):
    shown = Shown("compare", sentence, b="model another")
    other = crfviz.load_tagger("another").potentials(shown.words)
    both = crfviz.compare(crfviz.analyse(shown.chain), crfviz.analyse(other))
    frame = shown.frames[-1]
    ids = [BIO.index(tag) for tag in frame.index]
    close(frame.to_numpy().T, both.change()[:, ids])
    assert ids
    (texts,) = [row["texts"] for row in shown.payload["rows"] if row["id"] == "distances"]
    assert texts == [f"{distance:.2f}" for distance in both.distances()]


def naive(sentence):
    shown = Shown("naive", sentence)
    every = crfviz.enumerate_paths(shown.chain)
    close(shown.frames[0]["score"], every.listed.scores)
    close(shown.frames[0]["running sum / Z"], every.listed.running)


def log_space(sentence):
    shown = Shown("log-space", sentence)
    frame = shown.frames[0].set_index("from j").loc[list(BIO)]
    found = crfviz.log_sum_exp(frame["score a"].to_numpy())
    close(frame["exp(a − max)"], found.rest)
    assert f"= {found.result:.4f}" in " ".join(text.value for text in shown.app.text)


def hmm(sentence):
    shown = Shown("hmm", sentence)
    button(shown.app, "Shift the word").click().run()
    shifted = crfviz.shift_word(shown.chain, crfviz.Edits(), 0, 1.0).apply(shown.chain)
    total = crfviz.forward_backward(shifted).log_partition
    close(shown.payload["results"]["log_partition"], total)
    close(total, crfviz.forward_backward(shown.chain).log_partition + 1.0)


def em(sentence):
    symbols = sorted(set(sentence.split()))
    draw = np.random.default_rng(len(sentence))
    start, moves = draw.dirichlet([1, 1]), draw.dirichlet([1, 1], 2)
    says = draw.dirichlet([1] * len(symbols), 2)
    crfviz.register(crfviz.from_hmm(start, moves, says, symbols), "random")
    shown = Shown("em", sentence, start="model")
    seen = [symbols.index(word) for word in sentence.split()]
    steps = crfviz.baum_welch(start, moves, says, [seen], 1)
    close(shown.frames[-1]["log-likelihood"].iloc[0], steps[0].log_likelihood)


def learn(sentence):
    shown = Shown("learn", sentence)
    found = shown.payload["gradient"]["difference"]
    path = crfviz.viterbi(shown.chain).path
    observed = crfviz.observed_counts(shown.chain, path)
    expected = crfviz.expected_counts(shown.chain)
    for name in ("transitions", "start", "end"):
        difference = getattr(observed, name) - getattr(expected, name)
        close(np.frombuffer(base64.b64decode(found[name])), difference.flatten())


def risk(sentence):
    shown = Shown("risk", sentence, costs="miss=3", dial="cut")
    assert shown.row("least_cost") == crfviz.least_cost(shown.chain, {"miss": 3}).path
    found = crfviz.cost_intervals(shown.chain, {"miss": 3}, "cut")
    for number, each in enumerate(found, start=1):
        assert shown.row(f"interval_{number}") == each.path
    used = Shown("risk", sentence, risk="set", within="1.5").payload["used"]
    near = crfviz.path_set(shown.chain, 1.5)
    assert (used["tags"], used["steps"]) == (near.tags, [list(map(list, s)) for s in near.steps])


def pieces(sentence):
    shown = Shown("pieces", sentence, vocabulary="250")
    read = crfviz.pieces(shown.chain, entries=250)
    readings = read.first, read.all, read.holes
    figures, tags = shown.frames
    close(figures["log Z"][:3], [reading.log_partition for reading in readings])
    close(
        figures["p"], [each.probability for each in (*(r.best for r in readings), read.pytorch_crf)]
    )
    assert (shown.row("all"), shown.row("holes")) == (read.all.path, read.holes.path)
    begun = {
        name: tags.loc[name].iloc[read.starts].tolist() for name in ("first pieces", "pytorch-crf")
    }
    assert begun == {"first pieces": read.first.path.names, "pytorch-crf": read.pytorch_crf.names}
    steps = read.all.inner_steps
    close(figures["inner steps"].iloc[1], sum(step.score for step in steps))


CHECKS = {
    "Explore": explore, "Emissions": emissions, "Transitions": transitions,
    "Forward–backward": forward_backward, "Viterbi": viterbi, "Marginals": marginals,
    "Why this tag": why, "What if": what_if, "Entities": entities, "Rules": rules,
    "Paths": paths, "Compare": compare, "Naive way": naive, "Log space": log_space,
    "Risk": risk, "HMM": hmm, "Words and pieces": pieces, "EM": em, "Learn": learn,
}  # fmt: skip


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("title", CHECKS)
def test_figures_on_a_page_equal_its_recipe(title, sentence):
    CHECKS[title](sentence)


def test_every_page_is_compared_with_its_recipe():
    # files, cards, no numbers
    elsewhere = {"Practise", "Homework", "Models", "Bring your own", "Lectures", "Guides"}
    here = {*CHECKS, "Annotate", "Model errors"}
    assert here | elsewhere == {entry.title for entry in ENTRIES}
    recipes = set(re.findall(r"^# (.+)$", (ROOT / "docs" / "library.md").read_text("utf-8"), re.M))
    assert here <= recipes


def test_model_errors_page_equals_evaluate():
    crfviz.register(Random(crfviz.load_tagger("upos-en").tags), "random")
    excerpt = SHIPPED / "excerpts" / "ewt-dev.conllu"
    found = crfviz.evaluate(crfviz.load_tagger("random"), excerpt)
    shown = Shown("model-errors", "x", tab="How sure")
    _, calibration, coverage = shown.frames
    rows = found.tables["calibration"]
    close(calibration["count"], [row["count"] for row in rows])
    close(calibration["mean probability, %"] / 100, [row["confidence"] for row in rows])
    close(calibration["right, %"] / 100, [row["right"] for row in rows])
    close(coverage["words"], [row["words"] for row in found.tables["coverage"]])
    viterbi = found.figures["viterbi"]["token_accuracy"]
    (facts,) = [text.value for text in shown.app.markdown if "token accuracy" in text.value]
    assert f"{100 * viterbi:.1f}" in facts


def test_annotate_page_equals_agreement(page, store):  # noqa: F811 - fixtures
    items = read_items(b"Dogs run home .\n\nStop them !\n\nWell , go !", "dogs").items
    name = store.add("dogs", items)
    finish(store, name, "anna", [(0, "NOUN"), (1, "VERB")])
    finish(store, name, "ben", [(0, "VERB"), (1, "X")])
    open_part(page, "agreement", name)
    by = {who: [] for who in ("anna", "ben")}
    for item, said in store.annotations(name, state="done"):
        by[said.annotator].append((item.tokens, said.final))
    found = crfviz.agreement(by["anna"], by["ben"])
    assert found.words > 0
    assert page.metric[0].value == f"{found.kappa.value:.3f}"
    frame = page.dataframe[0].value.set_index("tag")
    close(frame["κ"], [found.kappa_by_tag[tag].value for tag in frame.index])
