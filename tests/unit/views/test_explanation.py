"""The sentences: every number in them recomputed from the potentials, in plain Python."""

import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, event, given
from hypothesis import strategies as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import gradient_step
from crfviz.views.explanation import edit_list, explain, explain_edits, step_note
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf
NUMBER = r"[−+]?[\d.]+(?:e[−+]\d+)?"
LONE = re.compile(
    r"Viterbi tags “w(\d+)” (\w+) although its emission "
    rf"(?:prefers (\w+) by ({NUMBER}) nats|scores (\w+) as high): the transition (.*)\."
)
BEATS = rf"(\S+) beats (\S+) by ({NUMBER})"
DECIDES = re.compile(rf"{BEATS}(?: \(the other neighbour: ({NUMBER})\))?")
TOGETHER = re.compile(rf"{BEATS}, and {BEATS}")
TURN = re.compile(
    rf"Greedy tags “w(\d+)” (\w+), (as good as|({NUMBER}) better than) (\w+) so far[,;] (.*)\."
)
SHIFT = re.compile(
    r"For “w(\d+)” max-marginal takes (\w+) \(p (\S+)\): all paths through it together weigh "
    r"(as much as|more than) those through (\w+) \(p (\S+)\), which lies on (.*)\."
)
TIE = " Another path is exactly as good."


def test_edit_list_names_every_kind_of_edit_and_counts_those_of_the_sentence():
    edits = Edits({("A", "B"): -3.0}, {(1, "B"): -INF, (9, "B"): 1.0}, strength=0.5)
    listed = edit_list(edits, ["w0", "w1"])
    assert listed == "3 edits: A → B −3.00, 2 “w1” B −∞, transitions × 0.5"
    assert edit_list(Edits(), ["w0"]) == ""
    assert edit_list(Edits(constrained=False), ["w0"]) == "1 edit: without the hard constraints"


def test_tags_with_braces_are_written_as_they_are():
    tags = ["{0}", "{}"]
    chain = Potentials([[0.0, 1.0], [1.0, 0.0]], [[5, 0], [0, 0]], tags=tags, tokens=["a", "b"])
    assert "the transition {0}→{0} beats {}→{0} by 5" in explain(analyse(chain))


def named(potentials):
    """The analysis with words w0, w1, ... and tags A, B, ..."""
    words = [f"w{t}" for t in range(potentials.num_tokens)]
    tags = list("ABCDEFGHIJKLMNOPQ"[: potentials.num_tags])
    return analyse(replace(potentials, tags=tags, tokens=words))


def sentence(potentials):
    return explain(named(potentials))


def assert_says(text, value):
    """`text` is `value` as far as its digits go, and at least with two decimals or two figures."""
    plain = text.replace("−", "-").replace("+", "")
    mantissa, _, exponent = plain.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    assert abs(float(plain) - value) <= 0.5 * 10**-digits + 1e-9 * max(1.0, abs(value))
    assert digits >= 2


class Sides:
    """One chain in plain lists: what a tag gains at each side of a word."""

    def __init__(self, potentials):
        self.num_tokens, self.num_tags = potentials.emissions.shape
        self.emissions = potentials.emissions.tolist()
        self.start, self.end = potentials.start.tolist(), potentials.end.tolist()
        table = potentials.transitions.tolist()
        per_step = potentials.transitions.dim() == 3
        self.steps = table if per_step else [table] * (self.num_tokens - 1)

    def left(self, path, t, tag):
        return self.start[tag] if t == 0 else self.steps[t - 1][path[t - 1]][tag]

    def right(self, path, t, tag):
        last = t == self.num_tokens - 1
        return self.end[tag] if last else self.steps[t][tag][path[t + 1]]

    def arriving(self, path, t, tag):
        """What greedy decoding sees at t, having come along `path`."""
        last = t == self.num_tokens - 1
        return self.left(path, t, tag) + self.emissions[t][tag] + (self.end[tag] if last else 0.0)

    def score(self, path):
        total = self.start[path[0]] + self.end[path[-1]]
        total += sum(row[tag] for row, tag in zip(self.emissions, path, strict=True))
        return total + sum(
            step[move[0]][move[1]] for step, move in zip(self.steps, pairwise(path), strict=True)
        )

    def step_name(self, path, t, tag, side):
        """How the step between the tag at t and what stands at that side of it is written."""
        if side == "left":
            return f"{'START' if t == 0 else 'ABCDE'[path[t - 1]]}→{'ABCDE'[tag]}"
        last = t == self.num_tokens - 1
        return f"{'ABCDE'[tag]}→{'END' if last else 'ABCDE'[path[t + 1]]}"


def first_difference(first, second):
    return next(t for t, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1])


def lone_example(
    transitions=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    start=(0.0, 0.0, 0.0),
    end=(0.0, 0.0, 0.0),
    emissions=((3.0, 0.0, 0.0), (0.0, 1.0, 2.0)),
):
    return Potentials(emissions, transitions, start, end)


# Tags A, B, C; words w0, w1. The emission prefers C to B by 1 at w1.
LONE_EXAMPLES = {
    "left decides": (
        lone_example([[0, 2.5, 0], [0, 0, 0], [0, 0, 0]]),
        "prefers C by 1.00 nats: the transition A→B beats A→C by 2.50.",
    ),
    "left decides against the right": (
        lone_example([[0, 2.5, 0], [0, 0, 0], [0, 0, 0]], end=[0, 0, 0.5]),
        "prefers C by 1.00 nats: "
        "the transition A→B beats A→C by 2.50 (the other neighbour: −0.50).",
    ),
    "right decides": (
        lone_example(end=[0, 0, -1.25]),
        "prefers C by 1.00 nats: the transition B→END beats C→END by 1.25.",
    ),
    "right decides with the left": (
        lone_example([[0, 0.2, 0], [0, 0, 0], [0, 0, 0]], end=[0, 0, -1.5]),
        "prefers C by 1.00 nats: "
        "the transition B→END beats C→END by 1.50 (the other neighbour: +0.20).",
    ),
    "both are needed": (
        lone_example([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]], end=[0, 0, -0.75]),
        "prefers C by 1.00 nats: "
        "the transition B→END beats C→END by 0.75, and A→B beats A→C by 0.50.",
    ),
    "the step to it is forbidden": (
        lone_example([[0, 0, -INF], [0, 0, 0], [0, 0, 0]]),
        "prefers C by 1.00 nats: the transition A→C is forbidden.",
    ),
    "it may not end": (
        lone_example(end=[0, 0, -INF]),
        "prefers C by 1.00 nats: the transition C→END is forbidden.",
    ),
    "the word cannot tell": (
        lone_example(
            [[0, 0.25, 2.5], [0, 0, 0], [0, 0, 0]], emissions=[[3.0, 0, 0], [0.0, 2.0, 2.0]]
        ),
        "scores B as high: the transition A→C beats A→B by 2.25.",
    ),
}


@pytest.mark.parametrize(
    ("potentials", "expected"), LONE_EXAMPLES.values(), ids=LONE_EXAMPLES.keys()
)
def test_note_names_the_deciding_side_of_an_inner_word(potentials, expected):
    tag = "C" if "B as high" in expected else "B"
    opening = f"Viterbi tags “w1” {tag} although its emission "
    assert sentence(potentials) == opening + expected


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ([0.0, 0.0], "A→A beats B→A by 1.50."),
        ([0.0, 0.3], "A→A beats B→A by 1.50 (the other neighbour: −0.30)."),
        ([9.0, 0.0], "START→A beats START→B by 9.00 (the other neighbour: +1.50)."),
        ([0.0, -INF], "START→B is forbidden."),
    ],
    ids=["right", "right against the left", "left", "forbidden start"],
)
def test_note_of_the_first_word_compares_start_and_next(start, expected):
    potentials = Potentials([[0.0, 1.0], [2.0, 0.0]], [[1.5, 0.0], [0.0, 0.0]], start)
    opening = "Viterbi tags “w0” A although its emission prefers B by 1.00 nats: the transition "
    assert sentence(potentials) == opening + expected


def test_note_of_a_single_word_compares_start_and_end():
    potentials = Potentials([[0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]], [2.0, 0.0], [0.5, 0.0])
    assert sentence(potentials) == (
        "Viterbi tags “w0” A although its emission prefers B by 1.00 nats: the transition "
        "START→A beats START→B by 2.00 (the other neighbour: +0.50)."
    )


def test_note_uses_the_transitions_of_its_step():
    """The matrix into w2 speaks for B, the matrix out of it for A; the first one is far off."""
    into_1 = [[7.0, -7.0], [-7.0, 7.0]]
    into_2 = [[0.0, 3.0], [0.0, 0.0]]
    into_3 = [[0.25, 0.0], [0.0, 0.0]]
    emissions = [[5.0, 0.0], [5.0, 0.0], [1.0, 0.0], [5.0, 0.0]]
    assert sentence(Potentials(emissions, [into_1, into_2, into_3])) == (
        "Viterbi tags “w2” B although its emission prefers A by 1.00 nats: the transition "
        "A→B beats A→A by 3.00 (the other neighbour: −0.25)."
    )


def test_tiny_differences_are_not_rounded_to_zero():
    potentials = Potentials([[0.0, 0.0012]], torch.zeros(2, 2), [0.0034, 0.0])
    assert "by 1e−03 nats: the transition START→A beats START→B by 3e−03" in sentence(potentials)


LEFT_TO_RIGHT = Potentials([[1.0, 0.5], [1.0, 0.0]], [[2.0, 0.0], [0.0, 0.0]], [0.0, 1.0])


def test_greedy_note_has_the_early_gain_and_the_later_cost():
    assert sentence(LEFT_TO_RIGHT) == (
        "Greedy tags “w0” B, 0.50 better than A so far; "
        "the rest costs it 2.00, so its path scores 1.50 less than Viterbi's."
    )


def test_greedy_note_reports_a_forbidden_path():
    trap = LEFT_TO_RIGHT.with_transition("1", "0", -INF).with_transition("1", "1", -INF)
    assert sentence(trap) == (
        "Greedy tags “w0” B, 0.50 better than A so far, but its path is forbidden."
    )


def test_greedy_note_reports_an_equally_good_path():
    level = Potentials([[0.0, 1.0], [1.0, 0.0]], [[-5.0, 1.0], [0.0, -5.0]], [1.0, 0.0])
    assert sentence(level) == (
        f"Greedy tags “w0” A, as good as B so far, and its path scores as much as Viterbi's.{TIE}"
    )


def test_greedy_note_reports_a_tie_within_rounding():
    """Half a millionth decides the last step, and is within rounding of a path worth a million."""
    large = Potentials([[1e6, 0.0], [1.0, 0.0]], torch.zeros(2, 2), end=[0.0, 1.0 + 5e-7])
    assert sentence(large) == (
        "Greedy tags “w1” B, 5e−07 better than A so far, "
        f"and its path scores as much as Viterbi's.{TIE}"
    )


def joint(probabilities):
    """Two words; the words alone and the first step speak for A, the pairs are as given."""
    table = torch.tensor(probabilities, dtype=torch.float64)
    emissions = torch.zeros(2, len(table), dtype=torch.float64)
    emissions[:, 0] = 1.0
    return Potentials(emissions, table.log() - emissions[0][:, None] - emissions[1][None, :])


def test_max_marginal_note_sums_over_paths():
    assert sentence(joint([[0.35, 0, 0], [0, 0.33, 0.32], [0, 0, 0]])) == (
        "For “w0” max-marginal takes B (p 0.65): all paths through it together weigh more than "
        "those through A (p 0.35), which lies on the single best path."
    )


def test_close_marginals_get_more_digits():
    """At two digits both are 0.50, and at four too."""
    text = sentence(joint([[0.499999, 0, 0], [0, 0.25, 0.250001], [0, 0, 0]]))
    assert "takes B (p 0.500001)" in text
    assert "through A (p 0.499999)" in text


def test_max_marginal_note_reports_a_tie_with_viterbi():
    chain = Potentials(
        [[0.0, 1.0], [0.0, 9.0]],
        [[math.log(0.25) - 0.0, math.log(0.25) - 9.0], [-INF, math.log(0.5) - 10.0]],
    )
    assert sentence(chain) == (
        "For “w0” max-marginal takes A (p 0.50): all paths through it together weigh as much as "
        "those through B (p 0.50), which lies on the single best path."
    )


def test_note_reports_that_all_decoders_agree():
    potentials = Potentials([[2.0, 0.0]], torch.zeros(2, 2))
    assert sentence(potentials) == (
        "All decoders agree on this sentence: the transitions do not change these "
        "tags. The best path has probability 0.88."
    )


def test_note_reports_a_tie():
    assert sentence(Potentials(torch.zeros(1, 2), torch.zeros(2, 2))).endswith(f"0.50.{TIE}")


@pytest.mark.parametrize(
    "potentials",
    [
        Potentials(torch.zeros(2, 2), torch.full((2, 2), -INF)),
        Potentials(torch.full((1, 1), -INF), torch.zeros(1, 1)),
    ],
    ids=["transitions", "one cell"],
)
def test_note_without_a_path_suggests_undoing_an_edit(potentials):
    assert "No tag sequence is allowed" in sentence(potentials)
    assert "Undo an edit" in sentence(potentials)


def test_words_are_quoted_unescaped():
    chain = replace(LEFT_TO_RIGHT, tokens=["<b>", "<b>"])
    assert "“<b>”" in explain(analyse(chain))


@fewer_examples
@given(chains(max_tokens=4, max_tags=4))
def test_every_number_equals_the_potentials(potentials):
    assume(oracle.best_score(potentials) > -INF)
    analysis = analyse(potentials)
    text = sentence(potentials)
    assert text.endswith(TIE) == (len(oracle.best_paths(potentials)) > 1)
    text = text.removesuffix(TIE)
    if analysis.viterbi.path != analysis.greedy:
        event("independent")
        check_lone(Sides(potentials), analysis, text)
    elif analysis.viterbi.path != analysis.left_to_right:
        event("greedy")
        check_turn(Sides(potentials), analysis, text)
    elif analysis.viterbi.path == analysis.max_marginal:
        event("all agree")
        assert text.startswith("All decoders agree")
        found = re.search(r"probability (\S+)\.$", text).group(1)
        assert_says(found, oracle.probability(potentials, analysis.viterbi.path))


@fewer_examples
@given(chains(min_tokens=2, max_tokens=4, max_tags=3))
def test_every_number_equals_the_potentials_where_greedy_equals_viterbi(potentials):
    """The other sentences show only then, and chance seldom makes it so."""
    assume(oracle.best_score(potentials) > -INF)
    path = analyse(potentials).viterbi.path
    sides = Sides(potentials)
    start = [sides.start[tag] + sides.emissions[0][tag] for tag in range(sides.num_tags)]
    emissions = torch.zeros_like(potentials.emissions)
    steps = torch.tensor(sides.steps, dtype=torch.float64) + potentials.emissions[1:, None, :]
    for t, tag in enumerate(path):  # a bonus at the word, taken back on the way there
        emissions[t, tag] = 1.0
        if t > 0:
            steps[t - 1, :, tag] -= 1.0
    start[path[0]] -= 1.0
    moved = Potentials(emissions, steps, start, potentials.end)
    analysis = analyse(moved)
    assume(analysis.viterbi.path == path)
    assert analysis.greedy == path
    text = sentence(moved).removesuffix(TIE)
    if analysis.left_to_right != path:
        event("greedy")
        check_turn(Sides(moved), analysis, text)


@fewer_examples
@given(st.lists(st.integers(0, 99), min_size=8, max_size=8), st.integers(0, 2))
def test_every_number_equals_the_marginals(weights, more):
    table = torch.tensor([max(weights) + more, *weights], dtype=torch.float64).reshape(3, 3)
    assume(table[0, 0] > 0)
    chain = joint((table / table.sum()).tolist())
    analysis = analyse(chain)
    assume(analysis.viterbi.path == [0, 0] != analysis.max_marginal)
    text = sentence(chain)
    assert text.endswith(TIE) == (max(weights) == table[0, 0])
    check_shift(chain, analysis, text.removesuffix(TIE))


def check_lone(sides, analysis, text):
    path, greedy = analysis.viterbi.path, analysis.greedy
    t = first_difference(path, greedy)
    ours, theirs = path[t], greedy[t]
    lead = sides.emissions[t][theirs] - sides.emissions[t][ours]
    word, tag, preferred, by, level_with, reason = LONE.fullmatch(text).groups()
    assert (tag, int(word), preferred or level_with) == ("ABCDE"[ours], t, "ABCDE"[theirs])
    if by is None:
        assert lead == pytest.approx(0.0, abs=1e-9)
    else:
        assert lead > 0.0
        assert_says(by, lead)
    gains = {}
    for side in ("left", "right"):
        here = getattr(sides, side)
        steps = tuple(sides.step_name(path, t, k, side) for k in (ours, theirs))
        gains[steps] = here(path, t, ours) - here(path, t, theirs)
    forbidden = [steps[1] for steps, gain in gains.items() if gain == INF]
    if forbidden:
        assert reason == f"{forbidden[0]} is forbidden"
        return
    large, small = sorted(gains.values(), reverse=True)
    if large >= lead - 1e-9:
        step, beaten, gain, other = DECIDES.fullmatch(reason).groups()
        assert (other is None) == (abs(small) < 0.05)
        if other is not None:
            assert_says(other, small)
    else:
        step, beaten, gain, *second = TOGETHER.fullmatch(reason).groups()
        assert gains[second[0], second[1]] == small
        assert_says(second[2], small)
    assert gains[step, beaten] == large
    assert_says(gain, large)


def check_turn(sides, analysis, text):
    path, greedy = analysis.viterbi.path, analysis.left_to_right
    t = first_difference(path, greedy)
    lead = sides.arriving(path, t, greedy[t]) - sides.arriving(path, t, path[t])
    lost = sides.score(path) - sides.score(greedy)
    word, tag, better, by, other, outcome = TURN.fullmatch(text).groups()
    assert (tag, int(word), other) == ("ABCDE"[greedy[t]], t, "ABCDE"[path[t]])
    if by is None:
        assert better == "as good as"
        assert lead == pytest.approx(0.0, abs=1e-9)
    else:
        assert lead > 0.0
        assert_says(by, lead)
    if lost == INF:
        assert outcome == "but its path is forbidden"
    elif lost <= 1e-9:
        assert outcome == "and its path scores as much as Viterbi's"
    else:
        costs = re.fullmatch(
            rf"the rest costs it ({NUMBER}), so its path scores ({NUMBER}) less than Viterbi's",
            outcome,
        )
        assert_says(costs.group(1), lost + lead)
        assert_says(costs.group(2), lost)


def check_shift(potentials, analysis, text):
    assert analysis.greedy == analysis.left_to_right == analysis.viterbi.path
    path, likeliest = analysis.viterbi.path, analysis.max_marginal
    t = first_difference(path, likeliest)
    word, tag, first, weigh, other, second, best = SHIFT.fullmatch(text).groups()
    assert (int(word), tag, other) == (t, "ABCDE"[likeliest[t]], "ABCDE"[path[t]])
    marginals = oracle.marginals(potentials)
    theirs, ours = marginals[t, likeliest[t]], marginals[t, path[t]]
    assert_says(first, theirs)
    assert_says(second, ours)
    assert (weigh == "as much as") == (theirs == pytest.approx(ours, abs=1e-9))
    assert (best == "a best path") == (len(oracle.best_paths(potentials)) > 1)


def edited(before, after):
    return explain_edits(named(before), named(after))


def test_edit_note_has_the_new_probability_of_an_unchanged_path():
    before = Potentials([[2.0, 0.0]], torch.zeros(2, 2))
    assert edited(before, before.with_emission(0, 0, 1.0)) == (
        "The best path stays as it was; p(best path) 0.88 → 0.73."
    )


def test_edit_note_names_the_changed_words():
    before = Potentials([[2.0, 0.0], [0.0, 2.0]], torch.zeros(2, 2))
    assert edited(before, before.with_emission(1, 0, 4.0)) == (
        "The best path changes at “w1” B → A; p(best path) 0.78 → 0.78."
    )


@pytest.mark.parametrize(("moved", "more"), [(3, ""), (4, " and 1 more"), (6, " and 3 more")])
def test_edit_note_names_at_most_three_words(moved, more):
    before = Potentials([[9.0, 0.0]] * 6, torch.zeros(2, 2))
    after = Potentials([[0.0, 9.0]] * moved + [[9.0, 0.0]] * (6 - moved), torch.zeros(2, 2))
    assert edited(before, after).startswith(
        f"The best path changes at “w0” A → B, “w1” A → B, “w2” A → B{more}; "
    )


def test_edit_note_without_a_path_says_so():
    before = Potentials([[2.0, 0.0]], torch.zeros(2, 2))
    nothing = before.pin({0: 0}).with_start(0, -INF)
    assert "No tag sequence is allowed" in edited(before, nothing)
    assert "All decoders agree" in edited(nothing, before)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3, forbidden=False))
def test_edit_note_has_the_probabilities_before_and_after(potentials):
    after = potentials.scale_transitions(0.0)
    text = edited(potentials, after)
    before, now = re.search(r"p\(best path\) (\S+) → (\S+)\.$", text).groups()
    path = analyse(potentials).viterbi.path
    alone = [row.index(max(row)) for row in potentials.emissions.tolist()]
    assert_says(before, oracle.probability(potentials, path))
    assert_says(now, oracle.probability(after, alone))
    changed = sum(a != b for a, b in zip(path, alone, strict=True))
    stays = ("The best path stays", "This edit changes nothing")
    assert text.startswith(stays if changed == 0 else "The best path changes at")


COIN = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])


def test_step_note_has_the_loss_before_after_and_predicted():
    """Three coins: a loss of log 8; gradient 1/2 in the four transitions and in start and end."""
    step = gradient_step(COIN, [0, 0, 1], 0.5)
    moved = step.potentials
    after = oracle.log_partition(moved) - oracle.paths(moved)[0, 0, 1]
    change = f"−{math.log(8) - after:.4f}"
    assert step_note(step, COIN, math.log(8)).startswith(
        f"−log p(gold tags): 2.0794 → {after:.4f} nats after this step (2.0794 as trained): "
        f"{change}, first-order prediction: −1.0000. Most change "
    )
    assert "(∞ as trained)" in step_note(step, COIN, math.inf)


def test_step_note_names_the_most_changed_weights():
    right = [0, 1, 0]
    step = gradient_step(COIN, right, 1.0)
    before, after = oracle_weights(COIN), oracle_weights(step.potentials)
    largest = max(before, key=lambda weight: abs(after[weight] - before[weight]))
    told = step_note(step, COIN, 0.0).partition("Most change ")[2]
    source, target = largest
    size = f"{abs(after[largest] - before[largest]):.2f}"
    assert told.count("→") == 2 * 3
    assert size in told.split(",")[0]
    assert {source, target} <= {"START", "END", *COIN.tag_names}


def oracle_weights(chain):
    """Each weight of the layer by the names of its tags."""
    names = chain.tag_names
    moves = {
        (a, b): chain.transitions[i][j].item()
        for i, a in enumerate(names)
        for j, b in enumerate(names)
    }
    starts = {("START", tag): chain.start[k].item() for k, tag in enumerate(names)}
    return moves | starts | {(tag, "END"): chain.end[k].item() for k, tag in enumerate(names)}
