"""Access control: the identity of the annotator, and whether uploads are allowed.

If a login is required but does not work, nobody can label. That is so while the login settings are
broken, and after they were removed from a running server.
"""

import logging
import os
from collections.abc import Mapping
from typing import Any

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.settings import settings
from crfviz.ui.session.scenario_state import view_option
from crfviz.ui.streamlit_compat import StreamlitSecretNotFoundError

# settings that a login needs
REQUIRED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
SAMPLE_SECRET = "a long random text"  # the sample in docs/deployment.md
MIN_SECRET_LENGTH = 16  # characters

_log = logging.getLogger(__name__)
_login_seen: list[bool] = []  # not empty once this process has required a login
NOBODY = "me"  # the annotator's name if none is typed and no login is required


class LoginError(CrfvizError):
    """A login is required, and its settings are missing or broken."""


def uploads_allowed() -> bool:
    """Return whether this server accepts files; `CRFVIZ_UPLOADS=off` disables them."""
    return settings().uploads


def uploads_off(what: str) -> str:
    """Return the message of a server without uploads; `what` names the rejected files."""
    return f"This server takes no {what}: it was started with CRFVIZ_UPLOADS=off."


def is_logged_in() -> bool:
    """Return whether this visitor has logged in, with or without an e-mail address."""
    return bool(getattr(st.user, "is_logged_in", False))


def account() -> str | None:
    """Return the verified e-mail address of the visitor, or None."""
    email = st.user.get("email")
    if st.user.get("email_verified") is not True or not isinstance(email, str):
        return None
    return email.strip() or None


def is_login_required() -> bool:
    """Return whether the secrets of this server have an identity provider (`[auth]`).

    Raises:
        LoginError: a login is or was required, and its settings are missing or broken.
    """
    try:
        return _is_login_requested()
    except LoginError as error:
        _log.error("%s", str(error))  # safe to log: the message quotes no visitor
        raise


def log_missing_login() -> None:
    """Log a warning if no login is required.

    Raises:
        LoginError: a login is or was required, and its settings are missing or broken.
    """
    if not is_login_required():
        _log.warning(
            "no login is asked for: whoever can open this server labels under any name, and sees "
            "what others labelled and brought (docs/deployment.md, Access control)"
        )


def _is_login_requested() -> bool:
    secrets = _secrets()
    if "auth" in secrets:
        _login_seen.append(True)
        _check(secrets["auth"])
        return True
    if _login_seen or settings().login == "required":
        raise LoginError("A login is asked for, but there is no [auth] in the secrets (any more).")
    return False


def _secrets() -> Mapping[str, Any]:
    """Return the secrets; empty without a file.

    Raises:
        LoginError: the file cannot be read.
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
    """Raise a LoginError if a setting is missing from [auth], or its cookie secret is unsafe."""
    if not isinstance(auth, Mapping):
        raise LoginError("[auth] in the secrets has to be a table, with the provider in it.")
    provider = auth.get("default", {})
    settings = {**auth, **provider} if isinstance(provider, Mapping) else auth
    missing = [name for name in REQUIRED if not _text(settings.get(name))]
    if missing:
        raise LoginError(f"[auth] in the secrets lacks {', '.join(missing)}.")
    secret = _text(settings["cookie_secret"])
    if secret == SAMPLE_SECRET or len(secret) < MIN_SECRET_LENGTH:
        raise LoginError(
            "cookie_secret in the secrets is that of the documentation, or shorter than "
            f"{MIN_SECRET_LENGTH} characters: anybody could sign in as anybody. "
            "`python -c 'import secrets; print(secrets.token_hex())'` makes one."
        )


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def annotator() -> str | None:
    """Return the name that annotations are stored under; None if this visitor may not label.

    With a login, it is always the e-mail address that the provider verified: a user could choose
    any display name, or claim another address.
    """
    try:
        if not is_login_required():
            return view_option("by").strip() or NOBODY
    except LoginError:
        return None
    return account() if is_logged_in() else None


def no_annotator_message() -> str:
    """Return the message for a visitor for whom `annotator` is None."""
    try:
        is_login_required()
    except LoginError:
        return (
            "Login does not work on this server. Until it is fixed, nobody can label or see "
            "labels. The server's log says more."
        )
    if is_logged_in():
        return (
            "Your account has no e-mail address that its provider has verified, and annotations "
            "are kept under that. Log out on the left, and log in with another account."
        )
    return "Log in on the left: annotations are kept under your name."
