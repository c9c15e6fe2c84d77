"""What a database's errors mean to the person who labels, and what to do about them."""

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from crfviz.exceptions import LostStoreError, StoreError

SAFE = "Everything that was confirmed before is safe."
LOCKED = (
    "another program keeps it locked",
    "Close that program or wait for it, then try again.",
)
MEANINGS = {  # what the driver says: what it means, what to do
    "database is locked": LOCKED,
    "lock timeout": LOCKED,
    "readonly database": (
        "it may only be read",
        "Make the file and its folder writable, then try again.",
    ),
    "disk is full": ("the disk is full", "Free some space, then try again."),
    "No space left on device": ("its disk is full", "Free some space there, then try again."),
    "disk I/O error": (
        "the disk does not take it: full, over a limit, or broken",
        "Free some space or check the disk, then try again.",
    ),
    "unable to open database file": (
        "the file cannot be opened",
        "Check that its folder exists and is writable.",
    ),
    "file is not a database": (
        "the file is no database",
        "Set CRFVIZ_DATABASE_URL to another file, or move this one away.",
    ),
    "malformed": (
        "the file is damaged",
        "Move it away and restore a copy, or `sqlite3 FILE .recover` saves what is readable.",
    ),
    "failed to resolve host": (
        "its server cannot be found",
        "Correct the host in CRFVIZ_DATABASE_URL, or check the network.",
    ),
    "does not exist": (
        "there is no such database, user or table",
        "Create it, or correct CRFVIZ_DATABASE_URL.",
    ),
    "authentication failed": (
        "the server refuses user and password",
        "Correct CRFVIZ_DATABASE_URL.",
    ),
    "permission denied": (
        "the user may not do that",
        "Grant the rights, or name another user in CRFVIZ_DATABASE_URL.",
    ),
    "no equivalent in encoding": (
        "the database does not have these letters",
        "Make one with ENCODING 'UTF8' TEMPLATE template0, and name it in CRFVIZ_DATABASE_URL.",
    ),
    "read-only transaction": ("the server only lets it be read", "Try again when it is writable."),
}
PASSING = (LOCKED[0], "it may only be read", "the server only lets it be read")
LOST = ("the connection is lost", "Check that the server runs, then try again.")
OTHER = ("the database refuses", "Nothing was changed.")


def explained(error: SQLAlchemyError, place: str) -> StoreError:
    """The error in words; the place of the database comes without a password."""
    what, advice = _meaning(error) or (LOST if lost_connection(error) else OTHER)
    kind = LostStoreError if what in PASSING else StoreError
    return kind(f"The store {place} failed: {what} ({_said(error)}). {advice} {SAFE}")


def lost_connection(error: SQLAlchemyError) -> bool:
    """Whether the server is gone, or was: a second try may find it again."""
    if not isinstance(error, DBAPIError) or _meaning(error):
        return False
    return error.connection_invalidated or "connection" in _said(error)


def _meaning(error: SQLAlchemyError) -> tuple[str, str] | None:
    said = str(error)
    return next((meaning for words, meaning in MEANINGS.items() if words in said), None)


def _said(error: SQLAlchemyError) -> str:
    """The driver's own words, in one line."""
    return " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())
