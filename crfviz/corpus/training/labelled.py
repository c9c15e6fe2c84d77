"""Training data: sentences of tagged files as ids, in batches.

Batches hold sentences of similar length; their order depends only on the generator.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.edits import require_no_border
from crfviz.corpus.training.recipe import Recipe
from crfviz.corpus.training.vectors import read_pieces, read_vectors, whole_words
from crfviz.exceptions import FormatError, UnknownTagError, errors_at
from crfviz.taggers.lexicon import build_lexicon, write_lexicon
from crfviz.taggers.neural.network import Batch, Vocabulary, build_vocabulary, padded
from crfviz.text.files import abbreviate
from crfviz.text.formats import SentenceFile, read_sentences
from crfviz.text.readers.rows import ANY, Wanted
from crfviz.text.schemes import OUTSIDE, begin, inside, is_bio, repair, split_tag
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import ENGLISH

MAX_SHOWN = 8  # tags in a message
NO_TAG = -100  # the default `ignore_index` of cross entropy
UNSURE = "?"  # entity type whose words may have any tag: their loss is that of all tags together


@dataclass(frozen=True)
class Labelled:
    """One sentence with its tag ids, from one or two tag columns."""

    tokens: tuple[str, ...]
    tags: tuple[int, ...] | None
    auxiliary: tuple[int, ...] | None = None  # ids of the second tag column
    allowed: NDArray[np.bool_] | None = None  # (T, K) allowed tags of each word; None: their own


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """B sentences as ids with their tags."""

    inputs: Batch
    tags: Tensor  # (B, T) long, NO_TAG at padding and in untagged sentences
    auxiliary: Tensor  # (B, T) long, the same for the second tag column
    allowed: Tensor | None = None  # (B, T, K) bool; None if each word allows only its own tag

    @property
    def tagged(self) -> Tensor:
        """Whether each sentence has tags in the first column: (B,) bool."""
        return self.tags[:, 0] != NO_TAG

    def to(self, device: torch.device) -> "LabelledBatch":
        """Return the batch on another device."""
        moved: dict[str, Any] = {
            name: part if part is None else part.to(device) for name, part in vars(self).items()
        }
        return LabelledBatch(**moved)


@dataclass(frozen=True, eq=False)
class Corpus:
    """The training and dev sentences of a run."""

    train: Sequence[Labelled]
    dev: Sequence[Sequence[Labelled]]  # the sentences of each file
    tags: tuple[str, ...]
    auxiliary_tags: tuple[str, ...]  # tags of the second column; empty without one
    vocabulary: Vocabulary
    vectors: Tensor | None = None  # (V, D) fixed vectors, one per row of the word embedding


@dataclass(frozen=True)
class Sources:
    """The training and dev files of a run, and their format.

    Functions that read them raise a FormatError for an unreadable file, a sentence without tags, or
    files without sentences.
    """

    train: tuple[Path, ...]
    dev: tuple[Path, ...]
    fold_handles: bool = False
    types: Mapping[str, str] | None = None  # entity types to keep, with new names or UNSURE
    xpos: bool = False  # use XPOS of the training files as second tag column
    only_xpos: tuple[Path, ...] = ()  # more files with XPOS, of the same or other sentences
    vectors: Path | None = None  # folder of an encoder, for word vectors
    tags: tuple[str, ...] = ()  # all tags in id order; empty: those of the training files
    tokenizer: str = ENGLISH  # for texts that are not split into words
    wanted: Wanted = ANY  # the columns or keys of words, tags and sentences


def files_of(sources: Sources) -> list[SentenceFile]:
    """Return training and dev files with entity types unchanged."""
    return [
        SentenceFile(
            path,
            fold_handles=sources.fold_handles,
            tokenizer=sources.tokenizer,
            wanted=sources.wanted,
        )
        for path in (*sources.train, *sources.dev)
    ]


def read_corpus(sources: Sources, recipe: Recipe) -> Corpus:
    """Read and check the sentences of all files, and convert tags to ids.

    If a sentence of `only_xpos` has the words of a tagged one, the tagged one gets its XPOS.
    """
    train, _, tags = read_train_and_dev(sources)
    dev = [tagged_sentences(sources, (path,)) for path in sources.dev]
    fine_tags = [s.tags or () for s in _with_xpos(sources.train)] if sources.xpos else []
    more = _with_xpos(sources.only_xpos)
    names = {tag for row in fine_tags for tag in row} | {tag for s in more for tag in s.tags or ()}
    ids = {name: index for index, name in enumerate(sorted(names))}
    second = [tuple(ids[tag] for tag in row) for row in fine_tags]
    only = {s.tokens: tuple(ids[tag] for tag in s.tags or ()) for s in more}
    unsure = _unsure_tags(sources)
    numbered = _numbered(train, tags, unsure, second or [only.get(s.tokens) for s in train])
    tagged = {sentence.tokens for sentence in train}
    numbered += [Labelled(s.tokens, None, only[s.tokens]) for s in more if s.tokens not in tagged]
    vocabulary = build_vocabulary(
        [sentence.tokens for sentence in numbered],
        min_words=recipe.min_words,
        min_characters=recipe.min_characters,
    )
    if sources.vectors:
        more_words = whole_words(read_pieces(sources.vectors))
        words = tuple(dict.fromkeys((*vocabulary.words, *more_words)))
        vocabulary = replace(vocabulary, words=words)
    return Corpus(
        train=numbered,
        dev=[_numbered(each, tags, unsure, [None] * len(each)) for each in dev],
        tags=tags,
        auxiliary_tags=tuple(ids),
        vocabulary=vocabulary,
        vectors=read_vectors(sources.vectors, vocabulary.words) if sources.vectors else None,
    )


def read_train_and_dev(sources: Sources) -> tuple[list[Sentence], list[Sentence], tuple[str, ...]]:
    """Return the training sentences, the dev sentences (if any), and the tags in id order.

    Raises:
        FormatError: a tag is not in `sources.tags` or, if these are empty, in the training files;
            or a tag is called START or END.
    """
    train = tagged_sentences(sources, sources.train)
    dev = tagged_sentences(sources, sources.dev) if sources.dev else []
    unsure = _unsure_tags(sources)
    tags = sources.tags or order_tags(
        [tag for s in train for tag in s.tags or () if tag not in unsure]
    )
    for sentences, where in ((train, "train"), (dev, "dev")):
        if strange := sorted({tag for s in sentences for tag in s.tags or ()} - {*tags, *unsure}):
            among = "--tags" if sources.tags else "the train files"
            raise FormatError(
                f"tag {abbreviate(strange[0])} is in the {where} files but not in {among}"
            )
    with errors_at("the train files", FormatError):
        require_no_border(tags)
    return train, dev, tags


def _unsure_tags(sources: Sources) -> tuple[str, ...]:
    mapped = UNSURE in (sources.types or {}).values()
    return (begin(UNSURE), inside(UNSURE)) if mapped else ()


def order_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Order distinct tags: by name, or for BIO `O` first and then B and I of every type.

    >>> order_tags(["B-PER", "O", "O", "B-LOC"])
    ('O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER')
    """
    if not is_bio(tags):
        return tuple(sorted(set(tags)))
    types = sorted({split_tag(tag)[1] for tag in tags if tag != OUTSIDE})
    return (OUTSIDE, *(tag(name) for name in types for tag in (begin, inside)))


def tagged_sentences(sources: Sources, paths: Sequence[Path]) -> list[Sentence]:
    """Return the sentences of some files, read as `sources` says."""
    with_words: list[Sentence] = []
    for path in paths:
        sentences = read_sentences(
            path,
            fold_handles=sources.fold_handles,
            types=sources.types,
            tokenizer=sources.tokenizer,
            **vars(sources.wanted),
        )
        for number, sentence in enumerate(sentences, start=1):
            if sentence.tags is None:
                raise FormatError(f"{path}: sentence {number} has no tags to learn from")
        with_words += [sentence for sentence in sentences if sentence.tokens]
    if not with_words:
        raise FormatError(f"no tagged sentence in {', '.join(map(str, paths))}")
    return with_words


def write_training_lexicon(
    sources: Sources, folder: Path, tags: Collection[str] | None = None
) -> None:
    """Write lexicon.json of the training files into a model folder.

    Args:
        sources: the training files.
        folder: the model folder.
        tags: the model's tags, to check that the files belong to it; None skips the check.

    Raises:
        UnknownTagError: the files have a tag that is not in `tags`.
    """
    sure = {old: new for old, new in (sources.types or {}).items() if new != UNSURE}
    sentences = tagged_sentences(replace(sources, types=sure or None), sources.train)
    used = {tag for sentence in sentences for tag in sentence.tags or ()}
    if tags is not None and (unknown := sorted(used - set(tags))):
        raise UnknownTagError(
            f"expected tags that the model in {folder} has ({', '.join(tags)}), got "
            f"{', '.join(map(abbreviate, unknown[:MAX_SHOWN]))}: were other files, or other types, "
            f"learnt from?"
        )
    write_lexicon(folder, build_lexicon(sentences))


def collate(sentences: Sequence[Labelled], vocabulary: Vocabulary) -> LabelledBatch:
    """Return sentences as one padded batch."""
    width = max(len(sentence.tokens) for sentence in sentences)
    tables = [sentence.allowed for sentence in sentences if sentence.allowed is not None]
    allowed = _allowed(sentences, width, tables[0].shape[1]) if tables else None
    return LabelledBatch(
        inputs=vocabulary.encode([sentence.tokens for sentence in sentences]),
        tags=padded([sentence.tags or () for sentence in sentences], width, NO_TAG),
        auxiliary=padded([sentence.auxiliary or () for sentence in sentences], width, NO_TAG),
        allowed=allowed,
    )


def _allowed(sentences: Sequence[Labelled], width: int, num_tags: int) -> Tensor:
    """Return the allowed tags of each word: (B, T, K) bool."""
    allowed = np.zeros((len(sentences), width, num_tags), dtype=np.bool_)
    for table, sentence in zip(allowed, sentences, strict=True):
        words = range(len(sentence.tokens))
        if sentence.allowed is not None:
            table[: len(words)] = sentence.allowed
        elif sentence.tags is not None:
            table[words, sentence.tags] = True
    return torch.from_numpy(allowed)


def bucket(
    sentences: Sequence[Labelled], recipe: Recipe, generator: torch.Generator | None = None
) -> list[list[Labelled]]:
    """Group sentences of similar length into batches, as large as the recipe allows.

    The generator decides ties of length and the order of the batches. Without a generator, batches
    are sorted by length, for evaluation.
    """
    lengths = torch.tensor([len(sentence.tokens) for sentence in sentences], dtype=torch.float64)
    if generator is not None:  # noise below one word varies the batches between epochs
        lengths = lengths + torch.rand(len(sentences), generator=generator, dtype=torch.float64)
    groups: list[list[Labelled]] = [[]]
    for index in lengths.argsort(stable=True).tolist():
        sentence = sentences[index]
        size = (len(groups[-1]) + 1) * len(sentence.tokens)
        if len(groups[-1]) == recipe.batch_sentences or (groups[-1] and size > recipe.batch_words):
            groups.append([])
        groups[-1].append(sentence)
    if generator is None:
        return groups
    return [groups[index] for index in torch.randperm(len(groups), generator=generator).tolist()]


def _with_xpos(paths: Sequence[Path]) -> list[Sentence]:
    """Return the sentences of CoNLL-U files, with the fifth column as tags."""
    sentences = [s for path in paths for s in read_sentences(path, file_format="conllu-xpos")]
    return [sentence for sentence in sentences if sentence.tokens]


def _numbered(
    sentences: Sequence[Sentence],
    tags: tuple[str, ...],
    unsure: tuple[str, ...],
    second: Sequence[tuple[int, ...] | None],
) -> list[Labelled]:
    """Convert tags to ids; a word of an unsure type counts as O, and allows every tag."""
    ids = {tag: index for index, tag in enumerate(tags)}
    bio = is_bio(tags)
    numbered = []
    for sentence, auxiliary in zip(sentences, second, strict=True):
        names = repair(sentence.tags or ()) if bio else sentence.tags or ()
        free = np.array([name in unsure for name in names], dtype=np.bool_)
        sure = [OUTSIDE if name in unsure else name for name in names]
        unknown = [name for name in sure if name not in ids]
        if unknown:
            raise FormatError(
                f"tag {abbreviate(unknown[0])} is in the dev files but not in the train files"
            )
        own = tuple(ids[name] for name in sure)
        allowed = np.eye(len(tags), dtype=np.bool_)[list(own)] | free[:, None]
        numbered.append(Labelled(sentence.tokens, own, auxiliary, allowed if free.any() else None))
    return numbered
