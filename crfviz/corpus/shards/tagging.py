"""The sentences of a shard with the tags of the best path, in the format that they came in.

All else stays as it was: comments, other columns, rows that are no words, other fields. Columns may
have words alone; a column of tags is then added to them.

Marginals are p(tag | words), six digits, those that do not round to 0, the largest first:

| format  | where                                                                    |
|---------|--------------------------------------------------------------------------|
| conllu  | in the last column, `Marginals=NOUN:0.973100,VERB:0.026900`              |
| iob2    | in the fourth column, `NOUN:0.973100,VERB:0.026900`                      |
| columns | likewise, in one more column before that of the tags                     |
| jsonl   | in "marginals", for each word `{"NOUN": 0.9731, "VERB": 0.0269}`         |
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
from crfviz.corpus.shards.crew import Share
from crfviz.corpus.shards.cutting import Shard
from crfviz.corpus.shards.model import Model
from crfviz.exceptions import CrfvizError
from crfviz.taggers.tagger import Tagger
from crfviz.text.columns import UNTAGGED, Layout, WordRow, blocks, is_comment, word_rows
from crfviz.text.formats import LAYOUTS, FormatName
from crfviz.text.jsonl import parse_object, sentence_of
from crfviz.text.lines import decoded, lines_of

FORM = 1  # of what comes of a shard; another one is not gone on from
AT_ONCE = 1024  # sentences of a shard that are scored together
DIGITS = 6
MISC = 9  # column of CoNLL-U
IN_MISC = "Marginals="
BESIDE = 3  # column of iob2 for what nobody else puts anywhere

Marginals = Sequence[dict[str, float]]  # of every word, by tag


class _Place(Protocol):
    """A sentence where it stands in a file."""

    @property
    def line(self) -> int:
        """Number of the line where it begins."""

    @property
    def words(self) -> Sequence[str]:
        """Its words, at least one."""

    def write(self, lines: list[str], tags: Sequence[str], marginals: Marginals | None) -> None:
        """Put the tags into the lines of the shard."""


@dataclass(frozen=True)
class Tagging:
    """What is to be done with every shard of a file."""

    file: str  # its name, for messages
    file_format: FormatName
    model: Model
    marginals: bool = False

    @property
    def key(self) -> str:
        """All that the work depends on but the shard, and the name of the file."""
        return json.dumps([FORM, "tag", {**asdict(self), "file": ""}])

    def __call__(self, shard: Shard, share: Share | None = None) -> bytes:
        """The bytes of a shard, tagged.

        Raises:
            FormatError: a line cannot be read; says which.
            CrfvizError: the tagger has no scores for a sentence; says in which line it begins.
        """
        torch.set_num_threads(1)  # tensors of one sentence are so small that threads only wait
        tagger = self.model.load()
        text = decoded(shard.content, name=self.file, first_line=shard.first_line)
        lines = lines_of(text)
        places = list(self._places(lines, shard.first_line))
        for start in range(0, len(places), AT_ONCE):
            group = places[start : start + AT_ONCE]
            self._tag(tagger, group, lines)
            if share:
                share((start + len(group)) / len(places))
        return "\n".join(lines).encode()

    def _places(self, lines: list[str], first: int) -> Iterator[_Place]:
        if self.file_format == "jsonl":
            return _objects(lines, first, self.file)
        return _rows(lines, first, LAYOUTS[self.file_format], self.file)

    def _tag(self, tagger: Tagger, group: Sequence[_Place], lines: list[str]) -> None:
        chains = chain_batch(self._scored(tagger, group))
        marginals: Iterable[Marginals | None] = [None] * len(group)
        if self.marginals:
            marginals = (_named(found.marginals, tagger.tags) for found in posteriors(chains))
        for place, path, sure in zip(group, best_paths(chains), marginals, strict=True):
            place.write(lines, [tagger.tags[tag] for tag in path], sure)

    def _scored(self, tagger: Tagger, group: Sequence[_Place]) -> list[Potentials]:
        try:
            return tagger.potentials_batch([place.words for place in group])
        except CrfvizError:
            for place in group:  # one of them is to blame
                try:
                    tagger.potentials(place.words)
                except CrfvizError as error:
                    told = f"{self.file}, line {place.line}: {error}"
                    raise type(error)(told) from error
            raise


def _named(marginals: torch.Tensor, tags: Sequence[str]) -> Marginals:
    rows = marginals.numpy().round(DIGITS)
    named = []
    for row, order in zip(rows, (-rows).argsort(axis=1, kind="stable"), strict=True):
        named.append({tags[tag]: float(row[tag]) for tag in order.tolist() if row[tag] > 0})
    return named


@dataclass(frozen=True)
class _Rows:
    """A sentence with a word a line."""

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
    told = ",".join(f"{tag}:{p:.{DIGITS}f}" for tag, p in marginals.items())
    if layout.width is None:
        cells.insert(len(cells) - 1, told)
    elif layout.width > MISC:
        others = [each for each in cells[MISC].split("|") if not each.startswith(IN_MISC)]
        cells[MISC] = "|".join([*(each for each in others if each != UNTAGGED), IN_MISC + told])
    else:
        cells[BESIDE] = told


def _rows(lines: list[str], first: int, layout: Layout, name: str) -> Iterator[_Rows]:
    if layout.width is None:
        for index, line in enumerate(lines):
            if line.strip() and "\t" not in line and not is_comment(line):
                lines[index] = f"{line}\t{UNTAGGED}"
    for block in blocks(list(lines), first):
        if rows := word_rows(block, layout, name):
            yield _Rows(block[0][0], [row.token for row in rows], rows, first, layout)


@dataclass(frozen=True)
class _Object:
    """A sentence that is an object in JSON."""

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
