"""Whatever a pasted or uploaded text holds, it is understood or refused with a message of ours."""

import io
import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from urllib.parse import parse_qsl, urlencode

import numpy as np
import pytest

from crfviz.annotations.files.exporting import FILE_FORMATS, render
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.records import Annotation, Item, Step
from crfviz.annotations.store.store import open_store
from crfviz.chain.edits import Edits
from crfviz.chain.homework.check import check
from crfviz.chain.homework.programs import BACKPOINTERS, KINDS, right_program
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import FormatError
from crfviz.text.files import decoded
from crfviz.text.formats import FORMATS, parse_sentences, render_sentences
from crfviz.text.number_tables import read_number_table
from crfviz.text.sentences import Sentence
from crfviz.ui import cached
from crfviz.ui.annotate import desk, queue
from crfviz.ui.annotate.queue import Queue
from crfviz.ui.session.session_store import session_value, set_value
from crfviz.ui.state.event_parser import new_events, parse_event
from crfviz.ui.state.link import decode, encode
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.scenario import Scenario, for_tags
from crfviz.views.frames.homework import compared, how_read, verdict
from tests.support.fake_tagger import FakeTagger
from tests.support.fuzz import LONGEST_MESSAGE, MEASURED, TRIES, fuzz
from tests.support.paths import ROOT

MAX_LINKS = 20_000
TAGS = ("DET", "NOUN", "VERB")
WORDS = ("The", "dog", "barks")
CHAIN = Potentials(
    [[3.0, 0.5, -1.0], [-1.0, 2.5, 1.0], [-2.0, 1.25, 1.5]],
    [[-1.0, 2.0, -2.0], [0.5, -0.5, 1.5], [1.0, 0.25, -3.0]],
    tags=TAGS,
    tokens=WORDS,
)
TABLE = right_program(CHAIN, "alpha").tables("alpha")["included"]


def as_bytes(write, *arrays, **named):
    file = io.BytesIO()
    write(file, *arrays, **named)
    return file.getvalue()


def lines(separator, rows):
    return "\n".join(separator.join(map(str, row)) for row in rows).encode()


LABELLED = [
    ["word", *TAGS],
    *([word, *row] for word, row in zip(WORDS, TABLE.tolist(), strict=True)),
]
NUMBERS = {
    "csv": [lines(",", LABELLED), lines(";", LABELLED).replace(b".", b",")],
    "text": [
        lines("\t", LABELLED),
        lines(" ", TABLE.tolist()),
        lines(" | ", [["", *row, ""] for row in LABELLED]),
        str(TABLE).encode(),
        f"tensor({TABLE.round(4).tolist()}, dtype=torch.float64)".replace(
            "], [", "],\n ["
        ).encode(),
    ],
    "json": [
        json.dumps(TABLE.tolist()).encode(),
        json.dumps({"alpha": TABLE.tolist(), "tags": TAGS, "beta": TABLE.tolist()}).encode(),
        b"[[NaN, -inf, 0], [1, 2, 3], [null, 4, -1]]",
    ],
    "npy": [as_bytes(np.save, TABLE), as_bytes(np.save, TABLE.round().astype(np.int32).T)],
    "npz": [
        as_bytes(np.savez, alpha=TABLE),
        as_bytes(np.savez_compressed, alpha=TABLE, beta=TABLE.T, tags=np.array(TAGS)),
    ],
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_damaged_homework_tables_are_read_or_rejected(kind):
    """A table is read, held against the right one, and told about, as the page does."""

    @cache  # many damaged files hold the same numbers, and to diagnose them takes its time
    def tell(wanted, shape, numbers):
        checked = check(CHAIN, wanted, np.frombuffer(numbers).reshape(shape))
        verdict(checked, wanted, WORDS, TAGS)
        how_read(checked, wanted)
        if wanted == BACKPOINTERS:  # tables of the others look the same
            compared(checked, wanted, WORDS, TAGS, every=False)

    def read(content):
        table = read_number_table(content, names=TAGS, words=WORDS, prefer="alpha").values
        assert table.dtype == np.float64
        tell(KINDS[len(content) % len(KINDS)], table.shape, table.tobytes())

    fuzz(f"homework as {kind}", NUMBERS[kind], read)


SENTENCES = [
    Sentence(WORDS, TAGS, "The dog barks"),
    Sentence(
        ("Kim", "left", "Zürich", "!"), ("PROPN", "VERB", "PROPN", "PUNCT"), "Kim left Zürich!"
    ),
    Sentence(("untagged", "words")),
]
FILES = ROOT / "tests" / "fixtures" / "files"  # as other programs write them
REFUSED = ("brat.ann", "hf-ids.jsonl", "template.txt", "package.json")
OTHERS = {
    "columns": ("*.tsv", "*.conll*", "*.txt", "*.bio"),
    "objects": ("*.json", "*.jsonl"),
    "archives and tables": ("*.csv", "*.parquet", "*.spacy", "*.zip"),
}
FASTA = b">chr1 an island\nACGCGCG\nttga\n; remark\n>chr2\nA\n"


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.filterwarnings("ignore::crfviz.text.readers.losses.LossWarning")
def test_damaged_corpora_are_read_or_rejected(file_format):
    seed = FASTA if file_format == "fasta" else render_sentences(SENTENCES, file_format).encode()

    def read(content):
        parse_sentences(decoded(content))

    fuzz(f"corpora as {file_format}", [seed], read)


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.filterwarnings("ignore::crfviz.text.readers.losses.LossWarning")
def test_damaged_files_of_other_programs_are_read_or_rejected(kind):
    """At the doors of the library and of Annotate, with every choice of a column."""
    paths = [path for pattern in OTHERS[kind] for path in sorted(FILES.glob(pattern))]
    seeds = [path.read_bytes() for path in paths if path.name not in ("expected.json", *REFUSED)]

    def read(content):
        column = (
            (None, None, "ner", "zzz", 2, -1)[len(content) % 6] if content not in seeds else None
        )
        read_items(content, "file")
        parse_sentences(content, name="file", column=column)

    fuzz(f"files of others: {kind}", seeds, read)


def labelled():
    """A stored document that two people labelled."""
    text = "Kim left Zürich!"
    item = Item(
        text, ((0, 3), (4, 8), (9, 15), (15, 16)), ("B-PER", "O", "B-LOC", "O"), "news", 3, 7
    )
    moment = datetime(2030, 1, 31, 12, tzinfo=UTC)
    own = Annotation(
        item=7,
        annotator="anna",
        offsets=item.offsets,
        proposed=("O", "O", "B-LOC", "O"),
        final=("B-PER", "O", "B-LOC", "O"),
        pins={0: "B-PER"},
        state="done",
        model="ner-en",
        model_version="abc",
        revision=2,
        seconds=1.5,
        created=moment,
        updated=moment,
        past=(Step(item.offsets, {}),),
    )
    split = replace(
        own,
        annotator="bo",
        offsets=((0, 3), (4, 16)),
        proposed=("O",) * 2,
        final=("O",) * 2,
        pins={},
    )
    return [(item, own), (item, split)]


PLAIN = b"She saw Mr Ford in Paris.\nBook that flight!\n\nTabs and \xe2\x80\xa8 more\n"
IMPORTS = {
    **{kind: [render(labelled(), kind).encode()] for kind in FILE_FORMATS},
    "text": [PLAIN],
    "gold": [
        render_sentences(some, kind).encode()
        for kind in FORMATS
        if kind != "fasta"
        for some in (SENTENCES[:1], SENTENCES[1:])  # one set of tags a file
    ],
    "entities": [
        b'[{"text": "Kim left", "entities": [[0, 3, "PER"]]}, ["Bo left", {"entities": []}]]'
    ],
}


@pytest.mark.parametrize("kind", IMPORTS)
def test_damaged_imports_are_rejected_or_can_be_exported(kind):
    """What can be read of a file can be exported again in every format."""

    def read(content):
        found = read_items(content, "file")
        for problem in found.problems:
            assert len(problem.message) < LONGEST_MESSAGE
        for item in found.items:
            assert item.tokens
        pairs = [(found.items[one.item], one) for one in found.annotations]
        for file_format in FILE_FORMATS:
            render(pairs, file_format)
        if found.dropped:
            raise FormatError(found.problems[0].message)

    fuzz(f"imports of {kind}", IMPORTS[kind], read)


CELLS = {  # of a stored annotation, and of its sentence
    "crfviz_annotations": (
        "offsets", "proposed", "final", "pins", "past", "state", "revision", "created", "seconds",
    ),
    "crfviz_items": ("text", "offsets", "gold", "position"),
    "crfviz_documents": ("created", "tags"),
}  # fmt: skip


@pytest.mark.parametrize("table", CELLS)
def test_damaged_store_rows_are_rejected_with_their_place(table, tmp_path):
    """A cell that something else has written is refused with the place where it stands."""
    file = tmp_path / "annotations.db"
    with open_store(f"sqlite:///{file}") as store:
        item, annotation = labelled()[0]
        store.add("news", [item], labelled=[replace(annotation, item=0)])
    direct = sqlite3.connect(file, isolation_level=None)
    direct.execute("PRAGMA synchronous=OFF")
    before = {
        column: direct.execute(f"SELECT {column} FROM {table}").fetchone()[0]
        for column in CELLS[table]
    }

    def read(content):
        name, _, value = content.partition(b"\t")
        column = name.decode(errors="replace")
        if column not in before:
            raise FormatError("expected a column")
        try:
            direct.execute(f"UPDATE {table} SET {column} = ?", [_cell(value)])
        except sqlite3.IntegrityError as error:
            raise FormatError("expected a value") from error
        try:
            reader.documents()
            for item, _ in reader.annotations():
                reader.items(item.document)
                reader.annotation(item.id, "anna")
        finally:
            direct.execute(f"UPDATE {table} SET {column} = ?", [before[column]])

    seeds = [
        f"{name}\t{'null' if value is None else value}".encode() for name, value in before.items()
    ]
    with open_store(f"sqlite:///{file}") as reader:
        fuzz(f"rows of {table}", seeds, read)
    direct.close()


def _cell(value):
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


FAKE = FakeTagger(TAGS, {"dog": {"NOUN": 1.0}}, {("DET", "NOUN"): 1.0})
EVENT = {"seq": 1, "item": 1, "revision": 0, "seconds": 1.5}
STEPS = [
    {**EVENT, "kind": "correct", "first": 0, "last": 1, "what": "NOUN"},
    {**EVENT, "kind": "cut", "word": 1, "at": 2},
    {**EVENT, "kind": "join", "word": 0},
    {**EVENT, "kind": "accept"},
    {**EVENT, "kind": "undo"},
    {**EVENT, "kind": "go", "by": 1},
]


@pytest.mark.usefixtures("asked_again")
def test_damaged_labelling_steps_are_applied_or_rejected(tmp_path, monkeypatch):
    """What a labeller in a browser asks for is done or refused beside the sentence."""
    set_value("scenario", Scenario("fake", ""))
    monkeypatch.setattr(cached, "tagger", lambda _: FAKE)
    monkeypatch.setattr(desk, "version_of", lambda _: "v1")
    with open_store(f"sqlite:///{tmp_path}/annotations.db") as store:
        store.add("dogs", [Item("The dog barks", ((0, 3), (4, 7), (8, 13)))] * 2)
        for module in (desk, queue):
            monkeypatch.setattr(module, "store", lambda: store)
        monkeypatch.setattr(
            store, "save", lambda annotation, _: annotation
        )  # each step is the first
        document, ids = store.documents()[0], store.item_ids("dogs")
        told = session_value("last step", desk.LastStep)

        def read(content):
            set_value("events", {})
            told.problem = ""
            desk.take_steps(Queue(document, "anna", ids), [parsed(content)])
            if told.problem:
                raise FormatError(told.problem)

        fuzz("steps", [json.dumps(step).encode() for step in STEPS], read)


def parsed(content):
    """What a browser could have sent: JSON, whatever it holds."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FormatError("expected JSON") from error


EVENTS = [
    {"kind": "transition", "from": "DET", "to": "NOUN", "score": 1.25},
    {"kind": "emission", "position": 2, "tag": "NOUN", "score": None},
    {"kind": "restore", "position": 2, "tag": "NOUN"},
    {"kind": "strength", "value": 0.5},
    {"kind": "constrained", "value": False},
    {"kind": "right", "position": 1, "tag": "VERB"},
    {"kind": "step", "value": 4},
    {"kind": "view", "name": "rows", "value": "viterbi"},
]


def test_damaged_stage_events_are_applied_or_rejected():
    def read(content):
        for _, event in new_events([parsed(content)], after=0):
            parse_event(event, TAGS).apply(Scenario("fake", "The dog barks"))

    fuzz("events", [json.dumps({"seq": 1, **event}).encode() for event in EVENTS], read)


KNOWN = Models(("fake", "other"), "fake", lambda _: "The dog barks")
MANY = {(a, b): 0.25 for a in "ABCDEFG" for b in "ABCDEFG"}
SCENARIOS = [
    Scenario(
        "other",
        "The dogs bark  .",
        Edits({("DET", "NOUN"): 1.25, ("NOUN", "END"): -np.inf}, {(2, "VERB"): 2.0}, 0.5, False),
        {0: "DET"},
        {3: "VERB"},
        {"rows": "viterbi", "at": "3 VERB"},
        4,
    ),
    Scenario("fake", "The dog barks", Edits(MANY)),
]


def test_damaged_links_give_a_valid_scenario():
    """An address gives a scenario that can be written down again; nothing in it is an error."""

    def read(content):
        params = dict(parse_qsl(content.decode(errors="replace"), max_num_fields=None))
        read = decode(params, KNOWN)
        fitted, _ = for_tags(read.scenario, TAGS)
        again = decode(encode(fitted, KNOWN).params, KNOWN)
        assert not again.ignored
        if read.ignored:
            raise FormatError(max(read.ignored, key=len))

    links = [urlencode(encode(scenario, KNOWN).params).encode() for scenario in SCENARIOS]
    fuzz("links", links, read, tries=min(TRIES, MAX_LINKS))


def test_number_of_mutations_equals_the_documented_one():
    assert MEASURED or TRIES == 2000
    assert "\nFUZZ ?= 50000\n" in ROOT.joinpath("Makefile").read_text("utf-8")
