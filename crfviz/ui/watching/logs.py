"""The log: lines for people, or JSON for machines with `CRFVIZ_LOG=json`.

What somebody typed stands in the messages of errors. So of an error the log has its kind and its
trace, and its words only where they are about the server, or where `CRFVIZ_LOG_TEXTS=on` asks for
them.
"""

import json
import logging
import os
import traceback
from datetime import UTC, datetime
from types import TracebackType

from streamlit import logger as streamlit_logger
from streamlit.runtime.scriptrunner import get_script_run_ctx

from crfviz.exceptions import StoreError
from crfviz.ui.watching.meters import RECORDS
from crfviz.ui.watching.requests import request

FORM, TEXTS = "CRFVIZ_LOG", "CRFVIZ_LOG_TEXTS"  # environment variables
ABOUT_THE_SERVER = (StoreError, OSError)  # nothing that was typed is in their words
WITH_ADDRESSES = ("uvicorn.access",)  # a line for each, with the sentence in it
PLAIN = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"

Fault = tuple[type[BaseException], BaseException, TracebackType | None]


def begin_log() -> None:
    """Have all lines of this process written as the settings say, ours and Streamlit's."""
    handler = Lines(in_json=os.environ.get(FORM, "").strip() == "json")
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, Lines)]:
        root.removeHandler(old)
    root.addHandler(handler)
    logging.getLogger("crfviz").setLevel(logging.INFO if handler.in_json else logging.WARNING)

    def through_ours(logger: logging.Logger) -> None:
        logger.handlers = [] if logger.name in WITH_ADDRESSES else [handler]

    streamlit_logger.setup_formatter = through_ours
    streamlit_logger.update_formatter()


class Lines(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes lines to stderr, and counts them.

    Args:
        in_json: one object a line.
    """

    def __init__(self, *, in_json: bool) -> None:
        super().__init__()
        self.in_json = in_json
        self.setFormatter(Json() if in_json else Discreet(PLAIN))

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        RECORDS.labels(record.levelname.lower()).inc()
        super().emit(record)


class Discreet(logging.Formatter):
    """Lines for people, without the words of errors that may be a visitor's."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, with the trace of its error below it."""
        copy = logging.makeLogRecord({**vars(record), "exc_text": None})
        copy.msg, copy.args = _message(record), None
        return super().format(copy)

    def formatException(self, ei: object) -> str:  # noqa: N802 - as `logging` has it
        """Where it happened, and what kind of error it was."""
        return "\n".join(_trace(ei))  # type: ignore[arg-type]


class Json(logging.Formatter):
    """One object a line: time, level, logger, message, request, session, error and its trace."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        context = get_script_run_ctx(suppress_warning=True)
        session = "" if context is None else context.session_id
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat("T", "milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            "request": request(session),
            "session": session,
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            told |= {"error": record.exc_info[0].__name__, "trace": _trace(record.exc_info)}
        return json.dumps({name: value for name, value in told.items() if value != ""})


def _message(record: logging.LogRecord) -> str:
    """The line's text, in which errors are told by their kind."""
    if isinstance(record.args, tuple):
        told = tuple(_told(each) for each in record.args)
        return str(record.msg) % told if told else _told_text(record.msg)
    return record.getMessage()


def _told_text(message: object) -> str:
    return str(_told(message))


def _told(value: object) -> object:
    return _words(value) if isinstance(value, BaseException) else value


def _words(error: BaseException) -> str:
    """What may be said of an error."""
    if isinstance(error, ABOUT_THE_SERVER) or os.environ.get(TEXTS, "").strip() == "on":
        return f"{type(error).__name__}: {error}"
    return f"{type(error).__name__} ({TEXTS}=on writes its words)"


def _trace(fault: Fault) -> list[str]:
    """The lines of a trace, of the first cause first."""
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
