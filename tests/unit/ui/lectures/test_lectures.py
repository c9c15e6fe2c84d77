"""Lectures from files: what is read, what is refused and where, and what a cue can say."""

import random

import pytest

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import END, START
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.ui.lectures.expressions import Chain, Facts, evaluate, fill_in
from crfviz.ui.lectures.lecture import MAX_CUES, read_lecture
from crfviz.ui.lectures.lecture_store import SHIPPED
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.scenario import BEFORE_FIRST, covered
from tests.support import oracle

TAGS = ("A", "B")
MODELS = Models(("tiny", "broken"), "tiny", lambda _: "one two")
HEAD = 'title = "A lecture"\nminutes = 5\n'
CUE = """
[[cue]]
page = "viterbi"
sentence = "x y z"
step = "start"
say = "The path has {p('viterbi')}."
"""


def tags(model):
    if model == "broken":
        raise CrfvizError("the folder is empty")
    return TAGS


def other(name):
    if name == "other":
        return read(HEAD + CUE)
    raise FormatError(f"There is no lecture {name}.")


def read(text, file="mine.toml"):
    return read_lecture(text, file, MODELS, tags, ["", "viterbi"], other)


def test_cue_has_every_part_of_a_link():
    lecture = read(
        HEAD
        + """
[[cue]]
model = "tiny"
sentence = "x y"
edits = "A.B:1.5,START.A:-inf"
scores = "1.B:2"
strength = 0.5
pins = "0.A"
right = "1.B"
step = 3
view.at = "1 B"
cover = ["gold", "path", "lattice"]
say = "one thing"
ask = "alpha('y', 'B')"
"""
    )
    (cue,) = lecture.cues
    state = cue.scenario
    assert (lecture.title, lecture.minutes, lecture.problems) == ("A lecture", 5.0, ())
    assert (cue.page, cue.say, cue.holds, cue.place) == ("", "one thing", (), "mine.toml:4")
    assert state.edits.transitions == {("A", "B"): 1.5, (START, "A"): float("-inf")}
    assert state.edits.emissions == {(1, "B"): 2.0}
    assert (state.edits.strength, state.pins, state.right) == (0.5, {0: "A"}, {1: "B"})
    assert (state.step, state.view["at"]) == (3, "1 B")
    assert covered(state.view) == ["gold", "path", "lattice"]
    assert cue.ask == "alpha('y', 'B')"


def test_cue_can_be_copied_from_another_lecture():
    (cue,) = read(HEAD + '[[cue]]\nsame = "other 1"\n').cues
    assert cue == other("other").cues[0]


def test_cue_defaults_equal_those_of_a_link():
    (cue,) = read(HEAD + CUE).cues
    assert (cue.scenario.model, cue.scenario.step, cue.page) == ("tiny", BEFORE_FIRST, "viterbi")
    (bare,) = read(HEAD + "[[cue]]\n").cues
    assert bare.scenario.sentence == "one two"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('page = "nowhere"', "mine.toml:12: there is no page “nowhere”"),
        ('model = "unknown"', "mine.toml:12: there is no model “unknown”"),
        ('model = "broken"', "mine.toml:12: the folder is empty"),
        ('edits = "A.X:1"', "mine.toml:12: tiny has no tag “X”"),
        ('edits = "A.B"', "Ignored 1 part of t, the first being “A.B”, in mine.toml:12"),
        ("step = -3", "Ignored the step “-3” in mine.toml:12"),
        ('cover = ["nothing"]', "mine.toml:12: expected parts of greedy"),
        ('colour = "red"', "mine.toml:12: expected one of page"),
        ("say = 5", "mine.toml:12: expected a text of at most 400 characters as say"),
        ("say = \"{viterbi('x'}\"", "mine.toml:12: expected an expression"),
        ('holds = ["1 +"]', "mine.toml:12: expected an expression"),
        ('holds = "1"', "mine.toml:12: expected a list of texts as holds"),
        ("view = 1", "mine.toml:12: expected page options"),
        ('same = "other 2"', "mine.toml:12: expected a lecture and a number up to 1"),
        ('same = "nothing 1"', "mine.toml:12: There is no lecture nothing."),
        ('same = "other 1"\nsay = "x"', "mine.toml:13: expected one of same, got “say”"),
        ('ask = "why()"', "mine.toml:12: expected a question, one of greedy(word)"),
        ("ask = \"flips('A', 'X')\"", "mine.toml:12: there is no tag “X”"),
        ("pins = [1]", "mine.toml:12: expected a text or a number as pins"),
    ],
)
def test_problem_is_reported_with_its_line_and_other_cues_play(line, problem):
    lecture = read(HEAD + CUE + "\n[[cue]]\n\n" + line + "\n" + CUE)
    assert problem in " ".join(lecture.problems)
    assert lecture.cues[0] == read(HEAD + CUE).cues[0]
    assert len(lecture.cues) in (2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "no cue that can be shown. mine.toml:1: expected a [[cue]]"),
        (CUE, 'mine.toml:1: expected a line such as title = "Viterbi"'),
        (HEAD + "[[cue]]\npage = \n", "mine.toml:4: expected TOML"),
        (HEAD + '[[cue]]\nsay = "', "mine.toml:"),
        (HEAD + CUE * (MAX_CUES + 1), f"expected at most {MAX_CUES} cues"),
        (HEAD + '[[cue]]\npage = "nowhere"', "there is no page"),
        (" " * 1_000_001, "expected at most 1,000,000 characters"),
        ("minutes = 1e9" + CUE, "mine.toml:1"),
        (HEAD + "cue = 5\n", "no cue that can be shown. mine.toml:3: expected one of title"),
        (HEAD + "[cue]\n", "no cue that can be shown. mine.toml:"),
        (HEAD + "[[cue]]\nstep = " + "1" * 5000, "mine.toml:3: expected TOML"),
    ],
)
def test_invalid_lecture_is_rejected_with_its_place(text, message):
    with pytest.raises(FormatError) as refused:
        read(text)
    assert message in str(refused.value)


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.toml")), ids=lambda path: path.stem)
def test_damaged_lecture_files_raise_only_format_errors(path):
    chance, text, refusals = random.Random(0), path.read_text("utf-8"), []
    for _ in range(300):
        mutated = list(text)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(mutated))
            mutated[at : at + chance.choice((0, 1, 9))] = chance.choice(
                ("", "[", "]]", '"', "\n", "=", "{", "cue", "0", "\0", "é", "same = 1\n")
            )
        try:
            read("".join(mutated), path.name)
        except FormatError as refused:
            refusals.append(str(refused))
    assert refusals
    assert all(path.name in refusal for refusal in refusals)


POTENTIALS = Potentials(
    [[1.0, 0.5], [0.2, 0.9], [0.4, 0.3]],
    [[0.3, -0.7], [-0.2, 0.6]],
    start=[0.1, -0.4],
    end=[0.0, 0.5],
    tags=TAGS,
    tokens=("x", "y", "x"),
)


@pytest.fixture
def chain():
    now = Facts(analyse(POTENTIALS))
    return Chain(now, Facts(analyse(POTENTIALS.with_transition("A", "B", 3.0))))


def test_facts_equal_enumeration(chain):
    (best,) = oracle.best_paths(POTENTIALS)
    share = oracle.marginals(POTENTIALS)
    for t, word in enumerate((1, "y", 3)):
        assert evaluate(f"viterbi({word!r})", chain) == TAGS[best[t]]
        for k, tag in enumerate(TAGS):
            asked = {
                "marginal": share[t, k],
                "alpha": oracle.log_alpha(POTENTIALS, t, k),
                "beta": oracle.log_beta(POTENTIALS, t, k),
            }
            for fact, value in asked.items():
                found = evaluate(f"0 + {fact}({word!r}, {tag!r})", chain)
                assert found == pytest.approx(value), (fact, word, tag)
    assert evaluate("score('viterbi')", chain) == pytest.approx(oracle.best_score(POTENTIALS))
    assert evaluate("log_z()", chain) == pytest.approx(oracle.log_partition(POTENTIALS))
    assert evaluate("0 + p('viterbi')", chain) == pytest.approx(
        oracle.probability(POTENTIALS, best)
    )
    assert evaluate("paths()", chain) == len(oracle.paths(POTENTIALS))


def test_every_fact_can_be_evaluated(chain):
    asked = {
        "word(3)": "x",
        "greedy(1)": "A",
        "left_to_right('y')": "A",
        "emission(1, 'B')": 0.5,
        f"transition('{START}', 'B')": -0.4,
        f"transition('B', '{END}')": 0.5,
        "transition('B', 'A')": -0.2,
        "trained.transition('A', 'B')": 3.0,
        f"backpointer(1, 'A') == '{START}'": True,
        "max_marginal('y') == 'A' or max_marginal('y') == 'B'": True,
        "not (1 < 2 <= 2 and 'a' != 'b')": False,
        "-(1 + 2) * 4 / 6": -2.0,
    }
    for expression, value in asked.items():
        assert evaluate(expression, chain) == pytest.approx(value), expression
    for expression in ("alpha('y', 'A')", "beta('y', 'A')", "best('y', 'A')"):
        assert isinstance(evaluate(expression, chain), float)


def test_facts_in_a_text_are_replaced_by_formatted_numbers(chain):
    text = "{viterbi(1)} {marginal(1, 'A')} {emission(1, 'B') - 2} {paths() * 1000} {1 < 2}"
    share = evaluate("marginal(1, 'A')", chain).value
    assert fill_in(text, chain) == f"{evaluate('viterbi(1)', chain)} {share:.2f} −1.50 8,000 yes"


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "viterbi('x')",  # twice there
        "viterbi('nowhere')",
        "viterbi(4)",
        "viterbi()",
        "viterbi(1, 2)",
        "marginal(1, 'X')",
        "score('nobody')",
        "__import__('os')",
        "Facts",
        "trained",
        "other.viterbi(1)",
        "viterbi(1).upper()",
        "().__class__",
        "[1]",
        "1 if 2 else 3",
        "9 ** 9 ** 9",
        "'a' * 1000000000",
        "1 / 0",
        "1 < 'a'",
        "lambda: 1",
        "x := 1",
        "(" * 300,
    ],
)
def test_invalid_expression_is_rejected_with_a_message(chain, expression):
    with pytest.raises(CrfvizError) as refused:
        evaluate(expression, chain)
    assert type(refused.value) is not CrfvizError
