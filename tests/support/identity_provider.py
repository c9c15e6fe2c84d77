"""An OpenID Connect provider for tests: every login succeeds, with the given email address."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "crfviz"


@contextmanager
def identity_provider(email, *, verified=True):
    """Run a provider on a free port; yield its URL and the last authorization query."""
    key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})
    asked = {}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def reply(self, value):
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            if url.path == "/.well-known/openid-configuration":
                names = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
                names["jwks_uri"] = "keys"
                self.reply({"issuer": root} | {n: f"{root}/{p}" for n, p in names.items()})
            elif url.path == "/keys":
                self.reply({"keys": [key.as_dict(private=False)]})
            elif url.path == "/authorize":
                asked.update(query)
                back = urlencode({"code": "1", "state": query["state"]})
                self.send_response(302)
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.end_headers()

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            now = int(time.time())
            claims = {"iss": root, "aud": CLIENT, "sub": "7", "email": email, "iat": now}
            claims |= {"email_verified": verified}
            claims |= {"exp": now + 3600, "nonce": asked.get("nonce", "")}
            token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)
            self.reply({"access_token": "a", "token_type": "Bearer", "id_token": token})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    root = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield SimpleNamespace(url=root, asked=asked)
    finally:
        server.shutdown()
        server.server_close()


def secrets(provider, app_url):
    """Return the secrets.toml of a deployment that uses this provider."""
    return f"""[auth]
redirect_uri = "{app_url}/oauth2callback"
cookie_secret = "a long secret of this test, of no other use"
client_id = "{CLIENT}"
client_secret = "x"
server_metadata_url = "{provider.url}/.well-known/openid-configuration"
"""
