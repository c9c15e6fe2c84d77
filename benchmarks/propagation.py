"""How many corrections a sentence needs, with and without propagation.

    python benchmarks/propagation.py --data FOLDER [--out FILE]

A simulated annotator, who knows the gold tags, looks for the first wrong word and corrects it,
until the sentence is right.

- `words`: a correction sets the tag of that word. Without propagation nothing else changes, so the
  corrections are the wrong words. With it, the best path is sought anew under all corrections.
- `entities` (BIO): as on the page Annotate. Where gold has an entity at that word it is marked
  whole, else the proposed entity there is removed whole. A mark replaces what it overlaps. Without
  propagation nothing else changes.

The 95 % intervals come from samples of whole sentences. Folders that are wanted in FOLDER:
ud-english-ewt and broad-twitter-corpus. The epochs and temperatures of the models were chosen on
these dev files, so that the models are a little better here than on other text.

Source: Kristjansson, Culotta, Viola and McCallum (2004), section 5, who measured 23 % fewer errors.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from crfviz.annotations.marking import mark_entity
from crfviz.annotations.propagation import propose
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import condition
from crfviz.corpus.metrics import percentiles, resampled
from crfviz.taggers.registry import load_tagger
from crfviz.text.formats import read_sentences
from crfviz.text.schemes import OUTSIDE, Span, repair, spans, tags_of
from crfviz.text.sentences import Sentence

OUT = Path(__file__).with_name("propagation.json")
SEED = 0  # of the bootstrap
EWT, TWEETS = "ud-english-ewt/dev.conllu", "broad-twitter-corpus/dev.conll"
FILES = {"upos-en": EWT, "upos-en-contextfree": EWT, "upos-en-hmm": EWT, "ner-en": TWEETS}


@dataclass(frozen=True)
class Effort:
    """Corrections of one sentence until it is right."""

    without: int
    with_propagation: int


@dataclass(frozen=True)
class Row:
    """One model on one file."""

    model: str
    file: str
    correcting: str  # "words" or "entities"
    sentences: int
    to_correct: int  # sentences with something wrong
    once: int  # of them those that one correction rights without propagation: nothing to save
    without: int  # corrections in all
    with_propagation: int
    saved: float  # share of the corrections
    interval: tuple[float, float]
    fewer: int  # sentences that propagation makes shorter work
    more: int  # sentences that it makes longer work


def main() -> None:
    """Simulate, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [row for model, name in FILES.items() for row in measure(model, options.data, name)]
    report = {"rows": [asdict(row) for row in rows]}
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(table(report) + "\n")


def measure(model: str, data: Path, name: str) -> Iterator[Row]:
    """Each way to correct, on one file."""
    tagger = load_tagger(model)
    types = {tag[2:]: tag[2:] for tag in tagger.tags if tag != OUTSIDE} if tagger.scheme else None
    read = read_sentences(data / name, fold_handles=tagger.scheme is not None, types=types)
    sentences = [sentence for sentence in read if sentence.tokens]
    chains = tagger.potentials_batch([sentence.tokens for sentence in sentences])
    ways = {"words": by_word, **({"entities": by_entity} if tagger.scheme else {})}
    for correcting, way in ways.items():
        efforts = [
            way(chain, _gold(sentence, bio=tagger.scheme is not None))
            for chain, sentence in zip(chains, sentences, strict=True)
        ]
        yield summary(model, name, correcting, efforts)


def _gold(sentence: Sentence, *, bio: bool) -> list[str]:
    return repair(sentence.tags or ()) if bio else list(sentence.tags or ())


def by_word(chain: Potentials, gold: Sequence[str]) -> Effort:
    """Corrections of tags, word by word.

    Args:
        chain: of one sentence, with the rules of BIO where the tags are BIO.
        gold: T tags.
    """

    def decoded(pins: Mapping[int, str]) -> list[str]:
        path = best_path(condition(chain, pins).potentials if pins else chain)
        return [chain.tag_names[tag] for tag in path]

    pins: dict[int, str] = {}
    proposed = tags = decoded(pins)
    while (wrong := _first_wrong(tags, gold)) is not None:
        pins[wrong] = gold[wrong]
        tags = decoded(pins)
    return Effort(sum(a != b for a, b in zip(proposed, gold, strict=True)), len(pins))


def by_entity(chain: Potentials, gold: Sequence[str]) -> Effort:
    """Corrections of entities: marked or removed whole."""
    pins: dict[int, str] = {}

    def mark(_: Sequence[str], span: Span, kind: str) -> Sequence[str]:
        pins.update(marked := mark_entity(pins, span.start, span.end - 1, kind))
        for gone in pins.keys() - marked.keys():
            del pins[gone]
        return propose(chain, pins).tags

    proposed = propose(chain, {}).tags
    return Effort(_marks(proposed, gold, replace_entity), _marks(proposed, gold, mark))


def replace_entity(tags: Sequence[str], span: Span, kind: str) -> list[str]:
    """The tags with an entity on the words of a span, or none if `kind` is empty.

    Entities that it overlaps go as a whole.
    """
    kept = [s for s in spans(tags) if s.end <= span.start or span.end <= s.start]
    return tags_of([*kept, Span(kind, span.start, span.end)] if kind else kept, len(tags))


def _marks(
    tags: Sequence[str],
    gold: Sequence[str],
    mark: Callable[[Sequence[str], Span, str], Sequence[str]],
) -> int:
    """How often the annotator marks until the tags are right."""
    count = 0
    while (wrong := _first_wrong(tags, gold)) is not None:
        wanted = _entity_at(gold, wrong)
        tags = mark(tags, wanted or _entity_at(tags, wrong) or _nothing_at(wrong), _type(wanted))
        count += 1
        if count > len(gold):
            raise RuntimeError(f"marking does not end: {tags} for {gold}")
    return count


def _first_wrong(tags: Sequence[str], gold: Sequence[str]) -> int | None:
    pairs = enumerate(zip(tags, gold, strict=True))
    return next((t for t, (tag, right) in pairs if tag != right), None)


def _entity_at(tags: Sequence[str], position: int) -> Span | None:
    return next((s for s in spans(tags) if s.start <= position < s.end), None)


def _type(span: Span | None) -> str:
    return span.type if span else ""


def _nothing_at(position: int) -> Span:
    return Span("", position, position + 1)


def summary(model: str, file: str, correcting: str, efforts: Sequence[Effort]) -> Row:
    """The figures of one file; at least one of its sentences has something wrong."""
    counts = np.array([(e.without, e.with_propagation) for e in efforts], dtype=np.int64)
    without, with_propagation = counts.sum(axis=0).tolist()
    low, high = percentiles(_saved(resampled(counts, np.random.default_rng(SEED))))
    return Row(
        model=model,
        file=file,
        correcting=correcting,
        sentences=len(efforts),
        to_correct=sum(e.without > 0 for e in efforts),
        once=sum(e.without == 1 for e in efforts),
        without=without,
        with_propagation=with_propagation,
        saved=round(1 - with_propagation / without, 4),
        interval=(round(low, 4), round(high, 4)),
        fewer=sum(e.with_propagation < e.without for e in efforts),
        more=sum(e.with_propagation > e.without for e in efforts),
    )


def _saved(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of (S, 2) corrections without and with: the share that is saved, (S,)."""
    without, with_propagation = counts.T
    return np.where(without > 0, 1 - with_propagation / np.maximum(without, 1), np.nan)


def table(report: Mapping[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        "| model | file | correcting | sentences, wrong, by one | corrections without "
        "| with propagation | fewer, % | shorter, longer |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in report["rows"]:
        low, high = row["interval"]
        saved = f"{100 * row['saved']:.1f} ({100 * low:.1f} to {100 * high:.1f})"
        lines.append(
            f"| `{row['model']}` | {row['file']} | {row['correcting']} "
            f"| {row['sentences']:,}, {row['to_correct']:,}, {row['once']:,} | {row['without']:,} "
            f"| {row['with_propagation']:,} | {saved} | {row['fewer']:,}, {row['more']:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
