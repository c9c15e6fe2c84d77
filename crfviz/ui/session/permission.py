"""Who may do what: who is logged in where a login is asked for, and whether files are taken.

A login that is asked for and cannot be had lets nobody label: not while its settings are broken,
nor after they have gone from a server that runs.
"""

import logging
import os
from collections.abc import Mapping
from typing import Any

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.settings import settings
from crfviz.ui.session.current import view_option
from crfviz.ui.streamlit_compat import StreamlitSecretNotFoundError

NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
SAMPLE_SECRET = "a long random text"  # that of docs/deployment.md
SHORTEST_SECRET = 16  # characters

_log = logging.getLogger(__name__)
_asked: list[bool] = []  # not empty once this process saw that a login is asked for


class LoginError(CrfvizError):
    """A login is asked for, and its settings are missing or broken."""


def uploads_allowed() -> bool:
    """Whether this server takes files, models and documents; `CRFVIZ_UPLOADS=off` says no."""
    return settings().uploads


def no_uploads(what: str) -> str:
    """What to say where they are off; `what` the server does not take."""
    return f"This server takes no {what}: it was started with CRFVIZ_UPLOADS=off."


def logged_in() -> bool:
    """Whether this visitor came back from the provider, with an address or without."""
    return bool(getattr(st.user, "is_logged_in", False))


def account() -> str | None:
    """The verified e-mail address of who is logged in; None without one."""
    email = st.user.get("email")
    if st.user.get("email_verified") is not True or not isinstance(email, str):
        return None
    return email.strip() or None


def login_asked() -> bool:
    """Whether this deployment has an identity provider: `[auth]` in its secrets.

    Raises:
        LoginError: a login is or was asked for, and its settings are missing or broken.
    """
    try:
        return _login_asked()
    except LoginError as error:
        _log.error("%s", str(error))  # nothing in it was typed by a visitor
        raise


def say_who_labels() -> None:
    """Have the log say what it means that nobody has to log in, where that is so.

    Raises:
        LoginError: as `login_asked`.
    """
    if not login_asked():
        _log.warning(
            "no login is asked for: whoever can open this server labels under any name, and sees "
            "what others labelled and brought (docs/deployment.md, Access control)"
        )


def _login_asked() -> bool:
    secrets = _secrets()
    if "auth" in secrets:
        _asked.append(True)
        _check(secrets["auth"])
        return True
    if _asked or settings().login == "required":
        raise LoginError("A login is asked for, but there is no [auth] in the secrets (any more).")
    return False


def _secrets() -> Mapping[str, Any]:
    """What the secrets hold; nothing where there is no file.

    Raises:
        LoginError: there is a file that cannot be read.
    """
    try:
        return st.secrets.to_dict()
    except StreamlitSecretNotFoundError as error:
        files = [path for path in st.get_option("secrets.files") if os.path.lexists(path)]
        if not files:
            return {}
        raise LoginError(f"The secrets cannot be read, so nobody can log in: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise LoginError(f"The secrets cannot be read, so nobody can log in: {error}") from error


def _check(auth: object) -> None:
    """Raise a LoginError unless the section has all that a login needs."""
    if not isinstance(auth, Mapping):
        raise LoginError("[auth] in the secrets has to be a table, with the provider in it.")
    provider = auth.get("default", {})
    settings = {**auth, **provider} if isinstance(provider, Mapping) else auth
    missing = [name for name in NEEDED if not _text(settings.get(name))]
    if missing:
        raise LoginError(f"[auth] in the secrets lacks {', '.join(missing)}.")
    secret = _text(settings["cookie_secret"])
    if secret == SAMPLE_SECRET or len(secret) < SHORTEST_SECRET:
        raise LoginError(
            "cookie_secret in the secrets is that of the documentation, or shorter than "
            f"{SHORTEST_SECRET} characters: anybody could sign in as anybody. "
            "`python -c 'import secrets; print(secrets.token_hex())'` makes one."
        )


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


NOBODY = "me"  # the annotator who gave no name, where there is no login


def annotator() -> str | None:
    """The name under which annotations are stored; None where this visitor may not label.

    With a login it is the e-mail address that the provider says it has verified, and nothing else:
    anybody can choose a display name, or claim the address of another.
    """
    try:
        if not login_asked():
            return view_option("by").strip() or NOBODY
    except LoginError:
        return None
    return account() if logged_in() else None


def why_nobody() -> str:
    """What to tell a visitor for whom `annotator` is None."""
    try:
        login_asked()
    except LoginError:
        return (
            "Login does not work on this server. Until it is fixed, nobody can label or see "
            "labels. The server's log says more."
        )
    if logged_in():
        return (
            "Your account has no e-mail address that its provider has verified, and annotations "
            "are kept under that. Log out on the left, and log in with another account."
        )
    return "Log in on the left: annotations are kept under your name."
