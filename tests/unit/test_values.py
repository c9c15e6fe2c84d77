"""Public functions take tags, paths, names, words and scores in every form that holds them.

Each function is called with plain Python values and with each other form; both results are equal.
A form without a meaning is refused by a message with what was expected and what came.
"""

import inspect
import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
import torch

import crfviz
import tests.support.installed  # noqa: F401 - or each element takes ten times as long
from crfviz import Potentials
from crfviz.exceptions import CrfvizError, ShapeError, UnknownTagError
from crfviz.taggers.blank import GivenTagger

TAGS = ["O", "B-X", "I-X"]
WORDS = ["Oslo", "is", "old", "too"]
PATH = [1, 2, 0, 0]
RNG = np.random.default_rng(0)
EMISSIONS, TRANSITIONS = RNG.normal(size=(4, 3)).round(2), RNG.normal(size=(3, 3)).round(2)
START, END = RNG.normal(size=(2, 3)).round(2)
CHAIN = Potentials(EMISSIONS, TRANSITIONS, START, END, tags=TAGS, tokens=WORDS)
HMM = ([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]])

one_tag = {  # a tag: id 1, "B-X"
    "name": "B-X",
    "NumPy name": np.str_("B-X"),
    "array of one name": np.array("B-X"),
    "NumPy integer": np.int64(1),
    "unsigned byte": np.uint8(1),
    "array of one integer": np.array(1),
    "tensor": torch.tensor(1),
    "tensor of bytes": torch.tensor(1, dtype=torch.uint8),
    "item of a Series": pd.Series(TAGS)[1],
    "item of a Series of integers": pd.Series([0, 1])[1],
}
whole = {  # the number 2
    "NumPy integer": np.int32(2),
    "array": np.array(2),
    "tensor": torch.tensor(2),
}
a_score = {  # the number 0.5
    "float32": np.float32(0.5),
    "array": np.array(0.5),
    "tensor": torch.tensor(0.5, dtype=torch.float64),
    "bfloat16": torch.tensor(0.5, dtype=torch.bfloat16),
    "half": torch.tensor(0.5, dtype=torch.float16),
    "gradient": torch.tensor(0.5, requires_grad=True),
}
names = [TAGS[tag] for tag in PATH]
a_path = {
    "names": names,
    "tuple": tuple(PATH),
    "NumPy integers": [np.int64(tag) for tag in PATH],
    "tensors": [torch.tensor(tag) for tag in PATH],
    "array": np.array(PATH),
    "array of bytes": np.array(PATH, np.uint8),
    "tensor": torch.tensor(PATH),
    "tensor of 32 bits": torch.tensor(PATH, dtype=torch.int32),
    "array of names": np.array(names),
    "array of objects": np.array(names, object),
    "Series": pd.Series(PATH, index=list("dcba")),
    "Series of names": pd.Series(names, index=[3, 2, 1, 0]),
    "Categorical": pd.Series(names, dtype="category"),
    "Index": pd.Index(PATH),
    "mixed": ["B-X", 2, np.int8(0), torch.tensor(0)],
}
the_words = {
    "tuple": tuple(WORDS),
    "array": np.array(WORDS),
    "array of objects": np.array(WORDS, object),
    "Series": pd.Series(WORDS, index=list("dcba")),
    "Index": pd.Index(WORDS),
    "NumPy texts": [np.str_(word) for word in WORDS],
}
the_tags = {
    "tuple": tuple(TAGS),
    "array": np.array(TAGS),
    "Series": pd.Series(TAGS, index=[7, 8, 9]),
    "Index": pd.Index(TAGS),
    "id2label": dict(enumerate(TAGS)),
    "id2label, another order": {2: "I-X", 0: "O", 1: "B-X"},
    "id2label of JSON": json.loads(json.dumps(dict(enumerate(TAGS)))),
    "id2label with NumPy integers": {np.int64(k): np.str_(v) for k, v in enumerate(TAGS)},
    "label2id": {"O": 0, "I-X": 2, "B-X": 1},
}


def tables_as(change):
    return [change(table) for table in (EMISSIONS, TRANSITIONS, START, END)]


EXACT = np.round(EMISSIONS * 4) / 4, np.round(TRANSITIONS * 4) / 4  # the same in 8 bits
tables = {
    "lists": lambda table: table.tolist(),
    "tuples": lambda table: tuple(map(tuple, table)) if table.ndim > 1 else tuple(table),
    "tensor": torch.tensor,
    "gradient": lambda table: torch.tensor(table, requires_grad=True),
    "rows with gradients": lambda table: [
        torch.tensor(row, dtype=torch.float64, requires_grad=True) for row in table
    ],
    "numbers with gradients": lambda table: (
        [[torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in row] for row in table]
        if table.ndim > 1
        else [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in table]
    ),
    "Fortran order": np.asfortranarray,
    "pandas": lambda table: pd.DataFrame(table) if table.ndim > 1 else pd.Series(table),
}
coarse = {
    "float32": lambda table: table.astype(np.float32),
    "half": lambda table: torch.tensor(table).half(),
    "bfloat16": lambda table: torch.tensor(table).bfloat16(),
    "bfloat16 with a gradient": lambda table: torch.tensor(table).bfloat16().requires_grad_(),
    "half of NumPy": lambda table: table.astype(np.float16),
}


def plain(value):
    """Return any result as nested lists of plain values."""
    if isinstance(value, Potentials):
        return [plain(part) for part in (*value.arrays(), value.tags, value.tokens)]
    if is_dataclass(value) and not isinstance(value, type):
        shown = [each.name for each in fields(value) if "seconds" not in each.name]
        return {name: plain(getattr(value, name)) for name in shown}
    if isinstance(value, torch.Tensor):
        return plain(value.detach().numpy())
    if isinstance(value, np.ndarray):
        return np.round(value, 9).tolist()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return round(float(value), 9) if isinstance(value, float) else value


def scripted(body):
    """Run an element of a Streamlit app in a session, and return its value."""
    from streamlit.testing.v1 import AppTest

    def script(body):
        import streamlit as st

        st.session_state.value = body()

    run = AppTest.from_function(script, args=(body,), default_timeout=3600).run()
    assert not run.exception, run.exception[0].message
    assert not run.error, run.error[0].value
    return run.session_state["value"]


GENERATOR = torch.Generator()
TAGGER = GivenTagger(CHAIN)
CALIBRATION = crfviz.Calibration(0.5, "sentences", 1.0, 10)


def tagged(tags):
    return [(WORDS, tags)] * 2


def exported(export, ending, words, **options):
    """Return the file that is written for the words of a sentence."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{ending}"
        export(crfviz.load_tagger("upos-en-hmm"), path, sentence=words, **options)
        return path.read_text("utf-8")


TAG = {  # calls with a tag
    "Potentials.tag_id": CHAIN.tag_id,
    "Potentials.with_transition": lambda tag: CHAIN.with_transition(tag, 0, 0.5),
    "Potentials.with_emission": lambda tag: CHAIN.with_emission(0, tag, 0.5),
    "Potentials.with_start": lambda tag: CHAIN.with_start(tag, 0.5),
    "Potentials.with_end": lambda tag: CHAIN.with_end(tag, 0.5),
    "Potentials.pin": lambda tag: CHAIN.pin({0: tag}),
    "Edits.with_transition": lambda tag: crfviz.Edits().with_transition(tag, "O", 1.0).apply(CHAIN),
    "Edits.with_emission": lambda tag: crfviz.Edits().with_emission(1, tag, 1.0).apply(CHAIN),
    "condition": lambda tag: crfviz.condition(CHAIN, {0: tag}, [(1, tag)]),
    "pin_probability": lambda tag: crfviz.pin_probability(CHAIN, {0: tag}, [(1, tag)]),
    "why_not": lambda tag: crfviz.why_not(CHAIN, 0, tag),
    "smallest_change_for": lambda tag: crfviz.smallest_change_for(CHAIN, 2, tag),
    "influence": lambda tag: crfviz.influence(CHAIN, 0, 1.0, tag),
    "shift_tag": lambda tag: crfviz.shift_tag(CHAIN, crfviz.Edits(), tag, 1.0).apply(CHAIN),
    "tipping_points": lambda tag: crfviz.tipping_points(CHAIN, ("transition", tag, tag)),
    "strength_intervals": lambda tag: crfviz.strength_intervals(CHAIN, pins={0: tag}),
    "attribute": lambda tag: crfviz.attribute(
        crfviz.load_tagger("upos-en-contextfree"), WORDS, 0, {"B-X": "NOUN"}.get(str(tag), tag), 0
    ),
}
GOLD = {  # calls with a path
    "Potentials.path": CHAIN.path,
    "Potentials.score": CHAIN.score,
    "observed_counts": lambda path: crfviz.observed_counts(CHAIN, path),
    "gradient_step": lambda path: crfviz.gradient_step(CHAIN, path, 0.1),
    "triage": lambda path: crfviz.triage(CHAIN, path, crfviz.viterbi(CHAIN).path),
    "triage, best": lambda path: crfviz.triage(CHAIN, [0, 0, 0, 0], path),
    "fit_transitions": lambda path: crfviz.fit_transitions([CHAIN] * 2, [path] * 2, 0.1),
    "crf_gain": lambda path: crfviz.crf_gain([CHAIN] * 4, [path] * 4, 2),
    "Pieces": lambda path: crfviz.pieces(CHAIN, [0, 0, 1, 2]).pytorch_crf_log_likelihood(path),
    "st_lattice": lambda path: scripted(lambda: crfviz.st_lattice(CHAIN, gold=path)),
    "st_labeller": lambda path: scripted(lambda: crfviz.st_labeller(WORDS, TAGS, proposed=path)),
    "evaluate": lambda path: crfviz.evaluate(TAGGER, tagged(path)).tables["tags"],
    "calibrate": lambda path: crfviz.calibrate(TAGGER, tagged(path) * 2, 0.5),
    "coverage": lambda path: crfviz.coverage(CALIBRATION, TAGGER, tagged(path)),
}
TOKENS = {  # calls with words
    "Potentials": lambda words: Potentials(EMISSIONS, TRANSITIONS, tokens=words),
    "Tagger.potentials": lambda words: crfviz.load_tagger("upos-en-contextfree").potentials(words),
    "Tagger.potentials_batch": lambda words: crfviz.load_tagger("upos-en").potentials_batch(
        [words]
    ),
    "occlude": lambda words: crfviz.occlude(crfviz.load_tagger("upos-en-hmm"), words),
    "what_if": lambda words: crfviz.what_if(
        crfviz.load_tagger("upos-en-hmm"), words, ["a", "is", "old", "too"]
    ),
    "attribute": lambda words: crfviz.attribute(
        crfviz.load_tagger("upos-en-contextfree"), words, 0, "NOUN", "VERB"
    ),
    "agreement": lambda words: crfviz.agreement([(words, names)], [(WORDS, names)]).kappa,
    "evaluate": lambda words: crfviz.evaluate(TAGGER, [(words, names)] * 2).tables["tags"],
    "st_labeller": lambda words: scripted(lambda: crfviz.st_labeller(words, TAGS)),
    "from_hmm": lambda words: crfviz.from_hmm([1.0], [[1.0]], [[0.25] * 4], words).observations,
    "export_html": lambda words: exported(crfviz.export_html, "html", words),
    "export_table": lambda words: exported(crfviz.export_table, "csv", words),
    "export_tikz": lambda words: exported(crfviz.export_tikz, "tex", words),
    "calibrate": lambda words: crfviz.calibrate(TAGGER, [(words, names)] * 2, 0.5),
    "coverage": lambda words: crfviz.coverage(CALIBRATION, TAGGER, [(words, names)] * 2),
    "show": lambda words: repr(crfviz.show(crfviz.load_tagger("upos-en-hmm"), words)),
}
NAMES = {  # calls with the names of tags
    "Potentials": lambda tags: Potentials(EMISSIONS, TRANSITIONS, tags=tags),
    "st_labeller": lambda tags: scripted(lambda: crfviz.st_labeller(WORDS, tags)),
    "from_hmm": lambda tags: (
        crfviz.from_hmm([1.0, 0.0, 0.0], np.eye(3), np.ones((3, 1)), ["a"], tags).tags
    ),
    "viterbi": lambda tags: crfviz.viterbi(EMISSIONS, tags=tags).names,
}
NUMBERS = {  # calls with a count or a position, at which 2 is valid
    "k_best": lambda two: crfviz.k_best(CHAIN, two),
    "sample": lambda two: crfviz.sample(CHAIN, two, GENERATOR.manual_seed(0)),
    "smallest_flips": lambda two: crfviz.smallest_flips(CHAIN, two),
    "why_not": lambda two: crfviz.why_not(CHAIN, two, 1),
    "influence": lambda two: crfviz.influence(CHAIN, two),
    "condition": lambda two: crfviz.condition(CHAIN, {}, [(two, 1)]),
    "entity_probability": lambda two: crfviz.entity_probability(CHAIN, two, two, "X"),
    "entity_rivals": lambda two: crfviz.entity_rivals(CHAIN, two, two, "X"),
    "shift_word": lambda two: crfviz.shift_word(CHAIN, crfviz.Edits(), two, 1.0).apply(CHAIN),
    "tipping_points": lambda two: crfviz.tipping_points(CHAIN, ("emission", two, 1)),
    "baum_welch": lambda two: crfviz.baum_welch(*HMM, [[0, 1, 1]], two)[-1].log_likelihood,
    "Potentials.position": CHAIN.position,
    "Edits": lambda two: crfviz.Edits().with_emission(two, "O", 1.0).apply(CHAIN),
    "pieces": lambda two: crfviz.pieces(CHAIN, [0, 1, two, two]).first.path,
    "crf_gain": lambda two: crfviz.crf_gain([CHAIN] * 4, [PATH] * 4, two).difference,
    "exercise": lambda two: crfviz.exercise("alpha", two).potentials,
    "export_tikz": lambda two: exported(crfviz.export_tikz, "tex", WORDS, digits=two),
    "export_table": lambda two: exported(crfviz.export_table, "csv", WORDS, digits=two),
    "export_tikz, position": lambda two: exported(
        crfviz.export_tikz, "tex", WORDS, picture="trellis", position=two
    ),
}
SCORES = {  # calls with one score
    "Potentials.with_transition": lambda half: CHAIN.with_transition(0, 1, half),
    "Potentials.with_emission": lambda half: CHAIN.with_emission(0, 1, half),
    "Potentials.with_start": lambda half: CHAIN.with_start(1, half),
    "Potentials.with_end": lambda half: CHAIN.with_end(1, half),
    "Potentials.scale_transitions": CHAIN.scale_transitions,
    "Edits": lambda half: crfviz.Edits({("O", "B-X"): half}, {}, half).apply(CHAIN),
    "influence": lambda half: crfviz.influence(CHAIN, 0, half),
    "gradient_step": lambda half: crfviz.gradient_step(CHAIN, PATH, half),
    "soft_forward": lambda half: crfviz.soft_forward(CHAIN, half),
    "strength_intervals": lambda half: crfviz.strength_intervals(CHAIN, half),
    "shift_tag": lambda half: crfviz.shift_tag(CHAIN, crfviz.Edits(), 1, half).apply(CHAIN),
    "fit_transitions": lambda half: crfviz.fit_transitions([CHAIN], [PATH], half).transitions,
    "path_set": lambda half: crfviz.path_set(CHAIN, half),
    "least_cost": lambda half: crfviz.least_cost(CHAIN, {"miss": half}),
    "cost_intervals": lambda half: crfviz.cost_intervals(CHAIN, {"cut": half}, low=half),
    "calibrate": lambda half: crfviz.calibrate(TAGGER, tagged(PATH) * 2, half),
}
GROUPS = [
    (TAG, 1, one_tag),
    (GOLD, PATH, a_path),
    (TOKENS, WORDS, the_words),
    (NAMES, TAGS, the_tags),
    (NUMBERS, 2, whole),
    (SCORES, 0.5, a_score),
]
CALLS = [
    pytest.param(call, usual, kinds, id=f"{number}-{name}")
    for number, (calls, usual, kinds) in enumerate(GROUPS)
    for name, call in calls.items()
]


@pytest.mark.parametrize(("call", "usual", "kinds"), CALLS)
def test_every_form_gives_the_result_of_plain_values(call, usual, kinds):
    if call is TAG["attribute"]:
        usual, kinds = "NOUN", {"NumPy name": np.str_("NOUN"), "array": np.array("NOUN")}
    expected = plain(call(usual))
    for kind, value in kinds.items():
        assert plain(call(value)) == expected, kind


def kind_of(value):
    """Return the id of a test case, the same in each process."""
    shown = sorted(map(repr, value)) if isinstance(value, set) else value
    return f"{type(value).__name__} {shown!r}" if not callable(value) else value.__name__


NOT_TAGS = [True, np.True_, torch.tensor(True), 1.0, np.float64(1), torch.tensor(1.0), None, b"O"]
NO_SUCH_TAGS = [-1, 3, np.int64(-1), torch.tensor(3), "Z", np.str_("Z"), [1], float("nan")]


@pytest.mark.parametrize("value", [*NOT_TAGS, *NO_SUCH_TAGS], ids=kind_of)
@pytest.mark.parametrize("name", [name for name in TAG if name != "attribute"])
def test_what_is_no_tag_is_refused(name, value):
    """An edit does not know its chain: `apply` refuses what the chain does not have."""
    if name == "influence" and value is None:
        return  # the best tag
    with pytest.raises(UnknownTagError, match=r"expected .* got .+"):
        TAG[name](value)


@pytest.mark.parametrize("value", [*NOT_TAGS, *NO_SUCH_TAGS], ids=kind_of)
@pytest.mark.parametrize("name", [name for name in GOLD if not name.startswith("st_")])
def test_path_with_what_is_no_tag_is_refused_at_its_position(name, value):
    if name in ("observed_counts", "gradient_step") and value is None:
        return  # the word is open
    if name in ("evaluate", "calibrate", "coverage") and isinstance(value, str):
        return  # all unknown names are listed
    with pytest.raises(UnknownTagError, match=r"(position \d|sentence 1).*expected .* got .+"):
        GOLD[name]([1, 2, value, 0])


@pytest.mark.parametrize(
    "value", [[1, 2], 5, {1, 2, 0, 3}, dict.fromkeys(range(4)), None], ids=repr
)
@pytest.mark.parametrize(
    "name", ["Potentials.path", "observed_counts", "triage", "fit_transitions"]
)
def test_what_is_no_path_is_refused(name, value):
    with pytest.raises(ShapeError, match=r"(must be 4 tags|must have 4 tags|must be a list), got"):
        GOLD[name](value)


@pytest.mark.parametrize(
    "value", [None, 1.5, True, b"is", float("nan"), pd.NA, ["is"]], ids=kind_of
)
@pytest.mark.parametrize("name", [name for name in TOKENS if name not in ("st_labeller", "show")])
def test_what_is_no_word_is_refused_at_its_position(name, value):
    with pytest.raises(CrfvizError, match=r"expected words as texts .* got .* at position 1"):
        TOKENS[name](["Oslo", value, "old", "too"])


@pytest.mark.parametrize(
    "value",
    [
        ["O", "B-X", 1.0],
        ["O", "B-X", None],
        ["O", "B-X", True],
        [5, 6, 7],
        {0: "O", 1: "B-X", 3: "I-X"},
        {"1": "O", "2": "B-X", "3": "I-X"},
        {"O": "a", "B-X": "b", "I-X": "c"},
        {"O", "B-X", "I-X"},
        7,
    ],
    ids=kind_of,
)
@pytest.mark.parametrize("name", ["Potentials", "from_hmm", "viterbi"])
def test_what_are_no_names_is_refused(name, value):
    with pytest.raises(CrfvizError, match=r"must (be|have) .*, got .+"):
        NAMES[name](value)


NO_NUMBERS = ["2", None, True, np.True_, 1.5, 2.0, torch.tensor(2.0), float("nan"), [2], -1]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_position_or_count_is_refused(name, value):
    if name == "pieces" and value is None:
        return  # a special token
    with pytest.raises(CrfvizError, match=r"(must be|never fall).* got .+"):
        NUMBERS[name](value)


@pytest.mark.parametrize("value", ["0.5", None, True, float("nan"), [0.5, 1.0], b"1"], ids=kind_of)
@pytest.mark.parametrize("name", SCORES)
def test_what_is_no_score_is_refused(name, value):
    if name == "fit_transitions" and value is None:
        return  # chosen
    with pytest.raises(CrfvizError, match=r"must be .* got .+"):
        SCORES[name](value)


OTHERS = {  # arguments of functions on chains, with values for `CHAIN`
    "check_table": {"kind": "alpha", "table": crfviz.forward_backward(CHAIN).log_alpha},
    "condition": {"pins": {0: 1}},
    "entity_probability": {"first": 0, "last": 0, "label": "X"},
    "entity_rivals": {"first": 0, "last": 0, "label": "X"},
    "entity_shortcuts": {"first": 0, "last": 0, "label": "X"},
    "cost_intervals": {"costs": {}},
    "gradient_step": {"path": PATH, "size": 0.5},
    "least_cost": {"costs": {"miss": 3.0}},
    "path_set": {"within": 1.0},
    "influence": {"position": 0},
    "k_best": {"k": 3},
    "match": {"pattern": "O .*"},
    "observed_counts": {"path": PATH},
    "pieces": {"word_ids": [0, 0, 1, 2]},
    "pin_probability": {"pins": {0: 1}},
    "sample": {"n": 3, "generator": GENERATOR},
    "shift_tag": {"edits": crfviz.Edits(), "tag": 1, "amount": 1.0},
    "shift_word": {"edits": crfviz.Edits(), "position": 1, "amount": 1.0},
    "smallest_change_for": {"position": 0, "tag": 2},
    "smallest_flips": {"limit": 3},
    "soft_forward": {"temperature": 0.5},
    "tipping_points": {"weight": ("start", 1)},
    "triage": {"target": PATH, "best": crfviz.viterbi(CHAIN).path},
    "underflow": {"tables": crfviz.forward_backward(CHAIN)},
    "why_not": {"position": 0, "tag": 2},
    **{
        name: {}
        for name in (
            "analyse",
            "constraint_effect",
            "doubt",
            "enumerate_paths",
            "expected_counts",
            "forward_backward",
            "greedy",
            "illegal_mass",
            "max_marginal",
            "strength_intervals",
            "viterbi",
        )
    },
}
TAKE_A_PATH = (
    "cost_intervals",
    "least_cost",
    "gradient_step",
    "observed_counts",
    "pieces",
    "triage",
)  # start and end by name


def on_chain(name, *arguments, **named):
    GENERATOR.manual_seed(0)
    return plain(getattr(crfviz, name)(*arguments, **named))


@pytest.mark.parametrize("name", OTHERS)
def test_functions_on_chains_take_tables(name):
    own = OTHERS[name]
    expected = on_chain(name, CHAIN, **own)
    tables, named = [EMISSIONS, TRANSITIONS], {"start": START, "end": END}
    labels = {"tags": TAGS, "tokens": WORDS}
    assert on_chain(name, *tables, **named, **labels, **own) == expected
    assert on_chain(name, EMISSIONS, transitions=TRANSITIONS, **named, **labels, **own) == expected
    assert on_chain(name, *tables, *own.values(), **named, **labels) == expected
    if name not in TAKE_A_PATH:
        assert on_chain(name, *tables, START, END, *own.values(), **labels) == expected
        assert on_chain(name, *tables, START.tolist(), **labels, end=END, **own) == expected
    named = {"potentials": EMISSIONS, "transitions": TRANSITIONS, **named}
    assert on_chain(name, **named, **labels, **own) == expected


@pytest.mark.parametrize("kind", tables)
def test_tables_of_every_kind_are_the_same_scores(kind):
    found = Potentials(*tables_as(tables[kind]))
    assert plain(found.arrays()) == plain(CHAIN.arrays())
    assert crfviz.viterbi(*tables_as(tables[kind])).path == crfviz.viterbi(CHAIN).path
    if "gradient" in kind:
        assert found.emissions.requires_grad


@pytest.mark.parametrize("kind", coarse)
def test_short_floats_are_read_as_the_numbers_that_they_hold(kind):
    found, expected = Potentials(*map(coarse[kind], EXACT)), Potentials(*EXACT)
    assert plain(found.arrays()) == plain(expected.arrays())


def test_transitions_are_zero_unless_given():
    chain = Potentials(EMISSIONS)
    assert torch.equal(chain.transitions, torch.zeros(3, 3, dtype=torch.float64))
    assert crfviz.viterbi(EMISSIONS).path == EMISSIONS.argmax(1).tolist()
    assert crfviz.forward_backward(EMISSIONS).log_partition == pytest.approx(
        np.log(np.exp(EMISSIONS).sum(1)).sum(), abs=1e-9
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (float("nan"), "got nan"),
        (float("inf"), "got inf"),
        ("half", "numbers in rows of one length"),
    ],
)
def test_tables_with_what_is_no_score_are_refused(wrong, message):
    table = EMISSIONS.astype(object)
    table[1, 1] = wrong
    for value in (table.tolist(), np.array(table.tolist())):
        with pytest.raises(CrfvizError, match=message):
            crfviz.viterbi(value, TRANSITIONS)


@pytest.mark.parametrize("value", [None, "text", 5, {0: 1.0}, crfviz.load_tagger], ids=kind_of)
def test_what_is_no_chain_is_refused(value):
    for name in ("viterbi", "forward_backward"):
        with pytest.raises(CrfvizError, match=r"expected Potentials, .* got"):
            getattr(crfviz, name)(value)


def test_lists_are_not_read_as_start_scores():
    """A path may have as many tags as there are tags."""
    square = [[0.0] * 3] * 3
    counts = crfviz.observed_counts(square, square, [0, 1, 2])
    assert counts.start.tolist() == [1.0, 0.0, 0.0]
    assert counts.end.tolist() == [0.0, 0.0, 1.0]


def test_every_public_function_on_chains_is_tried():
    public = {name for name in crfviz.__all__ if inspect.isfunction(getattr(crfviz, name))}
    first = {
        name: next(iter(inspect.signature(getattr(crfviz, name)).parameters), "") for name in public
    }
    on_chains = {name for name in public if first[name] == "potentials"} - {"st_lattice"}
    assert on_chains - {"greedy"} <= {*OTHERS}


TAKE_NO_VALUES = {  # nothing but files, models, names of them, or results of other functions
    *("bring", "compare", "cumulated_mass", "from_crfsuite", "list_taggers", "load_tagger"),
    *("position_entropies", "read_sentences", "register", "register_adapter", "tokenize"),
}
TRIED_BELOW = {
    *("grade", "inconsistent_names", "label_errors", "learning_curve", "log_sum_exp"),
    *("padded_batch", "score_answers", "trace"),
}


def test_every_public_function_is_tried():
    public = {name for name in crfviz.__all__ if inspect.isfunction(getattr(crfviz, name))}
    tried = {name.partition(",")[0] for calls, *_ in GROUPS for name in calls}
    assert public - tried - {*OTHERS, "watch"} == TAKE_NO_VALUES | TRIED_BELOW


@pytest.mark.parametrize("kind", a_path)
def test_answers_and_suspects_of_every_form(kind):
    value = a_path[kind]
    wrong = ["O" if isinstance(next(iter(value)), str) else 0, *[*value][1:]]
    if kind != "mixed":
        scores = crfviz.score_answers([value, value], [value, wrong])
        assert scores.accuracy == 7 / 8
    usual = [str(tag) for tag in value]
    suspects = [
        crfviz.label_errors([(WORDS, tags), (WORDS[::-1], tags)] * 2) for tags in (value, usual)
    ]
    if not any(isinstance(tag, torch.Tensor) for tag in value):
        assert suspects[0] == suspects[1]
    if kind in ("array", "tensor", "Categorical"):  # read as `label_errors` reads all
        several = [(f"word{n}", *WORDS[1:]) for n in range(20)]
        curves = [
            crfviz.learning_curve([(words, tags) for words in several]) for tags in (value, usual)
        ]
        scores = [[point.score for point in curve.points] for curve in curves]
        assert scores[0] == scores[1]
    assert crfviz.inconsistent_names([(WORDS, value)]) == crfviz.inconsistent_names(
        [(WORDS, usual)]
    )


def test_demonstrations_and_grader_take_arrays():
    expected = plain(crfviz.log_sum_exp(EMISSIONS[0]))
    for kind in ("lists", "tuples", "tensor", "gradient", "pandas"):
        assert plain(crfviz.log_sum_exp(tables[kind](EMISSIONS[0]))) == expected, kind
    for value in ("a", [], 5, EMISSIONS):
        with pytest.raises(ShapeError, match="inputs must be"):
            crfviz.log_sum_exp(value)
    bare = Potentials(EMISSIONS)
    one, other = (crfviz.padded_batch([each] * 2) for each in (EMISSIONS, bare))
    assert plain(one.log_alpha) == plain(other.log_alpha)
    with pytest.raises(ShapeError, match="must be a list of Potentials"):
        crfviz.padded_batch(bare)
    assert plain(CALIBRATION.sets(EMISSIONS)) == plain(CALIBRATION.sets(bare))
    program = lambda board: None  # noqa: ARG005, E731
    found = [crfviz.grade(program, each, "alpha").message for each in (EMISSIONS, bare)]
    assert found[0] == found[1]
    assert crfviz.trace(program, EMISSIONS, "alpha").grade.message == found[1]


def test_gold_ids_are_those_of_the_tagger():
    """The names of the tags, not their order in the file, decide."""
    by_name = crfviz.evaluate(TAGGER, [(WORDS, names)] * 2)
    by_id = crfviz.evaluate(TAGGER, [(pd.Series(WORDS), np.array(PATH))] * 2)
    assert by_name.tables["tags"] == by_id.tables["tags"]


LAYER = crfviz.CRF(3).double()
BATCH, GOLD_IDS = torch.tensor(EMISSIONS)[None], torch.tensor([PATH])
TAGS_OF_A_BATCH = {
    "lists": [PATH],
    "array": np.array([PATH]),
    "array of bytes": np.array([PATH], np.uint8),
    "tensor of 32 bits": torch.tensor([PATH], dtype=torch.int32),
    "tensor of bytes": torch.tensor([PATH], dtype=torch.uint8),
}


def test_layer_takes_arrays_and_whole_numbers_of_every_size():
    expected = LAYER.log_likelihood(BATCH, GOLD_IDS)
    for kind, value in TAGS_OF_A_BATCH.items():
        assert plain(LAYER.log_likelihood(BATCH, value)) == plain(expected), kind
        assert plain(LAYER.log_likelihood(EMISSIONS[None], value)) == plain(expected), kind
    for emissions in (EMISSIONS[None], EMISSIONS[None].tolist()):
        assert LAYER.decode(emissions) == LAYER.decode(BATCH)
        assert plain(LAYER.marginals(emissions)) == plain(LAYER.marginals(BATCH))
        allowed = np.ones((1, 4, 3), bool)
        assert LAYER.partial_log_likelihood(emissions, allowed).item() == 0.0


@pytest.mark.parametrize("tags", [[[1.0] * 4], [[True] * 4], [[1, 3, 0, 0]], [[1, -1, 0, 0]]])
def test_layer_refuses_what_are_no_tags(tags):
    with pytest.raises(UnknownTagError, match=r"tags must be .*from 0 to 2, got .+"):
        LAYER.log_likelihood(BATCH, torch.tensor(tags))


def test_watch_takes_the_names_of_hugging_face():
    with crfviz.watch(LAYER, tags={"0": "O", "1": "B-X", "2": "I-X"}) as seen:
        LAYER.decode(BATCH)
    assert seen.potentials[0].tags == ("O", "B-X", "I-X")
