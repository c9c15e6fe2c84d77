"""Logging of repeated warnings once: an error on every redraw is one line, not hundreds."""

from logging import Logger

MAX_REMEMBERED = 1000  # reasons; after that all may come again

_logged: set[tuple[str, str, str]] = set()


def warn_once(log: Logger, what: str, error: Exception) -> None:
    """Log a failure with its traceback, once in a process for each reason.

    Args:
        log: of the module.
        what: for people: what failed.
        error: why.
    """
    reason = log.name, what, repr(error)[:200]
    if reason in _logged:
        return
    if len(_logged) >= MAX_REMEMBERED:
        _logged.clear()
    _logged.add(reason)
    log.warning("%s", what, exc_info=error)


def reset_log() -> None:
    """Forget which warnings were logged."""
    _logged.clear()
