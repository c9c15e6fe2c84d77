"""Each page with rare tags and words shows the numbers of recursions and enumeration in NumPy.

The chain has edits of every weight, an edited emission and a pin, all of which come from the link.
"""

import json
from functools import cached_property
from itertools import product

import numpy as np
import pytest

import crfviz
from crfviz.annotations import labelling
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.labelling import Desk
from crfviz.annotations.store.store import open_store
from crfviz.chain.edits import END, START, Edits
from crfviz.chain.pattern_syntax import quoted
from crfviz.taggers import plugins
from crfviz.ui.state.link import encode
from crfviz.ui.state.link_text import cell_text, names_text, tag_text
from crfviz.ui.state.scenario import Scenario
from tests.app.test_annotate_page import open_part, store  # noqa: F401 - a fixture
from tests.support.app_pages import button, new_app, open_at, opened, payloads
from tests.support.rare_names import NAMES, drawn, seed_of_commit

SEEDS = [
    seed_of_commit(),
    *(pytest.param(seed_of_commit() + n, marks=pytest.mark.rotating) for n in (1, 2)),
]
LENGTH, K = 4, 4
#: Words of a typed sentence have no blanks, and no characters that a text box drops.
SPLIT = crfviz.load_tagger("upos-en").split
TYPED = [name for name in NAMES if SPLIT(f"{name}  x  y")[0] == name]


class Enumerated:
    """All paths of a chain in NumPy, with their scores."""

    def __init__(self, emissions, transitions, start, end):
        T, K = emissions.shape
        self.emissions, self.transitions = emissions, transitions
        self.start, self.end = start, end
        self.paths = np.array([*product(range(K), repeat=T)])  # (K^T, T)
        self.scores = start[self.paths[:, 0]] + end[self.paths[:, -1]]
        for t in range(T):
            self.scores = self.scores + emissions[t, self.paths[:, t]]
        for t in range(1, T):
            self.scores = self.scores + transitions[self.paths[:, t - 1], self.paths[:, t]]

    @cached_property
    def log_z(self):
        return np.logaddexp.reduce(self.scores)

    @cached_property
    def probabilities(self):
        return np.exp(self.scores - self.log_z)

    @cached_property
    def best(self):
        """All paths, best first."""
        return self.paths[np.argsort(-self.scores, kind="stable")].tolist()

    @cached_property
    def marginals(self):
        """(T, K)"""
        T, K = self.emissions.shape
        return np.array([[self.of(self.paths[:, t] == k) for k in range(K)] for t in range(T)])

    def of(self, chosen):
        """The probability of some of the paths."""
        return self.probabilities[chosen].sum()

    def alpha(self):
        rows = [self.start + self.emissions[0]]
        for row in self.emissions[1:]:
            rows.append(np.logaddexp.reduce(rows[-1][:, None] + self.transitions) + row)
        return np.array(rows)


class Rare:
    """A tagger, its words, and the state of a link that edits everything."""

    def __init__(self, seed, *, bio=False):
        self.seed = seed
        dice = self.dice = np.random.default_rng(seed)
        kinds = drawn(2, seed)
        self.tags = (
            ["O", *(f"{b}-{kind}" for kind in kinds for b in "BI")][:K] if bio else drawn(K, seed)
        )
        self.words = [TYPED[n] for n in dice.integers(0, len(TYPED), LENGTH)]
        self.tables = [dice.normal(0, 2, s).round(6) for s in ((LENGTH, K), (K, K), (K,), (K,))]
        self.matrix = dice.normal(0, 2, (K + 1, K + 1)).round(6)
        self.bio = bio

    def potentials(self, tokens):
        rows = self.tables[0][np.arange(len(tokens)) % LENGTH]
        return crfviz.Potentials(rows, *self.tables[1:])

    @property
    def sentence(self):
        return "  ".join(self.words)

    @cached_property
    def scenario(self):
        names = [START, *self.tags], [*self.tags, END]
        cells = [(i, j) for i in range(K + 1) for j in range(K + 1) if (i, j) != (0, K)]
        moves = {(names[0][i], names[1][j]): float(self.matrix[i, j]) for i, j in cells}
        place = (2, self.tags[1])
        return Scenario("rare", self.sentence, Edits(moves, {place: 1.25}))

    @cached_property
    def edited(self):
        emissions = self.tables[0].copy()
        emissions[2, 1] = 1.25
        matrix = self.matrix
        return Enumerated(emissions, matrix[1:, :K], matrix[0, :K], matrix[1:, K])

    @cached_property
    def plain(self):
        return Enumerated(*self.tables)

    def show(self, script, *, edits=True, **options):
        params = (
            dict(encode(self.scenario).params)
            if edits
            else {"model": "rare", "sentence": self.sentence}
        )
        params |= {f"v.{name}": value for name, value in options.items()} | {"v.twin": "1"}
        app = opened(new_app(), f"pages/{script}.py", **params)
        assert not app.warning, app.warning[0].value
        return Shown(app)


class Shown:
    def __init__(self, app):
        self.app = app
        self.frames = [frame.value for frame in app.dataframe]

    @property
    def payload(self):
        return payloads(self.app, "results")[0]

    def row(self, name):
        return next(row for row in self.payload["rows"] if row["id"] == name)["tags"]

    def grid(self, number, rare):
        """Return a table as (T, K); its rows and columns have the names as they are."""
        frame = self.frames[number]
        assert list(frame.index) == rare.tags
        assert list(frame.columns) == [f"{t} {word}" for t, word in enumerate(rare.words, 1)]
        return frame.to_numpy(dtype=float).T

    def metric(self, label):
        return next(each.value for each in self.app.metric if each.label.startswith(label))


@pytest.fixture(params=SEEDS, ids=["a", "b", "c"])
def seed(request):
    return request.param


@pytest.fixture
def rare(seed, monkeypatch, tmp_path, request):
    request.getfixturevalue("store")
    monkeypatch.setenv("CRFVIZ_LECTURES", str(tmp_path))
    made = registered(seed, monkeypatch)
    made.folder = tmp_path
    return made


@pytest.fixture
def rare_entities(seed, monkeypatch):
    return registered(seed, monkeypatch, bio=True)


def registered(seed, monkeypatch, **options):
    made = Rare(seed, **options)
    monkeypatch.setattr(plugins, "_registered", {})
    crfviz.register(made, "rare")
    return made


def close(shown, computed, tolerance=1e-9):
    np.testing.assert_allclose(np.asarray(shown, dtype=float), np.asarray(computed), atol=tolerance)


def explore(rare):
    shown = rare.show("explore", chosen=cell_text(1, rare.tags[2]))
    assert shown.payload["chosen"] == [1, 2]
    assert shown.row("viterbi") == rare.edited.best[0]
    assert shown.row("max_marginal") == rare.edited.marginals.argmax(1).tolist()
    close(shown.grid(1, rare), rare.edited.marginals)


def compare(rare):
    shown = rare.show("compare", a="trained", b="now")
    change = shown.frames[-1]
    ids = [rare.tags.index(tag) for tag in change.index]
    close(change.to_numpy().T, (rare.edited.marginals - rare.plain.marginals)[:, ids])


def emissions(rare):
    shown = rare.show("emissions")
    close(shown.grid(1, rare), rare.edited.emissions)


def transitions(rare):
    ends = (START, rare.tags[2])
    shown = rare.show("transitions", weight=names_text(*ends))
    frame = shown.frames[2]
    assert list(frame.index) == [START, *rare.tags]
    assert list(frame.columns) == [*rare.tags, END]
    shown_weights = frame.to_numpy(dtype=float)
    close(
        shown_weights.ravel()[np.arange((K + 1) ** 2) != K],
        rare.matrix.ravel()[np.arange((K + 1) ** 2) != K],
    )
    assert shown.payload["ruler"]


def forward_backward(rare):
    shown = rare.show("forward-backward")
    close(shown.grid(1, rare), rare.edited.alpha())
    close(shown.payload["results"]["log_partition"], rare.edited.log_z)


def viterbi(rare):
    shown = rare.show("viterbi")
    assert shown.row("viterbi") == rare.edited.best[0]
    close(shown.payload["results"]["score"], rare.edited.scores.max())


def marginals(rare):
    shown = rare.show("marginals")
    close(shown.grid(1, rare), rare.edited.marginals)


def paths(rare):
    shown = rare.show("paths")
    best = [row["tags"] for row in shown.payload["rows"] if row["tags"]]
    assert best == rare.edited.best[: len(best)]
    assert len(best) == 10


def why(rare):
    other = (rare.edited.best[0][1] + 1) % K
    shown = rare.show("why", at=cell_text(1, rare.tags[other]))
    assert shown.payload["asked"] == [1, other]
    through = rare.edited.paths[:, 1] == other
    gap = rare.edited.scores.max() - rare.edited.scores[through].max()
    close(
        gap,
        crfviz.why_not(
            crfviz.Potentials(
                rare.edited.emissions, rare.edited.transitions, rare.edited.start, rare.edited.end
            ),
            1,
            other,
        ).gap,
    )
    assert any(
        f"{gap:.2f}" in text.value
        for text in [*shown.app.markdown, *shown.app.text, *shown.app.caption]
    ) or f"{gap:.2f}" in json.dumps(shown.payload)


def naive(rare):
    shown = rare.show("naive")
    order = np.sort(rare.edited.scores)[::-1]
    close(np.sort(shown.frames[0]["score"])[::-1][:5], order[:5])


def log_space(rare):
    shown = rare.show("log-space", lse_tag=tag_text(rare.tags[3]), lse_word="1")
    frame = shown.frames[0].set_index("from j")
    alpha = rare.edited.alpha()[0] + rare.edited.transitions[:, 3]
    close(frame.loc[rare.tags, "score a"], alpha)


def rules(rare):
    tag = rare.tags[1]
    rule = f".* {quoted(tag)} .*"
    shown = rare.show("rules", rule=rule)
    matching = (rare.edited.paths == 1).any(1)
    probability = rare.edited.of(matching)
    if 0.99995 <= probability < 1.0 - 1e-9:
        assert shown.metric("P(rule)") == "> 0.9999"
    else:
        close(shown.metric("P(rule)"), float(f"{probability:.4g}"), 1e-12)


def what_if(rare):
    words = [*rare.words[:-1], rare.words[0]]
    shown = rare.show("what-if", change="own", own="  ".join(words))
    assert not shown.app.error


def risk(rare):
    true, chosen = rare.tags[1], rare.tags[2]
    shown = rare.show("risk", dial="cell", true=tag_text(true), taken=tag_text(chosen))
    box = shown.app.number_input(key="cost.cell")
    shown = Shown(box.set_value(5.0).run())
    shown.app.run()
    costs = 1.0 - np.eye(K)
    costs[1, 2] = 5.0
    risks = rare.edited.marginals @ costs  # (T, K)
    totals = risks[np.arange(LENGTH), rare.edited.paths].sum(1)
    assert shown.row("least_cost") == rare.edited.paths[totals.argmin()].tolist()
    frame = shown.frames[-1]
    assert (list(frame.index), list(frame.columns)) == (rare.tags, rare.tags)
    close(frame, costs)
    again = opened(
        new_app(),
        "pages/risk.py",
        **{
            name: value if isinstance(value, str) else value[0]
            for name, value in shown.app.query_params.items()
        },
    )
    assert Shown(again).row("least_cost") == shown.row("least_cost")


def risk_set(rare):
    shown = rare.show("risk", risk="set", within="1.5")
    near = rare.edited.scores >= rare.edited.scores.max() - 1.5
    used = [sorted({*rare.edited.paths[near, t].tolist()}) for t in range(LENGTH)]
    assert shown.payload["used"]["tags"] == used
    texts = next(row for row in shown.payload["rows"] if row["id"] == "set")["texts"]
    assert texts == [" ".join(rare.tags[k] for k in tags) for tags in used]


def pieces(rare):
    shown = rare.show("pieces", vocabulary="250")
    assert shown.frames


def hmm(rare):
    shown = rare.show("hmm", shift_tag=tag_text(rare.tags[3]))
    button(shown.app, "Shift the tag").click().run()
    shown = Shown(shown.app)
    assert not shown.app.exception
    close(shown.payload["results"]["log_partition"], rare.edited.log_z)


def learn(rare):
    right = rare.edited.best[3]
    params = {
        **encode(rare.scenario).params,
        "r": ",".join(f"{t}.{tag_text(rare.tags[k])}" for t, k in enumerate(right)),
    }
    app = opened(new_app(), "pages/learn.py", **params, **{"v.twin": "1"})
    shown = Shown(app)
    assert shown.row("gold") == right


def homework(rare):
    shown = rare.show("homework")
    assert list(shown.frames[0].columns) == rare.tags


def practise(rare):
    assert rare.show("practise").payload


def em(rare):
    names = [tag for tag in drawn(9, rare.seed) if len(tag.split()) == 1][:2]
    symbols = [*rare.words[1:], names[0]]  # a word may be called as a state is
    K2 = 2
    start, moves = np.full(K2, 0.5), np.full((K2, K2), 0.5)
    known = list(dict.fromkeys(symbols))
    says = np.random.default_rng(0).dirichlet([1] * len(known), K2)
    crfviz.register(crfviz.from_hmm(start, moves, says, known, names), "rare-hmm")
    sentence = "  ".join(symbols)
    params = {"model": "rare-hmm", "sentence": sentence, "v.twin": "1", "v.start": "model"}
    shown = Shown(opened(new_app(), "pages/em.py", **params))
    assert shown.payload["tags"] == names
    seen = [known.index(word) for word in symbols]
    step = crfviz.baum_welch(start, moves, says, [seen], 1)[0]
    close(shown.frames[-1]["log-likelihood"].iloc[0], step.log_likelihood)


def entities(rare):
    label = rare.tags[3].removeprefix("B-")
    shown = rare.show("entities", entity=f"1 1 {tag_text(label)}")
    assert shown.payload["entity"]["label"] == label
    begins = rare.edited.paths[:, 1] == 3  # there is no I- of this kind
    close(shown.payload["entity"]["probability"], rare.edited.of(begins))


def risk_of_entities(rare):
    shown = rare.show("risk", costs="miss=3,wrong_type=0.5", dial="miss")
    cost = {("O", "O"): 0.0}
    for true in rare.tags:
        for chosen in rare.tags:
            kinds = true.partition("-")[2], chosen.partition("-")[2]
            if true == chosen:
                value = 0.0
            elif chosen == "O":
                value = 3.0
            elif true != "O" and kinds[0] != kinds[1]:
                value = 0.5
            else:
                value = 1.0
            cost[true, chosen] = value
    table = np.array([[cost[true, chosen] for chosen in rare.tags] for true in rare.tags])
    totals = (rare.edited.marginals @ table)[np.arange(LENGTH), rare.edited.paths].sum(1)
    assert shown.row("least_cost") == rare.edited.paths[totals.argmin()].tolist()


def model_errors(rare):
    if any(tag[:2] in ("B-", "I-", "S-") for tag in rare.tags):
        return  # a file with some of these is read as a scheme, and the page says so
    right = rare.dice.integers(0, K, LENGTH)
    line = {"tokens": rare.words, "tags": [rare.tags[k] for k in right]}
    app = new_app()
    app.query_params.update({"model": "rare", "v.corpus": "file", "v.tab": "Why"})
    open_at(app, "pages/model-errors.py")
    content = json.dumps(line, ensure_ascii=False).encode()
    app.file_uploader[0].upload("gold.jsonl", content, "application/json").run()
    button(app, "Use these sentences").click().run()
    assert not app.exception
    assert not app.error
    wrong = {
        (rare.tags[a], rare.tags[b])
        for a, b in zip(right, rare.plain.best[0], strict=True)
        if a != b
    }
    for number, name in enumerate(("gold", "predicted")):
        box = app.selectbox(key=f"view.{name}")
        used = {tag for pair in wrong for tag in pair}
        assert [*box.options][1:] == [tag for tag in rare.tags if tag in used]
        for tag in {pair[number] for pair in wrong}:
            app.selectbox(key=f"view.{name}").select(tag_text(tag)).run()
            assert not app.exception
            shown = next(f.value for f in app.dataframe if "gap, nats" in f.value)
            assert len(shown) > 0
        app.selectbox(key=f"view.{name}").select("").run()


def annotate(rare):
    line = json.dumps({"tokens": rare.words}, ensure_ascii=False).encode()
    with open_store() as opened_store:
        opened_store.add("rare.jsonl", read_items(line, "rare.jsonl").items)
    app = new_app()
    app.query_params.update({"model": "rare", "v.by": "anna"})
    open_at(app, "pages/annotate.py")
    open_part(app, "label", "rare.jsonl")
    assert not app.exception
    assert not app.error
    sent = json.dumps(
        [json.loads(each.proto.json) for each in app.main if each.type == "bidi_component"]
    )
    for name in (*rare.tags, *rare.words):
        assert json.dumps(name) in sent
    with open_store() as opened_store:
        (item,) = opened_store.items("rare.jsonl")
        assert list(item.tokens) == rare.words
        desk = Desk(item, "anna", crfviz.load_tagger("rare"), "v1")
        opened_store.save(labelling.accept(labelling.begin(desk)), rare.tags)
        saved = opened_store.annotation(item.id, "anna")
        assert [*saved.final] == [rare.tags[k] for k in rare.plain.best[0]]


def lectures(rare):
    params = encode(rare.scenario).params
    cue = {
        "page": "marginals",
        "model": "rare",
        "sentence": rare.sentence,
        "edits": params["t"],
        "scores": params["e"],
    }
    text = 'title = "Rare"\nminutes = 1\n\n[[cue]]\n' + "".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in cue.items()
    )
    text += 'say = "{viterbi(1)}"\nview.twin = "1"\n'
    (rare.folder / "rare.toml").write_text(text, "utf-8")
    app = new_app()
    app.query_params["lecture"] = "rare"
    app.run()
    assert not app.exception
    assert not app.error
    shown = Shown(app)
    close(shown.grid(1, rare), rare.edited.marginals)


CHECKS = {name: check for name, check in list(globals().items()) if callable(check)}
PAGES = [
    "explore",
    "compare",
    "emissions",
    "transitions",
    "forward_backward",
    "viterbi",
    "marginals",
    "paths",
    "why",
    "naive",
    "log_space",
    "rules",
    "what_if",
    "risk",
    "risk_set",
    "pieces",
    "hmm",
    "learn",
    "homework",
    "practise",
    "em",
    "model_errors",
    "annotate",
    "lectures",
]


@pytest.mark.parametrize("title", ["entities", "risk_of_entities"])
def test_page_with_rare_entities_shows_the_numbers_of_numpy(title, rare_entities):
    CHECKS[title](rare_entities)


LISTED = {  # names of the kinds that have gone wrong: separators, borders, keys of other programs
    "commas": [",", "NN", "VB", ";"],
    "parts": ["a", "a,b", "b", "b,a"],
    "words of ours": ["any", "__proto__", "word", "-1"],
    "numerals": ["1", "2", "3", "0"],
    "quotes": ["''", '"q"', "``", '"'],
    "features": ["NOUN|Case=Nom|Number=Sing", "v.weight", "B-geo loc", "long" * 16],
}


@pytest.mark.parametrize("title", ["transitions", "why", "risk", "log_space", "model_errors"])
@pytest.mark.parametrize("tags", LISTED.values(), ids=LISTED)
def test_page_with_listed_names_shows_the_numbers_of_numpy(title, tags, monkeypatch):
    made = registered(0, monkeypatch)
    made.tags = tags
    CHECKS[title](made)


@pytest.mark.parametrize("tags", LISTED.values(), ids=LISTED)
def test_place_beyond_the_thousandth_word_is_opened_from_a_link(tags, monkeypatch):
    made = registered(0, monkeypatch)
    made.tags, made.words = tags, ["w"] * 1004
    made.tables[0] = np.zeros((LENGTH, K))
    first = 1004 - 120  # of the last window
    options = {"chosen": cell_text(1001, tags[2]), "from": str(first)}
    assert made.show("explore", edits=False, **options).payload["chosen"] == [1001 - first, 2]


@pytest.mark.parametrize("title", PAGES)
def test_page_with_rare_names_shows_the_numbers_of_numpy(title, rare):
    CHECKS[title](rare)
