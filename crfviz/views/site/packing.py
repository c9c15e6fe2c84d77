"""A tagger packed as text for the browser: weights, words, and the tokenizer's rules.

    base64(gzip(length of the header, header as JSON, arrays))

`web/tagger.js` unpacks it into a tagger that gives the same scores.
Large arrays have half precision, as in a model's folder, small ones single precision. Each array is
written byte plane by byte plane, the high bytes first: they are similar, so gzip packs them better.
"""

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.constraints import scheme_automaton
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.folder import FolderTagger
from crfviz.taggers.hmm import HmmTagger
from crfviz.taggers.neural.tagger import NeuralTagger
from crfviz.taggers.perceptron import PerceptronTagger, pack
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.textbook import MarkovTagger
from crfviz.text.files import abbreviate
from crfviz.text.splitting import ENGLISH, PATTERNS, affix_rules_of
from crfviz.text.tokenizer import LONGEST

FORMAT = 1  # of the payload
SMALL = 4096  # numbers; largest array in single precision

Array = NDArray[Any]
Parts = tuple[dict[str, object], Mapping[str, Array]]  # of the header, and arrays
# Python's white space, which differs from JavaScript's.
_BLANK = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_CLASSES = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": _BLANK}
_SYNTAX = "^$\\.*+?()[]{}|/-"  # escaped characters; the last one only in a class
_ATOM = re.compile(r"\\U000(?P<code>[0-9A-F]{5})|\\(?P<escaped>.)|(?P<bracket>[\[\]])", re.DOTALL)


def tagger_payload(tagger: Tagger) -> str:
    """Return the text of a tagger: letters, digits, +, / and = alone.

    Raises:
        CrfvizError: only a server can run this tagger, or half precision cannot hold its weights.
    """
    own, arrays = _parts(tagger)
    header = {
        "format": FORMAT,
        "name": tagger.name,
        "tags": list(tagger.tags),
        "family": tagger.family,
        "scheme": tagger.scheme,
        "probabilistic": tagger.probabilistic,
        "observations": tagger.observations and list(tagger.observations),
        "forbidden": _forbidden(tagger),
        "tokenizer": None if tagger.observations else _tokenizer(tagger),
        **own,
    }
    planes = []
    header["arrays"] = described = []
    for name, array in arrays.items():
        narrow = _narrowed(tagger, name, array)
        described.append({"name": name, "size": narrow.size, "kind": narrow.dtype.str[1:]})
        planes.append(_planes(narrow))
    fields = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    packed = gzip.compress(b"".join([len(fields).to_bytes(4, "little"), fields, *planes]), mtime=0)
    return b64encode(packed).decode()


def _parts(tagger: Tagger) -> Parts:
    if isinstance(tagger, NeuralTagger):
        return _network(tagger)
    if isinstance(tagger, HmmTagger):
        return _events(tagger)
    if isinstance(tagger, PerceptronTagger):
        return _perceptron(tagger)
    if isinstance(tagger, MarkovTagger):
        return {"kind": "observations", "tables": _tables(tagger)}, {}
    raise CrfvizError(
        f"{abbreviate(tagger.name)} cannot go into a file: the browser runs taggers that crfviz "
        "trains and chains of a textbook; the file can hold its scores for one sentence"
    )


def _network(tagger: NeuralTagger) -> Parts:
    model = tagger.model
    arrays = {name: value.cpu().numpy() for name, value in model.network.named_parameters()}
    temperature = model.config.temperature
    weights = {
        name: _plain(arrays.pop(f"crf.{own}").astype(np.float64) / temperature)
        for name, own in (
            ("transitions", "transitions"),
            ("start", "start_transitions"),
            ("end", "end_transitions"),
        )
    }
    sizes = {**vars(model.config.sizes), "widths": list(model.config.sizes.widths)}
    return {
        "kind": "network",
        "architecture": model.config.architecture,
        "temperature": temperature,
        "sizes": sizes,
        "words": list(model.vocabulary.words),
        "characters": list(model.vocabulary.characters),
        "weights": weights,
    }, arrays


def _events(tagger: HmmTagger) -> Parts:
    """Return events with one row of scores for all words with the same counts."""
    names = tagger.chain.observations
    potentials = tagger.chain.potentials(range(len(names)), names)
    scores, rows = np.unique(potentials.emissions.numpy(), axis=0, return_inverse=True)
    return {
        "kind": "events",
        "temperature": 1.0,
        "words": list(tagger.events.words),
        "classes": list(tagger.events.classes),
        "rows": rows.ravel().tolist(),
        "weights": {
            "transitions": _plain(potentials.transitions.numpy()),
            "start": _plain(potentials.start.numpy()),
            "end": _plain(potentials.end.numpy()),
        },
    }, {"scores": scores.astype(np.float32)}


def _perceptron(tagger: PerceptronTagger) -> Parts:
    model, square = tagger.model, len(tagger.tags) ** 2
    arrays = {
        **pack("features", model.emissions[:-1], model.updates),
        **pack("words", model.word_transitions[:-1].reshape(-1, square), model.updates),
    }
    return {
        "kind": "perceptron",
        "scales": {name: float(arrays.pop(f"{name}.scale")[0]) for name in ("features", "words")},
        "weights": {
            "transitions": _plain(model.transitions),
            "start": _plain(model.start),
            "end": _plain(model.end),
        },
    }, {**arrays, "features.keys": model.features, "words.keys": model.words}


def _tables(tagger: MarkovTagger) -> dict[str, object]:
    names = tagger.observations or ()
    first = [tagger.potentials([name]) for name in names]
    then = [tagger.potentials([names[0], name]) for name in names]
    each = then[0].transitions.dim() == 3  # one matrix for each step
    return {
        "emissions": [_plain(chain.emissions.numpy()) for chain in first],
        "start": [_plain(chain.start.numpy()) for chain in first],
        "transitions": [_plain(chain.transitions.numpy()) for chain in then[: None if each else 1]],
        "end": [_plain(first[0].end.numpy())],
    }


def _plain(table: Array) -> list[float | None]:
    """Return scores for JSON, with None for -inf."""
    return [score if np.isfinite(score) else None for score in table.ravel().tolist()]


def _forbidden(tagger: Tagger) -> dict[str, list[int]]:
    if not tagger.scheme:
        return {"transitions": [], "start": []}
    rules = scheme_automaton(tagger.tags).product
    allowed = {"transitions": rules.transitions, "start": rules.start}
    return {name: np.flatnonzero(~table.numpy()).tolist() for name, table in allowed.items()}


def _narrowed(tagger: Tagger, name: str, array: Array) -> Array:
    """Return large weight matrices in half precision and all others in single."""
    if array.dtype.kind != "f":
        return array
    if name == "scores" or array.size <= SMALL:
        return array.astype("<f4")
    with np.errstate(over="ignore"):
        half = array.astype("<f2")
    if not np.isfinite(half).all():
        largest = float(np.abs(array).max())
        raise CrfvizError(
            f"{abbreviate(tagger.name)} cannot go into a file: its weights must be at most "
            f"{np.finfo(np.float16).max:g} in size, got {largest:g} in {name}"
        )
    return half


def _planes(array: Array) -> bytes:
    little = array.astype(array.dtype.newbyteorder("<"))
    each = np.frombuffer(little.tobytes(), np.uint8).reshape(array.size, array.itemsize)
    return each[:, ::-1].T.tobytes()


def _tokenizer(tagger: Tagger) -> dict[str, object]:
    """Return the rules by which a tagger splits typed texts.

    Raises:
        CrfvizError: the rules are not only patterns, as for Chinese.
    """
    name = tagger.tokenizer if isinstance(tagger, FolderTagger) else ENGLISH
    if name in PATTERNS:
        return {"pattern": javascript(PATTERNS[name])}
    try:
        return tokenizer_rules(name)
    except FormatError as error:
        raise CrfvizError(
            f"{tagger.name} splits typed texts as in {name}, which only a server can do; a model "
            f"with spacy:de, {' or '.join(PATTERNS)} can go along"
        ) from error


def tokenizer_rules(name: str = ENGLISH) -> dict[str, object]:
    """Return patterns for JavaScript's flag `u`, and the exceptions as lists of words.

    Raises:
        FormatError: the tokenizer has more than patterns.
    """
    rules = affix_rules_of(name)
    return {
        "exceptions": [list(words) for words in rules.exceptions],
        "prefix": javascript(rules.prefix),
        "suffix": javascript(rules.suffix),
        "infix": javascript(rules.infix),
        "whole": f"^(?:{javascript(rules.whole)})",
        "wholeFlags": "iu" if rules.ignores_case else "u",
        "url": javascript(rules.url),
        "longest": LONGEST,
    }


def javascript(pattern: str) -> str:
    r"""Return a Python pattern for JavaScript with the flag `u`: only what our rules use.

    >>> print(javascript(r"^[\w\-]+\!\U0001F600\d$"))
    ^[\p{L}\p{N}_\-]+!\u{1F600}[\p{Nd}]$
    """
    inside = False

    def written(match: re.Match[str]) -> str:
        nonlocal inside
        if match["code"]:
            return rf"\u{{{match['code']}}}"
        if bracket := match["bracket"]:
            inside = bracket == "["
            return str(bracket)
        return _escaped(match["escaped"], inside=inside)

    return _ATOM.sub(written, pattern)


def _escaped(letter: str, *, inside: bool) -> str:
    """Return an escape for JavaScript, inside of a class or outside."""
    if letter.lower() in _CLASSES:
        own = _CLASSES[letter.lower()]
        if letter.islower():
            return own if inside else f"[{own}]"
        return f"[^{own}]"
    if letter == "u" or (letter in _SYNTAX and (inside or letter != "-")):
        return f"\\{letter}"
    return letter
