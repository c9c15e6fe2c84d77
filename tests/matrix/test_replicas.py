"""Several processes behind the proxy, with one PostgreSQL: nobody notices what is restarted."""

import asyncio
import gzip
import json
import os
import re
import signal
import urllib.error
import urllib.request
from contextlib import ExitStack
from dataclasses import replace

import pytest
import yaml

from crfviz.annotations.records import Annotation, Step
from crfviz.annotations.store.store import open_store
from deploy.local import Topology
from deploy.replicas import replicas as configuration
from tests.support import replicas
from tests.support.forked_server import fork, forking
from tests.support.loops import run
from tests.support.paths import ROOT
from tests.support.tiny_tagger import save_tiny

VISITORS, ANNOTATORS = 200, 4
MARK = "Zanzibar"  # in what is typed
PATIENCE = 30.0  # seconds


@pytest.fixture
def topology():
    """Three processes, the proxy, and the database."""
    settings = replicas.SETTINGS | replicas.METRICS | {"CRFVIZ_LOG": "json"}
    with ExitStack() as stack:
        stack.enter_context(forking())
        try:
            all_of_it = stack.enter_context(Topology(3, settings, fork))
        except FileNotFoundError as error:
            if os.environ.get("CRFVIZ_REQUIRE_POSTGRES"):
                raise
            pytest.skip(str(error))
        yield all_of_it


def get(url, **headers):
    """Status, headers and body of an answer."""
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def test_container_files_are_consistent():
    written = configuration([f"replica-{n}:8501" for n in (1, 2, 3)])
    assert (ROOT / "deploy/proxy/replicas.conf").read_text() == written
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
    names = {
        n: service["environment"].get("CRFVIZ_REPLICA")
        for n, service in services.items()
        if n.startswith("replica")
    }
    assert names == {f"replica-{n}": f"{n}" for n in (1, 2, 3)}
    assert all(services[name]["read_only"] for name in [*names, "proxy"])
    for source, _, _ in (each.partition(":") for each in services["proxy"]["volumes"]):
        assert (ROOT / "deploy" / source / "nginx.conf").exists()
    copied = re.findall(r"^COPY (\S+) ", (ROOT / "deploy/Containerfile").read_text(), re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text().split()
    for name in copied:
        assert (ROOT / name).exists() or name.startswith("--from")
        assert f"!{name.split('/')[0]}" in ignored or name.startswith("--from")


def test_compose_variables_have_a_portable_form():
    text = (ROOT / "deploy/compose.yaml").read_text()
    names = re.findall(r"\$\{[^}]*\}", re.sub(r"^#.*$", "", text, flags=re.MULTILINE))
    assert len(names) > 5
    assert all(re.fullmatch(r"\$\{[A-Z_]+(:-[^}]+|:\?[^}]+)?\}", name) for name in names)


def test_container_driver_is_the_tested_version():
    pins = (ROOT / "requirements-dev.txt").read_text().splitlines()
    lock = (ROOT / "deploy/postgres-linux-x86_64.txt").read_text()
    assert [f"{pin} \\" in lock for pin in pins if pin.startswith("psycopg")] == [True, True]


def check_headers(topology):
    """The proxy keeps headers, compresses, and hides what is nobody's business."""
    status, headers, page = get(f"{topology.url}/", Accept="text/html")
    assert status == 200
    for name in ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"):
        assert len(headers.get_all(name)) == 1
    assert "HttpOnly; SameSite=Lax" in headers["Set-Cookie"]
    script = page.decode().partition('src="./static/')[2].partition('"')[0]
    url = f"{topology.url}/static/{script}"
    for _ in range(2):  # from a process, then from the proxy
        _, headers, body = get(url, **{"Accept-Encoding": "gzip"})
        assert headers["Content-Encoding"] == "gzip"
        assert "immutable" in headers["Cache-Control"]
        assert len(headers.get_all("X-Content-Type-Options")) == 1
        assert b"import" in gzip.decompress(body)
        assert headers["Set-Cookie"] is None
    assert get(f"{topology.url}/metrics")[0] == 404
    assert get(f"{topology.url}/_stcore/metrics")[0] == 404
    assert get(f"{topology.url}/", Host="evil.example")[0] == 421


def check_spread(topology):
    """A class of one address is spread, and everybody comes back to the same process."""

    async def scene():
        visitors = [replicas.Visitor(topology.url) for _ in range(VISITORS)]
        for visitor in visitors:
            await visitor.__aenter__()
        numbers = [replicas.sessions(replica) for replica in topology.replicas]
        assert max(numbers) <= 1.3 * min(numbers)
        first = visitors[0]
        before = first.replica
        await first.__aexit__(None, None, None)
        await first.__aenter__()
        assert first.replica == before
        for visitor in visitors:
            await visitor.__aexit__(None, None, None)

    run(scene())


def check_models(topology):
    """A model in the shared folder is noticed by all."""
    save_tiny(topology.models / "new-here")

    async def scene():
        page = "why?model=new-here&sentence=Dogs+bark"
        visitors = [replicas.Visitor(topology.url, page) for _ in topology.replicas]
        for visitor in visitors:
            await visitor.opened()
            assert visitor.data["tags"] == ["NOUN", "VERB", "X"]
            await visitor.__aexit__(None, None, None)
        assert {visitor.replica for visitor in visitors} == {"1", "2", "3"}

    run(scene())


def check_following(topology):
    """Who follows sits on any process; a killed one is left, and no log has the sentence."""

    async def scene():
        leader = replicas.Visitor(topology.url, f"why?sentence={MARK}+rocks")
        await leader.opened()
        await leader.press("Let others follow")
        code = leader.code.rpartition("/")[2]
        lines = [await follow(topology.url, code) for _ in range(3)]
        for line in lines:
            assert MARK in await screen(line)
        replica = topology.replicas[int(leader.replica) - 1]
        replica.end(signal.SIGKILL)
        await leader.back()  # on another process, by its address and its cookie alone
        assert leader.replica != replica.log_file.stem[-1]
        await leader.edit()
        assert get(f"{topology.url}/follow/{code}")[0] == 200
        await leader.__aexit__(None, None, None)
        for _, writer in lines:
            writer.close()
        replicas.revive(replica)

    run(scene())
    for replica in topology.replicas:
        assert MARK not in replica.log_file.read_text()
        _, _, told = get(f"http://{replica.address}/metrics")
        assert MARK.encode() not in told
    assert MARK not in (topology.folder / "proxy" / "log").read_text()


async def follow(url, code):
    """The event stream of a room."""
    host, _, port = url.partition("://")[2].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**22)
    writer.write(f"GET /follow/{code}/screens HTTP/1.0\r\nHost: {host}:{port}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head.splitlines()[0]
    assert b"set-cookie" not in head.lower()
    return reader, writer


async def screen(line):
    """The next screen of an event stream."""
    while not (told := await line[0].readline()).startswith(b"data:"):
        assert told
    return json.dumps(json.loads(told.removeprefix(b"data:")))


def check_labels(topology):
    """No key is lost or doubled by kills and restarts."""
    with open_store(topology.database) as store:
        documents = [
            replicas.stored(topology.database, f"document {n}", replicas.sentences(60, f"{n}-"))
            for n in range(ANNOTATORS)
        ]
        people = [
            replicas.Steadfast(topology.url, f"annotator {n}", [document], store)
            for n, document in enumerate(documents)
        ]
        happened = run(replicas.disturbed(topology, people))
        assert len(happened) == 3
        assert list(replicas.differences(store, people)) == []
        assert sum(len(each.seconds) for each in people) >= 9 * ANNOTATORS
        assert all(each.lost for each in people)


def test_response_without_a_picture_confirms_nothing(tmp_path):
    """The page says in words that the database is away; the key before may be stored or not."""
    url = f"sqlite:///{tmp_path}/labels.db"
    document = replicas.stored(url, "one", ["Dogs bark"])
    with open_store(url) as store:
        person = replicas.Steadfast("", "Ada", [document], store)
        (item,) = store.item_ids("one")
        first = Annotation(item, "Ada", ((0, 4), (5, 9)), ("X", "X"), ("X", "X"))
        known = person.confirmed[item] = replicas.Confirmed(0, "open", ["X", "X"], {})
        event = {"kind": "correct", "first": 1, "last": 1, "what": "VERB", "item": item}
        person._unsure[item] = [event]
        person._note(event, known, None)
        person._settle()
        assert person.confirmed[item].revision == 0  # it was not stored
        pinned = replace(
            first, final=("X", "VERB"), pins={1: "VERB"}, past=(Step(first.offsets, {}),)
        )
        store.save(pinned)
        person._settle()  # or it was
        assert list(replicas.differences(store, [person])) == []
        assert not person._through()


class LatePage:
    """A page for Steadfast; a key of before is stored only while the page is opened anew."""

    def __init__(self, store, late, person):
        self._store, self._row, self._person = store, late, person

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def open(self):
        self._row = self._store.save(self._row)
        self._show()

    async def send(self, event):
        past = (*self._row.past, Step(self._row.offsets, self._row.pins))
        pins = {**self._row.pins, event["first"]: event["what"]}
        final = tuple(pins.get(t, tag) for t, tag in enumerate(self._row.final))
        self._row = self._store.save(replace(self._row, final=final, pins=pins, past=past))
        self._show()
        self._person.stop()

    def _show(self):
        row = self._row
        of = {"item": row.item, "revision": row.revision, "tags": list(row.final)}
        self.data = {**of, "words": ["Dogs"], "choices": [{"name": "NOUN"}], "problem": None}


def test_key_stored_after_the_check_is_recognised(tmp_path, monkeypatch):
    """The process that had it was still ending: the page that is opened anew has it."""
    url = f"sqlite:///{tmp_path}/labels.db"
    document = replicas.stored(url, "one", ["Dogs bark"])
    with open_store(url) as store:
        person = replicas.Steadfast("", "Ada", [document], store)
        (item,) = store.item_ids("one")
        offsets = ((0, 4), (5, 9))
        late = Annotation(item, "Ada", offsets, ("X", "X"), ("X", "VERB"), {1: "VERB"})
        late = replace(late, past=(Step(offsets, {}),))
        person.confirmed[item] = replicas.Confirmed(0, "open", ["X", "X"], {})
        event = {"kind": "correct", "first": 1, "last": 1, "what": "VERB", "item": item}
        person._unsure[item] = [event]
        page = LatePage(store, late, person)
        monkeypatch.setattr(person, "_session", lambda _: page)
        monkeypatch.setattr(person._random, "random", lambda: 0.5)  # corrections only
        run(person.work(PATIENCE, (0, 0)))
        assert person.confirmed[item].revision == 2
        assert list(replicas.differences(store, [person])) == []


def test_several_processes_behave_as_one(topology):
    """One test, as each worker of pytest-xdist would start processes of its own."""
    check_headers(topology)
    check_spread(topology)
    check_models(topology)
    check_following(topology)
    check_labels(topology)
