"""Arrays in place of `Potentials` in the public functions: `crfviz.viterbi(E, A, start, end)`.

A function whose first argument is a chain also takes the emissions (T, K) there. Transitions, start
and end may follow by position, and `transitions`, `start`, `end`, `tags` and `tokens` by name. The
function's own arguments come after the tables: `crfviz.k_best(E, A, 10)`.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from crfviz.exceptions import CrfvizError
from crfviz.text.files import abbreviate_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from torch import Tensor  # which some functions do without

    from crfviz.chain.potentials import Potentials

    Scores = ArrayLike | Tensor | Sequence[Any]

Chain = TypeVar("Chain", contravariant=True)
Result = TypeVar("Result", covariant=True)
Own = ParamSpec("Own")  # the function's own arguments, after the chain


class TakesArrays(Protocol[Chain, Own, Result]):
    """The type of a function that takes a chain, or its scores, for `__init__.pyi`."""

    @overload
    def __call__(self, potentials: Chain, /, *own: Own.args, **named: Own.kwargs) -> Result: ...

    @overload
    def __call__(self, emissions: "Scores", /, *others: Any, **named: Any) -> Result: ...  # noqa: ANN401 - as the function

    @overload
    def __call__(self, **named: Any) -> Result: ...  # noqa: ANN401 - as the function


def of_chains(
    function: Callable[Concatenate[Chain, Own], Result],
) -> TakesArrays[Chain, Own, Result]:
    """Return `takes_arrays` of the function, with its types."""
    return takes_arrays(function)


CHAIN_NAMES = ("potentials", "what")  # names of first arguments that are chains
TABLES = ("transitions", "start", "end")
NAMES = (*TABLES, "tags", "tokens")
# The lists of these functions might be read as start scores: only emissions and transitions stand
# before them.
TAKE_LISTS = (
    "cost_intervals",
    "gradient_step",
    "least_cost",
    "observed_counts",
    "pieces",
    "triage",
)


def chain_of(value: object) -> "Potentials":
    """Return a chain, given as `Potentials` or as its emissions (T, K).

    Raises:
        CrfvizError: it is neither, or as `Potentials`.
    """
    from crfviz.chain.potentials import Potentials

    if isinstance(value, Potentials):
        return value
    if not _is_table(value):
        raise CrfvizError(
            "expected Potentials, as `tagger.potentials(words)` returns them, or emissions (T, K), "
            f"got {abbreviate_value(value)}"
        )
    return Potentials(value)


def takes_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with arrays allowed; unchanged if its first argument is no chain."""
    first = next(iter(inspect.signature(function).parameters), "")
    if first not in CHAIN_NAMES:
        return function
    shows_errors = first == "what" or function.__name__.startswith("st_")
    tables = TABLES[:1] if function.__name__ in TAKE_LISTS else TABLES

    @wraps(function)
    def either(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the function
        from crfviz.chain.potentials import Potentials

        if not arguments and first not in named:
            return function(**named)  # raises a TypeError
        value, *rest = arguments or (named.pop(first),)
        if not _is_table(value):
            if not (shows_errors or isinstance(value, Potentials)):
                chain_of(value)  # raises
            return function(value, *rest, **named)
        given: dict[str, Any] = {name: named.pop(name) for name in NAMES if name in named}
        for name in tables:
            if not rest or not (rest[0] is None or _is_table(rest[0])) or name in given:
                break
            given[name] = rest.pop(0)
        return function(Potentials(value, **given), *rest, **named)

    either.__doc__ = (
        f"{function.__doc__}\n\nInstead of `{first}` the scores may be given: emissions (T, K), "
        "then transitions, start and end by position or name."
    )
    return either


def _is_table(value: Any) -> bool:  # noqa: ANN401 - of any library
    if hasattr(value, "ndim"):
        return bool(value.ndim)
    return isinstance(value, list | tuple) and not any(isinstance(each, str) for each in value)
