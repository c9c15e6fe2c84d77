"""The errors a caller can act on, and the log of failures that repeat.

    CrfvizError (a ValueError)
    ├── ShapeError               a tensor, mask or path has another shape than the rest asks for
    ├── ScoreError               a score is NaN or +inf (-inf is allowed: it means forbidden)
    ├── UnknownTagError          a tag name or id that the chain does not have
    ├── UnknownObservationError  a word or sentence that a tagger has no scores for
    ├── EmptySentenceError       a sentence without a single word
    ├── NoPathError              every tag sequence is forbidden, so there is no path to return
    ├── FormatError              an unreadable file or text; the message names the line
    ├── ModelError               an invalid model folder; the message names the file and the field
    ├── SettingsError            an invalid environment variable; the message says what is expected
    └── StoreError               annotations cannot be read or stored; the message says what to do
        ├── ConflictError        another session stored the annotation meanwhile
        └── LostStoreError       the store is missing, replaced, locked or read-only

Every message says what was expected and what was received. Pages show messages unchanged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import Logger


class CrfvizError(ValueError):
    """Base of all errors that this package raises for bad input."""


class ShapeError(CrfvizError):
    """A tensor, mask or path has another shape than the rest asks for."""


class ScoreError(CrfvizError):
    """A score is NaN or +inf; only finite scores and -inf (forbidden) mean something."""


class UnknownTagError(CrfvizError):
    """A tag name or id that the chain does not have."""


class UnknownObservationError(CrfvizError):
    """A word or sentence that a tagger has no scores for; the message says which it has."""


class EmptySentenceError(CrfvizError):
    """A sentence without a single word."""


class NoPathError(CrfvizError):
    """Every tag sequence is forbidden, so there is no path to return."""


class FormatError(CrfvizError):
    """A file or text that cannot be read; the message says in which line."""


class ModelError(CrfvizError):
    """Invalid model folder; the message names the file and the field."""


class SettingsError(CrfvizError):
    """Bad value of a `CRFVIZ_*` variable; the message names it and what was expected."""


class StoreError(CrfvizError):
    """Annotations cannot be read or saved; the message says why and what to do."""


class ConflictError(StoreError):
    """Another session stored the annotation in the meantime; nothing was overwritten."""


class LostStoreError(StoreError):
    """The store is missing, replaced, locked or read-only; nothing is saved until it is back."""


@contextmanager
def errors_at(where: str, kind: type[CrfvizError] | None = None) -> Iterator[None]:
    """Prefix the messages of errors with a place, and raise them as this kind of error."""
    try:
        yield
    except CrfvizError as error:
        raise (kind or type(error))(f"{where}: {error}") from error


MAX_REMEMBERED = 1000  # reasons; then the memory is cleared

_logged: set[tuple[str, str, str]] = set()


def warn_once(log: Logger, what: str, error: Exception) -> None:
    """Log a failure with its traceback, once in a process for each reason.

    Args:
        log: the logger of the module.
        what: a message that says what failed.
        error: the exception.
    """
    reason = log.name, what, repr(error)[:200]
    if reason in _logged:
        return
    if len(_logged) >= MAX_REMEMBERED:
        _logged.clear()
    _logged.add(reason)
    log.warning("%s", what, exc_info=error)
