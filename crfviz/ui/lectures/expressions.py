"""Expressions in lectures, evaluated on the chain on the screen.

A cue's text has expressions in braces, and `holds` lists comparisons that must be true:

    say = "Alone it is {greedy('tossed')}, with {marginal('tossed', 'VERB')} of all paths."
    holds = ["greedy('tossed') != viterbi('tossed')", "log_z() > trained.log_z()"]

A word is given by its text, if that occurs once, or by its number from 1. `trained.` evaluates a
function on the chain without edits and pins. The functions are those in `FACTS`. They combine with
numbers, texts, comparisons, `and`, `or`, `not`, `+`, `-`, `*` and `/`.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.distribution import probability as share_of
from crfviz.chain.edits import END, START
from crfviz.chain.questions.rules import match
from crfviz.exceptions import FormatError, UnknownObservationError
from crfviz.ui import cached
from crfviz.ui.scene import countable_rule
from crfviz.ui.state.scenario import RULE, Scenario
from crfviz.ui.words import quote
from crfviz.views.formatting import format_probability, score
from crfviz.views.quiz.question import Question, read_ask
from crfviz.views.quiz.selection import question

MAX_LENGTH = 200  # characters of an expression
_BRACES = re.compile(r"\{([^{}]*)\}")
_OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True)
class Probability:
    """A probability from 0 to 1; a class of its own, because scores are formatted differently."""

    value: float


class Facts:
    """The functions that expressions can call, for one sentence of T words with K tags."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def word(self, word: str | int) -> str:
        """Return the text of a word."""
        return self._analysis.words[self._position(word)]

    def greedy(self, word: str | int) -> str:
        """Return the word's tag under independent decoding."""
        return self._of_path("greedy", word)

    def left_to_right(self, word: str | int) -> str:
        """Return the word's tag under greedy decoding, from left to right."""
        return self._of_path("left_to_right", word)

    def viterbi(self, word: str | int) -> str:
        """Return the word's tag on the best path."""
        return self._of_path("viterbi", word)

    def max_marginal(self, word: str | int) -> str:
        """Return the word's tag with the largest marginal."""
        return self._of_path("max_marginal", word)

    def emission(self, word: str | int, tag: str) -> float:
        """Return the emission score of a tag at a word, in nats."""
        return self._cell(self._analysis.potentials.emissions, word, tag)

    def transition(self, source: str, target: str) -> float:
        """Return a transition score, in nats; the source may be START, the target END.

        If each step has its own matrix, the first one counts.
        """
        potentials = self._analysis.potentials
        if source == START:
            return float(potentials.start[potentials.tag_id(target)])
        if target == END:
            return float(potentials.end[potentials.tag_id(source)])
        matrix = potentials.transitions[..., potentials.tag_id(source), potentials.tag_id(target)]
        return float(matrix.flatten()[0])

    def alpha(self, word: str | int, tag: str) -> float:
        """Return α: the log-sum-exp of all prefixes that end in this tag at this word, in nats."""
        return self._cell(self._analysis.forward_backward.log_alpha, word, tag)

    def beta(self, word: str | int, tag: str) -> float:
        """Return β: the log-sum-exp of all suffixes after this tag at this word, in nats."""
        return self._cell(self._analysis.forward_backward.log_beta, word, tag)

    def best(self, word: str | int, tag: str) -> float:
        """Return the score of the best prefix that ends in this tag at this word, in nats."""
        return self._cell(self._analysis.best, word, tag)

    def backpointer(self, word: str | int, tag: str) -> str:
        """Return the previous tag on the best prefix into this tag; START at the first word."""
        before = int(self._cell(self._analysis.backpointers, word, tag))
        return START if before < 0 else self._analysis.tags[before]

    def marginal(self, word: str | int, tag: str) -> Probability:
        """Return the marginal probability of a tag at a word."""
        return Probability(self._cell(self._analysis.forward_backward.marginals, word, tag))

    def log_z(self) -> float:
        """Return log Z, the log-sum-exp of the scores of all paths, in nats."""
        return self._analysis.forward_backward.log_partition

    def score(self, decoder: str) -> float:
        """Return the score of a decoder's path, in nats."""
        return self._analysis.potentials.score(self._path(decoder))

    def p(self, decoder: str) -> Probability:
        """Return the probability of a decoder's path."""
        return Probability(share_of(self.score(decoder), self.log_z()))

    def rule(self, pattern: str) -> Probability:
        """Return the probability that a path matches a rule."""
        return Probability(match(self._analysis.potentials, pattern).probability)

    def rule_cost(self, pattern: str) -> float:
        """Return how much lower the best matching path scores than the best path, in nats."""
        return match(self._analysis.potentials, pattern).cost

    def paths(self) -> int:
        """Return the number of paths: K to the power T."""
        return int(len(self._analysis.tags) ** len(self._analysis.words))

    def _of_path(self, decoder: str, word: str | int) -> str:
        return self._analysis.tags[self._path(decoder)[self._position(word)]]

    def _path(self, decoder: str) -> list[int]:
        path = self._analysis.paths.get(decoder)
        if path is None:
            known = ", ".join(self._analysis.paths)
            raise FormatError(f"expected a decoder with a path, of {known}; got {quote(decoder)}")
        return path

    def _cell(self, table: Any, word: str | int, tag: str) -> float:  # noqa: ANN401 - (T, K) tensor
        return float(table[self._position(word), self._analysis.potentials.tag_id(tag)])

    def _position(self, word: str | int) -> int:
        words = self._analysis.words
        if isinstance(word, int) and 1 <= word <= len(words):
            return word - 1
        if words.count(str(word)) == 1:
            return words.index(str(word))
        raise UnknownObservationError(
            f"expected a word that occurs once, or its number from 1 to {len(words)}; "
            f"got {quote(str(word))}"
        )


FACTS = frozenset(name for name in vars(Facts) if not name.startswith("_"))


@dataclass(frozen=True)
class Chain:
    """The functions of expressions on the edited chain, and on the trained one."""

    now: Facts
    trained: Facts


def chain_of(state: Scenario) -> Chain:
    """Return the functions of expressions for the chains of a scenario.

    Raises:
        CrfvizError: its model cannot be loaded, or does not know the words or tags.
    """
    return Chain(Facts(cached.edited(state)), Facts(cached.trained(state)))


def question_of(state: Scenario, ask: str, page: str) -> Question | None:
    """Return the question `ask` about a scenario on a page; None without a single right answer.

    Raises:
        CrfvizError: the scenario cannot be drawn, or `ask` is invalid.
    """
    now, trained = cached.edited(state), cached.trained(state)
    rule = countable_rule(state, state.view.get(RULE, "")) if page == "marginals" else None
    if rule is not None:
        now = cached.ruled(state, rule)
        trained = cached.ruled(Scenario(state.model, state.sentence), rule)
    return question(now, trained, read_ask(ask))


def fill_in(text: str, chain: Chain) -> str:
    """Replace each expression in braces by its value.

    Raises:
        CrfvizError: an expression is invalid, or names a word or tag that does not exist.
    """
    return _BRACES.sub(lambda match: _format(evaluate(match[1], chain)), text)


def expressions(text: str) -> list[str]:
    """Return the expressions in the braces of a text."""
    return _BRACES.findall(text)


def evaluate(expression: str, chain: Chain) -> object:
    """Return the value of an expression: a text, a number, a `Probability` or a bool.

    Raises:
        CrfvizError: it is invalid, or names a word or tag that does not exist.
    """
    return _Evaluator(chain, expression).value(parse(expression))


def parse(expression: str) -> ast.expr:
    """Return the syntax tree of an expression.

    Raises:
        FormatError: the syntax is invalid.
    """
    try:
        if len(expression) <= MAX_LENGTH:
            return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise FormatError(f"expected an expression such as viterbi('word'), got {quote(expression)}")


class _Evaluator:
    """Evaluator of a syntax tree; it rejects every node that no method lists."""

    def __init__(self, chain: Chain, expression: str) -> None:
        self.chain = chain
        self.expression = expression

    def refuse(self, what: str) -> FormatError:
        return FormatError(f"{quote(self.expression)}: {what}")

    def value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=str() | int() | float() as value):
                return value
            case ast.Call(func=function, args=args, keywords=[]):
                return self.fact(function, [self.value(each) for each in args])
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self.compared([self.value(each) for each in (left, *others)], ops)
            case ast.BinOp(left=left, op=op, right=right):
                return self.counted(op, self.value(left), self.value(right))
        return self.of_truth(node)

    def of_truth(self, node: ast.expr) -> object:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.value(each) for each in values)
            case ast.BoolOp(values=values):
                return any(self.value(each) for each in values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.counted(ast.Sub(), 0, self.value(operand))
        raise self.refuse(f"expected calls of {', '.join(sorted(FACTS))}, texts and numbers")

    def fact(self, function: ast.expr, args: list[object]) -> object:
        facts, name = self.chain.now, ""
        match function:
            case ast.Name(id=name):
                pass
            case ast.Attribute(value=ast.Name(id="trained"), attr=name):
                facts = self.chain.trained
        if name not in FACTS:
            raise self.refuse(f"expected one of {', '.join(sorted(FACTS))}")
        try:
            return getattr(facts, name)(*args)
        except TypeError as error:
            raise self.refuse(f"{name} has other arguments: words and tags") from error

    def compared(self, values: list[object], ops: list[ast.cmpop]) -> bool:
        pairs = zip(ops, values, values[1:], strict=False)
        return all(self.applied(op, left, right) for op, left, right in pairs)

    def counted(self, op: ast.operator, left: object, right: object) -> object:
        if any(isinstance(each, str) for each in (left, right)):
            raise self.refuse("texts can only be compared")
        return self.applied(op, left, right)

    def applied(self, op: ast.AST, left: object, right: object) -> Any:  # noqa: ANN401 - as `op`
        plain = [each.value if isinstance(each, Probability) else each for each in (left, right)]
        try:
            return _OPERATIONS[type(op)](*plain)
        except KeyError as error:
            raise self.refuse("expected + - * / or a comparison") from error
        except (TypeError, ZeroDivisionError, OverflowError) as error:
            raise self.refuse("these two values cannot be combined") from error


def _format(value: object) -> str:
    match value:
        case Probability(value=share):
            return format_probability(share)
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return score(value)
    return str(value)
