"""The elements for any Streamlit app, in apps of a few lines with AppTest."""

import json
from types import SimpleNamespace

import pytest
import torch
from streamlit.testing.v1 import AppTest

import tests.support.installed  # noqa: F401 - or each app takes ten times as long
from crfviz import Edits, Shown
from tests.support.oracle import best_paths

VIEWS = ["explore", "emissions", "transitions", "forward-backward", "viterbi", "marginals", "why"]
WORDS, TAGS = ["the", "old", "man", "sails"], ["DET", "ADJ", "NOUN", "VERB"]
APP = """
import crfviz, streamlit as st, torch

def chain(words={words}, seed=1):
    scores = torch.randn(len(words), 4, generator=torch.Generator().manual_seed(seed)).double()
    return crfviz.Potentials(scores, torch.eye(4).double(), tags={tags}, tokens=words)

shown = crfviz.st_lattice({call})
if isinstance(shown.potentials, crfviz.Potentials):
    st.write(" ".join(crfviz.viterbi(shown.potentials).names))
"""


def app(call="chain(), view='transitions', key='k'", words=WORDS):
    text = APP.format(call=call, words=list(words), tags=TAGS)
    at = AppTest.from_string(text, default_timeout=120).run()
    assert not at.exception
    return at


def stage(at):
    """What the stage was sent; None without one."""
    found = [json.loads(each.proto.json) for each in at.main if each.type == "bidi_component"]
    return found[0] if found else None


def best(edits=(), seed=1):
    """The best path of the app's chain, by enumeration, with these transitions changed."""
    scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(seed)).double()
    moves, zeros = torch.eye(4).double(), torch.zeros(4)
    for before, after, score in edits:
        moves[TAGS.index(before), TAGS.index(after)] = score
    chain = SimpleNamespace(emissions=scores, transitions=moves, start=zeros, end=zeros)
    (path,) = best_paths(chain)
    return " ".join(TAGS[tag] for tag in path)


def set_state(at, **state):
    at.session_state["k"] = state
    at.run()
    assert not at.exception
    return at.session_state["k"]


@pytest.mark.parametrize("name", ["START", "END"])
def test_name_of_a_border_is_refused_with_what_to_do(name):
    tags = [*TAGS[1:], name]
    text = APP.format(call="chain(), view='transitions', key='k'", words=WORDS, tags=tags)
    at = AppTest.from_string(text, default_timeout=120).run()
    said = [each.message for each in at.exception] + [each.value for each in at.error]
    assert f"expected tags with other names than START and END, got {name}" in " ".join(said)
    assert stage(at) is None


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_sends_words_and_tags_and_returns_the_state(view):
    at = app(f"chain(), view={view!r}, key='k'")
    sent, shown = stage(at), at.session_state["k"]
    assert (sent["words"], sent["tags"]) == (WORDS, TAGS)
    assert isinstance(shown, Shown)
    assert (shown.edits, shown.selected) == (Edits(), None)
    assert shown.potentials.emissions.shape == (4, 4)
    assert at.markdown[0].value == best()


def test_element_uses_only_its_own_session_keys_and_leaves_the_url():
    at = app()
    assert set(at.session_state._state.filtered_state) <= {"k", "crfviz", "crfviz.k"}
    assert not at.query_params


def test_state_set_by_the_app_is_drawn_and_returned():
    at = app("chain(), view='why', key='k'")
    edits = Edits().with_transition("ADJ", "ADJ", -5.0)
    shown = set_state(at, edits=edits, selected=(1, "VERB"), step=2)
    assert shown.edits == edits
    assert shown.selected == (1, "VERB")
    assert shown.potentials.transitions[1, 1] == -5
    assert at.markdown[0].value == best([("ADJ", "ADJ", -5.0)]) != best()
    assert stage(at)["asked"] == [1, TAGS.index("VERB")]
    assert set_state(at, edits=Edits()).edits == Edits()
    assert at.markdown[0].value == best()


def test_step_set_by_the_app_is_returned():
    at = app("chain(), view='viterbi', key='k'")
    assert at.session_state["k"].step == 8
    assert set_state(at, step=3).step == 3


@pytest.mark.parametrize(
    "state", [{"edits": 5}, {"selected": 5}, {"selected": (9, "DET")}, {"selected": (0, "X")}]
)
def test_invalid_state_shows_one_message_and_the_stage_stays(state):
    at = app()
    set_state(at, **state)
    assert len(at.error) == 1
    assert stage(at)["words"] == WORDS
    at.run()
    assert not at.exception


def test_edits_survive_new_scores_and_are_dropped_with_new_words():
    at = app(
        "chain(seed=st.session_state.get('seed', 1), words=st.session_state.get('words'"
        f", {WORDS})), view='transitions', key='k'"
    )
    edits = Edits().with_transition("ADJ", "ADJ", -5.0)
    set_state(at, edits=edits)
    at.session_state["seed"] = 2
    at.run()
    assert at.session_state["k"].edits == edits
    assert at.markdown[0].value == best([("ADJ", "ADJ", -5.0)], seed=2)
    at.session_state["words"] = ["she", "sells", "sea", "shells"]
    at.run()
    assert at.session_state["k"].edits == Edits()
    assert at.markdown[0].value == best(seed=2)


def test_window_of_5000_words_is_drawn_and_all_words_are_returned():
    at = app("chain(), view='marginals', key='k'", words=[f"w{t}" for t in range(5000)])
    assert len(stage(at)["words"]) == 120
    assert at.session_state["k"].potentials.num_tokens == 5000
    edits = Edits().with_transition("DET", "DET", 5.0)
    assert set_state(at, edits=edits).potentials.transitions[0, 0] == 5


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ("None", "expected Potentials"),
        ("5", "expected Potentials"),
        ("chain(), view='x'", "view must be one of"),
        ("chain(), gold=['DET']", "gold must have 4 tags, got 1"),
        ("chain(), gold=['X'] * 4", "X"),
        ("chain(), gold=3", "gold must be a list"),
        ("chain(), view='why', at=7", "expected a position and a tag"),
        ("chain(), view='why', at=(9, 'DET')", "position must be 0 to 3"),
    ],
)
def test_invalid_arguments_show_one_message(call, part):
    at = app(call)
    assert len(at.error) == 1
    assert part in at.error[0].value
    assert stage(at) is None


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "scores",
    [
        "torch.zeros(4, 2), torch.full((2, 2), -torch.inf)",  # no path
        "torch.zeros(4, 2), torch.zeros(3, 2, 2)",
        "torch.zeros(1, 1), torch.zeros(1, 1)",
        "torch.zeros(200, 3), torch.zeros(199, 3, 3)",
    ],
    ids=["no path", "each step", "one word", "long"],
)
def test_unusual_chains_without_tags_are_drawn(view, scores):
    text = f"import crfviz, torch\ncrfviz.st_lattice(crfviz.Potentials({scores}), view={view!r})"
    at = AppTest.from_string(text, default_timeout=120).run()
    assert not at.exception
    assert not at.error
    assert stage(at)["tags"]


CHAIN = APP.partition("\nshown =")[0].format(words=WORDS, tags=TAGS)
LABELLERS = f"""
one = crfviz.st_labeller({WORDS}, {TAGS}, key="one")
two = crfviz.st_labeller({WORDS}, {TAGS}, potentials=chain(), key="two")
three = crfviz.st_labeller(
    ["Anna", "sang"], ["O", "B-PER", "I-PER"], proposed=["B-PER", "O"], key="three"
)
"""


def labelling(script):
    at = AppTest.from_string(CHAIN + script, default_timeout=120).run()
    assert not at.exception
    return at


def test_labeller_opens_with_the_proposed_tags():
    at = labelling(LABELLERS)
    assert at.session_state["one"].tags == ("", "", "", "")
    assert " ".join(at.session_state["two"].tags) == best()
    assert at.session_state["three"].tags == ("B-PER", "O")
    assert not at.session_state["three"].done


def test_labels_set_by_the_app_are_drawn_and_unknown_tags_rejected():
    at = labelling(LABELLERS)
    at.session_state["two"] = {"tags": ["DET", "ADJ", "NOUN", "VERB"], "done": True}
    at.session_state["three"] = {"tags": ["X", "O"]}
    at.run()
    assert at.session_state["two"].tags == ("DET", "ADJ", "NOUN", "VERB")
    assert at.session_state["two"].done
    assert at.session_state["three"].tags == ("B-PER", "O")
    assert len(at.error) == 1
    at.session_state["one"] = {"tags": ["DET", "", "", ""]}
    at.run()
    assert at.session_state["one"].tags == ("DET", "", "", "")


def test_labels_survive_new_scores_and_are_dropped_with_new_words():
    at = labelling(
        f"""
words = st.session_state.get("words", {WORDS})
potentials = chain(words, seed=st.session_state.get("seed", 1))
crfviz.st_labeller(words, {TAGS}, potentials=potentials, key="k")
"""
    )
    at.session_state["k"] = {"tags": ["DET", "DET", "DET", "DET"]}
    at.run()
    at.session_state["seed"] = 2
    at.run()
    assert at.session_state["k"].tags == ("DET", "DET", "DET", "DET")
    at.session_state["words"] = ["she", "sells", "sea", "shells"]
    at.run()
    assert " ".join(at.session_state["k"].tags) == best(seed=2)


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ('"abc", ["A"]', "expected a list of words, got 'abc'"),
        ('[], ["A"]', "expected a list of words"),
        ('None, ["A"]', "expected a list of words"),
        ('["a", 1.5], ["A"]', "expected words as texts"),
        ('["a"], []', "expected a list of tags"),
        ('["a"], 5', "expected a list of tags"),
        ('["a"], ["A", "A"]', "tag"),
        (
            '["a"], ["A"], proposed=["B"]',
            "expected one of the tags A or an id from 0 to 0, got 'B'",
        ),
        ('["a"], ["A"], proposed=5', "proposed"),
        ('["a"], ["A"], proposed=[["A"]]', "expected one of the tags"),
        ('["a"], ["A"], potentials=chain()', "expected potentials of 1 words"),
        ('["a"], ["A"], potentials=5', "expected Potentials"),
        ('["a"] * 5000, ["A"]', "at most 2,000 words"),
        ('["a"], ["A", ""]', "tag"),
        ('[""], ["A"]', "word"),
        ('["a b", "c\\n"], ["A"], key="k"', None),
    ],
)
def test_invalid_labeller_arguments_show_one_message(call, part):
    at = labelling(f"crfviz.st_labeller({call})\nst.write('after')")
    assert at.markdown[-1].value == "after"
    assert len(at.error) == (part is not None)
    assert part is None or part in at.error[0].value


def test_labeller_without_an_allowed_path_shows_an_error():
    at = labelling(
        """
shut = crfviz.Potentials([[0, 0], [0, 0]], [[-torch.inf] * 2] * 2, tags=["A", "B"])
crfviz.st_labeller(["a", "b"], ["A", "B"], potentials=shut)
"""
    )
    assert len(at.error) == 1
