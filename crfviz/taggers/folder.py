"""Base classes of taggers that read a model folder."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import overload

from crfviz.chain.constraints import constrain
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import EmptySentenceError, ModelError
from crfviz.taggers.examples import EXAMPLES_FILE, Example, read_examples
from crfviz.taggers.lexicon import LEXICON_FILE
from crfviz.taggers.tagger import (
    Tagged,
    Tagger,
    Words,
    sentences_of,
    tag_texts,
    words_of,
)
from crfviz.text.files import abbreviate
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import ENGLISH, words_of_text

CARD_FILE = "README.md"
EVALUATION_FILE = "evaluation.json"  # figures, see `crfviz.corpus.tables.card`
CALIBRATION_FILE = "calibration.json"  # see `crfviz.corpus.tables.coverage`
# files that describe a model and may be written later
ABOUT = (CARD_FILE, EVALUATION_FILE, CALIBRATION_FILE, LEXICON_FILE)
NOWHERE = Path("crfviz.taggers")  # the folder of taggers that have no files
DIGITS = 12  # hexadecimal digits of a version


class FolderTagger:
    """Name, words, examples and card of a model folder; see `Tagger`.

    The constructor of each family reads the folder. If the folder is not a valid model, it raises a
    ModelError that names the file and the field.
    """

    observations: tuple[str, ...] | None = None  # None: any word
    tokenizer = ENGLISH  # splits typed text; see `text.splitting`

    def __init__(self, folder: Path, tags: tuple[str, ...], scheme: str | None) -> None:
        self.folder = folder
        self.name = folder.resolve().name
        self.tags = tags
        self.scheme = scheme

    def __repr__(self: Tagger) -> str:
        """Return class, name, family, number of tags and scheme in one line."""
        number = len(self.tags)
        tags = f"{number} tag{'s' if number > 1 else ''}"
        facts = [abbreviate(self.name), self.family, tags, *([self.scheme] if self.scheme else [])]
        return f"{type(self).__name__}({', '.join(facts)})"

    def split(self, text: str) -> list[str]:
        return words_of_text(text, self.tokenizer)

    def reads(self, text: str) -> bool:
        return self.observations is None or set(self.split(text)) <= set(self.observations)

    @overload
    def tag(self, text: str) -> Tagged: ...

    @overload
    def tag(self, text: list[str] | tuple[str, ...]) -> list[Tagged]: ...

    def tag(self: Tagger, text: str | list[str] | tuple[str, ...]) -> Tagged | list[Tagged]:
        """Tag a text, or a list of texts; see `Tagger.tag`."""
        found = tag_texts(
            [text] if isinstance(text, str) else text, self.split, self.potentials_batch
        )
        return found[0] if isinstance(text, str) else found

    def examples(self) -> list[Example]:
        """Return the examples of the folder; empty if it has no such file."""
        return read_examples(self.folder / EXAMPLES_FILE)

    def tagged(self) -> Sequence[Sentence]:
        """Return the gold sentences of the folder, by default none."""
        return []

    def card(self) -> str:
        """Return the README.md of the folder; empty if there is none.

        Raises:
            ModelError: it cannot be read.
        """
        path = self.folder / CARD_FILE
        try:
            return path.read_text(encoding="utf-8") if path.is_file() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"{path}: cannot be read ({error})") from error


class SentenceTagger(FolderTagger, ABC):
    """A tagger that scores one sentence at a time, on the CPU."""

    device = "cpu"
    needs = "a sentence needs at least one word"

    def potentials(self, tokens: Words, *, constrained: bool = True) -> Potentials:
        """Return the potentials of one sentence; see `Tagger.potentials`."""
        words = words_of(tokens)
        if not words:
            raise EmptySentenceError(f"{self.needs}, got none")
        chain = self._score(words)
        return constrain(chain) if constrained and self.scheme else chain

    def potentials_batch(
        self, sentences: Sequence[Words], *, constrained: bool = True
    ) -> list[Potentials]:
        words = sentences_of(sentences)
        return [self.potentials(tokens, constrained=constrained) for tokens in words]

    @abstractmethod
    def _score(self, words: tuple[str, ...]) -> Potentials:
        """Return the unconstrained potentials of at least one word."""


def version_of(tagger: Tagger) -> str:
    """Return a short digest of a tagger's weights; a name alone does not identify them.

    The digest covers all files in the tagger's folder except those in `ABOUT`, so all are read. A
    tagger without files is identified by its name and tags.

    Raises:
        ModelError: a file cannot be read.
    """
    if tagger.folder == NOWHERE:
        return sha256(repr((tagger.name, tagger.tags)).encode()).hexdigest()[:DIGITS]
    return version_at(tagger.folder)


def version_at(place: Path) -> str:
    """Return the digest of a folder or file."""
    content = sha256()
    try:
        for path in sorted(place.iterdir()) if place.is_dir() else [place]:
            if path.is_file() and path.name not in ABOUT:
                content.update(path.name.encode())
                with path.open("rb") as file:
                    content.update(file_digest(file, "sha256").digest())
    except OSError as error:
        raise ModelError(f"{place}: cannot be read ({error})") from error
    return content.hexdigest()[:DIGITS]
