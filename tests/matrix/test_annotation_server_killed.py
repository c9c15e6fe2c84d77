"""The server is killed again and again while it is used: all that it confirmed is stored."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import islice, product

import pytest

from benchmarks.serving import running_app
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.records import CURATED, Annotation, Item
from crfviz.annotations.settings import Settings
from crfviz.annotations.store import names
from crfviz.annotations.store.store import open_store
from crfviz.taggers.blank import bio_tags
from crfviz.taggers.registry import list_taggers, load_tagger
from tests.support import annotators
from tests.support.forked_server import fork
from tests.support.loops import run

KILLS = 5  # in each test
KEYS = (1, 12)  # are confirmed before the kill
LONGEST = 0.05  # seconds from then to the kill, as long as a key takes
PACE = (0.0, 0.02)
VERSIONS = {"anna": "NOUN", "ben": "VERB"}  # the tag that each gives all words
NAMES = {"Anna": "PER", "Bergen": "LOC"}  # in each of the sentences
SENTENCES = 30

pytestmark = [pytest.mark.usefixtures("forks")]


def killed_while_labelling(annotator, app, keys, after):
    """Let somebody label, and kill the server so many seconds after so many confirmed keys."""

    async def work():
        labelling = asyncio.ensure_future(annotator.work(120, PACE))
        while len(annotator.seconds) < keys and not labelling.done():
            await asyncio.sleep(0.005)
        await asyncio.sleep(after)  # not to wait: the moment of the kill
        os.kill(app.pid, signal.SIGKILL)
        await asyncio.wait([labelling])
        return labelling.exception()

    return run(work())


def assert_confirmed(store, annotator, layer=None):
    """Every confirmed row is there; of one sentence there may be one step more, not yet told."""
    rows = {a.item: a for _, a in store.annotations(annotator=layer or annotator.name)}
    ahead = 0
    for item, known in annotator.confirmed.items():
        row = rows.pop(item, None)
        if row is None:
            assert known.revision == 0
            continue
        if row.revision == known.revision:
            assert (row.state, list(row.final), dict(row.pins)) == (
                known.state,
                known.tags,
                known.pins,
            )
        else:
            assert row.revision == known.revision + 1
            ahead += 1
    assert ahead <= 1
    assert layer or not rows


@pytest.mark.parametrize("number", range(10))
def test_kills_lose_no_annotation(number, tmp_path):
    moments = random.Random(number)
    database = f"sqlite:///{tmp_path}/labels.db"
    document = annotators.stored(database, "all", annotators.sentences(60, "s"))
    people = []
    for kill in range(KILLS):
        moment = moments.randint(*KEYS), moments.uniform(0, LONGEST)
        log = tmp_path / f"{kill}.log"
        with running_app(log, {"CRFVIZ_DATABASE_URL": database}, fork) as app:
            people.append(annotators.Annotator(app.url, f"annotator {kill}", [document]))
            assert killed_while_labelling(people[-1], app, *moment) is not None
        with closing(sqlite3.connect(tmp_path / "labels.db")) as file:
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        with open_store(database) as store:
            for each in people:  # no later kill has touched what an earlier one left
                assert_confirmed(store, each)
    assert sum(len(each.seconds) for each in people) > 2 * KILLS


def curator(url, name, document):
    """Somebody who settles disagreements: takes readings, undoes, accepts."""

    class Curator(annotators.Annotator):
        def _session(self, key):
            params = {"model": annotators.MODEL, "v.doc": key, "v.by": name, "v.order": "disputed"}
            return annotators.Session(url, "annotate", params)

        def _key(self, shown, known):
            if not known.revision:  # another curator may have begun it
                known.revision = shown["revision"]
                known.pins = {t: shown["tags"][t] for t in shown["pinned"]}
            left = [t for t in range(len(shown["words"])) if t not in known.pins]
            of = {"item": shown["item"], "revision": shown["revision"]}
            if known.past and self._random.random() < 0.2:
                return {"kind": "undo", **of}
            if not left:
                return {"kind": "accept", **of}
            word, version = self._random.choice(left), self._random.randrange(len(VERSIONS))
            told = {"first": word, "what": tuple(VERSIONS.values())[version]}
            return {"kind": "take", "version": version, "word": word, **told, **of}

    return Curator(url, name, [document])


@pytest.mark.parametrize("number", range(10))
def test_kills_while_settling_disagreements_lose_nothing(number, tmp_path):
    moments = random.Random(number)
    database = f"sqlite:///{tmp_path}/labels.db"
    document = annotators.stored(database, "all", [f"Dogs run s{n}" for n in range(80)])
    with open_store(database) as store:
        tags = load_tagger(annotators.MODEL).tags
        for item, (who, tag) in product(store.items("all"), VERSIONS.items()):
            said = (tag,) * len(item.offsets)
            store.save(Annotation(item.id, who, item.offsets, said, said, state="done"), tags)
    confirmed = 0
    for kill in range(KILLS):
        moment = moments.randint(*KEYS), moments.uniform(0, LONGEST)
        with running_app(tmp_path / f"{kill}.log", {"CRFVIZ_DATABASE_URL": database}, fork) as app:
            one = curator(app.url, f"curator {kill}", document)
            assert killed_while_labelling(one, app, *moment) is not None
        assert one.problems == []
        with open_store(database) as store:
            assert_confirmed(store, one, CURATED)
            assert store.count(annotator="anna") == store.count(annotator="ben") == 80
        confirmed += len(one.seconds)
    assert confirmed > 2 * KILLS


class Marker(annotators.Annotator):
    """Somebody who marks names, and says yes or no where they stand again.

    Args:
        decided: what the server has confirmed, by sentence and name: yes, no, or empty if undone.
    """

    def __init__(self, url, name, document, decided):
        super().__init__(url, name, [document])
        self.decided = decided
        self.pending = set()  # the sentences that an event without a reply may have changed
        self.remembered = 0  # proposals of names that were marked before

    def _key(self, shown, _known):
        of = {"item": shown["item"], "revision": shown["revision"]}
        here, dice, sentence = shown["everywhere"], self._random, number_of(shown)
        if shown["revision"] == 0:
            self._expect_memory(shown, sentence)
        if here and here["rows"]:
            rows = here["rows"]
            answers = ("yes", "yes", "no", "no", "undo", "all", "undo all", "close")
            answer, at = (
                dice.choices(answers, (6, 6, 6, 6, 4, 1, 1, 2))[0],
                dice.randrange(len(rows)),
            )
            self.pending = {row["sentence"] for row in rows}
            if answer == "all":  # also in sentences beyond the list
                self.pending = set(range(1, SENTENCES + 1))
            return {"kind": "everywhere", "answer": answer, "at": at, **of}
        if here and here["left"] and dice.random() < 0.7:
            return {"kind": "everywhere", "answer": "open", **of}
        if dice.random() < 0.3:
            return {"kind": "go", "by": dice.randint(1, 9), **of}
        word = dice.choice([*NAMES])
        place = shown["words"].index(word)
        self.pending = {sentence}
        return {"kind": "correct", "first": place, "last": place, "what": NAMES[word], **of}

    def _expect_memory(self, shown, sentence):
        for t, word in enumerate(shown["words"]):
            marked = [
                at for (at, name), said in self.decided.items() if (name, said) == (word, "yes")
            ]
            if {*marked} - {sentence} and self.decided.get((sentence, word)) != "no":
                self.remembered += 1
                if not shown["seen"].get(str(t), "").startswith("seen in "):
                    self.problems.append(f"{word} of sentence {sentence} is forgotten")

    def _note(self, event, _known, answer):
        self.pending = set()
        if event["kind"] == "correct" and not answer["problem"]:
            word = answer["words"][event["first"]]
            self.decided[number_of(answer), word] = "yes"
        for row in (answer["everywhere"] or {}).get("rows") or ():
            self.decided[row["sentence"], row["words"]] = row["answer"]


def number_of(shown):
    return int(shown["place"].removeprefix("Sentence "))


def stored_decision(store, who, sentence, word):
    """Return whether a name was marked in a sentence, and whether its place is refused."""
    item = store.items("all")[sentence - 1]
    start = item.text.index(word)
    ends = (start, start + len(word))
    stored = store.annotation(item.id, who)
    set_tags = {stored.offsets[t]: tag for t, tag in stored.pins.items()} if stored else {}
    refused = names.refused(store, "all", who, NAMES[word], item.id)
    return set_tags.get(ends) == f"B-{NAMES[word]}", (item.id, *ends) in refused


def assert_decided(store, marker):
    """Every yes is a mark in the store, every no is remembered, and nothing undone is there."""
    for (sentence, word), said in marker.decided.items():
        if sentence not in marker.pending:
            marked, refused = stored_decision(store, marker.name, sentence, word)
            assert marked == (said == "yes"), (sentence, word, said)
            assert refused or said != "no", (sentence, word)


@pytest.mark.parametrize("number", range(3))
def test_kills_while_marking_names_everywhere_lose_no_decision(number, tmp_path):
    moments = random.Random(number)
    database = f"sqlite:///{tmp_path}/labels.db"
    lines = "\n".join(f"{' saw '.join(NAMES)} s{n}" for n in range(SENTENCES))
    with open_store(database) as store:
        settings = Settings(bio_tags(NAMES.values()))
        store.add("all", read_items(lines.encode(), "all").items, settings=settings)
        (document,) = store.documents()
    decided = {who: {} for who in ("anna", "ben")}
    confirmed = remembered = 0
    for kill in range(KILLS):
        moment = moments.randint(*KEYS), moments.uniform(0, LONGEST)
        who = [*decided][kill % 2]
        with running_app(tmp_path / f"{kill}.log", {"CRFVIZ_DATABASE_URL": database}, fork) as app:
            one = Marker(app.url, who, document.key, decided[who])
            assert killed_while_labelling(one, app, *moment) is not None
        assert one.problems == []
        with open_store(database) as store:
            assert_decided(store, one)
            assert {*store.annotators("all")} <= {*decided}
            for place in product(one.pending, NAMES):  # what had no reply is read anew
                marked, refused = stored_decision(store, who, *place)
                decided[who][place] = "yes" if marked else "no" * refused
        confirmed += len(one.seconds)
        remembered += one.remembered
    assert confirmed > 2 * KILLS
    assert remembered
    assert {said for each in decided.values() for said in each.values()} >= {"yes", "no"}


@pytest.mark.parametrize("number", range(2))
def test_kills_during_training_lose_nothing(number, tmp_path, monkeypatch):
    moments = random.Random(number)
    database = f"sqlite:///{tmp_path}/labels.db"
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "models"))
    words, tags = ((0, 4), (5, 10)), ("N", "V")
    with open_store(database) as store:
        said = [Annotation(n, "anna", words, tags, tags, state="done") for n in range(12)]
        items = [Item(f"dogs run{n:02}", words) for n in range(12)]
        store.add("dogs", items, labelled=said, settings=Settings(tags))
        (document,), before = store.documents(), store.annotations()
    command = [sys.executable, "-m", "crfviz", "annotations", "propose", "dogs", "--as", "mine"]
    command += ["--json-lines", "--database", database]
    for kill in range(KILLS):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in islice(process.stdout, moments.randrange(12)):
            assert "saving" not in line
        if kill == KILLS - 1:
            assert any("saving" in line for line in process.stdout)
        process.kill()
        process.communicate()
        with open_store(database) as store:
            assert store.annotations() == before
            (after,) = store.documents()
        assert after == document or kill == KILLS - 1
        if "mine" in list_taggers():
            assert kill == KILLS - 1
            assert load_tagger("mine").tags == tags
    assert subprocess.run(command, stdout=subprocess.PIPE, check=False).returncode == 0
    with open_store(database) as store:
        (after,) = store.documents()
    assert after.model == "mine"
    assert load_tagger("mine").tags == tags
