"""Inputs of 5 MB for every box and uploader of the app, and how long the server falls silent."""

from __future__ import annotations

import io
import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from documents import sentences
from serving import App

MEGABYTES = 5
SIZE = MEGABYTES * 1_000_000 - 10_000  # bytes; what surrounds them must fit in, too
LOOK = 0.01  # seconds between an answer of the health route and the next question


@dataclass(frozen=True)
class Input:
    """What somebody hands in, and where."""

    what: str
    page: str
    label: str  # of the box or uploader
    content: bytes
    name: str = ""  # of the file; empty where it is pasted


def inputs() -> Iterator[Input]:
    """One of each, worst cases of before among them."""
    plain = "\n".join(sentences(60_000, "n")).encode()[:SIZE].rpartition(b"\n")[0]
    tagged = _conllu()
    table = "a row per word and a column per tag"
    homework = f"Your table: {table}, or the other way round"
    paste = "Paste sentences, one a line, then press Ctrl+Enter"
    file = "or a file: .txt, CoNLL-U, CoNLL columns, JSONL or spaCy's JSON"
    bring = "A file, or two that belong together"
    yield Input("the sentence box", "", "Sentence", plain)
    yield Input("the box of Log space", "log-space?v.log_space=batch", "One sentence a line", plain)
    yield Input("the box of Homework, numbers", "homework", homework, _numbers())
    yield Input("the box of Homework, 1,111…1x", "homework", homework, b"1," + b"1" * SIZE + b"x")
    yield Input(
        "the box of Homework, [ and blanks", "homework", homework, b"[" + b" " * SIZE + b"x"
    )
    yield Input(
        "Homework, as a file", "homework", "or a file: CSV, JSON, .npz", _numbers(), "t.csv"
    )
    yield Input("the box of Annotate", "annotate?v.part=add&v.by=a", paste, plain)
    yield Input("Annotate, as a text file", "annotate?v.part=add&v.by=a", file, plain, "large.txt")
    yield Input("Annotate, as CoNLL-U", "annotate?v.part=add&v.by=a", file, tagged, "large.conllu")
    yield Input(
        "Model errors, as CoNLL-U",
        "model-errors?v.corpus=file",
        "A file with gold tags",
        tagged,
        "large.conllu",
    )
    yield Input("Bring, as JSON", "bring", bring, _scores(), "scores.json")
    yield Input("Bring, as arrays", "bring", bring, _arrays(), "scores.npz")


def _numbers() -> bytes:
    row = ",".join(f"{-1.5 - tag / 7:.6f}" for tag in range(17)) + "\n"
    return (row * (SIZE // len(row))).encode()


def _conllu() -> bytes:
    lines = io.StringIO()
    for text in sentences(60_000, "n"):
        for number, word in enumerate(text.split(), 1):
            lines.write(f"{number}\t{word}\t_\tNOUN\t_\t_\t_\t_\t_\t_\n")
        lines.write("\n")
        if lines.tell() > SIZE:
            break
    return lines.getvalue()[:SIZE].rpartition("\n\n")[0].encode() + b"\n\n"


def _scores() -> bytes:
    tags = [f"T{tag}" for tag in range(17)]
    row = [round(-1.5 - tag / 7, 6) for tag in range(17)]
    words = [f"w{word}" for word in range(20)]
    one = {"tokens": words, "emissions": [row] * 20}
    number = SIZE // len(json.dumps(one)) - 1
    transitions = [row] * 17
    return json.dumps(
        {"tags": tags, "transitions": transitions, "sentences": [one] * number}
    ).encode()


def _arrays() -> bytes:
    file = io.BytesIO()
    number = SIZE // (20 * 17 * 8 + 2500)
    arrays = {f"emissions_{n}": np.full((20, 17), n / 7) for n in range(number)}
    tokens = {f"tokens_{n}": np.array([f"{n}.{t}" for t in range(20)]) for n in range(number)}
    np.savez(file, allow_pickle=False, transitions=np.zeros((17, 17)), **arrays, **tokens)
    return file.getvalue()


@contextmanager
def silences(app: App) -> Iterator[list[float]]:
    """The seconds that the health route takes to answer, asked again and again meanwhile."""
    answers: list[float] = []
    over = threading.Event()

    def ask() -> None:
        while not over.wait(LOOK):
            begin = time.perf_counter()
            urllib.request.urlopen(f"{app.url}/_stcore/health", timeout=120).close()
            answers.append(time.perf_counter() - begin)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        over.set()
        thread.join()
