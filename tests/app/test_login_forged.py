"""Where a login is asked for: whoever claims to be somebody else labels under no name of others."""

import json

import pytest
from streamlit.web.server.server_util import AUTH_COOKIE_NAME
from streamlit.web.server.starlette.starlette_app_utils import (
    create_signed_value,
    generate_xsrf_token_string,
)
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from benchmarks.serving import running_app
from crfviz.annotations.store.store import open_store
from crfviz.ui.session.permission import SAMPLE_SECRET
from tests.support import annotators
from tests.support.forked_server import fork
from tests.support.loops import run

TOKEN = generate_xsrf_token_string()
SECRET = "of this test, and of no other use"
SECRETS = f"""[auth]
redirect_uri = "http://127.0.0.1/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "crfviz"
client_secret = "x"
server_metadata_url = "http://127.0.0.1/nobody/is/asked"
"""
ANNA, MALLORY = "anna@example.org", "mallory@example.org"
VERIFIED = {"email": ANNA, "email_verified": True}
NOBODY = {  # whom the server takes for nobody: what the cookie says, and who signed it
    "signed with the secret of the documentation": (VERIFIED, SAMPLE_SECRET),
    "signed with nothing": (VERIFIED, ""),
    "an address that is not verified": ({"email": ANNA, "email_verified": False}, SECRET),
    "an address of which that is not said": ({"email": ANNA}, SECRET),
    "a display name": ({"name": ANNA, "sub": "7", "email_verified": True}, SECRET),
    "a preferred name": ({"preferred_username": ANNA, "email_verified": True}, SECRET),
    "of another site": ({**VERIFIED, "origin": "https://mallory.example"}, SECRET),
}

pytestmark = [pytest.mark.usefixtures("forks")]


@pytest.fixture
def document(tmp_path):
    """Two sentences, of which Anna labelled the first; what their address is."""
    texts = annotators.sentences(2, "forged")
    return annotators.stored(database_of(tmp_path), "all", texts)


def database_of(folder):
    return f"sqlite:///{folder}/store.db"


def cookie(app, account, secret):
    told = {"origin": app.url, "is_logged_in": True, "provider": "default", **account}
    text = json.dumps(told)
    signed = create_signed_value(secret, AUTH_COOKIE_NAME, text).decode() if secret else text
    return {"Cookie": f"{AUTH_COOKIE_NAME}={signed}; {XSRF_COOKIE_NAME}={TOKEN}", "Origin": app.url}


async def press(session, headers, *events):
    """What the page shows after some keys; None where it draws no sentence to label."""
    session.headers = headers
    session.protocols = [*session.protocols, TOKEN]
    async with session:
        await session.open()
        for number, event in enumerate(events, start=1):
            if session.data is not None:
                item = {"item": session.data["item"], "revision": session.data["revision"]}
                await session.send({**item, "seq": number, **event})
        return session.data


def test_forged_login_cannot_label_as_another_annotator(document, tmp_path):
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(SECRETS)
    variables = {
        "CRFVIZ_DATABASE_URL": database_of(tmp_path),
        "STREAMLIT_SECRETS_FILES": str(secrets),
    }
    accept = {"kind": "accept"}
    with running_app(tmp_path / "server.log", variables, fork) as app:

        def label(account, secret, *events, by="mallory"):
            session = annotators.Annotator(app.url, by, [document])._session(document)
            return run(press(session, cookie(app, account, secret), *events))

        assert label(VERIFIED, SECRET, accept) is not None
        assert labelled(tmp_path) == {ANNA: 1}
        for what, (account, secret) in NOBODY.items():
            assert label(account, secret, accept, by=ANNA) is None, what
        assert labelled(tmp_path) == {ANNA: 1}
        # Who has an account of their own stays who they are, whatever link and message say.
        own = {"email": MALLORY, "email_verified": True, "name": ANNA, "sub": ANNA}
        assert label(own, SECRET, {**accept, "annotator": ANNA, "by": ANNA}, by=ANNA) is not None
        assert labelled(tmp_path) == {ANNA: 1, MALLORY: 1}
        # The capitals of an address are told apart: who verified others has not verified these.
        other = {"email": ANNA.capitalize(), "email_verified": True}
        assert label(other, SECRET, accept) is not None
        assert labelled(tmp_path) == {ANNA: 1, MALLORY: 1, ANNA.capitalize(): 1}
        assert "Traceback" not in app.log()


def labelled(folder):
    """How many sentences each annotator has accepted."""
    with open_store(database_of(folder)) as store:
        rows = [annotation for _, annotation in store.annotations()]
    names = sorted({row.annotator for row in rows})
    return {name: sum(row.annotator == name for row in rows) for name in names}
