"""The log: lines for people, or JSON for machines with `CRFVIZ_LOG=json`.

Messages of errors may quote user input. The log therefore has only the type and the traceback of an
error. It has the message, too, if the error is about the server, or with `CRFVIZ_LOG_TEXTS=on`.
"""

import json
import logging
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from crfviz.exceptions import StoreError
from crfviz.settings import settings
from crfviz.ui.streamlit_compat import session_id
from crfviz.ui.watching.meters import RECORDS
from crfviz.ui.watching.requests import request

ABOUT_THE_SERVER = (StoreError, OSError)  # errors whose messages contain no user input
WITH_ADDRESSES = ("uvicorn.access",)  # loggers of URLs, which contain the sentence; silenced
PLAIN = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"

Fault = tuple[type[BaseException], BaseException, TracebackType | None]


def begin_log() -> None:
    """Configure the loggers of this process, ours and Streamlit's, by the settings."""
    handler = Lines(in_json=settings().log == "json")
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, Lines)]:
        root.removeHandler(old)
    root.addHandler(handler)
    logging.getLogger("crfviz").setLevel(logging.INFO if handler.in_json else logging.WARNING)
    logging.setLogRecordFactory(discreet)  # also for loggers that Streamlit creates later
    for logger in map(logging.getLogger, [*root.manager.loggerDict]):
        if not logger.propagate:  # Streamlit's own loggers
            logger.handlers = [handler]
    for name in WITH_ADDRESSES:
        logging.getLogger(name).addFilter(_nothing)


def discreet(*args: Any, **named: Any) -> logging.LogRecord:  # noqa: ANN401 - as `logging` has it
    """Create a log record without error messages that may quote user input; a record factory."""
    record = logging.LogRecord(*args, **named)
    record.msg, record.args = _message(record), ()
    if record.exc_info and record.exc_info[0] is not None:
        record.exc_text = "\n".join(_trace(record.exc_info))
    return record


def _nothing(_: logging.LogRecord) -> bool:
    return False


class Lines(logging.StreamHandler):  # type: ignore[type-arg]  # generic only in stubs
    """Handler that writes the log to stderr, and counts its records by level.

    Args:
        in_json: whether to write one JSON object per line.
    """

    def __init__(self, *, in_json: bool) -> None:
        super().__init__()
        self.in_json = in_json
        self.setFormatter(Json() if in_json else logging.Formatter(PLAIN))

    def emit(self, record: logging.LogRecord) -> None:
        RECORDS.labels(record.levelname.lower()).inc()
        super().emit(record)


class Json(logging.Formatter):
    """Formatter that writes one JSON object per line, with request, session and traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat("T", "milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request": request(),
            "session": session_id(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            fields |= {"error": record.exc_info[0].__name__, "trace": _trace(record.exc_info)}
        return json.dumps({name: value for name, value in fields.items() if value != ""})


def _message(record: logging.LogRecord) -> str:
    if isinstance(record.args, tuple):
        args = tuple(_loggable(each) for each in record.args)
        return str(record.msg) % args if args else _loggable_text(record.msg)
    return record.getMessage()


def _loggable_text(message: object) -> str:
    return str(_loggable(message))


def _loggable(value: object) -> object:
    return _words(value) if isinstance(value, BaseException) else value


def _words(error: BaseException) -> str:
    if isinstance(error, ABOUT_THE_SERVER) or settings().log_texts:
        return f"{type(error).__name__}: {error}"
    return f"{type(error).__name__} (CRFVIZ_LOG_TEXTS=on writes its words)"


def _trace(fault: Fault) -> list[str]:
    """Return the lines of a traceback; the original cause comes first."""
    lines: list[str] = []
    error: BaseException | None = fault[1]
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    for each in reversed(chain):
        lines += "".join(traceback.format_tb(each.__traceback__)).splitlines()
        lines.append(_words(each))
    return lines
