"""Questions about a chain: one right answer, that of enumeration, and no wrong one like it."""

import itertools
import math
import random
import re
from types import SimpleNamespace

import pytest
import torch

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.rules import analyse_match
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.views.quiz.question import FORMS, Ask, read_ask
from crfviz.views.quiz.selection import PAGES, due, next_question, question
from tests.support import oracle

CHAINS = 500
TAGS = ("A", "B", "C")


def chain_of(draw):
    """A small chain; many of them have halves for scores, so that something ties."""
    K, T = draw.choice((2, 3)), draw.choice((2, 3, 4))
    unit = draw.choice((0.5, 1e-9))

    def scores(*shape):
        numbers = [
            round(draw.gauss(0, 1.5) / unit) * unit for _ in range(torch.Size(shape).numel())
        ]
        return torch.tensor(numbers, dtype=torch.float64).reshape(shape)

    return SimpleNamespace(
        emissions=scores(T, K), transitions=scores(K, K), start=scores(K), end=scores(K)
    )


def analysed(chain):
    tables = (chain.emissions, chain.transitions, chain.start, chain.end)
    K, T = len(chain.start), len(chain.emissions)
    return analyse(Potentials(*tables, tags=TAGS[:K], tokens=[f"w{t}" for t in range(T)]))


def with_drop(chain, before, after):
    transitions = chain.transitions.clone()
    transitions[TAGS.index(before), TAGS.index(after)] -= 1
    return SimpleNamespace(**{**vars(chain), "transitions": transitions})


def larger(number):
    return "larger" if number > 0 else "smaller"


def best_before(chain, t, k):
    """The tags at t-1 of the prefixes that end in k at t and score most."""
    scores = {}
    for path in itertools.product(range(len(chain.start)), repeat=t + 1):
        if path[-1] == k:
            score = chain.start[path[0]].item() + sum(
                chain.emissions[i, tag].item() for i, tag in enumerate(path)
            )
            score += sum(chain.transitions[a, b].item() for a, b in itertools.pairwise(path))
            scores[path] = score
    best = max(scores.values())
    return {TAGS[path[-2]] for path, score in scores.items() if score >= best - 0.01}


def tags_at(chain, ask):
    """The tags that enumeration holds for right, with all that are about as good."""
    t = ask.word - 1
    if ask.kind == "greedy":
        row = chain.emissions[t].tolist()
        return {TAGS[k] for k, score in enumerate(row) if score >= max(row) - 0.01}
    if ask.kind == "viterbi":
        return {TAGS[path[t]] for path in oracle.best_paths(chain, within=0.01)}
    shares = {k: share for (at, k), share in oracle.marginals(chain).items() if at == t}
    return {TAGS[k] for k, share in shares.items() if share >= max(shares.values()) - 0.005}


def cost_of(chain, rule):
    """What enumeration and `re` say: tags are letters, so a rule without blanks is a pattern."""
    pattern = re.compile(rule.replace(" ", ""))
    matching = [
        score
        for path, score in oracle.allowed(chain)
        if pattern.fullmatch("".join(TAGS[k] for k in path))
    ]
    return oracle.best_score(chain) - max(matching)


def number_at(chain, ask):
    if ask.kind == "cost":
        return cost_of(chain, ask.rule)
    t, k = ask.word - 1, TAGS.index(ask.tags[0])
    tables = {"alpha": oracle.log_alpha, "beta": oracle.log_beta, "best": oracle.best_prefix}
    if ask.kind == "marginal":
        return oracle.marginals(chain)[t, k]
    return tables[ask.kind](chain, t, k)


def flip(chain, ask):
    after = oracle.best_paths(with_drop(chain, *ask.tags), within=0.01)
    (before,) = oracle.best_paths(chain, within=0.01)
    return {"yes" if before not in after else "no"} if len(after) == 1 else {"yes"}


def is_right(chain, trained, ask, choice):
    """Whether enumeration gives this choice, and how far from it a number lies."""
    if ask.kind in ("greedy", "viterbi", "max_marginal"):
        return {choice.text} == tags_at(chain, ask)
    if ask.kind == "backpointer":
        return {choice.text} == best_before(chain, ask.word - 1, TAGS.index(ask.tags[0]))
    if ask.kind == "flips":
        return {choice.text} == flip(chain, ask)
    if ask.kind == "log_z":
        after = with_drop(chain, *ask.tags) if ask.tags else chain
        before = chain if ask.tags else trained
        return choice.text == larger(oracle.log_partition(after) - oracle.log_partition(before))
    if ask.kind == "likeliest":
        (best,) = oracle.best_paths(chain, within=0.01)
        said = re.findall(r"(\d+) “w\d” (\w)", choice.text)
        return said and all(TAGS[best[int(t) - 1]] == tag for t, tag in said)
    digits = 2 if ask.kind == "marginal" else 1
    value = float(choice.text.replace("−", "-"))
    away = abs(value - number_at(chain, ask)) * 10**digits
    assert away <= 0.5 + 1e-6 or away > 0.9, "a wrong number that could pass for the right one"
    return away <= 0.5 + 1e-6


def any_ask(draw, kind, chain):
    word, tags = draw.randint(1, len(chain.emissions)), TAGS[: len(chain.start)]
    if kind == "log_z" and draw.random() < 0.5:
        return Ask(kind)
    if kind == "cost":
        return Ask(kind, rule=draw.choice(["A .*", ". B .*", "[^ A]* A? [^ A]*", "(B|A B)+"]))
    numbers = {"word": 0, "tag": 1, "from": 1, "to": 1}
    form = FORMS[kind]
    given = tuple(draw.choice(tags) for _ in range(sum(numbers[each] for each in form)))
    return Ask(kind, word if "word" in form else None, given)


def test_every_question_has_one_right_answer_equal_to_enumeration():
    draw = random.Random(13)
    asked = dict.fromkeys(FORMS, 0)
    kinds, pages = itertools.cycle(FORMS), itertools.cycle(PAGES)
    for number in range(CHAINS):
        trained = chain_of(draw)
        edited = draw.random() < 0.5
        chain = with_drop(trained, "A", "B") if edited else trained
        before = analysed(trained)
        now = analysed(chain) if edited else before
        found = [question(now, before, any_ask(draw, next(kinds), chain))]
        if number % 10 == 0:
            found.append(next_question(now, before, next(pages)))
        for one in filter(None, found):
            right = [choice for choice in one.choices if is_right(chain, trained, one.ask, choice)]
            assert right == [one.choices[one.right]], (one, vars(chain))
            texts = [choice.text for choice in one.choices]
            assert len(set(texts)) == len(texts) >= 2
            assert all(choice.why for choice in one.choices)
            asked[one.ask.kind] += 1
    assert min(asked.values()) >= 6, asked


def test_tied_questions_are_not_asked():
    even = analyse(Potentials([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], tags=TAGS[:2]))
    for kind in ("greedy", "viterbi", "max_marginal"):
        assert question(even, even, Ask(kind, 1)) is None
    assert question(even, even, Ask("backpointer", 2, ("A",))) is None
    assert question(even, even, Ask("likeliest")) is None
    assert question(even, even, Ask("log_z")) is None


def test_chain_without_a_path_gets_only_answerable_questions():
    never = [[float("-inf")] * 2] * 2
    blocked = analyse(Potentials([[0.0, 1.0], [2.0, 0.0]], never, tags=TAGS[:2]))
    for page in PAGES:
        found = next_question(blocked, blocked, page)
        assert found is None or found.ask.kind in ("greedy", "alpha", "beta", "best")


@pytest.mark.parametrize(
    "ask",
    [
        Ask("viterbi", 3),
        Ask("alpha", "bed", ("NOUN",)),
        Ask("flips", tags=("A'B", 'C"')),
        Ask("log_z"),
        Ask("log_z", tags=("A", "B")),
        Ask("likeliest"),
        Ask("cost", rule="[^ 'A']* B{2}"),
    ],
)
def test_question_text_is_parsed_back(ask):
    assert read_ask(str(ask)) == ask


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alpha",
        "alpha(1)",
        "alpha(1, 2)",
        "viterbi(True)",
        "os.system('x')",
        "nothing(1)",
        "cost()",
        "cost('')",
        "cost(1)",
        "(" * 500,
    ],
)
def test_invalid_question_is_rejected(text):
    with pytest.raises(FormatError, match=r"expected a question, one of greedy\(word\)"):
        read_ask(text)


def test_cost_of_a_rule_is_asked_only_if_positive():
    chain = analysed(chain_of(random.Random(1)))
    for rule in (".*", "A{9}"):  # the best path matches; nothing does
        assert question(chain, chain, Ask("cost", rule=rule)) is None
    with pytest.raises(FormatError, match="column 3"):
        question(chain, chain, Ask("cost", rule="A (B"))


def test_marginals_under_a_rule_equal_those_of_matching_paths():
    draw, asked = random.Random(3), 0
    for _ in range(20):
        chain = chain_of(draw)
        tables = (chain.emissions, chain.transitions, chain.start, chain.end)
        tags = TAGS[: len(chain.start)]
        potentials = Potentials(*tables, tags=tags, tokens=list("abcd")[: len(chain.emissions)])
        now = analyse_match(potentials, "[^ B]* B .*")  # a B somewhere
        paths = [p for p in itertools.product(range(len(tags)), repeat=len(now.words)) if 1 in p]
        weights = torch.tensor([potentials.score(path) for path in paths]).softmax(0)
        shares = torch.zeros(len(now.words), len(tags)).double()
        for path, weight in zip(paths, weights.double(), strict=True):
            shares[torch.arange(len(path)), list(path)] += weight
        for t, k in itertools.product(range(len(now.words)), range(len(tags))):
            found = question(now, now, Ask("marginal", t + 1, (tags[k],)))
            if found is not None:
                asked += 1
                said = float(found.choices[found.right].text.replace("\u2212", "-"))
                assert said == pytest.approx(shares[t, k].item(), abs=0.0051)
            found = question(now, now, Ask("max_marginal", t + 1))
            if found is not None:
                asked += 1
                assert found.choices[found.right].text == tags[shares[t].argmax()]
                assert "rule" in found.hint
        assert question(now, now, Ask("log_z", tags=("A", "B"))) is None
    assert asked > 30


@pytest.mark.parametrize("text", ["viterbi(9)", "viterbi('x')", "alpha(1, 'X')", "flips('X', 'A')"])
def test_unknown_word_or_tag_is_rejected(text):
    chain = analysed(chain_of(random.Random(1)))
    with pytest.raises(CrfvizError):
        question(chain, chain, read_ask(text))


def numbers_in(row):
    return [float(text.replace("−", "-")) for text in row[1:] if text]


def computed(ask, rows):
    """The answer that the shown operands give, with the formula of each table."""
    columns = list(map(numbers_in, rows[1:]))
    if len(columns) == 1:  # END alone
        return columns[0][0]
    if len(rows[0]) == 2 and rows[0][1] == "":  # START and the emission
        return sum(column[0] for column in columns)
    terms = [sum(parts) for parts in zip(*columns[: 3 if ask.kind == "beta" else 2], strict=True)]
    total = max(terms) if ask.kind == "best" else math.log(sum(map(math.exp, terms)))
    return total if ask.kind == "beta" else total + columns[2][0]


def test_shown_operands_give_the_answer():
    draw = random.Random(7)
    seen = []
    for _ in range(200):
        now = analysed(chain_of(draw))
        T = len(now.words)
        kind = draw.choice(["alpha", "beta", "best"])
        ask = Ask(kind, 1 + draw.randrange(T), (draw.choice(now.tags),))
        found = question(now, now, ask)
        if found is None:
            continue
        right = float(found.choices[found.right].text.replace("−", "-"))
        assert computed(ask, found.operands) == pytest.approx(right, abs=0.1), (ask, found)
        seen.append((kind, ask.word in (1, T)))
    assert {(kind, edge) for kind in ("alpha", "beta", "best") for edge in (True, False)} == {*seen}


def test_operands_hold_the_largest_terms_of_many_tags():
    generator = torch.Generator().manual_seed(5)
    scores = torch.randn(3, 12, generator=generator, dtype=torch.float64)
    steps = torch.randn(12, 12, generator=generator, dtype=torch.float64)
    names = [f"T{k}" for k in range(12)]
    now = analyse(Potentials(scores, steps, tags=names, tokens=["a", "b", "c"]))
    found = question(now, now, Ask("best", 2, ("T4",)))
    shown = [name for name in found.operands[0] if name not in ("", "…")]
    terms = (scores[0] + steps[:, 4]).tolist()
    best = sorted(range(12), key=lambda k: -terms[k])[:7]
    assert shown == [f"T{k}" for k in sorted(best)]
    assert found.operands[0][-1] == "…"


@pytest.mark.parametrize(
    ("page", "kinds"),
    [
        ("viterbi", [{"best", "backpointer"}] * 3 + [{"viterbi"}] * 3),
        ("forward-backward", [{"alpha"}] * 3 + [set()] + [{"beta"}] * 3),
    ],
)
def test_question_is_about_the_column_that_the_next_step_computes(page, kinds):
    columns = {"best": [0, 1, 2], "backpointer": [0, 1, 2], "viterbi": [2, 1, 0]}
    columns |= {"alpha": [0, 1, 2], "beta": [2, 1, 0]}
    draw = random.Random(3)
    followed = 0
    for _ in range(60):
        chain = chain_of(draw)
        if len(chain.emissions) != 3:
            continue
        now = analysed(chain)
        for done, kind in enumerate(kinds):
            places = due(page, done, 3)
            assert set(places) == kind
            assert all(
                t == columns[each][done % 3 if page == "viterbi" else done - 4 * (done > 3)]
                for each, t in places.items()
            )
            found = next_question(now, now, page, done=done)
            if places and found is not None and found.ask.kind in places:
                assert found.ask.word == places[found.ask.kind] + 1
                followed += 1
        assert due(page, 2 * 3 + (page != "viterbi"), 3) == {}
    assert followed > 60
