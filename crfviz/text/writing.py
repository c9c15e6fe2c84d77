"""Writers of tagged sentences in the formats of other programs; `readers` reads all of them back.

| name        | program             | what it holds                                              |
|-------------|---------------------|------------------------------------------------------------|
| conllu      | Universal Dependencies | words, tags as UPOS, text                               |
| columns     | flair, seqeval      | word TAB tag, text                                         |
| blanks      | CRF++, NCRF++       | word BLANK tag                                             |
| conll2003   | the shared task     | word, two dummies and tag, with blanks                     |
| jsonl       | crfviz              | tokens, tags, text                                         |
| doccano     | doccano             | text and entities                                          |
| labelstudio | Label Studio        | text and entities, as predictions, or annotations of work  |
| prodigy     | Prodigy             | text, tokens and entities                                  |
| docbin      | spaCy 3             | words and entities, else fine-grained tags                 |
| parquet     | datasets            | tokens, tags as class numbers with their names             |

Columns whose tags or words would be taken for something else begin with a comment that names them.
"""

import io
import json
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate
from crfviz.text.formats import parse_sentences, render_sentences
from crfviz.text.readers.ends import DOCUMENT, NAMED
from crfviz.text.readers.losses import Losses
from crfviz.text.readers.quoting import Dialect, cells_of
from crfviz.text.readers.spans import Mark, tagged_words
from crfviz.text.readers.spelling import convert_tags, entities_of, odd_tag, target_scheme
from crfviz.text.schemes import BIO, Span, scheme_of_file, tags_of
from crfviz.text.sentences import Offsets, Sentence, joined, located

ENTITIES_ONLY = ("doccano", "labelstudio", "prodigy")
DUMMY = "-X-"
ROWS = {  # formats with a row per word, and the comment that names their columns
    "conllu": "",
    "columns": f"{NAMED} FORM TAG\n",
    "blanks": f"{NAMED} FORM TAG\n",
    "conll2003": f"{NAMED} FORM POS CHUNK NER\n",
}
Sentences = Sequence[Sentence]


def written(
    sentences: Sentences,
    name: str,
    scheme: str | None = None,
    *,
    finished: Container[int] = (),
) -> bytes:
    """Return sentences as the content of a file.

    Args:
        sentences: all of them, tagged.
        name: one of `WRITERS`.
        scheme: target scheme of entities: BIO, IOB1, BIOES or BILOU; None keeps the present one.
            Ignored by formats with spans.
        finished: indices of the sentences that are somebody's finished work.

    Raises:
        FormatError: the format cannot hold a word or the tags, or a scheme was requested for other
            tags.
    """
    untagged = next((n for n, each in enumerate(sentences, start=1) if each.tags is None), None)
    if untagged and name not in ("conllu", "columns", "jsonl"):
        raise FormatError(f"{name} needs tags, and sentence {untagged} has none")
    tags = {tag for each in sentences for tag in each.tags or ()}
    own = scheme_of_file(tags)
    if own is None and (scheme or name in ENTITIES_ONLY):
        raise FormatError(
            f"{name} with {scheme or 'spans'} holds entities such as B-PER, "
            f"got {abbreviate(odd_tag(tags))}"
        )
    target = target_scheme(scheme) if scheme else own
    if name in (*ENTITIES_ONLY, "docbin"):
        target = own and BIO
    if own is not None and target != own:
        sentences = [
            replace(each, tags=tuple(convert_tags(each.tags, own, str(target))))
            if each.tags
            else each
            for each in sentences
        ]
    if name == "labelstudio":
        return _labelstudio(sentences, finished)
    content = WRITERS[name](sentences)
    return _readable(content, sentences, name) if name in ROWS else content


def _readable(content: bytes, sentences: Sentences, name: str) -> bytes:
    """Return columns that are read back unchanged, with a comment that names them if necessary.

    Raises:
        FormatError: the columns cannot hold a sentence.
    """
    wanted = _read(WRITERS["jsonl"](sentences))  # holds any word, and is normalised as well
    found = []
    for head in ("", ROWS[name]):
        whole = head.encode() + content
        found = _read(whole)
        if found == wanted and (wanted or not sentences):
            return whole
    words, others = (
        [pair for tokens, tags in rows for pair in zip(tokens, tags or tokens, strict=True)]
        for rows in (wanted or [(each.tokens, each.tags) for each in sentences], found)
    )
    lost = (one for one, other in zip_longest(words, others) if one and one != other)
    word, tag = next(lost, words[0])
    raise FormatError(
        f"{name} cannot hold {abbreviate(word)} with the tag {abbreviate(tag)} so that it is read "
        "back; choose JSONL"
    )


def _read(content: bytes) -> list[tuple[Sequence[str], Sequence[str] | None]]:
    """Return words and tags of a file; () if it cannot be read."""
    try:
        read = parse_sentences(content, told=lambda _: None)
    except FormatError:
        return []
    return [(each.tokens, each.tags) for each in read]


def _as_lines(name: str) -> Callable[[Sentences], bytes]:
    # mypy: `name` is one of FORMATS
    return lambda sentences: render_sentences(sentences, name).encode()  # type: ignore[arg-type]


def _blanks(sentences: Sentences) -> bytes:
    return "".join(_rows(sentences, ())).encode()


def _conll2003(sentences: Sentences) -> bytes:
    head = f"{DOCUMENT} {DUMMY} {DUMMY} O\n\n"
    return "".join([head, *_rows(sentences, (DUMMY, DUMMY))]).encode()


def _rows(sentences: Sentences, between: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        for word, tag in zip(sentence.tokens, sentence.tags or (), strict=True):
            row = " ".join([word, *between, tag])
            same = cells_of(row, Dialect(" ")) == [word, *between, tag]
            if not same or "\n" in row or word == DOCUMENT:
                raise FormatError(
                    f"columns with blanks cannot hold {abbreviate(word)} with the tag "
                    f"{abbreviate(tag)}; choose columns with TAB, or JSONL"
                )
            yield f"{row}\n"
        yield "\n"


def _doccano(sentences: Sentences) -> bytes:
    rows = []
    for number, sentence in enumerate(sentences, start=1):
        text, offsets = _placed(sentence)
        label = [[*_ends(span, offsets), span.type] for span in _entities(sentence)]
        rows.append({"id": number, "text": text, "label": label, **_own_words(sentence)})
    return _lines(rows)


def _prodigy(sentences: Sentences) -> bytes:
    rows = []
    for sentence in sentences:
        text, offsets = _placed(sentence)
        tokens = [
            {"text": word, "start": start, "end": end, "id": number}
            for number, (word, (start, end)) in enumerate(
                zip(sentence.tokens, offsets, strict=True)
            )
        ]
        marks = [
            {
                "start": offsets[span.start][0],
                "end": offsets[span.end - 1][1],
                "token_start": span.start,
                "token_end": span.end - 1,
                "label": span.type,
            }
            for span in _entities(sentence)
        ]
        rows.append({"text": text, "tokens": tokens, "spans": marks, "answer": "accept"})
    return _lines(rows)


def _labelstudio(sentences: Sentences, finished: Container[int] = ()) -> bytes:
    tasks = []
    for index, sentence in enumerate(sentences):
        text, offsets = _placed(sentence)
        result = []
        for number, span in enumerate(_entities(sentence)):
            start, end = _ends(span, offsets)
            value = {"start": start, "end": end, "text": text[start:end], "labels": [span.type]}
            names = {"from_name": "label", "to_name": "text", "type": "labels"}
            result.append({"id": str(number), **names, "value": value})
        said = (
            {"annotations": [{"result": result}]}
            if index in finished
            else {"predictions": [{"model_version": "crfviz", "result": result}]}
        )
        own = _own_words(sentence)
        tasks.append({"data": {"text": text}, **({"meta": own} if own else {}), **said})
    return f"{json.dumps(tasks, ensure_ascii=False, indent=1)}\n".encode()


def _docbin(sentences: Sentences) -> bytes:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    vocab = Vocab()
    are_entities = (
        scheme_of_file({tag for each in sentences for tag in each.tags or ()}) is not None
    )
    docs = []
    for sentence in sentences:
        text, offsets = _placed(sentence)
        spaces = [text[end : end + 1] == " " for _, end in offsets]
        tags = list(sentence.tags or ())
        if are_entities:  # an I-X may begin an entity
            tags = tags_of(entities_of(tags, BIO), len(tags))
        more: dict[str, Any] = {"ents": tags} if are_entities else {"tags": tags}
        docs.append(Doc(vocab, words=list(sentence.tokens), spaces=spaces, **more))
    kept = ["ENT_IOB", "ENT_TYPE", "SPACY"] if are_entities else ["TAG", "SPACY"]
    return bytes(DocBin(attrs=kept, docs=docs).to_bytes())


def _parquet(sentences: Sentences) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    tags = dict.fromkeys(tag for each in sentences for tag in each.tags or ())
    names = sorted(tags, key=lambda tag: (tag != "O", tag.partition("-")[2], tag))
    number = {name: place for place, name in enumerate(names)}
    column = "ner_tags" if scheme_of_file(tags) else "tags"
    table = pa.table(
        {
            "tokens": pa.array([list(each.tokens) for each in sentences], pa.list_(pa.string())),
            column: pa.array(
                [[number[tag] for tag in each.tags or ()] for each in sentences],
                pa.list_(pa.int64()),
            ),
        }
    )
    text = {"dtype": "string", "_type": "Value"}
    label = {"names": names, "_type": "ClassLabel"}
    features = {
        "tokens": {"feature": text, "_type": "Sequence"},
        column: {"feature": label, "_type": "Sequence"},
    }
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    buffer = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), buffer)
    return buffer.getvalue()


def _own_words(sentence: Sentence) -> dict[str, Offsets]:
    """Return the `offsets` of words, if a reader of text and spans would split others."""
    text, offsets = _placed(sentence)
    marks = [Mark(*_ends(span, offsets), span.type) for span in _entities(sentence)]
    read = tagged_words(text, marks, Losses(""), 0)[0]
    return {} if read == offsets else {"offsets": offsets}


def _placed(sentence: Sentence) -> tuple[str, Offsets]:
    """Return the text of a sentence and its words; without a text, join the words by blanks."""
    offsets = None if sentence.text is None else located(sentence.tokens, sentence.text)
    return joined(sentence.tokens) if offsets is None else (str(sentence.text), offsets)


def _entities(sentence: Sentence) -> list[Span]:
    return entities_of(sentence.tags or (), BIO)


def _ends(span: Span, offsets: Offsets) -> tuple[int, int]:
    return offsets[span.start][0], offsets[span.end - 1][1]


def _lines(rows: Sequence[object]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


WRITERS: dict[str, Callable[[Sentences], bytes]] = {
    "conllu": _as_lines("conllu"),
    "columns": _as_lines("columns"),
    "blanks": _blanks,
    "conll2003": _conll2003,
    "jsonl": _as_lines("jsonl"),
    "doccano": _doccano,
    "labelstudio": _labelstudio,
    "prodigy": _prodigy,
    "docbin": _docbin,
    "parquet": _parquet,
}
SUFFIXES = {  # file name suffixes of formats
    ".conllu": "conllu",
    ".conll": "columns",
    ".tsv": "columns",
    ".bio": "blanks",
    ".txt": "blanks",
    ".jsonl": "jsonl",
    ".json": "labelstudio",
    ".spacy": "docbin",
    ".parquet": "parquet",
}
