"""The job that evaluates a tagger on shards, and the merge of its results."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import torch

from crfviz.chain.questions.path_sets import Calibration
from crfviz.corpus.counts.run_counts import RunCounts, as_json, count_run, from_json, merge_two
from crfviz.corpus.run.results import MAX_KEPT
from crfviz.corpus.run.tagging import run
from crfviz.corpus.shards.model_reference import ModelReference
from crfviz.corpus.shards.shard import Shard
from crfviz.corpus.shards.workers import ReportShare
from crfviz.corpus.tables.evaluation import Comparison, compare_runs, merge_comparisons
from crfviz.exceptions import FormatError
from crfviz.text.formats import FormatName, parse_part
from crfviz.text.sentences import Sentence, fold_handles, map_types

EVALUATION_FORMAT = 3  # version of shard results; those of other versions are not reused


@dataclass(frozen=True)
class Evaluation:
    """The job that evaluates a tagger on a shard."""

    file: str  # name of the file, for messages
    file_format: FormatName
    model: ModelReference
    against: ModelReference | None = None
    fold_handles: bool = False
    types: tuple[tuple[str, str], ...] | None = None  # renames entity types, drops all others
    rule: str | None = None  # pattern over the tags, an additional decoder
    costs: tuple[tuple[str, float], ...] | None = None  # by kind of error, one more decoder
    calibrations: tuple[Calibration, ...] = ()  # whose coverage is counted
    most: int = MAX_KEPT  # errors in the list

    @property
    def key(self) -> str:
        """Everything that the result depends on, except the shard and the name of the file."""
        return json.dumps([EVALUATION_FORMAT, "evaluate", {**asdict(self), "file": ""}])

    def __call__(self, shard: Shard, share: ReportShare | None = None) -> bytes:
        """Return the counts of a shard, with any comparison, as JSON; empty without sentences.

        Raises:
            FormatError: a line cannot be read, or a sentence has no tags; says in which line.
            CrfvizError: as in `crfviz.corpus.run.tagging.run`.
        """
        torch.set_num_threads(1)  # tensors of one sentence are so small that threads only wait
        sentences = list(self.sentences(shard))
        if not sentences:
            return b""
        runs = 1 + (self.against is not None)

        def report(done: int, total: int) -> None:
            if share:
                share(done / total / runs)

        tagger = self.model.load()
        results = run(
            tagger,
            sentences,
            report,
            rule=self.rule,
            costs=None if self.costs is None else dict(self.costs),
            calibrations=self.calibrations,
            most_kept=self.most,
        )
        parts = {"tally": as_json(count_run(results))}
        if self.against is not None:
            other = run(self.against.load(), sentences, most_kept=0)
            both = compare_runs(results, other, sentences, self.most)
            parts["comparison"] = json.dumps(asdict(both))
        return json.dumps(parts).encode()

    def sentences(self, shard: Shard) -> Iterator[Sentence]:
        """Yield the sentences of a shard, prepared for tagging; all have gold tags.

        Raises:
            FormatError: a line cannot be read, or a sentence has no tags; says in which line.
        """
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
class EvaluationResult:
    """The merged counts of all shards."""

    tally: RunCounts
    comparison: Comparison | None  # with another model, if there is one


def merge_results(contents: Iterable[bytes]) -> EvaluationResult:
    """Merge the results of all shards, in the order of the file.

    Raises:
        FormatError: no shard has a sentence.
    """
    whole: EvaluationResult | None = None
    for content in contents:
        if content:
            part = _read(content)
            whole = part if whole is None else _merge_two(whole, part)
    if whole is None:
        raise FormatError("expected at least one tagged sentence, got none")
    return whole


def _read(content: bytes) -> EvaluationResult:
    parts = json.loads(content)
    both = json.loads(parts["comparison"]) if "comparison" in parts else None
    return EvaluationResult(from_json(parts["tally"]), both and Comparison(**both))


def _merge_two(first: EvaluationResult, second: EvaluationResult) -> EvaluationResult:
    both = first.comparison
    if both is not None and second.comparison is not None:
        both = merge_comparisons(both, second.comparison, first.tally.size["sentences"])
    return EvaluationResult(merge_two(first.tally, second.tally), both)
