"""Warnings for the log that come once: what fails at every redraw is one line, not hundreds."""

from logging import Logger

MOST_REMEMBERED = 1000  # reasons; after that all may come again

_said: set[tuple[str, str, str]] = set()


def warn_once(log: Logger, what: str, error: Exception) -> None:
    """Log what failed with its trace, once in a process for each reason.

    Args:
        log: of the module.
        what: for people: what failed.
        error: why.
    """
    reason = log.name, what, repr(error)[:200]
    if reason in _said:
        return
    if len(_said) >= MOST_REMEMBERED:
        _said.clear()
    _said.add(reason)
    log.warning("%s", what, exc_info=error)


def forget() -> None:
    """Let every warning come once more."""
    _said.clear()
