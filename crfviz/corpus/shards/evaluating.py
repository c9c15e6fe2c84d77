"""The evaluation of a tagger, a shard at a time."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import torch

from crfviz.corpus.counts.tally import Tally, as_json, from_json, merged, tally_of
from crfviz.corpus.run.results import MOST_KEPT
from crfviz.corpus.run.tagging import run
from crfviz.corpus.shards.crew import Share
from crfviz.corpus.shards.cutting import Shard
from crfviz.corpus.shards.model import Model
from crfviz.corpus.tables.two_models import Comparison, compared, merge_comparisons
from crfviz.exceptions import FormatError
from crfviz.text.cleaning import fold_handles, map_types
from crfviz.text.formats import FormatName, parse_part
from crfviz.text.sentences import Sentence

FORM = 1  # of what comes of a shard; another one is not gone on from


@dataclass(frozen=True)
class Evaluation:
    """What is to be done with every shard of a file."""

    file: str  # its name, for messages
    file_format: FormatName
    model: Model
    against: Model | None = None
    fold_handles: bool = False
    types: tuple[tuple[str, str], ...] | None = None  # renames entity types, drops all others
    most: int = MOST_KEPT  # errors that are listed

    @property
    def key(self) -> str:
        """All that the work depends on but the shard, and the name of the file."""
        return json.dumps([FORM, "evaluate", {**asdict(self), "file": ""}])

    def __call__(self, shard: Shard, share: Share | None = None) -> bytes:
        """The tally of a shard, and the comparison of two models, as JSON; empty for no sentence.

        Raises:
            FormatError: a line cannot be read, or a sentence has no tags; says in which line.
            CrfvizError: as `crfviz.corpus.run.tagging.run` does.
        """
        torch.set_num_threads(1)  # tensors of one sentence are so small that threads only wait
        sentences = list(self._sentences(shard))
        if not sentences:
            return b""
        runs = 1 + (self.against is not None)

        def report(done: int, total: int) -> None:
            if share:
                share(done / total / runs)

        results = run(self.model.load(), sentences, report, most_kept=self.most)
        parts = {"tally": as_json(tally_of(results))}
        if self.against is not None:
            other = run(self.against.load(), sentences, most_kept=0)
            both = compared(results, other, sentences, self.most)
            parts["comparison"] = json.dumps(asdict(both))
        return json.dumps(parts).encode()

    def _sentences(self, shard: Shard) -> Iterator[Sentence]:
        """The sentences of a shard, as they are to be tagged; all with tags."""
        types = None if self.types is None else dict(self.types)
        read = parse_part(
            shard.content, self.file_format, name=self.file, first_line=shard.first_line
        )
        for line, sentence in read:
            if sentence.tags is None:
                raise FormatError(
                    f"{self.file}, line {line}: expected tags to compare with, got none in the "
                    f"sentence that begins there"
                )
            folded = fold_handles(sentence) if self.fold_handles else sentence
            yield folded if types is None else map_types(folded, types)


@dataclass(frozen=True)
class Evaluated:
    """What came of all shards."""

    tally: Tally
    comparison: Comparison | None  # with another model, if one was asked for


def gathered(contents: Iterable[bytes]) -> Evaluated:
    """What came of every shard as one, in the order of the file.

    Raises:
        FormatError: there was no sentence in any.
    """
    whole: Evaluated | None = None
    for content in contents:
        if content:
            part = _read(content)
            whole = part if whole is None else _joined(whole, part)
    if whole is None:
        raise FormatError("expected at least one tagged sentence, got none")
    return whole


def _read(content: bytes) -> Evaluated:
    parts = json.loads(content)
    both = json.loads(parts["comparison"]) if "comparison" in parts else None
    return Evaluated(from_json(parts["tally"]), both and Comparison(**both))


def _joined(first: Evaluated, second: Evaluated) -> Evaluated:
    both = first.comparison
    if both is not None and second.comparison is not None:
        both = merge_comparisons(both, second.comparison, first.tally.size["sentences"])
    return Evaluated(merged(first.tally, second.tally), both)
