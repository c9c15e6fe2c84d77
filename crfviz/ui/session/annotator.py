"""Under which name a visitor labels, and sees what was labelled."""

from crfviz.ui.session.current import view_option
from crfviz.ui.session.permission import LoginError, account, logged_in, login_asked

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
