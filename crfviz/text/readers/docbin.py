"""spaCy's DocBin, whose tags are in layers: entities, parts of speech, groups of spans."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate, abbreviate_names
from crfviz.text.readers.brat import MAX_UNPACKED
from crfviz.text.readers.losses import Losses, key_question
from crfviz.text.readers.spans import Mark, tagged_words
from crfviz.text.readers.spelling import Tagged
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentences import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

LAYERS = {"ents": "ENT_IOB", "pos": "POS", "tag": "TAG"}  # in the order of reading: attributes
GROUP = "spans."  # before the name of a group of spans


def is_docbin(content: bytes) -> bool:
    """Return whether the content looks like spaCy's DocBin: a compressed map."""
    if content[:1] != b"\x78":
        return False
    try:
        head = zlib.decompressobj().decompress(content, 4096)
    except zlib.error:
        return False
    return b"version" in head[:64] and b"attrs" in head[:64]


def read_docbin(
    content: bytes, losses: Losses, most: int = MAX_UNPACKED, named: str | None = None
) -> tuple[str, Iterator[Tagged]]:
    """Return the layer of a DocBin that has the tags, empty without one, and its sentences.

    Args:
        content: of the file.
        losses: collects what is not read.
        most: maximum bytes of the unpacked file.
        named: one of `LAYERS`, or a group of spans; None takes the first layer with a label, or
            else the only group.

    Raises:
        FormatError: it is damaged or too large, lacks the layer, or has several groups alone.
    """
    docs = _docs(content, losses.name, most)
    labels = _labels(docs)
    filled = {layer: each for layer, each in labels.items() if each}
    groups = [layer for layer in filled if layer.startswith(GROUP)]
    if named is not None:
        named = named if named in labels else f"{GROUP}{named}"
        if named not in labels:
            problem = f"no layer {named.removeprefix(GROUP)!r}"
            raise key_question(losses.name, problem, _shown(filled))
    elif len(groups) == len(filled) > 1:
        raise key_question(losses.name, "several groups of spans may have the tags", _shown(filled))
    layer = named or next(iter(filled or labels), "")
    if named is None and any(group != layer for group in groups):
        losses.add(f"groups of spans ({', '.join(groups)}) were left out; {layer} were read", 0)
    return layer, _doc_sentences(docs, layer, losses)


def docbin_layers(content: bytes, most: int = MAX_UNPACKED) -> dict[str, str]:
    """Return the layers of a DocBin, each with some of its labels.

    Raises:
        FormatError: it is damaged or too large.
    """
    return _shown(_labels(_docs(content, "file", most)))


def _shown(labels: Mapping[str, set[str]]) -> dict[str, str]:
    return {layer: abbreviate_names(sorted(each)[:3]) for layer, each in labels.items() if each}


def _docs(content: bytes, name: str, most: int) -> list["Doc"]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    unpacker = zlib.decompressobj()
    try:
        unpacker.decompress(content, most)
        if unpacker.unconsumed_tail:
            raise FormatError(f"{name}: expected at most {most // 2**20} MB unpacked")
        return list(DocBin().from_bytes(content).get_docs(Vocab()))
    except FormatError:
        raise
    except Exception as error:
        raise FormatError(f"{name}: expected spaCy's DocBin, got {error!r:.80}") from error


def _labels(docs: Sequence["Doc"]) -> dict[str, set[str]]:
    """Return the labels in each layer that some document has, in the order of `LAYERS`."""
    labels: dict[str, set[str]] = {
        layer: set()
        for layer, attribute in LAYERS.items()
        if any(doc.has_annotation(attribute) for doc in docs)
    }
    for doc in docs:
        for layer, words in (("ents", "ent_type_"), ("pos", "pos_"), ("tag", "tag_")):
            if layer in labels:
                labels[layer] |= {getattr(word, words) for word in doc} - {""}
        for group, spans in doc.spans.items():
            labels.setdefault(f"{GROUP}{group}", set()).update(span.label_ for span in spans)
    return labels


def _doc_sentences(docs: Sequence["Doc"], layer: str, losses: Losses) -> Iterator[Tagged]:
    for number, doc in enumerate(docs, start=1):
        for part in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
            words = [token for token in part if not token.is_space]
            if not words:
                continue
            if len(words) < len(part):
                losses.add("white space that counts as a word was left out", number)
            texts, where = tuple(word.text for word in words), f"{losses.name}, document {number}"
            tags = _tags_of(part, layer, losses, number)
            if tags is not None and "" in tags:
                bare = abbreviate(texts[tags.index("")])
                error = FormatError(f"{where}: expected a tag in {layer!r} for {bare}, got none")
                yield Tagged(number, Sentence(()), error)
                continue
            yield Tagged(number, Sentence(texts, tags, part.text))


def _tags_of(part: "Span", layer: str, losses: Losses, number: int) -> tuple[str, ...] | None:
    """Return the tags of the words of a sentence in a layer; None without tags."""
    words = [token for token in part if not token.is_space]
    if layer.startswith(GROUP):
        begin, end = part.start_char, part.end_char
        spans = part.doc.spans.get(layer.removeprefix(GROUP), ())
        here = [each for each in spans if each.start_char < end and each.end_char > begin]
        marks = [Mark(s.start_char - begin, s.end_char - begin, s.label_) for s in here]
        inside = [mark for mark in marks if mark.start >= 0 and mark.end <= len(part.text)]
        if len(inside) < len(marks):
            losses.add("spans over several sentences were left out", number)
        places = tuple((word.idx - begin, word.idx - begin + len(word)) for word in words)
        return tagged_words(part.text, inside, losses, number, places)[1]
    if not layer or not part.doc.has_annotation(LAYERS[layer]):
        return None
    if layer == "ents":
        return tuple(
            f"{word.ent_iob_}-{word.ent_type_}"
            if word.ent_iob_ in ("B", "I") and word.ent_type_
            else OUTSIDE
            for word in words
        )
    return tuple(word.pos_ if layer == "pos" else word.tag_ for word in words)
