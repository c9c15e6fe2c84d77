"""The pinned versions: pip takes them as constraints, which know names and versions only.

The locks beside them hold all packages with their hashes.
"""

import json
import os
import re
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import distributions
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.paths import ROOT

LOCKS = sorted(ROOT.glob("locks/*.txt"))
OF_THE_APP, TOOLS = ROOT / "locks/linux-x86_64-cpu.txt", ROOT / ".ci/tools.txt"
CONSTRAINT = re.compile(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*")


def pins_of(name):
    """Names and versions of a file of pins."""
    return [line.split("==") for line in (ROOT / name).read_text("utf-8").splitlines()]


def test_every_pin_can_be_a_constraint():
    pins = [
        pin
        for name in ("requirements.txt", "requirements-dev.txt")
        for pin in (ROOT / name).read_text("utf-8").splitlines()
    ]
    assert [pin for pin in pins if not CONSTRAINT.fullmatch(pin)] == []


def lock_of(path):
    """Versions by name, each with its hashes."""
    entries = path.read_text("utf-8").replace("\\\n", " ").splitlines()
    read = re.compile(r"(\S+?)==(\S+)( ;.*?)?((?: +--hash=sha256:[0-9a-f]{64})+)")
    return {(m := read.fullmatch(entry.rstrip()))[1]: (m[2], m[4].split()) for entry in entries}


def test_locks_have_every_pin_with_hashes_and_dependencies():
    assert len(LOCKS) == 2
    for path in LOCKS:
        lock = lock_of(path)
        pins = pins_of("requirements.txt")
        assert [[name, lock[name][0].split("+")[0]] for name, _ in pins] == pins
        assert [name for name, (_, hashes) in lock.items() if not hashes] == []
        assert missing_needs(lock) == []


def missing_needs(lock):
    """What the packages that are installed here in the version of the lock need, and it lacks."""
    missing = []
    installed = {canonicalize_name(each.name): each for each in distributions()}
    for name, (version, _) in lock.items():
        here = installed.get(name)
        if here is None or here.version != version:
            continue  # of another platform, or of another day
        for line in here.requires or ():
            need = Requirement(line)
            applies = need.marker is None or need.marker.evaluate({"extra": ""})
            if applies and canonicalize_name(need.name) not in lock:
                missing.append(f"{name} needs {need}")
    return missing


def test_tools_lock_has_every_pin_and_no_app_package():
    """Both are installed at once, into one folder."""
    app, tools = lock_of(OF_THE_APP), lock_of(TOOLS)
    assert not app.keys() & tools.keys()
    assert [name for name, (_, hashes) in tools.items() if not hashes] == []
    together = app | tools
    pins = pins_of("requirements-dev.txt")
    assert [[name, together[canonicalize_name(name)][0]] for name, _ in pins] == pins
    assert missing_needs(together) == []


def test_peers_lock_equals_the_makefile_pins():
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    pins = re.search(r"^PEERS = ([^#\n]*)", makefile, re.MULTILINE)[1].lower().split()
    lock = lock_of(ROOT / ".ci/peers.txt")
    locked = [f"{name}=={version}" for name, (version, _) in lock.items()]
    assert sorted(locked) == sorted(pins), "run `make lock`"


def test_bill_of_materials_equals_the_lock():
    path = OF_THE_APP
    bill = json.loads(path.with_suffix(".cdx.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    listed = {
        each["name"]: (
            each["version"],
            {f"--hash=sha256:{h['content']}" for h in each["externalReferences"][0]["hashes"]},
        )
        for each in bill["components"]
    }
    expected = {name: (version, set(hashes)) for name, (version, hashes) in lock_of(path).items()}
    assert listed == expected, "run `make sbom`"


def test_default_lock_contains_no_cuda():
    names = lock_of(OF_THE_APP)
    assert names["torch"][0].endswith("+cpu")
    assert not [name for name in names if name.startswith(("nvidia-", "cuda-", "triton"))]


def made(*options):
    """The lines that `make` would run to set the app up anew."""
    asked = ["make", "--dry-run", "--always-make", ".nowhere/installed", "VENV=.nowhere", *options]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_make_installs_cpu_torch_first():
    first, _, rest = made().partition("-r requirements.txt")
    assert "--no-deps --extra-index-url https://download.pytorch.org/whl/cpu" in first
    assert "grep '^torch==' requirements.txt" in first
    assert "pytorch.org" not in rest


def test_documents_name_the_pinned_torch():
    pinned = dict(pins_of("requirements.txt"))["torch"]
    named = re.findall(r"torch==([0-9.]+)", (ROOT / "docs/deployment.md").read_text("utf-8"))
    assert named == [pinned]


def test_cuda_torch_can_be_selected():
    assert "pytorch.org" not in made("TORCH=cuda")


@pytest.fixture
def audit():
    spec = spec_from_file_location("audit", ROOT / ".ci/audit.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def database(answer):
    """A server that answers every question with what `answer` makes of it; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
            body = answer(asked)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def faults_of(name):
    """An answer that knows a fault of one package."""

    def answer(asked):
        found = [{"vulns": [{"id": "X-1"}]} if q["package"]["name"] == name else {} for q in asked]
        return json.dumps({"results": found}).encode()

    return answer


@pytest.mark.parametrize(("name", "status"), [("jinja2", 1), ("nobody", 0)])
def test_audit_reports_known_vulnerabilities(audit, capsys, name, status):
    with database(faults_of(name)) as url:
        assert audit.main(url) == status
    said = capsys.readouterr().out
    assert f"{len(audit.pinned())} packages audited" in said
    assert ("jinja2 3.1.6: X-1" in said) is bool(status)


@pytest.mark.parametrize("body", [b"no JSON", b"[]", b"{}", b'{"results": [{}]}', None])
def test_audit_without_data_is_reported_without_failing(audit, capsys, body):
    if body is None:
        assert audit.main("http://127.0.0.1:9/") == 0  # nobody listens there
    else:
        with database(lambda _: body) as url:
            assert audit.main(url) == 0
    assert "nothing was audited" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "found"), [("printf 3.10.13; exit 1", "is 3.10.13"), ("exit 127", "is not there")]
)
def test_make_rejects_a_too_old_python_before_installing(tmp_path, answer, found):
    old = tmp_path / "python"
    old.write_text(f"#!/bin/sh\n{answer}\n", encoding="utf-8")
    old.chmod(0o755)
    make = ["make", "run", f"VENV={tmp_path}/venv", f"PYTHON={old}"]
    alone = {name: os.environ[name] for name in os.environ if not name.startswith("MAKE")}
    done = subprocess.run(make, cwd=ROOT, env=alone, capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()[0]
    assert said.startswith(f"crfviz needs Python 3.11 or newer, and {old} {found};")
    assert said.endswith("make run PYTHON=python3.13")
    assert done.returncode != 0
    assert done.stdout == ""
    assert not (tmp_path / "venv").exists()
