"""The job that tags the shards of a file in its own format.

It preserves comments, other columns, rows without a word, and other fields. If columns have
only words, a column of tags is added. Marginals are p(tag | words) with six digits, without those
that round to 0, the largest first:

| format  | where                                                                    |
|---------|--------------------------------------------------------------------------|
| conllu  | in the last column, `Marginals=NOUN:0.973100,VERB:0.026900`              |
| iob2    | in the fourth column, `NOUN:0.973100,VERB:0.026900`                      |
| columns | the same, in an additional column before that of the tags                |
| jsonl   | in "marginals", for each word `{"NOUN": 0.9731, "VERB": 0.0269}`         |
| fasta   | as columns, one letter per line, because FASTA has no place for tags     |
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import torch

from crfviz.chain.decoding.viterbi import best_paths
from crfviz.chain.engine.packing import chain_batch
from crfviz.chain.forward_backward import posteriors
from crfviz.chain.potentials import Potentials
from crfviz.corpus.shards.model_reference import ModelReference
from crfviz.corpus.shards.shard import Shard
from crfviz.corpus.shards.workers import ReportShare
from crfviz.exceptions import CrfvizError
from crfviz.taggers.tagger import Tagger
from crfviz.text.columns import (
    COLUMNS,
    UNTAGGED,
    Layout,
    WordRow,
    blocks,
    is_comment,
    word_rows,
)
from crfviz.text.fasta import COMMENT, NAME, Record, records
from crfviz.text.files import decoded, lines_of
from crfviz.text.formats import LAYOUTS, FormatName
from crfviz.text.jsonl import parse_object, sentence_of
from crfviz.text.name_lists import quoted

TAGGING_FORMAT = 1  # version of shard results; those of other versions are not reused
TAGGING_BATCH = 1024  # sentences of a shard that are scored together
DIGITS = 6
MISC = 9  # column of CoNLL-U
IN_MISC = "Marginals="
BAR = "\\p"  # stands for "|", which separates the attributes of MISC, as in Universal Dependencies
IOB2_MISC = 3  # column of iob2 for marginals


Marginals = Sequence[dict[str, float]]  # of every word, by tag


class _FileSentence(Protocol):
    """A sentence and its place in a file."""

    @property
    def line(self) -> int:
        """Number of the sentence's first line."""

    @property
    def words(self) -> Sequence[str]:
        """The words, at least one."""

    def write(self, lines: list[str], tags: Sequence[str], marginals: Marginals | None) -> None:
        """Write tags and marginals into the lines of the shard, in place."""


@dataclass(frozen=True)
class Tagging:
    """The job that tags a shard."""

    file: str  # name of the file, for messages
    file_format: FormatName
    model: ModelReference
    marginals: bool = False

    @property
    def key(self) -> str:
        """Everything that the result depends on, except the shard and the name of the file."""
        return json.dumps([TAGGING_FORMAT, "tag", {**asdict(self), "file": ""}])

    def __call__(self, shard: Shard, share: ReportShare | None = None) -> bytes:
        """Return the bytes of the tagged shard.

        Raises:
            FormatError: a line cannot be read; says which.
            CrfvizError: the tagger has no scores for a sentence; says in which line it begins.
        """
        torch.set_num_threads(1)  # tensors of one sentence are so small that threads only wait
        tagger = self.model.load()
        text = decoded(shard.content, name=self.file, first_line=shard.first_line)
        lines = lines_of(text)
        places = list(self._places(lines, shard.first_line))
        for start in range(0, len(places), TAGGING_BATCH):
            group = places[start : start + TAGGING_BATCH]
            self._tag(tagger, group, lines)
            if share:
                share((start + len(group)) / len(places))
        return "\n".join(lines).encode()

    def _places(self, lines: list[str], first: int) -> Iterator[_FileSentence]:
        if self.file_format == "jsonl":
            return _objects(lines, first, self.file)
        if self.file_format == "fasta":
            return _sequences(lines, first, self.file)
        return _rows(lines, first, LAYOUTS[self.file_format], self.file)

    def _tag(self, tagger: Tagger, group: Sequence[_FileSentence], lines: list[str]) -> None:
        chains = chain_batch(self._scored(tagger, group))
        marginals: Iterable[Marginals | None] = [None] * len(group)
        if self.marginals:
            marginals = (
                _by_tag(posterior.marginals, tagger.tags) for posterior in posteriors(chains)
            )
        for place, path, sure in zip(group, best_paths(chains), marginals, strict=True):
            place.write(lines, [tagger.tags[tag] for tag in path], sure)

    def _scored(self, tagger: Tagger, group: Sequence[_FileSentence]) -> list[Potentials]:
        try:
            return tagger.potentials_batch([place.words for place in group])
        except CrfvizError:
            for place in group:  # find the sentence that fails
                try:
                    tagger.potentials(place.words)
                except CrfvizError as error:
                    message = f"{self.file}, line {place.line}: {error}"
                    raise type(error)(message) from error
            raise


def _by_tag(marginals: torch.Tensor, tags: Sequence[str]) -> Marginals:
    rows = marginals.numpy().round(DIGITS)
    named = []
    for row, order in zip(rows, (-rows).argsort(axis=1, kind="stable"), strict=True):
        named.append({tags[tag]: float(row[tag]) for tag in order.tolist() if row[tag] > 0})
    return named


@dataclass(frozen=True)
class _Rows:
    """A sentence with one word per line."""

    line: int
    words: Sequence[str]
    rows: Sequence[WordRow]
    first: int  # number of the first line of the shard
    layout: Layout

    def write(self, lines: list[str], tags: Sequence[str], marginals: Marginals | None) -> None:
        for place, (row, tag) in enumerate(zip(self.rows, tags, strict=True)):
            cells = list(row.cells)
            cells[self.layout.tag] = tag
            if marginals is not None:
                _add_marginals(cells, marginals[place], self.layout)
            lines[row.number - self.first] = "\t".join(cells)


def _add_marginals(cells: list[str], marginals: dict[str, float], layout: Layout) -> None:
    column = ",".join(quoted(f"{tag}:{p:.{DIGITS}f}") for tag, p in marginals.items())
    if layout.width is None:
        cells.insert(len(cells) - 1, column)
    elif layout.width > MISC:
        others = [each for each in cells[MISC].split("|") if not each.startswith(IN_MISC)]
        own = IN_MISC + column.replace("|", BAR)
        cells[MISC] = "|".join([*(each for each in others if each != UNTAGGED), own])
    else:
        cells[IOB2_MISC] = column


def _rows(lines: list[str], first: int, layout: Layout, name: str) -> Iterator[_Rows]:
    if layout.width is None:
        for index, line in enumerate(lines):
            if line.strip() and "\t" not in line and not is_comment(line):
                lines[index] = f"{line}\t{UNTAGGED}"
    for block in blocks(list(lines), first):
        if rows := word_rows(block, layout, name):
            yield _Rows(block[0][0], [row.token for row in rows], rows, first, layout)


@dataclass(frozen=True)
class _Sequence:
    """A FASTA sequence, which is written as columns, one letter per line."""

    line: int
    words: Sequence[str]
    record: Record
    first: int  # number of the first line of the shard

    def write(self, lines: list[str], tags: Sequence[str], marginals: Marginals | None) -> None:
        place = 0
        for number, letters in self.record.rows:
            rows = []
            for letter in letters:
                cells = [letter, tags[place]]
                if marginals is not None:
                    _add_marginals(cells, marginals[place], COLUMNS)
                rows.append("\t".join(cells))
                place += 1
            lines[number - self.first] = "\n".join(rows)


def _sequences(lines: list[str], first: int, name: str) -> Iterator[_Sequence]:
    sequences = list(records(lines, name, first))
    for index, line in enumerate(lines):
        if line.startswith((NAME, COMMENT)):  # as a comment, after a blank line
            lines[index] = f"{'' if index == 0 else chr(10)}# {line[1:].strip()}"
    for record in sequences:
        yield _Sequence(record.line, record.letters, record, first)


@dataclass(frozen=True)
class _Object:
    """A sentence in a JSON object on one line."""

    line: int
    words: Sequence[str]
    fields: dict[str, object]
    first: int  # number of the first line of the shard

    def write(self, lines: list[str], tags: Sequence[str], marginals: Marginals | None) -> None:
        tagged = {**self.fields, "tags": tags}
        if marginals is not None:
            tagged["marginals"] = marginals
        lines[self.line - self.first] = json.dumps(tagged, ensure_ascii=False)


def _objects(lines: list[str], first: int, name: str) -> Iterator[_Object]:
    for number, line in enumerate(lines, start=first):
        if line.strip():
            where = f"{name}, line {number}"
            fields = parse_object(line, where)
            if words := sentence_of(fields, where).tokens:
                yield _Object(number, words, fields, first)
